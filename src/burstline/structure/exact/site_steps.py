"""Sites a step from others, where no line tells: stretches are the same, or one site is two.

Calls that stand in a program twice, in the same order, may be those of one loop whose first or
last iteration looks otherwise. A call that different others stand beside may be several. Of the
many ways that are such a step away, the likeliest are those that seem to be shortest by what
follows what.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

import numpy as np

from burstline.columns import Integers
from burstline.identity import Sites
from burstline.structure.exact.repeats import Codes, TeamCalls, kinds_of, numbered_from_0

_MOST_CALLS: Final = 16_000
"""Calls, those of lanes alike once, up to which steps are taken."""

_MOST_SITES: Final = 200
"""Sites from which steps are taken, as each two are compared."""

_LIKELIEST: Final = 5
"""Steps of each kind that are told at once."""

_NOBODY: Final = -1

Step = tuple[bytes, ...]
"""What is equal for steps that change the same calls in the same way."""


@dataclass(frozen=True, slots=True, eq=False)
class SiteSteps:
    """Tells ways of the same calls that are a step from others."""

    told: Sites
    calls: TeamCalls
    kinds: Codes  # of the teams' calls, equal for sites that differ in the partner alone

    @classmethod
    def of(cls, sites: Sites, lane_begin: Integers) -> SiteSteps | None:
        """The steps between the sites of some calls; None if lines tell these, or too many."""
        if any(site.path and site.path[-1].line is not None for site in sites.distinct):
            return None
        kinds = kinds_of(sites)
        calls = TeamCalls.of(sites, kinds[sites.of_call], lane_begin)
        if not 0 < len(calls.told) <= _MOST_CALLS:
            return None
        return cls(sites, calls, kinds[calls.told])

    def sites(self, way: Codes) -> Sites:
        """All calls at the sites of a way."""
        return self.calls.sites(way, self.told)

    def starts(self) -> Iterator[Codes]:
        """Ways to start from: by the calls two around each, united, and by those beside it."""
        far = numbered_from_0(self.calls.neighbours(2))
        if far.max(initial=0) < _MOST_SITES:
            yield numbered_from_0(self.calls.united(self.calls.told, far)[0])
        near = numbered_from_0(self.calls.neighbours(1))
        if near.max(initial=0) < _MOST_SITES:
            yield near

    def beside(self, way: Codes, order: Sequence[int], taken: set[Step]) -> Iterator[Codes]:
        """The likeliest ways beside one, by steps not taken yet, its sites in program order."""
        if len(order) > _MOST_SITES:
            return
        kinds = (
            self._with_stretches_united(way, order),
            self._parted(way, self._beside(way, -1)),
            self._parted(way, self._beside(way, 1)),
        )
        likeliest = (self._likeliest(ways, taken) for ways in kinds)
        for steps in zip_longest(*likeliest):
            for step, other in filter(None, steps):
                if step not in taken:
                    taken.add(step)
                    yield other

    def _likeliest(
        self, ways: Iterator[tuple[Step, Codes]], taken: Collection[Step]
    ) -> list[tuple[Step, Codes]]:
        """Those of some ways that seem to be shortest."""
        new: list[tuple[int, int, Step, Codes]] = []
        for step, way in ways:
            if step not in taken:
                length = self.calls.united(self.kinds, way, work=0)[1]
                new.append((length, len(new), step, way))
        likeliest = sorted(new, key=lambda each: each[:2])[:_LIKELIEST]
        return [(step, numbered_from_0(way)) for *_, step, way in likeliest]

    def _with_stretches_united(
        self, way: Codes, order: Sequence[int]
    ) -> Iterator[tuple[Step, Codes]]:
        """Ways with two stretches of a program as one that make the same calls."""
        first = np.unique(way, return_index=True)[1]
        calls = calls_of_sites(way)
        made = self.calls.told[first[list(order)]].tolist()
        for one in range(len(made)):
            for other in range(one + 1, len(made)):
                begins = not one or made[one - 1] != made[other - 1]
                if made[one] == made[other] and begins:
                    length = _common(made, one, other)
                    here, there = (list(order[k : k + length]) for k in (one, other))
                    united = np.arange(len(first), dtype=np.int32)
                    united[there] = here
                    yield tuple(calls[site] for site in (*here, *there)), united[way]

    def _parted(self, way: Codes, beside: Codes) -> Iterator[tuple[Step, Codes]]:
        """Ways with a site as two: where one other stands beside it, and elsewhere."""
        sites = int(way.max(initial=0)) + 1
        for site in range(sites):
            here = way == site
            others = np.unique(beside[here]).tolist()
            for other in others if len(others) > 2 else others[1:]:  # of two, both part alike
                there = here & (beside == other)
                parts = (np.flatnonzero(each).tobytes() for each in (here & ~there, there))
                yield tuple(sorted(parts)), np.where(there, np.int32(sites), way)

    def _beside(self, way: Codes, step: int) -> Codes:
        """The site before each call on its lane, or behind it."""
        beside = np.roll(way, -step)
        begins, ends = self.calls.begin[:-1], self.calls.begin[1:] - 1
        beside[(begins if step < 0 else ends)[np.diff(self.calls.begin) > 0]] = _NOBODY
        return beside


def calls_of_sites(way: Codes) -> list[bytes]:
    """The calls of each site, equal for sites of the same calls in whatever ways."""
    ends = np.cumsum(np.bincount(way))
    calls = np.split(np.argsort(way, kind="stable"), ends[:-1])
    return [own.tobytes() for own in calls]


def _common(made: Sequence[int], one: int, other: int) -> int:
    """How many calls from one place and from another one behind it are the same."""
    length = 0
    while other + length < len(made) and one + length < other:
        if made[one + length] != made[other + length]:
            break
        length += 1
    return length
