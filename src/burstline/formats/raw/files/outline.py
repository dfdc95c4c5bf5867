"""What must be known of a raw file before it is read: few records, found in one pass.

::

    kinds of all records ──► rows of definitions, clocks, ends │ first moment │ types of events
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline.formats.raw.files.layout import EVENTS, LATEST, TIMED, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy.typing as npt

    from burstline.columns import Integers, Mask

_BLOCK: Final = 1 << 18  # records
_KINDS: Final = 1 << 16
_COUNTED: Final = max(Kind) + 1


def blocks(records: npt.NDArray[Any]) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Blocks of records and the number of the first of each; pages gone over are released."""
    for first in range(0, len(records), _BLOCK):
        yield first, records[first : first + _BLOCK]
        release(records)


def release(records: npt.NDArray[Any]) -> None:
    """Release the pages that were read of a mapped file; they come back when needed."""
    mapped = getattr(records, "_mmap", None)
    if isinstance(mapped, mmap.mmap):
        mapped.madvise(mmap.MADV_DONTNEED)


def table_of(kinds: Iterable[int]) -> Mask:
    """A table that tells of every kind whether it is one of some.

    >>> import numpy as np
    >>> table_of([Kind.SEND])[np.array([12, 13, 12], np.uint16)].tolist()
    [True, False, True]
    """
    table = np.zeros(_KINDS, bool)
    table[list(kinds)] = True
    return table


_RARE: Final = table_of([*range(Kind.RANK, Kind.NAME + 1), Kind.CLOCK, Kind.LEFT])
_EVENTS: Final = table_of(EVENTS)
_TIMED: Final = table_of(TIMED)
_OWN: Final = table_of([Kind.EVENT, Kind.LOOP_ITERATION])


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """What one pass over the kinds of a file's records tells."""

    # (rare records,) where definitions, clock samples and ends are, and what each is
    rows: Integers
    kinds: Integers
    has_events: bool  # whether anything happened
    has_calls: bool  # whether its thread calls MPI
    # whether the program recorded events itself, or its calls have labels
    has_own: bool
    # types of the program's events, sorted
    event_types: Integers
    first_ns: int  # local time of the first record that has a sane one, -1 without any
    # how many records of each kind there are
    counts: Integers
    stretch: int  # most records between two calls: no file can be cut there

    def of(self, kind: Kind) -> Integers:
        """The rows of a kind that is rare."""
        return self.rows[self.kinds == kind]


def outline_of(records: npt.NDArray[Any]) -> Outline:
    """What a thread wrote, in outline: gone over in blocks; as large as what is rare."""
    none = np.zeros(0, np.int64)
    types, rows, kinds = [none], [none], [none]
    counts, stretch, last_enter = np.zeros(_KINDS, np.int64), 0, 0
    first_enter, last_label, first_ns = len(records), -1, -1
    for begin, block in blocks(records):
        kind = np.ascontiguousarray(block["kind"])
        count = np.bincount(kind, minlength=_KINDS)
        counts += count
        here = count > 0
        if here[_RARE].any():
            at = np.flatnonzero(_RARE[kind])
            rows.append(at + begin)
            kinds.append(kind[at].astype(np.int64))
        if here[Kind.EVENT]:
            types.append(np.unique(block["a"][kind == Kind.EVENT]).astype(np.int64))
        if here[Kind.ENTER]:
            enters = np.flatnonzero(kind == Kind.ENTER) + begin
            stretch = max(stretch, int(np.diff(enters, prepend=last_enter).max()))
            last_enter = int(enters[-1])
            first_enter = min(first_enter, int(enters[0]))
        if here[Kind.LABEL]:
            last_label = begin + len(kind) - 1 - int((kind[::-1] == Kind.LABEL).argmax())
        if first_ns < 0:
            first_ns = _first(block, kind)
    occurs = counts > 0
    return Outline(
        rows=np.concatenate(rows),
        kinds=np.concatenate(kinds),
        has_events=bool(occurs[_EVENTS].any()),
        has_calls=bool(occurs[Kind.ENTER]),
        # A label outside of any call says nothing.
        has_own=bool(occurs[_OWN].any()) or first_enter < last_label,
        event_types=np.unique(np.concatenate(types)),
        first_ns=first_ns,
        counts=counts[:_COUNTED].copy(),
        stretch=max(stretch, len(records) - last_enter),
    )


def _first(records: npt.NDArray[Any], kind: npt.NDArray[np.uint16]) -> int:
    begin, width = 0, 1 << 10
    while begin < len(kind):
        piece = slice(begin, begin + width)
        good = _TIMED[kind[piece]] & (records["time"][piece] < LATEST)
        if good.any():
            return int(records["time"][begin + int(good.argmax())])
        begin, width = begin + width, 2 * width
    return -1
