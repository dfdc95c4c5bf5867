"""What the time of a run is spent on at each line of the program: in calls, and before them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from burstline.columns import Integers
from burstline.structure import Call, Structure, walk
from burstline.timeline.kinds import KINDS, Kind
from burstline.timeline.result import Timeline, of_kinds
from burstline.timeline.sums import paths_before, times_by_rank, times_by_site
from burstline.values import COUNT, SHARE, TIME, Column, Table, table_of

WAITING = (
    Kind.COLLECTIVE, Kind.THREADS, Kind.LATE_RECEIVER, Kind.LATE_SENDER, Kind.IDLE,
)  # fmt: skip
"""Kinds of time that are waits of which it is known for whom."""


@dataclass(frozen=True, slots=True)
class PlaceTime:
    """What all calls of an operation that are made at one line of the source take."""

    operation: str  # their MPI name
    # what calls it, and the file of that
    function: str | None
    file: str | None
    line: int | None  # the line of the call
    sites: tuple[int, ...]  # their sites in the structure
    time_ns: int  # in them, in the run, over all ranks


@dataclass(frozen=True, slots=True, eq=False)
class LineTimes:
    """The time of a run by line of the program and by kind."""

    # the run, from the first end of MPI_Init to the last begin of MPI_Finalize, once for each
    # thread; that is what shares are of
    whole_ns: int
    # in the calls of each site, and between them and the calls before, ns, shape (sites, kinds)
    within: Integers
    before: Integers
    # (sites,): the call path that most of the computing before the calls is in, a row of the
    # profile of the waits; -1 for none
    computing_path: Integers
    kinds: Mapping[str, int]  # all of the run by kind, ns; they add up to `whole_ns`
    places: tuple[PlaceTime, ...]  # calls by operation and line, the most time first

    def __repr__(self) -> str:
        return f"<LineTimes: {len(self.places)} lines with calls, {self.whole_ns:,} ns>"

    def tables(self) -> list[Table]:
        """Calls by operation and line, the most time first; then all of the run by kind."""
        whole = max(self.whole_ns, 1)
        lines = table_of(
            self.places,
            {
                Column("operation"): lambda each: each.operation,
                Column("function"): lambda each: each.function,
                Column("file"): lambda each: each.file,
                Column("line", COUNT): lambda each: each.line,
                Column("time", TIME): lambda each: each.time_ns,
                Column("share", SHARE): lambda each: each.time_ns / whole,
            },
            "Time in calls by line",
            left=3,
        )
        return [lines, of_kinds(self.kinds)]

    def waiting_ns(self, site: int) -> int | None:
        """How long ranks wait for others in the calls of a site, as far as that is known."""
        return int(self.within[site][[*WAITING]].sum()) if site < len(self.within) else None


def line_times(line: Timeline, structure: Structure | None) -> LineTimes:
    """The time of a run by line of its program, as a timeline and a structure of it tell.

    Without a structure there are no lines, but kinds. O(pieces of the timeline x kinds).
    """
    every = sum(times_by_rank(line).values(), np.zeros(len(KINDS), np.int64))
    kinds = dict(zip(KINDS, every.tolist(), strict=True))
    if structure is None:
        nothing = np.zeros((0, len(KINDS)), np.int64)
        return LineTimes(int(every.sum()), nothing, nothing, np.zeros(0, np.int64), kinds, ())
    within, before = times_by_site(line, structure)
    places, paths = _places(structure, within), paths_before(line, structure)
    return LineTimes(int(every.sum()), within, before, paths, kinds, places)


def _places(structure: Structure, within: Integers) -> tuple[PlaceTime, ...]:
    sites: dict[tuple[str, str | None, str | None, int | None], list[int]] = {}
    calls = [item for item, _ in walk(structure.items) if isinstance(item, Call)]
    for call in (*calls, *structure.left_out):
        place: tuple[str | None, str | None, int | None] = (None, None, None)
        if (frame := call.caller) is not None:
            place = frame.function, frame.file, frame.line
        found = sites.setdefault((call.operation, *place), [])
        if call.site < len(within) and call.site not in found:
            found.append(call.site)
    times = {key: int(within[found].sum()) for key, found in sites.items()}
    order = sorted(sites, key=lambda key: -times[key])
    return tuple(PlaceTime(*key, tuple(sites[key]), times[key]) for key in order)
