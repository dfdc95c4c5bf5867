"""The burst table tells of each burst what lies around it, and leaves unknown what is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from burstline.errors import ParameterError
from burstline.identity.communicators import communicator_labels, communicator_names
from burstline.merge import burst_table
from burstline.merge.tables.overview import Overview, PartSums
from burstline.selection import of_locations
from burstline.show import join_parquet, read_table, rows_of, write_fragment
from burstline.testing import trace_of

STORY = """
ranks 2
location 0 node n1
location 1 node n1
counter PAPI_TOT_INS | counter PAPI_TOT_CYC | counter MISSES
path 0 main file a.c line 9 | path 1 solve under 0 file b.c line 4
0 | 0 enter MPI_Init PAPI_TOT_INS=1 PAPI_TOT_CYC=1 | 10 leave PAPI_TOT_INS=5 PAPI_TOT_CYC=5
  | 20 enter MPI_Isend path 1 PAPI_TOT_INS=60 PAPI_TOT_CYC=30
  | 21 send to 1 tag 7 bytes 8 request 1 | 25 leave PAPI_TOT_INS=1 PAPI_TOT_CYC=1
  | 30 enter MPI_Bcast path 0 PAPI_TOT_INS=9 PAPI_TOT_CYC=0 | 30 begin
  | 40 end sent 64 received 0 root 0 | 40 leave PAPI_TOT_INS=1 PAPI_TOT_CYC=1
  | 40 enter MPI_Wait | 41 sent request 1 | 42 leave
1 | 0 enter MPI_Init | 10 leave | 15 enter MPI_Irecv path 1 | 15 post request 2 | 16 leave
  | 20 enter MPI_Bcast path 0 | 20 begin | 44 end sent 0 received 64 root 0 | 44 leave
  | 50 enter MPI_Wait path 0 | 55 receive from 0 tag 7 bytes 8 request 2 | 60 leave
"""


@pytest.fixture
def rows():
    return burst_table(trace_of(STORY)).table.to_pylist()


def seen(rows, *names):
    return [tuple(row[name] for name in names) for row in rows]


def test_threads_without_calls_are_in_the_span_of_their_process():
    trace = trace_of(
        "ranks 1 threads 2 | location 0.0 node a | location 0.1 node a\n"
        "region par paradigm openmp role parallel\n"
        "0 | 0 enter MPI_Init | 5 leave | 20 enter MPI_Barrier | 25 leave"
        " | 40 enter MPI_Finalize | 45 leave\n"
        "0.1 | 6 enter par | 16 leave | 26 enter par | 30 leave"
    )

    rows = burst_table(trace).table.to_pylist()

    assert seen(rows, "thread", "region", "concurrency", "operation_before") == [
        (0, 0, 25 / 15, "MPI_Init"),
        (0, 1, 19 / 15, "MPI_Barrier"),
        (1, 0, 2.0, None),
        (1, 1, 2.0, None),
    ]


def test_a_table_is_also_a_frame_and_arrays():
    table = burst_table(trace_of(STORY))

    assert table.counters == ("PAPI_TOT_INS", "PAPI_TOT_CYC", "MISSES")
    assert table.to_frame()["duration_ns"].sum() == 30
    assert table.to_arrow() is table.table
    operation, ipc, root = table.arrays("operation_after", "ipc", "root_after")
    names = table.names("operation_after")
    assert [names[code] for code in operation[:2]] == ["MPI_Isend", "MPI_Bcast"]
    assert ipc[0] == 2
    assert np.isnan(ipc[1])
    assert root[0] == -1
    assert repr(table) == "<BurstTable: 6 bursts, 37 columns>"


def test_columns_that_make_no_table_and_a_negative_duration_are_refused():
    for columns in (["ranks"], ["rank", "rank"], []):
        with pytest.raises(ParameterError, match="burst table"):
            burst_table(trace_of("ranks 1"), columns=columns)
    with pytest.raises(ParameterError, match="less than 0 ns"):
        burst_table(trace_of("ranks 1"), min_duration_ns=-1)


def test_a_counter_called_like_a_column_gets_another_name():
    calls = "0 enter MPI_Init | 5 leave | 9 enter MPI_Barrier ipc=3 | 12 leave"
    table = burst_table(trace_of(f"ranks 1 | counter ipc | 0 | {calls}"))

    assert "ipc (counter)" in table.counters
    assert table.table["ipc"].to_pylist() == [None]


def test_communicators_are_called_by_their_members():
    many = " ".join(str(rank) for rank in range(0, 200, 2))
    trace = trace_of(
        "ranks 200 | communicator 1 members 0 1 2 5 | communicator 2 members 0 1 2 5\n"
        "communicator 3 members 4 kind self | communicator 4 members 5 kind self\n"
        f"communicator 5 members {many} | communicator 6 members 0 1 kind inter"
    )
    labels = communicator_labels(trace)

    assert labels[:5] == ["world", "0-2,5", "0-2,5 #2", "self", "self"]
    assert labels[5].startswith("0,2,4,6,8,10,12,14,16,18,20,")
    assert "(100 ranks, " in labels[5]
    assert labels[6] == "inter 0-1"
    assert communicator_names(trace)[:4] == ["world", "2", "3", "self"]


def test_an_overview_of_parts_is_that_of_the_whole():
    table = burst_table(trace_of(STORY)).table
    whole, parts = Overview(table.schema, 2), Overview(table.schema, 2)
    whole.add(PartSums.of(table, whole.most))

    passed = list(parts.through([table.slice(0, 4), table.slice(4, 0), table.slice(4)]))

    assert pa.concat_tables(passed).num_rows == 6
    assert parts.bursts == whole.bursts == 6
    assert [row["duration_ns"] for row in parts.longest] == [10, 6]
    for name, facts in whole.columns.items():
        assert parts.columns[name].as_dict() == pytest.approx(facts.as_dict())
    # different texts are counted, and no different numbers
    assert Overview(table.schema).columns["node"].as_dict()["distinct"] == 0
    assert Overview(table.schema).columns["rank"].as_dict()["distinct"] is None


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_a_fragment_is_read_and_removed_before_the_next_one_is_made(ending, tmp_path):
    trace, beside = trace_of(STORY), tmp_path / "fragments"
    beside.mkdir()
    there = []

    def fragments():
        for location in range(2):
            there.append(len(list(beside.iterdir())))
            part = range(location, location + 1)
            yield write_fragment(
                of_locations(trace, part),
                whole=trace,
                locations=part,
                folder=beside,
                ending=ending,
                columns=None,
                min_duration_ns=0,
                longest=1,
            )
        there.append(len(list(beside.iterdir())))

    if ending == ".parquet":
        join_parquet(fragments(), tmp_path / "t.parquet")
        made = read_table(tmp_path / "t.parquet")
    else:
        made = pa.concat_tables(rows_of(fragments()))

    assert there == [0, 0, 0]
    assert made.to_pylist() == burst_table(trace).table.to_pylist()
