"""Real traces of programs whose loops are known are read as those loops, by each method."""

from __future__ import annotations

import pytest

import burstline
from burstline.structure import Call, Condition, Loop, call_counts, detect, walk
from loop_programs import shape

PROGRAMS = {
    "toy_t1_nested2": [(20, [(8, [9]), 12])],
    "toy_t1_nested2_pie_aslr": [(20, [(8, [9]), 12])],
    "toy_t2_nested3": [(10, [(5, [(6, [10]), 13]), 16])],
    "toy_t3_phases3": [
        (10, [(6, [10]), 13]),
        (15, [(4, [21, 22, 23]), 26]),
        (8, [(10, [34, 35]), (10, [37, 38]), 42]),
    ],
    "toy_t4_alias2_super": [(20, [(6, [11]), (6, [16]), 26])],
    "toy_t4_alias2_hidden": [(20, [(6, [11]), (6, [16])])],
    "toy_t5_cond_middle": [(40, [20, 23, 26])],
}


APPLICATIONS = (
    "lulesh_27r_s4_i30",
    "lulesh_8r_s4_i10_pie_aslr",
    "lulesh_8r_s4_i10_run1",
    "lulesh_8r_s4_i10_run2",
    "lulesh_omp_8r2t_s4_i5",
    "minife_nx12_8r",
    "npb_cg_S_4r_run1",
    "npb_cg_S_4r_run2",
    "npb_cg_S_8r",
    "npb_ft_S_4r",
    "npb_is_S_4r",
    "npb_lu_S_4r",
    "npb_mg_S_8r",
    "npb_sp_S_4r",
    "tealeaf_cg64_4r",
)
SMALL = (*PROGRAMS, "toy_t5_cond_first", "toy_mpistream", "toy_waits_4")
IRREGULAR = ("toy_irregular_run1", "toy_irregular_run2", "idrun_run1", "idrun_run2")


def structure_of(folder, name, method="seed", **options):
    trace = burstline.read(folder / f"{name}.prv.gz", raw=False)
    return detect(trace, method=method, **options)


def loops_of(items):
    return shape([item for item in items if isinstance(item, Loop)])


def nested(items):
    """Give the nesting: (trips, body) per loop, a line per call, ("if", body) per condition."""
    found = []
    for item in items:
        if isinstance(item, Call):
            found.append(item.caller.line if item.caller else None)
        elif isinstance(item, Condition):
            found.append(("if", nested(item.items)))
        else:
            lane = int(item.executions.argmax())
            found.append((sorted(set(item.trips.values(lane).tolist())), nested(item.items)))
    return found


def loops_in(items):
    return [found for found in nested(items) if isinstance(found, tuple)]


def constant(loops):
    """Write loops of constant trip counts as a nest with trips."""
    return [
        ([times], constant(body)) if isinstance(entry, tuple) else entry
        for entry in loops
        for times, body in [entry if isinstance(entry, tuple) else (None, None)]
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_loops_of_small_programs_are_the_true_ones(real_traces, name):
    found = structure_of(real_traces, name)

    assert loops_of(found.items) == PROGRAMS[name]
    assert found.fidelity == 1.0


def test_a_conditioned_call_at_the_start_is_half_the_iterations_times_two(real_traces):
    found = structure_of(real_traces, "toy_t5_cond_first")

    assert loops_of(found.items) == [(20, [9, (2, [12, 14])])]
    assert found.fidelity < 1.0


@pytest.mark.parametrize("name", ["lulesh_8r_s4_i10_run1", "lulesh_8r_s4_i10_pie_aslr"])
def test_the_time_steps_of_lulesh_are_one_loop_of_ten(real_traces, name):
    found = structure_of(real_traces, name)

    (steps,) = found.loops
    assert (steps.iterations, steps.total_iterations) == (10, 10)
    assert {call.caller.file for call in steps.calls} == {"lulesh.cc", "lulesh-comm.cc"}
    (reduction,) = [call for call in steps.calls if call.operation == "MPI_Allreduce"]
    assert (reduction.probability, reduction.caller.line) == (0.9, 186)
    assert found.fidelity > 0.995


def test_thirty_steps_of_lulesh_make_the_calls_that_the_thesis_counts_on_rank_0(real_traces):
    found = structure_of(real_traces, "lulesh_27r_s4_i30")

    counts = call_counts(found, 1, ranks=[0])

    assert [loop.iterations for loop in found.loops] == [30]
    assert found.fidelity > 0.999
    assert dict(zip(counts.operations, counts.calls.sum(axis=1).tolist(), strict=True)) == {
        "MPI_Allreduce": 29, "MPI_Comm_rank": 9 * 30, "MPI_Irecv": 17 * 30,
        "MPI_Isend": 10 * 30, "MPI_Wait": 17 * 30, "MPI_Waitall": 3 * 30,
    }  # fmt: skip


def test_the_solver_of_cg_is_a_loop_in_a_loop(real_traces):
    found = structure_of(real_traces, "npb_cg_S_4r_run1", min_share=0)

    outer = next(loop for loop in found.loops if loop.iterations == 15)
    (inner,) = [loop for loop in found.loops if loop.parent == outer.id]
    assert inner.iterations == 25
    assert found.fidelity == 1.0


def test_iterations_until_convergence_are_given_as_their_mean(real_traces):
    found = structure_of(real_traces, "tealeaf_cg64_4r")

    assert [round(loop.iterations, 2) for loop in found.loops] == [3, 52.33]


def test_a_program_without_regular_loops_is_said_to_be_misread(real_traces):
    assert structure_of(real_traces, "npb_mg_S_8r").fidelity < 0.6
    assert structure_of(real_traces, "toy_irregular_run1").fidelity < 0.9


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "toy_t5_cond_middle"])
def test_the_exact_method_finds_the_true_loops_too(real_traces, name):
    found = structure_of(real_traces, name, "exact")

    assert loops_in(found.items) == constant(PROGRAMS[name])


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("toy_t5_cond_first", [("if", [9]), 12, 14]),
        ("toy_t5_cond_middle", [20, ("if", [23]), 26]),
    ],
)
@pytest.mark.parametrize("method", ["exact", "auto"])
def test_the_iterations_of_a_condition_are_found(real_traces, name, body, method):
    found = structure_of(real_traces, name, method)

    assert loops_in(found.items) == [([40], body)]
    (condition,) = [item for item, _ in walk(found.items) if isinstance(item, Condition)]
    assert condition.when.values(0).tolist() == list(range(1, 40, 2))


