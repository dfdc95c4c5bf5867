"""Both sides of messages, and everybody's part in collectives, as events of locations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import operations
from burstline._core import Written
from burstline.columns import to_numpy
from burstline.formats.otf2.collective_operations import COLLECTIVE_OPERATIONS, NO_ROOT
from burstline.formats.otf2.writing.order import Happened, Turn
from burstline.schema import NO_VALUE, SEND_DONE_SOURCES, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from burstline.columns import Integers, Mask
    from burstline.formats.otf2.writing.communicators import Communicating
    from burstline.trace import Trace

    Calls = dict[str, Integers]

_MESSAGE: Final = (
    "sender_location",
    "send_call",
    "send_ns",
    "send_seq",
    "send_done_call",
    "send_done_ns",
    "send_done_seq",
    "send_done_from",
    "receiver_location",
    "post_call",
    "post_ns",
    "post_seq",
    "receive_call",
    "receive_ns",
    "receive_seq",
    "communicator",
    "tag",
    "sent_bytes",
    "received_bytes",
    "send_request",
    "receive_request",
)
_MEMBER: Final = (
    "collective",
    "location",
    "call",
    "done_call",
    "begin_ns",
    "end_ns",
    "begin_seq",
    "end_seq",
    "sent_bytes",
    "received_bytes",
)
_RECORDED: Final = SEND_DONE_SOURCES.index("recorded")
_TAG_BITS: Final = 0xFFFFFFFF
_CREATES, _DESTROYS = 17, 18
_ENDS: Final = ("Finalize", "free", "disconnect", "close")
_BEGINS: Final = (
    "Init",
    "Comm_",
    "Intercomm",
    "Cart_",
    "Graph_",
    "Dist_graph",
    "Win_",
    "File_open",
)
_NOT_MPI: Final = 255
"""Operation of a call that the format has no collective for."""

_OWN_REQUESTS: Final = 1 << 48
"""Requests that have no id in the trace are numbered from here."""


class Side:
    """Rows sorted by the location they are about."""

    def __init__(self, location: Integers) -> None:
        self.order = np.argsort(location, kind="stable")
        self._sorted = location[self.order]

    def of(self, location: int) -> Integers:
        """Give the rows of a location."""
        first, last = np.searchsorted(self._sorted, [location, location + 1])
        return self.order[first:last]


class Stamp:
    """When something happened: by its own ordinal, or else by that of its call."""

    def __init__(self, seq: Integers, call: Integers, time: Integers, calls: Calls) -> None:
        inside = (call >= 0) & (call < len(calls["enter_seq"]))
        at = np.where(inside, call, 0)
        enter = np.append(calls["enter_seq"], 0)[at]
        own = seq != NO_VALUE
        self.known = own | inside
        self.seq = np.where(own, seq, enter)
        first, last = (np.append(calls[name], 0)[at] for name in ("enter_ns", "leave_ns"))
        self.time = np.where(inside, np.clip(time, first, np.maximum(first, last)), time)
        self.is_enter = inside & (self.seq == enter)

    def turn(self, otherwise: Turn, at_enter: Turn) -> Integers:
        """Give the turn: another one behind the enter of the call than before its leave."""
        return np.where(self.is_enter, int(at_enter), int(otherwise))


class Messages:
    """All messages of a trace.

    Parameters
    ----------
    trace : Trace
        The trace.
    communicators : Communicating
        Those of its archive.
    application, process : ndarray of int64, shape (locations,)
        Of each location.
    """

    def __init__(
        self,
        trace: Trace,
        communicators: Communicating,
        application: Integers,
        process: Integers,
    ) -> None:
        table = trace.messages
        self._rows = {name: to_numpy(table[name]).astype(np.int64) for name in _MESSAGE}
        sender, receiver = self._rows["sender_location"], self._rows["receiver_location"]
        self._senders, self._receivers = Side(sender), Side(receiver)
        row, world = self._rows["communicator"], application[sender]
        named, self._to = communicators.told(row, process[receiver], world)
        again, self._from = communicators.told(row, process[sender], world)
        # Both sides name one communicator: the world, if either is no member.
        apart = np.flatnonzero(named != again)
        for rows, side in ((apart, receiver), (apart, sender)):
            nobody = np.full(len(rows), UNKNOWN)
            found = communicators.told(nobody, process[side[rows]], world[rows])
            (self._to if side is receiver else self._from)[rows] = found[1]
            named[rows] = found[0]
        self._communicator = named

    def tell(self, happened: Happened, location: int, calls: Calls) -> None:
        """Add what a location did for messages.

        Parameters
        ----------
        happened : Happened
            Takes the events.
        location : int
            Which location.
        calls : dict of str to ndarray of int64
            Its calls.
        """
        self._tell_sends(happened, self._senders.of(location), calls)
        self._tell_receives(happened, self._receivers.of(location), calls)

    def _tell_sends(self, happened: Happened, mine: Integers, calls: Calls) -> None:
        rows = {name: column[mine] for name, column in self._rows.items()}
        stamp = Stamp(rows["send_seq"], rows["send_call"], rows["send_ns"], calls)
        has_request = rows["send_request"] != NO_VALUE
        kind = np.where(has_request, int(Written.ISEND), int(Written.SEND))
        what = (self._to[mine], self._communicator[mine], rows["tag"] & _TAG_BITS)
        _add(
            happened,
            kind,
            stamp,
            stamp.known,
            stamp.turn(Turn.COMPLETION, Turn.START),
            *what,
            rows["sent_bytes"],
            np.where(has_request, rows["send_request"], 0),
        )
        done = has_request & (rows["send_done_from"] == _RECORDED)
        done &= rows["send_done_ns"] != NO_VALUE
        at = Stamp(rows["send_done_seq"], rows["send_done_call"], rows["send_done_ns"], calls)
        turn = at.turn(Turn.COMPLETION, Turn.FOLLOWUP)
        _add(happened, Written.SEND_DONE, at, done & at.known, turn, rows["send_request"])

    def _tell_receives(self, happened: Happened, mine: Integers, calls: Calls) -> None:
        rows = {name: column[mine] for name, column in self._rows.items()}
        stamp = Stamp(rows["receive_seq"], rows["receive_call"], rows["receive_ns"], calls)
        has_request = rows["receive_request"] != NO_VALUE
        posted = Stamp(rows["post_seq"], rows["post_call"], rows["post_ns"], calls)
        turn = posted.turn(Turn.COMPLETION, Turn.START)
        request = np.where(has_request, rows["receive_request"], 0)
        _add(happened, Written.POST, posted, has_request & posted.known, turn, request)
        kind = np.where(has_request, int(Written.IRECEIVE), int(Written.RECEIVE))
        _add(
            happened,
            kind,
            stamp,
            stamp.known & (posted.known | ~has_request),
            stamp.turn(Turn.COMPLETION, Turn.FOLLOWUP),
            self._from[mine],
            self._communicator[mine],
            rows["tag"] & _TAG_BITS,
            rows["received_bytes"],
            request,
        )


class Collectives:
    """All parts of collectives of a trace; parameters as of :class:`Messages`."""

    def __init__(
        self,
        trace: Trace,
        communicators: Communicating,
        application: Integers,
        process: Integers,
    ) -> None:
        table, instances = trace.collective_members, trace.collectives
        self._rows = {name: to_numpy(table[name]).astype(np.int64) for name in _MEMBER}
        location, instance = self._rows["location"], self._rows["collective"]
        self._members = Side(location)
        codes = to_numpy(instances["operation"]).astype(np.int64)
        kinds = np.array([_operation(name) for name in _names(instances)], np.int64)
        self._operation = np.append(kinds, _NOT_MPI)[codes[instance]]
        row = to_numpy(instances["communicator"]).astype(np.int64)[instance]
        root = to_numpy(instances["root"]).astype(np.int64)[instance]
        world = application[location]
        self._communicator, _ = communicators.told(row, process[location], world)
        of_rank = communicators.processes(world, root)
        found, rank = communicators.told(row, of_rank, world)
        is_there = (root >= 0) & (rank >= 0) & (found == self._communicator)
        self._root = np.where(is_there, rank, NO_ROOT)

    def tell(self, happened: Happened, location: int, calls: Calls) -> None:
        """Add a location's parts; see :meth:`Messages.tell`."""
        mine = self._members.of(location)
        mine = mine[self._operation[mine] != _NOT_MPI]
        rows = {name: column[mine] for name, column in self._rows.items()}
        begin = Stamp(rows["begin_seq"], rows["call"], rows["begin_ns"], calls)
        end = Stamp(rows["end_seq"], rows["done_call"], rows["end_ns"], calls)
        complete = (rows["done_call"] >= 0) & (rows["end_ns"] != NO_VALUE)
        blocking = rows["done_call"] == rows["call"]
        started = ~blocking & complete
        what = (self._operation[mine], self._communicator[mine], self._root[mine])
        sizes = (rows["sent_bytes"], rows["received_bytes"])
        turn = begin.turn(Turn.COMPLETION, Turn.START)
        request = _OWN_REQUESTS + mine
        _add(happened, Written.COLLECTIVE_BEGIN, begin, blocking, turn)
        _add(happened, Written.COLLECTIVE_START, begin, started, turn, request)
        turn = end.turn(Turn.COMPLETION, Turn.FOLLOWUP)
        _add(happened, Written.COLLECTIVE_END, end, blocking, turn, *what, *sizes)
        kind = Written.COLLECTIVE_COMPLETE
        _add(happened, kind, end, started, turn, *what, *sizes, request)


def _add(
    happened: Happened,
    kind: int | Integers,
    stamp: Stamp,
    which: Mask,
    turn: Integers,
    *arguments: Integers,
) -> None:
    kind = kind[which] if isinstance(kind, np.ndarray) else int(kind)
    told = [argument[which] for argument in arguments]
    happened.add(kind, stamp.time[which], stamp.seq[which], turn[which], *told)


def _names(instances: pa.Table) -> Sequence[str]:
    if not instances.num_rows:
        return operations.NAMES
    names: list[str] = instances["operation"].chunk(0).dictionary.to_pylist()
    return names


def _operation(name: str) -> int:
    """Give the format's number of a collective operation."""
    plain = name.removeprefix("MPI_")
    if name in operations.NON_BLOCKING_COLLECTIVES and plain.startswith("I"):
        plain = plain[1:]
    plain = plain.capitalize().removeprefix("Neighbor_").removesuffix("_init").capitalize()
    if plain in COLLECTIVE_OPERATIONS:
        return COLLECTIVE_OPERATIONS.index(plain)
    if plain.endswith(_ENDS):
        return _DESTROYS
    return _CREATES if plain.startswith(_BEGINS) and "fence" not in plain else _NOT_MPI
