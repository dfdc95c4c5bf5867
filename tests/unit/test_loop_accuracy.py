"""Calls have the labels recorded for them, and detected loops are measured by them."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.structure.known_loops import known_labels

import by_hand
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.extrae.event_types import LOOP_OF_CALL
from burstline.structure import detect
from burstline.structure.calls import Calls
from burstline.structure.computation import innermost_loops
from burstline.studies.loop_labels import accuracy, adjusted_rand, labels_of
from burstline.testing import trace_of
from labelled import labelled, loop_of_line, with_loops, without
from loop_programs import Do, loop, run

NESTED = (loop(20, loop(8, Do("Send", 9)), Do("Barrier", 12)), Do("Bcast", 30))
CONDITIONED = (
    loop(40, Do("Allreduce", 9, when=lambda k: k % 2), Do("Send", 12), Do("Barrier", 14)),
)
REGIONS = """
region outer paradigm user role loop file a.c begin 10 end 30
region inner paradigm user role loop file a.c begin 15 end 20
region solve paradigm user role function file a.c begin 5 end 40
region nowhere paradigm user role loop
region shared paradigm openmp role loop file a.c begin 50 end 60
"""


def told(*events, calls=(("Send", 10, 20), ("Send", 30, 40), ("Barrier", 50, 60))):
    """Give the labels of three calls: each event is (time, value)."""
    trace = by_hand.trace_of(
        locations=by_hand.threads((0, 100)),
        calls=by_hand.calls_of(calls),
        events=[
            {
                "location": 0, "seq": number, "time_ns": time_ns, "type": LOOP_OF_CALL,
                "value": value,
            }
            for number, (time_ns, value) in enumerate(events)
        ],
    )  # fmt: skip
    trace = with_loops(trace)
    names = labels_of(trace, Calls(trace, None))
    numbers = {"outside of loops": 0} | {f"loop {k}": k for k in range(9)}
    return [loop if loop < 0 else numbers[names.name(loop)] for loop in names.loop.tolist()]


def in_regions(steps, **options):
    trace = trace_of(f"ranks 1 | {REGIONS} | 0 | {steps}")
    found = labels_of(trace, Calls(trace, None), **options)
    return [found.name(number) for number in found.loop.tolist()]


def measured(program, method="exact", ranks=2, **options):
    trace = labelled(run(*program, ranks=ranks), loop_of_line(program))
    structure = detect(trace, method=method, **options)
    return accuracy(structure, labels_of(trace, structure.found_in))


@pytest.mark.parametrize(
    ("labels", "told_of"),
    [
        ([(10, 1), (30, 2), (50, 3)], [1, 2, 3]),  # of the call entered at its time
        ([(19, 1), (45, 3)], [1, -1, 3]),  # within a call, and between two: of the next
        ([(5, 1), (10, 2), (15, 4), (22, 3)], [4, 3, -1]),  # of several, the last
        ([(10, 1), (60, 7), (99, 9)], [1, -1, -1]),  # behind the last call: of none
    ],
)
def test_a_label_is_of_the_call_around_it_or_the_next(labels, told_of):
    assert told(*labels) == told_of


def test_calls_that_are_entered_at_one_time_take_labels_in_turn():
    at_once, in_a_row = [("Send", 10, 10)] * 3, [("Send", at, at + 10) for at in (10, 20, 30)]

    assert told((10, 1), (10, 2), (10, 3), calls=at_once) == [1, 2, 3]
    assert told((10, 1), (10, 2), (10, 3), (10, 4), calls=at_once) == [1, 2, 4]
    # where a call is left as the next is entered, a label is of the next
    assert told((20, 5), calls=in_a_row) == [-1, 5, -1]


def test_labels_of_threads_stay_on_them():
    rows = by_hand.calls_of([("Send", 10, 20)], [("Send", 10, 20)], [("Send", 10, 20)])
    events = [
        {"location": where, "time_ns": time_ns, "type": LOOP_OF_CALL, "value": value}
        for where, time_ns, value in ((0, 10, 5), (0, 30, 6), (2, 10, 7))
    ]
    spans = by_hand.threads((0, 100), (0, 100), (0, 100))
    trace = with_loops(by_hand.trace_of(locations=spans, calls=rows, events=events))

    found = labels_of(trace, Calls(trace, None))
    assert found.loop.tolist() == [1, -1, 2]
    assert [found.name(1), found.name(2)] == ["loop 5", "loop 7"]


NESTED_STEPS = """
    1 enter outer | 2 enter MPI_Send | 3 leave | 4 enter inner | 5 enter solve
    6 enter MPI_Recv | 7 leave | 8 leave | 9 leave | 10 enter solve | 11 enter MPI_Barrier
    12 leave | 13 leave | 14 leave | 15 enter MPI_Finalize | 16 leave
