"""Raw files that were never ended: what their tails hold counts from where it belongs."""

from __future__ import annotations

import struct

import pytest

import burstline
from burstline.formats.raw.files.folder import settle
from raw_files import HEADER_BYTES, Run, column, defects, record

ENTER, LEAVE = 1, 2
BARRIER = 10
WRITTEN = 1


def barrier(*times):
    return b"".join(
        record(kind, op=BARRIER, time=time)
        for begin in times
        for kind, time in ((ENTER, begin), (LEAVE, begin + 5))
    )


def tail(belongs, records, zeros=3):
    return struct.pack("<8s3Q", b"BURSTEND", belongs, 0, 0) + records + bytes(32 * zeros)


def read(folder, content, left):
    """Read one rank's file with `content` added to it, and a tail that belongs `left[0]` in."""
    run = Run(1, start=1)
    (path,) = run.write(folder).glob("*.raw")
    begin = path.stat().st_size
    path.write_bytes(path.read_bytes() + content)
    path.with_suffix(".tail").write_bytes(tail(begin + left[0], *left[1:]))
    trace = burstline.read(folder)
    return [time + 1 for time in column(trace, "calls", "enter_ns")], trace


def test_the_records_of_a_tail_follow_those_of_the_file(tmp_path):
    content = barrier(10, 20)

    times, _ = read(tmp_path, content, (len(content), barrier(30)))

    assert times == [10, 20, 30]


def test_what_the_file_has_of_a_tail_that_was_being_written_does_not_count(tmp_path):
    content, window = barrier(10), barrier(20, 30)

    times, _ = read(tmp_path, content + window[:50], (len(content), window))

    assert times == [10, 20, 30]


def test_a_tail_that_was_written_already_does_not_count_again(tmp_path):
    content, window = barrier(10), barrier(20, 30)

    times, _ = read(tmp_path, content + window, (len(content) | WRITTEN, window))

    assert times == [10, 20, 30]


def test_half_a_tail_cleared_after_it_was_written_takes_nothing_away(tmp_path):
    content, window = barrier(10), barrier(20, 30)
    cleared = bytes(64) + window[64:]

    times, _ = read(tmp_path, content + window, (len(content) | WRITTEN, cleared))

    assert times == [10, 20, 30]


def test_what_is_missing_before_a_tail_is_a_defect(tmp_path):
    content = barrier(10)

    times, trace = read(tmp_path, content, (len(content) + 5 * 32, barrier(40)))

    assert times == [10, 40]
    assert defects(trace)["missing_record"] == 5


@pytest.mark.parametrize(
    "left", [b"", b"BURST", tail(HEADER_BYTES - 32, barrier(7)), bytes(4096)]
)
def test_a_tail_that_is_none_does_not_count(tmp_path, left):
    run = Run(1, start=1)
    run[0].call("MPI_Barrier", 10, 15)
    (path,) = run.end(20).write(tmp_path).glob("*.raw")
    path.with_suffix(".tail").write_bytes(left)

    assert len(burstline.read(tmp_path).calls) == 1


@pytest.mark.parametrize(
    ("content", "left"),
    [
        (barrier(10, 20), (len(barrier(10, 20)), barrier(30))),
        (barrier(10) + barrier(20, 30)[:50], (len(barrier(10)), barrier(20, 30))),
        (barrier(10, 20, 30), (len(barrier(10)), barrier(20))),
        (b"", (0, barrier(10))),
    ],
)
def test_a_tail_put_in_its_place_changes_nothing_that_is_read(tmp_path, content, left):
    times, before = read(tmp_path, content, left)

    settle(tmp_path)

    after = burstline.read(tmp_path)
    assert not list(tmp_path.glob("*.tail"))
    assert times
    assert {name: after.table(name) for name in ("calls", "locations", "defects")} == {
        name: before.table(name) for name in ("calls", "locations", "defects")
    }


def test_a_tail_that_has_no_place_in_its_file_stays(tmp_path):
    content = barrier(10)
    read(tmp_path, content, (len(content) + 64, barrier(30)))
    (path,) = tmp_path.glob("*.raw")
    held = path.read_bytes()

    settle(tmp_path)

    assert len(list(tmp_path.glob("*.tail"))) == 1
    assert path.read_bytes() == held
