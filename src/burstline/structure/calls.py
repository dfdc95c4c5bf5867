"""The MPI calls of a trace, and what makes two of them the same call.

::

    calls, call_paths  -->  Calls: columns, lane after lane  -->  Signed: a signature per call
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from burstline.columns import dense
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.operations import NAMES
from burstline.schema import UNKNOWN
from burstline.structure.callpaths import Path, clean_paths

if TYPE_CHECKING:
    import numpy.typing as npt

    from burstline.columns import Integers
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


class Calls:
    """The columns of the MPI calls of one application, lane after lane, in time order.

    Attributes
    ----------
    application : int
        Whose calls they are.
    locations, ranks : ndarray of int64, shape (lanes,)
        Location and rank of each lane: a thread that calls MPI.
    lane_begin : ndarray of int64, shape (lanes + 1,)
        Where the calls of each lane begin.
    lane, row : ndarray of int64, shape (calls,)
        Lane of each call, and its row in the table.
    world_size : int
        Ranks there are, those without calls included.
    run_ns : int
        From the end of the first MPI call to the beginning of the last.

    Raises
    ------
    NotEnoughDataError
        If there is no MPI call.
    ParameterError
        If several applications call MPI and none is chosen.
    """

    def __init__(self, trace: Trace, application: int | None) -> None:
        applications, ranks = trace.arrays("locations", "application", "rank")
        offsets = trace.offsets("calls")
        calling = np.diff(offsets) > 0
        chosen = _chosen_application(applications[calling], application)
        self.application = int(chosen)
        lanes = np.flatnonzero(calling & (applications == chosen))
        if not len(lanes):
            raise NotEnoughDataError("the trace has no MPI calls to find loops in")
        of_application = applications == chosen
        self.locations = lanes
        self.ranks = ranks[lanes].astype(np.int64)
        counts = np.diff(offsets)[lanes]
        self.lane = np.repeat(np.arange(len(lanes)), counts)
        self.lane_begin = np.concatenate([[0], np.cumsum(counts)])
        starts = offsets[lanes]
        self.row = np.arange(len(self.lane)) + np.repeat(starts - self.lane_begin[:-1], counts)
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


@dataclass(frozen=True, slots=True, eq=False)
class Signed:
    """Calls with what makes each the same as others.

    Attributes
    ----------
    of_call : ndarray of int32, shape (calls,)
        Signature of every call.
    signatures : tuple of Signature
        In the order of their ids.
    has_paths : bool
        Whether the signatures are made of call paths.
    """

    of_call: npt.NDArray[np.int32]
    signatures: tuple[Signature, ...]
    has_paths: bool


def sign(trace: Trace, calls: Calls) -> Signed:
    """Give every call its signature.

    Two calls are the same if they have the same call path and operation. Without call
    paths, operation, communicator and the partner's rank relative to one's own take their
    place.

    Parameters
    ----------
    trace : Trace
        Its call paths are read.
    calls : Calls
        The calls of one application in it.

    Returns
    -------
    Signed
        A signature per call.
    """
    number, paths = clean_paths(trace)
    place = number[calls.call_path]
    has_paths = bool(place.any())
    places: list[tuple[Path, int | None, int | None]] = [(path, None, None) for path in paths]
    if not has_paths:
        place, places = _places_without_paths(calls)
    count = len(places)
    names = _operation_names(trace)
    signature, keys = dense(
        calls.operation.astype(np.int64) * count + place, len(names) * count
    )
    signatures = tuple(
        Signature(names[key // count], *places[key % count]) for key in keys.tolist()
    )
    return Signed(signature.astype(np.int32), signatures, has_paths)


def _operation_names(trace: Trace) -> list[str]:
    column = trace.calls["operation"]
    return column.chunk(0).dictionary.to_pylist() if column.num_chunks else list(NAMES)


def _places_without_paths(
    calls: Calls,
) -> tuple[Integers, list[tuple[Path, int | None, int | None]]]:
    offset = offsets(calls)
    communicator = calls.communicator.astype(np.int64)
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


def offsets(calls: Calls) -> Integers:
    """Rank of the partner relative to one's own, around the end; -1 without a partner."""
    own = calls.ranks[calls.lane]
    relative = (calls.peer - own) % calls.world_size
    return np.where(calls.peer >= 0, relative, UNKNOWN).astype(np.int64)
