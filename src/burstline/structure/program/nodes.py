"""The nodes of a program: its MPI calls, and the loops and conditions around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np

from burstline.columns import Floats, Integers
from burstline.identity import Frame, Path
from burstline.model import FINALIZES, INITS
from burstline.structure.communicators import CallCommunicators
from burstline.structure.exchanges import Partners
from burstline.structure.program.ranks import compact
from burstline.structure.program.runs import Runs
from burstline.values import Contract, Documented

_PLACE = ("file", "line", "function")
_FIGURES = (
    *("iterations", "probability", "executions", "mean_ns", "total_ns", "mean_bytes", "share"),
)
_EXECUTED: Final = ("executions", lambda node: int(node.executions.sum()))
_WHEN: Final = ("when", lambda node: _progressions(node.when, node.executions))
_COLUMNS = ("depth", "kind", "loop", "operation", *_PLACE, *_FIGURES, "ranks")


@dataclass(frozen=True, slots=True, eq=False)
class Call(Documented):
    """An MPI call of the program, as all ranks that make it see it together.

    Attributes
    ----------
    site : int
        Its number in an expanded sequence of calls.
    operation : str
        Its MPI name.
    path : tuple of Frame
        Where it is called, outermost frame first; empty if the trace does not say.
    ranks : tuple of int
        Who calls it.
    executions : ndarray of int64, shape (lanes,)
        How often, on each lane of the structure.
    probability : float
        Executions per iteration of the loop around it; 1 outside loops.
    time_ns, time_spread_ns : float
        Mean and standard deviation of its duration.
    size_bytes, size_spread_bytes : float or None
        Mean and standard deviation of what it sent or received.
    burst_ns : float or None
        Mean duration of the computation just before it.
    counters, iteration_counters : mapping of str to float
        Mean of each counter over the computation just before it, and over everything computed
        from one execution to the next.
    partners : Partners
        Who is at the other end of its messages: the exact set, their number, and their law.
    offset : int or None
        Rank of the partner relative to the caller's if that is the same on all ranks.
    communicator : str or None
        ``world``, ``self``, the source's number, or ``several``.
    communicators : CallCommunicators
        Where it is made on several: who is in each, by which law, and which is the root.
    roots : tuple of int
        Ranks that were the root.
    when : Runs or None
        On each lane, the executions of the body around in which it is executed, counted
        from 0; None if only how many is known.
    """

    site: int
    operation: str
    path: Path
    ranks: tuple[int, ...]
    executions: Integers
    probability: float
    time_ns: float
    time_spread_ns: float
    size_bytes: float | None
    size_spread_bytes: float | None
    burst_ns: float | None
    counters: Mapping[str, float]
    iteration_counters: Mapping[str, float]
    partners: Partners = field(default_factory=Partners)
    offset: int | None = None
    communicator: str | None = None
    communicators: CallCommunicators = field(default_factory=CallCommunicators)
    roots: tuple[int, ...] = ()
    when: Runs | None = None

    @property
    def caller(self) -> Frame | None:
        """The frame that calls MPI; None if the trace does not say."""
        return self.path[-1] if self.path else None

    @property
    def total_ns(self) -> int:
        """The time in all executions, on all lanes."""
        return round(self.time_ns * int(self.executions.sum()))

    @property
    def computing_ns(self) -> int:
        """The computation before all executions, on all lanes."""
        return round((self.burst_ns or 0) * int(self.executions.sum()))

    @property
    def place(self) -> dict[str, Any]:
        """Its name, and where in the source it is called."""
        caller = {name: self.caller and getattr(self.caller, name) for name in _PLACE}
        return {"operation": self.operation} | caller

    CONTRACT: ClassVar[Contract] = (
        *(("**", "place"), "probability"),
        ("path", lambda self: [[f.function, f.file, f.line] for f in self.path]),
        *("ranks", _EXECUTED, ("mean_ns", lambda self: round(self.time_ns)), "total_ns"),
        ("spread_ns", lambda self: round(self.time_spread_ns)),
        *(("mean_bytes", "size_bytes"), ("spread_bytes", "size_spread_bytes")),
        ("burst_ns", lambda self: None if self.burst_ns is None else round(self.burst_ns)),
        *(("burst_total_ns", "computing_ns"), "counters", "iteration_counters"),
        *(("peers", "partners.ranks"), ("peer_count", "partners.count")),
        ("peers_vary", "partners.vary"),
        *(("peer_law", "partners.law.text"), ("peer_law_share", "partners.law.share")),
        *("offset", "communicator", ("communicators", "communicators.members")),
        ("communicator_count", "communicators.count"),
        ("communicator_law", "communicators.law"),
        *("roots", ("root_law", "communicators.root_law"), _WHEN),
    )

    def row(self, depth: int) -> dict[str, Any]:
        """The row of the call in a table of nodes."""
        more = {"mean_bytes": self.size_bytes} | self.place
        times = {"mean_ns": round(self.time_ns), "total_ns": self.total_ns}
        return _table_row(self, depth, "call", **times, **more)

    def title(self) -> str:
        """The call in one line."""
        return self.operation


@dataclass(frozen=True, slots=True, eq=False)
class Loop(Documented):
    """A loop of the program.

    Attributes
    ----------
    id, parent : int, int or None
        Its number, from 1, in the order of the program, and that of the loop it is in.
    ranks : tuple of int
        Who runs it.
    executions : ndarray of int64, shape (lanes,)
        Its iterations, in all, on each lane of the structure.
    iterations : float
        Iterations per iteration of its parent, or in all without one; mean over the ranks.
    entered : ndarray of int64, shape (lanes,)
        Iterations of its parent in which it is entered, on each lane.
    probability : float
        Share of its parent's iterations in which it is entered at all.
    lane_mean_ns, inside_ns : ndarray of float64, shape (lanes,)
        On each lane, mean duration of an iteration, and time from the first call to the end of
        the last one of each entry, in all.
    mean_ns, share : float
        Mean duration of an iteration, and share of the run inside of it; mean over its ranks.
    items : tuple of Call, Condition and Loop
        Its body, in the order of the program.
    hidden : bool
        Whether it makes no MPI call itself, and was found by how its subloops alternate.
    when : Runs or None
        On each lane, the executions of the body around in which it is entered, counted
        from 0; None if only how many is known.
    trips : Runs or None
        On each lane, its iterations at each entry; None if only their sum is known.
    """

    id: int
    parent: int | None
    ranks: tuple[int, ...]
    executions: Integers
    iterations: float
    entered: Integers
    probability: float
    lane_mean_ns: Floats
    mean_ns: float
    inside_ns: Floats
    share: float
    items: tuple[Call | Loop | Condition, ...]
    hidden: bool = False
    when: Runs | None = None
    trips: Runs | None = None

    @property
    def total_iterations(self) -> int:
        """Iterations in all, on the first of its ranks."""
        return int(self.executions[self.executions > 0][0])

    @property
    def total_ns(self) -> int:
        """The time of all iterations, on all lanes."""
        return round(float(self.inside_ns.sum()))

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls of its own body, those of subloops left out."""
        return tuple(call for call, _ in _own_calls(self.items))

    CONTRACT: ClassVar[Contract] = (
        *("id", "parent", "iterations", "total_iterations"),
        *(("mean_ns", lambda self: round(self.mean_ns)), "total_ns", "share", "ranks"),
        *("probability", "hidden", _WHEN),
        ("trips", lambda self: _progressions(self.trips, self.executions)),
        (
            "calls",
            lambda self: [
                call.as_dict() | {"when": _progressions(when, call.executions)}
                for call, when in _own_calls(self.items)
            ],
        ),
    )

    def row(self, depth: int) -> dict[str, Any]:
        """The row of the loop in a table of nodes."""
        more = {"iterations": self.iterations, "share": self.share, "total_ns": self.total_ns}
        return _table_row(
            self, depth, "loop", loop=self.id, mean_ns=round(self.mean_ns), **more
        )

    def title(self) -> str:
        """The loop in one line."""
        return f"loop {self.id}: {self.iterations:g} iteration{'s' * (self.iterations != 1)}"