@pytest.mark.parametrize("name", ["lulesh_8r_s4_i10_run1", "lulesh_8r_s4_i10_pie_aslr"])
def test_lulesh_reduces_in_all_time_steps_but_the_first(real_traces, name):
    found = structure_of(real_traces, name, "exact")

    (steps,) = found.loops
    (condition,) = [item for item, _ in walk(found.items) if isinstance(item, Condition)]
    (reduction,) = condition.items
    assert steps.total_iterations == 10
    assert (reduction.operation, reduction.caller.line) == ("MPI_Allreduce", 186)
    assert condition.when.values(0).tolist() == list(range(1, 10))
    assert reduction.probability == 0.9


def test_conjugate_gradients_are_the_loops_of_their_source(real_traces):
    found = structure_of(real_traces, "npb_cg_S_8r", "exact")

    stages = [([2], [1199, 1206, 1207]), 1227, 1235, 1236]
    stages += [([2], [1273, 1280, 1282]), ([2], [1330, 1337, 1338])]
    (time_steps,) = [loop for loop in loops_in(found.items) if loop[0] == [15]]
    assert ([25], stages) in time_steps[1]


def test_the_sweeps_of_sp_are_loops_over_their_stages(real_traces):
    found = structure_of(real_traces, "npb_sp_S_4r", "exact")

    (steps,) = [loop for loop in loops_in(found.items) if loop[0] == [100]]
    sweep = ([2], [("if", [68, 85]), ("if", [344])])
    assert sweep in steps[1]
    assert sum(isinstance(element, tuple) for element in steps[1]) == 6


def test_a_solver_iterates_until_it_has_converged(real_traces):
    found = structure_of(real_traces, "tealeaf_cg64_4r", "exact")

    steps, solver = found.loops
    assert (steps.iterations, solver.parent) == (3, steps.id)
    assert [solver.trips.values(lane).tolist() for lane in range(4)] == [[54, 52, 51]] * 4


def test_messages_of_an_irregular_program_are_loops_of_many_lengths(real_traces):
    found = structure_of(real_traces, "toy_irregular_run1", "exact")

    (steps,) = [loop for loop in found.loops if loop.parent is None]
    assert steps.trips.values(0).tolist() == [20]
    assert [call.operation for call in steps.calls] == ["MPI_Alltoall", "MPI_Allreduce"]


@pytest.mark.parametrize("name", [*APPLICATIONS, *SMALL, *IRREGULAR])
def test_the_exact_method_loses_nothing_and_stays_small(real_traces, name):
    found = structure_of(real_traces, name, "exact")

    sites = sum(isinstance(item, Call) for item, _ in walk(found.items))
    assert found.fidelity == 1.0
    assert found.coverage.calls == 1.0
    assert found.nodes <= 3 * sites


@pytest.mark.parametrize("name", APPLICATIONS)
def test_applications_are_read_truly_by_default(real_traces, name):
    assert structure_of(real_traces, name, "auto").fidelity >= 0.999
