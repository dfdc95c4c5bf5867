"""Stamps of logical clocks: efforts add up on a thread, and what waits is never too early.

Lamport's clock [1]_, with efforts for what happens between two events: a stamp is the sum of
the efforts on its location, moved behind the stamps of all that it waits for.

.. [1] L. Lamport, Time, clocks, and the ordering of events in a distributed system,
   Communications of the ACM 21(7), 1978, DOI 10.1145/359545.359563.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from burstline.clocks.readings import Readings
from burstline.columns import UNKNOWN, AnyIntegers, Integers, take
from burstline.synchronisation import PLACES, ReplayModel, Rows, replay


@dataclass(frozen=True, slots=True, eq=False)
class Stamps:
    """Stamps of a clock, of any event and of what synchronises in it."""

    readings: Readings
    effort: Integers  # (events,) sums of efforts on the location
    rows: Rows  # what synchronises
    late: Integers  # (rows,) how far its stamp lies behind the sum of efforts
    cycles: list[list[int]]  # rows that wait for each other; stamped without their sources
    _span: np.int64  # more than any place
    _key: Integers  # (rows,) location and place in one, rising

    def of(self, location: AnyIntegers, place: AnyIntegers) -> Integers:
        """Stamps at some places of locations; 0 before the first event."""
        event = self.readings.rows(location, place // PLACES)
        row = self._row(location, place)
        return take(self.effort, event, missing=0) + take(self.late, row, missing=0)

    @property
    def end(self) -> int:
        """The last stamp of all."""
        last = self.readings.begin[1:][np.diff(self.readings.begin) > 0] - 1
        if not len(last):
            return 0
        location = np.searchsorted(self.readings.begin, last, "right") - 1
        return int(self.of(location, self.readings.seq[last] * PLACES + PLACES - 1).max())

    def _row(self, location: AnyIntegers, place: AnyIntegers) -> Integers:
        """The last row of locations up to some places, -1 before the first."""
        if not len(self._key):
            return np.full(len(place), UNKNOWN)
        # Of what is sorted, as calls are, each search begins where the one before it ended.
        wanted = location * self._span + np.minimum(place, self._span - 1)
        row = np.searchsorted(self._key, wanted, "right") - 1
        return np.where(row >= self.rows.begin[location], row, UNKNOWN)


def stamps_of(rows: Rows, readings: Readings, efforts: Sequence[Integers]) -> list[Stamps]:
    """Stamps of the clock of each of the efforts, all in one replay; efforts become sums."""
    event = np.maximum(readings.rows(rows.location, rows.place // PLACES), 0)
    for effort in efforts:
        for part in np.split(effort, readings.begin[1:-1]):
            np.cumsum(part, out=part)
    replayed = replay(
        rows, [ReplayModel(rows.steps(total[event]), latency=1) for total in efforts]
    )
    for total, stamp in zip(efforts, replayed.stamps, strict=True):
        np.subtract(stamp, total[event], out=stamp)
    span = np.int64(rows.place.max(initial=0) + 1)
    key = rows.location * span + rows.place
    return [
        Stamps(readings, total, rows, late, replayed.cycles, span, key)
        for total, late in zip(efforts, replayed.stamps, strict=True)
    ]
