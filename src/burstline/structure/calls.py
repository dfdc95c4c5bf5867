"""The MPI calls of one application as columns, lane after lane."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from burstline.columns import Integers, prefix_sums
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.model import Trace


class Calls:
    """The columns of the MPI calls of one application, lane after lane, in time order."""

    application: int  # the only one that calls MPI, or the one chosen
    # (lanes,) location and rank of each lane: a thread that calls MPI
    locations: Integers
    ranks: Integers
    lane_begin: Integers  # (lanes + 1,) where the calls of each lane begin
    # (calls,) lane of each call, and its row in the table
    lane: Integers
    row: Integers
    world_size: int  # ranks there are, those without calls included
    run_ns: int  # from the end of the first MPI call to the beginning of the last

    def __init__(self, trace: Trace, application: int | None) -> None:
        applications, ranks = trace.arrays("locations", "application", "rank")
        offsets = trace.offsets("calls")
        calling = np.diff(offsets) > 0
        chosen = _chosen_application(applications[calling], application)
        self.application = int(chosen)
        of_application = applications == chosen
        self.locations = np.flatnonzero(calling & of_application)
        if not len(self.locations):
            raise NotEnoughDataError("the trace has no MPI calls to find loops in")
        self.ranks = ranks[self.locations].astype(np.int64)
        counts = np.diff(offsets)[self.locations]
        self.lane = np.repeat(np.arange(len(counts)), counts)
        self.lane_begin = prefix_sums(counts)
        first = offsets[self.locations] - self.lane_begin[:-1]
        self.row = np.arange(len(self.lane)) + np.repeat(first, counts)
        times = trace.arrays("calls", "enter_ns", "leave_ns", "sent_bytes", "received_bytes")
        taken = [column[self.row] for column in times]
        self.enter_ns, self.leave_ns, self.sent_bytes, self.received_bytes = taken
        ids = trace.arrays("calls", "communicator", "peer", "root")
        self.communicator, self.peer, self.root = (column[self.row] for column in ids)
        sizes = pc.list_value_length(trace.communicators["members"])
        highest = max(ranks[of_application].max(), self.peer.max())
        self.world_size = max(int(highest) + 1, pc.max(sizes).as_py() or 0)
        self.run_ns = int(max(self.enter_ns.max() - self.leave_ns.min(), 1))


def _chosen_application(applications: npt.NDArray[np.int32], application: int | None) -> int:
    if application is not None:
        return application
    callers = np.unique(applications).tolist()
    if len(callers) > 1:
        raise ParameterError(
            f"{len(callers)} applications call MPI: choose one of {callers} (`application`)"
        )
    return callers[0] if callers else 0
