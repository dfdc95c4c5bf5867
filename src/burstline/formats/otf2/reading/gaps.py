"""Time not recorded: buffers being written, and measurement turned off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline._core import RecordKind
from burstline.columns import begins_run
from burstline.schema import GAP_KINDS, arrow_table

if TYPE_CHECKING:
    import pyarrow as pa

    from burstline.columns import Integers
    from burstline.formats.otf2.reading.records import Records


_ON: Final = 1


def gap_table(records: Records, died_ns: dict[int, int]) -> pa.Table:
    """The table `gaps`; what is never on again is off until its location ends."""
    flush = records.rows_of(RecordKind.FLUSH)
    columns = [
        np.stack(
            [
                records["location"][flush].astype(np.int64),
                records["time_ns"][flush],
                records["end_ns"][flush],
                np.full(len(flush), GAP_KINDS.index("flush")),
            ]
        ),
        _pauses(records, died_ns),
    ]
    rows = np.concatenate(columns, axis=1)
    rows = rows[:, rows[1] < rows[2]]
    rows = rows[:, np.lexsort((rows[2], rows[1], rows[0]))]
    return arrow_table(
        "gaps", dict(zip(("location", "start_ns", "end_ns", "kind"), rows, strict=True))
    )


def _pauses(records: Records, died_ns: dict[int, int]) -> Integers:
    rows = records.rows_of(RecordKind.MEASUREMENT)
    location, time = records["location"][rows].astype(np.int64), records["time_ns"][rows]
    off = records["mode"][rows] != _ON
    first = begins_run(location)
    before = np.append(False, off[:-1])[: len(rows)] & ~first
    begin = np.flatnonzero(off & ~before)
    end = np.flatnonzero(~off & before)
    # the end of a pause is the first one behind it, if that is on the same location
    of = np.searchsorted(end, begin)
    candidate = np.append(end, -1)[of] if len(begin) else begin
    same = (candidate >= 0) & (location[candidate] == location[begin])
    last = np.array([died_ns[row] for row in location[begin].tolist()], np.int64)
    stop = np.where(same, time[candidate], last) if len(begin) else last
    kind = np.full(len(begin), GAP_KINDS.index("tracing_off"))
    return np.stack([location[begin], time[begin], stop, kind])
