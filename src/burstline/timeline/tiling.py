"""Pieces that tile the time of locations, and intervals that are laid over them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from burstline.columns import UNKNOWN, AnyIntegers, Integers, begins_run, take
from burstline.model import last_until


class Spans(NamedTuple):
    """Intervals of locations, sorted by location and start."""

    location: Integers
    start_ns: Integers
    end_ns: Integers


def tiles(spans: Spans, first_ns: int, last_ns: int, locations: int) -> tuple[Spans, Integers]:
    """The time of all locations in pieces, and the span that each lies in, -1 for none.

    Of spans that overlap, the one that begins last holds until its end.
    """
    where = np.arange(locations)
    edge = np.full(locations, first_ns), np.full(locations, last_ns)
    location = np.concatenate([where, where, spans.location, spans.location])
    time_ns = np.concatenate([*edge, spans.start_ns, spans.end_ns]).clip(first_ns, last_ns)
    order = np.lexsort((time_ns, location))
    location, time_ns = location[order], time_ns[order]
    chosen = begins_run(location, time_ns)
    location, time_ns = location[chosen], time_ns[chosen]
    inside = np.flatnonzero(location[:-1] == location[1:])
    pieces = Spans(location[inside], time_ns[inside], time_ns[inside + 1])
    return pieces, _rows_around(spans, pieces)


def painted(pieces: Spans, over: Spans) -> tuple[Spans, Integers, Integers]:
    """The same time in smaller pieces: the piece and the interval over it, or -1, of each."""
    location = np.concatenate([pieces.location, over.location, over.location])
    time_ns = np.concatenate([pieces.start_ns, over.start_ns, over.end_ns])
    order = np.lexsort((time_ns, location))
    location, time_ns = location[order], time_ns[order]
    chosen = begins_run(location, time_ns)
    location, time_ns = location[chosen], time_ns[chosen]
    row = last_until((pieces.location, pieces.start_ns), (location, time_ns))
    within = (row >= 0) & (time_ns < take(pieces.end_ns, row))
    location, time_ns, row = location[within], time_ns[within], row[within]
    same = np.append(row[1:] == row[:-1], False)[: len(row)]
    until = np.where(same, np.append(time_ns[1:], 0)[: len(row)], pieces.end_ns[row])
    finer = Spans(location, time_ns, until)
    return finer, row, _rows_around(over, finer)


def sorted_spans(
    location: AnyIntegers, start: Integers, end: Integers
) -> tuple[Spans, Integers]:
    """Spans in order, those of no length left out, and which of the given each is."""
    some = np.flatnonzero(start < end)
    order = some[np.lexsort((start[some], location[some]))]
    return Spans(location[order].astype(np.int64), start[order], end[order]), order


def _rows_around(spans: Spans, pieces: Spans) -> Integers:
    row = last_until((spans.location, spans.start_ns), (pieces.location, pieces.start_ns))
    return np.where(pieces.start_ns < take(spans.end_ns, row), row, UNKNOWN)
