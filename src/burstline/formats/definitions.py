"""What a trace defines, counted before it is made: its names, its places, its groups.

Commands go through definitions row by row, as objects of Python, and keep several copies of
their texts. A text, or a list of members, that many rows share stands once in a file; each of
the rows has its own once there is a table of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from sys import getsizeof
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from burstline.errors import MemoryBudgetError

TABLES: Final = frozenset([
    "locations", "loops", "call_paths", "region_defs", "counters", "counter_sets",
    "communicators", "placements", "recordings", "metadata", "defects", "event_types",
    "event_values", "source",
])  # fmt: skip
"""The tables of definitions: those that do not grow with what the threads do."""

LITTLE: Final = 32 << 20
"""What any budget allows: the definitions of most traces, a row group or two of their rows."""
_ROW_BYTES: Final = 128
_VALUE_BYTES: Final = 64
_ITEM_BYTES: Final = 100  # as read, as a number of Python, in three of its lists, and written
_COPIES_OF_TEXT: Final = 3  # made plain in parts, put together, and handed on


class Account:
    """What the definitions of a trace take; refused is what `memory` does not hold."""

    def __init__(self, memory: int | None = None, *, way_out: str = "") -> None:
        self._memory, self._way_out = memory, way_out
        self._taken: dict[str, int] = {}

    def taken(self, *, without: str = "") -> int:
        """The bytes that all tables take, but for one of them."""
        return sum(size for name, size in self._taken.items() if name != without)

    def charge_table(self, name: str, table: pa.Table, *, items: int = 0) -> None:
        """Charge what becomes of a table that was read; `items` of lists are still texts."""
        values = table.num_rows * table.num_columns
        needed = _ROW_BYTES * table.num_rows + _VALUE_BYTES * values
        needed += _COPIES_OF_TEXT * text_bytes(table) + _ITEM_BYTES * items
        for column in table.columns:
            if pa.types.is_list(column.type):
                needed += _ITEM_BYTES * sum(len(chunk.flatten()) for chunk in column.chunks)
        # A store is asked for some columns or row groups of a table, and again for others.
        self._charge(name, max(needed, self._taken.get(name, 0)))

    def counted(self, name: str, rows: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
        """Yield the rows of a table that is made anew; refuse what all of them take."""
        self._taken[name] = 0
        rest = iter(rows)
        for row in rest:
            self._taken[name] += _bytes_of_row(row)
            if not self._fits():
                self._charge(name, self._taken[name] + sum(map(_bytes_of_row, rest)))
            yield row

    def charge_row(self, name: str, row: Sequence[Any]) -> None:
        """Charge a row that is added to a table."""
        self._charge(name, self._taken.get(name, 0) + _bytes_of_row(row))

    def charge_texts(self, name: str, size: int) -> None:
        """Charge the texts of a part of a table that is about to be made."""
        self._charge(name, _COPIES_OF_TEXT * size)

    def _charge(self, name: str, needed: int) -> None:
        self._taken[name] = needed
        if self._memory is not None and not self._fits():
            raise MemoryBudgetError(self.taken(), self._memory, way_out=self._way_out)

    def _fits(self) -> bool:
        return self._memory is None or self.taken() <= self._memory + LITTLE


def text_bytes(table: pa.Table, *, coded: bool = False) -> int:
    """The bytes of all texts of a table once each row has its own; if `coded`, of codes."""
    total = 0
    for chunk in (chunk for column in table.columns for chunk in column.chunks):
        leaf = chunk
        while pa.types.is_list(leaf.type):
            leaf = leaf.flatten()
        if pa.types.is_dictionary(leaf.type):
            lengths = pc.binary_length(leaf.dictionary).cast(pa.int64()).take(leaf.indices)
        elif pa.types.is_string(leaf.type) and not coded:
            lengths = pc.binary_length(leaf).cast(pa.int64())
        else:
            continue
        total += pc.sum(lengths).as_py() or 0
    return total


def _bytes_of_row(row: Sequence[Any]) -> int:
    return _ROW_BYTES + sum(map(_bytes_of, row))


def _bytes_of(value: object) -> int:
    if isinstance(value, str):
        return _VALUE_BYTES + _COPIES_OF_TEXT * getsizeof(value)
    if isinstance(value, (tuple, list)):
        return _VALUE_BYTES + _ITEM_BYTES * len(value)
    return _VALUE_BYTES
