"""A store written in pieces of locations is read in parts of whole locations."""

from __future__ import annotations

import pyarrow as pa
import pytest

import burstline
import raw_files
from burstline.errors import FormatError
from burstline.formats import store
from burstline.formats.store.folder import StoreWriter
from burstline.formats.store.manifest import Entry, Manifest
from burstline.model import schema
from raw_files import Run

PIECES = [(0, 3), (3, 4), (4, 9), (9, 12), (12, 14), (14, 20)]
"""Rows of calls; ranks have six, six and eight of them."""


def write_in_pieces(path, trace):
    path.mkdir()
    with StoreWriter(path, []) as writer:
        for name in ("locations", "communicators", "collectives"):
            writer.append(name, trace.table(name))
        for first, last in PIECES:
            writer.append("calls", trace.calls.slice(first, last - first))
        names = trace.calls["operation"].chunk(0).dictionary.to_pylist()
        writer.finish(names)
    return store.read(path)


def recorded(folder):
    run = Run(3)
    for rank, calls in enumerate((6, 6, 8)):
        for number in range(calls):
            now = 10 + 100 * number
            run[rank].call("MPI_Bcast", now, now + 5, raw_files.collective())
    return run.end(2000).read(folder)


def test_rows_near_a_window_are_never_estimated_as_none_where_there_may_be_some(tmp_path):
    stored = write_in_pieces(tmp_path / "x.store", recorded(tmp_path))

    assert stored.rows_near("calls", window=(115, 116)) > 0


def test_a_row_that_is_not_there_is_counted_from_the_beginning_of_the_file(tmp_path):
    trace = recorded(tmp_path)
    field = trace.calls.schema.field("communicator")
    values = [7 if row == 15 else 0 for row in range(20)]
    calls = trace.calls.set_column(
        trace.calls.column_names.index("communicator"), field, pa.array(values, field.type)
    )
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}

    stored = write_in_pieces(tmp_path / "x.store", burstline.Trace(tables | {"calls": calls}))

    with pytest.raises(FormatError, match=r"of which there are 1.*found '7 in row 15'"):
        list(stored.batches("calls"))


def test_columns_without_the_location_are_read_too(tmp_path):
    """Numbers begin anew on each location, which nobody sees in them alone."""
    stored = write_in_pieces(tmp_path / "x.store", recorded(tmp_path))

    numbers = [part["call"].to_pylist() for part in stored.batches("calls", ["call"])]

    every = [number for part in numbers for number in part]
    assert every == [*range(6), *range(6), *range(8)]


def test_in_whatever_order_tables_were_written_the_manifest_is_the_same():
    entries = {name: Entry(rows, 7) for rows, name in enumerate(("calls", "regions", "gaps"))}
    other = dict(reversed(entries.items()))

    texts = [Manifest(("MPI_Send",), (), tables).text() for tables in (entries, other)]

    assert texts[0] == texts[1]
