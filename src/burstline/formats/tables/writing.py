"""From a trace to a folder of plain tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa

from burstline import schema
from burstline.errors import ParameterError
from burstline.formats import atomic
from burstline.formats.tables.reading import STYLES
from burstline.progress import SILENCE, Progress

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from burstline.trace import Trace

_BY_LOCATION: Final = ("location", "sender_location")


def write(trace: Trace, path: Path, *, progress: Progress = SILENCE) -> None:
    """Write every table of a trace into a folder; replaces a folder of that name."""
    style = path.suffix.removeprefix(".")
    if style not in STYLES:
        raise ParameterError(f"{path}: the name of a folder of tables ends in .csv or .parquet")
    names = [name for name in schema.TABLES if name in trace or name == "locations"]
    progress.step(f"writing {style}", len(names), "tables")
    with atomic.folder(path) as part:
        for name in names:
            _write_table(trace, name, part / f"{name}.{style}")
            progress.advance(1)


def _parts(trace: Trace, name: str) -> Iterator[pa.Table]:
    order = schema.TABLES[name].order
    if name == "locations" or not order or order[0] not in _BY_LOCATION:
        yield trace.table(name)
        return
    empty = True
    for part in trace.batches(name):
        empty = False
        yield part
    if empty:
        yield trace.table(name)


def _write_table(trace: Trace, name: str, path: Path) -> None:
    import pyarrow.csv as pacsv  # noqa: PLC0415 -- one of the two is not needed
    import pyarrow.parquet as pq  # noqa: PLC0415

    writer = None
    try:
        for part in _parts(trace, name):
            table = _as_text(part, lists=path.suffix == ".csv")
            if writer is None:
                writer = (
                    pacsv.CSVWriter(path, table.schema)
                    if path.suffix == ".csv"
                    else pq.ParquetWriter(path, table.schema, compression="zstd")
                )
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def _as_text(table: pa.Table, *, lists: bool) -> pa.Table:
    """A table with names for codes, and text for lists if asked for."""
    for position, field in enumerate(table.schema):
        column = table.column(position)
        if pa.types.is_dictionary(field.type):
            column = column.cast(pa.string())
        elif lists and pa.types.is_list(field.type):
            rows = (" ".join(map(str, row)) for row in column.to_pylist())
            column = pa.chunked_array([pa.array(rows, pa.string())])
        else:
            continue
        new = pa.field(field.name, column.type, field.nullable, field.metadata)
        table = table.set_column(position, new, column)
    return table
