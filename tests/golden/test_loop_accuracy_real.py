"""Detected loops of real traces agree with those in the source of their programs."""

from __future__ import annotations

import pytest
from experiments.structure.labels import accuracies

import burstline

TRUE_BOTH = (
    "toy_t1_nested2", "toy_t1_nested2_pie_aslr", "toy_t2_nested3", "toy_t4_alias2_hidden",
    "toy_t4_alias2_super", "toy_t5_cond_middle", "toy_waits_4",
)  # fmt: skip
MISREAD = {
    "toy_t5_cond_first": (0.2393, 0.8302),
    "toy_mpistream": (0.9815, 0.7986),
    "toy_irregular_run1": (1.0, 1.0),
    "toy_irregular_run2": (0.7081, 0.9741),
    "idrun_run1": (0.9995, 0.9411),
    "idrun_run2": (0.9986, 0.8472),
}


def indices(folder, name):
    found = accuracies(burstline.read(folder / f"{name}.prv.gz", raw=False))
    return [(each.adjusted_rand, each.adjusted_rand_unique) for each in found["all"]]


@pytest.mark.parametrize("name", TRUE_BOTH)
def test_regular_loops_are_those_of_the_source_by_both_methods(real_traces, name):
    assert indices(real_traces, name) == [(1.0, 1.0)] * 2


@pytest.mark.parametrize("name", MISREAD)
def test_the_exact_method_is_right_where_the_published_one_errs(real_traces, name):
    seed, exact = indices(real_traces, name)

    assert exact == (1.0, 1.0)
    assert seed == pytest.approx(MISREAD[name], abs=1e-3)


def test_a_loop_of_which_each_rank_makes_other_calls_is_seen_as_two(real_traces):
    seed, exact = indices(real_traces, "toy_t3_phases3")

    assert seed == exact == pytest.approx((0.8383, 0.9579), abs=1e-3)


def test_a_program_that_nobody_has_read_has_no_labels(real_traces):
    trace = burstline.read(real_traces / "toy_t2_nested3.prv.gz", raw=False)
    assert accuracies(trace)

    assert accuracies(burstline.read(real_traces / "npb_is_S_4r.prv.gz", raw=False)) == {}
