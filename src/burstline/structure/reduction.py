"""Reduction: from every MPI call of a run to the few that are different."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline.columns import Floats, Integers, Mask, quotients
from burstline.identity import Site, Sites
from burstline.model import Trace
from burstline.structure.calls import Calls
from burstline.structure.communicators import Memberships
from burstline.structure.exchanges import Exchanges


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """The unique calls of a trace, one per (location, site), in that order."""

    ranks: Integers  # (lanes,) rank of each lane: a location that calls MPI
    lane_begin: Integers  # (lanes + 1,) where the calls of each lane begin in `sequence`
    world_size: int  # ranks there are, those without calls and those not selected included
    # from the end of the first MPI call to the beginning of the last: the run without the start
    # and the end of its processes
    run_ns: int
    sites: tuple[Site, ...]  # in the order of their ids
    # (calls,) site of every call, lane after lane, in time order
    sequence: npt.NDArray[np.int32]
    # (unique,) what each unique call is
    lane: Integers
    site: Integers
    begin: Integers  # (unique + 1,) where the executions of each begin in `enter_ns`
    # (calls,) when they were entered, unique call after unique call, each in time order
    enter_ns: Integers
    # (unique,) mean and standard deviation of their duration
    time_ns: Floats
    time_spread_ns: Floats
    # (unique,) mean and standard deviation of what they sent or received, whichever is more;
    # NaN if the trace does not say
    size_bytes: Floats
    size_spread_bytes: Floats
    burst_ns: Floats  # (unique,) mean duration of the computation just before; NaN without any
    counters: tuple[str, ...]  # names of the counters
    units: tuple[str, ...]  # their units, empty for counts
    # (unique, counters) their mean over the computation just before; NaN if never read
    burst_counters: Floats
    # (unique, counters) their mean over everything computed between two executions; NaN for a
    # single one
    iteration_counters: Floats
    # (unique, 2) smallest and largest rank of the partner, as it is and relative to the
    # caller's (modulo the ranks, in 0..ranks-1); -1 without a partner
    peer: Integers
    offset: Integers
    communicator: Integers  # (unique,) communicator of the first execution, -1 if unknown
    exchanges: Exchanges  # the messages of each
    memberships: Memberships  # the communicators of each
    is_root: Mask  # (unique,) whether it was ever the root of a collective
    has_paths: bool  # whether the sites are made of call paths

    @property
    def repetitions(self) -> Integers:
        """How often each unique call was executed, shape (unique,)."""
        return self.begin[1:] - self.begin[:-1]

    @property
    def first_ns(self) -> Integers:
        """When each unique call was first entered, shape (unique,)."""
        return self.enter_ns[self.begin[:-1]]

    def iteration_mean_ns(self) -> Floats:
        """Mean time from one execution to the next, shape (unique,); NaN for a single one."""
        last_ns = self.enter_ns[self.begin[1:] - 1]
        return quotients(last_ns - self.first_ns, self.repetitions - 1)

    def shares(self) -> Floats:
        """Repetitions times mean over duration: what is between executions, shape (unique,)."""
        spanned = np.nan_to_num(self.iteration_mean_ns()) * self.repetitions
        return np.clip(spanned / self.run_ns, 0.0, 1.0)

    def repetitions_of(self, uniques: Integers) -> Integers:
        """How often some unique calls were executed, shape (uniques,)."""
        return self.begin[uniques + 1] - self.begin[uniques]

    def executions(self, unique: int) -> Integers:
        """When a unique call was entered, shape (repetitions,), in time order."""
        return self.enter_ns[self.begin[unique] : self.begin[unique + 1]]


def reduce_to_sites(trace: Trace, calls: Calls, sites: Sites) -> Reduced:
    """The unique ones of some calls, by rank and any sites."""
    begin = trace.offsets("bursts")
    after, *bursts = trace.arrays(
        "bursts", "call_after", "start_ns", "end_ns", *trace.counter_names
    )
    (ordinal,) = trace.arrays("calls", "call")
    columns = _core.reduce_calls(
        calls.lane_begin,
        calls.ranks,
        calls.world_size,
        sites.of_call,
        len(sites),
        [calls.enter_ns, calls.leave_ns, calls.sent_bytes, calls.received_bytes],
        [calls.communicator, calls.peer, calls.root, ordinal[calls.row]],
        [begin[calls.locations], begin[calls.locations + 1]],
        after,
        bursts,
    )
    columns["site"] = columns.pop("signature")
    unique = len(columns["lane"])
    for name in ("peer", "offset", "burst_counters", "iteration_counters"):
        columns[name] = columns[name].reshape(unique, len(columns[name]) // unique)
    columns["is_root"] = columns["is_root"].view(np.bool_)
    keys = columns["lane"] * len(sites) + columns["site"]
    of_call = np.searchsorted(keys, calls.lane * len(sites) + sites.of_call)
    return Reduced(
        exchanges=Exchanges.of(trace, calls, of_call),
        memberships=Memberships.of(trace, calls, of_call, columns["site"]),
        ranks=calls.ranks,
        lane_begin=calls.lane_begin,
        world_size=calls.world_size,
        run_ns=calls.run_ns,
        sites=sites.distinct,
        sequence=sites.of_call,
        counters=trace.counter_names,
        units=tuple(row.get("unit") or "" for row in trace.table("counters").to_pylist()),
        has_paths=sites.has_paths,
        **columns,
    )
