"""The function that a verdict names by samples: where a rank computes longer, and no other."""

from __future__ import annotations

import pytest

from burstline import wait_states
from burstline.answers import computing_places, verdict_on_waits
from halo import HALO, halo
from verdicts import verdict

FUNCTIONS = """
    path 4 assemble under 1 file a.c line 4
    path 5 solve under 1 file s.c line 6
    path 6 exp under 4
"""
ASSEMBLE, SOLVE, EXP = 4, 5, 6


def sampled(*samples, works=(100, 300)):
    """A run with late rank 1; samples, (rank, call path, periods), are in its first work."""
    lines = [
        f"{rank} | {20 + k} sample path {path} periods {periods}"
        for k, (rank, path, periods) in enumerate(samples)
    ]
    return halo(works, text=HALO + FUNCTIONS + "\n".join(lines))


def cause_of(trace):
    return verdict(wait_states(trace))[-1]


def test_the_function_in_which_the_late_rank_computes_longer_is_named():
    cause = cause_of(sampled((0, SOLVE, 20), (1, SOLVE, 20), (1, ASSEMBLE, 40)))

    assert "assemble at a.c:4 takes longer there than for those who wait" in cause
    assert "solve" not in cause
    assert "-finstrument-functions" not in cause
    # what a library without lines computes is of the function that calls it
    assert "assemble at a.c:4" in cause_of(sampled((0, EXP, 10), (1, EXP, 40)))


@pytest.mark.parametrize(
    "samples",
    [
        [],
        [(1, ASSEMBLE, 4)],  # too few to tell
        [(0, ASSEMBLE, 40), (1, ASSEMBLE, 40)],  # of all ranks alike
        [(1, ASSEMBLE, 20), (1, SOLVE, 20), (1, 0, 20)],  # no function has most of it
        [(0, SOLVE, 60), (1, SOLVE, 75)],  # as far apart as equal work is by chance
    ],
)
def test_without_a_function_that_stands_out_the_calls_around_are_named(samples):
    cause = cause_of(sampled(*samples))

    assert "computing from MPI_Recv, halo.c:11, or MPI_Barrier, main.c:9," in cause
    assert "with samples of call stacks, or compiled with -finstrument-functions" in cause


def test_the_facts_of_the_sentence_have_function_file_line_and_rank():
    trace = sampled((0, SOLVE, 20), (1, SOLVE, 20), (1, ASSEMBLE, 40))
    [cause] = [
        each for each in verdict_on_waits(wait_states(trace)) if each.question == "cause"
    ]
    places = [fact.place for fact in cause.facts if fact.place is not None]

    assert any(
        (place.rank, place.function, place.file, place.line) == (1, "assemble", "a.c", 4)
        for place in places
    )


@pytest.mark.parametrize(
    ("samples", "text"),
    [
        (
            [(0, SOLVE, 20), (1, SOLVE, 20), (1, ASSEMBLE, 60)],
            "in assemble (60.0 %), solve (40.0 %)",
        ),
        ([(0, SOLVE, 92), (1, ASSEMBLE, 8)], "in solve at s.c:6"),
        (
            [(0, SOLVE, 60), (1, SOLVE, 25), (1, ASSEMBLE, 5), (1, 0, 10)],
            "in solve (85.0 %), main (10.0 %)",
        ),
        ([(1, ASSEMBLE, 4)], None),  # too few to tell
    ],
)
def test_computing_is_in_the_functions_that_samples_saw(samples, text):
    waits = wait_states(sampled(*samples))
    [path, *_] = waits.places.functions

    assert computing_places(waits, [-1, path]) == ({} if text is None else {1: text})


def test_a_sample_in_a_call_says_nothing_of_computing():
    inside = [(f"1 | {315 + k} sample path {ASSEMBLE} periods 90") for k in range(2)]
    trace = halo((100, 300), text=HALO + FUNCTIONS + "\n".join(inside))

    assert "computing from MPI_Recv" in cause_of(trace)
