"""Iterations of a loop as region of interest and as a table, as people use them."""

from __future__ import annotations

import csv
import io
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline.cli import main
from burstline.selection import losses
from burstline.structure import detect
from burstline.structure.program.windows import iterations_window
from command import burstline as run
from command import document_of, printed_by
from oracles.prv_dump import dump
from oracles.prv_rules import broken
from paraver_text import write_example
from read_back import assert_reads_back, write_barriers

HEADER = (
    "#Paraver (01/01/2026 at 00:00):{end}_ns:1(4):1:4(1:1,1:1,1:1,1:1),1\nc:1:1:4:1:2:3:4\n"
)
LABELS = """\
EVENT_TYPE
0 80000001 Caller line at level 1
VALUES
0 End
1 ring.c:7 [/src/ring.c:7, /bin/ring]
2 ring.c:9 [/src/ring.c:9, /bin/ring]
3 ring.c:1 [/src/ring.c:1, /bin/ring]
4 ring.c:12 [/src/ring.c:12, /bin/ring]
"""
STEPS, COMPUTE_NS, CALL_NS, LATE_NS = 20, 90, 10, 1000
ALLREDUCE, BARRIER, BCAST, SEND, RECV = 10, 8, 7, 1, 2


@pytest.fixture
def ring(tmp_path):
    """Three ranks, each 30 ns behind the one before, and one that only says hello.

    Twenty times: compute, message to the next rank, compute, Allreduce; then a Barrier of
    the first three. Rank 1 computes 1000 ns longer in the twelfth.
    """
    records, calls = [], []
    for rank in range(3):
        now = 30 * rank + 100
        calls.append((rank, now, BCAST, 3))
        for step in range(STEPS):
            now += 100
            calls.append((rank, now, RECV if rank else SEND, 1))
            now += 100 + (LATE_NS if (rank, step) == (1, 11) else 0)
            calls.append((rank, now, ALLREDUCE, 2))
        calls.append((rank, now + 500, BARRIER, 4))
    calls.append((3, 100, BCAST, 3))
    for rank, now, value, line in calls:
        kind = 50000001 if value in {SEND, RECV} else 50000002
        who = f"2:{rank + 1}:1:{rank + 1}:1"
        records.append((now, f"{who}:{now}:{kind}:{value}:80000001:{line}"))
        records.append((now + CALL_NS, f"{who}:{now + CALL_NS}:{kind}:0"))
    sends = [now for rank, now, value, _ in calls if value == SEND]
    receives = [now for rank, now, value, _ in calls if value == RECV and rank == 1]
    for sent, received in zip(sends, receives, strict=True):
        times = f"{sent}:{sent}:2:1:2:1:{received}:{received + CALL_NS}:8:0"
        records.append((sent, f"3:1:1:1:1:{times}"))
    end = max(time for time, _ in records)
    records += [(0, f"1:{rank}:1:{rank}:1:0:{end}:1") for rank in range(1, 5)]
    path = tmp_path / "ring.prv"
    lines = "".join(f"{line}\n" for _, line in sorted(records))
    path.write_text(HEADER.format(end=end) + lines)
    path.with_suffix(".pcf").write_text(LABELS)
    return path


def test_every_rank_keeps_its_own_iterations(ring):
    told = document_of("info", ring, "--loop", "1", "--iterations", "3:5")

    assert {name: calls["count"] for name, calls in told["calls"].items()} == {
        "MPI_Recv": 6,
        "MPI_Send": 3,
        "MPI_Allreduce": 9,
    }
    assert told["ranks"] == 3
    assert told["efficiency"]["runtime_ns"] == 600
    assert told["efficiency"]["parallel"] == pytest.approx(540 / 600)


def test_what_was_chosen_and_who_was_left_out_is_said(ring):
    done = run("info", ring, "--loop", "1", "--iterations", "12")

    assert done.stderr.splitlines() == [
        "iterations 12:12 of loop 1 (exact): 200 ns to 1.20 µs a rank",
        "left out, because they do not run these iterations: ranks 3",
    ]


def test_without_iterations_the_region_is_the_whole_loop(ring):
    whole = document_of("info", ring, "--loop", "1")

    assert whole == document_of("info", ring, "--loop", "1", "--iterations", ":")
    assert whole["calls"]["MPI_Allreduce"]["count"] == 3 * STEPS
    assert "MPI_Barrier" not in whole["calls"]


def test_iterations_can_be_counted_from_the_end(ring):
    last = document_of("info", ring, "--loop", "1", "--iterations", "-2:")

    assert (
        last["calls"]
        == document_of("info", ring, "--loop", "1", "--iterations", "19:20")["calls"]
    )
    assert last["calls"]["MPI_Allreduce"]["count"] == 6


