"""What is odd in what is read, by kind: how often, and where first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from burstline.columns import AnyIntegers
from burstline.errors import printable
from burstline.model import arrow_table, schema


@dataclass(frozen=True, slots=True)
class Oddity:
    """One kind of oddity, of one of :data:`burstline.model.SEVERITIES`, printable."""

    kind: str
    severity: str
    text: str
    count: int = 1


class Defects:
    """Counts what is odd."""

    __slots__ = ("_by_kind", "_named")

    def __init__(self) -> None:
        self._by_kind: dict[str, Oddity] = {}
        self._named: dict[str, Counter[str]] = {}

    def note(
        self, kind: str, severity: str, first: str, count: int | np.integer[Any] = 1
    ) -> None:
        """Count `count` oddities of a kind; 0 is none."""
        self.add(Oddity(kind, severity, printable(first), int(count)))

    def note_rows(
        self, kind: str, severity: str, text: str, *columns: AnyIntegers, place: str = ""
    ) -> None:
        """Count rows of columns; the first value of each stands in the text, behind a place."""
        if len(columns[0]):
            words = text.format(*(column[0] for column in columns))
            self.note(kind, severity, place + words, len(columns[0]))

    def add(self, defect: Oddity) -> None:
        """Count a defect that is safe to print."""
        if defect.count > 0:
            first = self._by_kind.get(defect.kind, replace(defect, count=0))
            self._by_kind[defect.kind] = replace(first, count=first.count + defect.count)

    def note_line(self, kind: str, severity: str, line: int, text: str) -> None:
        """Count an oddity of a line, counted from 1, where `text` stands."""
        first = "" if kind in self._by_kind else f"line {line}: {printable(text)!r}"
        self.add(Oddity(kind, severity, first))

    def note_named(
        self, kind: str, severity: str, name: str, count: int | np.integer[Any] = 1
    ) -> None:
        """Count `count` oddities of a kind that has few names: the table tells each of them."""
        if count > 0:
            self.note(kind, severity, name, count)
            self._named.setdefault(kind, Counter())[printable(name)] += int(count)

    def take(self, others: Defects) -> None:
        """Count what others counted, after what was counted so far."""
        for kind, names in others._named.items():
            self._named.setdefault(kind, Counter()).update(names)
        for defect in others.rows():
            self.add(defect)

    def rows(self) -> tuple[Oddity, ...]:
        """What was counted, in order of first appearance."""
        return tuple(self._by_kind.values())

    def table(self) -> pa.Table:
        """The table `defects`, worst first."""
        worst = schema.SEVERITIES[::-1]
        rows = sorted(self.rows(), key=lambda row: (worst.index(row.severity), row.kind))
        severity = [schema.SEVERITIES.index(row.severity) for row in rows]
        return arrow_table(
            "defects",
            {
                "kind": [row.kind for row in rows],
                "severity": np.array(severity, np.int8),
                "count": np.array([row.count for row in rows], np.int64),
                "first": [self._words(row.kind, row.text) for row in rows],
            },
        )

    def _words(self, kind: str, first: str) -> str:
        names = self._named.get(kind, Counter())
        often = sorted(names.items(), key=lambda name: (-name[1], name[0]))
        return ", ".join(f"{name} {count}" for name, count in often) or first
