"""Points where threads meet, in order on each location: what costs of delays go along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline._core import Wait
from burstline.columns import UNKNOWN, AnyIntegers, ColumnParts, Integers, Mask, placed, take
from burstline.synchronisation import Sync

NO_PEER: Final = np.iinfo(np.int32).max
"""Peer of a mark that is no meeting."""


@dataclass(frozen=True, slots=True, eq=False)
class PointColumns:
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

    _TYPES: Final = {
        "location": np.int32, "place": np.int64, "type": np.uint8, "in_team": np.bool_,
        "node": np.int32, "wait_ns": np.int64, "total_ns": np.int64, "completion_ns": np.int64,
        "cause": np.int64, "peer": np.int32, "interval": np.int64,
    }  # fmt: skip

    def __init__(self) -> None:
        self._columns = ColumnParts(self._TYPES)
        self._sets: list[AnyIntegers] = [np.zeros(0, np.int64)]
        self._groups = 0

    @property
    def count(self) -> int:
        """How many there are, and the number of the next one."""
        return self._columns.count

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
        about = type_, in_team, node
        self._columns.add(len(location), location, place, *about, *times, cause, peer, interval)
        return numbers

    def sorted(self, locations: int) -> PointColumns:
        """The points in order, as added within a place; they are here no more."""
        location, place = self._columns.take("location"), self._columns.take("place")
        order, begin = _core.order_within(location, place, locations)
        columns = {"location": location[order], "place": place[order]}
        del location, place
        columns |= self._columns.take_rest(order)
        row = placed(np.arange(len(order)), order, len(order))
        columns["cause"] = take(row, columns["cause"])
        return PointColumns(begin=begin, group_set=self._group_set(), row=row, **columns)

    def unsorted(self) -> PointColumns:
        """The points as added, for what asks for no order and cuts; they are here no more."""
        columns = self._columns.take_rest(slice(None))
        begin, row = np.zeros((2, 0), np.int64)
        return PointColumns(begin=begin, group_set=self._group_set(), row=row, **columns)

    def _group_set(self) -> npt.NDArray[np.int32]:
        return np.concatenate(self._sets).astype(np.int32)


def column_at(sync: Sync, name: str, row: Integers, in_team: Mask) -> npt.NDArray[Any]:
    """A column of calls, or of regions for what is in a team, at some rows; -1 for none."""
    of_call, of_region = (getattr(rows, name) for rows in (sync.calls, sync.regions))
    of_call = take(of_call, np.where(in_team, UNKNOWN, row))
    return np.where(in_team, take(of_region, np.where(in_team, row, UNKNOWN)), of_call)
