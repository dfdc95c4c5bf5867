"""Events for what no other table has: parameters and attributes, each with a type of its own.

Types are given to names in alphabetical order, and to values that are texts numbers likewise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from burstline.columns import to_numpy
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
    """Parameters and attributes of a trace as events, shape (events,).

    `place` is location, time and ordinal of each; `kind` and `value` its event type and value:
    a text counts from 1; what is neither a number nor a text is 0.
    """

    def __init__(self, trace: Trace) -> None:
        kinds = to_numpy(trace.other_events["kind"])
        some = np.flatnonzero(np.isin(kinds, list(_TYPES)))
        rows = trace.other_events.select(_COLUMNS).take(pa.array(some))
        location, time, seq, value = (
            to_numpy(rows[name]).astype(np.int64)
            for name in ("location", "time_ns", "seq", "value")
        )
        self.place = location, time, seq
        name, names = _coded(rows["name"])
        named = kinds[some].astype(np.int64) * len(names) + name
        used, place = np.unique(named, return_inverse=True)
        known = [(one // len(names), names[one % len(names)]) for one in used.tolist()]
        self._types = _numbered(known)
        self.kind = np.array([self._types[one] for one in known], np.int64)[place.reshape(-1)]
        self.value = np.where(value == NO_VALUE, 0, value)
        self._texts: dict[int, dict[int, str]] = {}
        self._number_texts(*_coded(rows["text"]))

    def _number_texts(self, text: Integers, texts: list[str | None]) -> None:
        """Set the values of texts; they are places in a list, of which the last is none."""
        none = len(texts) - 1
        rows = np.flatnonzero(text < none)
        keys = self.kind[rows] * len(texts) + text[rows]
        used, place = np.unique(keys, return_inverse=True)
        of: dict[int, list[tuple[str, int]]] = {}
        for at, (kind, code) in enumerate(divmod(one, len(texts)) for one in used.tolist()):
            of.setdefault(kind, []).append((texts[code] or "", at))
        numbers = np.zeros(len(used), np.int64)
        for kind, mine in of.items():
            ordered = sorted(mine)
            numbers[[at for _, at in ordered]] = np.arange(1, len(mine) + 1)
            self._texts[kind] = dict(enumerate((word for word, _ in ordered), start=1))
        self.value[rows] = numbers[place.reshape(-1)]

    def labels(self) -> Iterator[tuple[dict[int, str], int, dict[int, str]]]:
        """Yield labels of types, their colour, and labels of values."""
        for (_, name), kind in self._types.items():
            label = " ".join((name or "").split()) or f"{kind}"
            yield {kind: label}, _MISCELLANEOUS, self._texts.get(kind, {})


def _coded(column: pa.ChunkedArray) -> tuple[Integers, list[str | None]]:
    """Words as places in a list, which ends with none."""
    coded = column.combine_chunks().dictionary_encode()
    words = [*coded.dictionary.to_pylist(), None]
    return coded.indices.fill_null(len(words) - 1).to_numpy().astype(np.int64), words


def _numbered(named: list[_Named]) -> dict[_Named, int]:
    types = {}
    for kind, numbers in _TYPES.items():
        mine = sorted((name is not None, name or "") for one, name in named if one == kind)
        for place, (is_named, name) in enumerate(mine):
            types[kind, name if is_named else None] = numbers[place % len(numbers)]
    return types
