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
import pyarrow.compute as pc

from burstline.errors import NotEnoughDataError, ParameterError
from burstline.operations import NAMES
from burstline.schema import NO_VALUE, UNKNOWN
from burstline.structure.callpaths import Path, clean_paths
from burstline.structure.grouping import Groups, dense, stable_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from burstline.structure.grouping import Floats, Integers
    from burstline.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class Signature:
    """What makes a call the same call on any rank.

    Attributes
    ----------
    operation : str
        MPI name of the call.
    path : tuple of Frame
        Where it is called, outermost frame first; empty if the trace does not say.
    communicator, offset : int or None
        What stands in for the path where there is none: the communicator, and the rank
        of the partner relative to one's own.
    """

    operation: str
    path: Path
    communicator: int | None = None
    offset: int | None = None


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
    columns = _Columns(trace, application)
    signature, signatures, has_paths = _signatures(trace, columns)
    unique, keys = dense(
        columns.lane * len(signatures) + signature, len(columns.ranks) * len(signatures)
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
        lane_begin=np.searchsorted(columns.lane, np.arange(len(columns.ranks) + 1)),
        world_size=columns.world_size,
        run_ns=columns.run_ns,
        signatures=signatures,
        sequence=signature.astype(np.int32),
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
        has_paths=has_paths,
    )


class _Columns:
    """The columns of the calls of one application."""

    def __init__(self, trace: Trace, application: int | None) -> None:
        applications, ranks = trace.arrays("locations", "application", "rank")
        offsets = trace.offsets("calls")
        calling = np.diff(offsets) > 0
        chosen = _chosen_application(applications[calling], application)
        lanes = np.flatnonzero(calling & (applications == chosen))
        if not len(lanes):
            raise NotEnoughDataError("the trace has no MPI calls to find loops in")
        of_application = applications == chosen
        self.ranks = ranks[lanes].astype(np.int64)
        counts = np.diff(offsets)[lanes]
        self.lane = np.repeat(np.arange(len(lanes)), counts)
        starts = offsets[lanes]
        self.row = np.arange(len(self.lane)) + np.repeat(
            starts - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts
        )
        times = trace.arrays("calls", "enter_ns", "leave_ns", "sent_bytes", "received_bytes")
        taken = [column[self.row] for column in times]
        self.enter_ns, self.leave_ns, self.sent_bytes, self.received_bytes = taken
        ids = trace.arrays("calls", "operation", "call_path", "communicator", "peer", "root")
        taken = [column[self.row] for column in ids]
        self.operation, self.call_path, self.communicator, self.peer, self.root = taken
        highest = max(ranks[of_application].max(), self.peer.max())
        self.world_size = max(int(highest) + 1, _largest_communicator(trace))
        self.run_ns = int(max(self.enter_ns.max() - self.leave_ns.min(), 1))


def _largest_communicator(trace: Trace) -> int:
    sizes = pc.list_value_length(trace.communicators["members"])
    return pc.max(sizes).as_py() or 0


def _chosen_application(calling: npt.NDArray[np.int32], application: int | None) -> int:
    if application is not None:
        return application
    found = np.unique(calling).tolist()
    if len(found) > 1:
        raise ParameterError(
            f"{len(found)} applications call MPI: choose one of {found} with --app"
        )
    return found[0] if found else 0


def _signatures(
    trace: Trace, columns: _Columns
) -> tuple[Integers, tuple[Signature, ...], bool]:
    """Give the signature of each call, and what the signatures are."""
    number, paths = clean_paths(trace)
    place = number[columns.call_path]
    has_paths = bool(place.any())
    places: list[tuple[Path, int | None, int | None]] = [(path, None, None) for path in paths]
    if not has_paths:
        place, places = _places_without_paths(columns)
    count = len(places)
    names = _operation_names(trace)
    signature, keys = dense(
        columns.operation.astype(np.int64) * count + place, len(names) * count
    )
    signatures = tuple(
        Signature(names[key // count], *places[key % count]) for key in keys.tolist()
    )
    return signature, signatures, has_paths


def _operation_names(trace: Trace) -> list[str]:
    column = trace.calls["operation"]
    return column.chunk(0).dictionary.to_pylist() if column.num_chunks else list(NAMES)


def _places_without_paths(
    columns: _Columns,
) -> tuple[Integers, list[tuple[Path, int | None, int | None]]]:
    offset = _offset(columns)
    communicator = columns.communicator.astype(np.int64)
    width = int(offset.max(initial=UNKNOWN)) + 2
    key = (communicator + 1) * width + offset + 1
    place, keys = dense(key, int(key.max(initial=0)) + 1)
    return place, [
        (
            (),
            key // width - 1 if key >= width else None,
            key % width - 1 if key % width else None,
        )
        for key in keys.tolist()
    ]


def _offset(columns: _Columns) -> Integers:
    """Rank of the partner relative to one's own, around the end; -1 without a partner."""
    own = columns.ranks[columns.lane]
    relative = (columns.peer - own) % columns.world_size
    return np.where(columns.peer >= 0, relative, UNKNOWN).astype(np.int64)


def _partners(columns: _Columns, groups: Groups) -> tuple[Integers, Integers]:
    return groups.extremes(columns.peer.astype(np.int64)), groups.extremes(_offset(columns))


@dataclass(frozen=True, slots=True, eq=False)
class _Bursts:
    """The computation before each call."""

    found: npt.NDArray[np.bool_]
    duration_ns: Integers
    counters: Sequence[Integers]


def _bursts_before(trace: Trace, columns: _Columns) -> _Bursts:
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
