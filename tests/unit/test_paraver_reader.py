"""The smallest trace for each thing that Extrae writes in a way of its own."""

from __future__ import annotations

import re

import numpy as np
import pytest

import burstline
from burstline.formats.paraver.reading.scan import bytes_of_tables
from burstline.formats.paraver.reading.trace_file import scan
from paraver_text import write_example
from table_cells import cells, cells_like

HEAD = "#Paraver (01/01/2026 at 00:00):{end}_ns:1(4):1:2(2:1,1:1),2\nc:1:1:2:1:2\nc:1:2:1:1\n"
PLACES = {"ONE": "1:1:1:1", "THREAD": "2:1:1:2", "TWO": "3:1:2:1"}


@pytest.fixture
def trace(tmp_path):
    def read(lines, pcf="", row=""):
        path = tmp_path / "t.prv"
        text = HEAD.format(end=1000) + "".join(f"{line}\n" for line in records(lines))
        path.write_text(text, encoding="ascii")
        path.with_suffix(".pcf").write_text(pcf, encoding="utf-8")
        path.with_suffix(".row").write_text(row, encoding="utf-8") if row else None
        return burstline.read(path)

    return read


def records(text):
    """Give the lines of a text: ``call:ONE:value:enter:leave[:kind[:more pairs]]`` is two."""
    for line in text.split():
        head, *fields = line.split(":")
        if head == "call":
            place, value, enter, leave, *pairs = fields
            kind, *more = pairs or ["50000001"]
            yield from records(f"2:{place}:{':'.join([enter, kind, value, *more])}")
            yield from records(f"2:{place}:{leave}:{kind}:0")
        else:
            yield re.sub("[A-Z]+", lambda name: PLACES[name[0]], line)


def only(table):
    (row,) = table.to_pylist()
    return row


