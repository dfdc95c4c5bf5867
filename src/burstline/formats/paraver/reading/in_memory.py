"""Read a Paraver trace whole, into memory.

Peak memory is little more than the tables returned: the journals of a bucket are freed
as soon as it is built, and every bucket builds into the same columns.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline import _core
from burstline.errors import MemoryBudgetError
from burstline.formats.paraver.reading.collectives import collective_parts, collective_tables
from burstline.formats.paraver.reading.messages import message_tables
from burstline.formats.paraver.reading.trace_file import OpenTrace, used_operations
from burstline.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy.typing as npt
    import pyarrow as pa

    from burstline.columns import Integers
    from burstline.formats.paraver.reading.assembly import Assembly
    from burstline.progress import Progress

_BUCKETS: Final = 64
_WAY_OUT: Final = (
    "Convert it to a store (burstline convert TRACE OUT.store) and take that instead: "
    "of a store, --from, --to and --ranks load only what they name."
)
# Measured: bytes of tables per byte of text, with raw tables and without, and the least.
_BYTES_PER_BYTE: Final = {True: 3.4, False: 0.8}
_LEAST_BYTES_PER_BYTE: Final = 0.7
# Bytes per row of the tables that grow with the trace, counters apart.
_ROW_BYTES: Final = {
    "calls": 86,
    "readings": 20,
    "regions": 88,
    "bursts": 52,
    "events": 36,
    "states": 28,
    "messages": 160,
}


class _Budget:
    """Stops a reading whose journals alone would fill the memory allowed."""

    def __init__(self, memory: int | None, tables: int) -> None:
        self._memory, self._tables = memory, tables

    def relieve(self, journal: _core.Journal) -> None:
        if self._memory is not None and journal.resident > self._memory // 2:
            needed = max(2 * journal.resident, self._tables)
            raise MemoryBudgetError(needed, self._memory, way_out=_WAY_OUT)


def estimate_bytes(counts: Mapping[str, Integers], counters: int, *, raw: bool) -> int:
    """Estimate the memory that reading needs, from what the scan counted.

    Returns
    -------
    int
        Bytes of the tables, upper bounds included.
    """
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


_COUNTED = frozenset(["calls", "readings", "regions", "sends", "pairs", "states"])


def read(
    path: Path, *, raw: bool, memory: int | None, threads: int, progress: Progress
) -> Trace:
    """Read a Paraver trace into memory.

    Parameters
    ----------
    path : Path
        The ``.prv`` or ``.prv.gz``.
    raw : bool
        Whether events, states and labels are kept as recorded.
    memory : int or None
        Bytes that may be used; None for no limit.
    threads : int
        Threads to use.
    progress : Progress
        Told how far it is.

    Returns
    -------
    Trace
        The trace; what was odd in it is in its ``defects``.

    Raises
    ------
    FormatError
        If the file is no Paraver trace.
    MemoryBudgetError
        If the tables would not fit into `memory`.
    """
    size = path.stat().st_size
    tables_bytes = int(_BYTES_PER_BYTE[raw] * size)
    if raw and memory is not None and _LEAST_BYTES_PER_BYTE * size > memory:
        raise MemoryBudgetError(tables_bytes, memory, way_out=_WAY_OUT)
    with OpenTrace.open(path, most_buckets=_BUCKETS) as opened:
        journal = _core.Journal(opened.layout)
        scanned = opened.scan(
            journal, threads=threads, progress=progress, overflow=_Budget(memory, tables_bytes)
        )
        assembly, words = opened.assembly(journal, scanned)
        counts = journal.counts(opened.layout)
        needed = estimate_bytes(counts, len(assembly.counters), raw=raw)
        if memory is not None and needed + journal.resident // 2 > memory:
            raise MemoryBudgetError(needed + journal.resident // 2, memory, way_out=_WAY_OUT)
        states = raw or not counts["calls"].any()
        paths = _core.PathTable()
        builder = _core.Builder(
            journal, opened.layout, words, paths, 0, opened.buckets, raw, states
        )
        _build(builder, opened.buckets, threads, progress)
        built: dict[str, Any] = builder.tables()
        calls = assembly.calls(built["calls"], paths)
        operation, location = calls["operation"], calls["location"]
        tables = assembly.tables(built, builder.extras(), raw=raw)
        tables |= _messages(built, assembly, raw=raw)
        used = used_operations(operation, location, opened.objects, len(assembly.operations))
        tables |= _collectives(calls, opened, assembly)
        tables |= opened.whole_tables(assembly, journal, used, raw=raw)
    return Trace(tables)


def _build(builder: _core.Builder, buckets: int, threads: int, progress: Progress) -> None:
    progress.step("Building", buckets, "buckets")
    pool = ThreadPoolExecutor(threads, "build")
    try:
        for _ in pool.map(builder.build, range(buckets)):
            progress.advance(1)
    finally:
        pool.shutdown(cancel_futures=True)
    builder.finish()


def _messages(built: dict[str, Any], assembly: Assembly, *, raw: bool) -> dict[str, pa.Table]:
    messages, links, negative = message_tables(built.pop("sends"), built.pop("receives"))
    if negative:
        text = "taken as unsigned 32-bit numbers"
        assembly.scanned.defects.note("negative_message_size", "info", text, negative)
    return {"messages": messages, "links": links} if raw else {"messages": messages}


def _collectives(
    calls: Mapping[str, npt.NDArray[Any]], opened: OpenTrace, assembly: Assembly
) -> dict[str, pa.Table]:
    members = members_of(assembly)
    instances, parts = collective_tables(
        collective_parts(calls), opened.objects.rank, members, assembly.operations
    )
    note_incomplete(assembly, instances)
    return {"collectives": instances, "collective_members": parts}


def members_of(assembly: Assembly) -> list[list[int]]:
    """Give the members of each communicator, empty where they are not known."""
    known = assembly.scanned.communicators
    return [
        known[key].members.tolist() if key in known else [] for key in assembly.communicators
    ]


def note_incomplete(assembly: Assembly, instances: pa.Table) -> None:
    """Count the collective instances that lack members."""
    if not instances.num_rows:
        return
    complete = instances["complete"].to_numpy(zero_copy_only=False)
    missing = int(np.count_nonzero(~complete))
    if missing:
        row = int(np.argmin(complete))
        sequence, communicator = instances["sequence"][row], instances["communicator"][row]
        text = f"instance {sequence} of communicator {communicator}"
        assembly.scanned.defects.note("incomplete_collective", "loss", text, missing)
