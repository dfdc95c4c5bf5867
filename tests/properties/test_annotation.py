"""What holds for every annotated trace, whatever the program and its loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline._core import EventClass
from burstline.annotation import (
    INNERMOST,
    RESERVED,
    STRUCTURE,
    annotated,
    iteration_type,
    loop_type,
    marks_of,
)
from burstline.annotation.tables import ORDINALS
from burstline.extrae.counters import classify
from burstline.model import schema
from burstline.structure import detect
from burstline.structure.program.iterations import Spans
from burstline.testing import assert_same_trace
from effort import examples
from loop_programs import Do, loop, run
from oracles.prv_dump import dump

READ_AGAIN = [name for name in schema.TABLES if name not in {"metadata", "source"}]


@st.composite
def programs(draw):
    """Nested loops with calls of their own, on some ranks, called again and again."""
    line = iter(range(10, 900))

    def body(level):
        steps = [Do(draw(st.sampled_from(["Send", "Barrier"])), next(line))]
        if level:
            steps += [
                loop(draw(st.integers(2, 4)), *body(level - 1))
                for _ in range(draw(st.integers(1, 2)))
            ]
        return [*steps, Do("Barrier", next(line))]

    outer = [
        loop(draw(st.integers(2, 5)), *body(draw(st.integers(0, 2))))
        for _ in range(draw(st.integers(1, 2)))
    ]
    return outer, draw(st.integers(1, 3))


def recorded(program, folder):
    """Give a trace as it was recorded: with events, which everything else counts."""
    steps, ranks = program
    path = folder / "in.prv"
    burstline.write(run(*steps, ranks=ranks), path)
    return burstline.read(path)


def depth_of(structure, item):
    return 1 if item.parent is None else 1 + depth_of(structure, structure.loop(item.parent))


def iterations_by_depth(structure):
    """Give every iteration, by location and depth: begin, end, loop, number."""
    found = {}
    for item in structure.loops:
        each = structure.iterations(item.id)
        columns = (each.location, each.start_ns, each.end_ns, each.iteration)
        for location, start, end, number in zip(*(c.tolist() for c in columns), strict=True):
            rows = found.setdefault((location, depth_of(structure, item)), [])
            rows.append((start, end, item.id, number + 1))
    return found


def running(iterations, moment):
    """Give loop and iteration that began last, if it still runs."""
    latest = (0, 0, 0, 0)
    for one in iterations:
        if one[0] <= moment and one[0] >= latest[0]:
            latest = one
    return latest[2:] if moment < latest[1] else (0, 0)


def assert_marks_say_what_runs(structure, marks):
    iterations = iterations_by_depth(structure)
    said = {}
    columns = (marks.location, marks.time_ns, marks.type, marks.value)
    for location, moment, kind, value in zip(*(c.tolist() for c in columns), strict=True):
        said.setdefault((location, moment), {})[kind] = value
    for location in structure.found_in.locations.tolist():
        now = {}
        for moment in sorted({-1, *marks.time_ns.tolist()}):
            now |= said.get((location, moment), {})
            innermost = 0
            for depth in range(1, marks.depth + 1):
                runs = running(iterations.get((location, depth), []), moment)
                kinds = (loop_type(depth), iteration_type(depth))
                assert tuple(now.get(kind, 0) for kind in kinds) == runs
                innermost = runs[0] or innermost
            assert now.get(INNERMOST, 0) == innermost


class AnySpans:
    """Iterations that lie anywhere, as those of misread loops may."""

    def __init__(self, spans):
        self._spans = spans

    def spans(self, number):
        rows = self._spans[number]
        return Spans(*np.array(rows, np.int64).reshape(-1, 4).T.copy())


@given(program=programs())
def test_marks_say_at_any_moment_what_runs_by_reserved_types_in_order(program):
    steps, ranks = program
    structure = detect(run(*steps, ranks=ranks), min_share=0)
    marks = marks_of(structure)
    rows = list(zip(marks.location, marks.time_ns, marks.type, strict=True))

    assert_marks_say_what_runs(structure, marks)
    assert rows == sorted(set(rows))
    assert {kind for *_, kind in rows} <= set(STRUCTURE)
    assert (marks.value >= 0).all()


@given(data=st.data())
def test_marks_of_misread_loops_say_what_began_last(data):
    steps = [
        loop(3, Do("Send", 10), loop(3, Do("Barrier", 11)), Do("Barrier", 12)),
        loop(3, Do("Send", 20), Do("Barrier", 21)),
    ]
    structure = detect(run(*steps), min_share=0)
    calls = structure.found_in
    spans = {item.id: [] for item in structure.loops}
    for number, rows in spans.items():
        for lane, begin in enumerate(calls.lane_begin[:-1].tolist()):
            last = int(calls.lane_begin[lane + 1]) - 1
            firsts = data.draw(st.sets(st.integers(begin, last), max_size=4), f"loop {number}")
            for entry, first in enumerate(sorted(firsts)):
                rows.append((lane, entry, first, data.draw(st.integers(first, last))))
    misread = replace(structure, steps=AnySpans(spans))

    assert_marks_say_what_runs(misread, marks_of(misread))


@examples(0.4)
@given(program=programs(), depth=st.integers(1, 3))
def test_annotating_twice_is_annotating_once(tmp_path_factory, program, depth):
    trace = recorded(program, tmp_path_factory.mktemp("any"))
    structure = detect(trace, min_share=0)
    marks = marks_of(structure)
    once = annotated(trace, marks)
    earlier = annotated(trace, marks_of(structure, max_depth=depth))

    assert_same_trace(annotated(once, marks_of(detect(once, min_share=0))), once)
    assert_same_trace(annotated(earlier, marks), once)


@examples(0.4)
@given(program=programs())
def test_all_but_the_reserved_types_is_the_trace_also_written_and_read(
    tmp_path_factory, program
):
    folder = tmp_path_factory.mktemp("any")
    trace = recorded(program, folder)
    marks = marks_of(detect(trace, min_share=0))
    once = annotated(trace, marks)
    burstline.write(once, folder / "out.prv")
    again = burstline.read(folder / "out.prv")

    before, after = dump(folder / "in.prv"), dump(folder / "out.prv")

    others = {
        thread: [event for event in events if event[1] not in RESERVED]
        for thread, events in after.events.items()
    }
    assert after._replace(events=others) == before
    counts = [sum(map(len, each.events.values())) for each in (before, after)]
    assert counts[1] == counts[0] + len(marks.location)
    assert_same_trace(again, once, tables=set(READ_AGAIN) - {"event_types", "event_values"})
    assert named(again) == named(once)
    assert pointed_at(once) == pointed_at(trace)


def named(trace):
    """Labels of types and values, whatever the numbers of their groups."""
    values = {}
    for row in trace.event_values.to_pylist():
        values.setdefault(row["group"], {})[row["value"]] = row["label"]
    return {
        row["type"]: (row["label"], values.get(row["group"]))
        for row in trace.event_types.to_pylist()
    }


def pointed_at(trace):
    events = {
        (row["location"], row["seq"]): (row["time_ns"], row["type"], row["value"])
        for row in trace.events.to_pylist()
    }
    return {
        (table, column): [
            events[row[owner], row[column]] if row[column] is not None else None
            for row in trace.table(table).to_pylist()
        ]
        for table in ("calls", "messages", "collective_members")
        for owner, columns in ORDINALS[table]
        for column in columns
    }


@examples(0.4)
@given(program=programs())
def test_a_store_is_annotated_like_what_is_in_memory(tmp_path_factory, program):
    folder = tmp_path_factory.mktemp("any")
    trace = recorded(program, folder)
    burstline.write(trace, folder / "in.store")
    stored = burstline.read(folder / "in.store")
    marks = marks_of(detect(trace, min_share=0))
    whole, parts = annotated(trace, marks), annotated(stored, marks)

    assert_same_trace(parts, whole)
    assert parts.is_stored
    for name in READ_AGAIN:
        assert parts.rows(name) == whole.rows(name)
        columns = whole.table(name).column_names[1:]
        there = [part for part in parts.batches(name, columns) if part.num_rows]
        assert sum(part.num_rows for part in there) == whole.rows(name)
        assert all(part.column_names == columns for part in there)


def test_no_column_that_counts_events_is_forgotten():
    counting = {
        (name, column.name)
        for name, table in schema.TABLES.items()
        for column in table.columns
        if (column.name == "seq" or column.name.endswith("_seq")) and name != "events"
    }

    assert counting == {
        (name, column)
        for name, pairs in ORDINALS.items()
        for _, columns in pairs
        for column in columns
    }
    assert {classify(kind) for kind in RESERVED} == {EventClass.OTHER}
