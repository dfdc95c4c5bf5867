"""OpenMP records of a process on their way to regions, teams and locks.

::

    records of each thread ──pairs──► regions ──join──► cut at the end of their team
                           └─locks──► regions, acquisitions
    ──► regions of each location, rows of `teams` and `locks`

What the records are and how they map is said in ``record/native/omp.h``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import (
    Integers,
    Mask,
    begins_run,
    concatenated,
    distinct,
    lookup,
    match_borders,
    ordinal_within,
    placed,
    prefix_sums,
    row_of,
    take,
)
from burstline.extrae import RECORDED_REGIONS
from burstline.formats.intake import Defects
from burstline.formats.raw.events.timeline import ThreadTimeline
from burstline.formats.raw.files.layout import Kind
from burstline.model import NO_VALUE, UNKNOWN, arrow_schema, arrow_table

Table = dict[str, Integers]

ROLES: Final = (
    "parallel", "team", "loop", "sections", "single", "master", "call", "barrier",
    "implicit_barrier", "taskwait", "taskgroup", "lock", "critical", "atomic", "ordered",
    "taskloop", "task",
)  # fmt: skip
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
    """Regions, teams and locks of the OpenMP records of one process; O(records log records)."""
    records = _joined_threads(threads)
    teams = _team_columns(records)
    begin, end = _begins_and_ends(records)
    asked, got, taken, released = _lock_steps(records)
    begin, end = np.append(begin, asked), np.append(end, got)
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], end[order]
    role = _region_roles(records, begin)
    team = row_of(teams["number"], records["a"][begin])
    own = records["op"][begin] != Op.TEAM_BEGIN
    stack = np.where(own, records["c"][begin], take(teams["stack"], team, NO_VALUE)) & _LOW
    regions = {
        "thread": records["thread"][begin],
        "begin": records["at"][begin],
        "end": take(records["at"], end),
        "enter_ns": records["time"][begin],
        "leave_ns": _leave_times(records, begin, end, take(teams["join_ns"], team, NO_VALUE)),
        "role": role,
        "stack": stack,
        "team": team,
        "barrier_ordinal": _ordinals_in_team(
            records["thread"][begin], team, np.isin(role, _BARRIERS) & (team >= 0)
        ),
        "iterations": _loop_iterations(records, begin, end, role, team),
    }
    locks = {
        "thread": records["thread"][taken],
        "lock": records["b"][taken],
        "acquire": records["at"][taken],
        "acquire_ns": records["time"][taken],
        "release": take(records["at"], released),
        "release_ns": take(records["time"], released, NO_VALUE),
    }
    return OpenMp(regions, teams, locks)


def _joined_threads(threads: Sequence[npt.NDArray[Any]]) -> Table:
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


def _team_columns(records: Table) -> Table:
    fork = np.flatnonzero(records["op"] == Op.FORK)
    fork = fork[np.unique(records["a"][fork], return_index=True)[1]]
    fork = fork[np.lexsort((records["a"][fork], records["time"][fork]))]
    number = records["a"][fork]
    thread = records["thread"][fork]
    joins = np.flatnonzero(records["op"] == Op.JOIN)
    team = row_of(number, records["a"][joins])
    by_forker = (team >= 0) & (records["thread"][joins] == take(thread, team))
    join = placed(joins[by_forker], team[by_forker], len(fork), UNKNOWN)
    join = np.where(join > fork, join, UNKNOWN)
    begun = np.flatnonzero(records["op"] == Op.TEAM_BEGIN)
    member = row_of(number, records["a"][begun])
    begun, member = begun[member >= 0], member[member >= 0]
    threads = np.zeros(len(fork), np.int64)
    np.maximum.at(threads, member, np.clip(records["c"][begun], 1, _LOW))
    parent = row_of(number, records["c"][fork] >> 32)
    return {
        "number": number,
        "thread": thread,
        "parent": np.where(parent < np.arange(len(fork)), parent, UNKNOWN),
        "fork": records["at"][fork],
        "fork_ns": records["time"][fork],
        "join": take(records["at"], join),
        "join_ns": take(records["time"], join, NO_VALUE),
        "threads": threads,
        "stack": records["c"][fork] & _LOW,
    }


def _begins_and_ends(records: Table) -> tuple[Integers, Integers]:
    """The begins of all that is no lock, and the end of each or -1."""
    rows = np.flatnonzero(np.isin(records["op"], np.append(_BEGINS, _ENDS)))
    op = records["op"][rows]
    begins = np.isin(op, _BEGINS)
    # a team is in one construct of a kind at a time, but its tasks are many
    which = np.where(op >= Op.TASK_BEGIN, records["b"][rows], records["a"][rows])
    _, what = distinct(records["thread"][rows], op - ~begins, which)
    partner = match_borders(what, begins)[begins]
    return rows[begins], take(rows, partner)


def _lock_steps(records: Table) -> tuple[Integers, Integers, Integers, Integers]:
    """Requests that were granted and the releases, acquisitions and the releases, or -1."""
    rows = np.flatnonzero(
        (records["op"] >= Op.LOCK_REQUEST) & (records["op"] <= Op.LOCK_RELEASED)
    )
    rows = rows[np.lexsort((rows, records["b"][rows], records["thread"][rows]))]
    op = records["op"][rows]
    same = np.zeros(len(rows), bool)
    same[1:] = (np.diff(records["b"][rows]) == 0) & (np.diff(records["thread"][rows]) == 0)
    taken = np.flatnonzero(op == Op.LOCK_ACQUIRED)
    # no acquisition follows a test that failed, or a request of what the thread has already
    is_asked = same[taken] & (op[taken - 1] == Op.LOCK_REQUEST)
    of = np.searchsorted(taken, np.arange(len(rows)), "right") - 1
    lock = np.cumsum(~same)
    let = np.flatnonzero((op == Op.LOCK_RELEASED) & (of >= 0))[::-1]
    let = let[lock[let] == lock[taken[of[let]]]] if len(taken) else let[:0]
    # the first of several comes last
    released = placed(rows[let], of[let], len(taken), UNKNOWN)
    order = np.argsort(rows[taken], kind="stable")
    asked = rows[taken[is_asked] - 1]
    return asked, released[is_asked], rows[taken][order], released[order]


def _region_roles(records: Table, begin: Integers) -> Integers:
    op, high = records["op"][begin], records["c"][begin] >> 32
    role = np.where(op == Op.TEAM_BEGIN, ROLES.index("team"), ROLES.index("parallel"))
    role[op == Op.TASK_BEGIN] = ROLES.index("task")
    for which, kind, roles in (
        (Op.WORK_BEGIN, high, WORK_ROLES),
        (Op.SYNC_BEGIN, records["b"][begin], SYNC_ROLES),
        (Op.LOCK_REQUEST, high, LOCK_ROLES),
    ):
        rows = op == which
        place = np.where((kind > 0) & (kind < len(roles)), kind, 0)
        role[rows] = roles[place[rows]]
    return role


def _leave_times(records: Table, begin: Integers, end: Integers, join: Integers) -> Integers:
    last = np.full(int(records["thread"].max(initial=-1)) + 1, NO_VALUE)
    np.maximum.at(last, records["thread"], records["time"])
    enter = records["time"][begin]
    leave = np.where(end >= 0, records["time"][end], last[records["thread"][begin]])
    cut = np.isin(records["op"][begin], _INSIDE_TEAM)
    # no region of a team goes on behind its join; without one, to the thread's last record
    cut &= (join != NO_VALUE) & ((join < leave) | (end < 0))
    return np.maximum(np.where(cut, join, leave), enter)


def _ordinals_in_team(thread: Integers, team: Integers, counted: Mask) -> Integers:
    """The ordinal of each row that counts within its thread and team; -1 of the others."""
    ordinal = ordinal_within(team[counted], thread[counted])
    return placed(ordinal, counted, len(thread), UNKNOWN)


def _loop_iterations(
    records: Table, begin: Integers, end: Integers, role: Integers, team: Integers
) -> Integers:
    work = (records["op"][begin] == Op.WORK_BEGIN) & (end >= 0)
    own = np.where(work, records["b"][end], NO_VALUE)
    own[(own < 0) | (own > _MOST)] = NO_VALUE
    loops = (role == _LOOP) & (team >= 0)
    ordinal = _ordinals_in_team(records["thread"][begin], team, loops)
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
    sizes, position = _members_of(records, begin[rows])
    complete = np.logical_and.reduceat(single & (sizes == members[group]), starts)
    told = chunk * members
    turns = complete & (told < total) & (total < _MOST) & (members > 1)
    rounds, rest = np.divmod(np.where(turns, total, 0), np.maximum(told, 1))
    share = rounds[group] * chunk[group]
    share += np.clip(rest[group] - position * chunk[group], 0, chunk[group])
    own[rows[turns[group]]] = share[turns[group]]
    return own


def _members_of(records: Table, at: Integers) -> tuple[Integers, Integers]:
    """The size of the team around each record, and the number of its thread in it."""
    keys = records["thread"] << 32 | records["a"]
    begun = np.flatnonzero(records["op"] == Op.TEAM_BEGIN)
    begin = take(begun, row_of(keys[begun], keys[at]))
    size = take(records["c"], begin, 0)
    return size, np.clip(take(records["b"], begin, 0), 0, np.maximum(size - 1, 0))


class OpenMpRows:
    """The teams and locks of all processes, and the regions of one."""

    def __init__(self, defects: Defects) -> None:
        self._defects = defects
        self._lines: list[ThreadTimeline] = []
        self._paths: Mapping[int, int] = {}
        self._teams: list[Table] = []
        self._locks: list[Table] = []
        self._team_count = 0

    def add(self, line: ThreadTimeline, paths: Mapping[int, int]) -> None:
        """Take in the records of a location; stacks of its process are given their rows."""
        self._lines.append(line.only(Kind.OMP))
        self._paths = paths

    def end_process(self, process: int) -> list[Table]:
        """The columns of `regions` by location; regions are places in `RECORDED_REGIONS`."""
        lines, self._lines = self._lines, []
        if not any(len(line.kind) for line in lines):
            return []
        threads = [np.array(line.records) for line in lines]
        for line, records in zip(lines, threads, strict=True):
            records["time"] = line.time_ns
        decoded = decode(threads)
        regions = [self._regions(line, decoded, n) for n, line in enumerate(lines)]
        self._add_teams(process, lines, decoded.teams)
        self._add_locks(lines, decoded.locks)
        self._team_count += len(decoded.teams["number"])
        return regions

    def _regions(self, line: ThreadTimeline, decoded: OpenMp, thread: int) -> Table:
        rows = np.flatnonzero(decoded.regions["thread"] == thread)
        regions = {name: column[rows] for name, column in decoded.regions.items()}
        role, end, team = regions["role"], regions["end"], regions["team"]
        joined = take(decoded.teams["join"], team) >= 0
        endless = (end < 0) & ~(joined & ~np.isin(role, LOCK_ROLES))
        # A join that other threads saw may be behind the last record of this one.
        leave_ns = np.where(endless, line.died_ns, regions["leave_ns"])
        leave_ns = np.minimum(leave_ns, line.died_ns)
        # An end that was not recorded has the last event before it, or none at the very end.
        before = np.searchsorted(line.time_ns, leave_ns, "right") - 1
        otherwise = np.where(before == len(line.seq) - 1, UNKNOWN, line.seq[before])
        return {
            "region": _PLACES[role],
            "enter_ns": regions["enter_ns"],
            "leave_ns": leave_ns,
            "enter_seq": line.seq[regions["begin"]],
            "leave_seq": np.where(end >= 0, line.seq[end], otherwise),
            "call_path": lookup(regions["stack"], self._paths).astype(np.int64),
            "team": np.where(team >= 0, team + self._team_count, UNKNOWN),
            "barrier_ordinal": regions["barrier_ordinal"],
            "iterations": regions["iterations"],
        }

    def _add_teams(self, process: int, lines: Sequence[ThreadTimeline], teams: Table) -> None:
        thread, parent, count = teams["thread"], teams["parent"], len(teams["number"])
        location, died_ns, last_seq = (
            np.array([getattr(line, name) for line in lines])[thread]
            for name in ("location", "died_ns", "last_seq")
        )
        join_ns, join_seq = teams["join_ns"], _seq_at(lines, teams, "join")
        open_ = teams["join"] < 0
        if open_.any():
            first = f"location {location[open_].min()}"
            self._defects.note("team_never_joined", "info", first, np.count_nonzero(open_))
        self._teams.append(
            {
                "team": np.arange(self._team_count, self._team_count + count),
                "process": np.full(count, process),
                "parent": np.where(parent >= 0, parent + self._team_count, UNKNOWN),
                "fork_location": location,
                "fork_ns": teams["fork_ns"],
                "fork_seq": _seq_at(lines, teams, "fork"),
                "join_ns": np.where(open_, died_ns, join_ns),
                "join_seq": np.where(open_, last_seq + 1, join_seq),
                "threads": np.maximum(teams["threads"], 1),
            }
        )

    def _add_locks(self, lines: Sequence[ThreadTimeline], locks: Table) -> None:
        lock, acquire_ns = locks["lock"], locks["acquire_ns"]
        by_time = np.lexsort((np.arange(len(lock)), acquire_ns, lock))
        self._locks.append(
            {
                "location": np.array([line.location for line in lines])[locks["thread"]],
                "lock": lock,
                "order": ordinal_within(lock, order=by_time) + 1,
                "acquire_ns": acquire_ns,
                "acquire_seq": _seq_at(lines, locks, "acquire"),
                "release_ns": locks["release_ns"],
                "release_seq": _seq_at(lines, locks, "release"),
            }
        )

    def teams(self) -> pa.Table:
        """The table `teams`."""
        return arrow_table("teams", concatenated(arrow_schema("teams").names, self._teams))

    def locks(self) -> pa.Table:
        """The table `locks`."""
        return arrow_table("locks", concatenated(arrow_schema("locks").names, self._locks))


_PLACES: Final = np.array([list(RECORDED_REGIONS).index(role) for role in ROLES])


def _seq_at(lines: Sequence[ThreadTimeline], table: Table, name: str) -> Integers:
    """The ordinal of the event at a position of each row's thread, or the missing value."""
    first = prefix_sums(np.array([len(line.seq) for line in lines]))
    row = np.where(table[name] >= 0, first[table["thread"]] + table[name], UNKNOWN)
    return take(np.concatenate([line.seq for line in lines]), row, NO_VALUE)