SEND_AND_RECEIVE = "call:ONE:1:10:20 call:TWO:2:5:30"
ODDITIES = {
    "an immediate send is complete at an unknown moment": (
        """call:ONE:3:10:20 call:ONE:5:40:50 call:TWO:4:5:8 call:TWO:5:30:60
        3:ONE:10:20:TWO:8:60:100:4294967295""",
        "messages send_call post_call receive_call tag communicator: 0 0 1 -1 -",
        "messages send_done_call send_done_ns send_done_from: - - unknown",
        "calls sent_bytes received_bytes peer: 100 - 1 | - - - | - - 0 | - 100 -",
    ),
    "a blocking send is complete when it is left": (
        "call:ONE:34:10:20 call:TWO:2:5:30 3:ONE:10:20:TWO:5:30:8:7",
        "messages send_done_call send_done_ns send_done_from: 0 20 recorded",
    ),
    "both halves of a sendrecv are in one call": (
        """call:ONE:41:10:50 call:TWO:41:12:60
        3:ONE:10:10:TWO:12:60:8:1 3:TWO:12:12:ONE:10:50:16:1""",
        "messages send_call post_call receive_call: 0 0 0 | 0 0 0",
        "calls sent_bytes received_bytes: 8 16 | 16 8",
    ),
    "a persistent message belongs to its start": (
        """call:ONE:124:10:15:50000003 call:ONE:6:20:25 call:TWO:124:8:12:50000003
        call:TWO:6:30:40 3:ONE:10:10:TWO:8:40:8:1""",
        "messages send_call post_call receive_call: 0 0 1",
    ),
    "a message to oneself is one, to another thread without a call a link": (
        """call:ONE:4:10:12 call:ONE:1:20:30 call:ONE:5:40:50
        3:ONE:20:30:ONE:12:50:8:1 3:ONE:60:60:THREAD:70:70:9:60000000""",
        "messages receive_call: 2",
        "links receiver_location size tag: 1 9 60000000",
    ),
    "a size beyond two GiB was printed negative": (
        f"{SEND_AND_RECEIVE} 3:ONE:10:20:TWO:5:30:-2147483648:7",
        "messages received_bytes: 2147483648",
        "negative_message_size",
    ),
    "the root of a collective is told by its flag": (
        """call:ONE:7:10:20:50000002:50100001:0:50100002:8:50100004:1
        call:TWO:7:12:22:50000002:50100001:8:50100002:0:50100004:1:50100003:1
        call:ONE:8:30:40:50000002:50100004:2 call:TWO:8:30:40:50000002:50100004:9""",
        "collectives operation: MPI_Bcast | MPI_Barrier | MPI_Barrier",
        "collectives root complete: 1 yes | - yes | - no",
        "communicators kind: world | self | unknown",
        "communicator_without_members",
    ),
    "failed polls are time of the burst before the one that succeeds": (
        """call:ONE:4:10:12 2:ONE:15:50000304:0 2:ONE:90:50000305:70:50000304:33
        call:ONE:39:90:95:50000003""",
        "bursts polls polling_ns: 33 70",
    ),
    "counters of a set that is left belong to the burst before": (
        """2:ONE:0:41999999:1:42000050:0:42000059:0
        2:ONE:10:50000001:1:42000050:5:42000059:6 2:ONE:20:50000001:0:42000050:1:42000059:2
        2:ONE:50:42000050:30:42000059:40:41999999:2:42000008:0
        2:ONE:50:50000001:1 2:ONE:60:50000001:0:42000050:3:42000008:4""",
        "bursts PAPI_TOT_INS PAPI_TOT_CYC PAPI_L3_TCM: 30 40 -",
        "counter_sets counter_set: 1 | 1 | 2 | 2",
        "counter_sets counter: PAPI_TOT_INS | PAPI_TOT_CYC | PAPI_L3_TCM | PAPI_TOT_INS",
    ),
    "time that nobody watched is a gap of its burst": (
        """call:ONE:1:10:20 2:ONE:30:40000003:1 2:ONE:37:40000003:0
        2:ONE:40:40000012:0 2:ONE:45:40000012:1 call:ONE:1:60:70""",
        "bursts gap_ns: 12",
        "gaps kind: not_created | flush | tracing_off",
    ),
    "one-sided calls know target and size though rank 0 closes them": (
        """2:ONE:10:50000004:65:50001000:64:50001001:0 2:ONE:20:50000004:0:50001000:0:50001001:0
        2:ONE:30:50000005:143:50000110:4096 2:ONE:40:50000005:0:50000110:4096""",
        "calls peer sent_bytes received_bytes: 0 64 - | - - 4096",
    ),
    "threads of a team compute between the borders of their regions": (
        """2:ONE:10:60000001:3 2:ONE:12:60000018:5 2:THREAD:13:60000018:5
        2:THREAD:20:60000005:1 2:THREAD:40:60000005:0 2:ONE:41:60000018:0
        2:THREAD:42:60000018:0 2:ONE:50:60000001:0
        2:ONE:60:60000019:8:60000019:9 2:ONE:70:60000019:0:60000019:0""",
        "teams fork_ns join_ns threads: 10 50 2",
        "regions team parent barrier_ordinal: 0 - - | 0 0 - | - - - | - 2 - | 0 - - | 0 0 0",
        "regions enter_ns leave_ns: 10 50 | 12 41 | 60 70 | 60 70 | 13 42 | 20 40",
        "bursts location start_ns end_ns: 0 10 12 | 0 12 41 | 0 41 50 | 1 13 20 | 1 40 42",
    ),
    "a lock is held from its acquisition to its release": (
        """2:ONE:10:60000007:3 2:ONE:20:60000007:6 2:ONE:30:60000007:5 2:ONE:35:60000007:0
        2:THREAD:12:60000007:3 2:THREAD:40:60000007:6 2:THREAD:50:60000007:0""",
        "locks location order acquire_ns release_ns: 0 1 20 35 | 1 2 40 50",
    ),
    "a trace of states only has bursts and says where from": (
        "1:ONE:0:100:1 1:ONE:100:150:13 1:ONE:150:300:1 1:TWO:5:9:1",
        "bursts location burst start_ns end_ns: 0 0 0 100 | 0 1 150 300 | 2 0 5 9",
        "bursts_from_states",
    ),
}
"""Records, and what stands in tables then; or a kind of defect that is there."""


