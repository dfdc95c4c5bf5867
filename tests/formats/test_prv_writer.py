"""What was read from a Paraver file is written as the same records, by the rules."""

from __future__ import annotations

import gzip
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline.errors import InconsistentTraceError, NotEnoughDataError, ParameterError
from burstline.formats.paraver.editing.cut import completed
from burstline.formats.paraver.files.pcf import read_pcf
from burstline.formats.paraver.files.row import read_row
from burstline.formats.paraver.writing import writer
from burstline.formats.paraver.writing.writer import survey, windows
from burstline.model import RAW_TABLES, TABLES, overlaid, processor_clock
from burstline.selection import select, shift
from burstline.testing import assert_same_trace, trace_of
from by_hand import rows_of, threads
from oracles.prv_dump import dump
from oracles.prv_rules import broken
from paraver_text import HEADER, LINES, write_example
from real_traces import telling
from table_cells import cells

STORIES = """
ranks 2
counter PAPI_TOT_INS unit "" mode delta type 42000050
path 0 main file main.c line 10
path 1 solve under 0 file s.c line 5
0 | 0 enter main | 10 enter MPI_Isend path 1 PAPI_TOT_INS=120 | 12 send to 1 tag 7 bytes 8
  | 20 leave | 30 enter MPI_Allreduce | 31 begin | 39 end sent 8 received 8 | 40 leave
  | 90 leave main
1 | 5 enter MPI_Recv | 25 receive from 0 tag 7 bytes 8 | 26 leave
  | 30 enter MPI_Allreduce | 31 begin | 39 end sent 8 received 8 | 45 leave
"""
CPU = 'cpu unit "ns" mode delta type 48500001'
THREADS = {"1": "1:1:1:1", "2": "2:1:2:1", "3": "3:1:2:2"}


def test_states_events_communications_and_comments_are_those_of_the_source(tmp_path):
    source = write_example(tmp_path)
    copy = tmp_path / "out.prv"

    burstline.write(burstline.read(source), copy)

    assert dump(copy) == dump(source)
    assert broken(copy) == []
    assert copy.read_text().startswith(HEADER + "\n")
    assert copy.with_suffix(".row").read_text() == source.with_suffix(".row").read_text()
    labels = read_pcf(copy.with_suffix(".pcf").read_bytes())
    assert labels.states[1] == "Busy"
    assert labels.value_label(70000001, 2) == "solve [solve(int)]"


def test_a_trace_written_and_read_again_is_the_same_trace(tmp_path):
    trace = burstline.read(write_example(tmp_path))

    burstline.write(trace, tmp_path / "out.prv.gz")

    again = burstline.read(tmp_path / "out.prv.gz")
    files = {"metadata", "source", "event_types", "event_values", "defects"}
    assert_same_trace(again, trace, tables=set(TABLES) - files)


def test_the_time_on_a_processor_keeps_its_unit(tmp_path):
    story = STORIES.replace('PAPI_TOT_INS unit "" mode delta type 42000050', CPU)
    burstline.write(trace_of(story.replace("PAPI_TOT_INS", "cpu")), tmp_path / "out.prv")

    again = burstline.read(tmp_path / "out.prv")

    assert again.counters["unit"].to_pylist() == ["ns"]
    assert processor_clock(again) == "cpu"


def test_all_events_of_a_thread_and_a_moment_are_one_line_and_what_is_sent_follows(tmp_path):
    copy = tmp_path / "out.prv"

    burstline.write(burstline.read(write_example(tmp_path)), copy)

    body = copy.read_text().split("\n")
    at = body.index("2:1:1:1:1:200:50000001:0:42000050:7:99:-5")
    assert sum(line.startswith("2:1:1:1:1:200:") for line in body) == 1
    assert body[at + 1] == "3:1:1:1:1:100:200:2:1:2:1:150:400:64:4294967295"


PAIRS = "".join(f":{kind}:1" for kind in range(1, 1501))


@pytest.mark.parametrize(
    ("lines", "header", "is_whole"),
    [
        (f"2:1:1:1:1:5{PAIRS}\n" + LINES, HEADER, False),
        ("2:3:1:1:1:5:7:1\n2:1:1:2:1:6:7:1\n", HEADER, False),
        ("2:0:1:1:1:5:7:1\n2:0:1:1:2:6:7:1\n", "#Paraver (x):9_ns:0:1:1(2:1)", True),
        (
            "c:1:1:1:1\n2:1:1:1:1:5:7:1\n2:2:2:1:1:6:7:1\nc:2:1:1:1\n",
            HEADER.replace("1:2(1:1,2:2),2", "2:1(1:1),1(1:2),1"),
            True,
        ),
    ],
    ids=[
        "more than 1024 pairs of a moment take several lines",
        "processors on the wrong node are numbered anew",
        "without a resource model all processors are 0",
        "communicators that stand in the body move to the head",
    ],
)
def test_what_paraver_reads_otherwise_says_the_same(tmp_path, lines, header, is_whole):
    source = write_example(tmp_path, lines, header)
    copy = tmp_path / "out.prv"

    burstline.write(burstline.read(source), copy)

    found, expected = dump(copy), dump(source)
    assert found == expected if is_whole else found.events == expected.events
    assert broken(copy) == []


