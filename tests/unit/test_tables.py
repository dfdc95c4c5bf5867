"""A folder of tables holds the whole trace, and gives it back."""

from __future__ import annotations

import csv

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given

import burstline
from burstline.errors import FormatError, ParameterError
from burstline.formats import tables
from burstline.formats.intake.budget import BASE
from burstline.model import schema
from burstline.testing import assert_same_trace, trace_of
from paraver_text import write_example
from random_traces import traces


@given(trace=traces())
def test_any_trace_comes_back_from_csv(tmp_path_factory, trace):
    folder = tmp_path_factory.mktemp("any") / "run.csv"

    tables.write(trace, folder)

    assert_same_trace(tables.read(folder), trace)


def test_csv_is_what_other_programs_expect_and_parquet_keeps_units(tmp_path):
    for ending in ("csv", "parquet"):
        tables.write(burstline.read(write_example(tmp_path)), tmp_path / f"run.{ending}")

    with (tmp_path / "run.csv" / "calls.csv").open(newline="") as file:
        first = next(csv.DictReader(file))
    assert first["operation"] == "MPI_Send"
    assert (first["enter_ns"], first["leave_ns"]) == ("100", "200")
    assert first["root"] == ""
    with (tmp_path / "run.csv" / "communicators.csv").open(newline="") as file:
        assert next(csv.DictReader(file))["members"] == "0 1"
    field = pq.read_schema(tmp_path / "run.parquet" / "calls.parquet").field("enter_ns")
    assert field.metadata[b"unit"] == b"ns"


def test_a_folder_of_another_name_or_of_other_things_is_no_folder_of_tables(tmp_path):
    assert not tables.recognises(tmp_path)
    with pytest.raises(FormatError, match="expected locations"):
        tables.read(tmp_path)
    with pytest.raises(ParameterError, match=r"\.csv or \.parquet"):
        tables.write(burstline.Trace({}), tmp_path / "run")


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        (
            "gaps.csv",
            b"location,start_ns\n0,5\n",
            r"gaps\.csv.*location, start_ns, end_ns, kind",
        ),
        (
            "gaps.csv",
            b"location,start_ns,end_ns,kind\n0,5,9,lunch\n",
            r"gaps\.csv: expected one of flush, .*column kind",
        ),
        ("calls.parquet", b"\x89PNG", r"calls\.parquet"),
    ],
    ids=["a column is missing", "a value of another kind", "no table"],
)
def test_a_file_that_is_no_such_table_is_refused_by_name(tmp_path, file, content, words):
    folder = tmp_path / f"run{file[file.index('.') :]}"
    tables.write(burstline.read(write_example(tmp_path)), folder)
    (folder / file).write_bytes(content)

    with pytest.raises(FormatError, match=words):
        tables.read(folder)


@pytest.mark.parametrize("style", ["csv", "parquet"])
@pytest.mark.parametrize("twice", ["location", "PAPI_TOT_INS"])
def test_a_column_that_is_there_twice_is_refused_by_name(tmp_path, style, twice):
    text = "ranks 1\ncounter PAPI_TOT_INS\n0 | 5 enter f PAPI_TOT_INS=3 | 9 leave"
    folder = tmp_path / f"run.{style}"
    tables.write(trace_of(text), folder)
    file = folder / f"readings.{style}"
    sound = pq.read_table(file) if style == "parquet" else pacsv.read_csv(file)
    again = sound.append_column(twice, sound[twice])
    if style == "parquet":
        pq.write_table(again, file)
    else:
        pacsv.write_csv(again, file)

    with pytest.raises(FormatError, match=rf"readings\.{style}.*location.*{twice}'$"):
        tables.read(folder)


def test_a_list_longer_than_a_block_of_csv_comes_back(tmp_path):
    kept = trace_of("ranks 2 | communicator 1 members 0 1 | 0 | 1 enter MPI_Init | 2 leave")
    rows = kept.communicators.to_pylist()
    rows[-1]["members"] = list(range(500_000))  # a block has a mebibyte
    table = pa.Table.from_pylist(rows, schema=kept.communicators.schema)
    tables = {name: kept.table(name) for name in schema.TABLES if name in kept}
    trace = burstline.Trace(tables | {"communicators": table})

    burstline.write(trace, tmp_path / "run.csv")

    assert_same_trace(burstline.read(tmp_path / "run.csv"), trace)


def test_numbers_of_a_list_in_csv_are_counted_before_they_are_made(tmp_path):
    burstline.write(trace_of("ranks 2 | communicator 1 members 0 1"), tmp_path / "run.csv")
    file = tmp_path / "run.csv" / "communicators.csv"
    file.write_text(file.read_text().replace('"0 1"', f'"{"0 " * 4_000_000}"'))

    with pytest.raises(burstline.MemoryBudgetError) as refused:
        burstline.read(tmp_path / "run.csv", memory=BASE + 100_000_000)

    assert refused.value.needed_bytes > 400_000_000
