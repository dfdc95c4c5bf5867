"""Segments: iterations of a loop that last alike, and what changes from one to the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Final, Literal

import numpy as np

from burstline.columns import Floats, Integers, Mask, ranges
from burstline.identity import Site
from burstline.model import Trace
from burstline.structure.program.model import Structure
from burstline.structure.tables.change_points import change_points
from burstline.structure.tables.costs import CallSums
from burstline.structure.tables.spread import medians
from burstline.structure.tables.table import LoopTable
from burstline.values import Contract, Documented

_COMPUTING, _MPI = 0, 1
_HALF: Final = 0.5
_AS_MUCH: Final = 0.9
"""Calls whose time changes by this share of the most have changed as much."""


@dataclass(frozen=True, slots=True)
class Change(Documented):
    """Where an iteration spends its time otherwise than in the segment before."""

    kind: Literal["computing", "MPI"]  # before the call, or in it
    site: Site  # the call
    rank: int  # where that changes most
    ranks: int  # ranks where it changes at least half as much
    # what an iteration spends there in the median, before and now
    before_ns: float
    now_ns: float
    share: float  # of the change of the iteration

    CONTRACT: ClassVar[Contract] = (
        *("kind", ("operation", "site.operation")),
        *((name, f"site.caller.{name}") for name in ("file", "line", "function")),
        *("rank", "ranks", "before_ns", "now_ns", "share"),
    )


@dataclass(frozen=True, slots=True)
class Segment(Documented):
    """Iterations in a row that last alike."""

    # number of the first and last
    first: int
    last: int
    median_ns: float  # of the mean over the ranks
    change: Change | None  # to the segment before; None for the first, and if nothing explains

    CONTRACT: ClassVar[Contract] = ("first", "last", "median_ns", "change")


def segments(trace: Trace, structure: Structure, table: LoopTable) -> tuple[Segment, ...]:
    """The segments of a loop whose iterations change in steps; none if they do not.

    Parameters
    ----------
    trace : Trace
        Its calls and bursts are read.
    structure : Structure
        What was found in it.
    table : LoopTable
        What the iterations of the loop cost.

    Returns
    -------
    tuple of Segment
        In order; together they are all iterations of the loop.

    Notes
    -----
    Computation explains a change if a rank computes longer, or shorter, by half of it: ranks
    that wait for that one in MPI do not. Of calls of MPI that change as much, the one that
    changes on the fewest ranks explains it, as others may wait for these.

    Examples
    --------
    >>> from burstline.structure import detect, loop_table
    >>> from burstline.testing import trace_of
    >>> enters = [9 * k if k < 20 else 30 * k - 420 for k in range(40)]
    >>> steps = [f"{now} enter MPI_Barrier path 0 | {now + 2} leave" for now in enters]
    >>> trace = trace_of(f"ranks 1 | path 0 main file a.c line 3 | 0 | {' | '.join(steps)}")
    >>> structure = detect(trace)
    >>> before, after = segments(trace, structure, loop_table(trace, structure, 1))
    >>> (before.first, before.last, before.median_ns), (after.first, after.last)
    ((1, 20, 9.0), (21, 40))
    >>> after.change.kind, after.change.before_ns, after.change.now_ns
    ('computing', 7.0, 28.0)
    """
    by_iteration = table.by_iteration(counted=True)
    mean_ns, number = by_iteration["mean_ns"], by_iteration["iteration"]
    places = change_points(mean_ns)
    if not places:
        return ()
    spent = Spent(trace, structure, table)
    bounds = [0, *places, len(mean_ns)]
    firsts = [1, *number[places].tolist(), int(table.iteration.max()) + 1]
    medians_ns = [float(np.median(mean_ns[begin:end])) for begin, end in pairwise(bounds)]
    usual = (spent.usual_ns(first, end) for first, end in pairwise(firsts))
    changes = [None, *_explained_changes(usual, medians_ns, spent)]
    return tuple(
        Segment(first, end - 1, median_ns, change)
        for (first, end), median_ns, change in zip(
            pairwise(firsts), medians_ns, changes, strict=True
        )
    )


class Spent:
    """Where the iterations of a loop spend their time: before which call, and in which."""

    def __init__(self, trace: Trace, structure: Structure, table: LoopTable) -> None:
        self._costs, self._calls = CallSums(trace), structure.found_in
        self._table, self.sites = table, structure.reduced.sites
        self._sequence = structure.steps.sequence
        # among the calls of all lanes
        shift = self._calls.lane_begin[:-1] - self._calls.row[self._calls.lane_begin[:-1]]
        iterations = structure.iterations(table.loop)
        self._begin = iterations.first + shift[iterations.lane]
        self._until = self._begin + table.calls
        lanes, self._lane = np.unique(table.lane, return_inverse=True)
        self.ranks = self._calls.ranks[lanes]

    def usual_ns(self, first: int, end: int) -> Floats:
        """What iterations from `first` spend in the median, shape (lanes, sites, 2)."""
        number = self._table.iteration
        rows = np.flatnonzero(self._table.counted & (first <= number) & (number < end))
        count = self._until[rows] - self._begin[rows]
        place = ranges(self._begin[rows], count)
        row = np.repeat(np.arange(len(rows)), count)
        spent_ns = self._ns(place, self._table.whole[rows][row])
        after = np.minimum(place + 1, len(self._sequence) - 1)
        site = np.concatenate([self._sequence[place], self._sequence[after]]).astype(np.int64)
        kind = np.repeat([_MPI, _COMPUTING], len(place))
        of_row = (np.tile(row, 2) * len(self.sites) + site) * 2 + kind
        key, group = np.unique(of_row, return_inverse=True)
        weights = np.concatenate(spent_ns).astype(np.float64)
        sums = np.bincount(group, weights, len(key)).astype(np.float64)
        places = 2 * len(self.sites)
        lane = self._lane[rows]
        shape = len(self.ranks), len(self.sites), 2
        rounds = np.repeat(np.bincount(lane, minlength=shape[0]), places)
        of_lane = lane[key // places] * places + key % places
        return medians(sums, of_lane, len(rounds), rounds).reshape(shape)

    def _ns(self, place: Integers, is_whole: Mask) -> tuple[Integers, Integers]:
        """Time in each call, with failed polls behind it, and computation behind it."""
        calls = self._calls
        after = np.minimum(place + 1, len(calls.lane) - 1)
        # behind the last call of an entry is nothing of the iteration
        is_last = np.append(np.diff(place) != 1, True)
        goes_on = (is_whole | ~is_last) & (calls.lane[after] == calls.lane[place])
        gap_ns, waiting_ns = self._costs.behind(calls.row[place])
        between_ns = calls.enter_ns[after] - calls.leave_ns[place] - gap_ns - waiting_ns
        mpi_ns = calls.leave_ns[place] - calls.enter_ns[place]
        return mpi_ns + goes_on * waiting_ns, goes_on * np.maximum(between_ns, 0)


def _explained_changes(
    usual: Iterator[Floats], medians_ns: list[float], spent: Spent
) -> Iterator[Change | None]:
    """What explains each change from one segment to the next."""
    before_ns = next(usual)
    for (earlier, later), now_ns in zip(pairwise(medians_ns), usual, strict=True):
        place = _place_of_change(now_ns - before_ns, later - earlier)
        if place is None:
            yield None
        else:
            lane, site, kind = place
            more = (now_ns - before_ns)[:, site, kind]
            alike = np.unique(spent.ranks[more / more[lane] >= _HALF])
            yield Change(
                kind="MPI" if kind == _MPI else "computing",
                site=spent.sites[site],
                rank=int(spent.ranks[lane]),
                ranks=len(alike),
                before_ns=float(before_ns[place]),
                now_ns=float(now_ns[place]),
                share=float(more[lane] / (later - earlier)),
            )
        before_ns = now_ns


def _place_of_change(more_ns: Floats, longer_ns: float) -> tuple[int, int, int] | None:
    """The lane, site and kind of time that explain why iterations last longer, or shorter."""
    more = more_ns * np.sign(longer_ns)
    computing = more[:, :, _COMPUTING].sum(axis=1)
    lane = int(computing.argmax())
    if computing[lane] >= _HALF * abs(longer_ns):
        return lane, int(more[lane, :, _COMPUTING].argmax()), _COMPUTING
    most = more[:, :, _MPI].max(axis=0)
    if most.max() <= 0:
        return None
    as_much = np.flatnonzero(most >= _AS_MUCH * most.max())
    lanes = np.count_nonzero(more[:, as_much, _MPI] >= _HALF * most[as_much], axis=0)
    site = int(as_much[lanes.argmin()])
    return int(more[:, site, _MPI].argmax()), site, _MPI
