"""What was odd in what is read, by kind: how often, and where first."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from burstline import schema
from burstline.errors import printable
from burstline.schema.arrays import arrow_table

if TYPE_CHECKING:
    import pyarrow as pa


class Defects:
    """Counts what is odd.

    Memory is that of the kinds, however many oddities there are.

    Examples
    --------
    >>> odd = Defects()
    >>> odd.note("unknown_record", "info", "kind 9 in p-node-1.t-0.raw")
    >>> odd.note("unknown_record", "info", "kind 8", 2)
    >>> odd.table().to_pylist()[0]["count"]
    3
    """

    __slots__ = ("_found", "_named")

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, int, str]] = {}
        self._named: dict[str, Counter[str]] = {}

    def note(
        self, kind: str, severity: str, first: str, count: int | np.integer[Any] = 1
    ) -> None:
        """Count `count` oddities of a kind; 0 is none."""
        if count <= 0:
            return
        known = self._found.get(kind, (severity, 0, printable(first)))
        self._found[kind] = (known[0], known[1] + int(count), known[2])

    def note_named(
        self, kind: str, severity: str, name: str, count: int | np.integer[Any] = 1
    ) -> None:
        """Count `count` oddities of a kind that has few names: the table tells each of them."""
        if count > 0:
            self.note(kind, severity, name, count)
            self._named.setdefault(kind, Counter())[printable(name)] += int(count)

    def take(self, others: Defects) -> None:
        """Count what others found, after what was found so far."""
        for kind, names in others._named.items():
            self._named.setdefault(kind, Counter()).update(names)
        for kind, (severity, count, first) in others._found.items():
            known = self._found.get(kind, (severity, 0, first))
            self._found[kind] = (known[0], known[1] + count, known[2])

    def table(self) -> pa.Table:
        """Give the table `defects`, worst first."""
        worst = schema.SEVERITIES[::-1]
        found = sorted(self._found.items(), key=lambda row: (worst.index(row[1][0]), row[0]))
        return arrow_table(
            "defects",
            {
                "kind": [kind for kind, _ in found],
                "severity": np.array(
                    [schema.SEVERITIES.index(row[0]) for _, row in found], np.int8
                ),
                "count": np.array([row[1] for _, row in found], np.int64),
                "first": [self._words(kind, row[2]) for kind, row in found],
            },
        )

    def _words(self, kind: str, first: str) -> str:
        names = self._named.get(kind, Counter())
        often = sorted(names.items(), key=lambda name: (-name[1], name[0]))
        return ", ".join(f"{name} {count}" for name, count in often) or first
