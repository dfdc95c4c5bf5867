"""Recorded runs that tell what their bursts are: matched so, under each MPI."""

from __future__ import annotations

from pathlib import Path

import pytest
from experiments.merge.known import judge, with_ids

import burstline

PROGRAM = Path(__file__).parents[1] / "record" / "irregular.c"
HEADERS = Path(burstline.__file__).parent / "record" / "native"


@pytest.mark.parametrize("scenario", ["waitany", "test", "wildcard"])
def test_completions_in_another_order_are_the_same_work(on_open_mpi, scenario):
    all_of_them, *_ = judge(recorded(on_open_mpi, scenario))

    assert all_of_them.precision >= 0.995
    assert all_of_them.rate >= 0.99
    assert all_of_them.matchable > 400


def test_completions_of_several_are_the_same_work_if_they_are_all_the_same(on_mpich):
    _, *told_apart = judge(recorded(on_mpich, "waitsome"))

    assert all(one.precision >= 0.995 for one in told_apart)
    assert all(one.rate >= 0.99 for one in told_apart)


def test_threads_that_hear_nothing_of_each_other_agree_which_steps_are_the_same(on_open_mpi):
    """Who gets which work is decided anew in every step: only collectives tell them apart."""
    runs = recorded(on_open_mpi, "farm", ranks=4)

    all_of_them, *_ = judge(runs)
    by_seed, *_ = judge(runs, "seed")

    assert all_of_them.precision >= 0.9
    assert all_of_them.rate >= 0.5
    assert all_of_them.rate > by_seed.rate
    assert all_of_them.precision > by_seed.precision


def recorded(site, scenario, ranks=2):
    """Record two runs; the second does a tenth of the steps twice."""
    program = site.compile("mpicc", "-w", "-O1", "-I", HEADERS, PROGRAM)
    runs = []
    for run, extra in ((1, 0), (2, 10)):
        words = [*site.ranks(ranks), program, scenario, "30", "4", str(extra), "0", str(run)]
        site.recorded(f"run{run}.store", "--", *words)
        runs.append(with_ids(site.folder / f"run{run}.store"))
    return runs