def test_what_paraver_refuses_is_left_out(tmp_path):
    odd = "1:1:1:1:1:700:700:1\n2:1:1:1:1:700:4294967290:1:5:5\n"
    source = write_example(tmp_path, odd + LINES)
    copy = tmp_path / "out.prv"

    burstline.write(burstline.read(source), copy)

    assert broken(copy) == []
    assert (700, 5, 5) in dump(copy).events[1, 1, 1]


def test_ranks_that_are_left_are_numbered_from_1_and_keep_their_names(tmp_path):
    trace = burstline.read(write_example(tmp_path))
    copy = tmp_path / "out.prv"

    burstline.write(select(trace, ranks=[1]), copy)

    found = dump(copy)
    assert set(found.events) == {(1, 1, 1), (1, 1, 2)}
    assert set(found.communicators) == {"c:1:1:1:1", "c:1:2:1:1"}
    assert any(":RENUMBER:" in line for line in found.comments)
    assert copy.with_suffix(".row").read_text().endswith("SIZE 2\nsecond\nhelper\n")
    assert broken(copy) == []
    burstline.write(select(trace, ranks=[0]), tmp_path / "other.prv")
    assert set(dump(tmp_path / "other.prv").communicators) == {"c:1:1:1:1"}


def test_a_cut_without_a_start_begins_at_0_and_nodes_without_names_are_numbered(tmp_path):
    trace = burstline.read(write_example(tmp_path))
    part = completed(trace, select(trace, end_ns=300), start_ns=None, end_ns=300)
    assert part.table("source")["text"][-1].as_py().endswith(":0:0:300")

    copy = tmp_path / "out.prv"
    burstline.write(trace_of("ranks 2 | 0 | 0 enter MPI_Init | 9 leave"), copy)
    assert read_row(copy.with_suffix(".row").read_bytes()).levels["NODE"] == ("node1",)


def test_a_trace_without_records_gets_them_from_its_calls(tmp_path):
    trace = trace_of(STORIES)
    copy = tmp_path / "out.prv"

    burstline.write(trace, copy)

    assert broken(copy) == []
    again = burstline.read(copy)
    for column in ("location", "call", "enter_ns", "leave_ns", "peer", "tag", "sent_bytes"):
        assert again.calls[column].to_pylist() == trace.calls[column].to_pylist()
    assert cells(again.messages, "received_bytes send_call") == "8 0"
    assert again.collectives["complete"].to_pylist() == [True]
    functions = again.call_paths["function"].to_pylist()
    path = again.calls["call_path"][0].as_py()
    assert functions[path] == "solve"
    assert [row["PAPI_TOT_INS"] for row in again.readings.to_pylist()] == [120]
    assert again.region_defs["name"].to_pylist() == ["main"]
    assert dump(copy).states[2, 1, 2, 1, 5, 26, 3] == 1


COPIED = """
ranks 2
communicator 0 kind world members 0 1 id 1
communicator 1 kind world members 0 1 id 2 {extra}
"""


@pytest.mark.parametrize(("extra", "told_apart"), [("", True), ("ambiguous yes", False)])
def test_communicators_with_the_same_members_are_told_apart_as_in_the_source(
    tmp_path, extra, told_apart
):
    text = COPIED.format(extra=extra)
    for rank in (0, 1):
        text += f"{rank} | 0 enter MPI_Comm_dup comm 0 | 0 begin | 5 end | 5 leave"
        text += " | 10 enter MPI_Barrier comm 1 | 10 begin | 20 end | 20 leave\n"
    copy = tmp_path / "out.prv"

    burstline.write(trace_of(text), copy)

    again = burstline.read(copy).communicators
    assert again["source_id"].to_pylist() == [1, 2]
    assert again["ambiguous"].to_pylist() == [not told_apart] * 2


