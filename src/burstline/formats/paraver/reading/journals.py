"""Journals that outgrow the memory allowed: of a conversion they go to files, else it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstline.formats.intake import append_to, require_bytes
from burstline.formats.paraver.reading.costs import COSTS

if TYPE_CHECKING:
    from pathlib import Path

    from burstline import _core


class JournalLimit:
    """Refuses journals that alone fill half of `memory`; the tables take `tables` bytes."""

    def __init__(self, memory: int | None, tables: int) -> None:
        self._memory, self._tables = memory, tables

    def relieve(self, journal: _core.Journal) -> None:
        """Refuse to go on if there are too many journals."""
        if self._memory is not None and journal.resident > self._memory // 2:
            needed = max(2 * journal.resident, self._tables)
            require_bytes(needed, self._memory, way_out=COSTS.way_out)


class JournalSpill:
    """Moves the journals of some buckets to files in a folder when they outgrow `memory`."""

    def __init__(self, folder: Path, buckets: int, memory: int) -> None:
        self._folder, self._buckets, self._memory = folder, buckets, memory

    def relieve(self, journal: _core.Journal) -> None:
        """Write all journals to their files if there are too many of them."""
        if journal.resident <= self._memory:
            return
        for bucket in range(self._buckets):
            append_to(self._path(bucket), journal.parts(bucket))
            journal.release(bucket)

    def restore(self, journal: _core.Journal, bucket: int) -> None:
        """Bring a bucket's journal back into memory and delete its file."""
        path = self._path(bucket)
        if path.exists():
            journal.restore(bucket, np.fromfile(path, np.uint8))
            path.unlink()

    def _path(self, bucket: int) -> Path:
        return self._folder / f"journal-{bucket:06d}"
