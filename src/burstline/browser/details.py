"""What the browser says about one line: facts of a node, and how its loop went over time."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import groupby
from typing import Final

import numpy as np

from burstline.browser.outline import Row
from burstline.columns import Integers
from burstline.errors import plural, printable
from burstline.quantities import format_bytes, format_ns, format_share
from burstline.show import block_begins, communicator_text, counter_text, name_text, sparkline
from burstline.structure import Call, Condition, Loop, LoopTable, Seen, Structure, compact

Facts = list[tuple[str, str]]

_GROUPS: Final = 6
_SLOWEST: Final = 3


def facts(structure: Structure, row: Row, ranks: Collection[int] | None = None) -> Facts:
    """What is known about a line of pseudo-code, for some ranks alone if these are given."""
    node = row.line.item
    seen = Seen.by(structure, structure.ranks if ranks is None else ranks)
    if isinstance(node, Call):
        return list(_call(structure, seen.call(node), int(seen.lanes.sum())))
    if isinstance(node, Loop):
        return list(_loop(structure, seen.loop(node)))
    if node is not None:
        return list(_condition(structure, seen.condition(node), row.line.text))
    pairs = [("line", row.line.text)]
    if place := f"{row.line.file}:{row.line.line}".rstrip(":"):
        pairs.append(("called from", place))
    if row.line.kind == "burst":
        pairs.append(("is", "the computation just before the call below"))
        pairs.append(("duration", format_ns(round(row.line.time_ns or 0))))
    return pairs


def _call(structure: Structure, call: Call, lanes: int) -> Iterator[tuple[str, str]]:
    yield "call", name_text(call.operation)
    if call.path:
        steps = [f"{name_text(f.function)} {_place(f.file, f.line)}".strip() for f in call.path]
        yield "called by", " › ".join(steps)  # noqa: RUF001 -- an arrow from frame to frame
    yield from _executions(structure, call.ranks, call.executions)
    if call.probability < 1:
        yield "in a loop", f"{call.probability:.3g} executions an iteration"
    spread = f" ± {format_ns(round(call.time_spread_ns))}"
    yield "duration", f"{format_ns(round(call.time_ns))}{spread}"
    total = call.time_ns * int(call.executions.sum())
    share = total / (structure.run_ns * lanes)
    yield "in all", f"{format_ns(round(total))}, {format_share(share)} of the ranks' time"
    if call.size_bytes is not None:
        spread = f" ± {format_bytes(round(call.size_spread_bytes or 0))}"
        yield "size", f"{format_bytes(round(call.size_bytes))}{spread}"
    yield from _partners(structure, call)
    if communicator := communicator_text(call):
        yield "communicator", printable(communicator)
    if call.roots:
        yield "root", compact(call.roots)
    if call.burst_ns is not None:
        yield "computation", f"{format_ns(round(call.burst_ns))} just before"
    for name, value in call.counters.items():
        counted = counter_text(value, structure.unit(name))
        yield printable(name, limit=24), f"{counted} just before"


def _partners(structure: Structure, call: Call) -> Iterator[tuple[str, str]]:
    partners = call.partners
    if partners.count:
        which = f"{partners.count} ranks"
        if partners.ranks is not None:
            which = compact(partners.ranks, structure.ranks)
        yield "partners", which + ("; several a rank" if partners.vary else "")
    if partners.law is not None:
        held = f"{format_share(partners.law.share)} of the messages"
        yield "law of these", f"{partners.law.text} ({held})"


def _loop(structure: Structure, loop: Loop) -> Iterator[tuple[str, str]]:
    yield "loop", f"{loop.id}" if loop.parent is None else f"{loop.id}, in loop {loop.parent}"
    each = "" if loop.parent is None else f"{loop.iterations:.4g} per entry of the body around"
    yield "iterations", each or f"{loop.iterations:.4g}"
    yield from _executions(structure, loop.ranks, loop.executions)
    yield "duration", f"{format_ns(round(loop.mean_ns))} an iteration"
    yield "share", f"{format_share(loop.share)} of the run"
    if loop.probability < 1:
        yield "entered", f"in {format_share(loop.probability)} of the iterations around"
    if loop.hidden:
        yield "calls", "none of its own"


def _condition(
    structure: Structure, condition: Condition, text: str
) -> Iterator[tuple[str, str]]:
    yield "condition", text.removesuffix(":")
    yield "held", f"in {format_share(condition.probability)} of the iterations"
    yield from _executions(structure, condition.ranks, condition.executions)


def _executions(
    structure: Structure, ranks: tuple[int, ...], executions: Integers
) -> Iterator[tuple[str, str]]:
    """Who executes something, and how often each, ranks with equal numbers together."""
    yield "ranks", compact(ranks, structure.ranks)
    by_count = sorted(
        (count, rank)
        for count, rank in zip(executions.tolist(), structure.ranks, strict=True)
        if count
    )
    groups = [
        f"{count:,} on {compact([rank for _, rank in members], ranks)}"
        for count, members in groupby(by_count, key=lambda pair: pair[0])
    ]
    more = f"; {len(groups) - _GROUPS} more" if len(groups) > _GROUPS else ""
    yield "executed", "; ".join(groups[:_GROUPS]) + more


def _place(file: str | None, line: int | None) -> str:
    name = "" if file is None else name_text(file)
    return name if line is None else f"{name}:{line}"


def iterations(table: LoopTable, width: int) -> tuple[Facts, str]:
    """How a loop went over time."""
    summary = table.summary()
    longest = table.by_iteration()["max_ns"]
    begin = block_begins(len(longest), max(width, 1))
    shape = sparkline(np.maximum.reduceat(longest, begin)) if len(begin) else ""
    spread = f"{format_ns(round(summary.std_ns))} ({format_share(summary.variation)})"
    said = [
        ("iterations", f"{summary.iterations:,} on {plural(summary.lanes, 'thread')}"),
        ("mean", f"{format_ns(round(summary.mean_ns))} ± {spread}"),
        ("range", f"{format_ns(summary.min_ns)} to {format_ns(summary.max_ns)}"),
        ("spent", f"computing {format_share(summary.useful)}, MPI {format_share(summary.mpi)}"),
    ]
    if summary.balance is not None:
        said.append(("load balance", format_share(summary.balance)))
    for slow in table.slowest(_SLOWEST):
        lasts = f"{format_ns(slow.duration_ns)}, {slow.ratio:.2f} × its median"  # noqa: RUF001 -- times
        said.append(("slow", f"iteration {slow.iteration} on rank {slow.rank}: {lasts}"))
    return said, shape
