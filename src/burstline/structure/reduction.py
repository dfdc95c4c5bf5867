"""Reduction: from every MPI call of a run to the few that are different."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline.columns import Floats, Integers, Mask, prefix_sums, quotients
from burstline.identity import Site, Sites
from burstline.model import Trace
from burstline.structure.calls import Calls, columns_of
from burstline.structure.communicators import Memberships, UsedCommunicators
from burstline.structure.exchanges import Exchanges, Received
from burstline.structure.kinds import Kinds


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
    begin: Integers  # (unique + 1,) prefix sums of how often each is executed
    # (unique,) when each was first entered, and last
    first_ns: Integers
    last_ns: Integers
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
    kinds: Kinds  # of lanes: when their calls are executed

    @property
    def repetitions(self) -> Integers:
        """How often each unique call was executed, shape (unique,)."""
        return self.begin[1:] - self.begin[:-1]

    def iteration_mean_ns(self) -> Floats:
        """Mean time from one execution to the next, shape (unique,); NaN for a single one."""
        return quotients(self.last_ns - self.first_ns, self.repetitions - 1)

    def shares(self) -> Floats:
        """Repetitions times mean over duration: what is between executions, shape (unique,)."""
        spanned = np.nan_to_num(self.iteration_mean_ns()) * self.repetitions
        return np.clip(spanned / self.run_ns, 0.0, 1.0)

    def repetitions_of(self, uniques: Integers) -> Integers:
        """How often some unique calls were executed, shape (uniques,)."""
        return self.begin[uniques + 1] - self.begin[uniques]

    def executions(self, unique: int) -> Integers:
        """The moments at which a unique call was entered, shape (repetitions,), in order."""
        kind = int(self.kinds.of_lane[self.lane[unique]])
        return self.kinds.executions(kind, int(self.site[unique]))


class UniqueCalls(NamedTuple):
    """The unique calls of a trace, or of a part of one."""

    columns: Mapping[str, npt.NDArray[Any]]  # by their names in :class:`Reduced`
    exchanges: Exchanges
    communicators: UsedCommunicators

    @classmethod
    def of(
        cls,
        trace: Trace,
        calls: Calls,
        of_call: npt.NDArray[np.int32],
        sites: int,
        received: Received | None = None,
    ) -> UniqueCalls:
        """The unique ones of some calls, by rank and any of so many sites."""
        counters = trace.counter_names
        location, after, *bursts = columns_of(
            trace, "bursts", "location", "call_after", "start_ns", "end_ns", *counters
        )
        begins = np.searchsorted(location, calls.locations)
        ends = np.searchsorted(location, calls.locations, side="right")
        columns = _core.reduce_calls(
            calls.lane_begin,
            calls.ranks,
            calls.world_size,
            of_call,
            sites,
            [calls.enter_ns, calls.leave_ns, calls.sent_bytes, calls.received_bytes],
            [calls.communicator, calls.peer, calls.root, calls.ordinal],
            [begins, ends],
            after,
            bursts,
        )
        columns["site"] = columns.pop("signature")
        unique = len(columns["lane"])
        for name in ("peer", "offset", "burst_counters", "iteration_counters"):
            columns[name] = columns[name].reshape(unique, len(columns[name]) // max(unique, 1))
        columns["is_root"] = columns["is_root"].view(np.bool_)
        enter_ns, begin = columns.pop("enter_ns"), columns["begin"]
        columns["first_ns"], columns["last_ns"] = enter_ns[begin[:-1]], enter_ns[begin[1:] - 1]
        del enter_ns, bursts
        keys = columns["lane"] * sites + columns["site"]
        of_unique = np.searchsorted(keys, calls.lane * sites + of_call)
        there_are = trace.communicators.num_rows
        return cls(
            columns,
            Exchanges.of(trace, calls, of_unique, received),
            UsedCommunicators.of(calls, of_unique, there_are),
        )

    def at_sites(self, numbers: Integers) -> UniqueCalls:
        """The same, where each site has another number, in the same order."""
        return self._replace(columns={**self.columns, "site": numbers[self.columns["site"]]})


def reduce_to_sites(trace: Trace, calls: Calls, sites: Sites) -> Reduced:
    """The unique ones of some calls, by rank and any sites."""
    kinds = Kinds.of(sites.of_call, calls.lane_begin, calls.enter_ns)
    unique = UniqueCalls.of(trace, calls, sites.of_call, len(sites))
    return reduced_of(trace, calls, sites, kinds, [unique])


def reduced_of(
    trace: Trace, calls: Calls, sites: Sites, kinds: Kinds, parts: Sequence[UniqueCalls]
) -> Reduced:
    """The unique calls of a trace, of all its parts, at sites in whose order they are."""
    columns: dict[str, npt.NDArray[Any]] = {
        name: np.concatenate([part.columns[name] for part in parts])
        for name in parts[0].columns
        if name not in ("begin", "lane")
    }
    columns["begin"] = prefix_sums(
        np.concatenate([np.diff(part.columns["begin"]) for part in parts])
    )
    own = [part.columns["lane"] for part in parts]
    before = prefix_sums(np.array([int(lane.max(initial=-1)) + 1 for lane in own]))
    columns["lane"] = np.concatenate(
        [lane + first for lane, first in zip(own, before[:-1], strict=True)]
    )
    return Reduced(
        exchanges=Exchanges.of_all([part.exchanges for part in parts]),
        memberships=Memberships.of(
            trace, calls, [part.communicators for part in parts], columns["site"]
        ),
        kinds=kinds,
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
