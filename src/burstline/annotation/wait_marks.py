"""Marks of waits: what a thread waits for, for how long, and which rank causes it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from burstline.annotation.marks import Marks
from burstline.columns import AnyIntegers, to_numpy
from burstline.extrae import WAIT_CAUSE, WAIT_LENGTH, WAIT_STATE
from burstline.waits import METRICS, WAITS, Waits


def with_waits(marks: Marks, waits: Waits, *, locations: AnyIntegers | None = None) -> Marks:
    """Marks of loops with those of waits among them.

    A wait begins with three events: what is waited for, how many ns, and the rank that causes
    it, counted from 1. When it ends, all of them become 0.

    Parameters
    ----------
    marks : Marks
        Those of loops; they do not change.
    waits : Waits
        Single waits of the trace, from :func:`burstline.wait_states`.
    locations : ndarray of int, shape (locations of the trace of `waits`,), optional
        Where each of its locations is in the trace to be annotated; the same by default.

    Returns
    -------
    Marks
        Events in order; there is at most one of a type at a moment.

    Notes
    -----
    O(waits log waits) time. Where waits of a thread overlap, the one that began last is what
    the events say.

    Examples
    --------
    >>> import burstline
    >>> from burstline.annotation import marks_of
    >>> from burstline.testing import trace_of
    >>> trace = trace_of(
    ...     "ranks 2 | 0 | 10 enter MPI_Send | 10 send to 1 bytes 8 | 11 leave "
    ...     "| 1 | 6 enter MPI_Recv | 12 receive from 0 bytes 8 | 12 leave"
    ... )
    >>> marks = with_waits(marks_of(burstline.detect(trace)), burstline.wait_states(trace))
    >>> list(zip(marks.time_ns.tolist(), marks.value.tolist()))
    [(6, 1), (6, 4), (6, 1), (10, 0), (10, 0), (10, 0)]
    """
    table = waits.instances
    location, start, wait, cause = (
        to_numpy(table[name]).astype(np.int64)
        for name in ("location", "start_ns", "wait_ns", "cause_location")
    )
    number = {name: k for k, name in enumerate(WAITS, 1)}
    metric = np.array([number[name] for name in table["metric"].to_pylist()], np.int64)
    rank = to_numpy(waits.profile.locations["rank"]).astype(np.int64)
    order = np.lexsort((start, location))
    location, start, wait = location[order], start[order], wait[order]
    end = start + wait
    same = location[1:] == location[:-1]
    end[:-1][same] = np.minimum(end[:-1], start[1:])[same]
    values = (metric[order], wait, rank[cause[order]] + 1)
    lasting = end > start
    ends = lasting.copy()
    ends[:-1] &= ~(same & (end[:-1] == start[1:]))
    moment = np.concatenate([start[lasting], end[ends]])
    where = np.concatenate([location[lasting], location[ends]])
    if locations is not None:
        where = locations[where].astype(np.int64)
    nothing = np.zeros(int(ends.sum()), np.int64)
    columns = [marks.location], [marks.time_ns], [marks.type], [marks.value]
    for kind, value in zip((WAIT_STATE, WAIT_LENGTH, WAIT_CAUSE), values, strict=True):
        added = (
            where,
            moment,
            np.full(len(where), kind),
            np.concatenate([value[lasting], nothing]),
        )
        for column, more in zip(columns, added, strict=True):
            column.append(more)
    joined = [np.concatenate(column).astype(np.int64) for column in columns]
    order = np.lexsort((joined[2], joined[1], joined[0]))
    titles = {row.name: row.title for row in METRICS}
    where, moment, kind_of, value_of = (column[order] for column in joined)
    return replace(
        marks, location=where, time_ns=moment, type=kind_of, value=value_of,
        waits=tuple(titles[name] for name in WAITS),
    )  # fmt: skip
