"""Where archives lie, how they are read in parts, and what is said when they cannot be."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from otf2.enums import ParameterType

import burstline
from burstline.errors import MemoryBudgetError, MissingExtraError
from burstline.formats import otf2
from burstline.formats.intake.budget import ReadingCosts
from burstline.formats.intake.target import HeldTables
from burstline.formats.otf2 import convert as convert_otf2
from burstline.formats.otf2 import library
from burstline.formats.otf2.reading import archive as archive_module
from burstline.formats.otf2.reading import trace as otf2_trace
from burstline.formats.otf2.reading.trace import COSTS
from burstline.model import schema
from burstline.progress import SILENCE
from otf2_archives import archive, read, team_of_two

_TIME, _ENTER = 5, 12
"""First bytes of records: a time, which is 8 bytes, and an enter, which tells its size."""


def test_the_anchor_may_have_any_name_and_lie_a_folder_deeper(place):
    with archive(place / "inner", name="log") as made:
        made.thread(0).region("f", 0, 1)

    for path in (place, place / "inner", place / "inner" / "log.otf2"):
        assert read(path).regions.num_rows == 1


def test_groups_of_processes_do_not_show(place):
    with archive(place, 3, 2) as made:
        for rank in range(3):
            made.thread(rank, 1)
            thread = made.thread(rank).region("main", 0, None)
            send = ("mpi_send", 5, (rank + 1) % 3, made.world, 1, 8)
            receive = ("mpi_recv", 6, (rank + 2) % 3, made.world, 1, 8)
            thread.region("MPI_Sendrecv", 4, 8, send, receive)
    whole = otf2.read(place)
    parts = otf2.read(place, bytes_at_once=1, threads=2)

    for name in schema.TABLES:
        assert whole.table(name).equals(parts.table(name)), name


def test_groups_do_not_show_in_paths_of_teams(place):
    with archive(place, 2, 2) as made:
        for rank in range(2):
            team_of_two(made, rank)
    whole = otf2.read(place)
    parts = otf2.read(place, bytes_at_once=1, threads=2)

    for name in schema.TABLES:
        assert whole.table(name).equals(parts.table(name)), name


def stored_beside_read(place, tmp_path, memory):
    """A store made of an archive, and the archive itself."""
    target = tmp_path / "run.store"
    convert_otf2(place, target, memory=memory, threads=1, progress=SILENCE)
    return burstline.read(target), read(place)


def test_a_store_holds_the_same_tables(place, tmp_path):
    with archive(place, threads=2) as made:
        team_of_two(made)

    stored, trace = stored_beside_read(place, tmp_path, 300 << 20)

    for name in schema.TABLES:
        assert stored.table(name).to_pylist() == trace.table(name).to_pylist(), name


def test_a_store_keeps_what_a_program_told(place, tmp_path):
    with_parameter(place)

    stored, trace = stored_beside_read(place, tmp_path, 1 << 30)

    assert stored.rows("other_events") == 1
    for name in ("other_events", "defects", "regions"):
        assert stored.table(name).to_pylist() == trace.table(name).to_pylist(), name


@pytest.fixture
def small(place):
    """An archive of one region."""
    with archive(place) as made:
        made.thread(0).region("f", 0, 1)
    return place


def test_too_little_memory_is_refused_and_that_of_a_small_archive_not_asked_for_twice(small):
    with pytest.raises(MemoryBudgetError, match="burstline convert"):
        burstline.read(small, memory=1 << 20)
    assert burstline.read(small, memory=200 << 20).regions.num_rows == 1


def test_tables_that_outgrow_the_memory_are_refused_with_what_all_locations_need():
    tables = HeldTables(200 << 20, base=COSTS.base, way_out=COSTS.way_out, locations=6)
    parts = [
        pa.table({"location": np.full(5 << 20, location, np.int64)}) for location in (0, 1)
    ]

    tables.append("readings", parts[0])
    with pytest.raises(MemoryBudgetError, match="burstline convert") as refused:
        tables.append("readings", parts[1])
    assert refused.value.needed_bytes == COSTS.base + 6 * parts[0].nbytes


@pytest.mark.usefixtures("small")
def test_with_little_memory_less_is_taken_on_at_a_time(place, monkeypatch):
    tried = []

    def needed(_costs, _sizes, at_once, threads):
        tried.append((at_once >> 20, threads))
        return 1 << 30 if threads else 0

    monkeypatch.setattr(ReadingCosts, "whole", needed)

    trace = otf2.read(place, memory=200 << 20, threads=2, bytes_at_once=32 << 20)
    assert trace.regions.num_rows == 1
    assert tried == [(32, 2), (16, 2), (8, 2), (4, 2), (4, 0)]


@pytest.mark.parametrize(("each", "wanted"), [(1 << 10, 4), (12 << 20, 8), (1 << 30, 32)])
def test_a_sixth_of_all_is_taken_on_at_a_time_unless_that_is_little_or_much(
    place, monkeypatch, each, wanted
):
    with archive(place, 4) as made:
        for rank in range(4):
            made.thread(rank).region("f", 0, 1)
    tried = []
    monkeypatch.setattr(otf2_trace, "file_size", lambda _: each)
    monkeypatch.setattr(ReadingCosts, "whole", lambda _, __, most, ___: tried.append(most) or 0)

    assert burstline.read(place, memory=200 << 20).regions.num_rows == 4
    assert tried == [wanted << 20]


def with_parameter(place):
    with archive(place) as made:
        number = made.definitions.parameter("n", parameter_type=ParameterType.INT64)
        thread = made.thread(0).region("MPI_Barrier", 0, 1)
        thread.region("f", 2, 5, ("parameter_int", 3, number, -5))


def swapped(events):
    """Turn the bytes of a location's events around: those of a machine of the other kind."""
    first, last = events[2:10][::-1], events[10:18][::-1]
    turned, at = b"\x03\x23" + first + last, 18
    while at < len(events):
        kind = events[at]
        size = {_TIME: 9, _ENTER: 2 + events[(at + 1) % len(events)]}.get(kind, 1)
        record = events[at : at + size]
        turned += record[:1] + record[:0:-1] if kind == _TIME else record
        at += size
    return turned


