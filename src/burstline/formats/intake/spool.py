"""Byte strings kept by key: in memory while there is room, in files when there is not.

A file is opened to append and closed again, so few are open at any time; what is taken
back is deleted.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from burstline.errors import NotEnoughDataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import numpy.typing as npt


class Spool:
    """Keeps byte strings by key, in the order in which they came."""

    def __init__(self, folder: Path, name: str, memory: int) -> None:
        self._folder, self._name, self._memory = folder, name, memory
        self._held: defaultdict[int, list[npt.NDArray[np.uint8]]] = defaultdict(list)
        self._bytes = 0

    def append(self, key: int, data: npt.NDArray[Any]) -> None:
        """Keep a copy of an array's bytes under a key."""
        if not data.size:
            return
        packed = np.frombuffer(data.tobytes(), np.uint8)
        self._held[key].append(packed)
        self._bytes += packed.nbytes
        if self._bytes > self._memory:
            self._spill()

    def _spill(self) -> None:
        for key, parts in self._held.items():
            append_to(self._path(key), parts)
        self._held.clear()
        self._bytes = 0

    def take(self, key: int) -> npt.NDArray[np.uint8]:
        """What was stored under a key, which is forgotten."""
        parts = list(self.pieces(key, -1))
        return np.concatenate(parts) if parts else np.empty(0, np.uint8)

    def pieces(self, key: int, size: int) -> Iterator[npt.NDArray[np.uint8]]:
        """What was kept under a key, a file in pieces of so many bytes; it is forgotten."""
        parts = self._held.pop(key, [])
        self._bytes -= sum(part.nbytes for part in parts)
        path = self._path(key)
        if path.exists():
            with path.open("rb") as file:
                while len(piece := np.fromfile(file, np.uint8, size)):
                    yield piece
            path.unlink()
        yield from parts

    def _path(self, key: int) -> Path:
        return self._folder / f"{self._name}-{key:06d}"


def append_to(path: Path, parts: Iterable[npt.NDArray[np.uint8]]) -> None:
    """Append arrays of bytes to a file, closing it again."""
    with path.open("ab") as file:
        for part in parts:
            file.write(part.data)


def require_disk(folder: Path, needed: int) -> None:
    """Refuse to begin what the disk cannot hold."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise NotEnoughDataError(
            f"{folder}: about {needed / 1e9:.1f} GB of disk are needed, {free / 1e9:.1f} GB "
            "are free. Choose an output on another disk, or cut the trace first."
        )
