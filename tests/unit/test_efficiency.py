"""Parallel efficiency is load balance times communication efficiency, as POP defines them."""

import math

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


def test_gaps_that_overlap_count_once():
    gaps = [
        {"location": 1, "start_ns": 600, "end_ns": 800},
        {"location": 1, "start_ns": 650, "end_ns": 700},
        {"location": 1, "start_ns": 700, "end_ns": 900},
    ]

    assert efficiency(two_ranks(gaps=gaps)).useful_ns == (900, 400)


def test_an_application_without_mpi_does_not_lower_the_efficiency_of_others():
    trace = trace_of(
        locations=[
            *threads((0, 1200), (0, 1200)),
            *threads((0, 9000), application=1, first=2),
        ],
        calls=calls_of(RANK_0, RANK_1),
    )

    assert efficiency(trace) == efficiency(two_ranks())


def test_several_applications_with_mpi_count_together():
    trace = trace_of(
        locations=[*threads((0, 100)), *threads((0, 100), application=1, first=1)],
        calls=calls_of([("Send", 0, 50)], [("Recv", 0, 10)]),
    )

    assert efficiency(trace).ranks == ((0, 0), (1, 0))
    assert efficiency(trace).useful_ns == (50, 90)


def test_a_rank_is_its_first_cpu_thread():
    stream = {"location": 0, "kind": "gpu_stream", "thread": 0, "died_ns": 5000}
    worker = {"location": 1, "thread": 2, "died_ns": 5000}
    master = {"location": 2, "thread": 1, "died_ns": 100}
    trace = trace_of(
        locations=[stream, worker, master], calls=calls_of([], [], [("Send", 10, 20)])
    )

    assert efficiency(trace).useful_ns == (90,)


def test_serialisation_and_transfer_multiply_to_communication_whatever_polls_are_waiting():
    polls = [{"location": 0, "burst": 0, "start_ns": 100, "end_ns": 400, "call_before": 0}]
    polls[0] |= {"call_after": 1, "polls": 9, "polling_ns": 60}
    trace = two_ranks(bursts=polls)

    for gap_ns, useful_ns in ((0, 840), (5_000, 600)):
        result = summarise(trace, poll_gap_ns=gap_ns, full=True).efficiency
        product = math.prod(result.of_communication.values())
        assert result.useful_ns == (useful_ns, 700)
        assert product == pytest.approx(result.communication)


def test_without_mpi_there_is_no_serialisation_either():
    result = summarise(trace_of(locations=threads((0, 10))), full=True).efficiency

    assert result.of_communication == {"serialisation": None, "transfer": None}


def test_without_mpi_there_is_no_efficiency_and_a_reason():
    result = efficiency(trace_of(locations=threads((0, 10))))

    assert result.parallel is None
    assert result.as_dict()["reason"] == "no application calls MPI"
    assert result.as_dict()["busiest"] is None


def test_without_time_between_init_and_finalize_there_is_a_reason():
    story = [("Init", 0, 10), ("Finalize", 10, 20)]
    trace = trace_of(locations=threads((0, 20)), calls=calls_of(story))

    assert "between MPI_Init and MPI_Finalize" in efficiency(trace).reason


def polls_in(start, end, polls, polling, measured=None, **more):
    counted = {"polls": polls, "polling_ns": polling, "waiting_ns": measured}
    return {"start_ns": start, "end_ns": end, **counted, **more}


def useful_with(polls, gap):
    return summarise(two_ranks(bursts=polls), poll_gap_ns=gap).efficiency.useful_ns


def test_failed_polls_and_the_short_time_between_them_are_waiting():
    polls = [
        polls_in(50, 90, 2, 40),
        polls_in(100, 400, 9, 200, burst=1),
        polls_in(500, 1100, 1, 5, location=1),
    ]

    assert useful_with(polls, 30) == (700, 695), "longer computation between them is useful"
    assert useful_with(polls, 31) == (600, 695), "ten stretches of 30 ns wait as a whole"
    assert useful_with(polls, 301) == (600, 100)


def test_what_the_recorder_measured_of_waiting_stands():
    polls = [polls_in(100, 400, 9, 200, 250, burst=1), polls_in(500, 800, 1, 5, 9, location=1)]

    assert useful_with(polls, 5_000) == (650, 691)


def test_the_rank_that_polls_is_not_the_busiest():
    polls = [polls_in(100, 400, 200, 90, burst=0)]
    result = summarise(two_ranks(bursts=polls)).efficiency

    assert result.as_dict()["busiest"] == {"application": 0, "rank": 1}


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


def test_as_dict_names_the_busiest_rank_and_the_range_of_useful_time():
    document = efficiency(two_ranks()).as_dict()

    assert document["busiest"] == {"application": 0, "rank": 0}
    assert document["useful_ns"] == {"minimum": 700, "mean": 800, "maximum": 900}


def test_failed_polls_after_finalize_are_no_mpi():
    polls = [
        polls_in(1099, 1100, 1, 1),
        polls_in(1100, 1150, 1, 50, burst=1),
        polls_in(1200, 1900, 1, 700, burst=2),
    ]

    assert useful_with(polls, 0) == (899, 700)
