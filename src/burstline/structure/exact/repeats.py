"""Sites by what is repeated: without lines, one name may stand for several calls."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline.columns import (
    Integers,
    Mask,
    begins_run,
    dense,
    placed,
    prefix_sums,
    ranges,
    run_lengths,
)
from burstline.identity import Site, Sites
from burstline.structure.kinds import alike_lanes, in_first_order, lanes_of

Codes = npt.NDArray[np.int32]

_FIRST_TIMES: Final = (2, 3)
"""What is folded first: all that is repeated, or what is repeated more than by chance."""

_WORK_PER_CALL: Final = 200
_ALIGNING: Final = 10_000_000
"""Pairs of places that are compared to tell which of two lanes are the same."""

_MOST_OF_ANY, _CALLS_PER_SITE = 64, 4
"""Sites of any program, and calls of a lane for each if it has more: else it is but a list."""

_NEIGHBOURS: Final = (3, 5)
"""Calls before and behind one that tell its site, before sites are united."""

_MOST_UNITED: Final = 200
"""Sites that are united; of more it takes too long to compare each two."""

_UNITING_PER_CALL: Final = 5000
_MOST_UNITING: Final = 100_000_000
"""Calls that are looked at to unite sites."""

_LONGER, _PLUS = 1.5, 16
"""Up to which cost, beside the least, the sites are read that a trace tells by itself."""


def likely_sites(sites: Sites, lane_begin: Integers) -> list[Sites]:
    """The same calls, in several ways: at more sites or fewer where no line tells which."""
    uncertain = np.array([not s.path or s.path[-1].line is None for s in sites.distinct])
    if not uncertain.any() or _is_at_ends(sites, lane_begin, uncertain):
        return [sites]
    # Lanes that make the same calls tell the same.
    first, of_lane = alike_lanes(sites.of_call, lane_begin)
    begin = prefix_sums(np.diff(lane_begin)[first])
    own = Sites(lanes_of(sites.of_call, lane_begin, first), sites.distinct, sites.has_paths)
    work = _WORK_PER_CALL * len(sites.of_call)
    ways, is_likely = _ways(own, begin, uncertain, work)
    others = [
        Sites(lanes_of(way.of_call, begin, of_lane), way.distinct, way.has_paths)
        for way in ways
    ]
    return [sites, *others] if is_likely else others


def _is_at_ends(sites: Sites, lane_begin: Integers, uncertain: Mask) -> bool:
    """Whether only the first and last calls of lanes have no line, each name at one site."""
    if len(np.unique(kinds_of(sites)[uncertain])) < uncertain.sum():
        return False
    calls = np.flatnonzero(uncertain[sites.of_call])
    lane = np.searchsorted(lane_begin, calls, side="right")
    made = lane * len(sites) + sites.of_call[calls]
    at_end = (calls == lane_begin[lane - 1]) | (calls + 1 == lane_begin[lane])
    return bool(at_end.all()) and len(np.unique(made)) == len(made)


def kinds_of(sites: Sites) -> Codes:
    """What is equal for sites that differ in nothing but the partner."""
    return _first_alike([(s.operation, s.path, s.communicator) for s in sites.distinct])


def _ways(
    sites: Sites, lane_begin: Integers, uncertain: Mask, work: int
) -> tuple[list[Sites], bool]:
    """Other ways of the same calls, and whether the one that the trace tells is likely."""
    kinds = kinds_of(sites)
    calls = TeamCalls.of(sites, kinds[sites.of_call], lane_begin)
    told = calls.told

    def numbered(of_call: Integers) -> Codes:
        return numbered_from_0(np.where(uncertain[told], len(sites) + of_call, told))

    folded = [
        numbered(_folded_places(sites, lane_begin, uncertain, times, work)[calls.first])
        for times in reversed(_FIRST_TIMES)
    ]
    longest = int(np.diff(lane_begin).max(initial=0))
    if longest <= _MOST_OF_ANY:
        folded.append(numbered(calls.aligned(kinds[calls.told])))
    # partners differ between lanes at one place: what is united has the same
    first = numbered_from_0(folded[0].astype(np.int64) * len(sites) + told)
    starts = [first, *(numbered(calls.neighbours(reach)) for reach in _NEIGHBOURS)]
    united = [
        numbered_from_0(calls.united(told, way)[0])
        for way in starts
        if way.max(initial=0) < _MOST_UNITED
    ]
    most = max(_MOST_OF_ANY, longest // _CALLS_PER_SITE)
    ways = {w.tobytes(): w for w in (*united, *folded) if w.max(initial=0) < most}
    known = numbered_from_0(told)
    alike = kinds[told]
    costs = [calls.united(alike, way, work=0)[1] for way in (known, *ways.values())]
    found = [calls.sites(way, sites) for way in ways.values()]
    known_calls = numbered_from_0(sites.of_call)
    found = [w for w in found if not np.array_equal(numbered_from_0(w.of_call), known_calls)]
    return found, not united or costs[0] <= _LONGER * min(costs) + _PLUS


@dataclass(frozen=True, slots=True, eq=False)
class TeamCalls:
    """The calls of lanes, of lanes alike those of one."""

    told: Codes  # the sites of the teams' calls: partners tell which are not the same
    begin: Integers  # (teams + 1,) where the calls of each team begin
    of_call: Integers  # (calls,) the place of each call among those of the teams
    first: Integers  # (teams' calls,) the first call that each stands for

    @classmethod
    def of(cls, sites: Sites, kinds: Codes, lane_begin: Integers) -> TeamCalls:
        """The calls of some lanes, by what is alike."""
        first_lanes, team = alike_lanes(kinds, lane_begin)
        lengths = np.diff(lane_begin)
        begin = prefix_sums(lengths[first_lanes])
        of_call = ranges(begin[team], lengths)
        first = placed(np.arange(len(kinds))[::-1], of_call[::-1], begin[-1])
        return cls(sites.of_call[first], begin, of_call, first)

    def neighbours(self, reach: int) -> Integers:
        """Numbers of the calls, equal for those of a site with others of like sites around."""
        lane = np.repeat(np.arange(len(self.begin) - 1), np.diff(self.begin))
        most = int(self.told.max(initial=0)) + 2
        number = self.told.astype(np.int64)
        for distance in range(1, reach + 1):
            near, far = slice(None, -distance), slice(distance, None)
            both = lane[near] == lane[far]
            for here, there in ((near, far), (far, near)):
                beside = np.zeros(len(lane), np.int64)
                beside[here] = np.where(both, 1 + self.told[there], 0)
                number = numbered_from_0(number * most + beside).astype(np.int64)
        return number

    def aligned(self, kinds: Codes) -> Integers:
        """The places of the calls in one program of calls that are made once at most."""
        places = np.arange(len(kinds))
        own = [places[begin:end] for begin, end in pairwise(self.begin.tolist())]
        return _aligned_places(own, kinds)

    def way(self, sites: Sites) -> Codes:
        """The sites of the teams' calls, of those of all calls."""
        return numbered_from_0(sites.of_call[self.first])

    def united(
        self, symbols: Codes, sites: Codes, work: int | None = None
    ) -> tuple[Integers, int]:
        """The sites, united as far as that makes them cost less, and what they cost."""
        work = min(_UNITING_PER_CALL * len(sites), _MOST_UNITING) if work is None else work
        return _core.unite_sites(symbols, self.begin, sites, work)

    def sites(self, way: Codes, told: Sites) -> Sites:
        """All calls, at the sites that one way has for those of the teams."""
        first = self.first[np.unique(way, return_index=True)[1]]
        general = [told.distinct[number] for number in told.of_call[first].tolist()]
        distinct = tuple(Site(s.operation, s.path, s.communicator) for s in general)
        return Sites(way[self.of_call], distinct, told.has_paths)


