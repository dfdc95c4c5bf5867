"""Where time is spent, by call path and by kind: computing, waiting, transferring.

Computing between two calls is in no call path of its own: samples tell the functions that it is
in. The time of each thread at a place is divided like the samples that were taken there. A
place without one keeps its name: *computing up to* the call that ends it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from burstline.columns import UNKNOWN, Integers, Mask, distinct, take, to_numpy
from burstline.identity import read_stacks
from burstline.model import Trace
from burstline.timeline.kinds import KINDS, Kind
from burstline.timeline.lines import WAITING
from burstline.timeline.result import Timeline
from burstline.timeline.sums import piece_at
from burstline.values import SHARE, TIME, Column, Contract, Documented, Table

_Stack = list[tuple[str, str | None, int | None]]
"""Functions with their files and lines, the outermost first."""
_NO_FRAME: Final = "measurement"
"""The paradigm of what stands above the program."""
_PROGRAM: Final = "program"
_LEFT_OUT: Final = (Kind.ENDS, Kind.NOT_RECORDED)
_TRANSFERRING: Final = tuple(
    kind for kind in Kind if kind not in (Kind.COMPUTING, *WAITING, *_LEFT_OUT)
)
_LEAST: Final = 0.005
"""Of all time: what takes less is told in no table."""


class StackFrame(NamedTuple):
    """A function on a call path; `line` is the one in it that most time is spent at."""

    parent: int  # the row of the frame that calls it, -1 of the program
    function: str
    file: str | None
    line: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Flame(Documented):
    """The time of a run by call path and by kind.

    Attributes
    ----------
    frames : tuple of StackFrame
        Each behind the one that calls it; the first is the program.
    times_ns : ndarray of int64, shape (frames, kinds)
        How long threads are in each of :data:`KINDS` there, without what it calls.
    rate_hz : float or None
        Samples for each second of computing, of the threads that have some; None without one.
    sampled_ns : int
        Computing that samples told the functions of.
    """

    frames: tuple[StackFrame, ...]
    times_ns: Integers
    rate_hz: float | None
    sampled_ns: int

    CONTRACT: ClassVar[Contract] = (
        ("frames", lambda self: [*self.stacks()]),
        *("rate_hz", "sampled_ns"),
    )

    def __repr__(self) -> str:
        return f"<Flame: {len(self.frames)} frames, {self.times_ns.sum():,} ns>"

    def path(self, row: int) -> list[str]:
        """The functions from the program's first one to a frame."""
        names = []
        while row > 0:
            names.append(self.frames[row].function)
            row = self.frames[row].parent
        return names[::-1]

    def stacks(self) -> Iterator[dict[str, Any]]:
        """Each call path that time is spent in, and how much of what."""
        for row in np.flatnonzero(self.times_ns.any(axis=1)).tolist():
            frame = self.frames[row]
            yield {
                "path": self.path(row),
                "file": frame.file,
                "line": frame.line,
                **_by_sort(self.times_ns[row]),
            }

    def with_callees_ns(self) -> Integers:
        """How long each kind is there and in what it calls, ns, shape (frames, kinds)."""
        sums: Integers = self.times_ns.copy()
        for row in range(len(self.frames) - 1, 0, -1):
            sums[self.frames[row].parent] += sums[row]
        return sums

    def tables(self) -> list[Table]:
        """The tree of frames, most time first, without those that take little."""
        sums = self.with_callees_ns()
        total = sums.sum(axis=1)
        whole = max(int(total[0]), 1)
        below: dict[int, list[int]] = {}
        for row in np.argsort(-total, kind="stable").tolist():
            if total[row] >= _LEAST * whole:
                below.setdefault(self.frames[row].parent, []).append(row)
        rows, depths, waiting = [], [], [(row, 0) for row in below.get(0, [])[::-1]]
        while waiting:
            row, depth = waiting.pop()
            frame = self.frames[row]
            parts = _by_sort(sums[row])
            shares = [value / whole if value else None for value in parts.values()]
            cells = frame.function, _place(frame), int(total[row]), total[row] / whole
            rows.append([*cells, *shares])
            depths.append(depth)
            waiting += [(each, depth + 1) for each in below.get(row, [])[::-1]]
        share = SHARE.or_nothing()
        columns = (
            Column("function"), Column("place"), Column("time", TIME), Column("share", share),
            Column("computing", share), Column("waiting", share), Column("rest of calls", share),
        )  # fmt: skip
        title = "Time by call path, with what it calls: share of the time of all threads"
        return [Table(columns, rows, title, left=2, depths=depths, spare=("place",))]


