"""What a burst table holds, in a few numbers: a fold over its parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import pyarrow as pa
import pyarrow.compute as pc

from burstline.errors import ParameterError
from burstline.values import Contract, Documented

_DURATION: Final = "duration_ns"
_TEN: Final = 10


@dataclass(slots=True)
class ColumnFacts(Documented):
    """What one column holds."""

    # its name, ``int32 int64 double text``, its unit, and what it means
    name: str
    type: str
    unit: str
    doc: str
    known: int = 0  # rows in which it is known
    # of those; None without any, and of texts
    least: float | None = None
    most: float | None = None
    mean: float | None = None  # of those; None without any, and of texts
    values: dict[str, int] | None = None  # how often each text occurs; empty for numbers

    def add(self, column: pa.ChunkedArray) -> None:
        """Add the rows of a part."""
        rows = len(column) - column.null_count
        if self.type == "text":
            self.values = self.values or {}
            for pair in column.value_counts().to_pylist():
                if pair["values"] is not None:
                    text, count = pair["values"], pair["counts"]
                    self.values[text] = self.values.get(text, 0) + count
        elif rows:
            ends = pc.min_max(column).as_py()
            mean = pc.mean(column).as_py()
            old = self.mean or 0.0
            self.mean = old + (mean - old) * rows / (self.known + rows)
            self.least = ends["min"] if self.least is None else min(self.least, ends["min"])
            self.most = ends["max"] if self.most is None else max(self.most, ends["max"])
        self.known += rows

    CONTRACT: ClassVar[Contract] = (
        *("name", "type", "unit", "doc", "known", "least", "most", "mean"),
        ("distinct", lambda self: None if self.values is None else len(self.values)),
    )


class Overview(Documented):
    """What a burst table holds, and its longest bursts."""

    def __init__(self, schema: pa.Schema, longest: int = _TEN) -> None:
        if longest < 0:
            raise ParameterError(f"no table has {longest} longest bursts")
        self.bursts = 0
        self.columns = {field.name: _facts_of(field) for field in schema}
        self._kept = schema.empty_table()
        self._longest = longest if _DURATION in schema.names else 0

    def add(self, part: pa.Table) -> None:
        """Add a part of the table."""
        self.bursts += part.num_rows
        for name, facts in self.columns.items():
            facts.add(part[name])
        if self._longest and part.num_rows:
            order = pc.select_k_unstable(
                part, k=min(self._longest, part.num_rows), sort_keys=[(_DURATION, "descending")]
            )
            best = pa.concat_tables([self._kept, part.take(order)])
            ranked = pc.sort_indices(best, sort_keys=[(_DURATION, "descending")])
            self._kept = best.take(ranked[: self._longest])

    def through(self, parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """The parts as they are, each added when it passes."""
        for part in parts:
            self.add(part)
            yield part

    @property
    def longest(self) -> list[dict[str, Any]]:
        """The bursts that last longest, as dictionaries by column."""
        return list(self._kept.to_pylist())

    CONTRACT: ClassVar[Contract] = (
        "bursts",
        ("columns", lambda self: [*self.columns.values()]),
        "longest",
    )


def _facts_of(field: pa.Field) -> ColumnFacts:
    metadata = {key.decode(): text.decode() for key, text in (field.metadata or {}).items()}
    is_text = pa.types.is_dictionary(field.type)
    return ColumnFacts(
        field.name,
        "text" if is_text else str(field.type),
        metadata.get("unit", ""),
        metadata.get("doc", ""),
        values={} if is_text else None,
    )
