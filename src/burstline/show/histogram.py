"""What ``burstline histogram`` shows: shares of computing by duration and counter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from burstline.histogram import Histogram
from burstline.model import IPC
from burstline.quantities import format_count, format_ns
from burstline.show.blocks import Block, Facts
from burstline.show.views import Rows, View
from burstline.values import SHARE, TEXT, Column, Table

_COLUMNS = "from_ns", "to_ns", "from_value", "to_value", "bursts", "time_ns"


@dataclass(frozen=True, slots=True, eq=False)
class HistogramView(View):
    """A histogram: shares for people, all cells that hold a burst for programs."""

    result: Histogram

    def rows(self) -> Rows:
        """A row for each cell that holds a burst."""
        made = self.result
        long, values = made.duration_ns.tolist(), made.values.tolist()
        cells = [
            (long[column], long[column + 1], values[row], values[row + 1],
             int(made.bursts[row, column]), int(made.time_ns[row, column]))
            for row, column in zip(*made.bursts.nonzero(), strict=True)
        ]  # fmt: skip
        return _COLUMNS, cells

    def blocks(self) -> Iterator[Block]:
        """Shares of computing: rows from the largest values to the least, ranks in order."""
        made = self.result
        whole = int(made.time_ns.sum()) + made.unread_ns
        facts = [
            ("bursts", f"{int(made.bursts.sum()):,}"),
            ("computing", format_ns(int(made.time_ns.sum()))),
        ]
        if made.unread:
            text = f"{made.unread:,} bursts of {format_ns(made.unread_ns)}"
            facts.append((f"{made.counter} not read", text))
        yield Facts(facts)
        names = made.ranks or [value_text(made, value) for value in made.values.tolist()]
        heads = [format_ns(each) for each in made.duration_ns.tolist()]
        columns = [
            Column(made.counter, TEXT),
            *(Column(head, SHARE.or_nothing()) for head in heads[:-1]),
            Column("all", SHARE.or_nothing()),
        ]
        rows = []
        for name, times in zip(names, made.time_ns.tolist(), strict=False):
            if sum(times):
                shares = [time / whole if time else None for time in (*times, sum(times))]
                rows.append([name, *shares])
        if not made.ranks:
            rows.reverse()
        down = [*made.time_ns.sum(axis=0).tolist(), int(made.time_ns.sum())]
        rows.append(["all", *(time / whole if time and whole else None for time in down)])
        begin = "rank" if made.ranks else f"{made.counter} (from)"
        title = f"Computing by duration of its bursts (from) and {begin}"
        yield Table(columns, rows, title)


def value_text(made: Histogram, value: float) -> str:
    """A value of its counter, with its unit."""
    if made.counter == IPC:
        return f"{value:.2f}"
    return format_ns(round(value)) if made.unit == "ns" else format_count(value)