@pytest.mark.parametrize("oddity", ODDITIES)
def test_what_extrae_writes_in_a_way_of_its_own(trace, oddity):
    lines, *tables = ODDITIES[oddity]
    read = trace(lines)

    for said in tables:
        if ":" in said:
            assert cells_like(read, said) == said
        else:
            assert said in read.defects["kind"].to_pylist()


@pytest.mark.parametrize(
    ("kind", "column"),
    [(50000304, "polls"), (50000305, "polling_ns"), (77200002, "waiting_ns")],
)
@pytest.mark.parametrize("value", [-7, -(2**63), 2**63 - 1])
def test_polls_that_cannot_be_are_dropped_and_said(trace, kind, column, value):
    unknown = None if column == "waiting_ns" else 0
    t = trace(f"call:ONE:4:10:12 2:ONE:90:{kind}:{value} call:ONE:39:90:95")

    assert only(t.bursts)[column] == unknown
    if (column, value) != ("waiting_ns", -(2**63)):  # which is how the scan says "unknown"
        assert "polls_out_of_range" in t.defects["kind"].to_pylist()


@pytest.mark.parametrize("number", [-(2**63), -1, 2**31])
def test_a_counter_set_whose_number_is_none_is_dropped_and_said(trace, number):
    t = trace(
        "2:ONE:0:41999999:1:42000050:0 2:ONE:10:42000050:5 "
        f"2:ONE:50:42000059:40:41999999:{number}:42000008:0"
    )

    assert {row["counter_set"] for row in t.counter_sets.to_pylist()} == {1}
    assert "counter_set_out_of_range" in t.defects["kind"].to_pylist()


@pytest.mark.parametrize(
    ("function", "line"),
    [(60000018, 60000118), (60000019, 60000119), (60012, 60013), (60015, 60016), (60018, 60019)]
    + [(kernel, kernel + 1) for kernel in (63000006, 63000009, 63500006, 63500009)],
)
def test_a_region_is_in_the_line_that_the_type_beside_its_own_tells(trace, function, line):
    t = trace(
        f"2:ONE:10:{function}:7:{line}:9 2:ONE:20:{function}:0:{line}:0",
        pcf=f"EVENT_TYPE\n0 {function} Function\nVALUES\n7 work\n\n"
        f"EVENT_TYPE\n0 {line} Line\nVALUES\n9 o.c:19 [/src/o.c:19, /src/o]\n",
    )

    assert cells(t.region_defs, "name file begin_line") == "work o.c 19"


def test_streams_of_a_gpu_are_known_by_their_name(trace):
    row = "LEVEL THREAD SIZE 3\nTHREAD 1.1.1\nGPU-D1.S1-host\nTHREAD 1.2.1\n"
    t = trace("2:THREAD:5:63100000:1", row=row)

    assert t.locations["kind"].to_pylist() == ["cpu", "gpu_stream", "cpu"]


@pytest.mark.parametrize(
    ("function", "line"),
    [
        ("CommSend", "101 (lulesh-comm.cc, lulesh2.0)"),
        ("CommSend ", "lulesh-comm.cc:101 [/s/lulesh-comm.cc:101, /b]"),
    ],
)
def test_callers_are_read_from_old_and_new_labels(trace, function, line):
    pcf = (
        f"EVENT_TYPE\n0 70000001 Caller at level 1\nVALUES\n2 {function}\n3 main\n\n"
        f"EVENT_TYPE\n0 80000001 Line at level 1\n0 80000002 Level 2\nVALUES\n5 {line}\n"
    )
    more = "70000001:2:80000001:5:70000002:4:80000002:1"
    t = trace(f"call:ONE:1:10:20:50000001:{more}", pcf=pcf)

    inner = t.call_paths.slice(1)
    assert cells(inner, "function file line parent") == "CommSend lulesh-comm.cc 101 0"
    assert cells(t.calls, "call_path") == "1"


