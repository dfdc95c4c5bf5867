"""Rows that differ are found as one finds them by hand."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from burstline.formats.distinct import distinct

VALUES = st.one_of(st.integers(-3, 3), st.sampled_from([-(2**63), 2**63 - 1, 2**40]))


@given(st.integers(1, 3).flatmap(lambda n: st.lists(st.tuples(*[VALUES] * n), min_size=1)))
def test_each_row_is_told_the_first_one_that_is_equal(rows):
    first, which = distinct(*np.array(rows, np.int64).T)

    assert [rows[at] for at in first] == sorted(set(rows))
    assert [rows[at] for at in first[which]] == rows
    assert [rows.index(row) for row in rows] == first[which].tolist()
