"""The result of any method of detection: a program, how it was found, and its fidelity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from burstline.errors import ParameterError, plural, printable
from burstline.structure.calls import Calls
from burstline.structure.partner_laws import Law
from burstline.structure.program.fidelity import Expander
from burstline.structure.program.iterations import Iterations, Steps, timed
from burstline.structure.program.nodes import Call, Item, Loop, share_of, tree, walk
from burstline.structure.program.rules import Around, Conditions, size
from burstline.structure.reduction import Reduced
from burstline.values import Contract, Documented

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the run the structure explains."""

    calls: float  # share of the MPI calls that are in it
    # share of the run, mean over the ranks, from the first to the last call of its outermost
    # loops
    time: float


@dataclass(frozen=True, slots=True, eq=False)
class Structure(Documented):
    """What a program does over time: its loops, and the calls around them.

    Attributes
    ----------
    method, parameters : str, mapping of str to object
        How it was found, and the arguments of that method.
    application : int
        The application looked at.
    ranks : tuple of int
        Rank of each lane: a thread that calls MPI.
    world_size : int
        Ranks there are, those without a lane included.
    items : tuple of Call, Condition and Loop
        The program, in its order.
    counters : tuple of str
        Names of the counters that its calls know.
    left_out : tuple of Call
        Repeated calls that span too little of the run to be looked at.
    fidelity, fidelity_by_lane : float, tuple of float
        Share of the calls that the structure, expanded again, reproduces in order: of all, and
        of each lane.
    coverage : Coverage
        How much of the run it explains.
    classes : tuple of tuple of int
        Ranks that execute the same nodes, however often.
    calls, unique_calls : int
        MPI calls looked at, and unique ones: (rank, operation, call path).
    run_ns : int
        From the end of the first MPI call to the beginning of the last.
    callpath : str
        ``frames``, or ``none`` if the trace has no call paths.
    found_in : Calls
        The calls it was found in.
    reduced : Reduced
        Its unique calls, one for each lane and site.
    steps : Steps
        What is known about the iterations of its loops.
    """

    method: str
    parameters: Mapping[str, object]
    application: int
    ranks: tuple[int, ...]
    world_size: int
    items: tuple[Item, ...]
    counters: tuple[str, ...]
    left_out: tuple[Call, ...]
    fidelity: float
    fidelity_by_lane: tuple[float, ...]
    coverage: Coverage
    classes: tuple[tuple[int, ...], ...]
    calls: int
    unique_calls: int
    run_ns: int
    callpath: str
    found_in: Calls
    reduced: Reduced
    steps: Steps
    _by_number: dict[int, Loop] = field(init=False, repr=False, default_factory=dict)

    def unit(self, counter: str) -> str:
        """The unit of a counter; empty for counts, and for what is no counter of the trace."""
        units = dict(zip(self.reduced.counters, self.reduced.units, strict=True))
        return units.get(counter, "")

    @property
    def loops(self) -> tuple[Loop, ...]:
        """All loops, each before those in it."""
        return tuple(item for item, _ in walk(self.items) if isinstance(item, Loop))

    def loop(self, number: int) -> Loop:
        """A loop by its number, from 1; ParameterError if there is none."""
        if not self._by_number:
            self._by_number.update((loop.id, loop) for loop in self.loops)
        if number in self._by_number:
            return self._by_number[number]
        numbers = f"1 to {len(self.loops)}" if self.loops else "none at all"
        raise ParameterError(f"no loop {number} in this structure; there are {numbers}")

    def iterations(self, number: int) -> Iterations:
        """When each iteration of a loop began and ended, on each lane; linear in the calls."""
        return timed(number, self.steps.spans(self.loop(number).id), self.found_in)

    def expand(self, lane: int = 0) -> npt.NDArray[np.int32]:
        """The sites of the calls that the program makes on a lane of `ranks`, in order."""
        return Expander.of(self.items, len(self.ranks)).lane(lane)

    @property
    def outside(self) -> tuple[Call, ...]:
        """The calls outside any loop."""
        return tuple(item for item in self.items if isinstance(item, Call))

    @property
    def whole_ns(self) -> int:
        """The time of the run, once for each lane: what shares of lines are of."""
        return self.run_ns * len(self.ranks)

    @property
    def nodes(self) -> int:
        """Its calls, loops and conditions; a chain of ``if``, ``elif`` and ``else`` is one."""
        return size(self.items, Around())

    @property
    def grid(self) -> Law | None:
        """The grid of the ranks whose neighbours exchange its messages, if there is one."""
        return self.reduced.exchanges.grid()

    @property
    def conditions(self) -> Conditions:
        """How many of its conditions follow a rule, and how many do not."""
        return Conditions.of(self.items)

    @property
    def _fidelity_by_rank(self) -> dict[str, float]:
        """The smallest of the lanes of each rank."""
        by_rank: dict[str, float] = {}
        for rank, value in zip(map(str, self.ranks), self.fidelity_by_lane, strict=True):
            by_rank[rank] = min(value, by_rank.get(rank, value))
        return by_rank

    @property
    def _left_out(self) -> dict[str, int]:
        executions = [call.executions for call in self.left_out]
        spent = sum(call.time_ns * int(call.executions.sum()) for call in self.left_out)
        return {
            "unique_calls": sum(int(np.count_nonzero(each)) for each in executions),
            "calls": sum(int(each.sum()) for each in executions),
            "time_ns": round(spent),
        }

    CONTRACT: ClassVar[Contract] = (
        *("method", "parameters", "callpath", "run_ns", "fidelity"),
        *(("fidelity_by_rank", "_fidelity_by_rank"), "conditions", "grid"),
        *(("coverage", "coverage.calls"), ("coverage_time", "coverage.time")),
        ("size", ("nodes", "calls", ("ratio", lambda self: self.nodes / self.calls))),
        *("classes", "unique_calls"),
        ("loops", lambda self: self._with_shares([loop.as_dict() for loop in self.loops])),
        ("outside", lambda self: self._with_shares([each.as_dict() for each in self.outside])),
        ("program", lambda self: self._with_shares(tree(self.items))),
        ("left_out", "_left_out"),
    )

    def rows(self) -> list[dict[str, Any]]:
        """A dictionary per node, in the order of the program; times in ns, None for nothing."""
        return self._with_shares([item.row(depth) for item, depth in walk(self.items)])

    def _with_shares(self, nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Nodes as dictionaries, the calls among them with their share of the run."""
        for node in nodes:
            if node.get("operation") is not None:
                node["share"] = share_of(node["operation"], node["total_ns"], self.whole_ns)
            for inner in ("items", "calls"):
                self._with_shares(node.get(inner, []))
        return nodes

    def to_frame(self) -> pl.DataFrame:
        """The :meth:`rows` as a Polars data frame."""
        import polars as pl  # noqa: PLC0415 -- a third of a second that not everybody needs

        return pl.DataFrame(self.rows(), infer_schema_length=None)

    def _repr_html_(self) -> str:
        from html import escape  # noqa: PLC0415 -- notebooks only

        body = "".join(
            f"<tr><td>{escape(printable(row['file'] or ''))}</td><td>{row['line'] or ''}</td>"
            f"<td style='padding-left:{1.5 * depth}em'>{escape(printable(item.title()))}</td>"
            f"<td style='text-align:right'>{_grouped(row['mean_ns'])}</td></tr>"
            for item, depth in walk(self.items)
            for row in [item.row(depth)]
        )
        return (
            f"<p>{escape(repr(self))}</p><table><thead><tr><th>file</th><th>line</th>"
            f"<th>structure</th><th>mean ns</th></tr></thead><tbody>{body}</tbody></table>"
        )

    def __repr__(self) -> str:
        return (
            f"<Structure: {plural(len(self.loops), 'loop')}, fidelity {self.fidelity:.4f}, "
            f"by method {self.method!r}>"
        )


def _grouped(number: int | None) -> str:
    """A whole number with commas between thousands; empty for none."""
    return "" if number is None else f"{number:,}"
