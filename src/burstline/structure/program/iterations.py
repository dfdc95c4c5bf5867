"""Iterations: when each iteration of a loop began and ended, on each lane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from burstline.columns import Integers
from burstline.structure.calls import Calls


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """The calls of each iteration of a loop, by their places among the calls of all lanes."""

    lane: Integers  # (iterations,) in order; iterations of a lane are in the order of time
    # (iterations,) which entry into the loop it belongs to, counted on its lane
    entry: Integers
    # (iterations,) its first and last call
    first: Integers
    last: Integers


class Steps(Protocol):
    """What a method of detection knows about the iterations of its loops."""

    @property
    def sequence(self) -> npt.NDArray[np.int32]:
        """Site of every call, as the calls of its structure have them."""
        ...

    def spans(self, loop: int) -> Spans:
        """The calls of each iteration of a loop."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Iterations:
    """The iterations of one loop.

    One lasts until the next of its entry begins, the last of an entry until its last call is
    left.
    """

    loop: int  # number of the loop
    # (iterations,) who executed it: lane of the structure, location and rank of the trace; in
    # the order of the lanes
    lane: Integers
    location: Integers
    rank: Integers
    entry: Integers  # (iterations,) entry into the loop it belongs to, from 0 on its lane
    iteration: Integers  # (iterations,) its number, from 0 on its lane over all entries
    # (iterations,) rows of its first and last call in the table `calls`
    first: Integers
    last: Integers
    # (iterations,) when it began and ended
    start_ns: Integers
    end_ns: Integers

    def __len__(self) -> int:
        return len(self.lane)


def timed(loop: int, spans: Spans, calls: Calls) -> Iterations:
    """The iterations of a loop, with when they began and ended."""
    start_ns = calls.enter_ns[spans.first]
    end_ns = calls.leave_ns[spans.last]
    goes_on = (np.diff(spans.lane) == 0) & (np.diff(spans.entry) == 0)
    end_ns[:-1][goes_on] = start_ns[1:][goes_on]
    begins = np.searchsorted(spans.lane, np.arange(len(calls.ranks)))
    return Iterations(
        loop=loop,
        lane=spans.lane,
        location=calls.locations[spans.lane],
        rank=calls.ranks[spans.lane],
        entry=spans.entry,
        iteration=np.arange(len(spans.lane)) - begins[spans.lane],
        first=calls.row[spans.first],
        last=calls.row[spans.last],
        start_ns=start_ns,
        end_ns=end_ns,
    )
