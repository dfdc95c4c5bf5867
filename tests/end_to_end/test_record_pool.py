"""Windows are handed on from thread to thread, and need no descriptor of the program's."""

from __future__ import annotations

import math
import mmap
import signal

import pytest

from raw_records import files, kinds, of_kind
from runtime_building import ROOT, build, recorded

CALLS = 3000  # of the program's "many"
SHORT_THREADS = 600
SLAB = 1 << 20


@pytest.fixture(scope="module")
def program(built_once, tmp_path_factory):
    sources = [
        ROOT / "tests" / "record" / f"{name}.c" for name in ("runtime_program", "counted_files")
    ]
    # ISO C knows no pointer to a function that was a pointer to something else.
    target = tmp_path_factory.mktemp("pool") / "program"
    return build(built_once, target, *sources, "-rdynamic", "-Wno-pedantic")


@pytest.fixture
def record(program, tmp_path):
    def run(*words, block=1 << 20, code=0, said=""):
        (folder := tmp_path / "raw").mkdir()
        done = recorded(program, folder, *words, BURSTLINE_BLOCK=str(block))
        assert done.returncode == code, done.stderr
        assert (said in done.stderr) if said else done.stderr == ""
        return files(folder), list(folder.iterdir()), done.stdout.split()

    return run


@pytest.mark.parametrize("together", [1, 20, SHORT_THREADS])
def test_short_threads_share_files_and_windows(record, together):
    found, left, (opened, allocated) = record("short", together, block=SLAB)

    assert [thread.number for thread in found] == list(range(SHORT_THREADS))
    assert all(
        kinds(thread, "ENTER", "LEAVE", "LEFT") == ["ENTER", "LEAVE", "LEFT"]
        for thread in found
    )
    assert len(left) == 1
    assert int(opened) == 2  # the raw file and the tail
    windows = SLAB // max(1 << 13, mmap.PAGESIZE)  # small ones of a slab
    assert int(allocated) == math.ceil(together / windows)


def test_every_thread_tells_what_its_beginning_and_end_took(record):
    found, _, _ = record("short", 1)

    costs = [row for thread in found for row in of_kind(thread, "OVERHEAD") if row["op"] == 2]
    assert len(costs) == SHORT_THREADS
    assert all(cost["c"] == 1 and cost["b"] > 0 for cost in costs)


@pytest.mark.parametrize("block", [8192, 1 << 20])
def test_a_program_without_descriptors_left_is_recorded_whole(record, block):
    found, left, _ = record("none_left", block=block)

    counts = [len(of_kind(thread, "ENTER")) for thread in found]
    assert counts == [1 + CALLS] + [CALLS] * 8
    assert len(left) == 1


def test_a_program_that_closes_all_descriptors_is_recorded_and_keeps_its_own(record, tmp_path):
    (thread,), left, _ = record("closed", tmp_path / "own", block=8192)

    assert len(of_kind(thread, "ENTER")) == 2 * CALLS
    assert len(left) == 1
    assert (tmp_path / "own").read_text() == "own"


def test_a_file_of_the_program_in_the_recorders_place_is_neither_written_nor_kept_open(
    record, tmp_path
):
    words = ("other_file", tmp_path / "moved")
    _, left, _ = record(
        *words, block=8192, said="(it was removed during the run: keep its folder)"
    )

    (raw,) = (path for path in left if path.suffix == ".raw")
    assert raw.read_text() == "own"


@pytest.mark.parametrize("block", [8192, 1 << 20])
def test_a_killed_program_leaves_what_all_its_threads_recorded(record, block):
    found, _, _ = record("threads_die", block=block, code=-signal.SIGKILL)

    assert sorted(len(of_kind(thread, "ENTER")) for thread in found) == [1] + [CALLS] * 8


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "all_taken",
            "Too many open files (the program leaves none to the recorder: raise ulimit",
        ),
        (
            "removed",
            "No such file or directory (it was removed during the run: keep its folder)",
        ),
    ],
)
def test_why_records_are_dropped_is_said_with_the_way_out(record, words, said):
    record(words, block=8192, said=said)
