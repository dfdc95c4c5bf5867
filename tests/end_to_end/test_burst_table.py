"""``burstline table``: the same rows in every format, from every source."""

from __future__ import annotations

import csv
import io

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import burstline
from burstline.merge import burst_table
from command import burstline as run
from command import document_of, printed_by
from paraver_text import write_example

FEW = "rank,burst,duration_ns,operation_after,concurrency"


@pytest.fixture
def example(tmp_path):
    return write_example(tmp_path)


def plain(table):
    return [
        {name: value for name, value in row.items() if value not in (None, "")}
        for row in table.to_pylist()
    ]


def test_every_format_holds_the_same_rows(example, tmp_path):
    expected = burst_table(burstline.read(example)).table
    files = [tmp_path / f"bursts.{ending}" for ending in ("parquet", "arrow", "csv")]

    for file in files:
        assert not printed_by("table", example, "-o", file)

    assert pq.read_table(files[0]).to_pylist() == expected.to_pylist()
    assert pa.ipc.open_file(files[1]).read_all().to_pylist() == expected.to_pylist()
    assert plain(pacsv.read_csv(files[2])) == plain(expected)
    assert pq.read_schema(files[0]).field("duration_ns").metadata[b"unit"] == b"ns"


def test_csv_goes_to_standard_output(example):
    rows = list(csv.DictReader(io.StringIO(printed_by("table", example, "--format", "csv"))))

    expected = burst_table(burstline.read(example)).table
    assert [int(row["duration_ns"]) for row in rows] == expected["duration_ns"].to_pylist()
    assert list(rows[0]) == expected.column_names


def test_what_a_trace_says_cannot_command_a_terminal(tmp_path):
    path = tmp_path / "odd.txt"
    path.write_text(
        'ranks 1 | counter "c\\u001b[31m" | path 0 "f\\u001b[2J"\n'
        "0 | 0 enter MPI_Init path 0 | 5 leave | 9 enter MPI_Barrier path 0 | 12 leave"
    )

    text = printed_by("table", path, "--format", "csv") + printed_by("table", path)

    assert "\x1b" not in text
    assert "f\ufffd[2J" in text


def test_json_says_what_the_table_holds(example, tmp_path):
    file = tmp_path / "b.parquet"
    document = document_of("table", example, "-o", file, "--columns", FEW, "--top", 2)

    assert document["output"] == str(file)
    assert document["bursts"] == burstline.read(example).bursts.num_rows
    assert [column["name"] for column in document["columns"]] == FEW.split(",")
    assert len(document["longest"]) == 2


def test_without_an_output_people_see_columns_and_the_longest_bursts(example):
    text = printed_by("table", example, "--top", 1)

    assert "Longest bursts" in text
    assert "call_path_before" in text


def test_a_store_gives_the_file_its_trace_gives(example, tmp_path):
    store = tmp_path / "run.store"
    burstline.write(burstline.read(example), store)
    files = [tmp_path / "one.parquet", tmp_path / "other.parquet"]

    for source, file in zip((example, store), files, strict=True):
        printed_by("table", source, "-o", file)
    part = tmp_path / "part.parquet"
    printed_by("table", store, "-o", part, "--ranks", "0")

    one, other = (pq.read_table(file).to_pylist() for file in files)
    assert one == other
    assert pq.read_table(part).to_pylist() == [row for row in one if row["rank"] == 0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "x.txt"], ".parquet, .csv or .arrow"),
        (["--columns", "rnk"], "no column rnk in a burst table; there are rank, thread"),
        (["--min-duration", "soon"], "no time"),
        (["--top", "-1"], "--top must not be negative"),
    ],
)
def test_what_makes_no_sense_is_refused(example, words, message):
    done = run("table", example, *words)

    assert done.returncode == 2
    assert message in done.stderr


def test_a_file_is_replaced_only_if_that_is_wanted(example, tmp_path):
    file = tmp_path / "b.csv"
    file.write_text("mine")

    assert run("table", example, "-o", file).returncode == 2
    assert file.read_text() == "mine"

    printed_by("table", example, "-o", file, "--force", "--min-duration", "1h")
    assert len(file.read_text().splitlines()) == 1


def test_a_store_whose_concurrency_would_not_fit_is_refused(example, tmp_path):
    store = tmp_path / "run.store"
    burstline.write(burstline.read(example), store)

    done = run("table", store, "--memory", "10")

    assert done.returncode == 5
    assert "Leave concurrency out (--columns)" in done.stderr
    assert "duration_ns" in printed_by(
        "table", store, "--memory", "10", "--columns", "duration_ns"
    )


@pytest.mark.parametrize(
    "name", ["lulesh_8r_s4_i10_run1", "lulesh_omp_8r2t_s4_i5", "toy_irregular_run1"]
)
def test_real_traces_keep_every_burst(real_traces, name):
    trace = burstline.read(real_traces / f"{name}.prv.gz")
    table = burst_table(trace)
    start_ns, end_ns = trace.arrays("bursts", "start_ns", "end_ns")
    duration_ns, concurrency = table.arrays("duration_ns", "concurrency")

    assert len(table) == burstline.summarise(trace).bursts
    assert duration_ns.tolist() == (end_ns - start_ns).tolist()
    assert np.nanmin(concurrency) >= 1
    assert np.nanmax(concurrency) <= trace.locations.num_rows


def test_runs_of_one_program_have_equal_contexts_whatever_their_addresses(real_traces):
    names = ("operation", "call_path", "partner", "communicator")
    columns = [f"{name}_{side}" for name in names for side in ("before", "after")]

    first, *others = (
        burst_table(
            burstline.read(real_traces / f"lulesh_8r_s4_i10_{run}.prv.gz"), columns=columns
        )
        for run in ("run1", "run2", "pie_aslr")
    )

    for other in others:
        assert other.table.to_pylist() == first.table.to_pylist()