@dataclass(frozen=True, slots=True, eq=False)
class Condition(Documented):
    """A part of a body that is executed in some of its iterations only.

    Attributes
    ----------
    ranks : tuple of int
        Who executes it at all.
    executions : ndarray of int64, shape (lanes,)
        How often it held, on each lane of the structure.
    probability : float
        Share of the iterations around in which it held; mean over its ranks.
    items : tuple of Call, Condition and Loop
        What is executed then, in the order of the program.
    when : Runs
        On each lane, the executions of the body around in which it held, counted from 0.
    """

    ranks: tuple[int, ...]
    executions: Integers
    probability: float
    items: tuple[Call | Loop | Condition, ...]
    when: Runs

    CONTRACT: ClassVar[Contract] = ("probability", "ranks", _EXECUTED, _WHEN)

    def row(self, depth: int) -> dict[str, Any]:
        """The row of the condition in a table of nodes."""
        return _table_row(self, depth, "condition")

    def title(self) -> str:
        """The condition in one line."""
        return f"if, in {self.probability:.1%} of the iterations"


Item = Call | Loop | Condition


def share_of(operation: str, total_ns: float, whole_ns: int) -> float | None:
    """The share of the run in calls; None of MPI_Init and MPI_Finalize, which are outside."""
    if operation in (*INITS, *FINALIZES) or not whole_ns:
        return None
    return min(total_ns / whole_ns, 1.0)


