"""Points where threads meet, in order on each location: what costs of delays go along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline import _core
from burstline._core import Wait
from burstline.columns import UNKNOWN, take

if TYPE_CHECKING:
    import numpy.typing as npt

    from burstline.columns import AnyIntegers, Integers, Mask

NO_PEER: Final = np.iinfo(np.int32).max
"""Peer of a mark that is no meeting."""

PLACES: Final = 4
"""Places of an event ordinal: before its enter, the enter, in it, the leave."""
INSIDE: Final = 2


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Points sorted by location and place."""

    begin: Integers  # (locations + 1,)
    location: AnyIntegers
    place: Integers
    type: AnyIntegers  # a Wait
    in_team: Mask
    node: AnyIntegers
    wait_ns: Integers
    total_ns: Integers
    completion_ns: Integers
    cause: Integers  # row of the point that ended the wait, -1 without one
    peer: AnyIntegers
    group_set: AnyIntegers  # (groups,)
    row: Integers  # where each added point is now
    interval: Integers  # row of `calls` that the point lies in; of `regions` in a team

    @property
    def kernel(self) -> tuple[AnyIntegers, ...]:
        """The columns that kernels take."""
        return (
            self.begin, self.type, self.in_team.view(np.uint8), self.node, self.wait_ns,
            self.total_ns, self.completion_ns, self.cause, self.peer, self.group_set,
        )  # fmt: skip


class PointList:
    """Points as they are made, in any order; :meth:`sorted` puts them in that of events."""

    _FIELDS: Final = {
        "location": np.int32, "place": np.int64, "type": np.uint8, "in_team": np.bool_,
        "node": np.int32, "wait_ns": np.int64, "total_ns": np.int64, "completion_ns": np.int64,
        "cause": np.int64, "peer": np.int32, "interval": np.int64,
    }  # fmt: skip

    def __init__(self) -> None:
        self._parts: list[tuple[AnyIntegers, ...]] = []
        self._sets: list[AnyIntegers] = []
        self.count = 0
        self._groups = 0

    def groups(self, sets: AnyIntegers) -> Integers:
        """Numbers of new groups, whose members are from these sets of locations, as peers."""
        numbers = -1 - (self._groups + np.arange(len(sets), dtype=np.int64))
        self._sets.append(sets)
        self._groups += len(sets)
        return numbers

    def add(
        self,
        location: AnyIntegers,
        place: AnyIntegers,
        *,
        node: AnyIntegers | int = 0,
        type_: int = int(Wait.NONE),
        in_team: bool = False,
        wait: AnyIntegers | int = 0,
        total: AnyIntegers | int = 0,
        completion: AnyIntegers | int = 0,
        cause: AnyIntegers | int = UNKNOWN,
        peer: AnyIntegers | int = NO_PEER,
        interval: AnyIntegers | int = UNKNOWN,
    ) -> Integers:
        """Numbers of new points; a cause is the number of a point, and may be added later."""
        numbers = np.arange(self.count, self.count + len(location))
        times = wait, total, completion
        columns = (location, place, type_, in_team, node, *times, cause, peer, interval)
        self._parts.append(
            tuple(np.broadcast_to(np.asarray(column), len(location)) for column in columns)
        )
        self.count += len(location)
        return numbers

    def sorted(self, locations: int) -> Points:
        """The points in order; those of one place stay in the order they were added in."""
        return self._points(locations, is_sorted=True)

    def unsorted(self) -> Points:
        """The points as they were added: for what asks for no order, and for no cuts."""
        return self._points(0, is_sorted=False)

    def _points(self, locations: int, *, is_sorted: bool) -> Points:
        columns: dict[str, npt.NDArray[Any]] = {
            name: np.concatenate(
                [np.zeros(0, type_), *(part[k] for part in self._parts)],
                dtype=type_, casting="unsafe",
            )
            for k, (name, type_) in enumerate(self._FIELDS.items())
        }  # fmt: skip
        row, begin = np.zeros((2, 0), np.int64)
        if is_sorted:
            order, begin = _core.order_within(columns["location"], columns["place"], locations)
            row = np.empty(len(order), np.int64)
            row[order] = np.arange(len(order))
            columns = {name: column[order] for name, column in columns.items()}
            columns["cause"] = take(row, columns["cause"])
        sets = np.concatenate([np.zeros(0, np.int64), *self._sets]).astype(np.int32)
        return Points(begin=begin, group_set=sets, row=row, **columns)
