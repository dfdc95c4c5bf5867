"""Parallel efficiency is load balance times communication efficiency, as POP defines them."""

import pytest

from burstline import ParameterError, summarise
from by_hand import calls_of, threads, trace_of

RANK_0 = [("Init", 0, 100), ("Barrier", 400, 500), ("Finalize", 1100, 1200)]
RANK_1 = [("Init", 20, 100), ("Barrier", 200, 500), ("Finalize", 1100, 1150)]


def efficiency(trace):
    return summarise(trace).efficiency


def two_ranks(**more):
    return trace_of(
        locations=threads((0, 1200), (0, 1200)), calls=calls_of(RANK_0, RANK_1), **more
    )


def test_useful_time_is_what_lies_between_init_and_finalize_outside_mpi():
    result = efficiency(two_ranks())

    assert result.useful_ns == (900, 700)
    assert result.runtime_ns == 1000


def test_without_mpi_or_time_between_its_ends_there_is_no_efficiency_and_a_reason():
    result = summarise(trace_of(locations=threads((0, 10))), full=True).efficiency

    assert result.parallel is None
    assert result.as_dict()["reason"] == "no application calls MPI"
    assert result.as_dict()["busiest"] is None
    assert result.of_communication == {"serialisation": None, "transfer": None}

    story = [("Init", 0, 10), ("Finalize", 10, 20)]
    trace = trace_of(locations=threads((0, 20)), calls=calls_of(story))
    assert "between MPI_Init and MPI_Finalize" in efficiency(trace).reason


def test_the_whole_trace_counts_what_runs_before_init_and_after_finalize():
    states = [
        {"location": 0, "begin_ns": 0, "end_ns": 800, "state": 1},
        {"location": 0, "begin_ns": 800, "end_ns": 900, "state": 3},
        {"location": 1, "begin_ns": 100, "end_ns": 500, "state": 1},
    ]

    running = summarise(two_ranks(states=states), span="trace").efficiency
    outside = summarise(two_ranks(), span="trace").efficiency

    assert (running.runtime_ns, running.useful_ns) == (1200, (800, 400))
    assert (running.parallel, running.load_balance, running.communication) == (0.5, 0.75, 2 / 3)
    assert outside.useful_ns == (900, 770), "without states, time outside MPI"
    assert outside.as_dict()["span"] == "trace"
    assert efficiency(two_ranks()).as_dict()["span"] == "init-finalize"


@pytest.mark.parametrize("options", [{"span": "all"}, {"poll_gap_ns": -1}])
def test_spans_and_gaps_that_make_no_sense_are_refused(options):
    with pytest.raises(ParameterError):
        summarise(two_ranks(), **options)
