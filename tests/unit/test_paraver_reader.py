"""The smallest trace for each thing that Extrae writes in a way of its own."""

from __future__ import annotations

import numpy as np
import pytest

import burstline
from burstline.formats.paraver.reading.scan import bytes_of_tables
from burstline.formats.paraver.reading.trace_file import scan
from paraver_text import write_example
from told import told

HEAD = "#Paraver (01/01/2026 at 00:00):{end}_ns:1(4):1:2(2:1,1:1),2\nc:1:1:2:1:2\nc:1:2:1:1\n"
ONE, THREAD, TWO = "1:1:1:1", "2:1:1:2", "3:1:2:1"


@pytest.fixture
def trace(tmp_path):
    def read(*lines, pcf="", row=""):
        path = tmp_path / "t.prv"
        text = HEAD.format(end=1000) + "".join(f"{line}\n" for line in lines)
        path.write_text(text, encoding="ascii")
        path.with_suffix(".pcf").write_text(pcf, encoding="utf-8")
        path.with_suffix(".row").write_text(row, encoding="utf-8") if row else None
        return burstline.read(path)

    return read


def call(place, value, enter, leave, *more, kind=50000001):
    pairs = "".join(f":{name}:{amount}" for name, amount in more)
    return f"2:{place}:{enter}:{kind}:{value}{pairs}", f"2:{place}:{leave}:{kind}:0"


def only(table):
    (row,) = table.to_pylist()
    return row


def test_an_immediate_send_is_complete_at_an_unknown_moment(trace):
    t = trace(
        *call(ONE, 3, 10, 20),
        *call(ONE, 5, 40, 50),
        *call(TWO, 4, 5, 8),
        *call(TWO, 5, 30, 60),
        f"3:{ONE}:10:20:{TWO}:8:60:100:4294967295",
    )
    message = only(t.messages)

    assert (message["send_call"], message["post_call"], message["receive_call"]) == (0, 0, 1)
    assert (message["send_done_call"], message["send_done_ns"]) == (None, None)
    assert message["send_done_from"] == "unknown"
    assert message["communicator"] is None
    assert message["tag"] == -1
    assert told(t.calls, "sent_bytes received_bytes") == "100 - | - - | - - | - 100"
    assert t.calls["peer"].to_pylist() == [1, None, 0, None]


def test_a_blocking_send_is_complete_when_it_is_left(trace):
    t = trace(*call(ONE, 34, 10, 20), *call(TWO, 2, 5, 30), f"3:{ONE}:10:20:{TWO}:5:30:8:7")
    message = only(t.messages)

    assert (message["send_done_call"], message["send_done_ns"]) == (0, 20)
    assert message["send_done_from"] == "recorded"


def test_both_halves_of_a_sendrecv_are_in_one_call(trace):
    t = trace(
        *call(ONE, 41, 10, 50),
        *call(TWO, 41, 12, 60),
        f"3:{ONE}:10:10:{TWO}:12:60:8:1",
        f"3:{TWO}:12:12:{ONE}:10:50:16:1",
    )
    found = [
        (m["send_call"], m["post_call"], m["receive_call"]) for m in t.messages.to_pylist()
    ]

    assert found == [(0, 0, 0), (0, 0, 0)]
    assert told(t.calls, "sent_bytes received_bytes") == "8 16 | 16 8"


def test_a_persistent_message_belongs_to_its_start(trace):
    t = trace(
        *call(ONE, 124, 10, 15, kind=50000003),
        *call(ONE, 6, 20, 25),
        *call(TWO, 124, 8, 12, kind=50000003),
        *call(TWO, 6, 30, 40),
        f"3:{ONE}:10:10:{TWO}:8:40:8:1",
    )
    message = only(t.messages)

    assert (message["send_call"], message["post_call"], message["receive_call"]) == (0, 0, 1)


def test_a_message_to_oneself_is_none_to_another_thread_without_a_call_a_link(trace):
    t = trace(
        *call(ONE, 4, 10, 12),
        *call(ONE, 1, 20, 30),
        *call(ONE, 5, 40, 50),
        f"3:{ONE}:20:30:{ONE}:12:50:8:1",
        f"3:{ONE}:60:60:{THREAD}:70:70:9:60000000",
    )

    assert only(t.messages)["receive_call"] == 2
    link = only(t.links)
    assert (link["receiver_location"], link["size"], link["tag"]) == (1, 9, 60000000)


def test_a_size_beyond_two_gib_was_printed_negative(trace):
    t = trace(
        *call(ONE, 1, 10, 20), *call(TWO, 2, 5, 30), f"3:{ONE}:10:20:{TWO}:5:30:-2147483648:7"
    )

    assert only(t.messages)["received_bytes"] == 2**31
    assert "negative_message_size" in t.defects["kind"].to_pylist()


