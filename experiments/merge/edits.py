"""Edited copies of a trace, of whose every burst is known which one it was.

::

    Trace  --edit-->  Edited: a Trace with calls dropped, inserted, swapped and stretched

An edit concerns one thread: a call and the burst after it. What the other side of a message
recorded stays as it was. Of a trace only what bursts are matched by is kept: threads, calls,
messages, communicators, call paths.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline import Trace
from burstline.model import bursts_of, schema

Integers = npt.NDArray[np.int64]

COPY: Final = -1
"""Source of a burst that was inserted."""
_KEPT: Final = ("communicators", "call_paths", "metadata")
_SIDES: Final = {
    "sender_location": (
        ("send_call", ("send_ns", "send_leave_ns")),
        ("send_done_call", ("send_done_ns",)),
    ),
    "receiver_location": (
        ("post_call", ("post_ns",)),
        ("receive_call", ("receive_ns",)),
    ),
}


@dataclass(frozen=True, slots=True)
class Edits:
    """How much is edited.

    Attributes
    ----------
    share : float
        Share of the calls at which something is done: a third each is dropped, followed by
        a copy of another call of the thread, or changes places with the next.
    jitter : float
        Bursts last up to this share longer or shorter.
    seed : int
        Of the random numbers.
    """

    share: float
    jitter: float = 0.2
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Edited:
    """An edited trace.

    Attributes
    ----------
    trace : Trace
        It.
    source : ndarray of int64, shape (bursts,)
        Row that each burst has in the source's table of bursts; :data:`COPY` if inserted.
    origin : ndarray of int64, shape (bursts,)
        The same, and of an inserted burst the one it is a copy of.
    beside : ndarray of int64, shape (bursts,)
        The same, and of an inserted burst the one it was put behind.
    """

    trace: Trace
    source: Integers
    origin: Integers
    beside: Integers


def edit(trace: Trace, edits: Edits) -> Edited:
    """Make an edited copy of a trace.

    Parameters
    ----------
    trace : Trace
        Of threads that call MPI.
    edits : Edits
        How much. The first and the last call of a thread stay.

    Returns
    -------
    Edited
        The copy, and what its bursts were.
    """
    rng = np.random.default_rng(edits.seed)
    offsets = trace.offsets("calls")
    told = [
        _edited(last - first, edits.share, rng) for first, last in pairwise(offsets.tolist())
    ]
    sizes = np.array([len(one.source) for one in told])
    location = np.repeat(np.arange(len(told)), sizes)
    rows = _Rows(
        location=location,
        ordinal=np.arange(len(location)) - np.repeat(np.cumsum(sizes) - sizes, sizes),
        source=np.concatenate([one.source for one in told]) + offsets[location],
        beside=np.concatenate([one.beside for one in told]) + offsets[location],
        is_copy=np.concatenate([one.is_copy for one in told]),
    )
    enter, leave = _times(trace, rows, edits.jitter, rng)
    calls = _calls(trace, rows, enter, leave)
    messages = _messages(trace, rows, enter)
    tables = {name: trace.table(name) for name in _KEPT}
    tables |= {"locations": _locations(trace, rows, leave), "calls": calls}
    tables |= {"messages": messages, "bursts": bursts_of({**tables, "calls": calls})}
    found = Trace(tables)
    return Edited(found, *_sources(trace, found, rows))


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The calls of the copy: thread, ordinal, and what they were in the source."""

    location: Integers
    ordinal: Integers
    source: Integers
    beside: Integers
    is_copy: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class _Thread:
    source: Integers
    beside: Integers
    is_copy: npt.NDArray[np.bool_]


def _edited(calls: int, share: float, rng: np.random.Generator) -> _Thread:
    """Choose what becomes of the calls of a thread."""
    own = np.arange(calls)
    drawn = rng.random(calls) / max(share, 1e-9)
    drawn[[0, -1] if calls else []] = 1.0
    dropped = drawn < 1 / 3
    followed = np.flatnonzero((drawn >= 1 / 3) & (drawn < 2 / 3))
    swapped = (drawn >= 2 / 3) & (drawn < 1.0)
    swapped[max(calls - 2, 0) :] = False
    place = own.astype(float)
    # Of neighbours that both are to change places with the next, the first does.
    last = -2
    for row in np.flatnonzero(swapped).tolist():
        if row > last + 1:
            place[row], place[row + 1], last = row + 1, row, row
    copied = rng.integers(0, max(calls, 1), len(followed))
    kept = np.flatnonzero(~dropped)
    source = np.concatenate([kept, copied])
    beside = np.concatenate([kept, followed])
    order = np.argsort(np.concatenate([place[kept], place[followed] + 0.5]), kind="stable")
    is_copy = np.arange(len(source)) >= len(kept)
    return _Thread(source[order], beside[order], is_copy[order])


