"""Clocks that disagree are corrected: no effect before its cause, and little else moves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline import _core
from burstline.clocks import corrected, violations
from burstline.clocks.correction import DECAY_BITS, LARGEST_DRIFT, aligned, controlled_clock
from burstline.identity import call_tree
from burstline.synchronisation import ReplayModel, Rows, replay, rows_of, sync_of
from burstline.testing import assert_same_trace, trace_of
from golden.oracle_events import as_text
from hybrid_programs import hybrid_programs
from oracles import replay as twin
from skewed import clocks, skewed

RECORDINGS = Path(__file__).parents[1] / "recordings"
WAITS = "mpi_latesender", "mpi_wait_nxn", "mpi_barrier_wait", "mpi_latebroadcast"
PLANNED = (*WAITS, "mpi_latereceiver", "mpi_earlyreduce")


def rows_of_trace(trace):
    return rows_of(sync_of(trace, call_tree(trace)), "recorded")


def scaled(program, factor=1000):
    events = [[a, b, stamp * factor, *rest] for a, b, stamp, *rest in program["events"]]
    return trace_of(as_text({**program, "events": events}))


skews = st.lists(st.integers(0, 50_000), min_size=4, max_size=4)


@given(hybrid_programs(), skews, st.integers(0, 1))
def test_no_violation_is_left(program, offsets, latency):
    trace = skewed(scaled(program), offsets, [0] * 4)
    rows = rows_of_trace(trace)

    moved, moved_ns = corrected(trace, rows, latency)

    early = violations(rows)
    assert violations(rows_of_trace(moved)).count == 0
    assert moved_ns >= early.worst_ns


@given(hybrid_programs(), skews)
def test_no_interval_changes_by_more_than_the_jumps_need(program, offsets):
    rows = rows_of_trace(skewed(scaled(program), offsets, [0] * 4))
    time = rows.time_ns
    forward = replay(
        rows, [ReplayModel(rows.steps(time) - rows.steps(time >> DECAY_BITS), floor=time)]
    ).stamps[0]
    stamps = controlled_clock(rows, 0)

    assert (stamps >= forward).all()
    for first, last in zip(rows.begin[:-1], rows.begin[1:], strict=True):
        before, jumped, after = (column[first:last] for column in (time, forward, stamps))
        if first == last:
            continue
        assert (np.diff(after) >= 0).all()
        decay = np.diff(before >> DECAY_BITS)
        shift = jumped - before
        needed = np.append(shift[0], np.diff(shift) + decay)
        needed = np.maximum(0, np.minimum(needed, shift))  # a shift never decays below 0
        later = np.cumsum(needed[::-1])[::-1]
        change = np.diff(after) - np.diff(before)
        assert (change >= -decay).all()
        assert (change <= later[1:] + decay).all()
        assert (after - before).max() <= shift.max()
        if not needed.any():
            assert after.tolist() == before.tolist()


@given(hybrid_programs(), skews, st.integers(0, 1))
def test_jumps_are_spread_as_the_twin_says(program, offsets, latency):
    rows = rows_of_trace(skewed(scaled(program), offsets, [0] * 4))
    time = rows.time_ns
    step = rows.steps(time) - rows.steps(time >> DECAY_BITS)
    [forward] = replay(rows, [ReplayModel(step, latency, floor=time)]).stamps
    columns = rows.location, rows.signals, rows.awaits, rows.before
    plain = tuple(column.tolist() for column in columns)

    stamps = controlled_clock(rows, latency)

    assert stamps.tolist() == twin.amortised(
        plain, time.tolist(), forward.tolist(), latency, DECAY_BITS
    )


def test_all_that_hangs_together_moves_together():
    # The clock of rank 2 is 4000 ns ahead. What rank 1 does before its receive from it waits
    # for nobody, but rank 0 waits for that: it moves, too.
    trace = trace_of("""
        ranks 3
        0 | 1010 enter MPI_Recv | 1020 receive from 1 tag 0 bytes 1 | 1030 leave
        0 | 1040 enter MPI_Recv | 1060 receive from 2 tag 0 bytes 1 | 1070 leave
        1 | 1000 enter MPI_Send | 1001 send to 0 tag 0 bytes 1 | 1002 leave
        1 | 1040 enter MPI_Recv | 1060 receive from 2 tag 1 bytes 1 | 1070 leave
        2 | 5050 enter MPI_Send | 5050 send to 0 tag 0 bytes 1 | 5051 leave
        2 | 5052 enter MPI_Send | 5052 send to 1 tag 1 bytes 1 | 5053 leave
    """)

    moved, _ = corrected(trace, rows_of_trace(trace), 0)

    assert moved.calls["enter_ns"].to_pylist()[:4] == [5000, 5030, 4992, 5032]


@given(hybrid_programs(), skews)
def test_threads_of_a_process_move_together_and_events_keep_their_order(program, offsets):
    trace = skewed(scaled(program), offsets, [0] * 4)
    rows = rows_of_trace(trace)
    [process] = trace.arrays("locations", "process")

    moved, _ = corrected(trace, rows, 0)
    by_collectives = aligned(rows, process)

    after, lane = rows_of_trace(moved).time_ns, process[rows.location]
    for each in np.unique(lane):
        here = np.flatnonzero(lane == each)
        here = here[np.lexsort((after[here], rows.time_ns[here]))]
        before = rows.time_ns[here]
        length = np.diff(before)
        shorter = np.diff(before >> DECAY_BITS) + LARGEST_DRIFT * length + 1
        assert (np.diff(after[here]) >= length - shorter).all()
    for name in ("calls", "regions"):
        location, enter, leave, enter_seq, leave_seq = moved.arrays(
            name, "location", "enter_ns", "leave_ns", "enter_seq", "leave_seq"
        )
        for k in np.unique(location):
            here = location == k
            seq = np.concatenate([enter_seq[here], leave_seq[here]])
            times = np.concatenate([enter[here], leave[here]])[np.argsort(seq, kind="stable")]
            assert (np.diff(times) >= 0).all()
    # Setting clocks changes no interval by more than clocks drift.
    assert (by_collectives.time_ns >= rows.time_ns).all()
    assert_intervals_kept(rows, rows.time_ns, by_collectives.time_ns)


def assert_intervals_kept(rows, *stamps):
    """No time between two events is another, but for the drift of clocks."""
    before, after = (np.diff(each)[np.diff(rows.location) == 0] for each in stamps)
    assert (np.abs(after - before) <= LARGEST_DRIFT * before + 1).all()


def test_threads_without_cause_to_move_stay_beside_those_that_have():
    trace = trace_of("""
        ranks 2 threads 2
        region wait paradigm openmp role implicit_barrier
        0 | 0 fork 2 | 1 team begin 2 | 70 enter wait | 90 leave | 91 team end 2 | 92 join
        0 | 100 enter MPI_Recv | 110 receive from 1 tag 0 bytes 1 | 120 leave
        0.1 | 1 team begin 2 | 30 enter wait | 90 leave | 91 team end 2
        1 | 5000 enter MPI_Send | 5000 send to 0 tag 0 bytes 1 | 5001 leave
    """)

    waits = [burstline.wait_states(trace, correct=correct) for correct in (False, True)]

    assert waits[1].corrected["moved_ns"] > 4000
    told = [each.profile.total("omp_ibarrier_wait") for each in waits]
    assert told == [40, 40]


@given(hybrid_programs())
def test_a_trace_without_violations_keeps_its_intervals(program):
    trace = trace_of(as_text(program))
    rows = rows_of_trace(trace)
    assert violations(rows).count == 0

    moved, moved_ns = corrected(trace, rows, 0)

    after = rows_of_trace(moved).time_ns
    assert after.min(initial=0) >= 0
    assert_intervals_kept(rows, rows.time_ns, after)
    if moved_ns == 0:
        assert_same_trace(moved, trace)


@pytest.mark.parametrize("seed", range(5))
def test_clocks_are_set_as_well_as_processes_leave_together(seed):
    random = np.random.default_rng(seed)
    ranks, meetings, span, late = 5, 40, 2e9, 3000
    offset, drift = random.integers(0, 10**6, ranks), random.uniform(-50e-6, 50e-6, ranks)
    drift -= drift.mean()
    ended = np.sort(random.uniform(0, span, meetings))
    times = []
    for rank in range(ranks):
        left = ended + random.exponential(late, meetings)
        left[::7] += 10**6 * (rank == 2)  # something else ran on its core
        came = ended - random.uniform(1000, 20_000, meetings)
        true = np.stack([came, left], 1).ravel()
        times.append(np.rint(true + offset[rank] + drift[rank] * true).astype(np.int64))
    source = np.repeat(np.arange(meetings), 2)
    enters = np.arange(2 * meetings) % 2 == 0
    rows = Rows(
        np.arange(ranks + 1) * 2 * meetings,
        np.tile(np.arange(2 * meetings), ranks),
        np.concatenate(times),
        np.tile(np.where(enters, source, -1), ranks),
        np.tile(np.where(enters, -1, source), ranks),
        np.ones(2 * meetings * ranks, bool),
        np.full(meetings, -1, np.int32),
    )

    leaves = aligned(rows, np.arange(ranks)).time_ns.reshape(ranks, meetings, 2)[:, :, 1]

    undisturbed = np.delete(leaves, np.arange(0, meetings, 7), axis=1)
    apart = undisturbed - undisturbed.mean(0)
    assert np.abs(apart.mean(1)).max() < late
    assert np.abs(apart[:, :3].mean(1) - apart[:, -3:].mean(1)).max() < 5 * late


def test_few_meetings_tell_offsets_and_no_drift():
    trace = trace_of("""
        ranks 2
        0 | 1000 enter MPI_Barrier | 1000 begin | 2000 end | 2000 leave
        0 | 801000 enter MPI_Barrier | 801000 begin | 802000 end | 802000 leave
        1 | 501800 enter MPI_Barrier | 501800 begin | 502000 end | 502000 leave
        1 | 1301800 enter MPI_Barrier | 1301800 begin | 1302400 end | 1302400 leave
    """)

    moved, moved_ns = corrected(trace, rows_of_trace(trace), 0)

    assert moved_ns == pytest.approx(500_200, abs=201)
    enter, leave = moved.calls["enter_ns"].to_numpy(), moved.calls["leave_ns"].to_numpy()
    assert np.abs(leave - enter - [1000, 1000, 200, 600]).max() <= 1
    assert np.abs(np.diff(enter)[[0, 2]] - 800_000).max() <= 4


def test_collectives_that_would_break_more_than_they_mend_set_no_clock():
    # Rank 0 was woken late, and the message says so.
    trace = trace_of("""
        ranks 2
        0 | 1000 enter MPI_Barrier | 1000 begin | 9000 end | 9000 leave
        0 | 9010 enter MPI_Recv | 9050 receive from 1 tag 0 bytes 1 | 9060 leave
        1 | 1500 enter MPI_Barrier | 1500 begin | 2000 end | 2000 leave
        1 | 2100 enter MPI_Send | 2100 send to 0 tag 0 bytes 1 | 2200 leave
    """)

    moved, _ = corrected(trace, rows_of_trace(trace), 0)

    assert moved is trace


def test_a_late_stamp_moves_what_came_before_but_no_send_behind_its_receive():
    trace = trace_of("""
        ranks 2
        0 | 0 enter main | 5000 enter MPI_Send | 5100 send to 1 tag 0 bytes 1 | 5200 leave
        0 | 9000 leave
        1 | 0 enter main | 1000 enter MPI_Recv | 1100 receive from 0 tag 0 bytes 1 | 1200 leave
        1 | 9000 leave
    """)

    moved, moved_ns = corrected(trace, rows_of_trace(trace), 0)

    assert moved_ns == 4000
    receive = moved.calls.to_pylist()[1]
    assert (receive["operation"], receive["enter_ns"]) == ("MPI_Recv", 5000)
    assert receive["leave_ns"] == 5200


def test_a_burst_ends_where_the_call_after_it_begins_among_jumps_at_one_time():
    trace = trace_of("""
        ranks 3
        0 | 900 enter MPI_Recv | 901 receive from 1 tag 9 bytes 1 | 902 leave
        0 | 5000 enter MPI_Send | 5000 send to 1 tag 0 bytes 1 | 5000 leave
        0 | 6000 enter MPI_Send | 6000 send to 1 tag 1 bytes 1 | 6000 leave
        1 | 900 enter MPI_Send | 901 send to 0 tag 9 bytes 1 | 902 leave
        1 | 1000 enter MPI_Recv | 1000 receive from 0 tag 0 bytes 1 | 1000 leave
        1 | 1000 enter MPI_Send | 1000 send to 2 tag 0 bytes 1 | 1000 leave
        1 | 1000 enter MPI_Recv | 1000 receive from 0 tag 1 bytes 1 | 1000 leave
        2 | 900 enter MPI_Recv | 5000 receive from 1 tag 0 bytes 1 | 5000 leave
    """)

    moved, _ = corrected(trace, rows_of_trace(trace), 0)

    enter, leave = moved.arrays("calls", "enter_ns", "leave_ns")
    assert leave[4:7].tolist() == [5000, 5000, 6000]
    location, end = moved.arrays("bursts", "location", "end_ns")
    assert end[location == 1][0] == enter[4] == 5000


def totals(waits, names=WAITS):
    stored = waits.profile.stored
    return {name: int(waits.profile.total(name)) for name in names if name in stored}


@pytest.mark.parametrize("name", ["ring", "two_nodes", "threads", "hybrid"])
@pytest.mark.parametrize("seed", range(6))
def test_waits_of_a_skewed_recording_are_those_of_the_true_one(name, seed):
    trace = burstline.read(RECORDINGS / name)
    true = totals(burstline.wait_states(trace), PLANNED)
    false = skewed(trace, *clocks(trace, seed))

    waits = burstline.wait_states(false, correct=True)

    # A barrier of two ranks is all that some of these have: it may show no violation.
    assert waits.corrected["violations"] > 0 or name == "hybrid"
    assert waits.corrected["moved_ns"] >= waits.corrected["worst_ns"]
    assert waits.corrected["moved_ns"] > 0
    assert sum(totals(waits, PLANNED).values()) == pytest.approx(sum(true.values()), rel=0.05)
    assert burstline.wait_states(false).corrected == {**waits.corrected, "moved_ns": 0}


@pytest.mark.parametrize("seed", range(2))
def test_each_planned_wait_of_a_skewed_run_is_that_of_the_true_one(real_traces, seed):
    trace = burstline.read(real_traces / "toy_waits_4.prv.gz")
    true = totals(burstline.wait_states(trace), PLANNED)

    waits = burstline.wait_states(skewed(trace, *clocks(trace, seed)), correct=True)

    assert len(true) == len(PLANNED)
    assert totals(waits, PLANNED) == pytest.approx(true, rel=0.05)


@pytest.mark.parametrize("name", ["lulesh_omp_8r2t_s4_i5", "npb_mg_S_8r"])
def test_no_violation_is_left_in_real_traces(real_traces, name):
    trace = burstline.read(real_traces / f"{name}.prv.gz")
    assert violations(rows_of_trace(trace)).count == 0
    false = skewed(trace, *clocks(trace, 0))
    rows = rows_of_trace(false)

    moved, _ = corrected(false, rows)

    assert violations(rows).count > 0
    assert violations(rows_of_trace(moved)).count == 0


def test_columns_that_do_not_fit_are_refused():
    begin, one = np.array([0, 1]), np.array([5])
    rows = begin, *(np.array([-1], np.int32) for _ in range(2)), np.zeros(0, np.int32)

    assert _core.source_times(rows, one).tolist() == [np.iinfo(np.int64).min]
    for broken in (
        (np.array([0, 2]), *rows[1:]),
        (rows[0], np.array([0], np.int32), *rows[2:]),
        (*rows[:3], np.array([0], np.int32)),
        (*rows[:3], np.array([-1, 0, 0], np.int32)),
    ):
        with pytest.raises(ValueError, match=r"source|locations"):
            _core.replay(broken, [(one, np.zeros(0, np.int64), 0)])
    for short in (np.zeros(0, np.int64), np.zeros(2, np.int64)):
        with pytest.raises(ValueError, match="row"):
            _core.replay(rows, [(short, np.zeros(0, np.int64), 0)])
        with pytest.raises(ValueError, match="row"):
            _core.amortised(rows, np.array([0]), one, short, 0, 10)
    for order in (np.array([1]), np.zeros(0, np.int64)):
        with pytest.raises(ValueError, match="row"):
            _core.amortised(rows, order, one, one, 0, 10)
