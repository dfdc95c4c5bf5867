"""The exact method: loops out of what follows what.

::

    Calls  --call_graph-->  CallGraph  --find_nest-->  Body: each call once
                  --read-->  Reading: what each loop did  -->  one program for all ranks

All lanes are read as the same program. Trip counts and the iterations in which a condition
holds are kept per lane, so that the program with its readings reproduces every call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from burstline.columns import dense
from burstline.structure.assembly import Outcome, assembly
from burstline.structure.exact.callgraph import call_graph
from burstline.structure.exact.loopnest import find_nest
from burstline.structure.exact.occurrences import Nest, NestSteps, read
from burstline.structure.exact.program import Programmer
from burstline.structure.exact.sites import refined_sites
from burstline.structure.reduction import reduce_to_sites

if TYPE_CHECKING:
    from burstline.identity import Sites
    from burstline.structure.calls import Calls
    from burstline.structure.exact.callgraph import CallGraph
    from burstline.structure.exact.loopnest import Body
    from burstline.structure.exact.occurrences import Reading
    from burstline.structure.reduction import Reduced
    from burstline.trace import Trace


def by_order(
    trace: Trace, calls: Calls, sites: Sites, reduced: Reduced | None = None
) -> Outcome:
    """The loops of a program, by which of its calls follow which."""
    count = len(sites)
    unique = dense(calls.lane * count + sites.of_call, len(calls.ranks) * count)[1]
    ways = [sites, *refined_sites(sites, calls.lane_begin)]
    version = min((_Version.of(way, calls) for way in ways), key=_Version.size)
    if reduced is None or version.sites is not sites:
        reduced = reduce_to_sites(trace, calls, version.sites)
    made = assembly(trace, reduced).calls(range(len(reduced.lane)))
    programmer = Programmer(
        reading=version.reading,
        calls={call.site: call for call in made},
        ranks=np.asarray(calls.ranks),
        run_ns=reduced.run_ns,
    )
    return Outcome(
        method="exact",
        parameters={},
        reduced=reduced,
        items=programmer.items(version.program),
        left_out=(),
        steps=NestSteps(version.nest, version.sites.of_call, calls.lane_begin),
        unique_calls=len(unique),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Version:
    """One way to read the calls: their sites, and the loops these are in."""

    sites: Sites
    graph: CallGraph
    program: Body
    nest: Nest
    reading: Reading

    @classmethod
    def of(cls, sites: Sites, calls: Calls) -> _Version:
        graph = call_graph(sites, calls.lane_begin)
        program = find_nest(graph)
        nest = Nest.of(program, graph.symbols)
        return cls(sites, graph, program, nest, read(nest, sites.of_call, calls))

    def size(self) -> float:
        """The nodes of the program, and the irregularities of a lane, in the mean."""
        reading = self.reading
        irregular = reading.when.irregularities() + reading.trips.irregularities()
        nodes = self.graph.symbols + self.program.cost / max(self.graph.kinds, 1)
        return nodes + irregular / reading.lanes
