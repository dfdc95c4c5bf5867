"""What ``burstline info`` shows of a profile: its size, and the total of each metric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from burstline.show.blocks import Block, Facts, Table
from burstline.show.units import format_ns, plural
from burstline.show.views import Rows, View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from burstline.profile import Profile

_NS: Final = 1e9
_SECONDS: Final = "sec"
_COLUMNS: Final = ("metric", "parent", "title", "unit", "total")


def _totals(profile: Profile) -> list[dict[str, Any]]:
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


@dataclass(frozen=True, slots=True, eq=False)
class ProfileView(View):
    """How large a profile, read with all its values from `path`, is, and its totals."""

    result: Profile
    path: str = ""

    def document(self) -> dict[str, Any]:
        """The total of each metric."""
        return {"path": self.path, "metrics": _totals(self.result)}

    def rows(self) -> Rows:
        """The total of each metric."""
        return _COLUMNS, (tuple(row.values()) for row in _totals(self.result))

    def blocks(self) -> Iterator[Block]:
        """Its size, and the totals that are not 0."""
        profile = self.result
        ranks = plural(len(set(profile.locations["rank"].to_pylist())), "rank")
        yield Facts(
            [
                ("profile", self.path),
                ("by", profile.attributes.get("Creator", "nobody named")),
                ("program", f"{ranks}, {plural(profile.locations.num_rows, 'thread')}"),
                ("call paths", f"{profile.call_paths.num_rows:,}"),
                ("metrics", f"{profile.metrics.num_rows:,}"),
            ]
        )
        totals = _totals(profile)
        known = [row for row in totals if row["total"] is not None]
        depths: dict[str | None, int] = {None: -1}
        for row in totals:
            depths[row["metric"]] = depths[row["parent"]] + 1
        rows = [
            ["  " * depths[row["metric"]] + row["title"], row["metric"], _total(row)]
            for row in known
            if row["total"]
        ]
        title = "Totals" if len(rows) == len(known) else "Totals that are not 0"
        yield Table(["METRIC", "NAME", "TOTAL"], rows, title, left=2)


def _total(row: dict[str, Any]) -> str:
    total = row["total"]
    if row["unit"] == _SECONDS:
        return format_ns(round(total * _NS))
    number = f"{total:,}" if isinstance(total, int) else f"{total:,.6g}"
    return f"{number} {row['unit']}".rstrip()
