"""Raw files in which the threads of a process stand piece by piece, and what a kill leaves."""

from __future__ import annotations

import itertools

import pytest

import burstline
from burstline import errors
from burstline.formats.raw import stored
from burstline.formats.raw.files import folder as files
from burstline.formats.raw.files.folder import settle
from raw_files import FIRST_PID, WORLD, Run, communicator, defects, piece, process_file, record

BYTES = 32


def threads():
    """Return the records of two threads that call MPI in turns."""
    first = record(30, a=0, b=1) + communicator(1, 0, [0], WORLD)
    second = b""
    for begin in range(10, 500, 10):
        first += record(1, op=10, time=begin) + record(2, op=10, time=begin + 4)
        second += record(1, op=10, time=begin + 2) + record(2, op=10, time=begin + 7)
    return [part + record(74, op=1, time=600) for part in (first, second)]


def cut(records, *borders):
    borders = [0, *borders, len(records) // BYTES]
    return [(a, records[a * BYTES : b * BYTES]) for a, b in itertools.pairwise(borders)]


def write(folder, content, tail=None):
    folder.mkdir(exist_ok=True)
    name, data = process_file(content)
    (folder / name).write_bytes(data)
    if tail is not None:
        (folder / name).with_suffix(".tail").write_bytes(tail)
    return folder


def pieces(number, parts):
    return [piece(number, before, part) for before, part in parts]


@pytest.fixture
def whole(tmp_path):
    """The trace of the same threads with a file each, as older recorders wrote them."""
    run = Run(1, start=1)
    first, second = threads()
    run.threads[0].data = first
    run.thread(0, 1).add(second)
    (tmp_path / "whole").mkdir()
    return burstline.read(run.write(tmp_path / "whole"))


def same(trace, other):
    names = ("calls", "bursts", "locations", "communicators", "gaps", "defects")
    return all(trace.table(name).equals(other.table(name)) for name in names)


def test_threads_in_turns_are_those_of_files_of_their_own(tmp_path, whole):
    first, second = threads()
    mixed = b"".join(
        a + b
        for a, b in zip(
            pieces(0, cut(first, 3, 50)), pieces(1, cut(second, 1, 60)), strict=True
        )
    )

    assert same(burstline.read(write(tmp_path / "mixed", mixed)), whole)


@pytest.mark.parametrize("block", [7, None])
def test_blocks_go_across_pieces_and_order_in_the_file_does_not_matter(
    tmp_path, whole, monkeypatch, block
):
    first, second = threads()
    if block:
        monkeypatch.setattr(files, "_BLOCK", block)
    parts = [*pieces(0, cut(first, *range(5, 100, 5))), *pieces(1, cut(second, 9, 30))]

    for order in (parts, parts[::-1]):
        assert same(burstline.read(write(tmp_path / "mixed", b"".join(order))), whole)


@pytest.mark.parametrize("put", [False, True])
@pytest.mark.parametrize("written", [0, 20, 25])
def test_what_windows_hold_counts_once(tmp_path, whole, written, put):
    """A kill may leave a window that the file has already, or has by half."""
    first, second = threads()
    ((_, early), (at, late)) = cut(first, 40)
    content = piece(1, 0, second) + piece(0, 0, early)
    if written:
        content += piece(0, at, late[: written * BYTES]) + late[: written % 2]
    cleared = bytes(BYTES) + late[:64]  # of a window, from its begin on
    tail = piece(0, at, late) + bytes(96) + cleared + bytes(32)
    folder = write(tmp_path / "killed", content, tail)
    if put:
        settle(folder)
        assert not list(folder.glob("*.tail"))

    trace = burstline.read(folder)

    found = defects(trace)
    found.pop("truncated_record", None)
    assert found == {}
    names = ("calls", "bursts", "locations")
    assert all(trace.table(name).equals(whole.table(name)) for name in names)


def test_a_process_that_wrote_no_window_yet_is_read_from_its_windows(tmp_path, whole):
    first, second = threads()
    tail = piece(0, 0, first) + bytes(64) + piece(1, 0, second) + bytes(32)

    assert same(burstline.read(write(tmp_path / "killed", b"", tail)), whole)


def test_a_piece_that_is_missing_is_a_defect(tmp_path):
    first, second = threads()
    parts = [*pieces(0, cut(first, 10, 15)), piece(1, 0, second)]

    trace = burstline.read(write(tmp_path / "gone", parts[0] + parts[2] + parts[3]))

    assert defects(trace)["missing_record"] == 5


def test_records_of_no_thread_are_a_defect_and_a_thread_without_records_is_read(
    tmp_path, whole
):
    first, second = threads()
    both = piece(0, 0, first) + piece(1, 0, second)

    strange = burstline.read(write(tmp_path / "strange", record(1, op=10, time=1) + both))
    begun = burstline.read(write(tmp_path / "begun", both + piece(2, 0, b"")))

    assert defects(strange)["unknown_record"] == 1
    assert strange.calls.equals(whole.calls)
    assert begun.calls.equals(whole.calls)
    assert begun.rows("locations") == 3


def test_threads_of_a_file_are_told_apart(tmp_path):
    first, second = threads()
    content = piece(0, 0, first) + piece(1, 0, second)

    write(tmp_path / "two", content)

    (path,) = (tmp_path / "two").iterdir()
    assert path.name == f"p-node-{FIRST_PID}.raw"
    assert [len(one) * BYTES for one in stored(path)] == [len(first), len(second)]


@pytest.mark.parametrize("in_tail", [False, True])
@pytest.mark.parametrize(("numbers", "count"), [(range(1, 20_000), 1), ([1], 150_000)])
def test_threads_and_pieces_without_records_are_counted_before_they_are_made(
    tmp_path, in_tail, numbers, count
):
    """Each is a record in the file, and objects of some kilobytes in memory."""
    first, _ = threads()
    hostile = b"".join(piece(number, 0, b"") for number in numbers) * count
    content = piece(0, 0, first) + hostile * (not in_tail)
    folder = write(tmp_path / "hostile", content, hostile * in_tail or None)

    with pytest.raises(errors.MemoryBudgetError, match="each thread takes some"):
        burstline.read(folder, memory=256 << 20)


def test_threads_that_fit_are_not_refused(tmp_path):
    first, _ = threads()
    others = b"".join(piece(number, 0, b"") for number in range(1, 300))
    folder = write(tmp_path / "many", piece(0, 0, first) + others)

    assert burstline.read(folder, memory=256 << 20).rows("locations") == 300


@pytest.mark.parametrize(("birth", "told"), [(10, {}), (15, {"time_before_thread": 1})])
def test_events_before_their_thread_was_seen_are_told(tmp_path, birth, told):
    first, second = threads()
    late = record(4, time=birth, a=1) + second

    trace = burstline.read(write(tmp_path / "run", piece(0, 0, first) + late))

    assert defects(trace) == told
