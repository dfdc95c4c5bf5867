"""Entries that are told by counting, and iterations that are cut: laws of what is tried."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from burstline.structure.exact.cuts import cuts, cuts_by_trips, ends_in_two
from burstline.structure.exact.entries import as_many_on_all, equal_parts, sums_by_lane

seen_as_one = st.lists(st.integers(1, 3), min_size=2, max_size=5)


def run_together(counts, sizes):
    """Give the sums of some numbers, so many of them each."""
    counts = iter(counts)
    return [sum(itertools.islice(counts, size)) for size in sizes]


def is_sum_of(trips, first, rise):
    """Tell whether all trip counts are sums of some that rise, by walking through these."""
    counts = (first + rise * k for k in itertools.count())
    return all(_takes(counts, total) for total in trips)


def _takes(counts, total):
    left = total
    while left > 0:
        left -= next(counts)
    return left == 0


@given(
    firsts=st.lists(st.integers(1, 9), min_size=1, max_size=3),
    rise=st.integers(1, 3),
    sizes=seen_as_one.filter(lambda sizes: sum(sizes) > max(2, len(sizes))),
)
def test_entries_that_rise_from_another_first_on_each_lane_are_counted(firsts, rise, sizes):
    lanes = [
        [run_together((first + rise * k for k in range(sum(sizes))), sizes)] for first in firsts
    ]

    found = list(sums_by_lane([*lanes, []]))

    assert all(
        is_sum_of(part, first, by)
        for ways, by in found
        for parts, first in zip(lanes, ways, strict=False)
        for part in parts
    )
    own = next(ways for ways, by in found if by == rise)
    assert own[-1] == 0
    if len(set(firsts)) == 1:
        assert ((*firsts, 0), rise) in found
    else:
        assert all(a >= b for a, b in zip(own, firsts, strict=False)) or len({*own[:-1]}) == 1


@given(counts=st.lists(st.integers(1, 9), min_size=2, max_size=3), entries=st.integers(2, 6))
def test_entries_that_are_as_many_on_all_lanes_are_counted(counts, entries):
    whole, *others = ([[count] * entries] for count in counts)
    seen = [whole, *([[sum(part) for part in parts]] for parts in others)]

    assert as_many_on_all(seen) == tuple(counts)
    assert as_many_on_all([whole, *others]) == ()


@given(
    entries=st.lists(
        st.lists(st.sets(st.integers(0, 4), min_size=1), min_size=1, max_size=3),
        min_size=1,
        max_size=4,
    )
)
def test_an_end_is_cut_once_in_each_entry_where_no_element_goes_on(entries):
    iterations = [sorted(each) for entry in entries for each in entry]
    element = np.array([each for own in iterations for each in own], np.int32)
    new = np.array([k == 0 for own in iterations for k in range(len(own))])
    number = np.repeat(np.arange(len(entries)), [sum(map(len, each)) for each in entries])
    begins = np.append(True, number[1:] != number[:-1])

    for parted in ends_in_two(element, begins, new, 5):
        cut = np.flatnonzero(parted & ~new)
        assert (parted | ~new).all()
        assert len(cut)
        assert (np.bincount(number[cut]) <= 1).all()
        assert max(element[cut - 1]) < min(element[cut])
        iteration = np.cumsum(new) - 1
        places = iteration[cut] - iteration[np.flatnonzero(begins)][number[cut]]
        to_end = np.array([len(entries[n]) for n in number[cut]]) - 1 - places
        assert (places == 0).all() or (to_end == 0).all()


@given(first=st.integers(1, 5), hidden=st.integers(0, 2), entries=st.integers(4, 6))
def test_an_iteration_is_cut_where_that_makes_trip_counts_plainer(first, hidden, entries):
    # each entry has two iterations more; one makes the first call alone, the next the second
    trips = [first + 2 * k for k in range(entries)]
    place = np.concatenate([np.arange(n) for n in trips])
    at = first + hidden
    calls = [{at: (0,), at + 1: (1,)}.get(k, (0, 1)) for k in place.tolist()]
    runs_on = place == at + 1
    element = np.array([each for own in calls for each in own], np.int32)
    whole = np.array([k == 0 for own in calls for k in range(len(own))])
    number = np.repeat(np.arange(entries), trips)
    begins = np.append(True, np.diff(number) > 0)
    calls_before = np.append(0, np.cumsum([*map(len, calls)])[:-1])
    entered = np.zeros(len(element), bool)
    entered[calls_before[begins]] = True
    seen = whole.copy()
    seen[calls_before[runs_on]] = False

    ways = [*cuts_by_trips(element, entered, np.zeros(len(element), int), seen)]

    assert all((way | ~seen).all() for way in ways)
    assert any(np.array_equal(way, whole) for way in ways)


@given(
    entries=st.lists(
        st.lists(st.integers(0, 2), min_size=1, max_size=5), min_size=1, max_size=3
    ),
    times=st.integers(2, 4),
)
def test_entries_that_make_their_calls_several_times_are_parted_into_these(entries, times):
    calls = np.array([call for entry in entries for call in entry * times], np.int32)
    begin = np.cumsum([0, *(times * len(entry) for entry in entries)])
    begins = np.isin(np.arange(len(calls)), begin)

    found = equal_parts(calls, begins)

    bounds = np.append(np.sort(np.append(found, begin[:-1])), len(calls))
    parts = [calls[a:b].tobytes() for a, b in itertools.pairwise(bounds.tolist())]
    of_entry = np.searchsorted(begin, bounds[:-1], side="right")
    alike = [{parts[k] for k in np.flatnonzero(of_entry == n)} for n in np.unique(of_entry)]
    counts = np.bincount(of_entry)[1:]
    assert all(len(each) == 1 for each in alike)
    assert (counts == counts[0]).all()
    assert counts[0] % times == 0
    # and one that makes a call once more has nothing in common with them
    assert not len(equal_parts(np.append(calls, calls[:1] + 3), np.append(begins, True)))


def test_entries_are_cut_by_what_any_entry_of_their_lane_executes():
    # Element 0, which the longest entry does not know, is in the last entry of a lane alone.
    element, lane = np.array([1, 1, 2, 2, 0], np.int32), np.array([0, 0, 1, 1, 1])
    begins = np.array([True, False, True, True, False])
    new = np.array([True, True, True, True, False])

    (found,) = cuts(element, begins, lane, new)

    assert found.all()
