"""A trace as Perfetto's JSON: what happened is shown, once, where and when it happened."""

from __future__ import annotations

import gzip
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline.cli import main
from burstline.errors import ParameterError
from burstline.formats import store
from burstline.formats.perfetto import writing as written
from burstline.model import overlaid
from burstline.testing import trace_of
from random_traces import traces

STORY = r"""
ranks 2 threads 2
location 0.0 node "n1" name "\u001b[31m\"}]" kind cpu born 100 died 9000
counter PAPI_TOT_INS unit "" mode delta type 42000050
counter temperature unit "K" mode absolute type 7
path 0 main file main.c line 10
path 1 solve under 0 file s.c line 5
region "!$omp for @\"a.c\":3" paradigm openmp role loop file a.c begin 3 end 9
0 | 100 enter main | 1100 enter MPI_Send path 1 PAPI_TOT_INS=120 temperature=300
  | 1200 send to 1 tag 7 bytes 8 | 2100 leave PAPI_TOT_INS=50 | 9000 leave main
  | 9500..9600 gap flush
0.1 | 200 enter "!$omp for @\"a.c\":3" iterations 12 | 300 leave
1 | 150 enter MPI_Recv | 2000 receive from 0 tag 7 bytes 8 | 2000 leave
"""
REQUIRED = {
    "M": {"name", "pid", "args"},
    "X": {"name", "cat", "pid", "tid", "ts", "dur", "args"},
    "s": {"name", "cat", "pid", "tid", "ts", "id", "args"},
    "f": {"name", "cat", "pid", "tid", "ts", "id", "bp"},
    "C": {"name", "pid", "ts", "args"},
    "b": {"name", "cat", "pid", "tid", "ts", "id"},
    "e": {"name", "cat", "pid", "tid", "ts", "id"},
}


@pytest.fixture
def shown(tmp_path):
    def show(trace):
        path = tmp_path / "run.perfetto.json"
        burstline.write(trace, path)
        document = json.loads(path.read_bytes(), parse_float=Fraction)
        return document["traceEvents"]

    return show


def of_kind(events, *kinds):
    return [event for event in events if event["ph"] in kinds]


def test_every_event_has_what_the_format_asks_for_and_nothing_unknown(shown):
    for event in shown(trace_of(STORY)):
        assert set(event) - {"ph", "tid"} == REQUIRED[event["ph"]] - {"tid"}, event


def test_a_call_is_a_slice_with_its_partner_tag_bytes_communicator_and_caller(shown):
    send = next(e for e in shown(trace_of(STORY)) if e["name"] == "MPI_Send")

    assert (send["ts"], send["dur"]) == (Fraction("1.1"), 1)
    place = {"communicator": "world", "called from": "main (main.c:10) > solve (s.c:5)"}
    assert send["args"] == {"peer": 1, "tag": 7, "bytes sent": 8} | place


def test_processes_are_ranks_and_threads_keep_their_names_whatever_these_hold(shown):
    named = of_kind(shown(trace_of(STORY)), "M")

    processes = [e["args"]["name"] for e in named if e["name"] == "process_name"]
    threads = [e["args"]["name"] for e in named if e["name"] == "thread_name"]
    assert processes == ["rank 0", "rank 1"]
    assert threads[0] == '\x1b[31m"}]'
    assert len({e["tid"] for e in named if e["name"] == "thread_name"}) == 4


def test_a_region_says_what_it_is_and_where_its_source_is(shown):
    loop = next(e for e in shown(trace_of(STORY)) if e["name"].startswith("!$omp"))

    assert loop["cat"] == "openmp"
    assert loop["args"] == {"role": "loop", "source": "a.c:3", "iterations": 12}


def test_a_message_is_an_arrow_between_the_slices_of_its_calls(shown):
    events = shown(trace_of(STORY))
    start, end = of_kind(events, "s", "f")

    assert start["id"] == end["id"]
    for arrow, name in ((start, "MPI_Send"), (end, "MPI_Recv")):
        call = next(e for e in events if e["name"] == name)
        assert call["tid"] == arrow["tid"]
        assert call["ts"] <= arrow["ts"] < call["ts"] + call["dur"]


