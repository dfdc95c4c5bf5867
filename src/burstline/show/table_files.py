"""A table that comes in parts, as a Parquet, CSV or Arrow file, or as CSV on stdout."""

from __future__ import annotations

import sys
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, Final

import pyarrow as pa

from burstline.errors import FormatError, printable
from burstline.formats import atomic

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_LONGEST_TEXT: Final = 10_000


def write_parts(parts: Iterable[pa.Table], schema: pa.Schema, path: Path) -> int:
    """Write a table part by part; the file appears whole or not at all."""
    rows = 0
    with atomic.output(path) as file, _writer(file, path.suffix, schema) as writer:
        for part in parts:
            if part.num_rows:
                writer.write_table(_plain(part) if path.suffix == ".csv" else part)
                rows += part.num_rows
    return rows


def read_table(path: Path) -> pa.Table:
    """The table of a Parquet or Arrow file, as :func:`write_parts` writes it."""
    from pyarrow import parquet  # noqa: PLC0415 -- one of the two is needed

    with path.open("rb") as file:
        try:
            if path.suffix == ".parquet":
                return parquet.read_table(file)
            return pa.ipc.open_file(file).read_all()
        except (pa.ArrowException, OSError) as error:
            what = "a Parquet table" if path.suffix == ".parquet" else "an Arrow file"
            raise FormatError(
                path,
                None,
                expected=what,
                found=str(error).splitlines()[0],
                way_out="burstline merge --dataset writes one.",
            ) from error


def print_parts(parts: Iterable[pa.Table], schema: pa.Schema) -> None:
    """Print a table as CSV on standard output, its texts made printable."""
    from pyarrow import csv  # noqa: PLC0415 -- only here

    header = True
    names = [printable(name) for name in schema.names]
    for part in chain([schema.empty_table()], parts):
        lines = pa.BufferOutputStream()
        options = csv.WriteOptions(include_header=header, quoting_style="needed")
        shown = _plain(part, shown=True).rename_columns(names)
        csv.write_csv(shown, lines, options)
        sys.stdout.write(lines.getvalue().to_pybytes().decode())
        header = False


def _writer(file: IO[bytes], ending: str, schema: pa.Schema) -> Any:  # noqa: ANN401 -- of three kinds
    if ending == ".parquet":
        from pyarrow import parquet  # noqa: PLC0415 -- one of the three is needed

        return parquet.ParquetWriter(file, schema, compression="zstd")
    if ending == ".csv":
        from pyarrow import csv  # noqa: PLC0415 -- as above

        texts = _plain(schema.empty_table()).schema
        return csv.CSVWriter(
            file, texts, write_options=csv.WriteOptions(quoting_style="needed")
        )
    return pa.ipc.new_file(file, schema)


def _plain(part: pa.Table, *, shown: bool = False) -> pa.Table:
    """Write dictionaries out as texts."""
    for position, field in enumerate(part.schema):
        if not pa.types.is_dictionary(field.type):
            continue
        chunks = [_texts(chunk, shown=shown) for chunk in part.column(position).chunks]
        column = pa.chunked_array(chunks, pa.string())
        new = pa.field(field.name, pa.string(), field.nullable, field.metadata)
        part = part.set_column(position, new, column)
    return part


def _texts(chunk: pa.DictionaryArray, *, shown: bool) -> pa.Array:
    names = chunk.dictionary
    if shown:
        safe = [printable(name, limit=_LONGEST_TEXT) for name in names.to_pylist()]
        names = pa.array(safe, pa.string())
    return names.take(chunk.indices)