def test_the_root_of_a_collective_is_told_by_its_flag(trace):
    sizes = (50100001, 8), (50100002, 0), (50100004, 1)
    t = trace(
        *call(ONE, 7, 10, 20, (50100001, 0), (50100002, 8), (50100004, 1), kind=50000002),
        *call(TWO, 7, 12, 22, *sizes, (50100003, 1), kind=50000002),
        *call(ONE, 8, 30, 40, (50100004, 2), kind=50000002),
        *call(TWO, 8, 30, 40, (50100004, 9), kind=50000002),
    )

    assert [(c["operation"], c["root"], c["complete"]) for c in t.collectives.to_pylist()] == [
        ("MPI_Bcast", 1, True),
        ("MPI_Barrier", None, True),
        ("MPI_Barrier", None, False),
    ]
    kinds = t.communicators["kind"].to_pylist()
    assert kinds == ["world", "self", "unknown"]
    assert "communicator_without_members" in t.defects["kind"].to_pylist()


def test_failed_polls_are_time_of_the_burst_before_the_one_that_succeeds(trace):
    t = trace(
        *call(ONE, 4, 10, 12),
        f"2:{ONE}:15:50000304:0",
        f"2:{ONE}:90:50000305:70:50000304:33",
        *call(ONE, 39, 90, 95, kind=50000003),
    )
    burst = only(t.bursts)

    assert (burst["polls"], burst["polling_ns"]) == (33, 70)


@pytest.mark.parametrize(
    ("kind", "column"),
    [(50000304, "polls"), (50000305, "polling_ns"), (77200002, "waiting_ns")],
)
@pytest.mark.parametrize("value", [-7, -(2**63), 2**63 - 1])
def test_polls_that_cannot_be_are_dropped_and_said(trace, kind, column, value):
    unknown = None if column == "waiting_ns" else 0
    t = trace(*call(ONE, 4, 10, 12), f"2:{ONE}:90:{kind}:{value}", *call(ONE, 39, 90, 95))

    assert only(t.bursts)[column] == unknown
    if (column, value) != ("waiting_ns", -(2**63)):  # which is how the scan says "unknown"
        assert "polls_out_of_range" in t.defects["kind"].to_pylist()


@pytest.mark.parametrize("number", [-(2**63), -1, 2**31])
def test_a_counter_set_whose_number_is_none_is_dropped_and_said(trace, number):
    t = trace(
        f"2:{ONE}:0:41999999:1:42000050:0",
        f"2:{ONE}:10:42000050:5",
        f"2:{ONE}:50:42000059:40:41999999:{number}:42000008:0",
    )

    assert {row["counter_set"] for row in t.counter_sets.to_pylist()} == {1}
    assert "counter_set_out_of_range" in t.defects["kind"].to_pylist()


def test_counters_of_a_set_that_is_left_belong_to_the_burst_before(trace):
    t = trace(
        f"2:{ONE}:0:41999999:1:42000050:0:42000059:0",
        f"2:{ONE}:10:50000001:1:42000050:5:42000059:6",
        f"2:{ONE}:20:50000001:0:42000050:1:42000059:2",
        f"2:{ONE}:50:42000050:30:42000059:40:41999999:2:42000008:0",
        f"2:{ONE}:50:50000001:1",
        f"2:{ONE}:60:50000001:0:42000050:3:42000008:4",
    )
    burst = only(t.bursts)

    assert (burst["PAPI_TOT_INS"], burst["PAPI_TOT_CYC"], burst["PAPI_L3_TCM"]) == (
        30,
        40,
        None,
    )
    sets = {(row["counter_set"], row["counter"]) for row in t.counter_sets.to_pylist()}
    assert {(1, "PAPI_TOT_CYC"), (2, "PAPI_L3_TCM")} <= sets
    assert (2, "PAPI_TOT_CYC") not in sets


def test_time_that_nobody_watched_is_a_gap_of_its_burst(trace):
    t = trace(
        *call(ONE, 1, 10, 20),
        f"2:{ONE}:30:40000003:1",
        f"2:{ONE}:37:40000003:0",
        f"2:{ONE}:40:40000012:0",
        f"2:{ONE}:45:40000012:1",
        *call(ONE, 1, 60, 70),
    )

    assert only(t.bursts)["gap_ns"] == 12
    assert t.gaps["kind"].to_pylist() == ["not_created", "flush", "tracing_off"]


def test_one_sided_calls_know_target_and_size_though_rank_0_closes_them(trace):
    t = trace(
        f"2:{ONE}:10:50000004:65:50001000:64:50001001:0",
        f"2:{ONE}:20:50000004:0:50001000:0:50001001:0",
        f"2:{ONE}:30:50000005:143:50000110:4096",
        f"2:{ONE}:40:50000005:0:50000110:4096",
    )

    assert told(t.calls, "peer sent_bytes received_bytes") == "0 64 - | - - 4096"


