"""Which event ordinals of a table contradict the times of calls and regions beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.columns import to_numpy
from burstline.schema.references import Wrong

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pyarrow as pa

    from burstline.columns import AnyIntegers

    Parts = Callable[[str, Sequence[str]], Iterable[pa.Table]]
    """Some columns of a table, in parts of whole locations."""

# Location, ordinal and time of what is checked. A team that was never joined has a time of its
# join without an event, so an ordinal may be too small.
_MOMENTS: Final = {
    "teams": (
        ("fork_location", "fork_seq", "fork_ns"),
        ("fork_location", "join_seq", "join_ns"),
    ),
}
_BESIDE: Final = (("calls", "call"), ("regions", "region"))


def first_misplaced(name: str, table: pa.Table, parts: Parts) -> Wrong | None:
    """The first ordinal from which an event before it is later; None without one.

    O(calls + regions) where there is such a column.
    """
    for columns in _MOMENTS.get(name, ()):
        if not table.num_rows or not set(columns) <= set(table.column_names):
            continue
        moments = [to_numpy(table[column]) for column in columns]
        for beside, noun in _BESIDE:
            for part in parts(beside, ("location", "enter_seq", "enter_ns")):
                found = _first_late(moments, [to_numpy(column) for column in part.columns])
                if found is not None:
                    row, event, place, enter_ns = found
                    expected = (
                        f"an event before that of {noun} {event} of location {place}, "
                        f"entered at {enter_ns}"
                    )
                    return Wrong(columns[1], row, str(moments[1][row]), expected)
    return None


def _first_late(
    moments: Sequence[AnyIntegers], events: Sequence[AnyIntegers]
) -> tuple[int, int, int, int] | None:
    """A moment, and the event of its location that is before it by number, but later.

    The row; the event's number on the location, the location, and the time of the event.
    """
    where, seq, time_ns = moments
    location, enter_seq, enter_ns = events
    for place in np.unique(where).tolist():
        begin, end = np.searchsorted(location, [place, place + 1])
        rows = np.flatnonzero(where == place)
        before = np.searchsorted(enter_seq[begin:end], seq[rows], "right") - 1
        rows, before = rows[before >= 0], before[before >= 0]
        late = enter_ns[begin:end][before] > time_ns[rows]
        if late.any():
            row = int(rows[late.argmax()])
            event = int((enter_ns[begin:end] > time_ns[row]).argmax())
            return row, event, place, int(enter_ns[begin + event])
    return None
