"""Runs beside the first: computation scalability is instructions x IPC x frequency."""

import gc
import weakref

import pytest

from burstline import NotEnoughDataError, ParameterError, scalability
from burstline.testing import trace_of

HARDWARE = ("PAPI_TOT_INS", "PAPI_TOT_CYC")


def run_of(*ranks, counters=HARDWARE, end=1000):
    """A run from 10 ns on; each rank is a list of bursts: ns, then its counters, or None."""
    lines = [f"ranks {len(ranks)}", *(f"counter {name}" for name in counters)]
    for rank, bursts in enumerate(ranks):
        now = 10
        zero = "".join(f" {name}=0" for name in counters)
        lines.append(f"{rank} | 0 enter MPI_Init | 10 leave{zero}")
        for number, (length, *values) in enumerate(bursts, 1):
            now += length
            last = number == len(bursts)
            counted = zip(counters, values, strict=True)
            read = [f" {name}={value}" for name, value in counted if value is not None]
            operation = "MPI_Finalize" if last else "MPI_Barrier"
            leave = end if last else now
            lines.append(f"{now} enter {operation}{''.join(read)} | {leave} leave{zero}")
    return trace_of("\n".join(lines))


ONE = run_of([(600, 1200, 1800)], [(400, 800, 1200)])  # IPC 2/3 at 3 GHz, 1000 ns


def ratios(run, *names):
    return tuple(run.factors[f"{name}_scalability"] for name in names)


def second(*runs, **options):
    return scalability(runs, **options).runs[1]


def test_threads_that_compute_count_beside_the_ranks():
    team = (
        "ranks 1 threads 2 | region work paradigm openmp role parallel\n"
        "0 | 0 enter MPI_Init | 10 leave | 510 enter MPI_Finalize | 520 leave\n"
        "0.1 | 10 enter work | 410 leave work"
    )
    single = "ranks 1 | 0 | 0 enter MPI_Init | 10 leave | 910 enter MPI_Finalize | 920 leave"

    one, two = trace_of(single), trace_of(team)
    run = second(one, two)

    assert (run.threads, run.useful_ns) == (2, 900)
    assert ratios(run, "computation") == (1,)
    assert ratios(second(one, two, scaling="weak"), "computation") == (2,)


def test_what_nobody_watched_of_other_threads_is_not_useful():
    trace = trace_of(
        "ranks 1 threads 2 | location 0.1 died 600\n"
        "row bursts location 1 burst 0 start_ns 10 end_ns 510 gap_ns 100\n"
        "0 | 0 enter MPI_Init | 10 leave | 510 enter MPI_Finalize | 520 leave"
    )

    [run] = scalability([trace]).runs

    assert (run.threads, run.useful_ns) == (2, 900)


def test_only_what_is_counted_between_init_and_finalize_on_processors_that_call_mpi_counts():
    bursts = "\n".join(
        f"row bursts location {location} burst {burst} start_ns {start} end_ns {start + 10}"
        for location, burst, start in (
            (0, 0, 0), (0, 1, 20), (0, 2, 900), (1, 0, 30), (2, 0, 30),
        )
    )  # fmt: skip
    trace = trace_of(
        "application 0 ranks 1 threads 2 | application 1 ranks 1\n"
        f"location 0/0.1 kind gpu_stream died 999 | location 1/0 died 999\n{bursts}\n"
        "0/0 | 10 enter MPI_Init | 20 leave | 30 enter MPI_Finalize | 40 leave"
    )

    [run] = scalability([trace]).runs

    assert (run.threads, run.useful_ns) == (1, 10)
    inside = trace_of(
        "application 0 ranks 1 | application 1 ranks 1 | counter IR_TOT_INS\n"
        "region work paradigm openmp role parallel\n"
        "0/0 | 0 enter MPI_Initialized | 0 leave IR_TOT_INS=0 | 90 enter MPI_Init IR_TOT_INS=9 "
        "| 100 leave IR_TOT_INS=0 | 200 enter MPI_Finalize IR_TOT_INS=3 "
        "| 210 leave IR_TOT_INS=0 | 300 enter MPI_Finalized IR_TOT_INS=7 | 300 leave\n"
        "1/0 | 100 enter work IR_TOT_INS=0 | 200 leave work IR_TOT_INS=5"
    )
    assert scalability([inside]).runs[0].work == (("IR_TOT_INS",), (3,), 100)


