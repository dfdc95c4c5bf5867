"""A timeline: pieces of one kind each, the waits among them, and what led to each wait."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa

from burstline.columns import Integers, sums_by, to_numpy
from burstline.timeline.kinds import KINDS
from burstline.values import SHARE, TIME, Column, Contract, Documented, Table
from burstline.waits import Waits

_MOST = 20  # waits of a chain


def of_kinds(times_ns: Mapping[str, int]) -> Table:
    """A table of times by kind, of those that are there."""
    whole = max(sum(times_ns.values()), 1)
    rows = [[name, value, value / whole] for name, value in times_ns.items() if value]
    columns = [Column("kind"), Column("time", TIME), Column("share", SHARE)]
    return Table(columns, rows, "Time by kind")


@dataclass(frozen=True, eq=False)
class Timeline(Documented):
    """What each thread did at every moment.

    Attributes
    ----------
    first_ns, last_ns : int
        The time that is tiled, the same on every location.
    baseline_ns : tuple of int
        From the first end of MPI_Init to the last begin of MPI_Finalize; all of the time where
        the trace does not hold both.
    pieces : pyarrow.Table
        `location, start_ns, end_ns, kind, call_path, call, wait, function`, by location and
        start. `kind` is a position in :data:`KINDS`; the call path is a row of the waits'
        profile, and so is `function`, that which samples saw most in a piece; `call` is the
        ordinal of the call of MPI on its location, and `wait` a row of the waits' `instances`;
        null for none.
    waits : Waits
        Where the program waits.
    locations, messages : pyarrow.Table
        Tables of the trace; of messages who sent and received them when, and their bytes.
    """

    first_ns: int
    last_ns: int
    baseline_ns: tuple[int, int]
    pieces: pa.Table
    waits: Waits
    locations: pa.Table
    messages: pa.Table

    @cached_property
    def begin(self) -> Integers:
        """(locations + 1,) the first piece of each location."""
        location = to_numpy(self.pieces["location"])
        return np.searchsorted(location, np.arange(self.locations.num_rows + 1))

    def totals_ns(self) -> dict[str, int]:
        """How long all locations are in each kind; sums to the whole."""
        kind, start, end = (
            to_numpy(self.pieces[name]) for name in ("kind", "start_ns", "end_ns")
        )
        sums = sums_by(kind, end - start, len(KINDS))
        return dict(zip(KINDS, sums.tolist(), strict=True))

    def tables(self) -> list[Table]:
        """All time by kind."""
        return [of_kinds(self.totals_ns())]

    CONTRACT: ClassVar[Contract] = (
        *("first_ns", "last_ns", "baseline_ns"),
        ("pieces", lambda self: self.pieces.num_rows),
        ("kinds", lambda self: self.totals_ns()),
    )

    def chain_of(self, wait: int) -> list[int]:
        """A wait, and those behind it, rows of the waits' `instances`.

        Behind a wait is the one that the late side had longest while it was waited for. A chain
        ends where the late side did not wait, or waits that it already has.
        """
        chain = [wait]
        while len(chain) < _MOST and (behind := self._behind(chain[-1])) not in (-1, *chain):
            chain.append(behind)
        return chain

    def _behind(self, wait: int) -> int:
        columns = self._columns
        cause = int(columns["cause_location"][wait])
        start = int(columns["start_ns"][wait])
        end = start + int(columns["wait_ns"][wait])
        order, begin = self._by_location
        rows = order[begin[cause] : begin[cause + 1]]
        starts = columns["start_ns"][rows]
        overlap = np.minimum(starts + columns["wait_ns"][rows], end) - np.maximum(starts, start)
        if not len(rows) or overlap.max() <= 0:
            return -1
        return int(rows[overlap.argmax()])

    @cached_property
    def _columns(self) -> dict[str, Integers]:
        names = "location", "start_ns", "wait_ns", "cause_location"
        return {name: to_numpy(self.waits.instances[name]).astype(np.int64) for name in names}

    @cached_property
    def _by_location(self) -> tuple[Integers, Integers]:
        """Rows of waits by location, and where those of each location begin."""
        location = self._columns["location"]
        order = np.argsort(location, kind="stable")
        return order, np.searchsorted(location[order], np.arange(self.locations.num_rows + 1))

    def __repr__(self) -> str:
        return (
            f"<Timeline: {self.pieces.num_rows} pieces of {self.locations.num_rows} threads, "
            f"{self.waits.instances.num_rows} waits>"
        )
