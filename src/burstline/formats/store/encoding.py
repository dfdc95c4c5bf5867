"""Tables in a store: Parquet with delta encodings, dictionaries as codes.

The names behind codes are the schema's, or the manifest's for operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from burstline import schema

if TYPE_CHECKING:
    from collections.abc import Sequence

COMPRESSION: Final = "zstd"
COMPRESSION_LEVEL: Final = 1
# Columns of few distinct values in long runs: a dictionary beats deltas there.
_REPETITIVE: Final = frozenset([
    "location", "operation", "type", "state", "communicator", "tag", "root", "kind", "severity",
    "sender_location", "receiver_location", "send_done_from", "origin", "gap_ns", "polls",
    "polling_ns", "complete", "lock", "team", "iterations", "barrier_ordinal", "role",
])  # fmt: skip


def stored_schema(name: str, counters: Sequence[str]) -> pa.Schema:
    """The schema of a table on disk, with codes for dictionaries."""
    fields = [
        field.with_type(field.type.index_type) if pa.types.is_dictionary(field.type) else field
        for field in schema.arrow_schema(name, counters)
    ]
    return pa.schema(fields)


def encode(table: pa.Table, target: pa.Schema) -> pa.Table:
    """A table with codes for dictionaries."""
    columns = []
    for field in target:
        column = table[field.name]
        if pa.types.is_dictionary(column.type):
            parts = [chunk.indices for chunk in column.chunks]
            column = pa.chunked_array(parts, type=column.type.index_type)
        columns.append(column)
    return pa.Table.from_arrays(columns, schema=target)


def decode(
    table: pa.Table, name: str, columns: Sequence[str], operations: Sequence[str]
) -> pa.Table:
    """A stored table with its dictionaries."""
    specs = {column.name: column for column in schema.TABLES[name].columns}
    fields, arrays = [], []
    target = schema.arrow_schema(name, [c for c in columns if c not in specs])
    for column in columns:
        field = target.field(column)
        values = table[column]
        if pa.types.is_dictionary(field.type):
            names = operations if specs[column].type == "operation" else specs[column].values
            values = _dictionary(values, field.type, pa.array(names, pa.string()))
        elif values.type != field.type:
            values = values.cast(field.type)
        fields.append(field)
        arrays.append(values)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _dictionary(codes: pa.ChunkedArray, kind: pa.DataType, names: pa.Array) -> pa.ChunkedArray:
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.cast(kind.index_type), names)
        for chunk in codes.chunks
    ]
    return pa.chunked_array(chunks, type=kind)


def writer_options(target: pa.Schema) -> dict[str, Any]:
    """The options of a Parquet writer for a stored schema."""
    delta = {
        field.name: "DELTA_BINARY_PACKED"
        for field in target
        if field.name not in _REPETITIVE and field.type in (pa.int32(), pa.int64())
    }
    return {
        "compression": COMPRESSION,
        "compression_level": COMPRESSION_LEVEL,
        "use_dictionary": [field.name for field in target if field.name not in delta],
        "column_encoding": delta,
        "write_statistics": False,
        "store_schema": True,
    }
