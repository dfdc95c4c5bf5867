"""What a burst table holds, in a few numbers: a fold over its parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
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

    def add(self, part: ColumnSums) -> None:
        """Add the rows of a part."""
        if self.values is not None:
            for text, count in part.values.items():
                self.values[text] = self.values.get(text, 0) + count
        elif part.known:
            old = self.mean or 0.0
            self.mean = old + (part.mean - old) * part.known / (self.known + part.known)
            self.least = part.least if self.least is None else min(self.least, part.least)
            self.most = part.most if self.most is None else max(self.most, part.most)
        self.known += part.known

    CONTRACT: ClassVar[Contract] = (
        *("name", "type", "unit", "doc", "known", "least", "most", "mean"),
        ("distinct", lambda self: None if self.values is None else len(self.values)),
    )


@dataclass(frozen=True, slots=True)
class ColumnSums:
    """What one column holds in a part of the table."""

    known: int
    least: float = 0
    most: float = 0
    mean: float = 0.0
    values: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> ColumnSums:
        """The sums of a column."""
        known = len(column) - column.null_count
        if pa.types.is_dictionary(column.type):
            pairs = column.value_counts().to_pylist()
            counted = [(pair["values"], pair["counts"]) for pair in pairs]
            values: dict[str, int] = {}
            for text, count in counted:
                if text is not None:
                    values[text] = values.get(text, 0) + count
            return cls(known, values=values)
        if not known:
            return cls(0)
        ends = pc.min_max(column).as_py()
        return cls(known, ends["min"], ends["max"], pc.mean(column).as_py())


@dataclass(frozen=True, slots=True)
class PartSums:
    """What a part of a burst table holds, and its longest bursts."""

    bursts: int
    columns: dict[str, ColumnSums]
    longest: pa.Table

    @classmethod
    def of(cls, part: pa.Table, longest: int) -> PartSums:
        """The sums of a part, with so many of its bursts."""
        sums = {name: ColumnSums.of(part[name]) for name in part.column_names}
        kept = part.slice(0, 0)
        if part.num_rows and longest and _DURATION in part.column_names:
            order = pc.select_k_unstable(
                part, k=min(longest, part.num_rows), sort_keys=[(_DURATION, "descending")]
            )
            kept = part.take(order)
        return cls(part.num_rows, sums, kept)


class Overview(Documented):
    """What a burst table holds, and its longest bursts."""

    def __init__(self, schema: pa.Schema, longest: int = _TEN) -> None:
        if longest < 0:
            raise ParameterError(f"no table has {longest} longest bursts")
        self.bursts = 0
        self.columns = {field.name: _facts_of(field) for field in schema}
        self._kept = schema.empty_table()
        self.most = longest if _DURATION in schema.names else 0  # of the longest, kept

    def add(self, part: PartSums) -> None:
        """Add a part of the table."""
        self.bursts += part.bursts
        for name, facts in self.columns.items():
            facts.add(part.columns[name])
        if part.longest.num_rows:
            best = pa.concat_tables([self._kept, part.longest])
            ranked = pc.sort_indices(best, sort_keys=[(_DURATION, "descending")])
            self._kept = best.take(ranked[: self.most])

    def through(self, parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """The parts as they are, each added when it passes."""
        for part in parts:
            self.add(PartSums.of(part, self.most))
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
