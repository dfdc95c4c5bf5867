"""Nothing is lost by writing: never a source, and what exists only if that is asked for."""

from __future__ import annotations

import pyarrow as pa
import pytest

import burstline
from burstline.annotation import annotated, marks_of
from burstline.columns import to_numpy
from burstline.errors import InconsistentTraceError, ParameterError
from burstline.formats.derivation import with_records
from burstline.model import Trace, overlaid, schema
from burstline.selection import select, shift
from paraver_text import write_example

ENDINGS = (".prv", ".prv.gz", ".store", ".csv", ".parquet", ".otf2")
MADE = {
    "selected": lambda trace: select(trace, start_ns=1),
    "shifted": lambda trace: shift(trace, 1),
    "overlaid": lambda trace: overlaid(trace, {}, without=["regions"]),
    "annotated": lambda trace: annotated(trace, marks_of(burstline.detect(trace))),
    "with records": with_records,
}


def content(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    return burstline.read(write_example(tmp_path_factory.mktemp("example")))


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_a_trace_was_read_from_is_never_replaced(tmp_path, example, ending):
    path = tmp_path / f"run{ending}"
    burstline.write(example, path)
    trace, before = burstline.read(path), content(tmp_path)

    for overwrite in (False, True):
        with pytest.raises(ParameterError, match="belongs to the trace's source"):
            burstline.write(trace, path, overwrite=overwrite)

    assert content(tmp_path) == before


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_a_trace_that_is_made_of_one_never_replaces_what_that_was_read_from(
    tmp_path, example, made
):
    burstline.write(example, path := tmp_path / "run.store")
    trace, before = made(burstline.read(path)), content(tmp_path)

    with pytest.raises(ParameterError, match=r"run\.store belongs to the trace's source"):
        burstline.write(trace, path, overwrite=True)

    assert content(tmp_path) == before


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_exists_is_replaced_only_if_that_is_asked_for(tmp_path, example, ending):
    path = tmp_path / f"run{ending}"
    burstline.write(shift(example, 5), path)
    before = content(tmp_path)

    with pytest.raises(ParameterError, match=r"exists\. .* pass overwrite=True"):
        burstline.write(example, path)
    assert content(tmp_path) == before

    burstline.write(example, path, overwrite=True)
    assert burstline.read(path).calls["enter_ns"].equals(example.calls["enter_ns"])


def test_other_files_of_a_source_and_other_names_for_it_are_the_source(tmp_path, example):
    burstline.write(example, tmp_path / "run.prv")
    trace = burstline.read(tmp_path / "run.prv")
    (tmp_path / "link.prv").symlink_to("run.prv")
    (tmp_path / "around.csv").mkdir()
    burstline.write(example, tmp_path / "around.csv" / "run.store")
    inside = burstline.read(tmp_path / "around.csv" / "run.store")
    before = content(tmp_path)

    for name in ("run.prv.gz", "link.prv"):  # run.pcf belongs to run.prv.gz, too
        with pytest.raises(ParameterError, match="belongs to the trace's source"):
            burstline.write(trace, tmp_path / name, overwrite=True)
    with pytest.raises(ParameterError, match=r"new\.store lies in the trace's source"):
        burstline.write(inside, tmp_path / "around.csv" / "run.store" / "new.store")
    with pytest.raises(ParameterError, match=r"around\.csv holds the trace's source"):
        burstline.write(inside, tmp_path / "around.csv", overwrite=True)

    assert content(tmp_path) == before


@pytest.mark.parametrize("ending", [".store", ".csv", ".parquet"])
@pytest.mark.parametrize(
    "case",
    [
        ("bursts", "end_ns", 1, "a time from start_ns on"),
        ("calls", "call", 3, "rows in the order of call"),
        ("calls", "leave_seq", 1, "a number from 0"),
    ],
)
def test_tables_that_could_not_be_read_again_are_not_written(tmp_path, example, ending, case):
    name, column, row, said = case
    table = example.table(name)
    values = to_numpy(table[column]).copy()
    values[row] = -1
    place = table.column_names.index(column)
    wrong = table.set_column(place, table.schema.field(column), pa.array(values))
    tables = {each: example.table(each) for each in schema.TABLES if each in example}

    said = rf"^{name}\.{column}: expected {said}.*, found -1 in row {row}$"
    with pytest.raises(InconsistentTraceError, match=said):
        burstline.write(Trace(tables | {name: wrong}), tmp_path / f"run{ending}")

    assert not content(tmp_path)
