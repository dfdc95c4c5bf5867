"""What the ranks of a signature run left: where they came, and when."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from pathlib import Path
from typing import Final

from burstline.errors import FormatError
from burstline.model import NAMES
from burstline.record.signing.plan import Plan

_MAGIC: Final = b"BURSTSGR"
_VERSION: Final = 1
_HEAD: Final = struct.Struct("<8s11Q")
_STAMP: Final = struct.Struct("<3Q")
_LIBRARY_BYTES: Final = 256
_MOST_DIGITS: Final = 10


class State(IntEnum):
    """What became of a rank, as the recorder numbers it; see ``signature.h``."""

    COUNTING = 0
    WAITING = 1
    CUT = 2
    FINALIZING = 3
    DISAGREES = 4
    THREADED = 5
    OTHER_WORLD = 6
    NO_PLAN = 7


@dataclass(frozen=True, slots=True)
class RankStamps:
    """What a rank left; times are those of its machine, in ns, and 0 if they never came."""

    rank: int
    size: int
    state: State
    counts: tuple[int, ...]  # of the boundaries that it reached
    ns: tuple[int, ...]
    init_ns: int
    finalize_ns: int
    cut_ns: int
    count: int
    hash: int
    operation: str | None  # the call that it was in
    library: str

    def is_done(self, plan: Plan) -> bool:
        """Whether the rank came to where it was to end."""
        cut = plan.of_rank(self.rank).cut
        return self.state == (State.FINALIZING if cut is None else State.CUT)


def read_stamps(path: Path, plan: Plan) -> RankStamps | None:
    """What a rank left; None as long as it has not begun.

    A program may write anywhere in its memory, and so in its file: all of it is a claim.
    """
    text = path.suffix[1:]
    number = int(text) if text.isdecimal() and len(text) < _MOST_DIGITS else -1
    expected = plan.of_rank(number).counts
    bare = _HEAD.size + _LIBRARY_BYTES
    longest = bare + len(expected) * _STAMP.size
    with path.open("rb") as file:
        data = file.read(longest + 1)
    if data[:8] in {b"", bytes(8)}:
        return None
    if not bare <= len(data) <= longest:
        raise _damaged(path, f"{len(data)} bytes or more")
    magic, version, rank, size, state, *counted = _HEAD.unpack_from(data)
    count, hashed, operation, init_ns, finalize_ns, cut_ns, reached = counted
    if (magic, version, rank) != (_MAGIC, _VERSION, number):
        raise _damaged(path, "something else")
    if state not in set(State) or rank >= size or operation > len(NAMES):
        raise _damaged(path, f"state {state} of rank {rank} of {size}")
    if bare + reached * _STAMP.size > len(data):
        raise _damaged(path, f"{reached} stamps")
    stamps = list(_STAMP.iter_unpack(data[_HEAD.size : _HEAD.size + reached * _STAMP.size]))
    counts, times = tuple(row[0] for row in stamps), tuple(row[2] for row in stamps)
    if counts != expected[:reached] or any(a > b for a, b in pairwise((init_ns, *times))):
        raise _damaged(path, "stamps of other boundaries, or out of order")
    library = data[-_LIBRARY_BYTES:].partition(b"\0")[0].decode(errors="replace")
    name = NAMES[operation - 1] if operation else None
    marks = init_ns, finalize_ns, cut_ns, count, hashed
    return RankStamps(rank, size, State(state), counts, times, *marks, name, library)


def _damaged(path: Path, found: str) -> FormatError:
    return FormatError(
        path, None, expected="the file of a rank, as the recorder writes it", found=found
    )
