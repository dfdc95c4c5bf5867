"""Damaged archives: what can be read is read, and nothing brings this process down."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import burstline
from burstline import _core
from burstline.errors import FormatError
from burstline.formats import otf2
from burstline.formats.otf2.library import VARIABLE
from burstline.formats.otf2.reading import trace as source
from burstline.formats.otf2.reading.archive import describe
from burstline.model import schema
from otf2_archives import archive, read

RANKS = 3


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "run"
    with archive(folder, RANKS) as made:
        for rank in range(RANKS):
            thread = made.thread(rank).region("main", 0, None)
            for step in range(20):
                time = 10 + 100 * step
                send = ("mpi_send", time + 2, (rank + 1) % RANKS, made.world, 1, 8)
                receive = ("mpi_recv", time + 6, (rank - 1) % RANKS, made.world, 1, 8)
                thread.region("MPI_Sendrecv", time, time + 8, send, receive)
            thread.writer.leave(9000, made.region("main"))
    return folder


def events(place, rank):
    return place / "traces" / f"{rank}.evt"


def kinds(trace):
    return set(trace.defects["kind"].to_pylist())


def test_a_missing_file_of_events_costs_its_location(place):
    events(place, 1).unlink()
    trace = read(place)

    assert {"location_without_file", "unmatched_send", "unmatched_receive"} <= kinds(trace)
    assert set(trace.calls["location"].to_pylist()) == {0, 2}


def test_a_truncated_file_is_read_as_far_as_it_goes(place):
    data = events(place, 0).read_bytes()
    events(place, 0).write_bytes(data[: len(data) // 2])
    trace = read(place)

    assert "location_cut_short" in kinds(trace)
    assert set(trace.calls["location"].to_pylist()) == {0, 1, 2}
    assert trace.calls.num_rows < RANKS * 20


def test_what_a_file_lacks_is_not_made_up_of_what_memory_held_before(place):
    """Allocations of the reading process hold nothing, or bytes that end a file's header."""
    data = events(place, 0).read_bytes()
    events(place, 0).write_bytes(data[: len(data) // 2])
    program = "import burstline, sys; print(burstline.read(sys.argv[1]).defects.to_pylist())"
    told = set()
    for fill in (0, 3):
        tunables = {"GLIBC_TUNABLES": f"glibc.malloc.perturb={255 - fill}"}
        done = subprocess.run(
            [sys.executable, "-c", program, str(place)],
            env=os.environ | tunables,
            capture_output=True,
            text=True,
            check=True,
        )
        told.add(done.stdout)

    assert len(told) == 1
    assert "location_cut_short" in told.pop()


@pytest.mark.parametrize("name", ["traces.def", "traces.otf2"])
def test_without_definitions_the_archive_is_refused(place, name):
    (place / name).write_bytes((place / name).read_bytes()[:20])

    with pytest.raises(FormatError):
        burstline.read(place)


@pytest.mark.parametrize("seed", range(25))
def test_changed_bytes_are_read_or_refused(place, seed):
    dice = random.Random(seed)  # noqa: S311 -- which bytes to change
    file = dice.choice(sorted(path for path in place.rglob("*") if path.is_file()))
    data = bytearray(file.read_bytes())
    for _ in range(dice.randrange(1, 6)):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    file.write_bytes(data)

    try:
        trace = read(place)
    except FormatError:
        return
    assert trace.locations.num_rows


@pytest.fixture
def falling(monkeypatch):
    """Let the child fall whenever it reads location 1: before or after the others."""
    whole = _core.otf2_events

    def read(library, anchor, locations, *rest):
        found = whole(library, anchor, locations, *rest)
        numbers = locations[1].tolist()
        if 1 not in numbers:
            return found
        tables, of_kind, full, _ = found
        cut = numbers.index(1)
        for name, table in tables.items():
            last = cut if name == "lives" else None
            for column, values in table.items():
                kept = values[:last] if last is not None else values
                if name in ("calls", "regions", "records", "readings", "forks", "teams"):
                    kept = values[table["location"] != 1] if column != "location" else values
                table[column] = kept
            if "location" in table:
                table["location"] = table["location"][table["location"] != 1]
        return tables, of_kind, full, (11, 0, "", b"")

    monkeypatch.setattr(_core, "otf2_events", read)


@pytest.mark.usefixtures("falling")
def test_a_location_that_brings_the_library_down_is_the_only_one_lost(place):
    whole = read(place)

    assert "location_unreadable" in kinds(whole)
    assert set(whole.calls["location"].to_pylist()) == {0, 2}
    parts = otf2.read(place, bytes_at_once=1)
    for name in set(schema.TABLES) - {"defects"}:
        assert whole.table(name).equals(parts.table(name)), name


def test_a_child_that_ends_by_a_signal_is_told_by_name():
    assert describe((11, 0, "", b"")) == "the library failed: SIGSEGV"


FUNCTIONS = re.compile(r'"(OTF2_\w+)"')


@pytest.fixture
def broken_library(tmp_path):
    """Build a library that has all functions and falls in the first that opens a file."""
    source = Path(__file__).parents[2] / "core" / "otf2_library.hpp"
    names = FUNCTIONS.findall(source.read_text(encoding="utf-8"))
    opening = "OTF2_Reader_Open"
    lines = ["#include <stdlib.h>", f"void *{opening}(const char *p) {{ (void)p; abort(); }}"]
    lines += [f"void *{name}(void) {{ return 0; }}" for name in names if name != opening]
    made = tmp_path / "libbroken.so"
    code = "\n".join(lines)
    command = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(made)]
    subprocess.run(command, input=code, text=True, check=True)
    return str(made)


def test_a_library_that_aborts_takes_nobody_with_it(place, broken_library, monkeypatch):
    monkeypatch.setenv(VARIABLE, broken_library)

    with pytest.raises(FormatError, match="the library failed: SIGABRT"):
        burstline.read(place)


def test_events_that_bring_the_library_down_leave_the_definitions(
    place, broken_library, monkeypatch
):
    opened = source.open_archive

    def with_broken_events(anchor, *told):
        return replace(opened(anchor, *told), library=broken_library)

    monkeypatch.setattr(source, "open_archive", with_broken_events)
    trace = read(place)

    assert trace.locations.num_rows == RANKS
    assert dict(
        zip(trace.defects["kind"].to_pylist(), trace.defects["count"].to_pylist(), strict=True)
    ) == {"location_unreadable": RANKS, "location_without_events": RANKS}
