"""Where time is spent, by call path and by kind: computing, waiting, transferring.

Computing between two calls is in no call path of its own: samples tell the functions that it is
in. The time of each thread at a place is divided like the samples that were taken there. A
place without one keeps its name: *computing up to* the call that ends it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from burstline.columns import UNKNOWN, Integers, distinct, sums_by, take, to_numpy
from burstline.identity import Frame, Stacks, read_stacks
from burstline.model import Trace
from burstline.timeline.kinds import KINDS, Kind
from burstline.timeline.lines import WAITING
from burstline.timeline.result import Timeline
from burstline.timeline.sums import piece_at
from burstline.values import SHARE, TIME, Column, Contract, Documented, Table

_NO_FRAME: Final = "measurement"
"""The paradigm of what stands above the program."""
_PROGRAM: Final = "program"
_LEFT_OUT: Final = (Kind.ENDS, Kind.NOT_RECORDED)
_TRANSFERRING: Final = tuple(
    kind for kind in Kind if kind not in (Kind.COMPUTING, *WAITING, *_LEFT_OUT)
)
_LEAST: Final = 0.005
"""Of all time: what takes less is told in no table."""
_MOST_TOLD: Final = 200
"""Functions of a path: all paths of a recursion would take the square of its depth."""
_MORE: Final = "…"
_DEEPEST: Final = 60
"""Levels of a tree that are told: the indents of all would take the square, too."""


class StackFrame(NamedTuple):
    """A function on a call path; `line` is the one in it that most time is spent at."""

    parent: int  # the row of the frame that calls it, -1 of the program
    function: str
    file: str | None
    line: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Flame(Documented):
    """The time of a run by call path and by kind."""

    # each behind the one that calls it; the first is the program
    frames: tuple[StackFrame, ...]
    # (frames, kinds): how long threads are in each of :data:`KINDS` there, not in what it calls
    times_ns: Integers
    # samples for each second of computing, of the threads that have some; None without one
    rate_hz: float | None
    sampled_ns: int  # computing that samples told the functions of

    CONTRACT: ClassVar[Contract] = (
        ("frames", lambda self: [*self.stacks()]),
        *("rate_hz", "sampled_ns"),
    )

    def __repr__(self) -> str:
        return f"<Flame: {len(self.frames)} frames, {self.times_ns.sum():,} ns>"

    def path(self, row: int) -> list[str]:
        """The functions from the program's first one to a frame; of many the last ones."""
        names: list[str] = []
        while row > 0 and len(names) < _MOST_TOLD:
            names.append(self.frames[row].function)
            row = self.frames[row].parent
        return [*([_MORE] if row > 0 else []), *names[::-1]]

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
            if depth < _DEEPEST:
                waiting += [(each, depth + 1) for each in below.get(row, [])[::-1]]
        share = SHARE.or_nothing()
        columns = (
            Column("function"), Column("place"), Column("time", TIME), Column("share", share),
            Column("computing", share), Column("waiting", share),
            Column("rest of calls", share),
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
class _PlaceTree:
    """Places of the program as a tree, each behind the one above it, and the time in each."""

    above: list[int] = field(default_factory=lambda: [UNKNOWN])
    frames: list[Frame] = field(default_factory=lambda: [Frame(_PROGRAM, None, None)])
    times: list[tuple[int, int, int]] = field(default_factory=list)  # place, kind, ns

    def below(self, above: int, frame: Frame) -> int:
        """A new place."""
        self.above.append(above)
        self.frames.append(frame)
        return len(self.above) - 1

    def flame(self, rate_hz: float | None, sampled_ns: int) -> Flame:
        """Places as frames: those of one function, called by the same one, are one frame."""
        where, kind, time_ns = np.array(self.times, np.int64).reshape(-1, 3).T
        times = sums_by((where, kind), time_ns, (len(self.above), len(KINDS)))
        whole = times.sum(axis=1)
        for place in range(len(whole) - 1, 0, -1):
            whole[self.above[place]] += whole[place]
        found, frame_of = _Functions(), [0] * len(whole)
        for place, (above, frame) in enumerate(zip(self.above, self.frames, strict=True)):
            row = found.below(UNKNOWN if above < 0 else frame_of[above], frame)
            found.lines[row][frame.line] += int(whole[place])
            frame_of[place] = row
        sums = sums_by(np.array(frame_of), times, (len(found.frames), len(KINDS)))
        return Flame(found.told(), sums, rate_hz, sampled_ns)


@dataclass(slots=True)
class _Functions:
    """Functions as they are found, each behind the one that calls it."""

    frames: list[tuple[int, str, str | None]] = field(default_factory=list)
    lines: list[Counter[int | None]] = field(default_factory=list)  # ns at each
    callees: dict[tuple[int, str], list[int]] = field(default_factory=dict)

    def below(self, parent: int, frame: Frame) -> int:
        """The row of a function that another one calls, made if there is none.

        Where one of two stacks does not say the file of a function, it is the same one.
        """
        rows = self.callees.setdefault((parent, frame.function), [])
        for row in rows:
            known = self.frames[row][2]
            if known is None or frame.file is None or known == frame.file:
                self.frames[row] = parent, frame.function, known or frame.file
                return row
        rows.append(len(self.frames))
        self.frames.append((parent, frame.function, frame.file))
        self.lines.append(Counter())
        return rows[-1]

    def told(self) -> tuple[StackFrame, ...]:
        """All of them, each with the line that most time is spent at."""
        return tuple(
            StackFrame(*frame, max(lines, key=lines.__getitem__))
            for frame, lines in zip(self.frames, self.lines, strict=True)
        )


def flame_of(trace: Trace, line: Timeline) -> Flame:
    """The time of a run by call path and kind, as its timeline and its samples tell.

    It is that of :attr:`Timeline.baseline_ns` without what nobody recorded and without
    MPI_Init and MPI_Finalize; streams of accelerators are left out. O(pieces + samples).
    """
    pieces, places = _pieces_of(line), _PlaceTree()
    of_path = _places_of(line, places)
    seen = _stacks_seen(trace, line, pieces, places, of_path)
    where = pieces.places(line)
    is_divided = (pieces.kind == Kind.COMPUTING) & np.isin(where, [*seen])
    for key, time_ns in _sums(pieces.length[is_divided], where[is_divided]):
        places.times += _divided(seen[key], time_ns)
    whole = _Pieces(*(column[~is_divided & (pieces.length > 0)] for column in pieces))
    for path, kind, time_ns in _sums(whole.length, whole.path, whole.kind):
        places.times.append((of_path[path], kind, time_ns))
    is_sampled = np.isin(pieces.location, trace.arrays("samples", "location")[0])
    computing_ns = int(pieces.length[is_sampled & (pieces.kind == Kind.COMPUTING)].sum())
    rate_hz = 1e9 * trace.rows("samples") / computing_ns if computing_ns else None
    return places.flame(rate_hz, int(pieces.length[is_divided].sum()))


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


def _sums(values: Integers, *keys: Integers) -> Iterator[tuple[int, ...]]:
    """Each combination of keys, with the sum of its values."""
    first, group = distinct(*keys)
    sums = sums_by(group, values, len(first))
    yield from zip(*(key[first].tolist() for key in keys), sums.tolist(), strict=True)


def _places_of(line: Timeline, places: _PlaceTree) -> dict[int, int]:
    """The place of each call path of the profile; the program itself of none."""
    found = {UNKNOWN: 0}
    for row, node in enumerate(line.waits.profile.call_paths.to_pylist()):
        above = found[UNKNOWN if node["parent"] is None else node["parent"]]
        file = None if node["paradigm"] == "mpi" else node["file"]
        frame = Frame(node["function"], file, node["begin_line"] if file else None)
        # Functions that samples saw are in their stacks.
        is_none = node["paradigm"] == _NO_FRAME or row in line.waits.places.placed
        found[row] = above if is_none else places.below(above, frame)
    return found


def _stacks_seen(
    trace: Trace,
    line: Timeline,
    pieces: _Pieces,
    places: _PlaceTree,
    of_path: Mapping[int, int],
) -> dict[int, list[tuple[int, int]]]:
    """Where samples saw computing, by :meth:`_Pieces.places`: places, with their periods."""
    if not trace.rows("samples"):
        return {}
    location, time_ns, periods, call_path = trace.arrays(
        "samples", "location", "time_ns", "periods", "call_path"
    )
    piece = piece_at(line, location, np.clip(time_ns, line.first_ns, line.last_ns))
    is_computing = (pieces.kind[piece] == Kind.COMPUTING) & (pieces.length[piece] > 0)
    seen = np.flatnonzero(is_computing & np.isin(pieces.path[piece], [*line.waits.places.ends]))
    stacks, nodes, _ = read_stacks(trace.call_paths, set(call_path[seen].tolist()))
    node = take(np.array(nodes, np.int64), call_path[seen])
    seen, node = seen[node >= 0], node[node >= 0]
    found: dict[int, list[tuple[int, int]]] = {}
    known: dict[tuple[int, int], int] = {}
    columns = pieces.places(line)[piece[seen]], pieces.path[piece[seen]], node
    for key, path, end, count in _sums(periods[seen], *columns):
        # A stack that was cut is put below the function that both calls are made from.
        above = places.above[of_path[path]] if stacks.is_cut[end] else 0
        found.setdefault(key, []).append((_place_of(stacks, end, above, places, known), count))
    return found


def _place_of(
    stacks: Stacks, node: int, above: int, places: _PlaceTree, known: dict[tuple[int, int], int]
) -> int:
    """The place of a stack's end below another place; what is `known` of others is used."""
    new: list[int] = []
    while node >= 0 and (above, node) not in known:
        new.append(node)
        node = stacks.parents[node]
    place = known[above, node] if node >= 0 else above
    for each in reversed(new):
        place = known[above, each] = places.below(place, stacks.frames[each])
    return place


def _divided(seen: Sequence[tuple[int, int]], time_ns: int) -> Iterator[tuple[int, int, int]]:
    """A time of computing as parts of places, by their periods; nothing of it is lost."""
    whole, before, given = sum(count for _, count in seen), 0, 0
    for place, count in seen:
        before += count
        until = time_ns * before // whole
        yield place, Kind.COMPUTING, until - given
        given = until
