"""OpenMP records of a process on their way to regions, teams and locks.

::

    records of each thread ──pairs──► regions ──join──► cut at the end of their team
                           └─locks──► regions, acquisitions

What the records are and how they map is said in ``record/native/omp.h``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline.columns import begins_run, distinct, match_borders, ordinal_within
from burstline.schema import NO_VALUE, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from burstline.columns import Integers, Mask

    Table = dict[str, Integers]

ROLES: Final = (
    "parallel",
    "team",
    "loop",
    "sections",
    "single",
    "master",
    "call",
    "barrier",
    "implicit_barrier",
    "taskwait",
    "taskgroup",
    "lock",
    "critical",
    "atomic",
    "ordered",
    "taskloop",
    "task",
)
"""Roles of regions, as in the column `role`; also their names."""

_OTHER: Final = ROLES.index("call")
_LOOP: Final = ROLES.index("loop")
_BARRIERS: Final = (ROLES.index("barrier"), ROLES.index("implicit_barrier"))
_TASKLOOP: Final = ROLES.index("taskloop")
WORK_ROLES: Final = np.array([_OTHER, 2, 3, 4, 4, 5, _OTHER, _TASKLOOP])
SYNC_ROLES: Final = np.array([_OTHER, 7, 8, 9, 10])
LOCK_ROLES: Final = np.array([_OTHER, 11, 12, 13, 14])
"""Roles of the regions of work, synchronisation and locks, by kind; see ``omp.h``."""

_LOW: Final = (1 << 32) - 1
_MOST: Final = 1 << 48


class Op(IntEnum):
    """What a record says; the numbers of ``omp.h``."""

    FORK = 1
    JOIN = 2
    TEAM_BEGIN = 3
    TEAM_END = 4
    WORK_BEGIN = 5
    WORK_END = 6
    SYNC_BEGIN = 7
    SYNC_END = 8
    LOCK_REQUEST = 9
    LOCK_ACQUIRED = 10
    LOCK_RELEASED = 11
    TASK_BEGIN = 12
    TASK_END = 13


_BEGINS: Final = np.array(
    [Op.FORK, Op.TEAM_BEGIN, Op.WORK_BEGIN, Op.SYNC_BEGIN, Op.TASK_BEGIN], np.int64
)
_ENDS: Final = _BEGINS + 1
_INSIDE_TEAM: Final = _BEGINS[1:]


@dataclass(frozen=True, slots=True, eq=False)
class OpenMp:
    """What the threads of a process did in OpenMP; columns of int64 by name."""

    # (regions,) by thread and begin: ``thread``; ``begin`` and ``end``, positions in its
    # records, end -1 where that was not recorded; ``enter_ns, leave_ns``; ``role``, a place in
    # :data:`ROLES`; ``stack``, 0 unknown; ``team``, a row of `teams` or -1;
    # ``barrier_ordinal``, -1 for what is no barrier of a team; ``iterations`` of the thread,
    # the smallest int64 where they are unknown
    regions: Table
    # (teams,) by fork: ``number`` in the process; ``parent``, a row or -1; ``thread`` that
    # forked; ``fork, join``, positions in its records, join -1 where that was not recorded;
    # ``fork_ns, join_ns``; ``threads``; ``stack``, 0 unknown
    teams: Table
    # (acquisitions,) by thread and acquisition: ``thread, lock``; ``acquire, release``,
    # positions in its records, release -1 without one; ``acquire_ns, release_ns``, the smallest
    # int64 without one
    locks: Table


def decode(threads: Sequence[npt.NDArray[Any]]) -> OpenMp:
    """Make regions, teams and locks of the OpenMP records of one process.

    An end without its begin is dropped. A region of a team that was told to end after its
    team's join, or not at all, ends at the join; without a join, at the last record of its
    thread. O(records log records).
    """
    records = _gathered(threads)
    teams = _teams(records)
    numbers = _Numbers(teams)
    begin, end = _pairs(records)
    asked, got, taken, released = _locks(records)
    begin, end = np.append(begin, asked), np.append(end, got)
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], end[order]
    role = _roles(records, begin)
    team = numbers.row(records["a"][begin])
    own = records["op"][begin] != Op.TEAM_BEGIN
    stack = np.where(own, records["c"][begin], _of_team(teams["stack"], team)) & _LOW
    regions = {
        "thread": records["thread"][begin],
        "begin": records["at"][begin],
        "end": np.where(end >= 0, records["at"][end], UNKNOWN),
        "enter_ns": records["time"][begin],
        "leave_ns": _leaves(records, begin, end, _of_team(teams["join_ns"], team)),
        "role": role,
        "stack": stack,
        "team": team,
        "barrier_ordinal": _ordinals(
            records["thread"][begin], team, np.isin(role, _BARRIERS) & (team >= 0)
        ),
        "iterations": _iterations(records, begin, end, role, team),
    }
    locks = {
        "thread": records["thread"][taken],
        "lock": records["b"][taken],
        "acquire": records["at"][taken],
        "acquire_ns": records["time"][taken],
        "release": np.where(released >= 0, records["at"][released], UNKNOWN),
        "release_ns": np.where(released >= 0, records["time"][released], NO_VALUE),
    }
    return OpenMp(regions, teams, locks)


def _gathered(threads: Sequence[npt.NDArray[Any]]) -> Table:
    """Put the records of all threads behind each other, as int64."""
    sizes = [len(records) for records in threads]
    columns = {
        name: np.concatenate(
            [np.zeros(0, np.int64), *(records[name].astype(np.int64) for records in threads)]
        )
        for name in ("time", "op", "a", "b", "c")
    }
    columns["thread"] = np.repeat(np.arange(len(sizes)), sizes)
    columns["at"] = np.concatenate([np.zeros(0, np.int64), *map(np.arange, sizes)])
    return columns


class _Numbers:
    """Rows of teams by their number in the process."""

    def __init__(self, teams: Table) -> None:
        self._order = np.argsort(teams["number"], kind="stable")
        self._sorted = teams["number"][self._order]

    def row(self, number: Integers) -> Integers:
        if not len(self._sorted):
            return np.full(len(number), UNKNOWN, np.int64)
        at = np.minimum(np.searchsorted(self._sorted, number), len(self._sorted) - 1)
        return np.where(self._sorted[at] == number, self._order[at], UNKNOWN)


def _teams(records: Table) -> Table:
    fork = np.flatnonzero(records["op"] == Op.FORK)
    fork = fork[np.unique(records["a"][fork], return_index=True)[1]]
    fork = fork[np.lexsort((records["a"][fork], records["time"][fork]))]
    number = records["a"][fork]
    teams = {"number": number, "thread": records["thread"][fork]}
    numbers = _Numbers(teams)
    joins = np.flatnonzero(records["op"] == Op.JOIN)
    of = numbers.row(records["a"][joins])
    joins, of = joins[of >= 0], of[of >= 0]
    own = records["thread"][joins] == teams["thread"][of]
    join = np.full(len(fork), UNKNOWN, np.int64)
    join[of[own]] = joins[own]
    join = np.where(join > fork, join, UNKNOWN)
    begun = np.flatnonzero(records["op"] == Op.TEAM_BEGIN)
    member = numbers.row(records["a"][begun])
    begun, member = begun[member >= 0], member[member >= 0]
    threads = np.zeros(len(fork), np.int64)
    np.maximum.at(threads, member, np.clip(records["c"][begun], 1, _LOW))
    parent = numbers.row(records["c"][fork] >> 32)
    return teams | {
        "parent": np.where(parent < np.arange(len(fork)), parent, UNKNOWN),
        "fork": records["at"][fork],
        "fork_ns": records["time"][fork],
        "join": np.where(join >= 0, records["at"][join], UNKNOWN),
        "join_ns": np.where(join >= 0, records["time"][join], NO_VALUE),
        "threads": threads,
        "stack": records["c"][fork] & _LOW,
    }


def _pairs(records: Table) -> tuple[Integers, Integers]:
    """The begins of all that is no lock, and the end of each or -1."""
    rows = np.flatnonzero(np.isin(records["op"], np.append(_BEGINS, _ENDS)))
    op = records["op"][rows]
    begins = np.isin(op, _BEGINS)
    # a team is in one construct of a kind at a time, but its tasks are many
    which = np.where(op >= Op.TASK_BEGIN, records["b"][rows], records["a"][rows])
    _, what = distinct(records["thread"][rows], op - ~begins, which)
    partner = match_borders(what, begins)[begins]
    return rows[begins], np.where(partner >= 0, rows[partner], UNKNOWN)


def _locks(records: Table) -> tuple[Integers, Integers, Integers, Integers]:
    """Requests that were granted and the releases, acquisitions and the releases, or -1.

    A request of a lock that the thread has already, or a test that failed, is not followed
    by an acquisition.
    """
    rows = np.flatnonzero(
        (records["op"] >= Op.LOCK_REQUEST) & (records["op"] <= Op.LOCK_RELEASED)
    )
    rows = rows[np.lexsort((rows, records["b"][rows], records["thread"][rows]))]
    op = records["op"][rows]
    same = np.zeros(len(rows), bool)
    same[1:] = (np.diff(records["b"][rows]) == 0) & (np.diff(records["thread"][rows]) == 0)
    taken = np.flatnonzero(op == Op.LOCK_ACQUIRED)
    asked = taken[same[taken] & (op[taken - 1] == Op.LOCK_REQUEST)] - 1
    of = np.searchsorted(taken, np.arange(len(rows)), "right") - 1
    lock = np.cumsum(~same)
    let = np.flatnonzero((op == Op.LOCK_RELEASED) & (of >= 0))[::-1]
    let = let[lock[let] == lock[taken[of[let]]]] if len(taken) else let[:0]
    released = np.full(len(taken), UNKNOWN, np.int64)
    released[of[let]] = rows[let]  # the first of several comes last
    order = np.argsort(rows[taken], kind="stable")
    ends = released[np.searchsorted(taken, asked + 1)]
    return rows[asked], ends, rows[taken][order], released[order]


def _roles(records: Table, begin: Integers) -> Integers:
    op, high = records["op"][begin], records["c"][begin] >> 32
    role = np.full(len(begin), ROLES.index("parallel"), np.int64)
    role[op == Op.TEAM_BEGIN] = ROLES.index("team")
    role[op == Op.TASK_BEGIN] = ROLES.index("task")
    for which, kind, roles in (
        (Op.WORK_BEGIN, high, WORK_ROLES),
        (Op.SYNC_BEGIN, records["b"][begin], SYNC_ROLES),
        (Op.LOCK_REQUEST, high, LOCK_ROLES),
    ):
        rows = op == which
        known = np.where((kind > 0) & (kind < len(roles)), kind, 0)
        role[rows] = roles[known[rows]]
    return role


def _of_team(column: Integers, team: Integers) -> Integers:
    """A column of the team of each row, the smallest int64 where that is unknown."""
    if not len(column):
        return np.full(len(team), NO_VALUE)
    return np.where(team >= 0, column[team], NO_VALUE)


def _leaves(records: Table, begin: Integers, end: Integers, join: Integers) -> Integers:
    last = np.full(int(records["thread"].max(initial=-1)) + 1, NO_VALUE)
    np.maximum.at(last, records["thread"], records["time"])
    enter = records["time"][begin]
    leave = np.where(end >= 0, records["time"][end], last[records["thread"][begin]])
    cut = np.isin(records["op"][begin], _INSIDE_TEAM)
    cut &= (join != NO_VALUE) & ((join < leave) | (end < 0))
    return np.maximum(np.where(cut, join, leave), enter)


def _ordinals(thread: Integers, team: Integers, counted: Mask) -> Integers:
    """The ordinal of each row that counts within its thread and team; -1 of the others."""
    ordinal = np.full(len(thread), UNKNOWN, np.int64)
    ordinal[counted] = ordinal_within(team[counted], thread[counted])
    return ordinal


def _iterations(
    records: Table, begin: Integers, end: Integers, role: Integers, team: Integers
) -> Integers:
    work = (records["op"][begin] == Op.WORK_BEGIN) & (end >= 0)
    own = np.where(work, records["b"][end], NO_VALUE)
    own[(own < 0) | (own > _MOST)] = NO_VALUE
    loops = (role == _LOOP) & (team >= 0)
    ordinal = _ordinals(records["thread"][begin], team, loops)
    rows = np.flatnonzero(loops & (own != NO_VALUE) & (own > 0))
    rows = rows[np.lexsort((rows, ordinal[rows], team[rows]))]
    if not len(rows):
        return own
    first = begins_run(team[rows], ordinal[rows])
    starts = np.flatnonzero(first)
    group = np.cumsum(first) - 1
    members = np.bincount(group)
    chunk, total = own[rows][starts], records["b"][begin[rows]][starts]
    single = (records["c"][end[rows]] & _LOW == 1) & (own[rows] == chunk[group])
    single &= records["b"][begin[rows]] == total[group]
    sizes, position = _members_of(records, begin[rows], team[rows])
    complete = np.logical_and.reduceat(single & (sizes == members[group]), starts)
    told = chunk * members
    turns = complete & (told < total) & (total < _MOST) & (members > 1)
    rounds, rest = np.divmod(np.where(turns, total, 0), np.maximum(told, 1))
    share = rounds[group] * chunk[group]
    share += np.clip(rest[group] - position * chunk[group], 0, chunk[group])
    own[rows[turns[group]]] = share[turns[group]]
    return own


def _members_of(records: Table, at: Integers, team: Integers) -> tuple[Integers, Integers]:
    """The size of the team around each record, and the number of its thread in it."""
    begun = np.flatnonzero(records["op"] == Op.TEAM_BEGIN)
    keys = records["thread"][begun] << 32 | records["a"][begun]
    order = np.argsort(keys, kind="stable")
    wanted = records["thread"][at] << 32 | records["a"][at]
    if not len(begun):
        return np.zeros(len(team), np.int64), np.zeros(len(team), np.int64)
    place = np.minimum(np.searchsorted(keys[order], wanted), len(begun) - 1)
    found = begun[order[place]]
    known = keys[order[place]] == wanted
    size = np.where(known, records["c"][found], 0)
    return size, np.clip(records["b"][found], 0, np.maximum(size - 1, 0))
