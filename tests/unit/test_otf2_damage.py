"""Damaged archives: what can be read is read, and nothing brings this process down."""

from __future__ import annotations

import random

import pytest

import burstline
from burstline import _core, schema
from burstline.errors import FormatError
from burstline.formats import otf2
from otf2_archives import archive

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


def read(place):
    trace = burstline.read(place)
    for name in schema.TABLES:
        schema.check(name, trace.table(name))
    return trace


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
    parts = otf2.read_otf2(place, bytes_at_once=1)
    for name in set(schema.TABLES) - {"defects"}:
        assert whole.table(name).equals(parts.table(name)), name


def test_a_child_that_ends_by_a_signal_is_told_by_name():
    assert otf2.archive.describe((11, 0, "", b"")) == "the library failed: SIGSEGV"


def test_a_child_without_memory_does_not_take_its_parent_with_it(place):
    anchor = str(place / "traces.otf2")
    found = otf2.library.find_library()
    rows, _, told = _core.otf2_definitions(found, anchor, 1 << 12, 1 << 12, 1, 1)

    assert told[0] or told[1] or len(rows)
