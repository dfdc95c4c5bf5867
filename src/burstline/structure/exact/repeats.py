"""Sites by what is repeated: without lines, one name may stand for several calls."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline.columns import Integers, Mask, dense, prefix_sums
from burstline.identity import Site, Sites

Codes = npt.NDArray[np.int32]

_FIRST_TIMES: Final = (2, 3)
"""What is folded first: all that is repeated, or what is repeated more than by chance."""

_WORK_PER_CALL: Final = 200
_ALIGNING: Final = 10_000_000
"""Pairs of places that are compared to tell which of two lanes are the same."""

_MOST_SITES: Final = 64
"""Sites for one of before; a program that seems to have more is not regular enough."""

_MOST_OF_ANY, _CALLS_PER_SITE = 64, 4
"""Sites of any program, and calls of a lane for each if it has more: else it is but a list."""


def refined_sites(sites: Sites, lane_begin: Integers) -> list[Sites]:
    """The same calls, in several ways, with more sites for those without a line of source."""
    uncertain = np.array([not s.path or s.path[-1].line is None for s in sites.distinct])
    if not uncertain.any():
        return []
    ways: list[Sites] = []
    for times in _FIRST_TIMES:
        way = _refined_once(sites, lane_begin, uncertain, times)
        if way and not any(np.array_equal(way.of_call, other.of_call) for other in ways):
            ways.append(way)
    return ways


def _refined_once(
    sites: Sites, lane_begin: Integers, uncertain: Mask, first_times: int
) -> Sites | None:
    count = len(sites)
    place, former = _folded_places(sites, lane_begin, uncertain, first_times)
    if len(former) > _MOST_SITES * count:
        return None
    codes = np.where(uncertain[sites.of_call], count + place, sites.of_call)
    of_call, keys = dense(codes, count + len(former))
    longest = int(np.diff(lane_begin).max())
    if len(keys) == count or len(keys) > max(_MOST_OF_ANY, longest // _CALLS_PER_SITE):
        return None
    numbers = np.concatenate([np.arange(count), former])[keys]
    general = [Site(site.operation, site.path, site.communicator) for site in sites.distinct]
    distinct = tuple(general[number] for number in numbers.tolist())
    return Sites(of_call.astype(np.int32), distinct, sites.has_paths)


def _folded_places(
    sites: Sites, lane_begin: Integers, uncertain: Mask, first_times: int
) -> tuple[Integers, Integers]:
    """Where each call stands with repeats folded, and a former site of each such place."""
    # Without paths, sites differ by the partner's place beside the caller: that tells what is
    # repeated, but ranks that have other partners at the same place run the same program. So
    # ranks that make the same calls are folded as one.
    kinds = _first_alike([(s.operation, s.path, s.communicator) for s in sites.distinct])
    teams = _lanes_alike(kinds[sites.of_call], lane_begin)
    sequences, symbols, former = [], 0, []
    for lanes in teams:
        sequence, first = _joined_sequence(sites.of_call, lane_begin, lanes, len(sites))
        sequences.append(sequence + symbols)
        former.append(first)
        symbols += len(first)
    begin = prefix_sums(np.array([len(sequence) for sequence in sequences]))
    site_of_symbol = np.concatenate(former)
    place, symbol = _core.fold_sites(
        np.concatenate(sequences).astype(np.int32),
        begin,
        _first_alike(kinds[site_of_symbol].tolist()),
        first_times,
        _WORK_PER_CALL * len(sites.of_call),
    )
    site = site_of_symbol[symbol]
    of_team = [place[start:end] for start, end in pairwise(begin.tolist())]
    programs = [own[uncertain[site[own]]] for own in map(_in_first_order, of_team)]
    place = _aligned_places(programs, kinds[site])[place]
    of_lane = dict.fromkeys(range(len(lane_begin) - 1), place)
    for lanes, (start, end) in zip(teams, pairwise(begin.tolist()), strict=True):
        of_lane |= dict.fromkeys(lanes, place[start:end])
    return _without_pairs(np.concatenate(list(of_lane.values())), site, lane_begin)


def _without_pairs(
    place: Integers, former: Integers, lane_begin: Integers
) -> tuple[Integers, Integers]:
    """The places with two for one that is always taken twice in a row: no loop is as short."""
    begins = np.ones(len(place), np.bool_)
    begins[1:] = place[1:] != place[:-1]
    begins[lane_begin[:-1][np.diff(lane_begin) > 0]] = True
    first = np.flatnonzero(begins)
    length = np.diff(np.append(first, len(place)))
    is_pair = np.ones(len(former), np.bool_)
    is_pair[place[first[length != 2]]] = False
    pairs = np.flatnonzero(is_pair)
    second = np.full(len(former), -1)
    second[pairs] = len(former) + np.arange(len(pairs))
    split = place.copy()
    split[~begins & is_pair[place]] = second[place[~begins & is_pair[place]]]
    return split, np.concatenate([former, former[pairs]])


def _lanes_alike(kinds: Codes, lane_begin: Integers) -> list[list[int]]:
    """The lanes whose calls are of the same kinds, one after another."""
    teams: dict[bytes, list[int]] = {}
    for lane, (begin, end) in enumerate(pairwise(lane_begin.tolist())):
        teams.setdefault(kinds[begin:end].tobytes(), []).append(lane)
    return list(teams.values())


def _joined_sequence(
    of_call: Codes, lane_begin: Integers, lanes: Sequence[int], count: int
) -> tuple[Integers, Integers]:
    """The calls of lanes alike as one sequence, of symbols equal where all are; their sites."""
    bounds = [slice(lane_begin[lane], lane_begin[lane + 1]) for lane in lanes]
    together, keys = dense(of_call[bounds[0]].astype(np.int64), count)
    for calls in bounds[1:]:
        together, keys = dense(together * count + of_call[calls], len(keys) * count)
    first = np.zeros(len(keys), np.int64)
    first[together[::-1]] = of_call[bounds[0]][::-1]
    return together, first


def _in_first_order(places: Integers) -> Integers:
    """Different places, in the order in which they are first taken."""
    return places[np.sort(np.unique(places, return_index=True)[1])]


def _aligned_places(programs: Sequence[Integers], kinds: Codes) -> Integers:
    """For each place, the one of a program before that it is, by what stands around both."""
    same = np.arange(len(kinds))
    program: list[int] = []
    work_left = _ALIGNING
    for own in (each.tolist() for each in programs):
        work_left -= len(own) * len(program)
        if work_left < 0:
            break
        if set(own) <= set(program):
            continue
        both = SequenceMatcher(
            None, kinds[program].tolist(), kinds[own].tolist(), autojunk=False
        )
        merged: list[int] = []
        for what, a, b, c, d in both.get_opcodes():
            merged += program[a:b]
            if what == "equal":
                same[own[c:d]] = program[a:b]
            else:
                merged += own[c:d]
        program = merged
    return same


def _first_alike(things: Sequence[Hashable]) -> Codes:
    """The place of the first that is equal, of each thing."""
    first: dict[Hashable, int] = {}
    places = [first.setdefault(thing, place) for place, thing in enumerate(things)]
    return np.array(places, np.int32)
