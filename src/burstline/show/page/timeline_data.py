"""The timeline as bytes: columns of numbers, one behind the other, deflated, in letters.

What fits is there piece by piece; of the rest there are the times of each kind in columns.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline.columns import AnyIntegers, Integers, Mask, placed, sums_by, to_numpy
from burstline.timeline import KINDS, Kind, Timeline, summed_columns

MIXED: Final = 127
"""The kind of a piece of which the times of kinds are known, and not the order."""
_CONTINUES: Final = 128
_PIECE_BYTES: Final = 4.5
"""Of a piece in letters, as measured; of a column below."""
_COLUMN_BYTES: Final = 14.0
_MOST_LANES: Final = 64
_MOST_COLUMNS: Final = 2048
_MOST_WAITS: Final = 50_000
_WORST: Final = 200
_MOST_MESSAGES: Final = 20_000


@dataclass(frozen=True, slots=True)
class PictureData:
    """A timeline for a script."""

    head: dict[str, Any]  # what the bytes hold
    pieces: str  # in letters
    waits: str
    messages: str
    call_paths: list[int]  # of the places that pieces and waits name
    is_exact: bool  # whether every piece is there


@dataclass(slots=True)
class _Columns:
    """Pieces as they are written, of stream after stream."""

    counts: list[int] = field(default_factory=list)
    length: list[AnyIntegers] = field(default_factory=list)
    kind: list[npt.NDArray[np.uint8]] = field(default_factory=list)
    # where a piece continues no other
    call_path: list[AnyIntegers] = field(default_factory=list)
    mixes: list[Integers] = field(default_factory=list)

    def add(
        self, length: AnyIntegers, kind: AnyIntegers, path: AnyIntegers, same: Mask
    ) -> None:
        self.length.append(length)
        self.kind.append((kind + _CONTINUES * same).astype(np.uint8))
        self.call_path.append(path[~same])

    def add_mixed(self, times: Integers, width: Integers) -> None:
        self.length.append(width)
        self.kind.append(np.full(len(width), MIXED, np.uint8))
        self.mixes.append(times)


def varints(values: AnyIntegers) -> bytes:
    """Whole numbers from 0 on, in as many bytes as each needs, seven bits in a byte.

    >>> varints(np.array([1, 128, 300])).hex(" ")
    '01 80 01 ac 02'
    """
    left = values.astype(np.uint64)
    size = np.ones(len(left), np.int64)
    for bits in range(7, 64, 7):
        size += left >= np.uint64(1 << bits)
    place = np.cumsum(size) - size
    made = np.zeros(int(size.sum()), np.uint8)
    for byte in range(int(size.max(initial=0))):
        rows = np.flatnonzero(size > byte)
        goes_on = (size[rows] > byte + 1).astype(np.uint8) << 7
        made[place[rows] + byte] = (left[rows] & np.uint64(127)).astype(np.uint8) | goes_on
        left[rows] >>= np.uint64(7)
    return made.tobytes()


def letters(parts: Sequence[bytes]) -> str:
    """Bytes deflated, in letters that no markup has a use for."""
    return base64.b64encode(zlib.compress(b"".join(parts), 6)).decode()


def lanes_of(line: Timeline) -> Integers:
    """The lane of each location: its own, or one of neighbours where there are many."""
    count = line.locations.num_rows
    return np.arange(count) // max(1, -(-count // _MOST_LANES))


def picture_data(line: Timeline, opened: tuple[int, int], budget: int) -> PictureData:
    """The timeline in about so many bytes: what is `opened` first is whole if not all fits."""
    first, last = line.baseline_ns
    every = _Rows.of(line)
    rows = every.at(every.within(first, last))
    is_exact = len(rows.kind) * _PIECE_BYTES <= budget
    columns = _Columns()
    if is_exact:
        streams = np.arange(line.locations.num_rows)
        _add_pieces(columns, rows, first, last)
        columns.counts += np.bincount(rows.location, minlength=len(streams)).tolist()
    else:
        streams = _add_shares(columns, line, every, opened, budget)
    waits = _waits_of(line, streams, first, last) if _one_each(line, streams) else None
    paths, codes, of_waits = _call_paths(columns, line, waits)
    sizes, pieces = _deflated_pieces(columns, codes)
    rows_of_waits, sizes_of_waits, waits_letters = _deflated_waits(
        line, waits, of_waits, first, int(streams.max(initial=-1)) + 1
    )
    sent, sizes_of_messages, messages = _deflated_messages(line, streams, opened)
    head = {
        "kinds": len(KINDS),
        "counts": columns.counts,
        "places": sum(map(len, columns.call_path)),
        "mixes": sum(map(len, columns.mixes)),
        "sizes": sizes,
        "waits": {"rows": sum(rows_of_waits), "counts": rows_of_waits, "sizes": sizes_of_waits},
        "messages": {"rows": sent, "sizes": sizes_of_messages},
    }
    return PictureData(head, pieces, waits_letters, messages, paths, is_exact)


def _one_each(line: Timeline, streams: Integers) -> bool:
    return len(np.unique(streams)) == line.locations.num_rows


class _Rows(NamedTuple):
    """Some pieces of a timeline, by location and start."""

    location: AnyIntegers
    start_ns: AnyIntegers
    end_ns: AnyIntegers
    kind: AnyIntegers
    call_path: AnyIntegers  # -1 for none, as of calls
    call: AnyIntegers

    @classmethod
    def of(cls, line: Timeline) -> _Rows:
        """All of them."""
        location, start, end, kind, *ids = (
            to_numpy(line.pieces[name]) for name in (*cls._fields, "function")
        )
        path, call, function = (column.astype(np.int64) for column in ids)
        return cls(location, start, end, kind, np.where(function >= 0, function, path), call)

    def at(self, rows: Integers | slice) -> _Rows:
        """The same of some of them."""
        location, start, end, kind, path, call = (column[rows] for column in self)
        return _Rows(location, start, end, kind, path, call)

    def within(self, first: int, last: int) -> Integers:
        """Which of them are not outside of a span."""
        return np.flatnonzero((self.end_ns > first) & (self.start_ns < last))

    def continues(self) -> Mask:
        """Which are in the same call, or construct of threads, as the one before."""
        same = np.zeros(len(self.location), bool)
        before, after = self.at(slice(None, -1)), self.at(slice(1, None))
        next_to = (
            (after.location == before.location)
            & (after.start_ns == before.end_ns)
            & (after.call_path == before.call_path)
        )
        in_call = (after.call >= 0) & (after.call == before.call)
        waited = (before.kind == Kind.THREADS) & (after.kind == Kind.OPENMP)
        same[1:] = next_to & (in_call | waited)
        return same


def _add_pieces(columns: _Columns, rows: _Rows, first: int, last: int) -> None:
    """Add pieces, clipped to a span."""
    length = np.minimum(rows.end_ns, last) - np.maximum(rows.start_ns, first)
    columns.add(length, rows.kind, rows.call_path, rows.continues())


def _add_shares(
    columns: _Columns, line: Timeline, rows: _Rows, opened: tuple[int, int], budget: int
) -> Integers:
    """Add columns of shares, and pieces where they fit; the stream of each location."""
    lane = lanes_of(line)
    lanes = int(lane.max(initial=0)) + 1
    first, last = line.baseline_ns
    count = int(min(_MOST_COLUMNS, max(1, budget / 2 / _COLUMN_BYTES / lanes)))
    width, times = summed_columns(line, lane, count, (first, last))
    borders = np.minimum(first + width * np.arange(times.shape[1] + 1), last)
    exact = np.zeros((lanes, len(borders) - 1), bool)
    if _one_each(line, lane):
        exact = _chosen(line, borders, opened, budget / 2)
    for stream in range(lanes):
        before = sum(map(len, columns.length))
        changes = np.flatnonzero(np.diff(exact[stream])) + 1
        for begin, end in pairwise(np.unique([0, *changes, exact.shape[1]]).tolist()):
            if exact[stream, begin]:
                span = int(borders[begin]), int(borders[end])
                _add_pieces(columns, _stretch(line, rows, stream, *span), *span)
            else:
                columns.add_mixed(times[stream, begin:end], np.diff(borders[begin : end + 1]))
        columns.counts.append(sum(map(len, columns.length)) - before)
    return lane


def _stretch(line: Timeline, rows: _Rows, location: int, first: int, last: int) -> _Rows:
    """The pieces of a location that are not outside of a span."""
    begin, end = line.begin[location : location + 2].tolist()
    low = np.searchsorted(rows.end_ns[begin:end], first, side="right")
    high = np.searchsorted(rows.start_ns[begin:end], last)
    return rows.at(slice(begin + int(low), begin + int(high)))


def _chosen(line: Timeline, borders: Integers, opened: tuple[int, int], budget: float) -> Mask:
    """Which columns of which locations are told piece by piece.

    Those of the opened window, of the worst waits with their chains, and then of all locations
    around the window, as far as they fit.
    """
    count = len(borders) - 1
    starts, location = to_numpy(line.pieces["start_ns"]), to_numpy(line.pieces["location"])
    column = np.clip(np.searchsorted(borders, starts, side="right") - 1, 0, count - 1)
    within = (starts < borders[-1]) & (starts >= borders[0])
    places = location[within], column[within]
    pieces = sums_by(places, 1, (line.locations.num_rows, count))
    exact = np.zeros(pieces.shape, bool)
    low, high = _columns_of(borders, *opened)
    exact[:, low:high] = True
    left = budget - float(pieces[exact].sum()) * _PIECE_BYTES
    for where, begin, end in _spans_of_worst(line):
        span = np.s_[where, slice(*_columns_of(borders, begin, end))]
        cost = float(pieces[span][~exact[span]].sum()) * _PIECE_BYTES
        if cost <= left:
            left -= cost
            exact[span] = True
    whole = pieces.sum(axis=0)
    while low > 0 or high < count:
        take_left = low > 0 and (high == count or whole[low - 1] <= whole[high])
        next_one = low - 1 if take_left else high
        left -= float(whole[next_one]) * _PIECE_BYTES
        if left < 0:
            break
        exact[:, next_one] = True
        low, high = (low - 1, high) if take_left else (low, high + 1)
    return exact


def _columns_of(borders: Integers, begin: int, end: int) -> tuple[int, int]:
    count = len(borders) - 1
    low = int(np.clip(np.searchsorted(borders, begin, side="right") - 1, 0, count - 1))
    return low, int(np.clip(np.searchsorted(borders, end), low + 1, count))


def _spans_of_worst(line: Timeline) -> list[tuple[int, int, int]]:
    """Location, begin and end of each of the worst waits, of its cause, and those behind it."""
    table = line.waits.instances
    columns = [
        to_numpy(table[name]).astype(np.int64)
        for name in ("location", "cause_location", "start_ns", "wait_ns")
    ]
    spans = []
    for worst in range(min(_WORST, table.num_rows)):
        for row in line.chain_of(worst):
            location, cause, start, wait = (int(column[row]) for column in columns)
            spans += [(location, start, start + wait), (cause, start, start + wait)]
    return list(dict.fromkeys(spans))


def _waits_of(line: Timeline, streams: Integers, first: int, last: int) -> Integers:
    """Rows of the single waits that are told, by stream and start: the longest of many."""
    table = line.waits.instances
    location, start, wait = (
        to_numpy(table[name]).astype(np.int64) for name in ("location", "start_ns", "wait_ns")
    )
    rows = np.flatnonzero((start >= first) & (start + wait <= last))[:_MOST_WAITS]
    return rows[np.lexsort((start[rows], streams[location[rows]]))]


def _call_paths(
    columns: _Columns, line: Timeline, waits: Integers | None
) -> tuple[list[int], Integers, Integers]:
    """The call paths that are named, the most frequent first; codes of pieces and of waits."""
    nothing = np.zeros(0, np.int64)
    of_pieces = np.concatenate([nothing, *columns.call_path])
    of_waits = nothing
    if waits is not None:
        causes = line.waits.instances["cause_call_path"].fill_null(-1)
        of_waits = to_numpy(causes).astype(np.int64)[waits]
    every = np.concatenate([of_pieces, of_waits])
    names, count = np.unique(every[every >= 0], return_counts=True)
    order = np.argsort(-count, kind="stable")
    code = placed(np.arange(1, len(names) + 1), names[order], int(names.max(initial=-1)) + 2)
    return names[order].tolist(), code[of_pieces], code[of_waits]


def _deflated_pieces(columns: _Columns, codes: Integers) -> tuple[list[int], str]:
    nothing = np.zeros(0, np.int64)
    mixes = np.concatenate([np.zeros((0, len(KINDS)), np.int64), *columns.mixes])
    parts = [
        varints(np.concatenate([nothing, *columns.length])),
        np.concatenate([np.zeros(0, np.uint8), *columns.kind]).tobytes(),
        varints(codes),
        varints(mixes.reshape(-1)),
    ]
    return [len(part) for part in parts], letters(parts)


def _deflated_waits(
    line: Timeline, waits: Integers | None, causes: Integers, first: int, streams: int
) -> tuple[list[int], list[int], str]:
    """How many waits each stream has, the bytes of each column, and all of them."""
    if waits is None:
        return [0] * streams, [0] * 5, letters([])
    table = line.waits.instances
    location, start, wait, cause = (
        to_numpy(table[name]).astype(np.int64)[waits]
        for name in ("location", "start_ns", "wait_ns", "cause_location")
    )
    counts = np.bincount(location, minlength=streams)
    step = np.diff(start, prepend=first)
    begins = (np.cumsum(counts) - counts)[counts > 0]
    step[begins] = start[begins] - first
    metric = table["metric"].take(waits).to_pylist()
    number = {name: code for code, name in enumerate(metrics_of(line))}
    codes = np.array([number[name] for name in metric], np.int64)
    parts = [varints(column) for column in (step, wait, cause, codes, causes)]
    return counts.tolist(), [len(part) for part in parts], letters(parts)


def _deflated_messages(
    line: Timeline, streams: Integers, opened: tuple[int, int]
) -> tuple[int, list[int], str]:
    """How many messages are told, at first those of what is opened; bytes of each column."""
    first, last = line.baseline_ns
    sender, send, receiver, receive, size = (
        to_numpy(column).astype(np.int64) for column in line.messages.columns
    )
    told = (sender >= 0) & (receiver >= 0) & (send >= first) & (receive <= last)
    rows = np.flatnonzero(told) if _one_each(line, streams) else np.zeros(0, np.int64)
    outside = (receive[rows] <= opened[0]) | (send[rows] >= opened[1])
    rows = rows[np.argsort(outside, kind="stable")][:_MOST_MESSAGES]
    rows = rows[np.argsort(send[rows], kind="stable")]
    columns = (
        np.diff(send[rows], prepend=first),
        np.maximum(receive[rows] - send[rows], 0),
        sender[rows],
        receiver[rows],
        np.maximum(size[rows], 0),
    )
    parts = [varints(column) for column in columns]
    return len(rows), [len(part) for part in parts], letters(parts)


def metrics_of(line: Timeline) -> list[str]:
    """The metrics of single waits, in the order of their codes."""
    return sorted(line.waits.instances["metric"].unique().to_pylist())