def _place(frame: StackFrame) -> str:
    """Where a frame is, unless its name says so."""
    if frame.file is None or frame.function.endswith(f"@{frame.file}:{frame.line}"):
        return ""
    return frame.file if frame.line is None else f"{frame.file}:{frame.line}"


def _by_sort(times_ns: Integers) -> dict[str, int]:
    return {
        "computing_ns": int(times_ns[Kind.COMPUTING]),
        "waiting_ns": int(times_ns[[*WAITING]].sum()),
        "transferring_ns": int(times_ns[[*_TRANSFERRING]].sum()),
    }


@dataclass(slots=True)
class _Growing:
    """Frames as they are found, with times by kind, and by line of the source."""

    frames: list[tuple[int, str, str | None]] = field(default_factory=list)
    times: list[Integers] = field(default_factory=list)
    lines: list[dict[int | None, int]] = field(default_factory=list)
    callees: dict[tuple[int, str], list[int]] = field(default_factory=dict)

    def below(self, parent: int, function: str, file: str | None) -> int:
        """The frame of a function that another one calls, made if there is none.

        Where one of two stacks does not say the file of a function, it is the same one.
        """
        rows = self.callees.setdefault((parent, function), [])
        for row in rows:
            known = self.frames[row][2]
            if known is None or file is None or known == file:
                self.frames[row] = parent, function, known or file
                return row
        rows.append(len(self.frames))
        self.frames.append((parent, function, file))
        self.times.append(np.zeros(len(KINDS), np.int64))
        self.lines.append({})
        return rows[-1]

    def add(self, stack: _Stack, kind: int, time_ns: int) -> None:
        """Count time at the end of a call path."""
        row = 0
        for function, file, line in stack:
            row = self.below(row, function, file)
            self.lines[row][line] = self.lines[row].get(line, 0) + time_ns
        self.times[row][kind] += time_ns

    def flame(self, rate_hz: float | None, sampled_ns: int) -> Flame:
        """All of them, each with the line that most time is spent at."""
        frames = tuple(
            StackFrame(*frame, max(lines, key=lines.__getitem__, default=None))
            for frame, lines in zip(self.frames, self.lines, strict=True)
        )
        return Flame(frames, np.stack(self.times), rate_hz, sampled_ns)


def flame_of(trace: Trace, line: Timeline) -> Flame:
    """The time of a run by call path and kind, as its timeline and its samples tell.

    It is that of :attr:`Timeline.baseline_ns` without what nobody recorded and without
    MPI_Init and MPI_Finalize; streams of accelerators are left out. O(pieces + samples).
    """
    pieces, paths = _pieces_of(line), _paths_of(line)
    seen = _stacks_seen(trace, line, pieces, paths)
    found = _Growing()
    found.below(-1, _PROGRAM, None)
    place = pieces.places(line)
    is_divided = (pieces.kind == Kind.COMPUTING) & np.isin(place, [*seen])
    for key, time_ns in _sums(pieces.length, is_divided, place):
        for stack, part_ns in _divided(seen[key], time_ns):
            found.add(stack, Kind.COMPUTING, part_ns)
    is_whole = ~is_divided & (pieces.length > 0)
    for path, kind, time_ns in _sums(pieces.length, is_whole, pieces.path, pieces.kind):
        found.add(paths[path], kind, time_ns)
    is_sampled = np.isin(pieces.location, trace.arrays("samples", "location")[0])
    computing_ns = int(pieces.length[is_sampled & (pieces.kind == Kind.COMPUTING)].sum())
    rate_hz = 1e9 * trace.rows("samples") / computing_ns if computing_ns else None
    return found.flame(rate_hz, int(pieces.length[is_divided].sum()))


