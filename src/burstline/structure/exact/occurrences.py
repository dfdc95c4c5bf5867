"""What each loop of a nest did on each lane, from calls that are read one after another.

One that stands behind the call before it in the same body belongs to the same iteration; any
other begins the next. So every sequence can be read, and the reading gives it back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline.columns import UNKNOWN, Integers, begins_run, placed, prefix_sums
from burstline.structure.exact.body import Body, first_call
from burstline.structure.exact.choice import ReadingCosts
from burstline.structure.kinds import Sequences, alike_lanes, lanes_of
from burstline.structure.program.iterations import Spans
from burstline.structure.program.runs import Runs
from burstline.structure.stretches import Stretches

Places = npt.NDArray[np.int32]


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
    # where else an iteration of a loop begins in the sequence of all lanes, place and loop as
    # one number: place * loops + loop, in order; at a cut of the loop around it is entered anew
    cuts: Integers

    @classmethod
    def of(
        cls, program: Body, symbols: int, lanes: int, judge: ReadingCosts | None = None
    ) -> Nest:
        """The places of the calls and loops of a program, each loop before those in it."""
        loop, position = np.zeros(symbols, np.int32), np.zeros(symbols, np.int32)
        parents, positions = [-1], [0]
        most: dict[int, Body] = {}
        apart: list[tuple[int, int]] = []
        cut: dict[int, Integers] = {}

        def place(body: Body, number: int) -> None:
            named: dict[int, int] = {}
            where = {*body.cuts, *body.anew}
            for index, element in enumerate(body.elements):
                if isinstance(element, Body):
                    parents.append(number)
                    positions.append(index)
                    if element.most:
                        most[len(parents) - 1] = element
                    where.update(element.anew)
                    named[first_call(element)] = symbols + len(parents) - 1
                    place(element, len(parents) - 1)
                else:
                    named[element] = element
                    loop[element], position[element] = number, index
            pairs = ((named.get(a), named.get(b)) for a, b in body.apart)
            apart.extend((a, b) for a, b in pairs if a is not None and b is not None)
            if where and judge is not None:
                cut[number] = judge.on_all_lanes(sorted(where))

        place(program, 0)
        counted = np.zeros((2, len(parents) if most else 0, lanes), np.int64)
        for number, body in most.items():
            counted[:, number] = [body.most, [body.rise] * lanes]
        places = np.array(parents, np.int32), np.array(positions, np.int32)
        told = counted if counted[1].any() else counted[:1]
        elements = symbols + len(parents)
        pairs = np.array(sorted(a * elements + b for a, b in apart), np.int64)
        cuts = [where * len(parents) + number for number, where in cut.items()]
        ordered = np.sort(np.concatenate([np.zeros(0, np.int64), *cuts]))
        return cls(loop, position, *places, told.ravel(), pairs, ordered)


@dataclass(frozen=True, slots=True, eq=False)
class Executions:
    """What the elements of a program did on each lane."""

    # for each symbol, then each loop, and each lane: in which executions of the body around it
    # was executed. Sequence ``element * lanes + lane``.
    when: Runs
    trips: Runs  # for each loop and lane: its iterations at each entry
    iterations: Integers  # (loops, lanes) those of each loop in all
    lanes: int  # lanes there are
    # (loops, lanes) the time spent from the first call to the last of each entry; 0 where
    # nobody asked for it
    inside_ns: Integers

    def of_element(self, element: int) -> Runs:
        """When an element was executed, on each lane."""
        return self.when.part(element * self.lanes, self.lanes)

    def trips_of(self, loop: int) -> Runs:
        """The iterations of a loop at each entry, on each lane."""
        return self.trips.part(loop * self.lanes, self.lanes)


class _Alike(NamedTuple):
    """The lanes that do the same, by the first of each kind."""

    nest: Nest
    sequence: Sequences
    begin: Integers  # (kinds + 1,) where the calls of each kind begin
    of_lane: Integers  # (lanes,) the kind of each

    @classmethod
    def of(cls, nest: Nest, sequence: Sequences, lane_begin: Integers) -> _Alike:
        lanes = len(lane_begin) - 1
        most = nest.most.reshape(-1, lanes)
        beside = [most[:, lane].tobytes() for lane in range(lanes)] if len(most) else ()
        first, of_lane = alike_lanes(sequence, lane_begin, beside)
        own = lanes_of(sequence, lane_begin, first)
        begin = prefix_sums(np.diff(lane_begin)[first])
        loops = len(nest.loop_parent)
        place, loop = np.divmod(nest.cuts, loops)
        lane = np.searchsorted(lane_begin, place, side="right") - 1
        is_first = first[of_lane[lane]] == lane
        moved = place - lane_begin[lane] + begin[of_lane[lane]]
        nest = nest._replace(
            most=np.ascontiguousarray(most[:, first]).ravel(),
            cuts=(moved * loops + loop)[is_first],
        )
        return cls(nest, own, begin, of_lane)

    def iterations(self, loop: int) -> Spans:
        """The calls of each iteration of a loop, of each kind for a lane."""
        return Spans(*_core.nest_spans(self.nest, self.sequence, self.begin, loop))


def read(nest: Nest, sequence: Sequences, lane_begin: Integers) -> Executions:
    """What each element of a nest did, from the calls of all lanes."""
    alike = _Alike.of(nest, sequence, lane_begin)
    nothing = np.zeros(len(alike.sequence), np.int64)
    when, trips, iterations, _ = _core.read_nest(
        alike.nest, alike.sequence, alike.begin, nothing, nothing
    )
    kinds = len(alike.begin) - 1
    iterations = iterations.reshape(-1, kinds)[:, alike.of_lane]
    return Executions(
        Runs(*when).spread(kinds, alike.of_lane),
        Runs(*trips).spread(kinds, alike.of_lane),
        iterations,
        len(alike.of_lane),
        np.zeros_like(iterations),
    )


@dataclass(frozen=True, slots=True, eq=False)
class NestSteps:
    """The iterations of the loops of a nest."""

    nest: Nest  # where each call stands
    sequence: Sequences  # (calls,) sites of the calls, lane after lane
    lane_begin: Integers  # (lanes + 1,) where the calls of each lane begin

    def spans(self, loop: int) -> Spans:
        """The calls of each iteration of a loop; its number in the nest is its own."""
        return Spans(*_core.nest_spans(self.nest, self.sequence, self.lane_begin, loop))

    def stretches(self) -> list[Stretches]:
        """The entries of each loop, from the first call to the last."""
        alike = _Alike.of(self.nest, self.sequence, self.lane_begin)
        loops = range(1, len(self.nest.loop_parent))
        return [_entries(alike.iterations(loop), alike) for loop in loops]


def _entries(spans: Spans, alike: _Alike) -> Stretches:
    begin = np.flatnonzero(begins_run(spans.lane, spans.entry))
    first, last = spans.first[begin], spans.last[np.append(begin[1:], len(spans.entry)) - 1]
    lane = spans.lane[begin]
    there, bounds = np.unique(lane, return_index=True)
    first, last = first - alike.begin[lane], last - alike.begin[lane]
    sets = zip(np.split(first, bounds[1:]), np.split(last, bounds[1:]), strict=True)
    number = placed(np.arange(len(there)), there, len(alike.begin) - 1, UNKNOWN)
    return Stretches(number[alike.of_lane], list(sets), to_leave=True)
