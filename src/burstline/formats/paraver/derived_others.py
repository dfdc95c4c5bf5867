"""Events for what no other table tells: parameters and attributes, each with a type of its own.

Types are given to names in alphabetical order, and to values that are texts numbers likewise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.schema import NO_VALUE
from burstline.trace import to_numpy

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from burstline.trace import Trace

    Integers = npt.NDArray[np.int64]

PARAMETER_TYPES: Final = range(78_000_000, 78_500_000)
"""Event types of parameters."""

ATTRIBUTE_TYPES: Final = range(78_500_000, 79_000_000)
"""Event types of attributes of events."""

_TYPES: Final = {"parameter": PARAMETER_TYPES, "attribute": ATTRIBUTE_TYPES}
_MISCELLANEOUS: Final = 6


class Others:
    """Parameters and attributes of a trace as events.

    Parameters
    ----------
    trace : Trace
        The trace.

    Attributes
    ----------
    place : tuple of ndarray of int64, shape (events,)
        Location, time and ordinal of each.
    kind, value : ndarray of int64, shape (events,)
        Event type and value. A text counts from 1; what is neither a number nor a text is 0.
    """

    def __init__(self, trace: Trace) -> None:
        rows = trace.other_events.select(
            ["location", "time_ns", "seq", "kind", "name", "value", "text"]
        )
        kinds = rows["kind"].to_pylist()
        some = [row for row, kind in enumerate(kinds) if kind in _TYPES]
        rows = rows.take(np.array(some, np.int64))
        location, time, seq, value = (
            to_numpy(rows[name]).astype(np.int64)
            for name in ("location", "time_ns", "seq", "value")
        )
        self.place = location, time, seq
        named = list(zip((kinds[row] for row in some), rows["name"].to_pylist(), strict=True))
        self._types = _numbered(named)
        self.kind = np.array([self._types[one] for one in named], np.int64)
        texts = rows["text"].to_pylist()
        self._texts = {
            kind: {word: number for number, word in enumerate(sorted(words), start=1)}
            for kind, words in _words(self.kind.tolist(), texts).items()
        }
        self.value = np.array(
            [
                self._texts[kind][text] if text is not None else 0 if one == NO_VALUE else one
                for kind, text, one in zip(
                    self.kind.tolist(), texts, value.tolist(), strict=True
                )
            ],
            np.int64,
        )

    def labels(self) -> Iterator[tuple[dict[int, str], int, dict[int, str]]]:
        """Give labels of types, their colour column, and labels of values."""
        for (_, name), kind in self._types.items():
            label = " ".join((name or "").split()) or f"{kind}"
            texts = {number: text for text, number in self._texts.get(kind, {}).items()}
            yield {kind: label}, _MISCELLANEOUS, texts


def _numbered(named: list[tuple[str, str | None]]) -> dict[tuple[str, str | None], int]:
    types = {}
    for kind, numbers in _TYPES.items():
        mine = sorted({one for one in named if one[0] == kind}, key=lambda one: one[1] or "")
        for place, one in enumerate(mine):
            types[one] = numbers[place % len(numbers)]
    return types


def _words(kinds: list[int], texts: list[str | None]) -> dict[int, set[str]]:
    words: dict[int, set[str]] = {}
    for kind, text in zip(kinds, texts, strict=True):
        if text is not None:
            words.setdefault(kind, set()).add(text)
    return words
