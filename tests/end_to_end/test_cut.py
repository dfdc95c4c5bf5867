"""``burstline cut`` as its users see it: a part of a trace that is a trace."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstline
from command import burstline as run
from command import document_of
from oracles.prv_dump import dump
from oracles.prv_rules import broken
from paraver_text import write_example
from read_back import assert_reads_back, write_barriers
from real_traces import telling


def test_a_window_of_time_is_a_trace_of_its_own(tmp_path):
    source, copy = write_example(tmp_path), tmp_path / "part.prv"

    document = document_of("cut", source, "-o", copy, "--from", "120ns", "--to", "550ns")

    assert document["kept"] == {"calls": 4, "bursts": 2, "messages": 0}
    assert document["lost"] == {"messages": 1, "collectives": 1, "calls_clipped": 3}
    assert document["time_offset_ns"] == 120
    found = dump(copy)
    entries = [event for event in found.events[1, 1, 1] if event[0] == 0]
    assert entries == [
        (0, 40000001, 1),
        (0, 50000001, 1),
        (0, 70000001, 2),
        (0, 80000001, 3),
    ]
    assert found.events[1, 1, 1][-2:] == [(430, 50000002, 0), (430, 40000001, 0)]
    assert any(":CUTTER:" in line and line.endswith(":120:120:550") for line in found.comments)
    assert broken(copy) == []


def test_the_answer_counts_what_is_in_the_written_trace(tmp_path):
    source, copy = write_example(tmp_path), tmp_path / "part.prv"

    kept = document_of("cut", source, "-o", copy, "--to", "450ns")["kept"]

    trace = burstline.read(copy)
    assert kept == {name: trace.table(name).num_rows for name in kept}


@pytest.mark.parametrize(("option", "offset", "calls"), [("--first", 0, 2), ("--last", 800, 0)])
def test_the_first_and_the_last_of_a_trace(tmp_path, option, offset, calls):
    source, copy = write_example(tmp_path), tmp_path / "part.prv.gz"

    document = document_of("cut", source, "-o", copy, option, "200ns")

    assert document["time_offset_ns"] == offset
    assert document["kept"]["calls"] == calls
    assert broken(copy) == []


def test_ranks_are_cut_out_with_all_their_threads(tmp_path):
    source, copy = write_example(tmp_path), tmp_path / "part.prv"

    document = document_of("cut", source, "-o", copy, "--ranks", "1")

    assert document["lost"]["messages"] == 1
    assert set(dump(copy).events) == {(1, 1, 1), (1, 1, 2)}
    assert broken(copy) == []


@given(borders=st.tuples(st.integers(0, 1000), st.integers(0, 1000)))
def test_a_cut_trace_reads_back_as_the_selection(tmp_path_factory, borders):
    folder = tmp_path_factory.mktemp("any")
    start, end = min(borders), max(borders) + 1

    assert_reads_back(burstline.read(write_example(folder)), folder / "cut.prv", start, end)


def test_what_only_touches_the_begin_of_the_window_is_left_out(tmp_path):
    trace = burstline.read(write_example(tmp_path))

    assert_reads_back(trace, tmp_path / "part.prv", 200, 500)

    assert (0, 50000001, 0) not in dump(tmp_path / "part.prv").events[1, 1, 1]


def test_instances_after_a_torn_collective_still_count_from_the_same_one(tmp_path):
    source = write_barriers(tmp_path)

    document = document_of("cut", source, "-o", tmp_path / "part.prv", "--from", "120ns")

    assert document["lost"]["collectives"] == 1
    trace = burstline.read(tmp_path / "part.prv")
    assert [
        row["complete"] for row in trace.collectives.to_pylist() if row["communicator"] == 0
    ] == [True]


def test_a_cut_of_a_store_is_the_cut_of_its_source(tmp_path):
    source = write_example(tmp_path)
    assert run("convert", source, tmp_path / "run.store").returncode == 0

    for name in ("in.prv", "run.store"):
        document_of(
            "cut", tmp_path / name, "-o", tmp_path / f"of-{name}.prv", "--from", "120ns"
        )

    one, other = (dump(tmp_path / f"of-{name}.prv") for name in ("in.prv", "run.store"))
    assert one._replace(comments=[]) == other._replace(comments=[])


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "say which part"),
        (["--from", "5s", "--to", "2s"], 2, "empty"),
        (["--first", "1s", "--from", "1s"], 2, "exclude"),
        (["--ranks", "9"], 2, "rank 9"),
        (["--from", "5s"], 5, "nothing is left"),
    ],
)
def test_a_part_that_cannot_be_is_refused(tmp_path, words, code, message):
    done = run("cut", write_example(tmp_path), "-o", tmp_path / "part.prv", *words)

    assert done.returncode == code
    assert message in done.stderr
    assert done.stdout == ""
    assert not list(tmp_path.glob("part*"))


def test_real_traces_cut_anywhere_read_back_as_the_selection(real_traces, tmp_path):
    for source in telling(real_traces):
        trace = burstline.read(source)
        times = trace.calls["enter_ns"].to_numpy()
        start, end = sorted(times)[len(times) // 3], sorted(times)[2 * len(times) // 3]
        assert_reads_back(trace, tmp_path / "cut.prv", int(start), int(end))
