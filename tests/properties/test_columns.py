"""Columns of integers: groups, ordinals and missing values are what one finds by hand."""

from __future__ import annotations

import itertools

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from burstline.columns import NO_VALUE, begins_run, distinct, ordinal_within, take

VALUES = st.one_of(st.integers(-3, 3), st.sampled_from([-(2**63), 2**63 - 1, 2**40]))


@given(st.integers(1, 3).flatmap(lambda n: st.lists(st.tuples(*[VALUES] * n), min_size=1)))
def test_each_row_is_told_the_first_one_that_is_equal(rows):
    first, which = distinct(*np.array(rows, np.int64).T)

    assert [rows[at] for at in first] == sorted(set(rows))
    assert [rows[at] for at in first[which]] == rows
    assert [rows.index(row) for row in rows] == first[which].tolist()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 1)), max_size=30))
def test_the_ordinal_of_a_row_is_the_number_of_its_like_before_it(rows):
    groups = np.array(rows, np.int64).reshape(-1, 2).T

    ordinals = ordinal_within(*groups).tolist()

    assert ordinals == [rows[:place].count(row) for place, row in enumerate(rows)]


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=30))
def test_a_row_begins_a_run_where_it_differs_from_the_row_before(rows):
    first = begins_run(*np.array(rows, np.int64).T)

    expected = [True] + [row != former for former, row in itertools.pairwise(rows)]
    assert first.tolist() == expected


@given(
    rows=st.lists(st.integers(-1, 4), max_size=10),
    values=st.lists(st.integers(0, 9), min_size=5, max_size=5),
)
def test_a_row_that_is_missing_takes_the_missing_value(rows, values):
    taken = take(np.array(values), np.array(rows, np.int64), NO_VALUE)

    assert taken.tolist() == [NO_VALUE if row < 0 else values[row] for row in rows]
