"""What reading a Paraver trace takes: of a byte of text, and of what the scan counted.

What becomes of a byte differs fivefold from trace to trace, so reading whole is refused by what
the scan counted, which is the same whatever was allowed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from burstline.formats.intake import BASE, way_by_store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from burstline.columns import Integers

WAY_OUT: Final = way_by_store("it", "TRACE")
"""What to do where a trace does not fit in memory."""
STREAMED: Final = 20.4
"""Bytes that a byte of text takes in a conversion until it is written, raw tables included."""
DISK: Final = 0.7
"""Bytes of spills and of the store per byte of text."""

_ROW_BYTES: Final = {
    "calls": 86,
    "readings": 20,
    "regions": 88,
    "bursts": 52,
    "events": 36,
    "states": 28,
    "messages": 160,
}
_COUNTED: Final = frozenset(["calls", "readings", "regions", "sends", "pairs", "states"])


def bytes_of_tables(counts: Mapping[str, Integers], counters: int, *, raw: bool) -> int:
    """Bytes of the tables that become of what the scan counted, at most."""
    total = {name: int(values.sum()) for name, values in counts.items() if name in _COUNTED}
    rows = {
        "calls": total["calls"],
        "bursts": total["calls"],
        "readings": total["readings"],
        "regions": total["regions"],
        "messages": total["sends"],
        "events": total["pairs"] if raw else 0,
        "states": total["states"] if raw else 0,
    }
    values = 8 * counters * (rows["readings"] + rows["bursts"])
    return sum(_ROW_BYTES[name] * count for name, count in rows.items()) + values


def bytes_of_whole(tables: int, journals: int) -> int:
    """Bytes that reading whole takes: half of the journals go while the tables are made."""
    return BASE + max(tables + journals // 2, journals)
