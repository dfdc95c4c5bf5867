"""Unique calls of small programs, and what the kernel refuses."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import conjugate

import burstline
from burstline import _core
from burstline.structure.program.nodes import walk
from burstline.structure.published.clustering import SeedOptions
from burstline.structure.published.method import by_means
from burstline.structure.source import Source
from burstline.testing import trace_of
from loop_programs import Do, loop, reduced_calls, run, shape


def items(trace, rank_merge, min_share=0.0):
    """Find the program of a trace by the published method."""
    limits = SeedOptions(eps=0.2, scale="log", min_share=min_share, rank_merge=rank_merge)
    return by_means(Source.of(trace, None), limits).items


COLUMNS = {
    "lane_begin": np.array([0, 2]),
    "rank": np.array([0]),
    "ranks": 2,
    "signature": np.array([0, 1], np.int32),
    "signatures": 2,
    "quantities": [np.array([1, 5])] * 4,
    "ids": [np.array([0, 1], np.int32)] * 4,
    "burst_ranges": [np.array([0]), np.array([1])],
    "call_after": np.array([1], np.int32),
    "burst_columns": [np.array([2]), np.array([4]), np.array([6])],
}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"signatures": 1}, "signature is out of range"),
        ({"signature": np.array([0, -1], np.int32)}, "signature is out of range"),
        ({"ranks": 1}, "peer is out of range"),
        ({"rank": np.array([2])}, "rank is out of range"),
        ({"rank": np.array([0, 1])}, "differ in length"),
        ({"quantities": [np.array([1])] * 4}, "differ in length"),
        ({"quantities": [np.array([1, 5])] * 3}, "4 quantities"),
        ({"burst_columns": [np.array([2])] * 2 + [np.array([6, 7])]}, "differ in length"),
        ({"burst_columns": [np.array([2]), np.array([4, 5])]}, "differ in length"),
        ({"burst_ranges": [np.array([0]), np.array([2])]}, "bursts of a lane"),
        ({"burst_ranges": [np.array([-1]), np.array([1])]}, "bursts of a lane"),
        ({"lane_begin": np.array([0, 1])}, "do not cover"),
        ({"lane_begin": np.array([1, 2])}, "do not cover"),
    ],
)
def test_the_kernel_refuses_columns_that_do_not_fit_together(wrong, message):
    assert _core.reduce_calls(**COLUMNS)["burst_ns"].tolist()[1] == 2.0

    with pytest.raises(ValueError, match=message):
        _core.reduce_calls(**(COLUMNS | wrong))


@pytest.mark.parametrize("rank_merge", ["late", "early"])
def test_ranks_that_do_the_same_are_read_alike_whenever_they_are_merged(rank_merge):
    program = loop(20, loop(8, Do("Sendrecv", 9)), Do("Allreduce", 12))

    assert shape(items(run(program, ranks=3), rank_merge)) == [1, (20, [(8, [9]), 12]), 999]


def test_merged_early_a_loop_that_ranks_repeat_differently_is_one():
    few = loop(10, Do("Send", 5, ranks={0}), Do("Recv", 6, ranks={0}))
    many = loop(40, Do("Send", 5, ranks={1}), Do("Recv", 6, ranks={1}))
    trace = run(few, many)

    late, early = (
        [
            (item.ranks, item.executions.tolist())
            for item, _ in walk(items(trace, rank_merge))
            if hasattr(item, "hidden")
        ]
        for rank_merge in ("late", "early")
    )

    assert sorted(late) == [((0,), [10, 0]), ((1,), [0, 40])]
    assert early == [((0, 1), [10, 40])]


def test_merged_early_a_call_of_little_share_on_one_rank_is_kept_by_the_others():
    first = loop(100, Do("Barrier", 5, ranks={1, 2}))
    trace = run(loop(3, Do("Barrier", 5, ranks={0})), first, ranks=3)

    for merge, kept in (("late", 200), ("early", 203)):
        inner = [item for item, depth in walk(items(trace, merge, 0.5)) if depth]
        assert sum(int(item.executions.sum()) for item in inner) == kept


def test_iterations_that_begin_at_one_stamp_are_still_several():
    # as where a clock ran backwards: the first two rounds, but for three calls, take no time
    one_round = [("Send", 5, 30)] * 4 + [("Recv", 6, 30)]
    steps = [*one_round[:3], *[(name, line, 0) for name, line, _ in one_round[3:] + one_round]]
    told, now = ["ranks 1", "path 0 main line 5", "path 1 main line 6", "0"], 0
    for operation, line, lasts_ns in [*steps, *one_round, *one_round, *one_round]:
        told += [f"{now} enter MPI_{operation} path {line - 5}", f"{now + lasts_ns // 3} leave"]
        now += lasts_ns
    trace = trace_of("\n".join(told))

    found = burstline.detect(trace, method="seed")

    assert shape(found.items) == [(5, [(4, [5]), 6])]
    assert (np.diff(found.iterations(1).first) > 0).all()


def test_a_way_to_merge_ranks_that_is_not_there_is_refused():
    with pytest.raises(burstline.ParameterError, match="rank_merge 'never'"):
        SeedOptions(eps=0.2, scale="log", min_share=0.1, rank_merge="never")


def test_the_program_of_the_benchmarks_is_the_same_in_memory_and_written(tmp_path):
    conjugate.write_prv(tmp_path / "cg.prv", ranks=2, iterations=2)

    read = reduced_calls(burstline.read(tmp_path / "cg.prv"))
    made = reduced_calls(conjugate.in_memory(ranks=2, iterations=2))

    assert len(read.sequence) == len(made.sequence) == 2 * len(conjugate.program(2))
    for name in ("repetitions", "time_ns", "burst_ns", "iteration_mean_ns"):
        found, expected = (
            np.nan_to_num(value() if callable(value) else value)
            for value in (getattr(read, name), getattr(made, name))
        )
        assert np.sort(found).tolist() == pytest.approx(np.sort(expected).tolist())
