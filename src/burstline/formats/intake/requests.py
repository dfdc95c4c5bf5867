"""Requests followed from the call that started them to the one that completed them.

::

    SEND, POST, COLLECTIVE ──request──► SEND_DONE, RECEIVE, COLLECTIVE_DONE, CANCELLED, FREED

Ids of requests are per process and may be used again: what completes an id completes what
was last started under it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.formats.intake.calls import Kind
from burstline.schema import UNKNOWN

if TYPE_CHECKING:
    from burstline.columns import Integers, Mask
    from burstline.formats.intake.calls import Calls, Details
    from burstline.formats.intake.defects import Defects


_COMPLETED_BY: Final[dict[int, tuple[Kind, ...]]] = {
    Kind.SEND: (Kind.SEND_DONE, Kind.CANCELLED, Kind.FREED),
    Kind.POST: (Kind.RECEIVE, Kind.CANCELLED, Kind.FREED),
    Kind.COLLECTIVE: (Kind.COLLECTIVE_DONE, Kind.CANCELLED, Kind.FREED),
}
_SIZE: Final = max(Kind) + 1
FITS: Final[Mask] = np.array(
    [[end in _COMPLETED_BY.get(start, ()) for end in range(_SIZE)] for start in range(_SIZE)]
)
"""Whether a kind of record, by row, starts what another, by column, completes."""

PROBED: Final[Mask] = np.zeros_like(FITS)
"""Whether a kind of record, by row, decides which message another, by column, takes."""
PROBED[Kind.PROBE, Kind.RECEIVE] = True


def follow(
    details: Details, calls: Calls, process: Integers, defects: Defects, *, mark: int = 0
) -> Integers:
    """What completed each request and what started it, as records; -1 without, (records,).

    O(records log records). A request may be completed by another thread than the one that
    started it: then the time of the calls tells the order.
    """
    partner = np.full(len(details), UNKNOWN, np.int64)
    start, end = _successions(details, calls, process, FITS)
    partner[start], partner[end] = end, start
    completes = np.any(FITS, axis=0)[details.kind] & (details.kind != Kind.FREED)
    alone = details.where(completes & (details.request != 0) & (partner < 0))
    if len(alone):
        request = (int(details.request[alone[0]]) ^ mark) & 0xFFFFFFFFFFFFFFFF
        text = f"location {details.location[alone[0]]}, request {request}"
        defects.note("completion_without_start", "loss", text, len(alone))
    return partner


def decided(details: Details, calls: Calls, process: Integers) -> Integers:
    """The probe that decided which message each receive takes, -1 where none did."""
    probe = np.full(len(details), UNKNOWN, np.int64)
    if ((details.kind == Kind.PROBE) & (details.request != 0)).any():
        before, receive = _successions(details, calls, process, PROBED)
        probe[receive] = before
    return probe


def _successions(
    details: Details, calls: Calls, process: Integers, fits: Mask
) -> tuple[Integers, Integers]:
    """Records that follow each other under one request, where the second fits the first.

    They are sorted by request and time, then as they stand.
    """
    starts, ends = np.any(fits, axis=1), np.any(fits, axis=0)
    at = np.flatnonzero((details.request != 0) & (starts | ends)[details.kind])
    call, owner, request = details.call[at], process[details.location[at]], details.request[at]
    time = np.where(ends[details.kind[at]], calls.leave_ns[call], calls.enter_ns[call])
    order = np.lexsort((time, request, owner))
    before, after = order[:-1], order[1:]
    joined = fits[details.kind[at[before]], details.kind[at[after]]]
    for column in (owner, request):
        joined &= column[before] == column[after]
    return at[before[joined]], at[after[joined]]
