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
FITS: Final[Mask] = np.array(
    [
        [end in _COMPLETED_BY.get(start, ()) for end in range(max(Kind) + 1)]
        for start in range(max(Kind) + 1)
    ]
)
IS_START: Final[Mask] = np.any(FITS, axis=1)
IS_END: Final[Mask] = np.any(FITS, axis=0)


def follow(
    details: Details, calls: Calls, process: Integers, defects: Defects, *, mark: int = 0
) -> Integers:
    """Find what completed each request, shape (records,).

    O(records log records). A request may be completed by another thread than the one that
    started it: then the time of the calls tells the order.
    """
    partner = np.full(len(details), UNKNOWN, np.int64)
    at = np.flatnonzero((details.request != 0) & (IS_START | IS_END)[details.kind])
    if not len(at):
        return partner
    kind = details.kind[at]
    is_end = IS_END[kind]
    order = _in_turn(details, calls, process, at, is_end)
    before, after = order[:-1], order[1:]
    joined = FITS[kind[before], kind[after]]
    for column in (process[details.location[at]], details.request[at]):
        joined &= column[before] == column[after]
    partner[at[before[joined]]] = at[after[joined]]
    partner[at[after[joined]]] = at[before[joined]]
    alone = is_end & (partner[at] < 0) & (kind != Kind.FREED) & details.is_own(at)
    if alone.any():
        first = at[int(alone.argmax())]
        asked = (int(details.request[first]) ^ mark) & 0xFFFFFFFFFFFFFFFF
        text = f"location {details.location[first]}, request {asked}"
        defects.note("completion_without_start", "loss", text, np.count_nonzero(alone))
    return partner


def decided(details: Details, calls: Calls, process: Integers) -> Integers:
    """The probe that decided which message each receive takes, -1 where none did."""
    probe = np.full(len(details), UNKNOWN, np.int64)
    is_probe = details.kind == Kind.PROBE
    at = np.flatnonzero(is_probe & (details.request != 0))
    if not len(at):
        return probe
    at = np.flatnonzero((is_probe | (details.kind == Kind.RECEIVE)) & (details.request != 0))
    order = _in_turn(details, calls, process, at, ~is_probe[at])
    before, after = at[order[:-1]], at[order[1:]]
    joined = is_probe[before] & ~is_probe[after]
    for column in (process[details.location], details.request):
        joined &= column[before] == column[after]
    probe[after[joined]] = before[joined]
    return probe


def _in_turn(
    details: Details,
    calls: Calls,
    process: Integers,
    at: Integers,
    is_end: Mask,
) -> Integers:
    """Sort records that start or end requests by request and time, then as they stand."""
    call = details.call[at]
    time = np.where(is_end, calls.leave_ns[call], calls.enter_ns[call])
    return np.lexsort((time, details.request[at], process[details.location[at]]))