def _table_row(node: Item, depth: int, kind: str, **more: object) -> dict[str, Any]:
    """A row of a table of nodes: what all nodes have, and what this kind has."""
    figures = {"probability": node.probability, "executions": int(node.executions.sum())}
    ends = {"depth": depth, "kind": kind, "ranks": compact(node.ranks)}
    return dict.fromkeys(_COLUMNS) | more | figures | ends


def tree(items: Sequence[Item]) -> list[dict[str, Any]]:
    """A program as JSON output, what is in a node below its key `items`."""
    nodes: list[dict[str, Any]] = []
    for item in items:
        node = {"kind": item.row(0)["kind"]} | item.as_dict()
        node.pop("calls", None)
        if not isinstance(item, Call):
            node["items"] = tree(item.items)
        nodes.append(node)
    return nodes


def _progressions(runs: Runs | None, executions: Integers) -> list[list[int]] | None:
    """The progressions (first, step, count) of the first lane that executes anything."""
    if runs is None:
        return None
    lane = int((executions > 0).argmax())
    _, *columns = runs.part(lane, 1).columns()
    return np.stack(columns, axis=1).tolist()


def _own_calls(items: Sequence[Item]) -> Iterator[tuple[Call, Runs | None]]:
    """The calls of a body, and the executions of the body in which they happen."""
    for item in items:
        if isinstance(item, Call):
            yield item, item.when
        elif isinstance(item, Condition):
            for call, when in _own_calls(item.items):
                yield call, None if when is None else when.out_of(item.when)


def with_innermost_loop(items: Sequence[Item], loop: int) -> Iterator[tuple[Call, int]]:
    """Each call in the order of :func:`walk`, and the loop it is in: `loop` where in none."""
    for item in items:
        if isinstance(item, Call):
            yield item, loop
        else:
            number = item.id if isinstance(item, Loop) else loop
            yield from with_innermost_loop(item.items, number)


def walk(items: Sequence[Item], depth: int = 0) -> Iterator[tuple[Item, int]]:
    """Each node in the order of the program, before those in it, with its depth."""
    for item in items:
        yield item, depth
        if not isinstance(item, Call):
            yield from walk(item.items, depth + 1)