TEAM = """
ranks 1 threads 2
path 0 main file main.c line 10
path 1 solve under 0 file s.c line 5
path 2 operator>> under 1 file "a @ 3 (b.c" line 7
path 3 start_thread
path 4 .omp_outlined. under 3 file s.c line 6
region parallel paradigm openmp role parallel type 60002 value 1
region team paradigm openmp role team type 60002 value 2
region barrier paradigm openmp role barrier type 60004 value 26
region critical paradigm openmp role critical type 60004 value 30
0 | 0 enter MPI_Init path 0 | 5 leave | 10 fork 2 | 10 enter parallel path 1
  | 11 team begin 2 path 1 | 14 enter barrier path 2 | 20 leave | 22 team end 2
  | 24 leave | 24 join | 30 enter MPI_Finalize | 40 leave
0.1 | 12 team begin 2 path 1 | 13 enter barrier path 4 | 20 leave | 20 enter critical
  | 21 leave | 22 team end 2
"""


def paths_of(trace, table):
    """The frames around each row of a table, innermost first."""
    nodes = trace.call_paths.to_pylist()
    for path in trace.table(table)["call_path"].to_pylist():
        frames, node = [], path
        while node is not None:
            frames.append(tuple(nodes[node][name] for name in ("function", "file", "line")))
            node = nodes[node]["parent"]
        yield frames


def test_constructs_of_threads_keep_their_call_paths(tmp_path):
    trace = trace_of(TEAM)
    copy = tmp_path / "out.prv"

    burstline.write(trace, copy)

    assert broken(copy) == []
    again = burstline.read(copy)
    assert [*paths_of(again, "regions")] == [*paths_of(trace, "regions")]
    assert [*paths_of(again, "calls")] == [*paths_of(trace, "calls")]
    assert again.region_defs.num_rows == trace.region_defs.num_rows
    labels = read_pcf(copy.with_suffix(".pcf").read_bytes())
    assert labels.value_label(77200004, 2) == "solve @ 5 (s.c), called by 1"
    part = completed(again, select(again, start_ns=16), start_ns=16, end_ns=None)
    burstline.write(part, tmp_path / "part.prv")
    later = [
        path[0][0] if path else None
        for path in paths_of(burstline.read(tmp_path / "part.prv"), "regions")
    ]
    assert later == ["solve", "solve", "operator>>", "solve", ".omp_outlined.", None]


def test_frames_that_call_each_other_in_a_circle_end(tmp_path):
    copy = tmp_path / "out.prv"
    burstline.write(trace_of(TEAM), copy)
    labels = copy.with_suffix(".pcf")
    text = labels.read_text()
    assert "main @ 10 (main.c)\n" in text
    labels.write_text(text.replace("main @ 10 (main.c)", "main @ 10 (main.c), called by 2"))

    again = burstline.read(copy)

    assert [name for name, *_ in next(paths_of(again, "regions"))] == ["solve", "main"]


def test_records_of_a_trace_without_them_read_back_as_the_same_calls(tmp_path):
    whole = burstline.read(write_example(tmp_path))
    trace = overlaid(whole, {}, without=RAW_TABLES)

    burstline.write(trace, tmp_path / "out.prv")

    again = burstline.read(tmp_path / "out.prv")
    for name in ("calls", "messages"):
        for column in set(whole.table(name).column_names) - {"call_path", "operation"}:
            if not column.endswith("_seq"):
                found = again.table(name)[column].to_pylist()
                assert found == whole.table(name)[column].to_pylist(), column


def test_windows_of_time_give_the_same_file_as_the_whole(tmp_path):
    source = write_example(tmp_path)
    trace = burstline.read(source)
    burstline.write(trace, tmp_path / "whole.prv")
    burstline.write(trace, tmp_path / "run.store")
    stored = burstline.read(tmp_path / "run.store")

    writer.write(stored, tmp_path / "parts.prv", memory=64)

    assert (tmp_path / "parts.prv").read_bytes() == (tmp_path / "whole.prv").read_bytes()
    assert not list(tmp_path.glob(".burstline-*"))


def test_every_record_is_in_one_window_and_windows_are_in_order(tmp_path):
    trace = burstline.read(write_example(tmp_path))
    found = survey(trace)

    parts = list(windows(trace, found, memory=400, output=tmp_path / "out.prv"))

    assert len(parts) > 3
    rows = [len(columns[1]) for part in parts for columns in part]
    assert sum(rows) == sum(found.rows.values())
    times = [time for part in parts for time in sorted(part.events[1].tolist())]
    assert times == sorted(times)


def test_names_times_and_emptiness_that_paraver_cannot_read_are_refused(tmp_path):
    trace = burstline.read(write_example(tmp_path))

    with pytest.raises(ParameterError, match=r"ends in \.prv"):
        writer.write(trace, tmp_path / "out.txt")
    with pytest.raises(ParameterError, match="no time before 0"):
        burstline.write(shift(trace, -1), tmp_path / "out.prv")
    with pytest.raises(NotEnoughDataError, match="without locations"):
        burstline.write(burstline.Trace({}), tmp_path / "out.prv")
    assert not list(tmp_path.glob("out*"))