def test_a_loop_is_counted_within_the_rest_of_the_region(ring):
    words = ("--from", "1us", "--ranks", "1-2", "--loop", "1", "--iterations", "1:2")

    part = document_of("info", ring, *words)

    assert part["calls"]["MPI_Recv"]["count"] == 4
    assert part["ranks"] == 2


def test_a_cut_has_just_the_iterations_and_ranks_stay_as_far_apart(ring, tmp_path):
    copy = tmp_path / "part.prv"

    told = document_of("cut", ring, "-o", copy, "--loop", "1", "--iterations", "3:5")

    assert told["kept"] == {"calls": 18, "bursts": 15, "messages": 3}
    assert told["lost"] == {"messages": 0, "collectives": 0, "calls_clipped": 0}
    assert told["time_offset_ns"] == 600
    found = dump(copy)
    assert set(found.events) == {(1, 1, 1), (1, 2, 1), (1, 3, 1)}
    calls = {
        thread: [event for event in events if event[1] // 10 == 5000000]
        for thread, events in found.events.items()
    }
    expected = [(0, SEND), (10, 0), (100, ALLREDUCE), (110, 0)]
    for rank in range(3):
        kinds = [(time - 30 * rank, value) for time, _, value in calls[1, rank + 1, 1]]
        assert kinds[:4] == [
            (t, v and (v if v != SEND or not rank else RECV)) for t, v in expected
        ]
        assert len(kinds) == 12
        (state,) = [state for state in found.states if state[2] == rank + 1]
        assert state[-3:] == (30 * rank, 30 * rank + 600, 1)
    assert found.communications.total() == 3
    assert broken(copy) == []


def test_a_cut_of_iterations_explains_itself_as_the_region_does(ring, tmp_path):
    copy = tmp_path / "part.prv"
    words = ("--loop", "1", "--iterations", "10:14")
    printed_by("cut", ring, "-o", copy, *words)

    part, region = document_of("info", copy), document_of("info", ring, *words)

    assert part["calls"] == region["calls"]
    assert part["efficiency"] == region["efficiency"]


def test_a_cut_of_iterations_of_a_store_is_the_cut_of_its_source(ring, tmp_path):
    printed_by("convert", ring, tmp_path / "run.store")
    for name in ("ring.prv", "run.store"):
        words = ("--loop", "1", "--iterations", "-3:")
        printed_by("cut", tmp_path / name, "-o", tmp_path / f"of-{name}.prv", *words)

    one, other = (dump(tmp_path / f"of-{name}.prv") for name in ("ring.prv", "run.store"))

    assert one._replace(comments=[]) == other._replace(comments=[])


@given(borders=st.lists(st.integers(0, 1000), min_size=6, max_size=6))
def test_any_windows_of_locations_read_back_as_the_selection(tmp_path_factory, borders):
    folder = tmp_path_factory.mktemp("any")
    trace = burstline.read(write_example(folder))
    start, end = np.sort(np.array(borders).reshape(3, 2), axis=1).T

    assert_reads_back(trace, folder / "cut.prv", start, end + 1)


def test_a_collective_that_only_some_windows_hold_shifts_no_count(tmp_path):
    trace = burstline.read(write_barriers(tmp_path))

    assert_reads_back(trace, tmp_path / "cut.prv", np.array([200, 90]), np.array([400, 400]))

    again = burstline.read(tmp_path / "cut.prv")
    (members,) = again.arrays("collective_members", "begin_ns")
    whole = np.flatnonzero(again.collectives["complete"].to_numpy())
    (instance,) = again.arrays("collective_members", "collective")
    assert [sorted(members[instance == each].tolist()) for each in whole] == [[210, 215]]


def test_the_table_shows_spread_and_names_the_slow_iteration(ring):
    shown = printed_by("structure", ring, "--iterations", "1")

    assert "loop 1       20 iterations on 3 ranks" in shown
    assert "computing 9" in shown
    _, row = [line.split() for line in shown.splitlines() if line.startswith("  12  ")]
    assert row[:2] == ["12", "1"]
    assert row[-2:] == ["+1.00", "µs"]
    assert f"burstline cut {ring} --loop 1 --iterations 12 -o" in shown


def test_the_command_that_is_shown_cuts_the_slow_iteration(ring, tmp_path):
    shown = printed_by("structure", ring, "--ranks", "0-2", "--iterations", "1")
    (command,) = [line.split() for line in shown.splitlines() if "burstline cut" in line]

    words = [word if word != command[-1] else tmp_path / word for word in command[1:]]
    told = document_of(*words)

    assert told["kept"]["calls"] == 6


def test_no_command_is_shown_where_cut_would_find_other_loops(ring):
    shown = printed_by("structure", ring, "--iterations", "1", "--min-share", "0")

    assert "burstline cut" not in shown


def test_json_and_csv_have_the_iterations(ring):
    told = document_of("structure", ring, "--iterations", "1")
    text = printed_by("structure", ring, "--iterations", "1", "--format", "csv")
    lines = list(csv.DictReader(io.StringIO(text)))

    assert told["summary"]["outliers"] == 1
    assert [slow["iteration"] for slow in told["slowest"]] == [12]
    assert len(told["by_iteration"]) == STEPS
    assert len(lines) == 3 * STEPS
    assert lines[11]["iteration"] == "12"


def test_tables_are_written_for_other_programs(ring, tmp_path):
    for name in ("loops.parquet", "loops.csv"):
        printed_by("structure", ring, "-o", tmp_path / name)
    printed_by("structure", ring, "--iterations", "1", "-o", tmp_path / "one.parquet")

    loops = pq.read_table(tmp_path / "loops.parquet")
    assert loops["rank"].to_pylist() == [0, 1, 2]
    assert loops["iterations"].to_pylist() == [STEPS] * 3
    text = (tmp_path / "loops.csv").read_text()
    assert text.splitlines()[0].replace('"', "").split(",") == loops.column_names
    assert pq.read_table(tmp_path / "one.parquet").num_rows == 3 * STEPS


def test_a_terminal_without_unicode_sees_letters(ring, monkeypatch):
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))

    main(["structure", str(ring), "--iterations", "1"])

    assert b"####" in sys.stdout.buffer.getvalue()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["info", "--iterations", "1:3"], "--iterations of which loop?"),
        (["info", "--loop", "1", "--iterations", "0"], "there is no iteration 0"),
        (["info", "--loop", "1", "--iterations", "19:21"], "no iteration 21; it has 1 to 20"),
        (["info", "--loop", "1", "--iterations", "-21:"], "no iteration -21"),
        (["info", "--loop", "4"], "no loop 4"),
        (["info", "--loop", "1", "--iterations", "15:-10"], "no rank has iterations 15:-10"),
        (["structure", "--iterations", "1:3"], "1:3 of which loop?"),
        (["structure", "--iterations", "9"], "no loop 9"),
        (["structure", "-o", "loops.xlsx"], ".parquet or .csv"),
    ],
)
def test_what_cannot_be_is_one_line_and_exit_code_2(ring, words, message):
    done = run(words[0], ring, *words[1:])

    assert done.returncode == 2
    assert message in done.stderr.splitlines()[-1]
    assert done.stdout == ""


