"""What each loop of a nest did on each lane, from calls that are read one after another.

One that stands behind the call before it in the same body belongs to the same iteration; any
other begins the next. So every sequence can be read, and the reading gives it back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline.columns import Integers
from burstline.structure.exact.loopnest import Body, first_call
from burstline.structure.program.iterations import Spans
from burstline.structure.program.runs import Runs

Places = npt.NDArray[np.int32]
Sequences = npt.NDArray[np.int32]


class Nest(NamedTuple):
    """Where each call of a program stands."""

    # (symbols,) loop whose body each site is in, and its position there. Loop 0 is the program.
    symbol_loop: Places
    symbol_position: Places
    # (loops,) the same for the loops; -1 for the program
    loop_parent: Places
    loop_position: Places
    # (loops * lanes,) iterations after which a loop is entered anew, 0 where calls tell when;
    # behind them by how much they rise in each iteration of the loop around; empty if calls
    # tell of all
    most: Integers
    # pairs of elements of one loop the second of which is never in the iteration that came to
    # the first, each as one number: first * (symbols + loops) + second, in order
    apart: Integers

    @classmethod
    def of(cls, program: Body, symbols: int, lanes: int) -> Nest:
        """The places of the calls and loops of a program, each loop before those in it."""
        loop, position = np.zeros(symbols, np.int32), np.zeros(symbols, np.int32)
        parents, positions = [-1], [0]
        most: dict[int, Body] = {}
        apart: list[tuple[int, int]] = []

        def place(body: Body, number: int) -> None:
            named: dict[int, int] = {}
            for index, element in enumerate(body.elements):
                if isinstance(element, Body):
                    parents.append(number)
                    positions.append(index)
                    if element.most:
                        most[len(parents) - 1] = element
                    named[first_call(element)] = symbols + len(parents) - 1
                    place(element, len(parents) - 1)
                else:
                    named[element] = element
                    loop[element], position[element] = number, index
            pairs = ((named.get(a), named.get(b)) for a, b in body.apart)
            apart.extend((a, b) for a, b in pairs if a is not None and b is not None)

        place(program, 0)
        counted = np.zeros((2, len(parents) if most else 0, lanes), np.int64)
        for number, body in most.items():
            counted[:, number] = [body.most, [body.rise] * lanes]
        places = np.array(parents, np.int32), np.array(positions, np.int32)
        told = counted if counted[1].any() else counted[:1]
        elements = symbols + len(parents)
        pairs = np.array(sorted(a * elements + b for a, b in apart), np.int64)
        return cls(loop, position, *places, told.ravel(), pairs)


@dataclass(frozen=True, slots=True, eq=False)
class Executions:
    """What the elements of a program did on each lane."""

    # for each symbol, then each loop, and each lane: in which executions of the body around it
    # was executed. Sequence ``element * lanes + lane``.
    when: Runs
    trips: Runs  # for each loop and lane: its iterations at each entry
    # (loops, lanes) its iterations in all, and the time spent from the first call to the last
    # of each entry
    iterations: Integers
    inside_ns: Integers
    lanes: int  # lanes there are

    def of_element(self, element: int) -> Runs:
        """When an element was executed, on each lane."""
        return self.when.part(element * self.lanes, self.lanes)

    def trips_of(self, loop: int) -> Runs:
        """The iterations of a loop at each entry, on each lane."""
        return self.trips.part(loop * self.lanes, self.lanes)


class Lanes(Protocol):
    """When some calls were made, lane after lane."""

    lane_begin: Integers  # (lanes + 1,) where the calls of each lane begin
    # (calls,) when each was entered, and left
    enter_ns: Integers
    leave_ns: Integers


def read(nest: Nest, sequence: Sequences, calls: Lanes) -> Executions:
    """What each element of a nest did, from the calls of all lanes."""
    when, trips, iterations, inside_ns = _core.read_nest(
        *nest, sequence, calls.lane_begin, calls.enter_ns, calls.leave_ns
    )
    lanes = len(calls.lane_begin) - 1
    return Executions(
        Runs(*when),
        Runs(*trips),
        iterations.reshape(-1, lanes),
        inside_ns.reshape(-1, lanes),
        lanes,
    )


@dataclass(frozen=True, slots=True, eq=False)
class NestSteps:
    """The iterations of the loops of a nest."""

    nest: Nest  # where each call stands
    sequence: Sequences  # (calls,) sites of the calls, lane after lane
    lane_begin: Integers  # (lanes + 1,) where the calls of each lane begin

    def spans(self, loop: int) -> Spans:
        """The calls of each iteration of a loop; its number in the nest is its own."""
        return Spans(*_core.nest_spans(*self.nest, self.sequence, self.lane_begin, loop))
