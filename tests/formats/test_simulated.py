"""Programs at random come back from every format, through every command, as they ran."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import burstline
import command
from burstline.testing import assert_same_trace
from formats.test_conformance import differences, limits_of
from simulator import simulate
from stories import FORMATS

REGRESSIONS = [int(line) for line in Path(__file__).with_name("seeds.txt").read_text().split()]
"""Programs that failed once."""
BLOCK = 20
BLOCKS = 4
"""Programs of a test, and tests. This file is a program that tries those from FIRST to LAST."""

COMMANDS = (
    ("info", "--format", "json"), ("info",), ("structure",),
    ("structure", "--method", "seed", "--format", "csv"),
    ("table", "-o", "table.csv", "--force"), ("convert", "out.prv", "--force"),
    ("cut", "-o", "cut.store", "--first", "1us", "--force"),
    ("annotate", "-o", "annotated.prv", "--force"),
)  # fmt: skip
ENDINGS = {0, 4, 5}  # fine, contradicts itself, or no answer for this input


def calls_of(trace):
    ranks = trace.locations["rank"].to_pylist()
    columns = (trace.calls[name].to_pylist() for name in ("location", "operation"))
    return Counter(
        (ranks[location], operation) for location, operation in zip(*columns, strict=True)
    )


def messages_of(trace):
    ranks = trace.locations["rank"].to_pylist()
    names = ("sender_location", "receiver_location", "tag", "sent_bytes")
    rows = zip(*(trace.messages[name].to_pylist() for name in names), strict=True)
    return sorted((ranks[source], ranks[to], *what) for source, to, *what in rows)


def openmp_of(trace):
    """Rows of regions, teams and locks as the simulator tells them."""
    place = [(row["rank"], row["thread"]) for row in trace.locations.to_pylist()]
    roles = trace.region_defs["role"].to_pylist()
    fork_ns = trace.teams["fork_ns"].to_pylist()
    regions = (
        (
            *place[row["location"]],
            roles[row["region"]],
            row["enter_ns"],
            row["leave_ns"],
            # a team begins in its parallel region, or the region in its team: as a source says
            None
            if row["team"] is None or roles[row["region"]] == "parallel"
            else fork_ns[row["team"]],
            row["barrier_ordinal"],
            row["iterations"],
        )
        for row in trace.regions.to_pylist()
    )
    teams = (
        (place[row["fork_location"]][0], row["fork_ns"], row["join_ns"], row["threads"])
        for row in trace.teams.to_pylist()
    )
    locks = (
        (
            *place[row["location"]],
            *(row[name] for name in ("lock", "order", "acquire_ns", "release_ns")),
        )
        for row in trace.locks.to_pylist()
    )
    return [sorted(rows, key=str) for rows in (regions, teams, locks)]


def check(seed, folder):
    """Hold a program against its truth, in two formats and two commands of many."""
    simulated = simulate(seed)
    story, trace = simulated.story, simulated.story.trace
    assert calls_of(trace) == simulated.calls
    assert messages_of(trace) == simulated.messages
    complete = trace.collectives.filter(trace.collectives["complete"])
    assert Counter(complete["operation"].to_pylist()) == simulated.collectives
    assert openmp_of(trace) == [simulated.regions, simulated.teams, simulated.locks]

    for k in range(2):
        form = FORMATS[(seed + 3 * k) % len(FORMATS)]
        place = folder / f"{seed}_{k}"
        place.mkdir()
        again = story.read(place, form)
        assert calls_of(again) == simulated.calls, form
        assert messages_of(again) == simulated.messages, form
        for name in differences(again, trace):
            assert limits_of(form, name), f"{form}: {name}"

    whole = burstline.select(trace, start_ns=0, end_ns=2**60)
    assert_same_trace(whole, trace, tables={"calls", "messages", "bursts", "collectives"})
    if any(operation != "MPI_Init" for _, operation in simulated.calls):
        assert burstline.detect(trace, method="exact").fidelity == 1.0
    if trace.bursts.num_rows:
        assert set(burstline.match([trace, trace]).match_rate) == {1.0}

    path = folder / f"{seed}.txt"
    path.write_text(simulated.text, encoding="utf-8")
    for k in range(2):
        name, *words = COMMANDS[(seed + 4 * k) % len(COMMANDS)]
        done = command.burstline(name, path, *words)
        assert done.returncode in ENDINGS, (name, done.stderr)
        assert "bug of burstline" not in done.stderr


@pytest.mark.parametrize("block", range(BLOCKS))
def test_programs_at_random_are_read_as_they_ran(tmp_path, monkeypatch, block):
    monkeypatch.chdir(tmp_path)
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        check(seed, tmp_path)


@pytest.mark.parametrize("seed", REGRESSIONS)
def test_what_failed_once_does_not_again(tmp_path, monkeypatch, seed):
    monkeypatch.chdir(tmp_path)
    check(seed, tmp_path)


if __name__ == "__main__":
    import os
    import sys
    import tempfile

    first, last = map(int, sys.argv[1:3])
    for number in range(first, last):
        with tempfile.TemporaryDirectory() as scratch:
            os.chdir(scratch)
            try:
                check(number, Path(scratch))
            except Exception as error:  # noqa: BLE001 -- whatever a program brings to light
                print(number, type(error).__name__, str(error)[:300])
            os.chdir("/")
    print(f"tried {first} to {last - 1}")
