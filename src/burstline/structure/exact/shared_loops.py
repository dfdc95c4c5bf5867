"""Loops that were read at some sites of calls, for readings at others."""

from __future__ import annotations

from dataclasses import dataclass, field

from burstline.structure.exact.body import Body, renamed
from burstline.structure.exact.callgraph import Edge
from burstline.structure.exact.repeats import Codes
from burstline.structure.exact.site_steps import calls_of_sites
from burstline.structure.program_order import Function

LoopKey = tuple[tuple[int, ...], frozenset[Edge], frozenset[Function], bool]
"""Calls, which follow which, functions whose lines do not count; whether in a loop."""
_Key = tuple[frozenset[int], frozenset[Edge], bool]


@dataclass(frozen=True, slots=True, eq=False)
class SharedLoops:
    """The loops of all readings, by the calls that are made at each of their sites."""

    numbers: dict[bytes, int] = field(default_factory=dict)  # of sites, by their calls
    bodies: dict[_Key, Body] = field(default_factory=dict)  # of sites by these

    def at(self, way: Codes) -> LoopsAt:
        """Those of a reading at some sites of the calls."""
        known = self.numbers
        own = calls_of_sites(way)
        numbers = {site: known.setdefault(calls, len(known)) for site, calls in enumerate(own)}
        return LoopsAt(self.bodies, numbers, {n: site for site, n in numbers.items()})


@dataclass(frozen=True, slots=True, eq=False)
class LoopsAt:
    """The loops of one reading."""

    bodies: dict[_Key, Body]
    numbers: dict[int, int]
    sites: dict[int, int]

    def get(self, key: LoopKey) -> Body | None:
        """A loop that was read before, by the sites of this reading."""
        body = self.bodies.get(self._shared(key))
        return None if body is None else renamed(body, self.sites)

    def __setitem__(self, key: LoopKey, body: Body) -> None:
        if not _counts(body):
            self.bodies[self._shared(key)] = renamed(body, self.numbers)

    def _shared(self, key: LoopKey) -> _Key:
        nodes, edges, _, is_inner = key
        numbers = self.numbers
        return (
            frozenset(numbers[node] for node in nodes),
            frozenset((numbers[a], numbers[b]) for a, b in edges),
            is_inner,
        )


def _counts(body: Body) -> bool:
    """Whether places or lanes tell of it, that are others in other readings."""
    return bool(body.hides_entries or body.cuts) or any(_counts(loop) for _, loop in body.loops)
