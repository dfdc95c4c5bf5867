"""Calls and regions as intervals, in the order of events."""

from __future__ import annotations

from dataclasses import dataclass

from burstline.columns import AnyIntegers, Integers


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

    @property
    def kernel(self) -> tuple[AnyIntegers, ...]:
        """The columns that kernels take."""
        return (
            self.begin, self.enter_ns, self.leave_ns, self.enter_seq, self.leave_seq, self.node,
        )  # fmt: skip
