"""The Parquet store: a folder with a file per table, opened lazily, larger than memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burstline.progress import SILENCE, Progress

if TYPE_CHECKING:
    from pathlib import Path

    from burstline.trace import Trace


def open_store(path: Path) -> Trace:
    """Open a store as a trace; tables are loaded when they are asked for.

    Raises
    ------
    FormatError
        If the folder holds no store, or a broken one.
    """
    from burstline.formats.store.reading import open_tables  # noqa: PLC0415 -- on demand
    from burstline.trace import Trace  # noqa: PLC0415

    return Trace(open_tables(path))


def write_store(trace: Trace, path: Path, *, progress: Progress = SILENCE) -> None:
    """Write a trace as a store; either the whole store appears, or nothing.

    Notes
    -----
    Tables go through memory a few locations at a time.

    Raises
    ------
    ParameterError
        If something of that name exists.
    """
    from burstline import schema  # noqa: PLC0415 -- on demand
    from burstline.formats.store.writing import (  # noqa: PLC0415
        StoreWriter,
        operation_names,
    )

    names = [name for name in schema.TABLES if name in trace]
    progress.step("Writing", len(names), "tables")
    with StoreWriter(path, trace.counter_names) as store:
        operations: list[str] = []
        for name in names:
            by_location = "".join(schema.TABLES[name].order[:1]).endswith("location")
            in_parts = trace.is_stored or by_location
            parts = trace.batches(name) if in_parts else iter([trace.table(name)])
            first = True
            for part in parts:
                store.append(name, part)
                first = False
                if name in ("calls", "collectives") and not operations:
                    operations = operation_names(part)
            if first:
                store.append(name, trace.table(name).slice(0, 0))
            progress.advance(1)
        store.finish(operations or operation_names(trace.calls))
