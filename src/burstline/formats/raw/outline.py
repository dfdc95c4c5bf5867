"""What must be known of a raw file before it is read: few records, found in one pass.

::

    kinds of all records ──► rows of definitions, clocks, ends │ first moment │ types of events
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline.formats.raw.layout import EVENTS, LATEST, TIMED, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from burstline.columns import Integers, Mask


_KINDS: Final = 1 << 16


def table_of(kinds: Iterable[int]) -> Mask:
    """Give a table that tells of every kind whether it is one of some.

    Examples
    --------
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


def _nothing() -> Integers:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """What one pass over the kinds of a file's records tells.

    Attributes
    ----------
    rows, kinds : ndarray, shape (rare records,)
        Where definitions, clock samples and ends are, and what each is.
    has_events : bool
        Whether anything happened.
    has_own : bool
        Whether the program recorded events itself, or its calls have labels.
    event_types : ndarray of int64
        Types of the program's events, sorted.
    first_ns : int
        Local time of the first record that has a sane one, -1 without any.
    """

    rows: Integers = field(default_factory=_nothing)
    kinds: Integers = field(default_factory=_nothing)
    has_events: bool = False
    has_own: bool = False
    event_types: Integers = field(default_factory=_nothing)
    first_ns: int = -1

    def of(self, kind: Kind) -> Integers:
        """Give the rows of a kind that is rare."""
        return self.rows[self.kinds == kind]


def outline_of(records: npt.NDArray[Any]) -> Outline:
    """Go over the kinds of the records of a file once.

    Parameters
    ----------
    records : ndarray of RECORD
        What a thread wrote.

    Returns
    -------
    Outline
        Its size is that of what is rare; O(records) time.
    """
    kind = np.ascontiguousarray(records["kind"])
    found = np.bincount(kind, minlength=_KINDS) > 0
    rows = np.flatnonzero(_RARE[kind]) if found[_RARE].any() else _nothing()
    types = _nothing()
    if found[Kind.EVENT]:
        types = np.unique(records["a"][kind == Kind.EVENT]).astype(np.int64)
    return Outline(
        rows=rows,
        kinds=kind[rows].astype(np.int64),
        has_events=bool(found[_EVENTS].any()),
        has_own=bool(found[_OWN].any()) or _has_labels(kind, found),
        event_types=types,
        first_ns=_first(records, kind),
    )


def _has_labels(kind: npt.NDArray[np.uint16], found: Mask) -> bool:
    """Tell whether a label stands in a call: after any enter, that is."""
    if not (found[Kind.LABEL] and found[Kind.ENTER]):
        return False
    last = len(kind) - 1 - int((kind[::-1] == Kind.LABEL).argmax())
    return int((kind == Kind.ENTER).argmax()) < last


def _first(records: npt.NDArray[Any], kind: npt.NDArray[np.uint16]) -> int:
    begin, width = 0, 1 << 10
    while begin < len(kind):
        piece = slice(begin, begin + width)
        good = _TIMED[kind[piece]] & (records["time"][piece] < LATEST)
        if good.any():
            return int(records["time"][begin + int(good.argmax())])
        begin, width = begin + width, 2 * width
    return -1
