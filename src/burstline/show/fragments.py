"""A burst table in parts: into a file, on stdout, or by workers, each a file of its own.

::

    worker ─► fragment, its sums ─┐
    worker ─► fragment, its sums ─┴─► one file, as if it had been written here
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import IO, Any, Final

import pyarrow as pa

from burstline import merge
from burstline.cells import cell, cells
from burstline.formats import atomic, store
from burstline.merge import PartSums, Shared
from burstline.model import Trace
from burstline.progress import SILENCE, Progress

_WAY_OUT: Final = "burstline merge writes one (`dataset`)."


@dataclass(frozen=True, slots=True)
class Fragment:
    """Rows of a burst table: where they are, if they were asked for, and what they hold."""

    path: Path | None
    parts: list[PartSums]


def write_fragment(
    trace: Trace,
    *,
    whole: Trace,
    locations: range,
    folder: Path | None,
    ending: str,
    columns: Sequence[str] | None,
    min_duration_ns: int,
    longest: int,
    progress: Progress = SILENCE,  # noqa: ARG001 -- as of every fold
) -> Fragment:
    """Write the bursts of some locations into a file of a folder, or only sum them up."""
    schema = merge.table_schema(trace.counter_names, columns)
    parts = merge.burst_parts(
        trace,
        columns=columns,
        min_duration_ns=min_duration_ns,
        shared=_shared(whole),
        locations=locations,
    )
    if folder is None:
        return Fragment(None, [PartSums.of(part, longest) for part in parts])
    sums = []
    number, name = tempfile.mkstemp(dir=folder, suffix=ending)
    with os.fdopen(number, "wb") as file, _table_writer(file, ending, schema) as writer:
        for part in parts:
            sums.append(PartSums.of(part, longest))
            if part.num_rows:
                writer.write_table(part)
    return Fragment(Path(name), sums)


@lru_cache(maxsize=1)
def _shared(whole: Trace) -> Shared:
    """What a worker keeps from part to part: these come in the order of locations."""
    return Shared(whole)


def join_parquet(fragments: Iterable[Fragment], path: Path) -> None:
    """Make one Parquet file of fragments as they come; it appears whole or not at all."""
    with atomic.output(path) as file:
        store.join(_paths(fragments), file)


def rows_of(fragments: Iterable[Fragment]) -> Iterator[pa.Table]:
    """The rows of fragments that are Arrow files, part by part."""
    for path in _paths(fragments):
        with pa.memory_map(str(path)) as mapped:
            file = pa.ipc.open_file(mapped)
            for number in range(file.num_record_batches):
                yield pa.Table.from_batches([file.get_batch(number)])


def _paths(fragments: Iterable[Fragment]) -> Iterator[Path]:
    """The files of fragments as they come: each is removed when the next one is asked for."""
    for fragment in fragments:
        if fragment.path is not None:
            yield fragment.path
            fragment.path.unlink()


def write_parts(parts: Iterable[pa.Table], schema: pa.Schema, path: Path) -> int:
    """Write a table part by part; the file appears whole or not at all."""
    rows = 0
    with atomic.output(path) as file, _table_writer(file, path.suffix, schema) as writer:
        for part in parts:
            if part.num_rows:
                writer.write_table(_plain(part) if path.suffix == ".csv" else part)
                rows += part.num_rows
    return rows


def read_table(path: Path) -> pa.Table:
    """The table of a Parquet or Arrow file, as :func:`write_parts` writes it."""
    from pyarrow import parquet  # noqa: PLC0415 -- one of the two is needed

    is_parquet = path.suffix == ".parquet"
    expected = "a Parquet table" if is_parquet else "an Arrow file"
    with store.damage_told(path, expected, _WAY_OUT), path.open("rb") as file:
        if not is_parquet:
            return pa.ipc.open_file(file).read_all()
        footer = store.read_footer(path)
        table = parquet.ParquetFile(
            file, metadata=footer.arrow, page_checksum_verification=True
        )
        return table.read_row_groups(range(len(footer.groups)))


def print_parts(parts: Iterable[pa.Table], schema: pa.Schema) -> None:
    """Print a table as CSV on standard output."""
    from pyarrow import csv  # noqa: PLC0415 -- only here

    header = True
    for part in chain([schema.empty_table()], parts):
        lines = pa.BufferOutputStream()
        options = csv.WriteOptions(include_header=header, quoting_style="needed")
        csv.write_csv(_plain(part), lines, options)
        sys.stdout.write(lines.getvalue().to_pybytes().decode())
        header = False


def _table_writer(file: IO[bytes], ending: str, schema: pa.Schema) -> Any:  # noqa: ANN401 -- of three kinds
    if ending == ".parquet":
        from pyarrow import parquet  # noqa: PLC0415 -- one of the three is needed

        return parquet.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True)
    if ending == ".csv":
        from pyarrow import csv  # noqa: PLC0415 -- as above

        texts = _plain(schema.empty_table()).schema
        return csv.CSVWriter(
            file, texts, write_options=csv.WriteOptions(quoting_style="needed")
        )
    return pa.ipc.new_file(file, schema)


def _plain(part: pa.Table) -> pa.Table:
    """A table of CSV: dictionaries are written out, and texts are cells."""
    for position, field in enumerate(part.schema):
        column, kind = part.column(position), field.type
        if pa.types.is_dictionary(kind):
            chunks = [cells(chunk.dictionary).take(chunk.indices) for chunk in column.chunks]
            column, kind = pa.chunked_array(chunks, pa.string()), pa.string()
        elif pa.types.is_string(kind):
            column = pa.chunked_array([cells(chunk) for chunk in column.chunks], kind)
        new = pa.field(cell(field.name), kind, field.nullable, field.metadata)
        part = part.set_column(position, new, column)
    return part
