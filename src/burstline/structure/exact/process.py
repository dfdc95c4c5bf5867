"""The loops of one process, read off its own calls: no other rank has a say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from burstline.columns import Integers
from burstline.identity import Path, Site, Sites, sites_of
from burstline.model import Trace
from burstline.structure.exact.body import Body
from burstline.structure.exact.method import best_reading
from burstline.structure.exact.occurrences import NestSteps


@dataclass(frozen=True, slots=True, eq=False)
class ProcessNest:
    """The loops of a process; loop 0 is the program, and each comes before those in it."""

    sites: Sites  # of its calls
    steps: NestSteps
    parent: Sequence[int]  # (loops,) the loop around each, -1 around the program
    # (loops,) the path to the first call of each, down to where the paths of its calls part
    paths: Sequence[Path]

    def spans(self, loop: int) -> tuple[Integers, Integers]:
        """The places of the first call of each iteration of a loop, and behind the last."""
        spans = self.steps.spans(loop)
        return spans.first, spans.last + 1

    def site(self, call: int) -> Site:
        """What and where a call is."""
        return self.sites.distinct[self.sites.of_call[call]]

    def position(self, loop: int) -> str:
        """Where a loop stands in the nest: 1.2 is the second in the first."""
        around = self.parent[loop]
        place = sum(parent == around for parent in self.parent[: loop + 1])
        return f"{self.position(around)}.{place}" if around > 0 else str(place)


def process_nest(trace: Trace, rows: Integers) -> ProcessNest:
    """The loops in some rows of `calls`, made by one process, in the order of time."""
    location, peer = (column[rows] for column in trace.arrays("calls", "location", "peer"))
    (ranks,) = trace.arrays("locations", "rank")
    # No rank that the process does not know changes how its calls are told apart.
    world_size = 1 + max(int(ranks[location].max()), int(peer.max()))
    sites = sites_of(trace, rows, world_size)
    reading = best_reading(sites, np.array([0, len(rows)]))
    return ProcessNest(
        sites=reading.sites,
        steps=reading.steps,
        parent=reading.nest.loop_parent.tolist(),
        paths=_paths_of_loops(reading.program, reading.sites)[1],
    )


def _paths_of_loops(body: Body, sites: Sites) -> tuple[list[Path], list[Path]]:
    """The paths of the calls in a body; and the path to it, and to each in it."""
    calls: list[Path] = []
    inner: list[Path] = []
    for element in body.elements:
        if isinstance(element, Body):
            inside, loops = _paths_of_loops(element, sites)
            calls += inside
            inner += loops
        else:
            calls.append(sites.distinct[element].path)
    return calls, [_until_parting(calls), *inner]


def _until_parting(paths: Sequence[Path]) -> Path:
    """The first path down to the function in which some paths part; whole if none does."""
    depth = 0
    for first, *others in zip(*paths, strict=False):
        functions = {(frame.function, frame.file) for frame in others}
        if functions - {(first.function, first.file)}:
            break
        depth += 1
        if {frame.line for frame in others} - {first.line}:
            break
    whole = paths[0]
    depth = max(depth, 1)
    while depth < len(whole) and whole[depth - 1].file is None:
        depth += 1  # of a function that another is inlined in the place may be unknown
    return whole[:depth]
