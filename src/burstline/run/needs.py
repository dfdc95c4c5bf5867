"""What analyses need of a trace, in bytes: refused before they begin if it does not fit."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from burstline import formats, model, selection
from burstline.errors import MemoryBudgetError
from burstline.model import schema

ANALYSED: Final = ("calls", "messages", "bursts", "regions", "gaps")
"""Tables that grow with the trace and that analyses ask for."""
DETECTED: Final = ("calls", "bursts")
"""Those of them that finding loops asks for."""
REPLAYED: Final = {
    "calls": 1.0, "messages": 1.85, "half_messages": 1.0, "collectives": 1.0,
    "collective_members": 2.0, "regions": 1.0, "teams": 4.0, "locks": 1.0, "gaps": 1.0,
    "bursts": 1.0, "samples": 1.0,
}  # fmt: skip
"""Tables of what synchronises, which finding waits and replays ask for, and how often their
bytes count: a side of a message and a member of a collective are points in time, which have
more columns than they have."""
COPIES_REPLAYED: Final = 2.0
"""Copies of them: as read, and the columns and points that are made of them."""
CLOCKED: Final = REPLAYED | {"readings": 1.0}
"""The same where stamps of a logical clock take the place of those that were recorded."""
CUT_FROM_STORE, CUT_HERE = 3, 4
"""Copies of all tables while a part is cut: as loaded, as selected, as shifted and written."""
# Copies while runs are matched and fused, of tables in a store and in memory.
RUNS_MERGED, _MERGED_HERE = 1.7, 2
_WAY_OUT: Final = (
    "Take a part of it (`start_ns`, `end_ns`, `ranks`), a shorter one if you did, "
    "or allow more memory (`memory`)."
)
LEAST_WINDOW: Final = 32 << 20
"""Bytes of records that are sorted at once, whatever is left of the memory."""


class Needs(NamedTuple):
    """Tables that are in memory at once; their bytes count once, or as a mapping tells."""

    tables: Collection[str]
    copies: float


@contextmanager
def needs_of_all(memory: int, traces: float, beside: int = 0) -> Iterator[None]:
    """A block that reads one of several traces; a refusal says what all of them need."""
    try:
        yield
    except MemoryBudgetError as error:
        needed = formats.memory_of_all(error.needed_bytes, traces) + beside
        raise MemoryBudgetError(needed, memory, way_out=error.way_out) from None


def require_bytes(needed: int, memory: int) -> None:
    """Refuse runs that together need more than is allowed."""
    if needed > memory:
        raise MemoryBudgetError(needed, memory, way_out="Allow more memory (`memory`).")


def bytes_to_merge(traces: Sequence[model.Trace]) -> int:
    """What matching and fusing runs takes, of those in memory with their tables."""
    tables = ("calls", "messages", "bursts")
    return sum(
        bytes_needed(trace, Needs(tables, RUNS_MERGED if trace.is_stored else _MERGED_HERE))
        for trace in traces
    )


def require(
    trace: model.Trace, memory: int, needs: Needs, region: Mapping[str, Any]
) -> model.Trace:
    """What `region` needs of a trace; refused if that does not fit."""
    bytes_required(trace, memory, needs, region)
    if region and trace.is_stored:
        return selection.narrowed(trace, memory=int(memory / needs.copies), **region)
    return trace


def bytes_required(
    trace: model.Trace,
    memory: int,
    needs: Needs,
    region: Mapping[str, Any],
    cut_of: str | None = None,
) -> int:
    """The bytes of what `region` needs of a trace; refused if they do not fit.

    The refusal names the cut of `cut_of`, a path, that fits.
    """
    if (needed := bytes_needed(trace, needs, region)) > memory:
        cut = ""
        if cut_of is not None:
            cut = _cut_that_fits(trace, memory, needs, region, cut_of)
        raise MemoryBudgetError(needed, memory, way_out=cut or _WAY_OUT)
    return needed


def _cut_that_fits(
    trace: model.Trace, memory: int, needs: Needs, region: Mapping[str, Any], path: str
) -> str:
    """The cut of a trace whose first part fits, as a sentence; empty where hardly any does."""
    every = [name for name in schema.TABLES if name in trace and name not in schema.RAW_TABLES]
    # Records are not asked for their times: a part has as large a share of them as of the rest.
    whole = max(selection.estimate_bytes(trace, every), 1)
    all_of_it = selection.estimate_bytes(trace, list(schema.TABLES))
    copies_cut = (CUT_FROM_STORE if trace.is_stored else CUT_HERE) * all_of_it / whole
    died = max(trace.locations["died_ns"].to_pylist(), default=0)
    born = min(trace.locations["born_ns"].to_pylist(), default=0)
    start, end = region.get("start_ns", 0), min(region.get("end_ns", died), died)
    first = min(max(start, born), end)  # a cut that ends before it holds nothing
    least = (end - first) >> 10
    lengths = [end - first]
    while lengths[-1] > max(least, 1):
        lengths.append(lengths[-1] - -(-lengths[-1] // 8))
    ends, begin = (
        [first + each for each in lengths if each > least],
        {**region, "start_ns": start},
    )
    begin.pop("end_ns", None)
    sizes = {
        name: selection.bytes_until(trace, name, ends, **begin)
        for name in {*every, *needs.tables}
    }
    for number, end in enumerate(ends):
        part = {name: size[number] for name, size in sizes.items()}
        held = sum(part[name] for name in every)
        used, counted = _added(part, needs.tables)
        needed = max(held, used) + needs.copies * counted - used
        if max(needed, copies_cut * held) <= memory:  # the second is of the cut itself
            window = f"`start_ns={start}` `end_ns={end}`"
            return f"A part that fits: burstline cut {shlex.quote(path)} -o part.store {window}"
    return ""


def bytes_needed(
    trace: model.Trace, needs: Needs, region: Mapping[str, Any] | None = None
) -> int:
    """The bytes of copies of tables; the first is what is loaded, in memory all tables."""
    used, counted = _sizes(trace, needs.tables, region or {})
    if trace.is_stored:
        return int(needs.copies * counted)
    return bytes_held(trace) + int(needs.copies * counted - used)


def _sizes(
    trace: model.Trace, tables: Collection[str], region: Mapping[str, Any]
) -> tuple[int, float]:
    """The bytes of tables, and those of each as often as it counts."""
    return _added(
        {name: selection.estimate_bytes(trace, [name], **region) for name in tables}, tables
    )


def _added(sizes: Mapping[str, int], tables: Collection[str]) -> tuple[int, float]:
    """The sum of some sizes, and with each as often as it counts: once but of a mapping."""
    weights = tables if isinstance(tables, Mapping) else {}
    return (
        sum(sizes[name] for name in tables),
        sum(sizes[name] * weights.get(name, 1.0) for name in tables),
    )


def bytes_held(trace: model.Trace) -> int:
    """The bytes of all tables of a trace in memory; none of one in a store."""
    if trace.is_stored:
        return 0
    return sum(trace.estimate_bytes(name) for name in schema.TABLES if name in trace)