@pytest.mark.parametrize(
    ("send", "receive", "stamps"),
    [
        ("0 enter MPI_Send | 5 {} | 9 leave", "0 enter MPI_Recv | 5 {} | 9 leave", ["5", "5"]),
        (
            "0 enter MPI_Send | 9 {} | 9 leave",
            "0 enter MPI_Recv | 20 {} | 20 leave",
            ["8", None],
        ),
        (
            "5 enter MPI_Barrier | 9 leave | 10 enter MPI_Sendrecv | 10 {} | 20 leave",
            "5 enter MPI_Barrier | 9 leave | 12 enter MPI_Recv | 19 {} | 19 leave",
            ["5", "13"],
        ),
    ],
    ids=["received the moment it is sent", "sent at the end of its call", "no end is told"],
)
def test_an_arrow_begins_in_the_call_that_sent_wherever_that_ends(shown, send, receive, stamps):
    there, back = "to 1 tag 7 bytes 8", "from 0 tag 7 bytes 8"
    trace = trace_of(
        f"ranks 2\n0 | {send.format(f'send {there}')}\n1 | {receive.format(f'receive {back}')}"
    )
    if "Sendrecv" in send:
        messages = trace.messages
        at = messages.column_names.index("send_leave_ns")
        messages = messages.set_column(at, messages.schema.field(at), messages["send_ns"])
        trace = overlaid(trace, {"messages": messages})

    arrow = of_kind(shown(trace), "s", "f")

    for event, stamp in zip(arrow, stamps, strict=True):
        assert stamp is None or event["ts"] == Fraction(stamp) / 1000


def test_letters_of_any_script_stand_as_they_are_and_other_json_is_refused(tmp_path):
    trace = trace_of('ranks 1\n0 | 0 enter "größe ☃ \\u202e" | 9 leave')
    with pytest.raises(ParameterError, match=r"\.perfetto\.json"):
        burstline.write(trace, tmp_path / "a.json")
    assert not list(tmp_path.iterdir())

    burstline.write(trace, tmp_path / "a.perfetto.json")
    assert '"größe ☃ \\u202e"' in (tmp_path / "a.perfetto.json").read_text("utf-8")


def test_a_counter_is_the_rate_until_its_next_reading_and_an_absolute_one_its_value(shown):
    tracks = of_kind(shown(trace_of(STORY)), "C")

    assert [(e["name"], e["ts"], e["args"]["value"]) for e in tracks] == [
        ("PAPI_TOT_INS [1/µs]", Fraction("1.1"), 50),
        ("PAPI_TOT_INS [1/µs]", Fraction("2.1"), 0),
        ("temperature [K]", Fraction("1.1"), 300),
    ]


def test_time_nobody_watched_is_told(shown):
    begin, end = of_kind(shown(trace_of(STORY)), "b", "e")

    assert begin["name"] == "not recorded: flush"
    assert end["ts"] - begin["ts"] == Fraction("0.1")


def test_a_trace_of_nothing_has_no_events_and_slices_side_by_side_are_not_within(shown):
    assert shown(burstline.Trace({})) == []
    assert written.within(np.array([0, 5, 6]), np.array([5, 9, 7])) == [5, 9, 7]


def test_the_ending_gz_compresses_and_a_store_gives_the_same_file(tmp_path):
    trace = trace_of(STORY)
    burstline.write(trace, tmp_path / "a.perfetto.json")
    store.write(trace, tmp_path / "a.store")

    burstline.write(store.read(tmp_path / "a.store"), tmp_path / "b.perfetto.json.gz")

    packed = gzip.decompress((tmp_path / "b.perfetto.json.gz").read_bytes())
    assert packed == (tmp_path / "a.perfetto.json").read_bytes()


def test_a_file_that_cannot_be_finished_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "a.perfetto.json"
    path.write_text("old")

    def broken(*_):
        raise OSError("no space")
        yield

    monkeypatch.setattr(written, "slice_events", broken)
    with pytest.raises(OSError, match="no space"):
        burstline.write(trace_of(STORY), path, overwrite=True)

    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"]


def test_convert_writes_it(tmp_path):
    (tmp_path / "run.txt").write_text(STORY)

    main(["convert", str(tmp_path / "run.txt"), str(tmp_path / "run.perfetto.json")])

    assert json.loads((tmp_path / "run.perfetto.json").read_bytes())["traceEvents"]


@given(st.data())
def test_slices_of_a_thread_lie_within_each_other_and_none_is_lost(tmp_path_factory, data):
    trace = data.draw(traces())
    path = tmp_path_factory.mktemp("shown") / "run.perfetto.json"
    burstline.write(trace, path)
    events = json.loads(path.read_bytes(), parse_float=Fraction)["traceEvents"]

    assert len(of_kind(events, "X")) == trace.calls.num_rows + trace.regions.num_rows
    assert len(of_kind(events, "s")) == trace.messages.num_rows
    assert all(event["ts"] >= 0 for event in events if "ts" in event)
    around = {}
    for event in of_kind(events, "X"):
        ends = around.setdefault(event["tid"], [])
        while ends and ends[-1] <= event["ts"]:
            ends.pop()
        end = event["ts"] + event["dur"]
        assert not ends or end <= ends[-1]
        ends.append(end)
