"""Parts of collectives, as events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import operations
from burstline._core import Written
from burstline.columns import coded
from burstline.formats.otf2.numbers import COLLECTIVE_OPERATIONS, NO_ROOT
from burstline.formats.otf2.writing.order import RowsByLocation, Stamp, Turn, columns_of
from burstline.schema import NO_VALUE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from burstline.columns import Columns
    from burstline.formats.otf2.writing.communicators import Communicators
    from burstline.formats.otf2.writing.order import Events
    from burstline.trace import Trace

_MEMBER: Final = (
    "collective",
    "location",
    "begin_seq",
    "call",
    "begin_ns",
    "end_seq",
    "done_call",
    "end_ns",
    "sent_bytes",
    "received_bytes",
)
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


class Collectives:
    """All parts of collectives in a trace."""

    def __init__(self, trace: Trace, communicators: Communicators) -> None:
        instances = trace.collectives
        self._rows = columns_of(trace.collective_members, _MEMBER)
        location, instance = self._rows["location"], self._rows["collective"]
        self._of = RowsByLocation(location)
        code, row, root = (
            column[instance]
            for column in columns_of(instances, ("operation", "communicator", "root")).values()
        )
        numbers = np.array([_number_of(name) for name in _operations_of(instances)], np.int64)
        self._operation = np.append(numbers, _NOT_MPI)[code]
        application = communicators.application[location]
        process = communicators.process[location]
        self._communicator, _ = communicators.named(row, process, application)
        root_process = communicators.processes(application, root)
        reference, rank = communicators.named(row, root_process, application)
        is_there = (root >= 0) & (rank >= 0) & (reference == self._communicator)
        self._root = np.where(is_there, rank, NO_ROOT)

    def add(self, events: Events, location: int, calls: Columns) -> None:
        """Add the parts of a location, in its `calls` or outside of them."""
        which = self._of.of(location)
        which = which[self._operation[which] != _NOT_MPI]
        begin_seq, call, begin_ns, end_seq, done_call, end_ns, *sizes = (
            self._rows[name][which] for name in _MEMBER[2:]
        )
        begin = Stamp(begin_seq, call, begin_ns, calls)
        end = Stamp(end_seq, done_call, end_ns, calls)
        turn = begin.turn(Turn.COMPLETION, Turn.START)
        request = _OWN_REQUESTS + which
        part = self._operation[which], self._communicator[which], self._root[which], *sizes
        blocking = done_call == call
        started = ~blocking & (done_call >= 0) & (end_ns != NO_VALUE)
        begun, ended = begin.moment, end.moment
        events.add(Written.COLLECTIVE_BEGIN, turn, begun, where=blocking)
        events.add(Written.COLLECTIVE_START, turn, begun, request, where=started)
        turn = end.turn(Turn.COMPLETION, Turn.FOLLOWUP)
        events.add(Written.COLLECTIVE_END, turn, ended, *part, where=blocking)
        events.add(Written.COLLECTIVE_COMPLETE, turn, ended, *part, request, where=started)


def _operations_of(instances: pa.Table) -> Sequence[str]:
    """Names of the operations of collectives by their codes."""
    return coded(instances["operation"])[1] or operations.NAMES


def _number_of(name: str) -> int:
    """The format's number of a collective operation."""
    plain = name.removeprefix("MPI_")
    if name in operations.NON_BLOCKING_COLLECTIVES and plain.startswith("I"):
        plain = plain[1:]
    plain = plain.capitalize().removeprefix("Neighbor_").removesuffix("_init").capitalize()
    if plain in COLLECTIVE_OPERATIONS:
        return COLLECTIVE_OPERATIONS.index(plain)
    if plain.endswith(_ENDS):
        return _DESTROYS
    return _CREATES if plain.startswith(_BEGINS) and "fence" not in plain else _NOT_MPI
