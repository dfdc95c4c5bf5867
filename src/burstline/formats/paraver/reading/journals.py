"""Journals that outgrow the memory allowed go to files, or are only counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstline.formats.intake import append_to
from burstline.formats.paraver.reading.costs import bytes_of_whole

if TYPE_CHECKING:
    from pathlib import Path

    from burstline import _core


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
