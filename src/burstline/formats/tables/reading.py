"""From a folder of plain tables to a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from burstline import operations, schema
from burstline.errors import FormatError
from burstline.formats.store import MANIFEST
from burstline.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STYLES: Final = ("csv", "parquet")
"""What a folder of tables can hold; its name ends in one of them."""


def recognises(path: Path, _head: bytes = b"") -> bool:
    """Whether a folder holds the locations of a trace as CSV or Parquet, and no store."""
    return _style(path) is not None


def read(path: Path, **_: object) -> Trace:
    """A folder of tables as a trace, checked against the schema."""
    style = _style(path)
    if style is None:
        raise FormatError(
            path, None, expected="locations.csv or locations.parquet in it", found="neither"
        )
    plain = {}
    for name in schema.TABLES:
        file = path / f"{name}.{style}"
        if file.exists():
            plain[name] = _load(file, name, style)
    names = _operation_names(plain)
    return Trace(
        {name: _typed(table, name, names) for name, table in plain.items()}, check=True
    )


def _style(path: Path) -> str | None:
    if (path / MANIFEST).exists():
        return None
    return next((s for s in STYLES if (path / f"locations.{s}").is_file()), None)


def _load(file: Path, name: str, style: str) -> pa.Table:
    import pyarrow.csv as pacsv  # noqa: PLC0415 -- one of the two is not needed
    import pyarrow.parquet as pq  # noqa: PLC0415

    wanted = schema.arrow_schema(name)
    loaders: dict[str, Callable[[], pa.Table]] = {
        "parquet": lambda: pq.read_table(file, partitioning=None),
        "csv": lambda: pacsv.read_csv(file, convert_options=_csv_options(file, name)),
    }
    try:
        table = loaders[style]()
    except pa.ArrowInvalid as error:
        raise FormatError(
            file, None, expected=f"a {style} table of {name}", found=str(error)
        ) from error
    missing = [column for column in wanted.names if column not in table.column_names]
    surplus = table.column_names[len(wanted) :]
    if missing or (surplus and not schema.TABLES[name].counters):
        raise FormatError(
            file,
            None,
            expected=f"the columns {', '.join(wanted.names)}",
            found=", ".join(table.column_names),
        )
    return table.select(
        [*wanted.names, *(c for c in table.column_names if c not in wanted.names)]
    )


def _csv_options(file: Path, name: str) -> Any:  # noqa: ANN401 -- pyarrow has no types
    import pyarrow.csv as pacsv  # noqa: PLC0415 -- only for CSV

    with pacsv.open_csv(file) as lines:
        names = lines.schema.names
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
    """The names of all operations, then those that only this trace has."""
    operation_names: dict[str, None] = dict.fromkeys(operations.NAMES)
    for name, table in plain.items():
        for column in schema.TABLES[name].columns:
            if column.type == "operation":
                names = pc.unique(table[column.name].cast(pa.string())).drop_null()
                operation_names.update(dict.fromkeys(names.to_pylist()))
    return list(operation_names)


def _typed(table: pa.Table, name: str, operation_names: list[str]) -> pa.Table:
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
            column = _encoded(column.cast(pa.string()), values, field.type)
        elif pa.types.is_list(field.type) and pa.types.is_string(column.type):
            rows = [[int(word) for word in text.split()] for text in column.to_pylist()]
            column = pa.array(rows, field.type)
        columns.append(column.cast(field.type))
    return pa.table(columns, schema=wanted)


def _encoded(column: pa.ChunkedArray, values: list[str], kind: pa.DataType) -> pa.ChunkedArray:
    codes = pc.index_in(column, value_set=pa.array(values, pa.string()))
    names = pa.array(values, pa.string())
    return pa.chunked_array(
        [
            pa.DictionaryArray.from_arrays(chunk.cast(kind.index_type), names)
            for chunk in codes.chunks
        ],
        type=kind,
    )