"""


@pytest.mark.parametrize(
    ("steps", "loops"),
    [
        (NESTED_STEPS, ["a.c:10", "a.c:15", "a.c:10", "outside of loops"]),
        ("1 enter nowhere | 2 enter MPI_Send | 3 leave | 4 leave", ["nowhere"]),
        (
            "1 enter outer | 5 leave | 5 enter MPI_Send | 6 leave | 6 enter outer | 7 leave",
            ["outside of loops"],
        ),
    ],
    ids=["loops in loops", "a loop without a place has its name", "left as a call is entered"],
)
def test_without_labels_a_call_is_in_the_innermost_recorded_loop(steps, loops):
    assert in_regions(steps) == loops


def test_a_loop_that_never_repeats_gives_way_to_the_loop_around():
    steps = """
    1 enter outer iterations 2
    2 enter inner iterations 1 | 3 enter MPI_Send | 4 leave | 5 leave
    6 enter inner iterations 1 | 7 enter MPI_Recv | 8 leave | 9 leave | 10 leave
    11 enter nowhere iterations 1 | 12 enter MPI_Barrier | 13 leave | 14 leave
    """

    assert in_regions(steps) == ["a.c:15", "a.c:15", "nowhere"]
    assert in_regions(steps, repeated=True) == ["a.c:10", "a.c:10", "outside of loops"]


def test_labels_of_no_loops_or_of_other_calls_are_refused():
    with pytest.raises(NotEnoughDataError, match="how often it went round"):
        in_regions("1 enter outer | 2 enter MPI_Send | 3 leave | 4 leave", repeated=True)
    worksharing = trace_of(
        "ranks 1 | region w paradigm openmp role loop | 0 | 1 enter MPI_Send | 2 leave"
    )
    with pytest.raises(NotEnoughDataError, match="labels of its loops"):
        labels_of(worksharing, Calls(worksharing, None))
    trace = labelled(run(*NESTED), loop_of_line(NESTED))
    labels = labels_of(trace, Calls(trace, None))
    with pytest.raises(ParameterError, match=r"366 calls do not fit a structure of 204"):
        accuracy(detect(run(*CONDITIONED)), labels)
    with pytest.raises(ParameterError, match="2 and 3 things"):
        adjusted_rand(np.zeros(2, int), np.zeros(3, int))


def test_labels_count_more_than_recorded_loops():
    trace = labelled(run(*NESTED), loop_of_line(NESTED))
    definition = {"name": "x", "paradigm": "user", "role": "loop"}
    region = {"location": 0, "enter_ns": 0, "leave_ns": 10**9}
    tables = {name: trace.table(name) for name in ("locations", "calls", "events")}
    tables["region_defs"] = by_hand.rows_of("region_defs", [definition])
    tables["regions"] = by_hand.rows_of("regions", [region])
    both = with_loops(type(trace)(tables))

    assert labels_of(both, Calls(both, None)).source == "events"
    alone = without(both, "call_loops")
    assert labels_of(alone, Calls(alone, None)).source == "regions"


def test_calls_that_were_left_out_are_outside():
    found = measured((loop(30, Do("Send", 3)), loop(3, Do("Barrier", 5, work_ns=1))), "seed")

    assert (found.loops_found, found.loops_labelled) == (1, 2)
    assert 0 < found.adjusted_rand < 1
    (_, short) = found.overlaps
    assert (short.name, short.loop, short.share) == ("a.c:200", 0, 1.0)


def test_a_call_without_a_label_is_not_compared():
    trace = labelled(run(*NESTED), loop_of_line(NESTED), without={9})
    structure = detect(trace)
    found = accuracy(structure, labels_of(trace, structure.found_in))

    assert (found.calls, found.unlabelled, found.loops_labelled) == (46, 320, 1)
    assert found.adjusted_rand == 1.0


def test_the_loop_of_a_call_is_the_innermost_one_through_conditions():
    structure = detect(run(*CONDITIONED, ranks=1), method="exact")

    assert innermost_loops(structure).tolist() == [0] + [1] * 100 + [0]


def test_without_any_label_there_is_nothing_to_compare():
    lines = {9, 12, 30, 1, 999}
    trace = labelled(run(*NESTED), loop_of_line(NESTED), without=lines - {9})
    structure = detect(trace)
    labels = labels_of(trace, structure.found_in)
    nobody = type(labels)(np.full_like(labels.loop, -1), {}, "events")

    assert labels.unlabelled == 46
    with pytest.raises(NotEnoughDataError, match="no call has a label"):
        accuracy(structure, nobody)


def test_the_loops_of_a_known_program_are_its_labels():
    paths = "path 0 main file t1_nested2.c line 9 | path 1 main file t1_nested2.c line 12"
    steps = "1 enter MPI_Send path 0 | 2 leave | 3 enter MPI_Barrier path 1 | 4 leave"
    trace = trace_of(f"ranks 1 | {paths} | 0 | {steps} | 5 enter MPI_Finalize | 6 leave")
    found = known_labels(trace, Calls(trace, None))

    assert [found.name(n) for n in found.loop.tolist()] == [
        "t1_nested2.c:7",
        "t1_nested2.c:6",
        "outside of loops",
    ]
    assert known_labels(run(*NESTED), Calls(run(*NESTED), None)) is None
