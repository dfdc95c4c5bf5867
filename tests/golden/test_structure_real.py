"""Real traces of programs whose loops are known are read as those loops."""

from __future__ import annotations

import pytest

import burstline
from burstline.structure import Loop, detect
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


def structure_of(folder, name, **options):
    return detect(burstline.read(folder / f"{name}.prv.gz", raw=False), **options)


def loops_of(items):
    return shape([item for item in items if isinstance(item, Loop)])


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


def test_larger_lulesh_has_the_same_structure(real_traces):
    found = structure_of(real_traces, "lulesh_27r_s4_i30")

    assert [loop.iterations for loop in found.loops] == [30]
    assert found.fidelity > 0.999


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
