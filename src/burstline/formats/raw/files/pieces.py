"""What one thread recorded, wherever in the files of its process it stands.

::

    p-node-17.raw    │thread 0 ......│1 ...│0, from record 8 .........│1, from 3 ..│
    p-node-17.tail   │1, from 9 ..000│0, from 17 .....00000000000000000│
                         └► of each thread its pieces, in order, what is in both once

Nothing is copied: pieces are views of mapped files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby, pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline.columns import Integers
from burstline.formats.definitions import LITTLE
from burstline.formats.intake import BASE, Defects, require_bytes
from burstline.formats.raw.files.layout import LATEST, RECORD, Kind

_FAR: Final = 1 << 48  # records; no thread has so many
_THREAD_BYTES: Final = 12 << 10
_PIECE_BYTES: Final = 1 << 10
_WAY_OUT: Final = "Allow more memory (`memory`): each thread takes some, however short it is."


class Room:
    """What threads and their pieces take beside their records, counted before it is taken."""

    def __init__(self, memory: int | None) -> None:
        self._memory = memory
        self.taken = 0

    def take(self, numbers: Integers) -> None:
        """Take room for pieces of threads with these numbers; refuse what is not allowed."""
        self.taken += len(np.unique(numbers)) * _THREAD_BYTES + len(numbers) * _PIECE_BYTES
        if self.taken > LITTLE:
            require_bytes(BASE + self.taken, self._memory, way_out=_WAY_OUT)


class Piece(NamedTuple):
    """Records of a thread that stand together."""

    number: int  # of the thread
    before: int  # how many of its records stand in pieces before
    start_ns: int  # when the thread was seen first
    stored: npt.NDArray[Any]  # its head, and what follows

    @property
    def records(self) -> npt.NDArray[Any]:
        """What follows its head."""
        return self.stored[1:]


class Pieces:
    """Records that stand in several places, as one sequence."""

    def __init__(self, parts: Sequence[npt.NDArray[Any]]) -> None:
        self.parts = parts
        self._ends = list(accumulate(map(len, parts)))
        self._firsts = [0, *self._ends][: len(parts)]

    def __len__(self) -> int:
        """How many records there are."""
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, key: int | slice | Integers) -> Any:  # noqa: ANN401 -- as of an array
        """A record, those of a slice, or those in places; a copy where they stand apart."""
        if isinstance(key, slice):
            return self._slice(*key.indices(len(self))[:2])
        if isinstance(key, np.ndarray):
            none = np.zeros(0, RECORD)
            return np.concatenate([none, *(self._slice(at, at + 1) for at in key.tolist())])
        return self._slice(key, key + 1)[0]

    def _slice(self, begin: int, end: int) -> npt.NDArray[Any]:
        place = int(np.searchsorted(self._ends, begin, "right"))
        found = []
        for first, part in zip(self._firsts[place:], self.parts[place:], strict=True):
            if first >= end:
                break
            found.append(part[max(begin - first, 0) : end - first])
        if len(found) == 1:
            return found[0]
        return np.concatenate(found) if found else np.zeros(0, RECORD)


def in_file(records: npt.NDArray[Any], heads: Integers) -> Iterator[Piece]:
    """The pieces of a raw file, whose heads stand in these places."""
    for head, end in pairwise([*heads.tolist(), len(records)]):
        yield _piece_of(records[head:end])


def in_tail(records: npt.NDArray[Any]) -> Iterator[Piece]:
    """The pieces of a tail: from each head to the next one, or to where nothing is written."""
    kind = np.ascontiguousarray(records["kind"])
    heads = np.flatnonzero(kind == Kind.THREAD)
    is_written = kind != Kind.END_OF_FILE
    ends = np.flatnonzero(is_written[:-1] & ~is_written[1:]) + 1
    ends = np.unique(np.concatenate([ends, heads, [len(records)]]))
    for head, end in zip(
        heads.tolist(), ends[np.searchsorted(ends, heads, "right")], strict=True
    ):
        yield _piece_of(records[head:end])


def _piece_of(records: npt.NDArray[Any]) -> Piece:
    head = records[0]
    return Piece(int(head["a"]), int(head["b"]), int(head["time"]), records)


def by_thread(
    pieces: Iterable[Piece], name: str, defects: Defects
) -> Iterator[tuple[int, int, npt.NDArray[Any] | Pieces]]:
    """Number, start and records of each thread, in their order."""

    def order(piece: Piece) -> tuple[int, int, int]:
        return piece.number, piece.before, -len(piece.records)

    for number, own in groupby(sorted(pieces, key=order), key=lambda piece: piece.number):
        parts, covered, start_ns, missing = [], 0, LATEST, 0
        for piece in own:
            if piece.before > _FAR:
                defects.note("unknown_record", "loss", f"{name}: a piece of thread {number}")
                continue
            start_ns = min(start_ns, piece.start_ns)
            if piece.before > covered:
                missing += piece.before - covered
                covered = piece.before
            fresh = piece.records[covered - piece.before :]
            if len(fresh):
                parts.append(fresh)
                covered += len(fresh)
        defects.note("missing_record", "loss", f"{name}: {missing}, thread {number}", missing)
        yield number, start_ns, parts[0] if len(parts) == 1 else Pieces(parts)
