"""From a folder of plain tables to a trace, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline.cells import cell, cells, text_of, texts_of
from burstline.columns import to_numpy
from burstline.errors import FormatError, ParameterError
from burstline.extrae import MPI_TYPES
from burstline.formats import atomic, definitions, intake, store
from burstline.formats.files import is_plain
from burstline.formats.walk import parts_of
from burstline.model import Trace, operations, schema
from burstline.progress import SILENCE, Progress

STYLES: Final = ("csv", "parquet")
"""What a folder of tables can hold; its name ends in one of them."""
_WAY_OUT: Final = "Allow more memory (`memory`)."
_COPIES: Final = 2  # of a table: as loaded, and with the types of its schema
_BLOCK: Final = 1 << 20  # of CSV, which lines and rows are cut out of
_LARGEST_BLOCK: Final = (1 << 31) - 1


def recognises(path: Path, _head: bytes = b"") -> bool:
    """Whether a folder holds the locations of a trace as CSV or Parquet, and no store."""
    return _style_of(path) is not None


def read(path: Path, *, memory: int | None = None, **_: object) -> Trace:
    """A folder of tables as a trace, checked against the schema; whole in `memory` bytes."""
    style = _style_of(path)
    if style is None:
        raise FormatError(
            path, None, expected="locations.csv or locations.parquet in it", found="neither"
        )
    files = {name: path / f"{name}.{style}" for name in schema.TABLES}
    files = {name: file for name, file in files.items() if is_plain(file)}

    def require(needed: int) -> None:
        intake.require_bytes(needed, memory, way_out=_WAY_OUT)

    footers = {}
    for name, file in files.items() if style == "parquet" else ():
        with _damage_named(file, name):
            footers[name] = store.read_footer(file, require=require)
    needed = 0
    if memory is not None:
        sizes = (_bytes_to_load(file, name, footers) for name, file in files.items())
        require(needed := intake.BASE + sum(sizes))
    plain = {name: _load_table(file, name, footers) for name, file in files.items()}
    texts = map(_text_columns, plain, plain.values())
    needed += sum(definitions.text_bytes(table, coded=True) for table in texts)
    require(needed)
    defined = definitions.Account(memory, way_out=_WAY_OUT)
    for name in definitions.TABLES & plain.keys():
        defined.charge_table(name, plain[name], items=_list_items(name, plain[name]))
    names, tables = _operation_names(plain), {}
    for name, table in plain.items():
        with _damage_named(files[name], name):
            tables[name] = _with_schema_types(table, name, names)
    _check_rows(files, tables)
    _check_counters(path, style, tables)
    _check_records(files, tables)
    return Trace(tables)


def _check_counters(path: Path, style: str, tables: dict[str, pa.Table]) -> None:
    """Raise FormatError unless the columns of counters are those that are defined."""
    defined = tables["counters"]["name"].to_pylist() if "counters" in tables else []
    for name, table in tables.items():
        names = table.column_names[len(schema.TABLES[name].columns) :]
        if schema.TABLES[name].counters and names != defined:
            raise FormatError(
                path / f"{name}.{style}",
                None,
                expected=f"the counters {', '.join(map(str, defined))}",
                found=", ".join(names),
            )


def _check_rows(files: dict[str, Path], tables: dict[str, pa.Table]) -> None:
    """Raise FormatError where a row is wrong, or names one that is not there."""
    for name in tables:
        wrong = schema.first_wrong_of(name, tables)
        if wrong is not None:
            raise store.wrong_row(files[name], wrong)


def _check_records(files: dict[str, Path], tables: dict[str, pa.Table]) -> None:
    """Raise FormatError where a location has calls that its records do not tell of.

    A copy as Paraver's files is made of the records.
    """
    if "events" not in tables or "calls" not in tables:
        return
    events = tables["events"]
    is_enter = pc.and_(
        pc.is_in(events["type"], pa.array(MPI_TYPES)), pc.not_equal(events["value"], 0)
    )
    recorded, called = (
        np.bincount(to_numpy(of), minlength=tables["locations"].num_rows)
        for of in (events["location"].filter(is_enter), tables["calls"]["location"])
    )
    for location in np.flatnonzero(called > recorded).tolist():
        raise FormatError(
            files["events"],
            None,
            expected=f"a record of each of the {called[location]} calls of location {location}",
            found=f"{recorded[location]}",
        )


def _damage_named(file: Path, name: str) -> AbstractContextManager[None]:
    return store.damage_told(file, f"a {file.suffix[1:]} table of {name}")


def _style_of(path: Path) -> str | None:
    if is_plain(path / store.MANIFEST):
        return None
    return next((s for s in STYLES if is_plain(path / f"locations.{s}")), None)


def _bytes_to_load(file: Path, name: str, footers: Mapping[str, store.Footer]) -> int:
    """What a table takes while it is loaded, by its size, or by the pages of Parquet."""
    if name not in footers:
        return _COPIES * file.stat().st_size
    with _damage_named(file, name):
        groups = range(len(footers[name].groups))
        columns = footers[name].arrow.schema.to_arrow_schema().names
        return _COPIES * sum(store.bytes_to_read(file, footers[name], groups, columns))


def _text_columns(name: str, table: pa.Table) -> pa.Table:
    """The columns of a table that stay texts, or become lists."""
    codes = {f.name for f in schema.arrow_schema(name) if pa.types.is_dictionary(f.type)}
    return table.select([column for column in table.column_names if column not in codes])


def _load_table(file: Path, name: str, footers: Mapping[str, store.Footer]) -> pa.Table:
    wanted = schema.arrow_schema(name)
    with _damage_named(file, name), store.arrow_source(file) as source:
        if name in footers:
            table = store.open_parquet(source, footers[name]).read()
        else:
            table = _of_cells(_read_csv(file, name))
        names = table.column_names
    missing = [column for column in wanted.names if column not in names]
    surplus, is_twice = names[len(wanted) :], len(set(names)) < len(names)
    if missing or is_twice or (surplus and not schema.TABLES[name].counters):
        raise FormatError(
            file,
            None,
            expected=f"the columns {', '.join(wanted.names)}",
            found=", ".join(names),
        )
    return table.select([*wanted.names, *(c for c in names if c not in wanted.names)])


def _of_cells(table: pa.Table) -> pa.Table:
    """A table with the names and texts that its cells were written for."""
    columns = [texts_of(c) if pa.types.is_string(c.type) else c for c in table.columns]
    return pa.table(columns, names=[text_of(name) for name in table.column_names])


def _list_items(name: str, table: pa.Table) -> int:
    words = [
        pc.sum(pc.add(pc.count_substring(table[field.name], " "), 1)).as_py() or 0
        for field in schema.arrow_schema(name)
        if pa.types.is_list(field.type) and pa.types.is_string(table[field.name].type)
    ]
    return sum(words)


def _read_csv(file: Path, name: str) -> pa.Table:
    """A table of CSV as it stands there; a line may be longer than a block of the reader."""
    try:
        return _read_blocks(file, name, _BLOCK)
    except pa.ArrowInvalid:
        if (size := file.stat().st_size) < _BLOCK:
            raise
        # Twice the file was required to fit: once as a block, once as a table.
        return _read_blocks(file, name, min(size + 1, _LARGEST_BLOCK))


def _read_blocks(file: Path, name: str, size: int) -> pa.Table:
    import pyarrow.csv as pacsv  # noqa: PLC0415 -- only for CSV

    blocks = pacsv.ReadOptions(block_size=size)
    with store.arrow_source(file) as source, pacsv.open_csv(source, blocks) as lines:
        options = _csv_options(name, lines.schema.names)
    with store.arrow_source(file) as source:
        return pacsv.read_csv(source, read_options=blocks, convert_options=options)


def _csv_options(name: str, names: Sequence[str]) -> Any:  # noqa: ANN401 -- pyarrow has no types
    import pyarrow.csv as pacsv  # noqa: PLC0415 -- only for CSV

    plain = {field.name: _text_type(field.type) for field in schema.arrow_schema(name)}
    return pacsv.ConvertOptions(
        column_types={column: plain.get(column, pa.int64()) for column in names},
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )


def _text_type(kind: pa.DataType) -> pa.DataType:
    written = pa.types.is_dictionary(kind) or pa.types.is_list(kind)
    return pa.string() if written else kind


def _operation_names(plain: dict[str, pa.Table]) -> list[str]:
    operation_names: dict[str, None] = dict.fromkeys(operations.NAMES)
    for name, table in plain.items():
        for column in schema.TABLES[name].columns:
            if column.type == "operation":
                for chunk in _as_dictionary(table[column.name]).chunks:
                    operation_names.update(dict.fromkeys(chunk.dictionary.to_pylist()))
    return list(operation_names)


def _as_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        return column
    return column.cast(pa.string()).dictionary_encode()


def _with_schema_types(table: pa.Table, name: str, operation_names: list[str]) -> pa.Table:
    """A table with the types of its schema: codes for names, lists for text."""
    counters = table.column_names[len(schema.TABLES[name].columns) :]
    wanted = schema.arrow_schema(name, counters)
    columns = []
    for field in wanted:
        column = table[field.name]
        if pa.types.is_dictionary(field.type):
            values = operation_names
            if field.type.index_type == pa.int8():
                values = list(schema.TABLES[name].column(field.name).values)
            names = pa.array(values, pa.string())
            chunks = [
                pc.index_in(chunk.dictionary.cast(pa.string()), value_set=names).take(
                    chunk.indices
                )
                for chunk in _as_dictionary(column).chunks
            ]
            column = store.dictionary(pa.chunked_array(chunks, pa.int32()), field.type, names)
        elif pa.types.is_list(field.type) and not pa.types.is_list(column.type):
            rows = [[int(word) for word in text.split()] for text in column.to_pylist()]
            column = pa.array(rows, field.type)
        columns.append(column.cast(field.type))
    return pa.table(columns, schema=wanted)


def write(trace: Trace, path: Path, *, progress: Progress = SILENCE, **_: object) -> None:
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


def _write_table(trace: Trace, name: str, path: Path) -> None:
    import pyarrow.csv as pacsv  # noqa: PLC0415 -- one of the two is not needed
    import pyarrow.parquet as pq  # noqa: PLC0415

    with ExitStack() as stack:
        file, writer, rows = stack.enter_context(atomic.new_file(path)), None, 0
        for part in parts_of(trace, name):
            schema.require_sound(name, part, before=rows)
            rows += part.num_rows
            table = _as_text(part, csv=path.suffix == ".csv")
            if writer is None:
                made = (
                    pacsv.CSVWriter(file, table.schema)
                    if path.suffix == ".csv"
                    else pq.ParquetWriter(
                        file, table.schema, compression="zstd", write_page_checksum=True
                    )
                )
                writer = stack.enter_context(made)
            writer.write_table(table)


def _as_text(table: pa.Table, *, csv: bool) -> pa.Table:
    """A table with names for codes; for CSV also with text for lists, and texts as cells."""
    for position, field in enumerate(table.schema):
        column, name = table.column(position), cell(field.name) if csv else field.name
        if pa.types.is_dictionary(field.type):
            chunks = [
                (cells(names) if csv else names).take(chunk.indices)
                for chunk in column.chunks
                for names in [chunk.dictionary.cast(pa.string())]
            ]
            column = pa.chunked_array(chunks, pa.string())
        elif csv and pa.types.is_list(field.type):
            column = pc.binary_join(column.cast(pa.list_(pa.string())), " ")
        elif csv and pa.types.is_string(field.type):
            column = pa.chunked_array([cells(chunk) for chunk in column.chunks], field.type)
        elif name == field.name:
            continue
        new = pa.field(name, column.type, field.nullable, field.metadata)
        table = table.set_column(position, new, column)
    return table
