"""What MPI and what OpenMP costs a hybrid program: the multiplicative metrics of POP."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given

import burstline
from burstline.synchronisation import graph_of
from burstline.testing import trace_of
from burstline.waits.computation import with_computation
from burstline.waits.division import computed_in
from burstline.waits.factors import watched_of
from burstline.waits.times import Nodes
from by_hand import calls_of, threads
from by_hand import trace_of as tables_of
from golden.oracle_events import as_text
from hybrid_programs import hybrid_programs

SYNCHRONISES = "MPI", "!$omp barrier", "!$omp implicit barrier", "!$omp critical"


def literal_times(program):
    """The span of each rank, what of it is outside MPI, and what each thread computes in it."""
    names = {region["id"]: region["name"] for region in program["regions"]}
    threads, spans, outside, useful = program["threads"], [], [], []
    for location in range(program["ranks"] * threads):
        events = [event for event in program["events"] if event[1] == location]
        if location % threads == 0:
            borders = {
                (letters, names[rest[0]]): t
                for letters, _, t, *rest in events
                if letters in ("E", "L")
            }
            begin, end = borders["L", "MPI_Init"], borders["E", "MPI_Finalize"]
            spans.append(end - begin)
            outside.append(0)
        useful.append(0)
        stack, manages = [], False
        for (letters, _, start, *rest), (_, _, stop, *_) in pairwise(events):
            if letters == "E":
                stack.append(names[rest[0]])
            elif letters == "L":
                manages = stack.pop() == "!$omp parallel"
            if letters in ("F", "J") or (letters == "E" and stack[-1] == "!$omp parallel"):
                manages = letters == "F"
            inside = max(0, min(stop, end) - max(start, begin))
            innermost = stack[-1] if stack else "MPI, or idle"
            if location % threads == 0 and not innermost.startswith("MPI"):
                outside[-1] += inside
            if not innermost.startswith(SYNCHRONISES) and not manages:
                useful[-1] += inside
    return spans, outside, useful


@given(hybrid_programs())
def test_computation_is_that_of_the_tree_of_times_and_of_its_literal_twin(program):
    trace = trace_of(as_text(program))
    graph = with_computation(graph_of(trace))
    sync, tree = graph.sync, graph.tree

    outside, inside = computed_in(sync, Nodes(tree.nodes), watched_of(trace, sync))

    assert inside.tolist() == literal_times(program)[2]
    profile = burstline.wait_states(trace).profile
    comp = profile.exclusive("comp").sum(axis=0) if "comp" in profile.stored else 0 * inside
    assert (outside + inside).tolist() == comp.tolist()


@given(hybrid_programs())
def test_hybrid_is_mpi_times_openmp_and_each_its_balance_times_its_communication(program):
    efficiency = burstline.wait_states(trace_of(as_text(program))).efficiency
    spans, outside, useful = literal_times(program)
    levels = "hybrid", "mpi", "openmp"

    if program["threads"] == 1 or not max(spans):
        assert not any(efficiency[level] for level in levels)
        return
    runtime = max(spans)
    assert efficiency["mpi"] == (sum(outside) / len(spans) / runtime or None)
    assert efficiency["hybrid"] == (
        pytest.approx(sum(useful) / len(useful) / runtime) if any(useful) else None
    )
    assert efficiency["mpi"] == pytest.approx(efficiency["parallel"] or None)
    if efficiency["hybrid"] is None:
        return
    assert efficiency["hybrid"] == pytest.approx(efficiency["mpi"] * efficiency["openmp"])
    for level in levels:
        assert 0 < efficiency[level] <= 1 + 1e-12
        factors = efficiency[f"{level}_load_balance"], efficiency[f"{level}_communication"]
        assert efficiency[level] == pytest.approx(math.prod(factors))


PARALLEL = 'region "!$omp parallel" paradigm openmp role parallel'
BARRIER = 'region "!$omp implicit barrier" paradigm openmp role implicit_barrier'
INIT, FINALIZE = "0 enter MPI_Init | 10 leave", "110 enter MPI_Finalize | 120 leave"


def efficiency_of(text):
    return burstline.wait_states(trace_of(text)).efficiency


def watched(gap):
    return f"""ranks 1 threads 2 | {PARALLEL}
