"""Rows of the tables of a trace: intervals in the order of events, and what is looked up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import AnyIntegers, Integers, to_numpy

_NARROW = 1 << 31


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Calls or regions, sorted by location and enter."""

    begin: Integers  # (locations + 1,) the first row of each location
    location: AnyIntegers
    enter_ns: Integers
    leave_ns: Integers
    enter_seq: Integers
    leave_seq: Integers
    node: AnyIntegers  # row of the call tree; -1: no time is spent in it
    kernel: tuple[AnyIntegers, ...] = field(init=False, repr=False)  # what kernels take

    def __post_init__(self) -> None:
        columns = (
            self.begin, self.enter_ns, self.leave_ns, self.enter_seq, self.leave_seq, self.node,
        )  # fmt: skip
        object.__setattr__(self, "kernel", columns)


def narrow(rows: AnyIntegers) -> AnyIntegers:
    """Rows of a table, or -1, in 4 bytes each if there are less than 2**31."""
    return rows.astype(np.int32 if rows.max(initial=0) < _NARROW else np.int64, copy=False)


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """Some rows of a table of the trace."""

    table: pa.Table
    rows: AnyIntegers | None  # None: all of them, which are not copied

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        column = to_numpy(self.table[name])
        return column if self.rows is None else column[self.rows]
