"""What is said of idle threads, of small runs whose answer is known."""

from __future__ import annotations

import pytest

import burstline
from burstline.testing import trace_of
from verdicts import verdict

DEFINED = """
path 0 main file a.c line 9
path 1 main file a.c line 12
path 2 main file a.c line 15
path 3 .omp_outlined. file a.c line 20
region loop paradigm openmp role loop type 60003 value 10
region implicit_barrier paradigm openmp role implicit_barrier type 60004 value 27
"""


def team(begin, master, worker, *, threads=2, line=1):
    """A team from `begin` on, whose threads work for so long; the events of both."""
    end = begin + max(master, worker)
    return tuple(
        f"| {begin} fork {threads} "
        * (k == 0)
        + f"| {begin} team begin {threads} path {line} | {begin} enter loop path 3 "
        f"| {begin + work} leave | {begin + work} enter implicit_barrier | {end} leave "
        f"| {end} team end {threads} " + f"| {end} join " * (k == 0)
        for k, work in enumerate((master, worker))
    )


def said(*ranks):
    """What is said of a run; of each rank, the events of its first thread and of the other."""
    lanes = [
        f"{rank}" + f".{thread}" * (thread > 0) + f" {events}"
        for rank, threads in enumerate(ranks)
        for thread, events in enumerate(threads)
    ]
    text = "\n".join([f"ranks {len(ranks)} threads 2", DEFINED, *lanes])
    return verdict(burstline.wait_states(trace_of(text)))


BEGIN = "| 0 enter MPI_Init path 0 | 1 leave "


def ended(at):
    return f"| {at} enter MPI_Finalize path 2 | {at + 1} leave"


def test_a_thread_that_computes_while_others_idle_works_alone():
    (one, other), (third, fourth) = team(1, 10, 10), team(91, 10, 10, line=2)
    first = f"{BEGIN} {one} {third} {ended(101)}"

    _, where, cause = said((first, other + fourth))

    forks = "from !$omp parallel at a.c:12 to !$omp parallel at a.c:15"
    computing = f"computing {forks} in main or what it calls"
    assert where == f"100.0 % of it is while the first thread of its process is {computing}."
    assert cause.startswith(
        "Rank 0 causes most of the largest wait, 100.0 %: above all (100.0 %), one thread "
        f"works alone {computing}. Look there first."
    )


def late(busy):
    """What is said where one rank waits in a barrier for another, whose team is given."""
    (one, other), (late, too) = team(1, 10, 10), busy
    barrier = "| {0} enter MPI_Barrier path 1 | {0} begin | 82 end | 82 leave "
    waiting, late = (
        f"{BEGIN} {begins} {barrier.format(enters)} {ended(83)}"
        for begins, enters in ((one, 11), (late, 81))
    )
    _, where, cause = said((waiting, other), (late, too))
    assert cause.startswith("Rank 1 causes most of the largest wait")
    return where, cause


@pytest.mark.parametrize("work", [(80, 80), (80, 70)])
def test_what_keeps_a_thread_in_mpi_is_what_the_other_rank_does(work):
    where, cause = late(team(1, *work))

    assert "first thread of its process is in MPI_Barrier called by main at a.c:12" in where
    loop = "!$omp for at a.c:20 in main"
    assert f"first threads of other ranks wait in MPI for what it does in {loop}." in cause
    assert "alone" not in cause


def test_the_other_rank_may_be_late_as_it_computes_alone():
    assert (
        "one thread works alone computing from MPI_Init, a.c:9, to !$omp parallel at a.c:12, "
        "in main or what it calls, and first threads of other ranks wait for it in MPI"
    ) in late(team(71, 10, 10))[1]


def test_a_thread_in_mpi_does_not_work_alone():
    one, other = team(1, 10, 10)
    call = "| 20 enter MPI_Sendrecv path 1 | 90 leave "
    first = f"{BEGIN} {one} {call} {ended(91)}"

    _, where, cause = said((first, other))

    assert "first thread of its process is in MPI_Sendrecv called by main at a.c:12" in where
    assert "alone" not in cause
    assert "its first thread is in MPI, and was not seen to wait, in" in cause
    assert "MPI_Sendrecv called by main at a.c:12" in cause


def test_regions_with_fewer_threads_than_the_process_are_named():
    one, other = team(1, 10, 10)
    alone = "| 11 fork 1 | 11 team begin 1 path 2 | 90 team end 1 | 90 join "
    first = f"{BEGIN} {one} {alone} {ended(91)}"

    cause = said((first, other))[2]

    assert "!$omp parallel" in cause
    assert "has fewer threads than its process" in cause


def test_what_is_computed_before_a_fork_and_after_a_join_are_two_places():
    (one, other), (third, fourth) = team(11, 20, 10), team(51, 10, 10, line=2)
    inside = "| 15 enter MPI_Barrier path 1 | 16 leave | 31 leave | 31 enter implicit"
    one = one.replace("| 31 leave | 31 enter implicit", inside, 1)
    first = f"{BEGIN} {one} {third} {ended(66)}"
    text = "\n".join(["ranks 1 threads 2", DEFINED, f"0 {first}", f"0.1 {other} {fourth}"])

    for by in (None, "rank", 20):
        waits = burstline.wait_states(trace_of(text), by=by)

        profile = waits.profile
        names = profile.call_paths["function"].to_pylist()
        columns = (profile.exclusive(name)[:, 0].tolist() for name in ("comp", "visits"))
        found = {name: row for name, *row in zip(names, *columns, strict=True)}
        assert {name: row for name, row in found.items() if name.startswith("computing")} == {
            "computing up to !$omp parallel @a.c:12": [10, 1],
            "computing up to !$omp parallel @a.c:15": [20, 1],
            "computing up to MPI_Finalize@a.c:15": [5, 1],
        }
        if by is not None:
            assert sum(part.metrics["comp"] for part in waits.by) == profile.total("comp")
