"""The MPI calls of one application as columns, lane after lane."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from burstline.columns import Integers, numpy_columns, placed, prefix_sums, ranges
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.identity import clean_paths
from burstline.model import Trace, schema


def columns_of(trace: Trace, name: str, *wanted: str) -> tuple[npt.NDArray[Any], ...]:
    """Columns of a table as :meth:`Trace.arrays` gives them, and none but these are loaded."""
    if not trace.is_stored:
        return trace.arrays(name, *wanted)
    parts = [*trace.batches(name, wanted)]
    if not parts:
        parts = [schema.arrow_schema(name, trace.counter_names).empty_table()]
    return numpy_columns(pa.concat_tables(parts), *wanted)


class Bounds(NamedTuple):
    """What all calls of an application have in common."""

    highest_peer: int
    first_leave_ns: int
    last_enter_ns: int
    has_paths: bool

    def joined(self, other: Bounds) -> Bounds:
        """Those of the calls of both."""
        return Bounds(
            max(self.highest_peer, other.highest_peer),
            min(self.first_leave_ns, other.first_leave_ns),
            max(self.last_enter_ns, other.last_enter_ns),
            self.has_paths or other.has_paths,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """How many calls each location makes, and the bounds of those of each application."""

    counts: Integers  # (locations,)
    bounds: Mapping[int, Bounds]

    @classmethod
    def of(cls, trace: Trace) -> Told:
        """Those of a trace, or of a part of one."""
        location, peer, path, enter_ns, leave_ns = columns_of(
            trace, "calls", "location", "peer", "call_path", "enter_ns", "leave_ns"
        )
        (applications,) = trace.arrays("locations", "application")
        counts = np.bincount(location, minlength=len(applications)).astype(np.int64)
        has_path = clean_paths(trace)[0] > 0
        path = np.minimum(path, len(has_path) - 1)  # a part of calls alone has no paths
        begin = prefix_sums(counts)
        bounds: dict[int, Bounds] = {}
        for number in np.flatnonzero(counts).tolist():
            own = slice(begin[number], begin[number + 1])
            found = Bounds(
                int(peer[own].max()),
                int(leave_ns[own].min()),
                int(enter_ns[own].max()),
                bool(has_path[path[own]].any()),
            )
            application = int(applications[number])
            bounds[application] = found.joined(bounds.get(application, found))
        return cls(counts, bounds)

    @classmethod
    def of_all(cls, parts: Iterable[Told]) -> Told:
        """Those of a trace, by those of its parts."""
        return reduce(cls._joined, parts)

    def _joined(self, other: Told) -> Told:
        bounds = dict(self.bounds)
        for application, found in other.bounds.items():
            bounds[application] = found.joined(bounds.get(application, found))
        return Told(self.counts + other.counts, bounds)

    def within(self, locations: range | None) -> Told:
        """The same where a trace has the calls of some locations only."""
        if locations is None:
            return self
        own = np.arange(locations.start, locations.stop)
        return Told(placed(self.counts[own], own, len(self.counts)), self.bounds)


def _column(name: str) -> cached_property[npt.NDArray[Any]]:
    """A column of the table of calls, of those of one application, loaded when asked for."""

    def loaded(calls: Calls) -> npt.NDArray[Any]:
        (column,) = columns_of(calls.trace, "calls", name)
        first = calls.first_row
        begin = int(first[0]) if len(first) else 0
        if np.array_equal(first - begin, calls.lane_begin[:-1]):  # no other stands between
            return column[begin : begin + int(calls.lane_begin[-1])]
        return column[calls.row]

    return cached_property(loaded)


class Calls:
    """The MPI calls of one application, in time order on each lane, loaded when asked for."""

    application: int  # the only one that calls MPI, or the one chosen
    # (lanes,) location and rank of each lane: a thread that calls MPI
    locations: Integers
    ranks: Integers
    lane_begin: Integers  # (lanes + 1,) where the calls of each lane begin
    first_row: Integers  # (lanes,) row of the first of them in the table
    world_size: int  # ranks there are, those without calls included
    run_ns: int  # from the end of the first MPI call to the beginning of the last

    # columns, (calls,) each
    ordinal = _column("call")  # on its location
    enter_ns = _column("enter_ns")
    leave_ns = _column("leave_ns")
    sent_bytes = _column("sent_bytes")
    received_bytes = _column("received_bytes")
    communicator = _column("communicator")  # -1 without one
    peer = _column("peer")  # the rank of the one partner, -1 without one
    root = _column("root")  # the own rank on the root of a rooted collective, else -1

    def __init__(self, trace: Trace, application: int | None, told: Told | None = None) -> None:
        told = Told.of(trace) if told is None else told
        applications, ranks = trace.arrays("locations", "application", "rank")
        calling = told.counts > 0
        self.application = chosen_application(told.bounds, application)
        bounds = told.bounds.get(self.application)
        if bounds is None:
            raise NotEnoughDataError("the trace has no MPI calls to find loops in")
        of_application = applications == self.application
        self.trace = trace
        self.locations = np.flatnonzero(calling & of_application)
        self.ranks = ranks[self.locations].astype(np.int64)
        self._counts = told.counts[self.locations]
        self.lane_begin = prefix_sums(self._counts)
        self.first_row = prefix_sums(told.counts)[self.locations]
        sizes = pc.list_value_length(trace.communicators["members"])
        highest = max(ranks[of_application].max(), bounds.highest_peer)
        self.world_size = max(int(highest) + 1, pc.max(sizes).as_py() or 0)
        self.run_ns = max(bounds.last_enter_ns - bounds.first_leave_ns, 1)
        self.has_paths = bounds.has_paths

    @cached_property
    def lane(self) -> Integers:
        """(calls,) lane of each call."""
        return np.repeat(np.arange(len(self._counts)), self._counts)

    @cached_property
    def row(self) -> Integers:
        """(calls,) row of each call in the table."""
        return ranges(self.first_row, self._counts)


def chosen_application(callers: Iterable[int], application: int | None) -> int:
    """The application that was asked for, or the only one that calls MPI."""
    callers = sorted(callers)
    if application is None and len(callers) > 1:
        raise ParameterError(
            f"{len(callers)} applications call MPI: choose one of {callers} (`application`)"
        )
    return next(iter(callers), 0) if application is None else application
