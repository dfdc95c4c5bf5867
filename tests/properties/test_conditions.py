"""What holds for the conditions in a loop: the kernel writes them as its slow twin does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline import _core
from burstline.structure.exact.conditions import loop_cost, trips_cost
from oracles import conditions as oracle


@st.composite
def loops(draw, elements=7, longest=9, entries=4, lanes=3):
    """Draw which iterations execute what, which begin an entry, and the lane of each.

    At random; by rules of the places in entries; or some only where the first one is executed.
    """
    per_lane = st.lists(st.integers(1, longest), min_size=1, max_size=entries)
    trips = draw(st.lists(per_lane, min_size=1, max_size=lanes))
    lane = np.repeat(np.arange(len(trips)), [*map(sum, trips)])
    place = np.concatenate([np.arange(n) for own in trips for n in own])
    count = draw(st.integers(1, elements))
    seed = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    executed = seed.random((count, len(lane))) < draw(st.sampled_from([0.2, 0.5, 0.9]))
    for row in range(count):
        how = draw(st.sampled_from(["any", "rule", "inside", "else", "as before", "on a lane"]))
        if how == "rule":
            executed[row] = np.isin(place, draw(st.sets(st.integers(0, longest), max_size=6)))
        elif how == "inside":
            executed[row] &= executed[0]
        elif how == "else":
            executed[row] = ~executed[:row].any(axis=0)
        elif how == "as before" and row:
            executed[row] = executed[row - 1]
        elif how == "on a lane":
            executed[row] &= lane == draw(st.integers(0, len(trips) - 1))
    executed[~executed.any(axis=1)] = True
    return executed, place == 0, lane


def flat(parts):
    """Give the elements of a body as the kernel does."""
    for part in parts:
        yield from (part,) if isinstance(part, int) else (-1, *flat(part), -2)


def assert_as_its_twin(executed, begins, lane):
    twin = oracle.Level.of(executed, begins, lane)

    assert loop_cost(executed, begins, lane) == twin.cost()
    written = _core.conditional_body(executed, begins, lane)
    assert written.tolist() == [*flat(twin.written().parts)]


@given(loop=loops())
def test_conditions_are_those_of_the_slow_twin(loop):
    assert_as_its_twin(*loop)


@given(loop=loops(elements=5, longest=90))
def test_so_they_are_in_long_entries_whose_sets_have_several_words(loop):
    assert_as_its_twin(*loop)


@given(loop=loops(elements=24, longest=5, lanes=2))
def test_so_they_are_of_many_neighbours(loop):
    assert_as_its_twin(*loop)


@pytest.mark.parametrize("neighbours", [4, 5, 16, 17, 31, 32, 33, 34])
@pytest.mark.parametrize("is_else", [True, False])
def test_so_they_are_where_chains_and_ways_end(neighbours, is_else):
    # each in iterations of its own, the last of them in all others or now and then
    executed = np.arange(neighbours)[:, None] == np.arange(3 * neighbours) // 3
    executed[-1, ::2] |= not is_else
    executed[:, 5] &= is_else

    assert_as_its_twin(
        executed, np.arange(3 * neighbours) % 8 == 0, np.zeros(3 * neighbours, int)
    )


@given(
    lanes=st.lists(
        st.lists(st.integers(1, 4), min_size=1, max_size=12), min_size=1, max_size=3
    ),
    period=st.integers(1, 4),
    rise=st.none() | st.integers(0, 2),
    data=st.data(),
)
def test_trip_counts_cost_what_the_slow_twin_says(lanes, period, rise, data):
    numbers = np.concatenate([np.resize(own[:period], len(own)) for own in lanes])
    lane = np.repeat(np.arange(len(lanes)), [*map(len, lanes)])
    size = len(lane)
    place = np.array(data.draw(st.lists(st.integers(0, 5), min_size=size, max_size=size)))
    trips = numbers if rise is None else 1 + rise * place

    assert trips_cost(trips, lane, place) == oracle.trips_cost(trips, lane, place)
    assert trips_cost(trips, lane) == oracle.trips_cost(trips, lane)


def test_conditions_deep_in_others_are_written_all_the_same():
    depth = 5000
    executed = np.arange(depth)[:, None] <= np.arange(depth)[None]

    written = _core.conditional_body(executed, np.arange(depth) == 0, np.zeros(depth, int))

    assert written[written >= 0].tolist() == [*range(depth)]
    assert np.count_nonzero(written == -1) == np.count_nonzero(written == -2) == depth - 1


def test_kernels_refuse_what_is_no_loop():
    lane, begins = np.zeros(3, int), np.arange(3) == 0
    every = np.ones((2, 3), bool)
    for executed in (every[:, :2].copy(), every[:0], np.ones((3, 2), bool)):
        with pytest.raises(ValueError, match="executed, or not"):
            _core.loop_cost(executed, begins, lane)
    with pytest.raises(ValueError, match="executed, or not"):
        _core.loop_cost(every[:, :0].copy(), begins[:0], lane[:0])
    with pytest.raises(ValueError, match="in no iteration"):
        _core.loop_cost(~every, begins, lane)
    with pytest.raises(ValueError, match="begins with an entry"):
        _core.conditional_body(every, ~begins, lane)
    with pytest.raises(ValueError, match="each entry has a lane"):
        _core.trips_cost(lane, lane[:2], lane[:0])
    with pytest.raises(ValueError, match="each entry has a lane"):
        _core.trips_cost(lane[:0], lane[:0], lane[:0])