def test_a_file_that_exists_is_kept(ring, tmp_path):
    (tmp_path / "loops.csv").write_text("mine")

    done = run("structure", ring, "-o", tmp_path / "loops.csv")

    assert done.returncode == 2
    assert (tmp_path / "loops.csv").read_text() == "mine"


def test_iterations_of_real_traces_read_back_as_the_selection(real_traces, tmp_path):
    names = ("npb_cg_S_4r_run1", "lulesh_8r_s4_i10_run1", "tealeaf_cg64_4r", "toy_t1_nested2")
    for name in names:
        trace = burstline.read(real_traces / f"{name}.prv.gz")
        structure = detect(trace)
        for loop in structure.loops:
            iterations = structure.iterations(loop.id)
            window = iterations_window(trace, structure, loop.id, 2, 2)
            part = assert_reads_back(trace, tmp_path / "cut.prv", *window)
            second = iterations.iteration == 1
            after = iterations.last[second] + 1
            same = iterations.entry[second] == iterations.entry[np.flatnonzero(second) + 1]
            after[same] = iterations.first[np.flatnonzero(second) + 1][same]
            assert part.calls.num_rows == (after - iterations.first[second]).sum()
            assert losses(trace, part).calls_clipped == 0


def test_three_iterations_of_cg_are_three_as_region_and_as_cut(real_traces, tmp_path):
    run, copy = real_traces / "npb_cg_S_8r.prv.gz", tmp_path / "part.prv"
    words = ("--loop", "9", "--iterations", "3:5")

    region = printed_by("structure", run, *words)
    printed_by("cut", run, "-o", copy, *words)

    # The lines of the source: an iteration ends with an inner loop over the partners.
    assert "for 1 to 3:  # loop 1" in region
    assert "  conditions  none" in region
    assert printed_by("structure", copy) == region
    assert broken(copy) == []


def test_a_cut_tells_of_the_loops_of_the_whole(ring, tmp_path):
    copy = tmp_path / "part.prv"
    printed_by("cut", ring, "-o", copy, "--loop", "1", "--iterations", "3:5")

    trace = burstline.read(copy)

    location, iteration = trace.arrays("loop_iterations", "location", "iteration")
    assert location.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert iteration.tolist() == [3, 4, 5] * 3
    assert trace.arrays("loop_entries", "iterations")[0].tolist() == [3, 3, 3]
