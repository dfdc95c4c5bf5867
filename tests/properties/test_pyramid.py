"""Columns of a pyramid hold every nanosecond, and lose no kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline import _core
from burstline.errors import NotEnoughDataError
from burstline.timeline import KINDS, pyramid, summed_columns, timeline
from oracles.pyramid import levels
from random_traces import traces

FEW = 4


@st.composite
def rows_of_pieces(draw):
    """Pieces of some locations: (start, end, kind), with holes between some."""
    locations = []
    for _ in range(draw(st.integers(0, 3))):
        now, pieces = draw(st.integers(-5, 5)), []
        for length, hole, kind in draw(
            st.lists(
                st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(0, FEW - 1)),
                max_size=8,
            )
        ):
            pieces.append((now, now + length, kind))
            now += length + hole
        locations.append(pieces)
    return locations


def built(locations, first, width, columns, kinds=FEW):
    """By level: (locations, columns, kinds), from the kernel."""
    begin = np.cumsum([0, *map(len, locations)], dtype=np.int64)
    every = [piece for pieces in locations for piece in pieces]
    start, end, kind = (
        np.array([piece[k] for piece in every], kind)
        for k, kind in enumerate((np.int64, np.int64, np.uint8))
    )
    time = _core.pyramid(begin, start, end, kind, first, width, columns, kinds)
    return split_levels(time, len(locations), columns, kinds)


def split_levels(time, locations, columns, kinds):
    """By level: (locations, columns, kinds), each of half as many columns."""
    made = []
    while True:
        size = locations * columns * kinds
        made.append(time[:size].reshape(locations, columns, kinds))
        time = time[size:]
        if columns == 1:
            assert not len(time)
            return made
        columns = (columns + 1) // 2


@given(rows_of_pieces(), st.integers(-3, 3), st.integers(1, 7), st.integers(1, 9))
def test_the_kernel_is_its_slow_twin(locations, first, width, columns):
    made = built(locations, first, width, columns)
    for where, pieces in enumerate(locations):
        twin = levels(pieces, first, width, columns, FEW)
        assert [level[where].tolist() for level in made] == twin


def levels_of(line, columns):
    """How wide the finest columns of a timeline are, and the times of all levels."""
    span, locations = (line.first_ns, line.last_ns), line.locations.num_rows
    width, summed = pyramid.summed_columns(line, np.arange(locations), columns, span)
    count = summed.shape[1]
    time = pyramid._times(line, slice(0, locations), span, width, count)
    return width, split_levels(time, locations, count, len(KINDS))


@given(traces(), st.integers(1, 40))
def test_times_of_any_column_fill_it_and_agree_with_the_pieces(trace, columns):
    try:
        line = timeline(trace, burstline.wait_states(trace))
    except NotEnoughDataError:
        return
    if line.first_ns == line.last_ns:
        return
    span = line.first_ns, line.last_ns
    finest, made = levels_of(line, columns)
    totals = [*line.totals_ns().values()]
    for number, level in enumerate(made):
        assert level.sum(axis=(0, 1)).tolist() == totals
        width = finest << number
        begins = span[0] + width * np.arange(level.shape[1])
        lengths = np.minimum(begins + width, span[1]) - begins
        assert (level.sum(axis=2) == lengths).all()
    assert made[-1].shape[1] == 1


@given(traces(), st.integers(1, 40), st.integers(1, 3))
def test_sums_over_lanes_are_those_of_the_finest_columns(trace, columns, width):
    try:
        line = timeline(trace, burstline.wait_states(trace))
    except NotEnoughDataError:
        return
    span = line.first_ns, line.last_ns
    if span[0] == span[1]:
        return
    lane = np.arange(line.locations.num_rows) // width
    finest = levels_of(line, columns)[1][0]
    expected = [finest[lane == number].sum(axis=0).tolist() for number in range(lane.max() + 1)]

    for most in (1, 1 << 26):  # a location after the other, and all at once
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pyramid, "_MOST_BYTES", most)
            _, summed = summed_columns(line, lane, columns, span)
        assert summed.tolist() == expected


def test_a_single_wait_of_a_microsecond_among_a_million_bursts_is_in_every_column_around_it():
    count, wait = 1_000_000, KINDS.index("late_sender")
    kind = np.zeros(count, np.uint8)
    kind[777_777] = wait
    start = np.arange(count, dtype=np.int64) * 1000
    begin = np.array([0, count], np.int64)
    time = _core.pyramid(begin, start, start + 1000, kind, 0, 1_000_000, 1000, len(KINDS))
    columns, seen = 1000, []
    while True:
        level, time = np.split(time, [columns * len(KINDS)])
        of_wait = level.reshape(columns, len(KINDS))[:, wait]
        seen.append(np.flatnonzero(of_wait).tolist())
        assert of_wait.sum() == 1000
        if columns == 1:
            break
        columns = (columns + 1) // 2
    assert seen == [[777 >> level] for level in range(11)]


@pytest.mark.parametrize(
    ("pieces", "columns", "what"),
    [
        (([0, 1], [5], [4], [0]), (0, 1, 1), "out of order"),
        (([0, 2], [0, 1], [2, 3], [0, 0]), (0, 1, 1), "out of order"),
        (([0, 1], [0], [2], [9]), (0, 1, 1), "no kind"),
        (([0, 2], [0], [2], [0]), (0, 1, 1), "do not fit"),
        (([], [], [], []), (0, 1, 1), "do not fit"),
        (([0, 0], [], [], []), (0, 1, 0), "no column"),
        (([0, 0], [], [], []), (0, 0, 1), "no column"),
        (([0, 0], [], [], []), (1 << 62, 1 << 62, 1 << 10), "past the last time"),
        (([0, 0], [], [], []), (-9, 1 << 62, 1 << 10), "all time"),
    ],
)
def test_columns_that_make_no_sense_are_refused(pieces, columns, what):
    begin, start, end = (np.array(column, np.int64) for column in pieces[:3])
    with pytest.raises(ValueError, match=what):
        _core.pyramid(begin, start, end, np.array(pieces[3], np.uint8), *columns, FEW)