def _times(
    trace: Trace, rows: _Rows, jitter: float, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """Put call after burst after call: each as long as in the source, bursts about so."""
    enter, leave, location = trace.arrays("calls", "enter_ns", "leave_ns", "location")
    after = np.append(enter[1:], 0) - leave
    after[np.flatnonzero(np.diff(location))] = 0
    after[-1:] = 0
    lasts = after[rows.source] * rng.uniform(1 - jitter, 1 + jitter, len(rows.source))
    called = (leave - enter)[rows.source]
    steps = called + np.maximum(lasts, 0).round().astype(np.int64)
    ends = np.cumsum(steps)
    first = np.searchsorted(rows.location, rows.location)
    begins = enter[trace.offsets("calls")[rows.location]]
    entered = begins + (ends - steps) - (ends - steps)[first]
    return entered, entered + called


def _calls(trace: Trace, rows: _Rows, enter: Integers, leave: Integers) -> pa.Table:
    return _replaced(
        trace.table("calls").take(pa.array(rows.source)),
        call=rows.ordinal,
        enter_ns=enter,
        leave_ns=leave,
        enter_seq=2 * rows.ordinal,
        leave_seq=2 * rows.ordinal + 1,
    )


def _messages(trace: Trace, rows: _Rows, enter: Integers) -> pa.Table:
    """Let messages follow their calls, and give each copied call messages of its own."""
    before, first = trace.arrays("calls", "enter_ns")[0], trace.offsets("calls")
    table = trace.table("messages")
    names = [name for sides in _SIDES.values() for name, _ in sides]
    columns = dict(zip(names, trace.arrays("messages", *names), strict=True))
    calls = {}
    for where, sides in _SIDES.items():
        (location,) = trace.arrays("messages", where)
        for name, _ in sides:
            calls[name] = np.where(columns[name] >= 0, first[location] + columns[name], -1)
    now = np.full(len(before), -1)
    now[rows.source[~rows.is_copy]] = np.flatnonzero(~rows.is_copy)
    parts = [_followed(table, {n: _at(now, call) for n, call in calls.items()}, calls, rows)]
    for name, call in calls.items():
        order = np.argsort(call, kind="stable")
        copies = np.flatnonzero(rows.is_copy)
        begin, end = (
            np.searchsorted(call[order], rows.source[copies], side)
            for side in ("left", "right")
        )
        chosen = order[_ranges(begin, end)]
        moved = {other: np.full(len(chosen), -1) for other in calls}
        moved[name] = np.repeat(copies, end - begin)
        taken = {other: values[chosen] for other, values in calls.items()}
        parts.append(_followed(table.take(pa.array(chosen)), moved, taken, rows))
    whole = pa.concat_tables(
        _retimed(part, moved, was, enter, before) for part, moved, was in parts
    )
    order = np.argsort(whole["sender_location"].to_numpy(), kind="stable")
    return whole.take(pa.array(order)).combine_chunks()


def _followed(
    table: pa.Table, moved: dict[str, Integers], was: dict[str, Integers], rows: _Rows
) -> tuple[pa.Table, dict[str, Integers], dict[str, Integers]]:
    """Let the rows of messages name the calls of the copy."""
    values: dict[str, Any] = {}
    for name, row in moved.items():
        values[name] = pa.array(_at(rows.ordinal, row).astype(np.int32), mask=row < 0)
    for name in ("send_seq", "send_done_seq", "post_seq", "receive_seq"):
        values[name] = pa.nulls(len(table), pa.int64())
    return _replaced(table, **values), moved, was


def _retimed(
    table: pa.Table,
    moved: dict[str, Integers],
    was: dict[str, Integers],
    enter: Integers,
    before: Integers,
) -> pa.Table:
    values = {}
    for sides in _SIDES.values():
        for name, times in sides:
            shift = np.where(
                moved[name] >= 0, _at(enter, moved[name]) - _at(before, was[name]), 0
            )
            for time in times:
                column = table[time].combine_chunks()
                known = np.asarray(column.is_valid())
                values[time] = pa.array(
                    np.asarray(column.fill_null(0)) + shift, pa.int64(), mask=~known
                )
    return _replaced(table, **values)


def _locations(trace: Trace, rows: _Rows, leave: Integers) -> pa.Table:
    died = trace.arrays("locations", "died_ns")[0].copy()
    np.maximum.at(died, rows.location, leave)
    return _replaced(trace.table("locations"), died_ns=died)


def _sources(trace: Trace, found: Trace, rows: _Rows) -> tuple[Integers, Integers, Integers]:
    """Tell for the bursts of the copy which they were, by the calls before them."""
    location, before = trace.arrays("bursts", "location", "call_before")
    burst_of = np.full(trace.rows("calls"), COPY)
    known = np.flatnonzero(before >= 0)
    burst_of[trace.offsets("calls")[location[known]] + before[known]] = known
    location, before = found.arrays("bursts", "location", "call_before")
    call = found.offsets("calls")[location] + before
    origin, beside = burst_of[rows.source[call]], burst_of[rows.beside[call]]
    return np.where(rows.is_copy[call], COPY, origin), origin, beside


def _replaced(table: pa.Table, **columns: Any) -> pa.Table:  # noqa: ANN401 -- arrays of any kind
    for name, values in columns.items():
        field = table.schema.field(name)
        array = values if isinstance(values, pa.Array) else pa.array(values)
        table = table.set_column(table.column_names.index(name), field, array.cast(field.type))
    return table


def _at(values: Integers, rows: Integers) -> Integers:
    return np.where(rows >= 0, values[rows], -1) if len(values) else np.full(len(rows), -1)


def _ranges(begin: Integers, end: Integers) -> Integers:
    """Give the numbers of several ranges, one after the other."""
    sizes = end - begin
    ends = np.cumsum(sizes)
    return np.arange(int(sizes.sum())) + np.repeat(begin - (ends - sizes), sizes)


def check(edited: Edited) -> None:
    """Raise unless the copy keeps the schema."""
    for name in ("locations", "calls", "messages", "bursts"):
        schema.check(name, edited.trace.table(name))
