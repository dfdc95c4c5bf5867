"""Halves of messages of a trace become events of an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline._core import Written
from burstline.columns import to_numpy
from burstline.formats.otf2.writing.messages import Side
from burstline.formats.otf2.writing.order import Happened, Turn
from burstline.schema import HALF_KINDS, NO_VALUE

if TYPE_CHECKING:
    from burstline.columns import Integers
    from burstline.formats.otf2.writing.communicators import Communicating
    from burstline.trace import Trace


_COLUMNS: Final = (
    "location",
    "seq",
    "time_ns",
    "communicator",
    "peer",
    "tag",
    "bytes",
    "request",
)
_SEND, _SEND_DONE, _POST, _RECEIVE = range(len(HALF_KINDS))
_TAG_BITS: Final = 0xFFFFFFFF


class Halves:
    """All halves of messages of a trace.

    Parameters
    ----------
    trace : Trace
        The trace.
    communicators : Communicating
        Those of its archive.
    application : ndarray of int64, shape (locations,)
        Of each location.
    """

    def __init__(
        self, trace: Trace, communicators: Communicating, application: Integers
    ) -> None:
        table = trace.half_messages
        self._rows = {name: to_numpy(table[name]).astype(np.int64) for name in _COLUMNS}
        self._kind = to_numpy(table["kind"]).astype(np.int64)
        self._of = Side(self._rows["location"])
        world = application[self._rows["location"]]
        process = communicators.processes(world, self._rows["peer"])
        self._communicator, self._partner = communicators.told(
            self._rows["communicator"], process, world
        )

    def tell(self, happened: Happened, location: int) -> None:
        """Add the halves of a location; a partner that nobody knows leaves its event out."""
        mine = self._of.of(location)
        rows = {name: column[mine] for name, column in self._rows.items()}
        kind, partner = self._kind[mine], self._partner[mine]
        asked = rows["request"] != NO_VALUE
        sizes = np.where(rows["bytes"] == NO_VALUE, 0, rows["bytes"])
        message = (partner, self._communicator[mine], rows["tag"] & _TAG_BITS, sizes)
        request = (rows["request"],)
        for half, written, turn, chosen, arguments in (
            (_SEND, Written.SEND, Turn.START, (partner >= 0) & ~asked, message),
            (_SEND, Written.ISEND, Turn.START, (partner >= 0) & asked, message + request),
            (_SEND_DONE, Written.SEND_DONE, Turn.COMPLETION, asked, request),
            (_POST, Written.POST, Turn.START, asked, request),
            (_RECEIVE, Written.RECEIVE, Turn.COMPLETION, (partner >= 0) & ~asked, message),
            (
                _RECEIVE,
                Written.IRECEIVE,
                Turn.COMPLETION,
                (partner >= 0) & asked,
                message + request,
            ),
        ):
            some = chosen & (kind == half)
            happened.add(
                written,
                rows["time_ns"][some],
                rows["seq"][some],
                turn,
                *(column[some] for column in arguments),
            )
