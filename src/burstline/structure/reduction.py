"""Reduction: from every MPI call of a run to the few that are different.

::

    calls, bursts  --group by (rank, operation, call path)-->  Reduced: one row per unique call

A program of a billion calls has some hundred unique ones, whatever its size. Everything
here is linear in the calls and knows no loop over them in Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from burstline.schema import NO_VALUE, UNKNOWN
from burstline.structure.calls import Calls, Signature, Signed, offsets, sign
from burstline.structure.grouping import Groups, dense, stable_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from burstline.structure.grouping import Floats, Integers
    from burstline.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """The unique calls of a trace, one per (location, signature), in that order.

    Attributes
    ----------
    ranks : ndarray of int64, shape (lanes,)
        Rank of each lane: a location that calls MPI.
    lane_begin : ndarray of int64, shape (lanes + 1,)
        Where the calls of each lane begin in `sequence`.
    world_size : int
        Ranks there are, those without calls and those not selected included.
    run_ns : int
        From the end of the first MPI call to the beginning of the last: the run without
        the start and the end of its processes.
    signatures : tuple of Signature
        In the order of their ids.
    sequence : ndarray of int32, shape (calls,)
        Signature of every call, lane after lane, in time order.
    lane, signature : ndarray of int64, shape (unique,)
        What each unique call is.
    begin : ndarray of int64, shape (unique + 1,)
        Where the executions of each begin in `enter_ns`.
    enter_ns : ndarray of int64, shape (calls,)
        When they were entered, unique call after unique call, each in time order.
    time_ns, time_spread_ns : ndarray of float64, shape (unique,)
        Mean and standard deviation of their duration.
    size_bytes, size_spread_bytes : ndarray of float64, shape (unique,)
        Mean and standard deviation of what they sent or received, whichever is more; NaN
        if the trace does not say.
    burst_ns : ndarray of float64, shape (unique,)
        Mean duration of the computation just before; NaN without any.
    counters : tuple of str
        Names of the counters.
    burst_counters : ndarray of float64, shape (unique, counters)
        Their mean over the computation just before; NaN if never read.
    iteration_counters : ndarray of float64, shape (unique, counters)
        Their mean over everything computed between two executions; NaN for a single one.
    peer, offset : ndarray of int64, shape (unique, 2)
        Smallest and largest rank of the partner, as it is and relative to the own rank
        (around the end, in 0..ranks-1); -1 without a partner.
    communicator : ndarray of int64, shape (unique,)
        Communicator of the first execution, -1 if unknown.
    is_root : ndarray of bool, shape (unique,)
        Whether it was ever the root of a collective.
    has_paths : bool
        Whether the signatures are made of call paths.
    """

    ranks: Integers
    lane_begin: Integers
    world_size: int
    run_ns: int
    signatures: tuple[Signature, ...]
    sequence: npt.NDArray[np.int32]
    lane: Integers
    signature: Integers
    begin: Integers
    enter_ns: Integers
    time_ns: Floats
    time_spread_ns: Floats
    size_bytes: Floats
    size_spread_bytes: Floats
    burst_ns: Floats
    counters: tuple[str, ...]
    burst_counters: Floats
    iteration_counters: Floats
    peer: Integers
    offset: Integers
    communicator: Integers
    is_root: npt.NDArray[np.bool_]
    has_paths: bool

    @property
    def repetitions(self) -> Integers:
        """How often each unique call was executed, shape (unique,)."""
        return self.begin[1:] - self.begin[:-1]

    @property
    def first_ns(self) -> Integers:
        """When each unique call was first entered, shape (unique,)."""
        return self.enter_ns[self.begin[:-1]]

    @property
    def last_ns(self) -> Integers:
        """When each unique call was last entered, shape (unique,)."""
        return self.enter_ns[self.begin[1:] - 1]

    def iteration_mean_ns(self) -> Floats:
        """Mean time from one execution to the next, shape (unique,); NaN for a single one."""
        steps = self.repetitions - 1
        return np.divide(
            self.last_ns - self.first_ns,
            steps,
            out=np.full(len(steps), np.nan),
            where=steps > 0,
        )

    def shares(self) -> Floats:
        """Share of the run between executions: repetitions times mean over the duration.

        Returns
        -------
        ndarray of float64, shape (unique,)
            Between 0 and 1; 0 for a single execution.
        """
        spanned = np.nan_to_num(self.iteration_mean_ns()) * self.repetitions
        return np.clip(spanned / self.run_ns, 0.0, 1.0)

    def executions(self, unique: int) -> Integers:
        """Give when a unique call was entered, shape (repetitions,), in time order."""
        return self.enter_ns[self.begin[unique] : self.begin[unique + 1]]


def reduce_calls(trace: Trace, *, application: int | None = None) -> Reduced:
    """Collapse the MPI calls of a trace to the unique ones.

    Two calls are the same if one rank made them from the same call path, with the same
    operation. Without call paths, operation, communicator and the partner's rank relative
    to one's own take their place.

    Parameters
    ----------
    trace : Trace
        Its calls, bursts, call paths and counters are read.
    application : int, optional
        The application to look at; the one with MPI calls by default.

    Returns
    -------
    Reduced
        One row per unique call.

    Raises
    ------
    NotEnoughDataError
        If there is no MPI call.
    ParameterError
        If several applications call MPI and none is chosen.

    Notes
    -----
    O(calls) time and memory.
    """
    calls = Calls(trace, application)
    return reduce_signed(trace, calls, sign(trace, calls))


def reduce_signed(trace: Trace, columns: Calls, signed: Signed) -> Reduced:
    """Collapse calls to the unique ones, whatever it is that makes them the same.

    Parameters
    ----------
    trace : Trace
        Its bursts and counters are read.
    columns : Calls
        The calls of one application in it.
    signed : Signed
        Their signatures.

    Returns
    -------
    Reduced
        One row per unique call.
    """
    signatures = signed.signatures
    unique, keys = dense(
        columns.lane * len(signatures) + signed.of_call, len(columns.ranks) * len(signatures)
    )
    order = stable_order(unique, len(keys))
    begin = np.concatenate([[0], np.cumsum(np.bincount(unique, minlength=len(keys)))])
    groups = Groups(unique, len(keys), order, begin)
    bursts = _bursts_before(trace, columns)
    burst_counters, iteration_counters = _counters(trace.counter_names, bursts, groups)
    time_ns, time_spread_ns = groups.moments(columns.leave_ns - columns.enter_ns)
    size = np.maximum(columns.sent_bytes, columns.received_bytes)
    size_bytes, size_spread_bytes = groups.moments(size, size != NO_VALUE)
    peer, offset = _partners(columns, groups)
    return Reduced(
        ranks=columns.ranks,
        lane_begin=columns.lane_begin,
        world_size=columns.world_size,
        run_ns=columns.run_ns,
        signatures=signatures,
        sequence=signed.of_call,
        lane=keys // len(signatures),
        signature=keys % len(signatures),
        begin=begin,
        enter_ns=columns.enter_ns[order],
        time_ns=time_ns,
        time_spread_ns=time_spread_ns,
        size_bytes=size_bytes,
        size_spread_bytes=size_spread_bytes,
        burst_ns=groups.moments(bursts.duration_ns, bursts.found)[0],
        counters=trace.counter_names,
        burst_counters=burst_counters,
        iteration_counters=iteration_counters,
        peer=peer,
        offset=offset,
        communicator=columns.communicator[order[begin[:-1]]].astype(np.int64),
        is_root=groups.mean(columns.root >= 0) > 0,
        has_paths=signed.has_paths,
    )


def _partners(columns: Calls, groups: Groups) -> tuple[Integers, Integers]:
    return groups.extremes(columns.peer.astype(np.int64)), groups.extremes(offsets(columns))


@dataclass(frozen=True, slots=True, eq=False)
class _Bursts:
    """The computation before each call."""

    found: npt.NDArray[np.bool_]
    duration_ns: Integers
    counters: Sequence[Integers]


def _bursts_before(trace: Trace, columns: Calls) -> _Bursts:
    """Give the burst that ends at each call of the chosen lanes."""
    total = trace.calls.num_rows
    position = np.full(total, UNKNOWN, np.int64)
    position[columns.row] = np.arange(len(columns.row))
    location, after, start_ns, end_ns = trace.arrays(
        "bursts", "location", "call_after", "start_ns", "end_ns"
    )
    offsets = trace.offsets("calls")
    (call,) = trace.arrays("calls", "call")
    first_call = call[np.minimum(offsets[:-1], max(total - 1, 0))] if total else offsets[:-1]
    row = offsets[location] + after - first_call[location]
    inside = (after >= 0) & (row >= offsets[location]) & (row < offsets[location + 1])
    burst = np.flatnonzero(inside)
    burst = burst[(position[row[burst]] >= 0) & (call[row[burst]] == after[burst])]
    at = position[row[burst]]

    def placed(values: Integers, otherwise: int) -> Integers:
        out = np.full(len(columns.row), otherwise, np.int64)
        out[at] = values[burst]
        return out

    found = np.zeros(len(columns.row), bool)
    found[at] = True
    return _Bursts(
        found,
        placed(end_ns - start_ns, 0),
        [placed(column, NO_VALUE) for column in trace.arrays("bursts", *trace.counter_names)],
    )


def _counters(names: Sequence[str], bursts: _Bursts, groups: Groups) -> tuple[Floats, Floats]:
    """Mean of each counter before a call, and over everything between two executions."""
    before = np.full((groups.count, len(names)), np.nan)
    between = np.full((groups.count, len(names)), np.nan)
    first = groups.order[groups.begin[:-1]]
    last = groups.order[groups.begin[1:] - 1]
    steps = groups.begin[1:] - groups.begin[:-1] - 1
    for k, values in enumerate(bursts.counters):
        was_read = values != NO_VALUE
        before[:, k] = groups.mean(values, was_read)
        so_far = np.cumsum(np.where(was_read, values, 0))
        np.divide(so_far[last] - so_far[first], steps, out=between[:, k], where=steps > 0)
    return before, between