class _Pieces(NamedTuple):
    """Pieces of a timeline; those that are not told have no length."""

    location: Integers
    path: Integers
    kind: Integers
    length: Integers

    def places(self, line: Timeline) -> Integers:
        """The call path and the location of each as one number."""
        return self.path * line.locations.num_rows + self.location


def _pieces_of(line: Timeline) -> _Pieces:
    location, kind = (
        to_numpy(line.pieces[name]).astype(np.int64) for name in ("location", "kind")
    )
    start, end = (
        np.clip(to_numpy(line.pieces[name]), *line.baseline_ns)
        for name in ("start_ns", "end_ns")
    )
    is_cpu = np.array([each == "cpu" for each in line.locations["kind"].to_pylist()], bool)
    is_told = is_cpu[location] & ~np.isin(kind, _LEFT_OUT)
    path = line.pieces["call_path"].fill_null(UNKNOWN).to_numpy().astype(np.int64)
    return _Pieces(location, path, kind, np.where(is_told, end - start, 0))


def _sums(length: Integers, chosen: Mask, *keys: Integers) -> Iterator[tuple[int, ...]]:
    """Each combination of keys among chosen pieces, with the sum of their lengths."""
    columns = [key[chosen] for key in keys]
    first, group = distinct(*columns)
    sums = np.zeros(len(first), np.int64)
    np.add.at(sums, group, length[chosen])
    yield from zip(*(column[first].tolist() for column in columns), sums.tolist(), strict=True)


def _paths_of(line: Timeline) -> dict[int, _Stack]:
    """The frames of each call path of the profile, the outermost first; none of none."""
    paths: dict[int, _Stack] = {UNKNOWN: []}
    for row, node in enumerate(line.waits.profile.call_paths.to_pylist()):
        above = paths[UNKNOWN if node["parent"] is None else node["parent"]]
        file = None if node["paradigm"] == "mpi" else node["file"]
        frame = node["function"], file, node["begin_line"] if file else None
        paths[row] = above if node["paradigm"] == _NO_FRAME else [*above, frame]
    return paths


def _stacks_seen(
    trace: Trace, line: Timeline, pieces: _Pieces, paths: Mapping[int, _Stack]
) -> dict[int, list[tuple[_Stack, int]]]:
    """The stacks that samples saw at places of computing, each with its periods of the timer.

    By place and location, as :meth:`_Pieces.places` has them.
    """
    if not trace.rows("samples"):
        return {}
    location, time_ns, periods, call_path = trace.arrays(
        "samples", "location", "time_ns", "periods", "call_path"
    )
    piece = piece_at(line, location, np.clip(time_ns, line.first_ns, line.last_ns))
    is_computing = (pieces.kind[piece] == Kind.COMPUTING) & (pieces.length[piece] > 0)
    seen = np.flatnonzero(is_computing & np.isin(pieces.path[piece], [*line.waits.places.ends]))
    stacks, nodes, _ = read_stacks(trace.call_paths, set(call_path[seen].tolist()))
    place = pieces.places(line)[piece[seen]]
    node = take(np.array(nodes, np.int64), call_path[seen])
    known = np.flatnonzero(node >= 0)
    first, group = distinct(place[known], node[known])
    sums = np.zeros(len(first), np.int64)
    np.add.at(sums, group, periods[seen[known]])
    found: dict[int, list[tuple[_Stack, int]]] = {}
    columns = (each[known][first].tolist() for each in (place, node, pieces.path[piece[seen]]))
    for key, end, path, count in zip(*columns, sums.tolist(), strict=True):
        frames = [stacks.frames[each] for each in stacks.chain(end)]
        stack = [(each.function, each.file, each.line) for each in frames]
        above = paths[path][:-1] if stacks.is_cut[end] else []
        found.setdefault(key, []).append(([*above, *stack], count))
    return found


def _divided(seen: Sequence[tuple[_Stack, int]], time_ns: int) -> Iterator[tuple[_Stack, int]]:
    """A time as parts of each stack, by its periods; nothing of it is lost."""
    whole, before, given = sum(count for _, count in seen), 0, 0
    for stack, count in seen:
        before += count
        until = time_ns * before // whole
        yield stack, until - given
        given = until
