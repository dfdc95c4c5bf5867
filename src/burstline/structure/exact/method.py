"""The exact method: loops out of what follows what, all lanes read as the same program.

Without lines of source, the order of calls shows which of one name are several places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import _core
from burstline.columns import dense
from burstline.identity import Sites
from burstline.structure.assembly import Outcome, assembly
from burstline.structure.exact.callgraph import call_graph
from burstline.structure.exact.loopnest import find_nest
from burstline.structure.exact.occurrences import Nest, NestSteps, read
from burstline.structure.exact.program import Programmer
from burstline.structure.reduction import reduce_to_sites

if TYPE_CHECKING:
    from burstline.columns import Integers, Mask
    from burstline.identity import Site
    from burstline.structure.calls import Calls
    from burstline.structure.exact.callgraph import CallGraph
    from burstline.structure.exact.loopnest import Body
    from burstline.structure.exact.occurrences import Reading
    from burstline.structure.reduction import Reduced
    from burstline.trace import Trace


_FIRST_TIMES: Final = (2, 3)
"""What is folded first: all that is repeated, or what is repeated more than by chance."""

_WORK_PER_CALL: Final = 200
_MOST_SITES: Final = 8
"""Sites for one of before; a program that seems to have more is not regular enough."""


def refined_sites(sites: Sites, lane_begin: Integers) -> list[Sites]:
    """The same calls, in several ways, with more sites for those without a line of source."""
    uncertain = np.array([not _has_line(site) for site in sites.distinct])
    if not uncertain.any():
        return []
    candidates = (_folded(sites, lane_begin, uncertain, times) for times in _FIRST_TIMES)
    return [folded for folded in candidates if folded is not None]


def _folded(
    sites: Sites, lane_begin: Integers, uncertain: Mask, first_times: int
) -> Sites | None:
    count = len(sites)
    work = _WORK_PER_CALL * len(sites.of_call)
    site, symbol = _core.fold_sites(sites.of_call, lane_begin, count, first_times, work)
    if len(symbol) > _MOST_SITES * count:
        return None
    names = np.where(uncertain[sites.of_call], count + site, sites.of_call)
    of_call, keys = dense(names, count + len(symbol))
    if len(keys) == count:
        return None
    former = np.where(keys < count, keys, symbol[np.maximum(keys - count, 0)])
    return Sites(
        of_call.astype(np.int32),
        tuple(sites.distinct[number] for number in former.tolist()),
        sites.has_paths,
    )


def _has_line(site: Site) -> bool:
    return bool(site.path) and site.path[-1].line is not None


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
