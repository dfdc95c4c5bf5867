"""The row that holds at a moment is the last one of its group until then."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from burstline.model import last_until

LEAST, MOST = -(2**63), 2**63 - 1
times = st.one_of(st.integers(0, 9), st.sampled_from([LEAST, -1, MOST - 1, MOST]))
rows = st.lists(st.tuples(st.integers(0, 3), times), max_size=12)


def columns(pairs):
    return tuple(np.array([pair[k] for pair in pairs], np.int64) for k in (0, 1))


@given(began=rows.map(sorted), asked=rows)
@example(began=[(0, LEAST)], asked=[(0, MOST)])  # their difference is no number of 64 bits
@example(began=[(1, 5)], asked=[(0, 5), (1, 4), (1, 5)])
def test_the_last_row_of_a_group_until_a_moment_is_found(began, asked):
    wanted = [
        max(
            (k for k, (group, time) in enumerate(began) if group == of and time <= moment),
            default=-1,
        )
        for of, moment in asked
    ]

    assert last_until(columns(began), columns(asked)).tolist() == wanted


def test_ordinals_of_32_bits_are_moments_too():
    ordinals = [np.array(each, np.int32) for each in ([0, 0], [3, 7], [0], [5])]

    assert last_until(tuple(ordinals[:2]), tuple(ordinals[2:])).tolist() == [0]
