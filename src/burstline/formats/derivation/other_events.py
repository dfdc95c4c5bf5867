"""Parameters and attributes as events of a type each; types and texts count by alphabet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from burstline.columns import coded, to_numpy
from burstline.extrae import ATTRIBUTE_TYPES, PARAMETER_TYPES
from burstline.schema import NO_VALUE, OTHER_EVENT_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from burstline.columns import Integers
    from burstline.trace import Trace

    _Named = tuple[int, str | None]

_TYPES: Final = {
    OTHER_EVENT_KINDS.index("parameter"): PARAMETER_TYPES,
    OTHER_EVENT_KINDS.index("attribute"): ATTRIBUTE_TYPES,
}
_COLUMNS: Final = ["location", "time_ns", "seq", "name", "value", "text"]
_MISCELLANEOUS: Final = 6


class Others:
    """Parameters and attributes of a trace as events, shape (events,)."""

    def __init__(self, trace: Trace) -> None:
        kinds = to_numpy(trace.other_events["kind"])
        chosen = np.flatnonzero(np.isin(kinds, list(_TYPES)))
        rows = trace.other_events.select(_COLUMNS).take(pa.array(chosen))
        location, time, seq, value = (
            to_numpy(rows[name]).astype(np.int64)
            for name in ("location", "time_ns", "seq", "value")
        )
        # location, time and ordinal; event type; value: numbers of texts from 1, or 0
        self.place = location, time, seq
        name, names = _coded(rows["name"])
        named = kinds[chosen].astype(np.int64) * len(names) + name
        codes, place = np.unique(named, return_inverse=True)
        pairs = [(pair // len(names), names[pair % len(names)]) for pair in codes.tolist()]
        self._types = _numbered(pairs)
        self.kind = np.array([self._types[pair] for pair in pairs], np.int64)[place.reshape(-1)]
        self.value = np.where(value == NO_VALUE, 0, value)
        self._texts: dict[int, dict[int, str]] = {}
        self._set_texts(*_coded(rows["text"]))

    def _set_texts(self, text: Integers, texts: list[str | None]) -> None:
        """Set the values of texts, which are codes; the last code is none."""
        none = len(texts) - 1
        rows = np.flatnonzero(text < none)
        keys = self.kind[rows] * len(texts) + text[rows]
        distinct, place = np.unique(keys, return_inverse=True)
        texts_of: dict[int, list[tuple[str, int]]] = {}
        for position, (kind, code) in enumerate(
            divmod(key, len(texts)) for key in distinct.tolist()
        ):
            texts_of.setdefault(kind, []).append((texts[code] or "", position))
        numbers = np.zeros(len(distinct), np.int64)
        for kind, pairs in texts_of.items():
            ordered = sorted(pairs)
            numbers[[position for _, position in ordered]] = np.arange(1, len(pairs) + 1)
            self._texts[kind] = dict(enumerate((word for word, _ in ordered), start=1))
        self.value[rows] = numbers[place.reshape(-1)]

    def labels(self) -> Iterator[tuple[dict[int, str], int, dict[int, str]]]:
        """Yield labels of types, their colour, and labels of values."""
        for (_, name), kind in self._types.items():
            label = " ".join((name or "").split()) or f"{kind}"
            yield {kind: label}, _MISCELLANEOUS, self._texts.get(kind, {})


def _coded(column: pa.ChunkedArray) -> tuple[Integers, list[str | None]]:
    """Words as codes, and the word of each code; the last code is none."""
    codes, words = coded(column.dictionary_encode())
    return np.where(codes < 0, len(words), codes).astype(np.int64), [*words, None]


def _numbered(named: list[_Named]) -> dict[_Named, int]:
    types = {}
    for kind, numbers in _TYPES.items():
        names = sorted(
            (name is not None, name or "") for event_kind, name in named if event_kind == kind
        )
        for place, (is_named, name) in enumerate(names):
            types[kind, name if is_named else None] = numbers[place % len(numbers)]
    return types
