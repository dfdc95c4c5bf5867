"""Variants of the published matching."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline.merge.matching import match
from burstline.merge.model import Published
from burstline.merge.published import pair_optimally
from burstline.testing import trace_of
from oracles import merging
from properties.test_merge_kernels import burst, grouped

bursts = st.lists(burst, max_size=5).map(sorted)


def best(ours, theirs, *, both_sizes):
    """Give as many pairs as can be, and the least sum of S of so many, by trying all."""
    found = (0, 0.0)
    places = [*range(len(theirs)), *[-1] * len(ours)]
    for chosen in set(permutations(places, len(ours))):
        pairs = [(k, m) for k, m in enumerate(chosen) if m >= 0]
        costs = [
            merging.unlikeness(ours[k], theirs[m], both_sizes=both_sizes) for k, m in pairs
        ]
        if all(cost < 0.3 for cost in costs):
            found = min(found, (-len(pairs), sum(costs)))
    return -found[0], found[1]


@given(bursts.filter(lambda rows: len(rows) <= 3), bursts, st.booleans())
def test_an_optimal_assignment_has_most_pairs_and_of_those_the_least_sum(
    ours, theirs, both_sizes
):
    sides = grouped([ours]), grouped([theirs])
    same = pair_optimally(*sides, Published(both_sizes=both_sizes))

    pairs = [(k, int(m)) for k, m in enumerate(same) if m >= 0]
    costs = [merging.unlikeness(ours[k], theirs[m], both_sizes=both_sizes) for k, m in pairs]
    count, least = best(ours, theirs, both_sizes=both_sizes)
    assert len({m for _, m in pairs}) == len(pairs) == count
    assert sum(costs) == pytest.approx(least)


def run(*calls):
    text = ["ranks 1 | 0"]
    for k, call in enumerate(calls):
        name, _, more = call.partition(" ")
        text += [f"{10 * k} enter MPI_{name} {more}".rstrip(), f"{10 * k + 4} leave"]
    return trace_of(" | ".join(text))


def matched(matching):
    pairs = matching.pairs.select(["burst_0", "burst_1"]).drop_null()
    return {tuple(row.values()) for row in pairs.to_pylist()}


def test_aligned_spans_survive_an_extra_collective():
    work = ["Send", "Recv", "Recv", "Allreduce"]
    one = run("Init", *work, *work[1:], *work)
    other = run("Init", *work, "Barrier", *work[:2], "Allreduce", *work)

    counted = match([one, other], method="seed")
    aligned = match([one, other], method="seed", options=Published(aligned_spans=True))

    last = one.rows("bursts") - 1, other.rows("bursts") - 1
    assert (last[0] - 1, last[1] - 1) not in matched(counted)
    assert (last[0] - 1, last[1] - 1) in matched(aligned)
