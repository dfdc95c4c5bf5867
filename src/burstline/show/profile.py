"""What ``burstline info`` shows of a profile: its size, and the total of each metric."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from burstline.show import terminal
from burstline.show.units import format_ns, plural

if TYPE_CHECKING:
    from burstline.profile import Profile

_NS: Final = 1e9
_SECONDS: Final = "sec"


def totals(profile: Profile) -> list[dict[str, Any]]:
    """The total of each metric, parents first; None where there is no value."""
    names = profile.metrics["name"].to_pylist()
    rows = []
    for row in profile.metrics.to_pylist():
        total = profile.total(row["name"]) if row["name"] in profile.stored else None
        if total is not None and not math.isfinite(total):
            total = None
        rows.append(
            {
                "metric": row["name"],
                "parent": None if row["parent"] is None else names[row["parent"]],
                "title": row["title"],
                "unit": row["unit"],
                "total": total,
            }
        )
    return rows


def print_profile(path: str, profile: Profile) -> None:
    """Print a profile's size and totals."""
    ranks = len(set(profile.locations["rank"].to_pylist()))
    terminal.print_facts(
        [
            ("profile", path),
            ("by", profile.attributes.get("Creator", "nobody named")),
            (
                "program",
                f"{plural(ranks, 'rank')}, {plural(profile.locations.num_rows, 'thread')}",
            ),
            ("call paths", f"{profile.call_paths.num_rows:,}"),
            ("metrics", f"{profile.metrics.num_rows:,}"),
        ]
    )
    found = [row for row in totals(profile) if row["total"] is not None]
    shown = {row["metric"] for row in found if row["total"]}
    rows = [row for row in found if row["metric"] in shown]
    depths: dict[str | None, int] = {None: -1}
    for row in totals(profile):
        depths[row["metric"]] = depths[row["parent"]] + 1
    terminal.print_table(
        ["METRIC", "NAME", "TOTAL"],
        [
            ["  " * depths[row["metric"]] + row["title"], row["metric"], _total(row)]
            for row in rows
        ],
        title="Totals" if len(rows) == len(found) else "Totals that are not 0",
        left=2,
    )


def _total(row: dict[str, Any]) -> str:
    total = row["total"]
    if row["unit"] == _SECONDS:
        return format_ns(round(total * _NS))
    number = f"{total:,}" if isinstance(total, int) else f"{total:,.6g}"
    return f"{number} {row['unit']}".rstrip()
