"""What the recorder asks for is refused once, or from then on: the program goes on unchanged.

What is recorded then is whole, says where records are missing, or is nothing, which is said.
"""

from __future__ import annotations

import itertools
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from burstline.formats import raw
from raw_records import KINDS, files, kinds, of_kind, records, stacks, texts
from runtime_building import ROOT

PROGRAMS = ROOT / "tests" / "record"
BASIS = {
    "BURSTLINE_BLOCK": "8192",
    "BURSTLINE_COUNTERS": "none",
    "BURSTLINE_SAMPLE": "0",  # they come when they will
}
DEPTH = {"BURSTLINE_STACK_DEPTH": "8"}
RUNS = {
    "many": {"BURSTLINE_STACK_DEPTH": "0"},
    "ranked": DEPTH | {"BURSTLINE_COUNTERS": "cpu"},
    "regions": DEPTH,
    "stacks": DEPTH,
    "loops": DEPTH,
    "profiled": {"BURSTLINE_MODE": "profile"},
}
DEFINING = {"STACK", "FRAMES", "MODULE", "TEXT", "COUNTER", "NAME", "RANK", "OVERHEAD"}


def refusing(command, folder, settings, number, *, goes_on):
    """Run a program to which one thing, or all from then on, is refused; 0 is none.

    Give how it ended, and what the last one was that it asked for.
    """
    folder.mkdir()
    settings = settings | {"BURSTLINE_DIR": str(folder), "REFUSE_AT": str(number)}
    settings |= {"REFUSE_COUNT": str(folder / "count")}
    if goes_on:
        settings["REFUSE_ON"] = "1"
    done = subprocess.run(
        command,
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done, int((folder / "count").read_text())


def happened(path):
    """What a thread did, with its stacks and names; its gaps apart."""
    frames, names = stacks(path), texts(path, "NAME")
    rows = []
    for row in records(path):
        kind = KINDS[int(row["kind"])]
        if kind in DEFINING or kind == "GAP":
            continue
        what = int(row["a"])
        if kind == "ENTER":
            what = tuple(frames.get(what, ()))
        elif kind.startswith("REGION"):
            what = names[what]
        elif kind == "EVENT" and what >= 2000:  # sums of times
            continue
        rows.append((kind, int(row["op"]), what))
    return rows


@pytest.mark.usefixtures("one_processor")
@pytest.mark.parametrize("goes_on", [False, True], ids=["once", "from_then_on"])
@pytest.mark.parametrize("run", RUNS)
def test_whatever_is_refused_is_said_and_harms_nothing(
    runtime_program, refused, tmp_path, run, goes_on
):
    settings = BASIS | RUNS[run] | {"LD_PRELOAD": str(refused), "REFUSE_FOR": "/recorded"}
    command = [runtime_program, "many" if run == "profiled" else run]

    def recorded(number):
        folder = tmp_path / str(number)
        done, reached = refusing(command, folder, settings, number, goes_on=goes_on)
        return [*files(folder)], (done.returncode, done.stdout), done.stderr, reached

    paths, ended, said, _ = recorded(0)
    whole = sorted(happened(path) for path in paths)
    assert (ended, said) == ((0, ""), "")
    assert whole
    for number in itertools.count(1):
        left, end, said, reached = recorded(number)
        where = f"{run}, the {number}th of {reached} refused, {said!r}"
        assert end == ended, where
        if sorted(happened(path) for path in left) != whole:
            assert "burstline: process" in said, where
            gaps = [int(count) for path in left for count in of_kind(path, "GAP")["c"]]
            assert all(gaps), where
            assert gaps or not left, where
            if run == "many" and left and "no memory" not in said:
                kept = sum(len(kinds(path, "ENTER", "SEND", "LEAVE")) for path in left)
                assert kept + sum(gaps) == 9000, where
        if reached < number:
            break
    assert number > 5


ALONE = {"BURSTLINE_CLOCKS": "0", "BURSTLINE_COUNTERS": "none", "BURSTLINE_STACK_DEPTH": "2"}
ALONE |= {"BURSTLINE_SAMPLE": "0"}
TABLES = {
    "calls": ("operation", "communicator", "peer", "tag", "sent_bytes", "received_bytes"),
    "messages": ("communicator", "tag", "sent_bytes", "send_call", "post_call", "receive_call"),
    "collectives": ("communicator", "operation", "sequence", "complete"),
    "communicators": ("communicator", "kind", "members", "ambiguous"),
    "other_events": ("kind", "name", "type", "value"),
}
AT_ONCE = 8


def contents(trace):
    return {
        name: [trace.table(name)[column].to_pylist() for column in columns]
        for name, columns in TABLES.items()
    }


@pytest.mark.parametrize("goes_on", [False, True], ids=["once", "from_then_on"])
def test_whatever_is_refused_about_mpi_is_marked_and_harms_nothing(
    recorder, mpich, refused, tmp_path, goes_on
):
    compiler, _ = mpich
    program, library = tmp_path / "alone", recorder(compiler)
    words = [compiler, "-w", "-o", program, PROGRAMS / "mpi_alone.c"]
    subprocess.run(words, check=True)

    settings = ALONE | {"LD_PRELOAD": f"{refused}:{library}", "REFUSE_FOR": f"/{library.name}"}

    def recorded(number):
        folder = tmp_path / str(number)
        command = [program, folder / "file"]
        return folder, *refusing(command, folder, settings, number, goes_on=goes_on)

    folder, done, _ = recorded(0)
    ended, whole = (done.returncode, done.stdout), contents(raw.read(folder))
    assert ended == (3, "done\n")
    assert len(whole["messages"][0]) == 12
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for first in itertools.count(1, AT_ONCE):
            numbers = range(first, first + AT_ONCE)
            for number, result in zip(numbers, pool.map(recorded, numbers), strict=True):
                folder, done, reached = result
                where = f"the {number}th of {reached} refused, {done.stderr!r}"
                assert (done.returncode, done.stdout) == ended, where
                if not files(folder):
                    assert "cannot write" in done.stderr or "no memory" in done.stderr, where
                    continue
                trace = raw.read(folder)
                kinds = trace.defects["kind"].to_pylist()
                if contents(trace) != whole:
                    assert "records_dropped" in kinds, where
                    assert "burstline: process" in done.stderr, where
            if reached < number:
                break
    assert number > 30