def test_the_order_of_bytes_does_not_show(place):
    with archive(place) as made:
        for enter in (5, 300, 70_000):
            made.thread(0).writer.enter(enter, made.region("f"))
    file = place / "traces" / "0.evt"
    assert file.read_bytes()[:2] == b"\x03\x42"
    before = read(place)
    file.write_bytes(swapped(file.read_bytes()))
    after = read(place)

    assert before.regions["enter_ns"].to_pylist() == [0, 295, 69_995]
    for name in schema.TABLES:
        assert before.table(name).equals(after.table(name)), name


@pytest.mark.usefixtures("small")
def test_without_the_extra_the_way_out_is_told(place, monkeypatch):
    monkeypatch.setattr(library, "find_spec", lambda _: None)

    with pytest.raises(MissingExtraError, match=r"burstline\[otf2\].*3\.12") as caught:
        burstline.read(place)
    assert caught.value.exit_code == 6


@pytest.mark.usefixtures("small")
def test_a_library_that_is_none_is_said_so(place, monkeypatch, tmp_path):
    (wrong := tmp_path / "libnothing.so").write_bytes(b"nothing")
    monkeypatch.setenv(library.VARIABLE, str(wrong))

    with pytest.raises(MissingExtraError, match=r"libnothing\.so is not a library of OTF2"):
        burstline.read(place)


@pytest.mark.parametrize(("name", "words"), [("compression", "zlib"), ("substrate", "SION")])
@pytest.mark.usefixtures("small")
def test_archives_that_the_library_does_not_read_are_refused(place, monkeypatch, name, words):
    decode = archive_module.decode

    def stored(*arguments):
        found = decode(*arguments)
        setattr(found, name, 2)
        return found

    monkeypatch.setattr(archive_module, "decode", stored)
    with pytest.raises(MissingExtraError, match=words):
        burstline.read(place)
