"""OpenMP records become regions, teams and locks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstline.formats.raw.events.openmp import ROLES, Op, decode
from burstline.model import NO_VALUE

FIELDS = [("time", "<u8"), ("op", "<u2"), ("a", "<u4"), ("b", "<u8"), ("c", "<u8")]
LOOP, BARRIER, IMPLICIT, LOCK, CRITICAL = 1, 1, 2, 1, 2


def thread(*records):
    """Give records as the reader does: (time, op, a, b, c)."""
    filled = [(*one, *(0,) * (5 - len(one))) for one in records]
    return np.array([tuple(int(x) & (2**64 - 1) for x in one) for one in filled], FIELDS)


def high(kind, low=0):
    return kind << 32 | low


def team(number, threads, *, begin=10, end=90, inside=()):
    return [(begin, Op.TEAM_BEGIN, 1, number, threads), *inside, (end, Op.TEAM_END, 1, number)]


def loop(total, own, chunks=1):
    return [
        (20, Op.WORK_BEGIN, 1, total, high(LOOP, 7)),
        (30, Op.WORK_END, 1, own, high(LOOP, chunks)),
    ]


def rows(found, role):
    mine = found.regions["role"] == ROLES.index(role)
    return {name: column[mine].tolist() for name, column in found.regions.items()}


def forked(*inside_of):
    """Give the threads of one team, from 5 to 95."""
    count = len(inside_of)
    each = [team(number, count, inside=inside) for number, inside in enumerate(inside_of)]
    each[0] = [(5, Op.FORK, 1, count, 3), *each[0], (95, Op.JOIN, 1)]
    return [thread(*one) for one in each]


def test_nothing_and_an_end_without_its_begin_give_nothing():
    ends = thread((1, Op.SYNC_END, 1, 1), (2, Op.JOIN, 1), (3, Op.WORK_END, 1))
    for threads in ([], [thread()], [thread(), thread()], [ends]):
        found = decode(threads)
        for table in (found.regions, found.teams, found.locks):
            assert not any(len(column) for column in table.values())


def test_a_team_has_a_region_for_its_fork_and_one_for_each_thread():
    found = decode(forked([], []))

    assert {name: column.tolist() for name, column in found.teams.items()} == {
        "number": [1], "thread": [0], "parent": [-1], "fork": [0], "fork_ns": [5],
        "join": [3], "join_ns": [95], "threads": [2], "stack": [3],
    }  # fmt: skip
    assert rows(found, "parallel")["stack"] == [3]
    assert rows(found, "team")["stack"] == [3, 3]
    assert rows(found, "team")["thread"] == [0, 1]
    assert rows(found, "team")["leave_ns"] == [90, 90]


def test_what_is_told_after_the_join_ended_with_it():
    master, worker = forked([], [(50, Op.SYNC_BEGIN, 1, IMPLICIT), (500, Op.SYNC_END, 1, 2)])
    worker["time"][-1] = 510
    found = decode([master, worker])

    assert rows(found, "implicit_barrier")["leave_ns"] == [95]
    assert rows(found, "team")["leave_ns"] == [90, 95]
    assert rows(found, "team")["end"] == [2, 3]


def test_what_is_never_told_ended_with_the_join_or_the_thread():
    master, worker = forked([], [(50, Op.SYNC_BEGIN, 1, BARRIER)])
    assert rows(decode([master, worker[:-1]]), "barrier")["leave_ns"] == [95]

    found = decode([master[:-1], worker[:-1]])
    assert rows(found, "barrier")["leave_ns"] == [50]
    assert rows(found, "barrier")["end"] == [-1]
    assert found.teams["join_ns"].tolist() == [NO_VALUE]


@pytest.mark.parametrize(
    ("loops", "iterations"),
    [
        ([loop(10, 6), loop(10, 4)], [6, 4]),
        ([loop(10, -1)] * 2, [NO_VALUE] * 2),
        ([loop(37, 2)] * 4, [10, 10, 9, 8]),
        ([loop(37, 2, chunks=2), loop(37, 2)], [2, 2]),
    ],
    ids=["of the thread", "not told", "equal chunks, given out in turns", "left early"],
)
def test_iterations_are_those_of_the_thread(loops, iterations):
    found = rows(decode(forked(*loops)), "loop")

    assert found["iterations"] == iterations
    assert found["stack"] == [7] * len(loops)


def test_a_lock_has_a_region_from_its_request_to_its_release():
    records = thread(
        (1, Op.LOCK_REQUEST, 0, 77, high(LOCK, 5)),
        (2, Op.LOCK_REQUEST, 0, 88, high(CRITICAL, 6)),
        (4, Op.LOCK_ACQUIRED, 0, 88, high(CRITICAL)),
        (5, Op.LOCK_ACQUIRED, 0, 77, high(LOCK)),
        (9, Op.LOCK_RELEASED, 0, 88, high(CRITICAL)),
    )
    found = decode([records])

    assert rows(found, "lock")["end"] == [-1]
    assert rows(found, "critical")["enter_ns"] == [2]
    assert rows(found, "critical")["leave_ns"] == [9]
    assert rows(found, "critical")["end"] == [4]
    assert found.locks["lock"].tolist() == [88, 77]
    assert found.locks["acquire_ns"].tolist() == [4, 5]
    assert found.locks["release_ns"].tolist() == [9, NO_VALUE]


def test_a_test_of_a_lock_that_failed_leaves_nothing():
    failed = (1, Op.LOCK_REQUEST, 0, 77, high(LOCK))
    found = decode([thread(failed, failed), thread((3, Op.LOCK_ACQUIRED, 0, 77))])

    assert not len(found.regions["thread"])
    assert len(found.locks["lock"]) == 1


def test_a_lock_that_the_thread_has_already_is_taken_and_let_go_once():
    asked, taken, let = Op.LOCK_REQUEST, Op.LOCK_ACQUIRED, Op.LOCK_RELEASED
    steps = [(1, asked), (2, taken), (3, asked), (7, let), (8, asked), (9, taken), (10, let)]
    found = decode([thread(*((time, op, 0, 77, high(LOCK)) for time, op in steps))])

    assert rows(found, "lock")["enter_ns"] == [1, 8]
    assert rows(found, "lock")["leave_ns"] == [7, 10]
    assert found.locks["acquire_ns"].tolist() == [2, 9]
    assert found.locks["release_ns"].tolist() == [7, 10]


def test_a_release_belongs_to_the_lock_that_was_acquired():
    taken, let = (1, Op.LOCK_ACQUIRED, 0, 77), (3, Op.LOCK_RELEASED, 0, 88)
    found = decode([thread(taken, let), thread((2, Op.LOCK_RELEASED, 0, 77))])

    assert found.locks["release_ns"].tolist() == [NO_VALUE]


def test_a_task_that_waits_has_others_inside():
    found = decode(
        forked(
            [
                (20, Op.TASK_BEGIN, 1, 5, 7),
                (21, Op.TASK_BEGIN, 1, 6, 8),
                (25, Op.TASK_END, 1, 6),
                (29, Op.TASK_END, 1, 5),
            ],
            [(22, Op.TASK_BEGIN, 1, 9, 8), (23, Op.TASK_END, 1, 4)],
        )
    )

    assert rows(found, "task")["enter_ns"] == [20, 21, 22]
    assert rows(found, "task")["leave_ns"] == [29, 25, 95]
    assert rows(found, "task")["stack"] == [7, 8, 8]


def test_a_team_forked_inside_another_has_it_as_parent():
    inner = [(40, Op.FORK, 2, 1, high(1)), (50, Op.JOIN, 2)]
    found = decode(forked(inner, []))

    assert found.teams["parent"].tolist() == [-1, 0]


FIELD = st.one_of(st.integers(0, 4), st.integers(0, 2**64 - 1))
RECORDS = st.lists(
    st.tuples(st.integers(0, 15), st.integers(0, 3), FIELD, st.one_of(FIELD, st.just(high(1)))),
    max_size=25,
)


@given(st.lists(RECORDS, max_size=4))
def test_whatever_is_recorded_regions_lie_in_their_team_and_end_after_they_begin(lists):
    threads = [
        thread(*((time, *fields) for time, fields in enumerate(records))) for records in lists
    ]
    found = decode(threads)
    regions, teams = found.regions, found.teams

    assert (regions["leave_ns"] >= regions["enter_ns"]).all()
    assert (regions["team"] < len(teams["number"])).all()
    assert (regions["begin"] < np.array([len(one) for one in threads] or [0]).max()).all()
    ended = regions["end"] >= 0
    assert (regions["end"][ended] > regions["begin"][ended]).all()
    known = regions["iterations"] != NO_VALUE
    assert (regions["iterations"][known] >= 0).all()