INLINED = """\
EVENT_TYPE
0 70000001 Caller at level 1
0 70000002 Caller at level 2
VALUES
2 solve
3 f inlined at /s/a.c:12:5 in solve
4 f inlined at /s/a.c:18:5 in solve
5 g inlined at /s/a.c:3:5 in solve
7 h inlined at /s/h.h:90:5 in solve
6 main

EVENT_TYPE
0 80000001 Caller line at level 1
0 80000002 Caller line at level 2
VALUES
1 b.c:7 [/s/b.c:7, /run]
2 a.c:10 [/s/a.c:10, /run]
3 a.c:20 [/s/a.c:20, /run]
4 m.c:3 [/s/m.c:3, /run]
"""


def test_functions_that_were_inlined_stand_below_those_they_are_in(trace):
    frames = [(2, 2), (3, 1), (4, 1), (5, 1), (7, 1), (2, 3)]
    t = trace(
        " ".join(
            f"call:ONE:1:{20 * k}:{20 * k + 9}:50000001:70000001:{function}:80000001:{place}"
            ":70000002:6:80000002:4"
            for k, (function, place) in enumerate(frames)
        ),
        pcf=INLINED,
    )
    rows = t.call_paths.to_pylist()

    def path(node):
        row = rows[node]
        above = [] if row["parent"] is None else path(row["parent"])
        return [*above, (row["function"], row["file"], row["line"])]

    outer = ("main", "m.c", 3)
    assert [path(each) for each in t.calls["call_path"].to_pylist()] == [
        [outer, ("solve", "a.c", 10)],
        [outer, ("solve", "a.c", 12), ("f", "b.c", 7)],
        [outer, ("solve", "a.c", 18), ("f", "b.c", 7)],
        # lines before those of solve, or of another file, are of what is inlined in it, too
        [outer, ("solve", None, None), ("g", "b.c", 7)],
        [outer, ("solve", None, None), ("h", "b.c", 7)],
        [outer, ("solve", "a.c", 20)],
    ]
    assert len({tuple(row.values())[1:] for row in rows}) == len(rows)


class Steps:
    """Progress that is written down."""

    def __init__(self):
        self.steps = []

    def step(self, what, total, unit):
        self.steps.append((f"{what} {unit}", total, []))

    def advance(self, done):
        self.steps[-1][-1].append(done)


def test_reading_whole_reports_each_process_as_it_is_read(tmp_path):
    path = tmp_path / "t.prv"
    lines = records("call:ONE:3:10:20 call:TWO:4:5:8")
    path.write_text(HEAD.format(end=1000) + "".join(f"{line}\n" for line in lines))
    progress = Steps()

    burstline.read(path, progress=progress)

    total, moves = next(rest for name, *rest in progress.steps if name == "Reading locations")
    assert sum(moves) == total == 3
    assert sum(move > 0 for move in moves) == 2


def test_threads_without_records_live_at_0_and_a_scan_sums_the_values_of_events(tmp_path):
    trace = burstline.read(write_example(tmp_path, "1:1:1:1:1:3:5:1\n"))
    assert cells(trace.locations, "born_ns died_ns") == "3 5 | 0 0 | 0 0"

    events = "2:1:1:1:1:5:7:3\n2:1:1:1:1:6:7:4:8:-1\n"
    assert scan(write_example(tmp_path, events))["value_sum"] == 3 + 4 - 1

    counts = dict.fromkeys(("calls", "readings", "regions", "sends"), np.zeros(1, np.int64))
    counts |= dict.fromkeys(("pairs", "states"), np.ones(1, np.int64))
    assert bytes_of_tables(counts, 0, raw=False) == 0 < bytes_of_tables(counts, 0, raw=True)
