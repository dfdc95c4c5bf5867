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


ONE, TWO, THREE = barrier(10), barrier(20, 30), barrier(10, 20, 30)
TAILS = {
    "follows the file": (barrier(10, 20), 0, barrier(30), [10, 20, 30]),
    "was being written": (ONE + TWO[:50], -50, TWO, [10, 20, 30]),
    "was written already": (THREE, -len(TWO) | WRITTEN, TWO, [10, 20, 30]),
    "was written and half cleared": (
        THREE, -len(TWO) | WRITTEN, bytes(64) + TWO[64:], [10, 20, 30]
    ),
    "is all there is": (b"", 0, ONE, [10]),
    "is shorter than what it overwrites": (THREE, -len(TWO), barrier(20), [10, 20]),
}  # fmt: skip


@pytest.mark.parametrize(("content", "back", "records", "expected"), TAILS.values(), ids=TAILS)
def test_a_tail_counts_once_and_put_in_its_place_changes_nothing(
    tmp_path, content, back, records, expected
):
    times, before = read(tmp_path, content, (len(content) + back, records))

    settle(tmp_path)

    after = burstline.read(tmp_path)
    assert len(list(tmp_path.glob("*.tail"))) == back & WRITTEN  # what is in place may stay
    assert times == expected
    assert {name: after.table(name) for name in ("calls", "locations", "defects")} == {
        name: before.table(name) for name in ("calls", "locations", "defects")
    }


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


def test_a_tail_that_has_no_place_in_its_file_stays(tmp_path):
    content = barrier(10)
    read(tmp_path, content, (len(content) + 64, barrier(30)))
    (path,) = tmp_path.glob("*.raw")
    held = path.read_bytes()

    settle(tmp_path)

    assert len(list(tmp_path.glob("*.tail"))) == 1
    assert path.read_bytes() == held
