"""What ``burstline table`` shows of a burst table: its columns, and its longest bursts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from burstline.errors import plural
from burstline.merge import ColumnFacts, Overview
from burstline.show.blocks import Block, Facts, Lines
from burstline.show.units import notes_on_sizes
from burstline.show.views import Rows, View
from burstline.values import AMOUNT, BYTES, COUNT, SHARE, TIME, Column, Table, Value, ratio

_HEAD: Final = (
    *(Column("COLUMN"), Column("HOLDS"), Column("KNOWN", SHARE)),
    *(Column(name) for name in ("LEAST", "MEAN", "MOST")),
)
_LONGEST: Final = {
    "rank": Column("RANK"),
    "thread": Column("THREAD"),
    "burst": Column("BURST"),
    "start_ns": Column("BEGINS AT", TIME),
    "duration_ns": Column("LASTS", TIME),
    "concurrency": Column("CONCURRENCY"),
    "ipc": Column("IPC", ratio(2)),
    "operation_before": Column("AFTER"),
    "operation_after": Column("BEFORE"),
}
_COUNTED: Final = frozenset({"rank", "thread", "burst", "location", "application", "region"})


@dataclass(frozen=True, slots=True, eq=False)
class OverviewView(View):
    """What a burst table holds, after all its parts were added, and where it was written."""

    result: Overview
    written: str | None = None

    def document(self) -> dict[str, Any]:
        """The columns, and the longest bursts."""
        return {"output": self.written, **self.result.as_dict()}

    def rows(self) -> Rows:
        """The longest bursts."""
        names = list(self.result.columns)
        return names, ([burst[name] for name in names] for burst in self.result.longest)

    def blocks(self) -> Iterator[Block]:
        """The columns, and the longest bursts."""
        overview = self.result
        yield Facts([("bursts", f"{overview.bursts:,}")])
        rows = [_row(facts, overview.bursts) for facts in overview.columns.values()]
        yield Table(_HEAD, rows, "Columns", left=2)
        if notes := notes_on_sizes(_operations_with_sizes(overview)):
            yield Lines(notes)
        if overview.longest:
            names = [name for name in _LONGEST if name in overview.columns]
            names.sort(key=lambda name: not name.startswith("operation"))
            yield Table(
                [_LONGEST[name] for name in names],
                [[burst[name] for name in names] for burst in overview.longest],
                "Longest bursts",
                left=sum(name.startswith("operation") for name in names),
            )


def _operations_with_sizes(overview: Overview) -> Iterator[str]:
    """The operations beside bursts of which the table says how much they sent."""
    for name in overview.columns:
        operation = name.replace("bytes_sent_", "operation_")
        if operation != name and operation in overview.columns:
            yield from overview.columns[operation].values or ()


def _row(facts: ColumnFacts, bursts: int) -> list[object]:
    known = facts.known / bursts if bursts else None
    if facts.values is not None:
        most = max(facts.values, key=facts.values.__getitem__, default=None)
        words = plural(len(facts.values), "value")
        often = "" if most is None else f", mostly {most}"
        return [facts.name, f"{words}{often}", known, "", "", ""]
    notation = ratio(3) if facts.type == "double" else AMOUNT
    if facts.name in _COUNTED or facts.name.startswith(("partner_", "root_", "tag_")):
        notation = COUNT
    notation = {"ns": TIME, "bytes": BYTES}.get(facts.unit, notation)
    numbers = (facts.least, facts.mean, facts.most)
    return [facts.name, facts.doc, known, *(Value(value, notation) for value in numbers)]
