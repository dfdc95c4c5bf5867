"""The figures of how well a counter repeats are what they are said to be."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline.merge.trust.quality import VERDICTS, compare, distances, pearson
from oracles import quality

counts = st.integers(0, 50) | st.integers(0, 10**9)


def tables(values, least=0, most=30):
    """Make rows, one per burst with a value per run, and choose the base."""
    return st.integers(2, 4).flatmap(
        lambda runs: st.tuples(
            st.lists(
                st.lists(values, min_size=runs, max_size=runs), min_size=least, max_size=most
            ),
            st.integers(0, runs - 1),
            st.just(runs),
        )
    )


def array(rows, runs):
    filled = [[math.nan if value is None else value for value in row] for row in rows]
    return np.array(filled, float).reshape(len(rows), runs)


def close(found, expected):
    if expected is None or found is None:
        return found is expected
    return found == pytest.approx(float(expected), rel=1e-9, abs=1e-12)


@given(tables(counts | st.none()))
def test_figures_are_those_counted_burst_by_burst(case):
    rows, base, runs = case

    found = compare("C", array(rows, runs), base=base)
    expected = quality.figures(rows, base)

    assert found.bursts == expected["bursts"]
    assert found.appearing == expected["appearing"]
    assert close(found.below_30, expected["below_30"])
    for one, other in zip(found.correlations, expected["correlations"], strict=False):
        assert close(one, other)
    # a score on the fence may fall on either side by the last bit
    unclear = any(on_the_fence(array(rows, runs), base, relative) for relative in (False, True))
    assert unclear or close(found.mae, expected["mae"])
    assert unclear or close(found.relative_difference, expected["relative_difference"])


@given(st.integers(0, 2**32), st.integers(20, 80), st.integers(2, 4))
def test_means_leave_out_what_is_beyond_the_fence(seed, bursts, runs):
    random = np.random.default_rng(seed)
    table = 1000 + random.lognormal(3, 1.5, (bursts, runs)).astype(int)

    found = compare("C", table)
    expected = quality.figures(table.tolist(), 0)

    for relative, name in ((False, "mae"), (True, "relative_difference")):
        unclear = on_the_fence(table.astype(float), 0, relative)
        assert unclear or close(getattr(found, name), expected[name])


def on_the_fence(table, base, relative):
    """Whether a score lies so near the fence that rounding decides."""
    there = ~np.isnan(table)
    kept = there[:, base] & (there.sum(axis=1) >= 2)
    others = np.delete(table[kept], base, axis=1)
    mine = table[kept, base]
    score = np.abs(np.nanmean(others, axis=1) - mine) if kept.any() else mine
    if relative:
        score = score[mine > 0] / mine[mine > 0]
    if not len(score):
        return False
    low, high = np.quantile(score, [0.05, 0.95])
    fence = high + 1.5 * (high - low)
    near = np.abs(score - fence) <= 1e-9 * max(fence, 1e-9)
    return bool((near & (score > 0)).any())


@given(tables(counts, least=1))
def test_runs_that_counted_the_same_agree_in_everything(case):
    rows, base, runs = case
    table = np.repeat(np.array(rows, float)[:, :1], runs, axis=1)

    found = compare("C", table, base=base)

    varies = table.min() < table.max()
    assert found.verdict == ("trust" if table.any() else "no information")
    assert found.mae == 0
    assert found.relative_difference == (0 if table.any() else None)
    assert found.below_30 == (1 if table.any() else None)
    assert set(found.correlations) == ({1.0} if varies else {None})


@given(tables(counts, least=1), st.integers(0, 20))
def test_the_unit_of_a_counter_changes_its_mae_alone(case, power):
    rows, base, runs = case
    table = array(rows, runs)

    one, other = compare("C", table, base=base), compare("C", table * 2**power, base=base)

    assert other.mae == one.mae * 2**power
    assert other.relative_difference == one.relative_difference
    for name in ("below_30", "verdict", "per_run"):
        assert getattr(other, name) == getattr(one, name)
    for before, after in zip(one.correlations, other.correlations, strict=True):
        assert close(after, before)


@given(tables(counts, least=1), st.randoms())
def test_the_order_of_bursts_does_not_matter(case, random):
    rows, base, runs = case
    shuffled = random.sample(rows, len(rows))

    one, other = (compare("C", array(each, runs), base=base) for each in (rows, shuffled))

    for name in ("below_30", "verdict", "bursts"):
        assert getattr(one, name) == getattr(other, name)
    assert close(one.mae, other.mae)
    assert close(one.relative_difference, other.relative_difference)


@given(tables(counts, least=1))
def test_between_two_runs_correlation_and_mae_do_not_depend_on_which_is_the_base(case):
    rows, _, runs = case
    table = array(rows, runs)[:, :2]

    one, other = compare("C", table, base=0), compare("C", table, base=1)

    assert one.mae == other.mae
    assert one.correlations == other.correlations


@given(tables(st.none() | counts), st.booleans())
def test_what_is_told_to_programs_is_always_json(case, categories):
    rows, base, runs = case

    found = compare("C", array(rows, runs), base=base, categories=categories)

    document = found.as_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert found.verdict in VERDICTS


@given(tables(st.integers(-1, 3), least=1))
def test_of_names_the_difference_is_the_share_of_others_with_another_name(case):
    rows, base, runs = case

    found = compare("C", array(rows, runs), base=base, categories=True)

    shares = [sum(value != row[base] for value in row) / (len(row) - 1) for row in rows]
    assert found.mae == found.relative_difference == pytest.approx(np.mean(shares))
    assert found.below_30 == np.mean([share < 0.3 for share in shares])


@given(st.lists(st.tuples(counts, counts), min_size=2))
def test_correlation_is_that_of_numpy(pairs):
    one, other = np.array(pairs, float).T

    found = pearson(one, other)

    constant = one.min() == one.max() or other.min() == other.max()
    assert constant == (found is None)
    if found is not None:
        assert found == pytest.approx(np.corrcoef(one, other)[0, 1], abs=1e-9)


@given(tables(counts | st.none()))
def test_a_burst_is_as_far_as_its_base_is_from_the_mean_of_the_others(case):
    rows, base, runs = case
    rows = [row for row in rows if list(quality.compared([row], base))]
    values = array(rows, runs)

    found = distances(values, ~np.isnan(values), base)

    for away, (mine, others) in zip(found, quality.compared(rows, base), strict=True):
        assert away == pytest.approx(float(abs(mine - quality.mean(others))))
