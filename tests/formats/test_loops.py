"""The loops of a trace are the same wherever it is read from, as far as a format tells them.

An archive tells regions: entries of loops, not which iteration began when, nor labels of calls.
A ``.prv`` tells events: labels, iterations and, as user functions, entries; not how often an
entry iterates in all, nor the folder of a file. What `annotate` detected is told by both events
and tables.
"""

from __future__ import annotations

import pytest

import burstline
import raw_files
from burstline import annotation
from burstline.annotation import marks_of
from burstline.formats.paraver.reading import trace as reading
from burstline.merge.align.loops import loops_of
from burstline.model import schema
from burstline.structure import detect
from burstline.testing import assert_same_trace
from raw_files import Run, record
from table_cells import cells

LOOPS = ("loops", "loop_entries", "loop_iterations", "call_loops")
OUTER, INNER = 99, 7


def recorded(folder, ranks=3, sampled=2):
    """Write a run of two loops, nested; the inner one is recorded in some iterations only."""
    folder.mkdir()
    run = Run(ranks)
    for rank in range(ranks):
        thread, now = run[rank], 10
        thread.add(raw_files.named(38, OUTER, "src/solver.c", op=2, b=17))
        thread.add(raw_files.named(38, INNER, "src/halo.c", op=2, b=40))
        thread.call("MPI_Barrier", 1, 2, record(56, a=0))
        thread.add(record(53, time=5, a=OUTER))
        for number in range(4):
            thread.add(record(55, time=now, a=OUTER, b=number + 1))
            if number < sampled:
                thread.add(record(53, time=now + 1, a=INNER))
            for inner in range(3):
                begin = now + 2 + 3 * inner
                if number < sampled:
                    thread.add(record(55, time=begin, a=INNER, b=inner + 1))
                thread.call("MPI_Comm_rank", begin + 1, begin + 2, record(56, a=INNER))
            if number < sampled:
                thread.add(record(54, time=now + 12, a=INNER, b=3))
            thread.call("MPI_Barrier", now + 14, now + 16, record(56, a=OUTER))
            now += 20
        thread.add(record(54, time=now, a=OUTER, b=4))
        thread.call("MPI_Finalize", now + 1, now + 2, record(56, a=0))
    return run.end(now + 5).write(folder)


@pytest.fixture
def trace(tmp_path):
    return burstline.read(recorded(tmp_path / "raw"))


def rows(trace, name, *columns):
    return trace.table(name).select(list(columns)).to_pylist()


def through(trace, path, **options):
    burstline.write(trace, path)
    return burstline.read(path, **options)


def test_a_recording_tells_loops_entries_iterations_and_labels(trace):
    assert cells(trace.loops, "name file begin_line origin") == (
        "solver.c:17 src/solver.c 17 recorded | halo.c:40 src/halo.c 40 recorded"
    )
    entries = cells(trace.loop_entries.slice(0, 3), "entry loop parent iterations")
    assert entries == "0 0 - 4 | 1 1 0 3 | 2 1 0 3"
    began = cells(trace.loop_iterations.slice(0, 6), "entry iteration")
    assert began == "0 1 | 1 1 | 1 2 | 1 3 | 0 2 | 2 1"
    labels = rows(trace, "call_loops", "call", "loop")[:18]
    assert [row["loop"] for row in labels] == [None, *[1, 1, 1, 0] * 4, None]
    assert loops_of(trace).turn.tolist()[:18] == [
        -1, *[1] * 4, *[2] * 4, *[3] * 4, *[4] * 4, -1,
    ]  # fmt: skip


@pytest.mark.parametrize("ending", ["store", "csv", "parquet"])
def test_tables_keep_loops(trace, tmp_path, ending):
    assert_same_trace(through(trace, tmp_path / f"run.{ending}"), trace, tables=LOOPS)


@pytest.mark.parametrize("records_at_once", [1, 100, 1 << 18])
def test_loops_are_numbered_alike_whatever_is_read_at_once(trace, tmp_path, records_at_once):
    again = raw_files.read_raw(tmp_path / "raw", records_at_once=records_at_once)

    assert_same_trace(again, trace, tables=LOOPS)


def test_loops_do_not_need_the_records_of_a_recording(trace, tmp_path):
    bare = burstline.read(tmp_path / "raw", raw=False)

    assert not bare.has_raw
    assert_same_trace(bare, trace, tables=LOOPS)


