"""The laws of scores of profiles, and the twin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline.comparison import compare, j_c, j_mc
from burstline.comparison.scores import jaccard
from oracles import comparison as twin
from small_profiles import TREE, profiles

SETS = ("time-tree", "fig1", "all")
functions = st.lists(st.integers(0, 50), min_size=4, max_size=4).map(np.array)


def scaled(profile, factor):
    stored = {
        name: replace(each, values=each.values * factor)
        for name, each in profile.stored.items()
    }
    return replace(profile, stored=stored)


@given(profiles, profiles)
def test_scores_are_those_of_the_twin(a, b):
    assert j_mc(a, b) == pytest.approx(
        twin.score(twin.shares_of_time(a), twin.shares_of_time(b))
    )
    for metric in TREE:
        expected = twin.score(*(twin.shares_of_metric(each, metric) for each in (a, b)))
        assert j_c(a, b, metric) == pytest.approx(expected)


@pytest.mark.parametrize("metrics", SETS)
@given(profiles, profiles)
def test_a_score_lies_between_0_and_1_and_is_symmetric(metrics, a, b):
    score = j_mc(a, b, metrics=metrics)

    assert 0 <= score <= 1
    assert j_mc(b, a, metrics=metrics) == pytest.approx(score)


@given(profiles, profiles)
def test_the_score_is_1_exactly_where_shares_are_equal(a, b):
    [pair] = compare([a, b]).pairs

    assert j_mc(a, a) == 1
    assert (pair.j_mc == pytest.approx(1, abs=1e-12)) == all(
        abs(first - second) < 1e-12 for *_, (first, second) in compare([a, b]).differences(pair)
    )


@given(functions, functions)
def test_of_normalised_functions_it_follows_from_the_difference(a, b):
    if not (a.any() and b.any()):
        return
    a, b = a / a.sum(), b / b.sum()
    d = np.abs(a - b).sum() / 2

    assert jaccard(a, b) == pytest.approx((1 - d) / (1 + d))


@given(profiles, profiles, st.sampled_from([2.0, 4096.0, 0.125]))
def test_a_longer_run_of_the_same_shares_has_the_same_score(a, b, factor):
    assert j_mc(scaled(a, factor), b) == j_mc(a, b)
    assert j_mc(scaled(a, factor), a) == 1


@given(st.lists(profiles, min_size=2, max_size=5))
def test_the_minimum_is_that_of_a_pair_and_no_pair_is_below_it(several):
    comparison = compare(several)

    assert len(comparison.pairs) == len(several) * (len(several) - 1) / 2
    assert comparison.j_mc == min(pair.j_mc for pair in comparison.pairs)
    for pair in comparison.pairs:
        alone = j_mc(several[pair.first], several[pair.second])
        assert pair.j_mc == pytest.approx(alone)
        assert all(comparison.j_c[metric] <= score for metric, score in pair.j_c.items())


@given(st.lists(profiles, min_size=1, max_size=3), profiles)
def test_repetitions_that_are_equal_are_their_own_mean(others, profile):
    once = compare([profile], others)
    often = compare([profile] * 3, others)

    assert often.j_mc == pytest.approx(once.j_mc)
    assert often.run_to_run == (1.0, once.run_to_run[1])


@given(profiles)
def test_shares_of_the_tree_of_time_add_up_to_1(profile):
    comparison = compare([profile, profile])
    whole = 1.0 if profile.total("time") else 0.0

    assert comparison.shares.sum(axis=(1, 2)) == pytest.approx([whole] * 2)


@given(profiles, profiles)
def test_differences_come_largest_first_and_explain_the_score(a, b):
    comparison = compare([a, b])
    apart = [abs(first - second) for *_, (first, second) in comparison.differences()]

    assert apart == sorted(apart, reverse=True)
    if a.total("time") and b.total("time"):
        d = sum(apart) / 2
        assert comparison.j_mc == pytest.approx((1 - d) / (1 + d))
