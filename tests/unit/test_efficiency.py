"""Parallel efficiency is load balance times communication efficiency, as POP defines them."""

from burstline import summarise
from burstline.efficiency import UsefulTime
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


def test_without_mpi_there_is_no_efficiency_and_a_reason():
    result = efficiency(trace_of(locations=threads((0, 10))))

    assert result.parallel is None
    assert result.as_dict()["reason"] == "no application calls MPI"
    assert result.as_dict()["busiest"] is None


def test_without_time_between_init_and_finalize_there_is_a_reason():
    story = [("Init", 0, 10), ("Finalize", 10, 20)]
    trace = trace_of(locations=threads((0, 20)), calls=calls_of(story))

    assert "between MPI_Init and MPI_Finalize" in efficiency(trace).reason


def test_failed_polls_are_useful_by_definition_and_mpi_on_request():
    polls = [
        {"start_ns": 50, "polls": 2, "polling_ns": 40},
        {"burst": 1, "start_ns": 100, "polls": 9, "polling_ns": 200},
        {"location": 1, "start_ns": 100, "polls": 1, "polling_ns": 5000},
    ]
    trace = two_ranks(bursts=polls)
    useful = UsefulTime(trace)
    useful.add(trace.calls)
    useful.add_bursts(trace.bursts)

    assert useful.result() == efficiency(trace) == efficiency(two_ranks())
    assert useful.result(without_polls=True).useful_ns == (700, 0)


def test_as_dict_names_the_busiest_rank_and_the_range_of_useful_time():
    document = efficiency(two_ranks()).as_dict()

    assert document["busiest"] == {"application": 0, "rank": 0}
    assert document["useful_ns"] == {"minimum": 700, "mean": 800, "maximum": 900}


def test_failed_polls_after_finalize_are_no_mpi():
    polls = [
        {"start_ns": 1099, "polls": 1, "polling_ns": 1},
        {"burst": 1, "start_ns": 1100, "polls": 1, "polling_ns": 50},
        {"burst": 2, "start_ns": 1200, "polls": 1, "polling_ns": 700},
    ]
    trace = two_ranks(bursts=polls)
    useful = UsefulTime(trace)
    useful.add(trace.calls)
    useful.add_bursts(trace.bursts)

    assert useful.result(without_polls=True).useful_ns == (899, 700)
