"""OpenMP records of raw files become rows of a trace, and events of a Paraver file."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline.clocks import readings_of
from burstline.columns import enclosing
from burstline.formats.raw.events.openmp import Op
from raw_files import Run, column, defects, record, stack
from table_cells import cells

LOOP, BARRIER, IMPLICIT, CRITICAL, LOCK, ADDRESS = 1, 1, 2, 2, 1, 0x7F00DEADBEE8


def omp(time, op, team=1, b=0, c=0):
    return record(57, op=op, time=time, a=team, b=b, c=c)


def high(kind, low=0):
    return kind << 32 | low


def critical(asked, taken, let):
    return [
        omp(asked, Op.LOCK_REQUEST, b=ADDRESS, c=high(CRITICAL)),
        omp(taken, Op.LOCK_ACQUIRED, b=ADDRESS, c=high(CRITICAL)),
        omp(let, Op.LOCK_RELEASED, b=ADDRESS, c=high(CRITICAL)),
    ]


def member(number, *inside, begin=20, end=80):
    return [
        omp(begin, Op.TEAM_BEGIN, b=number, c=2),
        omp(begin + 2, Op.WORK_BEGIN, b=10, c=high(LOOP)),
        omp(begin + 8, Op.WORK_END, b=5, c=high(LOOP, 1)),
        *inside,
        omp(50, Op.SYNC_BEGIN, b=IMPLICIT),
        omp(end - 1, Op.SYNC_END, b=IMPLICIT),
        omp(end, Op.TEAM_END, b=number),
    ]


def hybrid(ranks=2):
    """Make a run in which each rank forks one team of two threads, between two barriers."""
    run = Run(ranks)
    for rank in range(ranks):
        main, worker = run[rank], run.thread(rank, 1)
        main.call("MPI_Init", 1, 5)
        main.add(stack(3, (0, 16)))
        main.add(omp(15, Op.FORK, b=2, c=3))
        main.add(*member(0, *critical(31, 32, 36)))
        main.add(omp(85, Op.JOIN))
        main.call("MPI_Finalize", 90, 95)
        # woken for the end only when all is over
        worker.add(*member(1, *critical(33, 36, 41), begin=22, end=99))
    return run.end(100)


def described(trace):
    roles = column(trace, "region_defs", "role")
    names = ("location", "region", "enter_ns", "leave_ns", "parent", "team", "barrier_ordinal")
    rows = zip(*(column(trace, "regions", name) for name in names), strict=True)
    return [(where, roles[region], *rest) for where, region, *rest in rows]


def test_constructs_know_where_in_the_program_they_are(tmp_path):
    trace = hybrid().read(tmp_path)

    roles = column(trace, "region_defs", "role")
    paths = column(trace, "regions", "call_path")
    known = {
        roles[region]: path is not None
        for region, path in zip(column(trace, "regions", "region"), paths, strict=True)
    }
    assert known["parallel"]
    assert not known["loop"]


def test_what_is_still_open_at_the_end_ends_there(tmp_path):
    run = Run(1)
    run[0].call("MPI_Init", 1, 5).add(omp(10, Op.FORK), omp(11, Op.TEAM_BEGIN))
    run[0].add(omp(12, Op.SYNC_BEGIN, b=BARRIER), record(50, time=30, a=1, b=2))

    trace = run.read(tmp_path)

    assert [row[3] for row in described(trace)] == [29, 29, 29]
    assert column(trace, "regions", "parent") == [None, 0, 1]
    assert cells(trace.teams, "join_ns threads") == "29 1"
    assert defects(trace)["team_never_joined"] == 1
    leaves = column(trace, "regions", "leave_seq")
    assert leaves == sorted(leaves, reverse=True)


def test_a_thread_whose_records_end_before_the_join_left_its_regions_with_them(tmp_path):
    run = Run(1)
    run[0].call("MPI_Init", 1, 5).add(omp(15, Op.FORK, b=2), *member(0), omp(85, Op.JOIN))
    run[0].end(100)
    worker = [omp(22, Op.TEAM_BEGIN, b=1, c=2), omp(50, Op.SYNC_BEGIN, b=IMPLICIT)]
    run.thread(0, 1).add(*worker)

    trace = run.read(tmp_path)

    assert column(trace, "locations", "died_ns") == [99, 49]
    assert [row[3] for row in described(trace) if row[0] == 1] == [49, 49]
    assert column(trace, "regions", "parent")[-2:] == [None, 0]
    burstline.write(trace, tmp_path / "out.csv")
    assert burstline.read(tmp_path / "out.csv").regions.equals(trace.regions)


def test_a_paraver_file_gives_the_same_regions_teams_and_locks_back(tmp_path):
    trace = hybrid().read(tmp_path)
    burstline.write(trace, tmp_path / "out.prv")
    back = burstline.read(tmp_path / "out.prv")

    assert described(back) == described(trace)
    for table in ("teams", "locks"):
        for name in trace.table(table).column_names:
            if not name.endswith("_seq"):
                assert column(back, table, name) == column(trace, table, name)
    bursts = [column(one, "bursts", "start_ns") for one in (back, trace)]
    assert bursts[0] == bursts[1]
    names = [sorted(column(one, "region_defs", "name")) for one in (back, trace)]
    assert names[0] == names[1]


def test_states_tell_forks_waits_and_idle_threads(tmp_path):
    burstline.write(hybrid(1).read(tmp_path), tmp_path / "out.prv")

    back = burstline.read(tmp_path / "out.prv")

    names = ("location", "begin_ns", "end_ns", "state")
    found = list(zip(*(column(back, "states", name) for name in names), strict=True))
    assert [row[1:] for row in found if row[0] == 1] == [
        *((0, 21, 2), (21, 32, 1), (32, 35, 5), (35, 49, 1), (49, 84, 5), (84, 98, 0)),
    ]
    master = [row[1:] for row in found if row[0] == 0]
    assert [row for row in master if row[2] == 7] == [(14, 19, 7), (79, 84, 7)]
    assert [row for row in master if row[2] == 5] == [(30, 31, 5), (49, 78, 5)]


def around(enter, leave):
    """Find the last one entered that is still open, one after the other."""
    return [
        max((k for k in range(place) if leave[k] >= enter[place]), default=-1)
        for place in range(len(enter))
    ]


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 40)), max_size=40))
def test_what_lies_around_an_interval_is_the_last_entered_that_is_open(steps):
    enter = np.cumsum([gap for gap, _ in steps], dtype=np.int64)
    leave = enter + np.array([length for _, length in steps], np.int64)

    assert enclosing(enter, leave).tolist() == around(enter.tolist(), leave.tolist())


def test_a_team_inside_another_has_it_as_parent(tmp_path):
    run = Run(2)
    for rank in range(2):
        run[rank].call("MPI_Init", 1, 5).add(omp(10, Op.FORK), omp(11, Op.FORK, 2, c=high(1)))
        run[rank].add(omp(20, Op.JOIN, 2), omp(21, Op.JOIN))

    trace = run.end(30).read(tmp_path)

    assert column(trace, "teams", "parent") == [None, 0, None, 2]


def test_locks_inside_each_other_come_back_from_a_paraver_file(tmp_path):
    run = Run(1)
    run[0].call("MPI_Init", 1, 5)
    for time, op, lock in (
        *((10, Op.LOCK_REQUEST, 7), (11, Op.LOCK_ACQUIRED, 7)),
        *((12, Op.LOCK_REQUEST, 8), (13, Op.LOCK_ACQUIRED, 8)),
        *((14, Op.LOCK_RELEASED, 8), (15, Op.LOCK_RELEASED, 7)),
    ):
        run[0].add(omp(time, op, 0, b=lock, c=high(LOCK)))
    trace = run.end(30).read(tmp_path)
    burstline.write(trace, tmp_path / "out.prv")
    back = burstline.read(tmp_path / "out.prv")

    assert described(back) == described(trace)
    assert [row[:4] for row in described(trace)] == [(0, "lock", 9, 14), (0, "lock", 11, 13)]
    for name in ("lock", "order", "acquire_ns", "release_ns"):
        assert column(back, "locks", name) == column(trace, "locks", name)


def test_the_release_of_a_critical_section_is_its_leave_in_a_paraver_file_too(tmp_path):
    trace = hybrid().read(tmp_path)
    burstline.write(trace, tmp_path / "out.prv")
    back = burstline.read(tmp_path / "out.prv")

    ends = [(row["location"], row["leave_seq"]) for row in back.regions.to_pylist()]
    releases = [(row["location"], row["release_seq"]) for row in back.locks.to_pylist()]
    assert len(releases) == 4
    assert set(releases) <= set(ends)
    events = [np.diff(readings_of(each).begin).tolist() for each in (trace, back)]
    assert events[0] == events[1]
