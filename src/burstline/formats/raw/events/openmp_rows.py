"""What the threads of a process did in OpenMP, as rows of the tables of a trace.

::

    records of each thread, by the common clock ──decode──► regions, teams, locks of a process
    ──► spans of each location, rows of `teams` and `locks`

The types and values of regions are those of Extrae's newer library for GNU's runtime: the
only ones that tell teams, their forks and both kinds of barriers apart.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline.columns import lookup
from burstline.extrae import RECORDED_REGIONS
from burstline.formats.raw.events.openmp import LOCK_ROLES, ROLES, decode
from burstline.formats.raw.files.layout import Kind
from burstline.schema import NO_VALUE, UNKNOWN, arrow_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    import pyarrow as pa

    from burstline.columns import Integers
    from burstline.formats.intake import Defects
    from burstline.formats.raw.events.openmp import OpenMp
    from burstline.formats.raw.events.timeline import Timeline

    Table = dict[str, Integers]

_FIELDS: Final = [("time", "<i8"), ("op", "<u2"), ("a", "<u4"), ("b", "<u8"), ("c", "<u8")]
_TEAMS: Final = (
    "team",
    "process",
    "parent",
    "fork_location",
    "fork_ns",
    "fork_seq",
    "join_ns",
    "join_seq",
    "threads",
)
_LOCKS: Final = (
    "location",
    "lock",
    "order",
    "acquire_ns",
    "acquire_seq",
    "release_ns",
    "release_seq",
)


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """Regions of one location, in any order."""

    what: Integers  # (regions,) what each is
    # (regions,) its borders; ``leave_seq`` is -1 where the leave was not recorded
    enter_ns: Integers
    leave_ns: Integers
    enter_seq: Integers
    leave_seq: Integers
    # (regions,) as in the table
    call_path: Integers
    team: Integers
    barrier_ordinal: Integers
    iterations: Integers

    def __len__(self) -> int:
        return len(self.what)

    def picked(self, rows: npt.NDArray[Any]) -> Spans:
        """Some of the regions."""
        return Spans(*(getattr(self, field.name)[rows] for field in fields(self)))

    def joined(self, other: Spans) -> Spans:
        """These regions and others."""
        names = [field.name for field in fields(self)]
        return Spans(
            *(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names)
        )

    def named(self, what: npt.NDArray[np.int32]) -> Spans:
        """The same regions under other numbers."""
        rest = [getattr(self, field.name) for field in fields(self)[1:]]
        return Spans(what.astype(np.int64), *rest)


@dataclass(slots=True, eq=False)
class _Thread:
    """The OpenMP records of a location, and what their numbers mean."""

    location: int
    records: npt.NDArray[Any]
    seq: Integers
    paths: Mapping[int, int]
    died_ns: int
    last_seq: int

    def left(self, position: Integers, leave_ns: Integers) -> Integers:
        """The ordinal of recorded ends; of others the last event before, or -1."""
        if not len(self.seq):
            return np.full(len(position), UNKNOWN, np.int64)
        before = np.searchsorted(self.records["time"], leave_ns, "right") - 1
        is_last = before == len(self.seq) - 1
        otherwise = np.where(is_last, UNKNOWN, self.seq[before])
        return np.where(position >= 0, self.seq[position], otherwise)


class OpenMpRows:
    """The teams and locks of all processes, and the regions of one."""

    def __init__(self, defects: Defects) -> None:
        self._defects = defects
        self._threads: list[_Thread] = []
        self._teams: list[Integers] = []
        self._locks: list[Integers] = []
        self._team_count = 0

    def add(self, line: Timeline, paths: Mapping[int, int]) -> None:
        """Take in the records of a location; stacks of its process are given their rows."""
        at = line.of(Kind.OMP)
        records = np.zeros(len(at), _FIELDS)
        for name in ("op", "a", "b", "c"):
            records[name] = line.records[name][at]
        records["time"] = line.time_ns[at]
        self._threads.append(
            _Thread(line.location, records, line.seq[at], paths, line.died_ns, line.last_seq)
        )

    def end_process(self, process: int) -> list[Spans]:
        """The regions of each location of a process; none if it has no OpenMP.

        What a region is, is a place in :data:`RECORDED_REGIONS`.
        """
        threads, self._threads = self._threads, []
        if not any(len(thread.records) for thread in threads):
            return []
        found = decode([thread.records for thread in threads])
        spans = [self._spans(thread, found, number) for number, thread in enumerate(threads)]
        self._add_teams(process, threads, found)
        self._add_locks(threads, found.locks)
        self._team_count += len(found.teams["number"])
        return spans

    def _spans(self, thread: _Thread, found: OpenMp, number: int) -> Spans:
        rows = np.flatnonzero(found.regions["thread"] == number)
        mine = {name: column[rows] for name, column in found.regions.items()}
        team = mine["team"]
        joined = np.append(found.teams["join"] >= 0, False)[team]
        endless = (mine["end"] < 0) & ~(joined & ~np.isin(mine["role"], LOCK_ROLES))
        leave_ns = np.where(endless, thread.died_ns, mine["leave_ns"])
        return Spans(
            what=_PLACES[mine["role"]],
            enter_ns=mine["enter_ns"],
            leave_ns=leave_ns,
            enter_seq=thread.seq[mine["begin"]],
            leave_seq=thread.left(mine["end"], leave_ns),
            call_path=lookup(mine["stack"], thread.paths).astype(np.int64),
            team=np.where(team >= 0, team + self._team_count, UNKNOWN),
            barrier_ordinal=mine["barrier_ordinal"],
            iterations=mine["iterations"],
        )

    def _add_teams(self, process: int, threads: list[_Thread], found: OpenMp) -> None:
        teams = found.teams
        count = len(teams["number"])
        columns = np.full((len(_TEAMS), count), UNKNOWN, np.int64)
        columns[0] = np.arange(self._team_count, self._team_count + count)
        columns[1] = process
        parent = teams["parent"]
        columns[2] = np.where(parent >= 0, parent + self._team_count, UNKNOWN)
        for number, thread in enumerate(threads):
            rows = np.flatnonzero(teams["thread"] == number)
            joined = teams["join"][rows] >= 0
            columns[3, rows] = thread.location
            columns[4, rows] = teams["fork_ns"][rows]
            columns[5, rows] = thread.seq[teams["fork"][rows]]
            columns[6, rows] = np.where(joined, teams["join_ns"][rows], thread.died_ns)
            columns[7, rows] = np.where(
                joined, thread.seq[teams["join"][rows]], thread.last_seq + 1
            )
            lost = np.count_nonzero(~joined)
            first = f"location {thread.location}"
            self._defects.note("team_never_joined", "info", first, lost)
        columns[8] = np.maximum(teams["threads"], 1)
        self._teams.append(columns)

    def _add_locks(self, threads: list[_Thread], locks: Table) -> None:
        count = len(locks["lock"])
        columns = np.full((len(_LOCKS), count), NO_VALUE, np.int64)
        columns[1] = locks["lock"]
        columns[2] = _order(locks["lock"], locks["acquire_ns"])
        columns[3], columns[5] = locks["acquire_ns"], locks["release_ns"]
        for number, thread in enumerate(threads):
            rows = np.flatnonzero(locks["thread"] == number)
            released = rows[locks["release"][rows] >= 0]
            columns[0, rows] = thread.location
            columns[4, rows] = thread.seq[locks["acquire"][rows]]
            columns[6, released] = thread.seq[locks["release"][released]]
        self._locks.append(columns)

    def teams(self) -> pa.Table:
        """The table `teams`."""
        return _table("teams", _TEAMS, self._teams)

    def locks(self) -> pa.Table:
        """The table `locks`."""
        return _table("locks", _LOCKS, self._locks)


_PLACES: Final = np.array([list(RECORDED_REGIONS).index(role) for role in ROLES])


def _order(lock: Integers, acquire_ns: Integers) -> Integers:
    """Count the acquisitions of each lock, from 1."""
    rows = np.lexsort((np.arange(len(lock)), acquire_ns, lock))
    first = np.searchsorted(lock[rows], lock[rows])
    order = np.empty(len(lock), np.int64)
    order[rows] = np.arange(1, len(lock) + 1) - first
    return order


def _table(name: str, columns: tuple[str, ...], parts: list[Integers]) -> pa.Table:
    values = np.concatenate([np.zeros((len(columns), 0), np.int64), *parts], axis=1)
    return arrow_table(name, dict(zip(columns, values, strict=True)))