def test_threads_of_a_team_compute_between_the_borders_of_their_regions(trace):
    t = trace(
        f"2:{ONE}:10:60000001:3",
        f"2:{ONE}:12:60000018:5",
        f"2:{THREAD}:13:60000018:5",
        f"2:{THREAD}:20:60000005:1",
        f"2:{THREAD}:40:60000005:0",
        f"2:{ONE}:41:60000018:0",
        f"2:{THREAD}:42:60000018:0",
        f"2:{ONE}:50:60000001:0",
        f"2:{ONE}:60:60000019:8:60000019:9",
        f"2:{ONE}:70:60000019:0:60000019:0",
    )
    team = only(t.teams)
    regions = t.regions.to_pylist()

    assert (team["fork_ns"], team["join_ns"], team["threads"]) == (10, 50, 2)
    assert [r["team"] for r in regions] == [0, 0, None, None, 0, 0]
    assert [r["parent"] for r in regions] == [None, 0, None, 2, None, 0]
    barrier = regions[-1]
    assert (barrier["enter_ns"], barrier["leave_ns"], barrier["barrier_ordinal"]) == (20, 40, 0)
    worker = [b for b in t.bursts.to_pylist() if b["location"] == 1]
    assert [(b["start_ns"], b["end_ns"]) for b in worker] == [(13, 20), (40, 42)]


@pytest.mark.parametrize(
    ("function", "line"),
    [(60000018, 60000118), (60000019, 60000119), (60012, 60013), (60015, 60016), (60018, 60019)]
    + [(kernel, kernel + 1) for kernel in (63000006, 63000009, 63500006, 63500009)],
)
def test_a_region_is_in_the_line_that_the_type_beside_its_own_tells(trace, function, line):
    t = trace(
        f"2:{ONE}:10:{function}:7:{line}:9",
        f"2:{ONE}:20:{function}:0:{line}:0",
        pcf=f"EVENT_TYPE\n0 {function} Function\nVALUES\n7 work\n\n"
        f"EVENT_TYPE\n0 {line} Line\nVALUES\n9 o.c:19 [/src/o.c:19, /src/o]\n",
    )
    row = only(t.table("region_defs"))

    assert (row["name"], row["file"], row["begin_line"]) == ("work", "o.c", 19)


def test_a_lock_is_held_from_its_acquisition_to_its_release(trace):
    t = trace(
        f"2:{ONE}:10:60000007:3",
        f"2:{ONE}:20:60000007:6",
        f"2:{ONE}:30:60000007:5",
        f"2:{ONE}:35:60000007:0",
        f"2:{THREAD}:12:60000007:3",
        f"2:{THREAD}:40:60000007:6",
        f"2:{THREAD}:50:60000007:0",
    )

    found = [
        (k["location"], k["order"], k["acquire_ns"], k["release_ns"])
        for k in t.locks.to_pylist()
    ]
    assert found == [(0, 1, 20, 35), (1, 2, 40, 50)]


def test_a_trace_of_states_only_has_bursts_and_says_where_from(trace):
    t = trace(f"1:{ONE}:0:100:1", f"1:{ONE}:100:150:13", f"1:{ONE}:150:300:1", f"1:{TWO}:5:9:1")

    found = [
        (b["location"], b["burst"], b["start_ns"], b["end_ns"]) for b in t.bursts.to_pylist()
    ]
    assert found == [(0, 0, 0, 100), (0, 1, 150, 300), (2, 0, 5, 9)]
    assert "bursts_from_states" in t.defects["kind"].to_pylist()


def test_streams_of_a_gpu_are_known_by_their_name(trace):
    row = "LEVEL THREAD SIZE 3\nTHREAD 1.1.1\nGPU-D1.S1-host\nTHREAD 1.2.1\n"
    t = trace(f"2:{THREAD}:5:63100000:1", row=row)

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
    more = (70000001, 2), (80000001, 5), (70000002, 4), (80000002, 1)
    t = trace(*call(ONE, 1, 10, 20, *more), pcf=pcf)
    outer, inner = t.call_paths.to_pylist()

    assert (inner["function"], inner["file"], inner["line"]) == (
        "CommSend",
        "lulesh-comm.cc",
        101,
    )
    assert inner["parent"] == outer["call_path"]
    assert only(t.calls)["call_path"] == inner["call_path"]


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
    lines = [*call(ONE, 3, 10, 20), *call(TWO, 4, 5, 8)]
    path.write_text(HEAD.format(end=1000) + "".join(f"{line}\n" for line in lines))
    progress = Steps()

    burstline.read(path, progress=progress)

    total, moves = next(rest for name, *rest in progress.steps if name == "Reading locations")
    assert sum(moves) == total == 3
    assert sum(move > 0 for move in moves) == 2


def test_threads_without_records_live_at_0(tmp_path):
    trace = burstline.read(write_example(tmp_path, "1:1:1:1:1:3:5:1\n"))

    assert told(trace.locations, "born_ns died_ns") == "3 5 | 0 0 | 0 0"


def test_a_scan_sums_the_values_of_events(tmp_path):
    events = "2:1:1:1:1:5:7:3\n2:1:1:1:1:6:7:4:8:-1\n"

    assert scan(write_example(tmp_path, events))["value_sum"] == 3 + 4 - 1


def test_raw_tables_take_bytes_of_their_own():
    counts = dict.fromkeys(("calls", "readings", "regions", "sends"), np.zeros(1, np.int64))
    counts |= dict.fromkeys(("pairs", "states"), np.ones(1, np.int64))

    assert bytes_of_tables(counts, 0, raw=False) == 0
    assert bytes_of_tables(counts, 0, raw=True) > 0
