"""Points: every unique call of a run by how often, and how far apart, it is executed."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np

from burstline.columns import Floats, Integers, begins_run, dense, run_lengths, stable_order
from burstline.identity import Site, Sites, sites_of
from burstline.model import Trace
from burstline.structure.calls import Calls
from burstline.structure.program.model import Structure
from burstline.structure.program.nodes import Call, with_innermost_loop

IN_NO_LOOP: Final = 0
LEFT_OUT: Final = -1
"""Numbers in place of that of a loop."""

MOST_POINTS: Final = 5_000
_SHORTEST_NS: Final = 1.0
"""A logarithmic axis has no place for 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Unique calls in the plane of repetitions and time, in the order of loops."""

    # (points,) number of the innermost loop that executes it most often, `IN_NO_LOOP` or, for
    # calls that the method did not look at, `LEFT_OUT`
    loop: Integers
    site: Integers  # (points,) which of `sites` it is
    # (points,) its unique calls: 1, or those of all lanes with this site and loop
    unique: Integers
    # (points,) how often it was executed; mean over its lanes
    repetitions: Floats
    # (points,) mean time from one execution to the next, at least 1 ns; mean over the lanes
    interval_ns: Floats
    # (points, 2) smallest and largest of its lanes
    repetitions_range: Floats
    interval_range_ns: Floats
    sites: tuple[Site, ...]  # operations and where they are called
    once: int  # unique calls that were executed once and have no place in the plane
    # length of the run: `repetitions` times `interval_ns` over it is the share spanned
    run_ns: int

    def __len__(self) -> int:
        return len(self.loop)

    @property
    def is_merged(self) -> bool:
        """Whether a point is made of several unique calls."""
        return bool((self.unique > 1).any())


def points(trace: Trace, structure: Structure, *, most: int = MOST_POINTS) -> Points:
    """The unique calls of a structure by repetitions and time between them.

    Parameters
    ----------
    trace : Trace
        What the structure was detected in.
    structure : Structure
        Its loops are what the calls belong to.
    most : int
        Above so many points, those of one site and loop are put together, with their range.

    Returns
    -------
    Points
        One per (lane, site) that is executed more than once, or one per (site, loop).

    Notes
    -----
    Linear in the calls. A call that several loops make belongs to the one that makes it
    most often; its place is that of all its executions.

    Examples
    --------
    >>> from burstline.structure import detect
    >>> from burstline.testing import trace_of
    >>> steps = [f"{10 * k} enter MPI_Send path {k % 2} | {10 * k + 1} leave" for k in range(8)]
    >>> paths = "path 0 main file a.c line 3 | path 1 main file a.c line 4"
    >>> trace = trace_of(f"ranks 1 | {paths} | 0 | " + " | ".join(steps))
    >>> plane = points(trace, detect(trace))
    >>> plane.loop.tolist(), plane.repetitions.tolist(), plane.interval_ns.tolist()
    ([1, 1], [4.0, 4.0], [20.0, 20.0])
    """
    calls = structure.found_in
    sites = sites_of(trace, calls.row, calls.world_size)
    lane, site, repetitions, interval_ns = _unique_calls(calls, sites)
    returns = repetitions > 1
    lane, site = lane[returns], site[returns]
    loop = _loops_of_sites(structure, sites)[site, lane]
    order = np.lexsort((lane, site, loop))
    values = np.stack([repetitions[returns], interval_ns[returns]])[:, order]
    loop, site = loop[order], site[order]
    begin = np.arange(len(order))
    if len(order) > most:
        begin = np.flatnonzero(begins_run(loop, site))
    counts = run_lengths(begin, len(order))
    low, high, total = (
        reduce.reduceat(values, begin, axis=1) if len(begin) else values
        for reduce in (np.minimum, np.maximum, np.add)
    )
    return Points(
        loop=loop[begin],
        site=site[begin],
        unique=counts,
        repetitions=total[0] / counts,
        interval_ns=total[1] / counts,
        repetitions_range=np.stack([low[0], high[0]], axis=1),
        interval_range_ns=np.stack([low[1], high[1]], axis=1),
        sites=sites.distinct,
        once=int(np.count_nonzero(~returns)),
        run_ns=calls.run_ns,
    )


def _unique_calls(calls: Calls, sites: Sites) -> tuple[Integers, Integers, Integers, Floats]:
    """Lane, site, repetitions and mean interval of every unique call."""
    count = len(sites)
    unique, keys = dense(calls.lane * count + sites.of_call, len(calls.ranks) * count)
    repetitions = np.bincount(unique, minlength=len(keys))
    order = stable_order(unique, len(keys))
    end = np.cumsum(repetitions)
    spanned = calls.enter_ns[order[end - 1]] - calls.enter_ns[order[end - repetitions]]
    interval_ns = np.maximum(spanned / np.maximum(repetitions - 1, 1), _SHORTEST_NS)
    return keys // count, keys % count, repetitions, interval_ns


def _loops_of_sites(structure: Structure, sites: Sites) -> Integers:
    """The loop of each site on each lane, shape (sites, lanes)."""
    numbers = {_site_key(sites, site, site): n for n, site in enumerate(sites.distinct)}
    shape = (len(sites), len(structure.ranks))
    loop = np.full(shape, IN_NO_LOOP, np.int64)
    most = np.zeros(shape, np.int64)
    executions: dict[tuple[int, int], Integers] = {}
    placed = with_innermost_loop(structure.items, IN_NO_LOOP)
    for call, number in chain(placed, ((call, LEFT_OUT) for call in structure.left_out)):
        read_as = structure.reduced.sites[call.site]
        place = (numbers[_site_key(sites, call, read_as)], number)
        executions[place] = executions.get(place, 0) + call.executions
    for (site, number), times in executions.items():
        more = times > most[site]
        loop[site, more] = number
        most[site, more] = times[more]
    return loop


def _site_key(sites: Sites, call: Call | Site, site: Site) -> Hashable:
    """What is equal for nodes of one site: a method may number sites of its own."""
    if sites.has_paths:
        return call.operation, call.path
    return call.operation, site.communicator, call.offset
