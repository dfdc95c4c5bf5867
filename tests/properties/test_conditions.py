"""What holds for the conditions in a loop: the kernel writes them as its slow twin does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burstline import _core
from burstline.structure.exact.body import loop_cost, trips_cost
from oracles import conditions as oracle
from oracles import loop_runs


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


@settings(max_examples=200)
@given(loop=loops())
def test_conditions_are_those_of_the_slow_twin(loop):
    assert_as_its_twin(*loop)


@given(
    long=loops(elements=5, longest=90),  # whose sets have several words
    many=loops(elements=24, longest=5, lanes=2),
)
def test_so_they_are_in_long_entries_and_of_many_neighbours(long, many):
    assert_as_its_twin(*long)
    assert_as_its_twin(*many)


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


@pytest.mark.parametrize(
    ("numbers", "once", "again"),
    [
        ({1, 4, 9}, 0, 0),
        ({1, 4, 6, 11}, 9, 0),  # four stretches are more than three
        ({1, 2, 3, 6, 7, 8, 11}, 3, 0),  # 2..4, 7..9, 12: five numbers are more than four
        ({1, 2, 3, 6, 7, 8, 11, 12, 13}, 5, 0),
        ({1, 2, 3, 6, 8, 10, 13, 15, 17}, 9, 5),  # 2..4, 7..11 by 2, 14..18 by 2: eight
    ],
)
def test_sets_are_long_lists_sooner_where_a_loop_is_entered_once(numbers, once, again):
    # an entry of one iteration, too, tells nothing of the rule once more
    for trips, lists in (([20], once), ([20, 1], once), ([20, 20], again)):
        place = np.concatenate([np.arange(n) for n in trips])
        loop = np.stack([place >= 0, np.isin(place, [*numbers])]), place == 0, 0 * place
        assert loop_cost(*loop).lists == lists
        assert_as_its_twin(*loop)


def test_what_holds_only_with_an_else_stands_in_it():
    place = np.tile(np.arange(6), 2)
    is_last = place == 5
    executed = np.stack([place >= 0, is_last, ~is_last, ~is_last & (place > 0)])
    loop = executed, place == 0, 0 * place

    # a loop of constant trips and four elements, if last iteration, else, if not first
    assert loop_cost(*loop).length == 2 + 4 + 2 + 0 + 2
    assert_as_its_twin(*loop)


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


@st.composite
def calls_of_loops(draw):
    """Draw calls on some lanes with gaps between entries, and the elements they are of."""
    symbols = draw(st.integers(1, 6))
    lanes = draw(
        st.lists(
            st.lists(st.integers(0, symbols - 1), min_size=1, max_size=25),
            min_size=1,
            max_size=3,
        )
    )
    symbol = np.array([each for own in lanes for each in own], np.int32)
    lane = np.repeat(np.arange(len(lanes)), [*map(len, lanes)])
    gap = np.array(draw(st.lists(st.booleans(), min_size=len(lane), max_size=len(lane))))
    begins = gap | (np.diff(lane, prepend=-1) > 0)
    place = np.cumsum(1 + gap)
    bounds = [0, *sorted(draw(st.sets(st.integers(1, symbols), max_size=3)) - {symbols})]
    of_symbol = np.searchsorted(bounds, np.arange(symbols), side="right") - 1
    count = len(bounds)
    is_loop = np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    some = st.sets(st.sampled_from(place.tolist()), max_size=4).map(sorted)
    again, cuts = np.array(draw(some), int), np.array(draw(some), int)
    apart = draw(st.sets(st.integers(0, count**2 - 1), max_size=3).map(sorted))
    elements = of_symbol.astype(np.int32), is_loop, again
    return (symbol, place, begins, lane), elements, np.array(apart, int), cuts


@settings(max_examples=200)
@given(loop=calls_of_loops())
def test_calls_are_read_as_iterations_as_the_slow_twin_reads_them(loop):
    calls, elements, apart, cuts = loop
    count = len(elements[1])
    run = loop_runs.loop_run(calls, elements)
    new = loop_runs.iteration_begins(run, count, apart, cuts)
    made = loop_runs.iterations(run, new)

    element, begins, lane, place = _core.loop_run(calls, elements)
    told = element, begins.view(bool), place, count, apart, cuts
    is_new = _core.iteration_begins(*told).view(bool)
    executed, *where = _core.loop_iterations(calls, elements, apart, cuts, 64)

    columns = [column.tolist() for column in (element, begins.view(bool), lane, place)]
    assert [*zip(*columns, strict=True)] == run
    assert is_new.tolist() == new
    rows = executed.reshape(count, -1)
    assert [{*np.flatnonzero(each).tolist()} for each in rows.T] == [each[0] for each in made]
    assert [*zip(*(column.tolist() for column in where), strict=True)] == [
        each[1:] for each in made
    ]
    irregular = _core.irregular_elements(element, begins.view(bool), is_new, count)
    assert irregular == loop_runs.irregular(made, count)
    few = len(made) * count / len(calls[0])
    assert (_core.loop_iterations(calls, elements, apart, cuts, 1) is None) == (few > 1)


@settings(max_examples=200)
@given(loop=loops(elements=4, longest=4))
def test_elements_are_irregular_that_are_so_for_the_slow_twin(loop):
    executed, begins, _ = loop
    rows = [{0, *(np.flatnonzero(each) + 1).tolist()} for each in executed.T]
    element = np.array([each for row in rows for each in sorted(row)], np.int32)
    new = element == 0
    first = np.zeros(len(element), bool)
    first[new] = begins
    count = len(executed) + 1

    irregular = _core.irregular_elements(element, first, new, count)

    assert irregular == loop_runs.irregular([*zip(rows, begins, strict=True)], count)


def test_what_begins_or_ends_entries_of_any_length_is_regular():
    begins = np.array([1, 0, 0, 1, 0], bool)
    for extra, irregular in (([0, 3], 0), ([2, 4], 0), ([0, 4], 1)):
        element = np.array([e for k in range(5) for e in ((0, 1) if k in extra else (0,))])
        new = element == 0
        first = new & (np.cumsum(new) - 1 == np.flatnonzero(begins)[:, None]).any(axis=0)

        found = _core.irregular_elements(element.astype(np.int32), first, new, 2)

        assert found == irregular


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
    calls = lane.astype(np.int32), lane, begins, lane
    elements = np.zeros(1, np.int32), begins[:1], lane[:0]
    with pytest.raises(ValueError, match="a place, and a lane"):
        _core.loop_run((calls[0], lane[:2], begins, lane), elements)
    with pytest.raises(ValueError, match="in no element"):
        _core.loop_run((calls[0] + 1, *calls[1:]), elements)
    with pytest.raises(ValueError, match="in no element"):
        _core.loop_iterations(calls, (elements[0] - 1, *elements[1:]), lane[:0], lane[:0], 1)
    with pytest.raises(ValueError, match="begins an entry or not"):
        _core.iteration_begins(calls[0], begins[:2], lane, 1, lane[:0], lane[:0])
    with pytest.raises(ValueError, match="or not"):
        _core.irregular_elements(calls[0], begins[:2], begins, 1)
    with pytest.raises(ValueError, match="is none"):
        _core.irregular_elements(calls[0] + 1, begins, begins, 1)
    with pytest.raises(ValueError, match="begin with an iteration"):
        _core.irregular_elements(calls[0], begins, ~begins, 1)