0 | {INIT} {gap} | 20 fork 2 | 20 enter "!$omp parallel" | 100 leave | 100 join | {FINALIZE}
0.1 | 20 enter "!$omp parallel" | 100 leave"""


FACTORS = {
    # Of 100 ns, the first of three threads computes for 90, the second for 20.
    "threads that wait and threads that never work are paid for": (
        f"""ranks 1 threads 3 | {PARALLEL} | {BARRIER}
0 | {INIT} | 20 fork 2 | 20 enter "!$omp parallel" | 50 enter "!$omp implicit barrier"
  | 60 leave | 60 leave | 60 join | {FINALIZE}
0.1 | 20 enter "!$omp parallel" | 40 enter "!$omp implicit barrier" | 60 leave | 60 leave""",
        {
            "mpi": 1, "hybrid": 110 / 300, "openmp": 110 / 300,
            "openmp_load_balance": 110 / 270, "openmp_communication": 0.9,
        },
    ),
    # Rank 0 (3 threads) is in MPI for 50 of 100 ns, rank 1 (one thread) for 100.
    "processes count as often as they have threads": (
        f"""ranks 2 threads 3 1
0 | {INIT} | 60 enter MPI_Barrier | 110 leave | {FINALIZE}
1 | {INIT} | 10 enter MPI_Barrier | 110 leave | {FINALIZE}""",
        {
            "parallel": 50 / 200, "mpi": 3 * 50 / 400, "mpi_load_balance": 3 / 4,
            "mpi_communication": 1 / 2, "openmp": 1 / 3,
        },
    ),
    "what is watched is computation": (watched(""), {"hybrid": 180 / 200}),
    "what nobody watched is none of any thread": (
        watched("| 30..50 gap flush"), {"hybrid": 140 / 160}
    ),
    "a program without MPI loses nothing to it": (
        f"""ranks 1 threads 2 | {PARALLEL} | region main
0 | 0 enter main | 20 fork 2 | 20 enter "!$omp parallel" | 60 leave | 60 join | 100 leave
0.1 | 20 enter "!$omp parallel" | 60 leave""",
        {"parallel": None, "mpi": 1, "hybrid": 140 / 200, "openmp": 140 / 200},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "factors"), FACTORS.values(), ids=FACTORS)
def test_factors_of_a_run(text, factors):
    efficiency = efficiency_of(text)

    assert {name: efficiency[name] for name in factors} == pytest.approx(factors)


def test_a_run_without_threads_has_no_hybrid_factors():
    efficiency = efficiency_of(f"ranks 1 | 0 | {INIT} | {FINALIZE}")

    assert efficiency["parallel"] == 1
    assert {efficiency[f"{level}{part}"] for level in ("hybrid", "mpi", "openmp")
            for part in ("", "_load_balance", "_communication")} == {None}  # fmt: skip


def test_waiting_in_failed_polls_is_no_computation():
    burst = {"location": 0, "burst": 0, "start_ns": 100, "end_ns": 400, "call_before": 0,
             "call_after": 1, "polls": 9, "polling_ns": 200, "waiting_ns": 250}  # fmt: skip
    story = [("Init", 0, 100), ("Barrier", 400, 500), ("Finalize", 1100, 1200)]
    calls = [
        call | {"enter_seq": 2 * k, "leave_seq": 2 * k + 1}
        for k, call in enumerate(calls_of(story))
    ]
    both = [*threads((0, 1200)), {"location": 1, "rank": 0, "thread": 1, "died_ns": 1200}]

    for bursts, useful_ns in (([], 900), ([burst], 650)):
        trace = tables_of(locations=both, calls=calls, bursts=bursts)
        efficiency = burstline.wait_states(trace).efficiency

        assert efficiency["hybrid"] == pytest.approx(useful_ns / 2000)
        assert efficiency["mpi"] == pytest.approx(useful_ns / 1000)
