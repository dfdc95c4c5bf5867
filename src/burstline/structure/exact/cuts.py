"""Where iterations of a loop begin that run on into the one before, as other entries tell.

The calls of two iterations look like those of one where they come in the order of the body. An
entry that ends between them tells them apart, and so does a longer one that does the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from burstline.columns import Integers, Mask, mask_at
from burstline.structure.exact.body import Cost, trips_cost

_MOST_WORK: Final = 2_000_000
"""Elements that are looked at to find cuts."""

_MOST_PLACES: Final = 4
"""Places of which one is cut in each entry."""

_FEWEST_ENTRIES: Final = 4
"""Entries of a lane whose trip counts tell where to cut: three are made linear by chance."""

_PLAIN_TRIPS: Final = Cost(0, 2).words
"""Trip counts that are constant on each lane, or linear, cost no more."""

Elements = tuple[int, ...]


def cuts(
    element: npt.NDArray[np.int32], begins: Mask, lane: Integers, new: Mask
) -> Iterator[Mask]:
    """Ways to cut the iterations of a loop, that begin where `new` says, into more."""
    bounds = [*np.flatnonzero(begins).tolist(), len(element)]
    ends = new | _ends_of_others(element, bounds)
    for base in (ends, new) if (ends != new).any() else (new,):
        ways = [base, *(base | each for each in _like_the_longest(element, bounds, lane, base))]
        different = {way.tobytes(): way for way in ways}
        yield from (way for way in different.values() if (way != new).any())


def ends_in_two(
    element: npt.NDArray[np.int32], begins: Mask, new: Mask, elements: int
) -> Iterator[Mask]:
    """Ways to cut first iterations of all entries before some element in two, or last ones."""
    iteration = np.cumsum(new) - 1
    entered = begins[new]
    for of_entry in (entered, np.append(entered[1:], True)):
        inside = of_entry[iteration] & ~new
        for one in range(1, elements):
            found = inside & (element >= one)
            found[1:] &= element[:-1] < one
            if found.any():
                yield new | found


def _ends_of_others(element: npt.NDArray[np.int32], bounds: Sequence[int]) -> Mask:
    """Where another entry ends that begins as one does."""
    found = np.zeros(len(element), np.bool_)
    entries: dict[bytes, list[int]] = {}
    for begin, end in pairwise(bounds):
        entries.setdefault(element[begin:end].tobytes(), []).append(begin)
    lengths = sorted(set(map(len, entries)))
    if len(lengths) * element.nbytes <= _MOST_WORK:
        for text, begins in entries.items():
            for length in lengths[: lengths.index(len(text))]:
                if text[:length] in entries:
                    found[np.array(begins) + length // element.itemsize] = True
    return found


def _like_the_longest(
    element: npt.NDArray[np.int32], bounds: Sequence[int], lane: Integers, new: Mask
) -> Iterator[Mask]:
    """Where iterations begin in entries that do as the longest one, the last early, or late."""
    if len(element) > _MOST_WORK or len(bounds) == 2:  # nothing is like the only entry
        return
    executed, begins = element.tolist(), np.flatnonzero(new)
    at = np.searchsorted(begins, bounds).tolist()
    starts = begins.tolist()
    ends = [[*starts[at[k] : at[k + 1]], bounds[k + 1]] for k in range(len(bounds) - 1)]
    model = ends[int(np.argmax([*map(len, ends)]))]
    longest = [set(executed[a:b]) for a, b in pairwise(model)]
    known = set[int]().union(*longest)
    known_ways: dict[tuple[int, Elements], list[list[int]]] = {}
    like: dict[int, list[Elements]] = {}
    found: tuple[list[int], list[int]] = [], []
    lanes = lane[bounds[:-1]].tolist()
    last_of = {on: own[-1] for on, own in zip(lanes, ends, strict=True)}
    for on, own in zip(lanes, ends, strict=True):
        begin, end = own[0], own[-1]
        entry = tuple(executed[begin:end])
        if on not in like:
            here = set(executed[begin : last_of[on]])
            # what the longest entry does not know is executed in each iteration
            like[on] = [tuple(sorted(here & each | here - known)) for each in longest]
            like[on].append(tuple(sorted(here & longest[-1])))
        if (on, entry) not in known_ways:
            *alike, last = like[on]
            known_ways[on, entry] = _parted(entry, own[-2] - begin, alike, last)
        ways = known_ways[on, entry]
        for way, places in zip((ways[0], ways[-1]), found, strict=True):
            places += [begin + k for k in way]
    for places in found:
        yield mask_at(places, len(element))


def cuts_by_trips(
    element: npt.NDArray[np.int32], begins: Mask, lane: Integers, new: Mask
) -> Iterator[Mask]:
    """Ways to cut one iteration of each entry, so that trip counts follow a plainer rule."""
    entry = np.flatnonzero(begins)
    trips = np.add.reduceat(new, entry, dtype=np.int64)
    on = lane[entry]
    least = trips_cost(trips, on).words
    if least <= _PLAIN_TRIPS or np.bincount(on).max() < _FEWEST_ENTRIES:
        return
    inside = np.flatnonzero(~new)
    of_entry = np.cumsum(begins)[inside] - 1
    number = np.cumsum(new)
    iteration = number[inside] - number[entry[of_entry]]
    count = int(element.max()) + 1
    place = (iteration * count + element[inside - 1]) * count + element[inside]
    order = np.argsort(place, kind="stable")
    ends = np.flatnonzero(np.diff(place[order], append=-1)) + 1
    if len(ends) * len(trips) > _MOST_WORK:
        return
    found: list[tuple[tuple[int, ...], int, Integers]] = []
    for some in np.split(order, ends[:-1]):
        more = np.bincount(of_entry[some], minlength=len(trips))
        if (words := trips_cost(trips + more, on).words) < least:
            found.append((words, len(found), some))
    for _, _, some in sorted(found)[:_MOST_PLACES]:
        parted = new.copy()
        parted[inside[some]] = True
        yield parted


def _parted(
    entry: Elements, last_seen: int, alike: Sequence[Elements], last: Elements
) -> list[list[int]]:
    """Where an entry is parted whose iterations are like some, but for the last of them.

    By where the last iteration that is seen to begin does so: what is behind may be the last.
    """
    at, parted = 0, [0]
    ways: list[tuple[int, list[int]]] = []
    for iteration in alike:
        if at >= last_seen:
            rest = entry[at:]
            ways.append((2 if rest in {last, alike[-1]} else int(rest == iteration), parted))
        following = at + len(iteration)
        if entry[at:following] != iteration or following >= len(entry):
            break
        if iteration:
            at = following
            parted = [*parted, at]
    most = max((like for like, _ in ways), default=0)
    return [way for like, way in ways if like == most] or [[]]
