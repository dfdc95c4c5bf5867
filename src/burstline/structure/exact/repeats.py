"""Sites by what is repeated: without lines, one name may stand for several calls."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import _core
from burstline.columns import dense, prefix_sums
from burstline.identity import Site, Sites

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import numpy.typing as npt

    from burstline.columns import Integers, Mask

    Codes = npt.NDArray[np.int32]

_FIRST_TIMES: Final = (2, 3)
"""What is folded first: all that is repeated, or what is repeated more than by chance."""

_WORK_PER_CALL: Final = 200
_MOST_SITES: Final = 64
"""Sites for one of before; a program that seems to have more is not regular enough."""


def refined_sites(sites: Sites, lane_begin: Integers) -> list[Sites]:
    """The same calls, in several ways, with more sites for those without a line of source."""
    uncertain = np.array([not s.path or s.path[-1].line is None for s in sites.distinct])
    if not uncertain.any():
        return []
    ways: list[Sites] = []
    for times in _FIRST_TIMES:
        way = _refined(sites, lane_begin, uncertain, times)
        if way and not any(np.array_equal(way.of_call, other.of_call) for other in ways):
            ways.append(way)
    return ways


def _refined(
    sites: Sites, lane_begin: Integers, uncertain: Mask, first_times: int
) -> Sites | None:
    count = len(sites)
    place, former = _fold(sites, lane_begin, first_times)
    if len(former) > _MOST_SITES * count:
        return None
    codes = np.where(uncertain[sites.of_call], count + place, sites.of_call)
    of_call, keys = dense(codes, count + len(former))
    if len(keys) == count:
        return None
    numbers = np.concatenate([np.arange(count), former])[keys]
    general = [Site(site.operation, site.path, site.communicator) for site in sites.distinct]
    distinct = tuple(general[number] for number in numbers.tolist())
    return Sites(of_call.astype(np.int32), distinct, sites.has_paths)


def _fold(sites: Sites, lane_begin: Integers, first_times: int) -> tuple[Integers, Integers]:
    """Where each call stands with repeats folded, and a former site of each such place."""
    # Without paths, sites differ by the partner's place beside the caller: that tells what is
    # repeated, but ranks that have other partners at the same place run the same program. So
    # ranks that make the same calls are folded as one.
    kinds = _first_alike([(s.operation, s.path, s.communicator) for s in sites.distinct])
    teams = _lanes_alike(kinds[sites.of_call], lane_begin)
    sequences, symbols, former = [], 0, []
    for lanes in teams:
        sequence, first = _together(sites.of_call, lane_begin, lanes, len(sites))
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
    of_lane = dict.fromkeys(range(len(lane_begin) - 1), place)
    for lanes, (start, end) in zip(teams, pairwise(begin.tolist()), strict=True):
        of_lane |= dict.fromkeys(lanes, place[start:end])
    return np.concatenate(list(of_lane.values())), site_of_symbol[symbol]


def _lanes_alike(kinds: Codes, lane_begin: Integers) -> list[list[int]]:
    """The lanes whose calls are of the same kinds, one after another."""
    teams: dict[bytes, list[int]] = {}
    for lane, (begin, end) in enumerate(pairwise(lane_begin.tolist())):
        teams.setdefault(kinds[begin:end].tobytes(), []).append(lane)
    return list(teams.values())


def _together(
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


def _first_alike(things: Sequence[Hashable]) -> Codes:
    """The place of the first that is equal, of each thing."""
    first: dict[Hashable, int] = {}
    places = [first.setdefault(thing, place) for place, thing in enumerate(things)]
    return np.array(places, np.int32)