def test_records_that_run_backwards_are_refused_and_nothing_is_written(tmp_path):
    events = [{"location": 0, "seq": k, "time_ns": t, "type": 7} for k, t in enumerate((9, 8))]
    places = rows_of("locations", threads((0, 9)))
    trace = burstline.Trace({"locations": places, "events": rows_of("events", events)})

    with pytest.raises(InconsistentTraceError, match="location 0 run backwards"):
        burstline.write(trace, tmp_path / "out.prv")

    assert not list(tmp_path.iterdir())


def test_writing_over_a_trace_replaces_all_three_files(tmp_path):
    source = write_example(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    burstline.write(shift(burstline.read(source), 5), other / "in.prv")

    burstline.write(burstline.read(source), other / "in.prv", overwrite=True)

    assert dump(other / "in.prv") == dump(source)
    assert sorted(path.name for path in other.iterdir()) == ["in.pcf", "in.prv", "in.row"]


moments = st.integers(0, 40)
states = st.tuples(st.just(1), st.sampled_from("123"), moments, st.integers(1, 9))
pairs = st.lists(
    st.tuples(
        st.sampled_from([7, 42000050, 60000019, 70000001]), st.integers(-(2**63), 2**63 - 1)
    ),
    min_size=1,
    max_size=3,
)
events = st.tuples(st.just(2), st.sampled_from("123"), moments, pairs)
links = st.tuples(
    st.just(3),
    st.tuples(st.sampled_from("123"), st.sampled_from("123")),
    st.tuples(moments, moments, moments, moments),
    st.tuples(st.integers(0, 2**40), st.integers(0, 2**32 - 1)),
)


def line_of(record):
    kind, where, when, what = record
    if kind == 1:
        return f"1:{THREADS[where]}:{when}:{when + what}:{what}"
    if kind == 2:
        return f"2:{THREADS[where]}:{when}" + "".join(f":{k}:{v}" for k, v in what)
    sender, receiver = (THREADS[name] for name in where)
    send, leave, post, receive = when
    return f"3:{sender}:{send}:{leave}:{receiver}:{post}:{receive}:{what[0]}:{what[1]}"


@given(records=st.lists(st.one_of(states, events, links), min_size=1, max_size=30))
def test_whatever_the_records_the_copy_says_the_same(tmp_path_factory, records):
    folder = tmp_path_factory.mktemp("any")
    born = "".join(f"2:{name}:0:40000018:1\n" for name in THREADS.values())
    lines = "c:1:1:2:1:2\nc:1:2:1:2\n" + born + "".join(f"{line_of(r)}\n" for r in records)
    source = write_example(folder, lines)
    trace = burstline.read(source)

    burstline.write(trace, folder / "out.prv")
    writer.write(overlaid(trace, {}), folder / "parts.prv", memory=200)

    assert dump(folder / "out.prv") == dump(source)
    assert (folder / "parts.prv").read_bytes() == (folder / "out.prv").read_bytes()
    own_faults = re.compile(r"(?!8: .*overlap|10:)")
    assert not [fault for fault in broken(folder / "out.prv") if own_faults.match(fault)]


def test_real_traces_are_written_as_they_were_read(real_traces, tmp_path):
    for source in telling(real_traces):
        copy = tmp_path / "copy.prv"
        burstline.write(burstline.read(source), copy, overwrite=True)
        assert dump(copy) == dump(source), source.name
        assert broken(copy) == [], source.name


def test_a_packed_trace_holds_the_same_bytes(tmp_path):
    trace = burstline.read(write_example(tmp_path))

    burstline.write(trace, tmp_path / "a.prv")
    burstline.write(trace, tmp_path / "b.prv.gz")

    packed = (tmp_path / "b.prv.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "a.prv").read_bytes()


def test_readings_are_loaded_as_often_however_many_counters_there_are(tmp_path, monkeypatch):
    loaded = []
    original = burstline.Trace.table

    def table(trace, name):
        loaded.append(name)
        return original(trace, name)

    def times(counters):
        named = "".join(f"counter C_{number}\n" for number in range(counters))
        values = " ".join(f"C_{number}={number}" for number in range(counters))
        story = f"ranks 1\n{named}0\n10 enter MPI_Barrier {values}\n20 leave {values}\n"
        store = tmp_path / f"{counters}.store"
        burstline.write(trace_of(story), store)
        loaded.clear()
        burstline.write(burstline.read(store), tmp_path / f"{counters}.prv")
        return loaded.count("readings")

    monkeypatch.setattr(burstline.Trace, "table", table)

    assert times(3) == times(30)