def test_without_cycles_speed_is_one_factor():
    one, two = (run_of([(length, 300)], counters=["PAPI_TOT_INS"]) for length in (100, 200))

    result = scalability([one, two])

    assert result.runs[1].factors["instruction_scalability"] == 1
    assert result.runs[1].factors["speed_scalability"] == 0.5
    assert result.runs[1].factors["ipc_scalability"] is None
    [(names, reason)] = result.not_computable
    assert names == ("ipc_scalability", "frequency_scalability")
    assert "burstline record `counters=PAPI_TOT_INS,PAPI_TOT_CYC`" in reason


def test_without_a_counter_in_common_the_reason_says_what_each_run_has():
    work = run_of([(500, 5)], [(500, 5)], counters=["IR_TOT_INS"])

    result = scalability([ONE, work])

    assert result.runs[1].factors["computation_scalability"] == 1
    assert result.runs[1].work.counters == ()
    assert result.runs[1].as_dict()["counters"] is None
    [(names, reason)] = result.not_computable
    assert names[0] == "instruction_scalability"
    assert "(run 1: PAPI_TOT_INS and PAPI_TOT_CYC, run 2: IR_TOT_INS)" in reason
    assert "record `counters=" in reason


def test_runs_without_useful_time_have_no_ratio_and_others_are_refused():
    result = scalability([ONE, trace_of("ranks 1 | 0 | 0 enter MPI_Barrier | 9 leave")])

    assert result.runs[1].factors["computation_scalability"] is None
    assert result.runs[1].factors["global"] is None
    with pytest.raises(ParameterError, match="no run"):
        scalability([])
    with pytest.raises(ParameterError, match="one of strong, weak"):
        scalability([ONE], scaling="medium")
    with pytest.raises(NotEnoughDataError, match=r"run 2 .*no application calls MPI"):
        scalability([ONE, trace_of("ranks 1")])


def test_a_run_is_let_go_before_the_next_is_taken():
    alive = []

    def one_by_one():
        for _ in range(3):
            gc.collect()
            assert not any(before() for before in alive)
            trace = run_of([(100, 1, 1)])
            alive.append(weakref.ref(trace.bursts))
            yield trace
            del trace

    assert len(scalability(one_by_one()).runs) == 3


def warnings(*texts, **options):
    return scalability(map(trace_of, texts), **options).warnings


def story(*calls, ranks=1, path=""):
    """A run whose ranks make calls between MPI_Init and MPI_Finalize, 100 ns apart."""
    names = ["MPI_Init", *calls, "MPI_Finalize"]
    events = " | ".join(
        f"{100 * k} enter {name} {'path 0' if path else ''} | {100 * k} leave"
        for k, name in enumerate(names)
    )
    head = [f"ranks {ranks}", *[f"path 0 {path}"] * bool(path)]
    return "\n".join([*head, *(f"{rank} | {events}" for rank in range(ranks))])


STEPS = ("MPI_Barrier",) * 10


@pytest.mark.parametrize(
    ("ours", "theirs", "shared"),
    [
        (story("MPI_Send", "MPI_Recv"), story("MPI_Put", "MPI_Win_fence"), "2 of 6 operations"),
        (story(*STEPS, path="solve"), story(*STEPS, path="sort"), "0 of 2 functions"),
    ],
)
def test_another_program_is_named(ours, theirs, shared):
    [warning] = warnings(ours, theirs)

    assert warning.startswith(f"run 2 shares {shared}")


def test_another_number_of_steps_is_named():
    [warning] = warnings(story(*STEPS), story(*STEPS, *STEPS))

    assert warning.startswith("run 2 makes 20 collective calls a rank, run 1 10")
    assert not warnings(story(*STEPS, *STEPS), story(*STEPS, *STEPS, "MPI_Barrier"))


def test_a_run_that_was_cut_is_named_unless_all_were():
    cut = "ranks 1 | 0 | 0 enter MPI_Init | 1 leave | 101 enter MPI_Barrier | 102 leave"
    whole = story("MPI_Barrier")

    [warning] = warnings(whole, cut)

    assert warning.startswith("run 2 was cut: 1 of 1 rank has no MPI_Finalize")
    assert warnings(cut, cut) == ()


def test_the_other_scaling_is_suggested_where_amounts_are_those_of_it():
    small, twice = story(*STEPS), story(*STEPS, ranks=2)  # as much time a rank

    assert "compare with `scaling=weak`" in warnings(small, twice)[0]
    assert not warnings(small, twice, scaling="weak")
    counted = [run_of(*[[(100, 50 * 2 // n, 9)]] * n) for n in (1, 2)]
    assert scalability(counted).warnings == ()
    [warning] = scalability(counted, scaling="weak").warnings
    assert "run 2 has as many instructions in all as run 1" in warning