@pytest.mark.parametrize("raw", [True, False])
def test_a_paraver_file_tells_labels_entries_and_iterations(trace, tmp_path, raw):
    again = through(trace, tmp_path / "run.prv", raw=raw)

    def named(one):
        names = dict(enumerate(one.loops["name"].to_pylist()))
        labels = one.call_loops.to_pylist()
        return [(row["location"], row["call"], names.get(row["loop"])) for row in labels]

    assert again.has_raw == raw
    assert named(again) == named(trace)
    assert_same_trace(again, trace, tables=["loop_iterations"])
    told = [name for name in trace.loop_entries.column_names if name != "iterations"]
    assert rows(again, "loop_entries", *told) == rows(trace, "loop_entries", *told)
    assert not any(again.loop_entries["iterations"].to_pylist())


@pytest.mark.parametrize("sampled", [1, 2, 4])
def test_runs_are_matched_alike_as_paraver_files_and_as_stores(tmp_path, sampled):
    runs = [
        burstline.read(recorded(tmp_path / f"raw{run}", sampled=sampled)) for run in range(2)
    ]
    pairs = []
    for ending in ("store", "prv"):
        again = [through(one, tmp_path / f"{k}.{ending}") for k, one in enumerate(runs)]
        for one, other in zip(map(loops_of, runs), map(loops_of, again), strict=True):
            assert other.turn.tolist() == one.turn.tolist()
            assert other.number.tolist() == one.number.tolist()
            assert other.names == one.names
        pairs.append(burstline.match(again))
    assert pairs[0].has_loops
    assert pairs[1].has_loops
    assert pairs[0].pairs.equals(pairs[1].pairs)


def test_loops_whose_events_do_not_fit_are_left_out(trace, tmp_path, monkeypatch):
    monkeypatch.setattr(reading.scan, "bytes_of_tables", lambda *_, raw: 1 << 40 if raw else 0)

    again = through(trace, tmp_path / "run.prv", raw=False, memory=1 << 30)

    assert not any(again.rows(name) for name in LOOPS)
    assert "loops_left_out" in again.defects["kind"].to_pylist()


def test_an_archive_tells_entries(trace, tmp_path):
    again = through(trace, tmp_path / "run.otf2")
    columns = ("location", "entry", "loop", "enter_ns", "leave_ns", "parent")

    assert rows(again, "loop_entries", *columns) == rows(trace, "loop_entries", *columns)
    assert rows(again, "loops", "name") == rows(trace, "loops", "name")
    assert not again.rows("call_loops")
    assert loops_of(again).names == ["solver.c:17", "halo.c:40"]


def test_detected_loops_are_the_same_in_memory_in_a_store_and_in_a_paraver_file(tmp_path):
    trace = burstline.read(recorded(tmp_path / "raw", sampled=4))
    marked = annotation.annotated(trace, marks_of(detect(trace, method="exact")))
    alone = marked.loops.filter(
        [one == "derived" for one in marked.loops["origin"].to_pylist()]
    )

    assert alone.num_rows == 2
    assert marked.rows("loop_entries") > trace.rows("loop_entries")
    schema.check("loop_entries", marked.loop_entries)
    assert_same_trace(through(marked, tmp_path / "run.store"), marked, tables=LOOPS)
    again = through(marked, tmp_path / "run.prv")
    assert alone["name"].to_pylist() == [
        row["name"] for row in again.loops.to_pylist() if row["origin"] == "derived"
    ]
    assert spans(again) == spans(marked)


def spans(trace):
    """Give the entries of detected loops by name, and how deep each is."""
    loops = trace.loops.to_pylist()
    entries = trace.loop_entries.to_pylist()
    by_name = {(row["location"], row["entry"]): row for row in entries}
    return [
        (
            row["location"],
            loops[row["loop"]]["name"],
            row["enter_ns"],
            row["leave_ns"],
            row["iterations"],
            (by_name.get((row["location"], row["parent"])) or {}).get("enter_ns"),
        )
        for row in entries
        if loops[row["loop"]]["origin"] == "derived"
    ]


def test_annotating_again_replaces_what_was_detected(trace):
    marks = marks_of(detect(trace, method="exact"))
    once = annotation.annotated(trace, marks)

    assert_same_trace(annotation.annotated(once, marks), once, tables=LOOPS)


def test_a_label_and_a_region_of_one_name_are_one_loop_whichever_comes_first(tmp_path):
    trace = burstline.read(recorded(tmp_path / "raw", sampled=0))

    assert cells(trace.loops, "name begin_line") == "solver.c:17 17 | halo.c:40 -"
