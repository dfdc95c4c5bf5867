"""Regions and loops of user code, from their borders.

A leave closes the last one open of the same region; what is open at the end of a thread is
closed there, and counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.formats.columns import arrow_table
from burstline.formats.raw.calls import lookup
from burstline.formats.raw.layout import Kind
from burstline.schema import NO_VALUE, ORIGINS, PARADIGMS, UNKNOWN

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    from burstline.formats.raw.definitions import Definitions, Name
    from burstline.formats.raw.oddities import Oddities
    from burstline.formats.raw.timeline import Timeline

    Integers = npt.NDArray[np.int64]

REGION, EVENT_TYPE, LOOP = 0, 1, 2
"""What can have a name."""

_ENTERS: Final = (Kind.REGION_ENTER, Kind.LOOP_ENTER)
_LEAVES: Final = (Kind.REGION_LEAVE, Kind.LOOP_LEAVE)
_LOOPS: Final = (Kind.LOOP_ENTER, Kind.LOOP_LEAVE)
_MOST_ITERATIONS: Final = 1 << 62


def match_borders(what: Integers, enters: npt.NDArray[np.bool_]) -> Integers:
    """Find the leave of each enter.

    Parameters
    ----------
    what : ndarray of int64, shape (borders,)
        What is entered or left, in order of time.
    enters : ndarray of bool, shape (borders,)
        Which borders are enters.

    Returns
    -------
    ndarray of int64, shape (borders,)
        Position of the leave of each enter and of the enter of each leave; -1 without one.

    Notes
    -----
    O(borders log borders), without a stack: among the borders of one thing, those of one
    depth alternate, once leaves of what is not open are put aside.

    Examples
    --------
    >>> import numpy as np
    >>> match_borders(np.array([7, 7, 7, 7]), np.array([True, True, False, False])).tolist()
    [3, 2, 1, 0]
    """
    partner = np.full(len(what), UNKNOWN, np.int64)
    order = np.argsort(what, kind="stable")
    same, up = what[order], enters[order]
    first = np.searchsorted(same, same)
    total = np.cumsum(np.where(up, 1, -1))
    balance = total - np.append(0, total)[first]
    # lowest balance so far within the thing: lifted so that one accumulation serves all
    lift = first * 2 * (len(what) + 1)
    lowest = np.minimum(np.minimum.accumulate((balance - lift)[: len(what)]) + lift, 0)
    before = np.where(np.arange(len(what)) == first, 0, np.append(0, lowest)[:-1])
    kept = np.flatnonzero(up | (balance >= before))
    depth = (balance - lowest - up)[kept]
    pairs = np.lexsort((np.arange(len(kept)), depth, same[kept]))
    a, b = kept[pairs[:-1]], kept[pairs[1:]]
    joined = (same[a] == same[b]) & (depth[pairs[:-1]] == depth[pairs[1:]]) & up[a] & ~up[b]
    partner[order[a[joined]]] = order[b[joined]]
    partner[order[b[joined]]] = order[a[joined]]
    return partner


class Regions:
    """The regions of all locations.

    Parameters
    ----------
    odd : Oddities
        Told of borders without a partner.
    """

    def __init__(self, odd: Oddities) -> None:
        self._odd = odd
        self._definitions: dict[tuple[int, int, Name | None], int] = {}
        self._rows: list[npt.NDArray[np.int64]] = []

    def add(self, line: Timeline, defined: Definitions) -> None:
        """Take in the regions of a location."""
        at = line.of(*_ENTERS, *_LEAVES)
        kind, number = line.kind[at], line.records["a"][at].astype(np.int64)
        loop = np.isin(kind, np.array(_LOOPS))
        enters = np.isin(kind, np.array(_ENTERS))
        what = number * 2 + loop
        partner = match_borders(what, enters)
        begin = np.flatnonzero(enters)
        lost = np.flatnonzero(~enters & (partner < 0))
        closed = partner[begin] >= 0
        for name, rows in (
            ("region_left_but_never_entered", lost),
            ("region_never_left", begin[~closed]),
        ):
            if len(rows):
                self._odd.note(name, "info", f"{line.name}: record {at[rows[0]]}", len(rows))
        end = at[partner[begin]]
        count, still_open = len(begin), np.flatnonzero(~closed)
        leave_ns, leave_seq = line.time_ns[end], line.seq[end]
        leave_ns[still_open] = line.died_ns
        leave_seq[still_open] = line.last_seq + 1 + np.arange(len(still_open), 0, -1)
        times = np.where(closed, line.records["b"][end], _MOST_ITERATIONS).astype(np.uint64)
        known = closed & loop[begin] & (times < _MOST_ITERATIONS)
        ids = self._define(what[begin], defined)
        parent = _parents(enters, partner, begin)
        columns = [
            np.full(count, line.location),
            np.arange(count),
            ids,
            line.time_ns[at[begin]],
            leave_ns,
            line.seq[at[begin]],
            leave_seq,
            parent,
            np.where(known, times.view(np.int64), NO_VALUE),
        ]
        self._rows.append(np.stack([np.asarray(column, np.int64) for column in columns]))

    def _define(self, what: Integers, defined: Definitions) -> npt.NDArray[np.int32]:
        rows = {}
        for key in np.unique(what).tolist():
            number, space = key // 2, LOOP if key % 2 else REGION
            # ids are per process, names are not; loops are known by their id everywhere
            found = (space, number if space == LOOP else 0, defined.names.get((space, number)))
            if space == REGION and found[2] is None:
                found = (space, number, None)
            rows[key] = self._definitions.setdefault(found, len(self._definitions))
        return lookup(what, rows)

    def table(self) -> pa.Table:
        """Give the table `regions`."""
        columns = np.concatenate([np.zeros((9, 0), np.int64), *self._rows], axis=1)
        names = ("location", "row", "region", "enter_ns", "leave_ns", "enter_seq", "leave_seq")
        count = columns.shape[1]
        nothing = np.full(count, UNKNOWN)
        return arrow_table(
            "regions",
            dict(zip((*names, "parent", "iterations"), columns, strict=True))
            | {"call_path": nothing, "team": nothing, "barrier_ordinal": nothing}
            | {"origin": np.full(count, ORIGINS.index("recorded"))},
        )

    def definitions(self) -> pa.Table:
        """Give the table `region_defs`; the source's id of a loop is its `source_value`."""
        found = list(self._definitions)
        count = len(found)
        lines = [UNKNOWN if name is None else name.line or UNKNOWN for _, _, name in found]
        loops = [space == LOOP for space, _, _ in found]
        return arrow_table(
            "region_defs",
            {
                "region": np.arange(count),
                "name": [
                    loop_name(number, name) if space == LOOP else _region_name(number, name)
                    for space, number, name in found
                ],
                "paradigm": np.full(count, PARADIGMS.index("user")),
                "role": ["loop" if loop else "function" for loop in loops],
                "file": [
                    name.text or None if name and loop else None
                    for loop, (_, _, name) in zip(loops, found, strict=True)
                ],
                "begin_line": np.where(loops, np.array(lines, np.int32), UNKNOWN),
                "end_line": np.full(count, UNKNOWN, np.int32),
                "source_type": np.full(count, NO_VALUE),
                "source_value": np.array(
                    [number if space == LOOP else NO_VALUE for space, number, _ in found],
                    np.int64,
                ),
            },
        )


