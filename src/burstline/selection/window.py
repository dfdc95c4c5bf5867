"""A window and the kept locations: which rows of a table are inside, and what is cut off."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import (
    AnyIntegers,
    Integers,
    Mask,
    Ordinals,
    from_numpy,
    numpy_columns,
    prefix_sums,
    take,
    with_column,
)
from burstline.errors import ParameterError
from burstline.model import NO_VALUE, UNKNOWN, Trace

Moments = int | AnyIntegers


_FIRST: Final = -(2**63) + 1
_LAST: Final = 2**63 - 1


class Borders(NamedTuple):
    """A window of time, or one for each location."""

    # (locations,) half-open, in nanoseconds; both are numbers, or both are arrays
    start: Moments
    end: Moments

    @classmethod
    def of(cls, start_ns: Moments | None, end_ns: Moments | None, locations: int) -> Borders:
        """The borders of a selection, checked."""
        start = _moments("start_ns", start_ns, _FIRST, locations)
        end = _moments("end_ns", end_ns, _LAST, locations)
        if isinstance(start, int) and isinstance(end, int):
            if not _FIRST <= start < end <= _LAST:
                raise ParameterError(
                    f"the window from {start} to {end} ns is empty. "
                    "Its end must be after its start."
                )
            return cls(start, end)
        return cls(
            np.maximum(np.broadcast_to(start, locations), _FIRST),
            np.broadcast_to(end, locations),
        )

    def at(self, location: AnyIntegers) -> Borders:
        """The window of each of some rows, by their locations."""
        if isinstance(self.start, int) or isinstance(self.end, int):
            return self
        return Borders(self.start[location], self.end[location])

    def reached(self, kept: Mask) -> Mask:
        """Which of the kept locations have a window that is not empty, shape (locations,)."""
        reached = kept & (self.start < self.end)
        if len(kept) and not reached.any():
            raise ParameterError("the window is empty on every location that was chosen")
        return reached

    def hull(self, kept: Mask) -> tuple[int, int]:
        """The first and the last moment of the windows of some locations."""
        if isinstance(self.start, int) or isinstance(self.end, int):
            return int(self.start), int(self.end)
        return (
            int(self.start[kept].min(initial=_LAST)),
            int(self.end[kept].max(initial=_FIRST)),
        )


def _moments(name: str, given: Moments | None, otherwise: int, locations: int) -> Moments:
    if given is None:
        return otherwise
    if isinstance(given, int):
        return given
    moments = np.asarray(given)
    if moments.dtype.kind not in "iu":
        raise ParameterError(f"{name} is whole nanoseconds, got {moments.dtype}")
    if not moments.ndim:
        return int(moments)
    if moments.shape != (locations,):
        raise ParameterError(
            f"{name} needs a moment for each of {locations} locations, got an array of shape "
            f"{moments.shape}"
        )
    return moments.astype(np.int64)


INTERVALS: Final = {
    "calls": ("location", "enter_ns", "leave_ns"),
    "regions": ("location", "enter_ns", "leave_ns"),
    "loop_entries": ("location", "enter_ns", "leave_ns"),
    "bursts": ("location", "start_ns", "end_ns"),
    "teams": ("fork_location", "fork_ns", "join_ns"),
    "locks": ("location", "acquire_ns", "release_ns"),
    "gaps": ("location", "start_ns", "end_ns"),
    "states": ("location", "begin_ns", "end_ns"),
}
"""Where, from when and until when the rows of a table last."""

ORDINALS: Final = {
    "calls": "call",
    "regions": "row",
    "loop_entries": "entry",
    "bursts": "burst",
    "teams": "team",
}
"""The columns that number the intervals that other rows refer to."""


def kept_rows(table: pa.Table, mask: Mask) -> pa.Table:
    """The rows of a mask; the table itself if those are all."""
    return table if mask.all() else table.filter(pa.array(mask))


def replaced(table: pa.Table, **columns: npt.NDArray[Any]) -> pa.Table:
    """A table with other values in some integer columns; sentinels become nulls."""
    for name, values in columns.items():
        field = table.schema.field(name)
        array = from_numpy(values, field.type, marked=field.nullable)
        table = with_column(table, name, array)
    return table


class Window:
    """A window in time, or one on each location, and the locations that are kept."""

    def __init__(self, trace: Trace, borders: Borders, kept: Mask) -> None:
        self.trace, self.borders, self.kept = trace, borders, kept
        self.born, self.died = trace.arrays("locations", "born_ns", "died_ns")
        self._numbers: dict[str, Numbers] = {}

    def begins(self, location: AnyIntegers, time: AnyIntegers) -> Mask:
        """Which moments that begin something are inside."""
        start, end = self.borders.at(location)
        last = (time == end) & (time == self.died[location])
        return self.kept[location] & (time >= start) & ((time < end) | last)

    def ends(self, location: AnyIntegers, time: AnyIntegers) -> Mask:
        """Which moments that end something are inside, if it is known to begin inside."""
        start, end = self.borders.at(location)
        return self.kept[location] & (time >= start) & (time <= end)

    def counts(self, location: AnyIntegers, time: AnyIntegers) -> Mask:
        """Which readings count over a stretch that ends inside."""
        start, end = self.borders.at(location)
        first = (time == start) & (time == self.born[location])
        return self.kept[location] & ((time > start) | first) & (time <= end)

    def overlaps(self, location: AnyIntegers, begin: AnyIntegers, end: AnyIntegers) -> Mask:
        """Which intervals overlap the window."""
        first, last = self.borders.at(location)
        overlaps = (begin < last) & (end > first) & self.kept[location]
        return np.where(begin == end, self.begins(location, begin), overlaps)

    def clip(self, table: pa.Table, where: str, *columns: str) -> pa.Table:
        """Clip columns of times to the window; nulls stay."""
        location, *times = numpy_columns(table, where, *columns)
        start, end = self.borders.at(location)
        clipped = {}
        for column, time in zip(columns, times, strict=True):
            inside = np.clip(time, start, end)
            if table[column].null_count:
                inside = np.where(table[column].is_null().to_numpy(), NO_VALUE, inside)
            clipped[column] = inside
        return replaced(table, **clipped)

    def numbers(self, name: str) -> Numbers:
        """Which rows of a table of intervals stay, and their new numbers."""
        if name not in self._numbers:
            columns = (*INTERVALS[name], ORDINALS[name])
            location, begins, ends, ordinal = self.trace.arrays(name, *columns)
            mask = self.overlaps(location, begins, ends)
            self._numbers[name] = Numbers(mask, _counted_on(name, location), ordinal)
        return self._numbers[name]

    def locate(self, table: pa.Table, *columns: str) -> pa.Table:
        """The table with the new numbers of its locations."""
        old = dict(zip(columns, numpy_columns(table, *columns), strict=True))
        return replaced(table, **{name: self.located(values) for name, values in old.items()})

    def located(self, location: AnyIntegers) -> Integers:
        """The new numbers of locations, -1 for those that do not stay or are none."""
        is_location = (location >= 0) & (location < len(self.kept))
        number = np.where(self.kept, np.cumsum(self.kept) - 1, UNKNOWN)
        return take(number, np.where(is_location, location, UNKNOWN))

    def refer(self, table: pa.Table, where: str, name: str, *columns: str) -> pa.Table:
        """The table with new references to rows of the table `name`; null where left out."""
        location, *old = numpy_columns(table, where, *columns)
        location, numbers = _counted_on(name, location), self.numbers(name)
        new = {c: numbers.new(location, o) for c, o in zip(columns, old, strict=True)}
        return replaced(table, **new)


def _counted_on(name: str, location: AnyIntegers) -> AnyIntegers:
    """The locations that ordinals are counted on: teams count over all of them."""
    return np.zeros_like(location) if name == "teams" else location


class Numbers:
    """Which rows of a table stay, and their new ordinals on their location."""

    def __init__(self, mask: Mask, location: AnyIntegers, ordinal: AnyIntegers) -> None:
        self.mask, self._ordinals = mask, Ordinals(location, ordinal)
        self._before = prefix_sums(mask)

    def new(self, location: AnyIntegers, old: AnyIntegers) -> Integers:
        """The new ordinals of old ones, -1 for those that do not stay or are -1."""
        if not len(self.mask):
            return np.full(len(old), UNKNOWN, np.int64)
        row = self._ordinals.rows(location, old)
        stays = (row >= 0) & self.mask[row]
        first = self._before[self._ordinals.begin(location)]
        return np.where(stays, self._before[row] - first, UNKNOWN)