def numbered_from_0(values: Integers | Codes) -> Codes:
    """Numbers from 0, equal where values are, in the order in which they are first there."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    place = np.empty(len(first), np.int32)
    place[np.argsort(first)] = np.arange(len(first))
    return place[inverse]


def _folded_places(
    sites: Sites, lane_begin: Integers, uncertain: Mask, first_times: int, work: int
) -> Integers:
    """Where each call stands with repeats folded."""
    # Without paths, sites differ by the partner's place beside the caller: that tells what is
    # repeated, but ranks that have other partners at the same place run the same program. So
    # ranks that make the same calls are folded as one.
    kinds = kinds_of(sites)
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
        work,
    )
    site = site_of_symbol[symbol]
    of_team = [place[start:end] for start, end in pairwise(begin.tolist())]
    programs = [in_first_order(own, len(site)) for own in of_team]
    programs = [own[uncertain[site[own]]] for own in programs]
    place = _aligned_places(programs, kinds[site])[place]
    of_lane = dict.fromkeys(range(len(lane_begin) - 1), place)
    for lanes, (start, end) in zip(teams, pairwise(begin.tolist()), strict=True):
        of_lane |= dict.fromkeys(lanes, place[start:end])
    return _without_pairs(np.concatenate(list(of_lane.values())), len(site), lane_begin)


def _without_pairs(place: Integers, places: int, lane_begin: Integers) -> Integers:
    """The places with two for one that is always taken twice in a row: no loop is as short."""
    begins = begins_run(place)
    begins[lane_begin[:-1][np.diff(lane_begin) > 0]] = True
    first = np.flatnonzero(begins)
    length = run_lengths(first, len(place))
    is_pair = np.ones(places, np.bool_)
    is_pair[place[first[length != 2]]] = False
    return np.where(~begins & is_pair[place], places + place, place)


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
    return together, placed(of_call[bounds[0]][::-1], together[::-1], len(keys))


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