def loop_name(number: int, name: Name | None) -> str:
    """Name a loop by its place in the source.

    Examples
    --------
    >>> loop_name(7, None)
    'loop 7'
    """
    if name is None or not name.text:
        return f"loop {number}"
    short = name.text.rpartition("/")[2]
    return short if name.line is None else f"{short}:{name.line}"


def _region_name(number: int, name: Name | None) -> str:
    return name.text if name and name.text else f"region {number}"


def _parents(enters: npt.NDArray[np.bool_], partner: Integers, begin: Integers) -> Integers:
    """Give the innermost region around each, by its place among them; -1 without one."""
    known = enters | (partner >= 0)
    depth = np.cumsum(np.where(known, np.where(enters, 1, -1), 0))[begin]
    parent = np.full(len(begin), UNKNOWN, np.int64)
    order = np.lexsort((np.arange(len(begin)), depth))
    sorted_depth = depth[order]
    lo = np.searchsorted(sorted_depth, depth - 1, "left")
    # the last region of the depth above that was entered before
    span = len(begin) + 1
    key = sorted_depth * span + order
    at = np.searchsorted(key, (depth - 1) * span + np.arange(len(begin))) - 1
    found = (at >= lo) & (depth > 1)
    parent[found] = order[at[found]]
    end = np.where(partner[begin] >= 0, partner[begin], len(enters))
    return np.where((parent >= 0) & (end[parent] > begin), parent, UNKNOWN)
