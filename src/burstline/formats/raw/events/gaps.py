"""Time that nobody watched: records that were dropped or written out, and pauses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstline.columns import concatenated
from burstline.formats.raw.files.layout import Kind
from burstline.schema import GAP_KINDS, arrow_schema, arrow_table

if TYPE_CHECKING:
    import pyarrow as pa

    from burstline.columns import Columns, Integers
    from burstline.formats.intake import Defects
    from burstline.formats.raw.events.timeline import Timeline
    from burstline.formats.raw.processes.clocks import Correction


class Gaps:
    """The gaps of all locations."""

    def __init__(self, defects: Defects) -> None:
        self._defects = defects
        self._gaps: list[Columns] = []

    def add(self, line: Timeline, correction: Correction) -> None:
        """Take in the gaps of a location."""
        at = line.of(Kind.GAP)
        dropped = line.records["c"][at]
        lost = at[dropped > 0]
        if len(lost):
            count = sum(min(int(number), 1 << 50) for number in dropped.tolist())
            self._defects.note(
                "records_dropped", "loss", f"{line.name}: record {line.number[lost[0]]}", count
            )
        begin = np.minimum(line.when(line.records["b"][at], correction), line.time_ns[at])
        flush, drop = GAP_KINDS.index("flush"), GAP_KINDS.index("dropped")
        self._append(line, begin, line.time_ns[at], np.where(dropped > 0, drop, flush))
        begin, end = _pauses(line)
        self._append(line, begin, end, np.full(len(begin), GAP_KINDS.index("tracing_off")))

    def _append(self, line: Timeline, begin: Integers, end: Integers, kind: Integers) -> None:
        location = np.full(len(begin), line.location)
        gaps = {"location": location, "start_ns": begin, "end_ns": end, "kind": kind}
        lasts = begin < end
        self._gaps.append({name: column[lasts] for name, column in gaps.items()})

    def table(self) -> pa.Table:
        """The table `gaps`."""
        gaps = concatenated(arrow_schema("gaps").names, self._gaps)
        order = np.lexsort((gaps["end_ns"], gaps["start_ns"], gaps["location"]))
        return arrow_table("gaps", {name: column[order] for name, column in gaps.items()})


def _pauses(line: Timeline) -> tuple[Integers, Integers]:
    """Begin and end of each pause; one that is never ended lasts to the end."""
    at = line.of(Kind.PAUSE)
    stopped = line.records["a"][at] != 0
    turns = np.flatnonzero(np.diff(stopped.astype(np.int8), prepend=0))
    begin, end = line.time_ns[at[turns[::2]]], line.time_ns[at[turns[1::2]]]
    return begin, np.append(end, line.died_ns)[: len(begin)]
