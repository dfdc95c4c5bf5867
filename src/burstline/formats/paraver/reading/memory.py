"""What reading a Paraver trace takes, and journals that outgrow the memory allowed.

What becomes of a byte differs fivefold from trace to trace, so reading whole is refused by what
the scan counted, which is the same whatever was allowed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from burstline.formats.intake import BASE, append_to, way_by_store

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from burstline import _core
    from burstline.columns import Integers

WAY_OUT: Final = way_by_store("it", "TRACE")
"""What to do where a trace does not fit in memory."""
STREAMED: Final = 20.4
"""Bytes that a byte of text takes in a conversion until it is written, raw tables included."""
DISK: Final = 0.7
"""Bytes of spills and of the store per byte of text."""

_CALL_BYTES: Final = 86 + 52  # with its burst
_ROW_BYTES: Final = {"calls": _CALL_BYTES, "readings": 20, "regions": 88, "sends": 160}
_RAW_BYTES: Final = {"pairs": 36, "states": 28}


def bytes_of_tables(counts: Mapping[str, Integers], counters: int, *, raw: bool) -> int:
    """Bytes of the tables that become of what the scan counted, at most."""
    size = _ROW_BYTES | (_RAW_BYTES if raw else {})
    rows = {name: int(counts[name].sum()) for name in size}
    values = 8 * counters * (rows["readings"] + rows["calls"])
    return sum(size[name] * count for name, count in rows.items()) + values


def bytes_of_whole(tables: int, journals: int) -> int:
    """Bytes that reading whole takes: half of the journals go while the tables are made."""
    return BASE + max(tables + journals // 2, journals)


class JournalCount:
    """Counts the bytes of journals; those of a trace that will not fit in `memory` are dropped.

    The scan then goes on: it counts all that the tables need, and keeps none of it.
    """

    def __init__(self, buckets: int, memory: int | None) -> None:
        self._buckets, self._memory, self._dropped = buckets, memory, 0

    def relieve(self, journal: _core.Journal) -> None:
        """Drop all journals if there are too many."""
        if self._memory is None or bytes_of_whole(0, self.bytes_of(journal)) <= self._memory:
            return
        self._dropped += journal.resident
        for bucket in range(self._buckets):
            journal.release(bucket)

    def bytes_of(self, journal: _core.Journal) -> int:
        """Bytes of all journals, those dropped included."""
        return self._dropped + journal.resident


class JournalSpill:
    """Moves the journals of some buckets to files in a folder when they outgrow `memory`."""

    def __init__(self, folder: Path, buckets: int, memory: int) -> None:
        self._folder, self._buckets, self._memory = folder, buckets, memory

    def relieve(self, journal: _core.Journal) -> None:
        """Move all journals to their files if they are too large."""
        if journal.resident <= self._memory:
            return
        for bucket in range(self._buckets):
            append_to(self._path(bucket), journal.parts(bucket))
            journal.release(bucket)

    def restore(self, journal: _core.Journal, bucket: int) -> None:
        """Move a bucket's journal back into memory."""
        path = self._path(bucket)
        if path.exists():
            journal.restore(bucket, np.fromfile(path, np.uint8))
            path.unlink()

    def _path(self, bucket: int) -> Path:
        return self._folder / f"journal-{bucket:06d}"


Overflow: TypeAlias = JournalCount | JournalSpill
"""Takes journals that outgrow the memory allowed."""
