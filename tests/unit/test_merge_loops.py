"""Loops that a trace tells of, and what matching makes of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import by_hand
from burstline import Trace
from burstline.annotation import iteration_type
from burstline.extrae.event_types import FOUND_ITERATION, ITERATION, LOOP_OF_CALL, STRUCTURE
from burstline.merge.align.loops import loops_of
from burstline.merge.matching import match
from burstline.model import LoopEvents, Loops, entries_above, schema
from burstline.testing import trace_of
from labelled import with_loops, without

CALL = 10
KINDS = (LOOP_OF_CALL, FOUND_ITERATION)


def run(iterations, *, kind=LOOP_OF_CALL, name="a.c:9", after=0):
    """Make a run of a loop: for each iteration that calls, its number and its operations.

    It is in a loop around it that never goes round, and has one in it that does; some calls
    may come after it.
    """
    lines, events, regions, now = [], [], [], 0
    region = {"location": 0, "origin": "recorded"}
    last = CALL * (2 + sum(len(operations) for _, operations in iterations))
    for row, begin in enumerate((1, 2)):
        regions.append(
            region
            | {"row": row, "region": row, "enter_ns": begin, "leave_ns": last}
            | {"parent": row - 1 if row else None, "iterations": (1, 2)[row]}
        )
    events.append((1, ITERATION, 0))
    for number, operations in iterations:
        events.append((now + 3, ITERATION, number))
        regions.append(
            region
            | {"row": len(regions), "region": 2, "enter_ns": now + 4, "iterations": 2}
            | {"leave_ns": now + 7, "parent": 1}
        )
        events.append((now + 5, ITERATION, 77))
        for operation in operations:
            now += CALL
            lines += [f"{now} enter MPI_{operation}", f"{now + 4} leave"]
            events.append((now, LOOP_OF_CALL, 5))
    for number, operation in enumerate([*["Bcast"] * after, "Finalize"]):
        begin = last + number * CALL
        lines += [f"{begin} enter MPI_{operation}", f"{begin + 4} leave"]
    events.append((last, LOOP_OF_CALL, 0))
    trace = trace_of("ranks 1 | 0 | " + " | ".join(lines))
    return told(trace, events if kind == LOOP_OF_CALL else found_of(events), regions, name)


def found_of(events):
    """Write the iterations as those of loops that were found."""
    counted = [(time, value) for time, kind, value in events if kind == ITERATION]
    last = max(time for time, _, _ in events)
    began = [(time, value) for time, value in counted if value != 77 and time > 1]
    return [
        *((time, STRUCTURE.start + 1, 1) for time, _ in began),
        *((time, FOUND_ITERATION, value) for time, value in began),
        (last, STRUCTURE.start + 1, 0),
        (last, FOUND_ITERATION, 0),
    ]


def told(trace, events, regions, name):
    """Put events of loops, and the loops, into a trace."""
    kinds = dict.fromkeys(kind for _, kind, _ in events)
    definition = {"paradigm": "user", "role": "loop"}
    tables = {table: trace.table(table) for table in schema.TABLES if table in trace}
    tables["events"] = by_hand.rows_of(
        "events",
        [
            {"location": 0, "seq": seq, "time_ns": time, "type": kind, "value": value}
            for seq, (time, kind, value) in enumerate(events)
        ],
    )
    tables["event_types"] = by_hand.rows_of(
        "event_types", [{"type": kind, "group": group} for group, kind in enumerate(kinds)]
    )
    group = list(kinds).index(LOOP_OF_CALL) if LOOP_OF_CALL in kinds else 9
    tables["event_values"] = by_hand.rows_of(
        "event_values", [{"group": group, "value": 5, "label": name}]
    )
    tables["region_defs"] = by_hand.rows_of(
        "region_defs", [definition | {"region": k, "name": f"loop {k}"} for k in range(3)]
    )
    tables["regions"] = by_hand.rows_of("regions", regions)
    return with_loops(Trace(tables))


def loops_told(text, *events):
    """Give the loops, and their tables, that regions and (location, ns, type, value) tell."""
    trace = trace_of(text)
    columns = np.array(events or np.zeros((0, 4)), np.int64).T
    loops = Loops()
    tables = loops.tables(
        {name: trace.table(name) for name in ("calls", "regions")},
        trace.region_defs,
        LoopEvents(*columns, lambda _, value: f"a.c:{value}"),
    )
    tables |= loops.definitions()
    return tables["loops"].to_pylist(), tables


def pairs(*runs):
    table = match(runs).pairs.select(["burst_0", "burst_1"]).drop_null()
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


STEP = ("Send", "Recv", "Allreduce")


def test_of_loops_that_were_found_only_the_turns_are_taken():
    loops = loops_of(run([(1, STEP), (2, STEP)], kind=FOUND_ITERATION))

    assert iteration_type(1) == FOUND_ITERATION
    assert loops.names == []
    assert set(loops.number.tolist()) == {-1}
    assert loops.turn.tolist() == [1, 1, 1, 2, 2, 2, -1]


def test_a_trace_without_its_records_tells_its_loops():
    trace = run([(1, STEP), (2, STEP)])
    kept = [name for name in schema.TABLES if name in trace and name not in schema.RAW_TABLES]
    bare = Trace({name: trace.table(name) for name in kept})

    assert loops_of(bare).turn.tolist() == loops_of(trace).turn.tolist()


def test_recorded_loops_without_labels_say_where_calls_are():
    loops = loops_of(without(run([(1, STEP), (2, STEP)]), "call_loops"))

    assert loops.names == ["loop 1"]
    assert loops.number.tolist() == [0] * 6 + [-1]
    assert loops.turn.tolist() == [1, 1, 1, 2, 2, 2, -1]


def test_a_loop_that_was_found_ends_where_its_iterations_do():
    began = [(0, time, FOUND_ITERATION, value) for time, value in ((10, 1), (20, 2), (30, 0))]

    _, tables = loops_told("ranks 1", (0, 10, STRUCTURE.start + 1, 1), *began)

    (entry,) = tables["loop_entries"].to_pylist()
    assert (entry["enter_ns"], entry["leave_ns"], entry["iterations"]) == (10, 30, 2)


def test_loops_of_one_name_in_two_files_are_two():
    files = "".join(
        f"region a.c:9 paradigm user role loop file {folder}/a.c begin 9 | "
        for folder in ("x", "y")
    )
    entered = "1 enter a.c:9 def 0 | 2 leave | 3 enter a.c:9 def 1 | 4 leave"

    loops, _ = loops_told(f"ranks 1 | {files} 0 | {entered}")

    assert [row["file"] for row in loops] == ["x/a.c", "y/a.c"]


def test_a_label_is_of_the_loop_of_its_name_though_its_file_is_told_later():
    program = (
        "ranks 2 | region a.c:9 paradigm user role loop file x/a.c begin 9 "
        "| 0 | 1 enter MPI_Send | 2 leave | 1 | 3 enter a.c:9 | 4 leave"
    )

    loops, tables = loops_told(program, (0, 1, LOOP_OF_CALL, 9))

    assert [row["file"] for row in loops] == ["x/a.c"]
    assert tables["call_loops"]["loop"].to_pylist() == [0]


def test_only_an_earlier_entry_of_its_thread_is_around_another():
    parents = [(0, None), (0, 0), (0, 2), (0, 9), (1, None), (1, 1)]
    entries = [
        {"location": where, "entry": k % 4, "loop": 0, "parent": parent}
        for k, (where, parent) in enumerate(parents)
    ]

    trace = Trace({"loop_entries": by_hand.rows_of("loop_entries", entries)})

    assert entries_above(trace).tolist() == [-1, 0, -1, -1, -1, -1]


@pytest.mark.parametrize("kind", KINDS)
def test_of_iterations_that_are_alike_the_number_tells_which_is_missing(kind):
    whole = run([(number, STEP) for number in range(1, 9)], kind=kind)
    cut = run([(number, STEP) for number in range(1, 9) if number != 4], kind=kind)

    found = match([whole, cut])

    assert found.has_loops
    assert pairs(whole, cut) == [
        (k, k if k < 9 else k - 3) for k in [*range(9), *range(12, 24)]
    ]


def test_numbers_that_are_off_by_one_from_somewhere_on_unmatch_nothing():
    steps = [(*STEP[:2], *("Barrier",) * (k % 3), "Allreduce") for k in range(40)]
    one = run(list(enumerate(steps)))
    other = run([(k + (k > 20), step) for k, step in enumerate(steps)])

    matching = match([one, other])

    assert matching.match_rate.tolist() == [1, 1]


def test_an_iteration_more_shifts_no_other_whose_work_is_its_own():
    steps = [("Send", *("Barrier",) * (1 + k % 4), "Allreduce") for k in range(24)]
    one = run(list(enumerate(steps)))
    longer = [*steps[:10], ("Gather", "Gather"), *steps[10:]]

    matching = match([one, run(list(enumerate(longer)))])

    assert matching.match_rate.tolist()[0] == 1
    assert matching.matched.tolist() == [one.rows("bursts")] * 2


def test_runs_with_other_loops_are_matched_without():
    one, other = (run([(1, STEP), (2, STEP)], name=name) for name in ("a.c:9", "a.c:20"))
    assert match([one, one]).has_loops
    assert not match([one, other]).has_loops

    # calls outside of loops make them none of the same
    more, others = (run([(1, STEP)], name=name, after=9) for name in ("a.c:9", "a.c:20"))
    matching = match([more, others])
    assert not matching.has_loops
    assert matching.match_rate.tolist() == [1, 1]


def test_loops_that_were_found_are_used_where_a_type_of_labels_has_no_events():
    labelled, found = (run([(1, STEP), (2, STEP)], kind=kind) for kind in KINDS)
    types = pa.concat_tables([found.table("event_types"), labelled.table("event_types")])
    tables = {name: found.table(name) for name in schema.TABLES if name in found}

    loops = loops_of(Trace(tables | {"event_types": types}))

    assert loops.turn.tolist() == loops_of(found).turn.tolist()


@pytest.mark.parametrize("missing", ["regions", "region_defs", "event_values"])
def test_labels_without_the_tables_that_explain_them_still_say_where_calls_are(missing):
    one = run([(1, STEP), (2, STEP)])
    tables = {name: one.table(name) for name in schema.TABLES if name in one}
    tables[missing] = tables[missing].slice(0, 0)
    if missing == "region_defs":
        tables["regions"] = tables["regions"].slice(0, 0)

    loops = loops_of(Trace(tables))

    assert loops.number.tolist() == [0] * 6 + [-1]


def test_runs_of_which_one_tells_no_loops_are_matched_without():
    one = run([(1, STEP), (2, STEP)])
    bare = Trace({name: one.table(name) for name in ("locations", "calls", "bursts")})

    matching = match([one, bare])

    assert not matching.has_loops
    assert matching.match_rate.tolist() == [1, 1]
    assert np.all(matching.by_stage[:, 1] == one.rows("bursts"))
