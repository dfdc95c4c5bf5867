"""What holds for every structure, whatever the program."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import burstline
from burstline import _core
from burstline.structure import Call, detect, walk
from burstline.structure.program.fidelity import similarity
from burstline.structure.published.clustering import clusters, take_turns
from loop_programs import Do, lines, loop, run, shape
from oracles import structure as oracle
from random_traces import traces

symbols = st.lists(st.integers(0, 4), max_size=150).map(lambda v: np.array(v, np.int32))
coordinates = st.integers(-640, 640).map(lambda step: step / 64)


@st.composite
def clouds(draw):
    dimensions = draw(st.integers(1, 3))
    point = st.tuples(*[coordinates] * dimensions)
    return np.array(draw(st.lists(point, max_size=40)), np.float64).reshape(-1, dimensions)


@st.composite
def programs(draw, depth=2):
    """Programs whose every loop has a call of its own, at the end of its body."""
    line = iter(range(10, 900))

    def body(level):
        steps = []
        for _ in range(draw(st.integers(0 if level else 1, 2))):
            if level:
                steps.append(loop(draw(st.integers(2, 6)), *body(level - 1)))
            else:
                steps.append(Do("Send", next(line)))
        return [*steps, Do("Barrier", next(line))]

    return [loop(draw(st.integers(2, 9)), *body(draw(st.integers(0, depth))))]


@given(points=clouds(), eps=st.sampled_from([0.1, 0.2, 0.7, 3.3]))
def test_clusters_are_those_of_dbscan(points, eps):
    assert clusters(points, eps=eps).tolist() == oracle.components(points, eps)


@given(points=clouds(), eps=st.sampled_from([0.2, 1.1]), shift=coordinates)
def test_moving_all_points_moves_no_cluster(points, eps, shift):
    assert clusters(points + shift, eps=eps).tolist() == clusters(points, eps=eps).tolist()


@given(a=symbols, b=symbols)
def test_what_is_common_in_order_is_the_longest_common_subsequence(a, b):
    assert _core.common_in_order(a, b, 1000) == oracle.longest_common(a.tolist(), b.tolist())


@given(a=symbols, b=symbols, window=st.integers(1, 40))
def test_a_window_never_finds_more_than_there_is_and_all_of_what_is_equal(a, b, window):
    most = oracle.longest_common(a.tolist(), b.tolist())

    assert 0 <= _core.common_in_order(a, b, window) <= most
    assert similarity(a, a, window=window) == 1.0


def test_kernels_refuse_what_they_cannot_do():
    for points, dimensions, why in (
        (np.zeros(3), 4, "dimensions"), (np.zeros(3), 2, "whole number"),
        (np.array([np.nan]), 1, "finite"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=why):
            _core.connected_within(points, dimensions, 0.2)
    with pytest.raises(ValueError, match="at least one"):
        _core.common_in_order(np.zeros(1, np.int32), np.zeros(1, np.int32), 0)


@given(program=programs())
def test_a_structure_expands_like_its_slow_twin(program):
    found = detect(run(*program), method="seed", min_share=0)

    for lane in range(len(found.ranks)):
        assert found.expand(lane).tolist() == oracle.expand(found.items, lane)


def true_shape(program):
    """Give the shape that a program should be read as."""
    nested = []
    for step in program:
        if isinstance(step, Do):
            nested.append(step.line)
        else:
            nested.append((float(step.times), true_shape(step.body)))
    return nested


@given(program=programs())
def test_a_faithful_structure_makes_the_calls_of_the_program(program):
    found = detect(run(*program), min_share=0)
    assume(found.fidelity == 1.0)

    lines_of = {
        call.site: call.caller.line for call, _ in walk(found.items) if call.row(0)["line"]
    }
    made = [lines_of[symbol] for symbol in found.expand(0).tolist()]
    assert made == [1, *lines(program), 999]


@given(trips=st.lists(st.integers(2, 9), min_size=1, max_size=3))
def test_loops_with_a_call_of_their_own_are_found_whatever_their_trip_counts(trips):
    program = Do("Send", 10)
    for depth, times in enumerate(trips):
        program = loop(times, program, Do("Barrier", 20 + depth))

    found = detect(run(program), min_share=0)

    assert shape(found.items)[1:-1] == true_shape([program])
    assert found.fidelity == 1.0


@given(trace=traces(most_ranks=3, most_steps=20))
def test_no_call_is_counted_twice_or_lost(trace):
    assume(trace.calls.num_rows)

    found = detect(trace, min_share=0.3)

    calls = [node for node, _ in walk(found.items) if isinstance(node, Call)]
    in_structure = sum(int(call.executions.sum()) for call in calls)
    left_out = sum(int(call.executions.sum()) for call in found.left_out)
    assert in_structure + left_out == trace.calls.num_rows
    assert 0.0 <= found.fidelity <= 1.0


def retold(trace, change):
    """Give the trace with the columns of its calls changed, its bursts left out."""
    tables = {name: trace.table(name) for name in ("locations", "calls", "call_paths")}
    return burstline.Trace(change(tables))


@given(program=programs(), factor=st.integers(2, 1000), shift=st.integers(0, 10**6))
def test_neither_the_unit_nor_the_origin_of_time_matters(program, factor, shift):
    def change(tables):
        calls = tables["calls"]
        for name in ("enter_ns", "leave_ns"):
            times = pa.array(calls[name].to_numpy() * factor + shift)
            calls = calls.set_column(calls.column_names.index(name), calls.field(name), times)
        return tables | {"calls": calls}

    trace = run(*program)
    found, moved = (detect(each, min_share=0) for each in (trace, retold(trace, change)))

    assert shape(found.items) == shape(moved.items)
    assert moved.run_ns == factor * found.run_ns
    assert found.fidelity == moved.fidelity


@given(program=programs(), names=st.permutations([0, 1, 2]))
def test_renaming_ranks_renames_them_in_the_result_and_does_nothing_else(program, names):
    program = [*program, Do("Recv", 950, ranks={0})]

    def change(tables):
        ranks = tables["locations"]
        renamed = pa.array(names, pa.int32())
        place = ranks.column_names.index("rank")
        return tables | {"locations": ranks.set_column(place, ranks.field("rank"), renamed)}

    trace = run(*program, ranks=3)
    found, renamed = (detect(each, min_share=0) for each in (trace, retold(trace, change)))

    assert shape(found.items) == shape(renamed.items)
    assert {tuple(sorted(names[rank] for rank in ranks)) for ranks in found.classes} == {
        tuple(sorted(ranks)) for ranks in renamed.classes
    }
    for call, other in zip(found.outside, renamed.outside, strict=True):
        assert {names[rank] for rank in call.ranks} == set(other.ranks)


@given(times=st.integers(2, 30))
def test_strict_turns_are_turns_and_blocks_are_not(times):
    turns = np.arange(2 * times)

    assert take_turns(turns[::2], turns[1::2])
    assert times < 3 or not take_turns(turns[:times], turns[times:])
