"""Requests followed from the call that started them to the one that completed them.

::

    SEND, POST, COLLECTIVE ──request──► SEND_DONE, RECEIVE, COLLECTIVE_DONE, CANCELLED, FREED

Ids of requests are per process and may be used again: what completes an id completes what
was last started under it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.formats.raw.layout import Kind
from burstline.schema import UNKNOWN

if TYPE_CHECKING:
    import numpy.typing as npt

    from burstline.formats.oddities import Oddities
    from burstline.formats.raw.calls import Calls, Details

    Integers = npt.NDArray[np.int64]

_COMPLETED_BY: Final = {
    Kind.SEND: (Kind.SEND_DONE, Kind.CANCELLED, Kind.FREED),
    Kind.POST: (Kind.RECEIVE, Kind.CANCELLED, Kind.FREED),
    Kind.COLLECTIVE: (Kind.COLLECTIVE_DONE, Kind.CANCELLED, Kind.FREED),
}
_STARTS: Final = np.array(list(_COMPLETED_BY))
_ENDS: Final = np.array(
    [Kind.SEND_DONE, Kind.RECEIVE, Kind.COLLECTIVE_DONE, Kind.CANCELLED, Kind.FREED]
)


def follow(details: Details, calls: Calls, process: Integers, odd: Oddities) -> Integers:
    """Find what completed each request.

    Parameters
    ----------
    details : Details
        Records of all calls.
    calls : Calls
        All calls.
    process : ndarray of int64, shape (locations,)
        Process of each location.
    odd : Oddities
        Told of completions of what was never started.

    Returns
    -------
    ndarray of int64, shape (records,)
        Of a record that starts a request, the record that ends it; of one that ends a
        request, the one that started it; else -1.

    Notes
    -----
    O(records log records). A request may be completed by another thread than the one that
    started it: then the time of the calls tells the order.
    """
    partner = np.full(len(details), UNKNOWN, np.int64)
    ends = np.isin(details.kind, _ENDS)
    at = np.flatnonzero((details.request != 0) & (ends | np.isin(details.kind, _STARTS)))
    if not len(at):
        return partner
    some, is_end = details.pick(at), ends[at]
    time = np.where(is_end, calls.leave_ns[some.call], calls.enter_ns[some.call])
    owner = process[some.location]
    order = np.lexsort((some.index, some.location, time, some.request, owner))
    before, after = order[:-1], order[1:]
    joined = (owner[before] == owner[after]) & (some.request[before] == some.request[after])
    joined &= ~is_end[before] & is_end[after]
    fits = np.zeros(len(before), bool)
    for start, possible in _COMPLETED_BY.items():
        mine = some.kind[before] == start
        fits |= mine & np.isin(some.kind[after], np.array(possible))
    joined &= fits
    partner[at[before[joined]]] = at[after[joined]]
    partner[at[after[joined]]] = at[before[joined]]
    alone = is_end & (partner[at] < 0) & (some.kind != Kind.FREED)
    if alone.any():
        first = int(alone.argmax())
        text = f"location {some.location[first]}, request {some.request[first]}"
        odd.note("completion_without_start", "loss", text, np.count_nonzero(alone))
    return partner
