"""What reading a Paraver trace takes: of a byte of text, and of what the scan counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from burstline.formats.intake import Costs, way_by_store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from burstline.columns import Integers

COSTS: Final = Costs(
    tables=3.4,
    made=0,
    ahead=0,
    streamed=20.4,
    disk=0.7,
    least=1,
    most=1 << 62,
    base=0,
    way_out=way_by_store("it", "TRACE"),
)
"""Of a byte of text, measured on real traces, raw tables included."""
LEAST_TABLES: Final = 0.7
"""Bytes of tables per byte of text of the trace that has the fewest, with raw tables."""
TABLES_WITHOUT_RAW: Final = 0.8
"""Bytes of tables per byte of text without raw tables."""

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
