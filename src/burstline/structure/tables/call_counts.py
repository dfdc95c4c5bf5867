"""Call counts: which MPI calls an iteration of a loop makes, by phase of computation."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from burstline.columns import Integers, Mask, sums_by
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.structure.assembly import means_of, share_of_run
from burstline.structure.program.model import Structure
from burstline.structure.program.nodes import Call, Condition, Item, Loop, walk
from burstline.structure.reduction import Reduced
from burstline.values import Contract, Documented

_LONG: Final = 0.05
"""Share of what an iteration computes that a computation lasts at least to begin a phase."""


@dataclass(frozen=True, slots=True)
class CallPhase(Documented):
    """What follows a long computation, up to the next one."""

    first: Call | None  # the call that the computation leads to; None where there is none
    burst_ns: float | None  # how long that lasts in the mean

    @property
    def computing_ns(self) -> int | None:
        """The same in whole nanoseconds."""
        return None if self.burst_ns is None else round(self.burst_ns)

    CONTRACT: ClassVar[Contract] = (("begins_with", "first.place"), "computing_ns")


@dataclass(frozen=True, slots=True, eq=False)
class CallCounts(Documented):
    """How often the ranks shown make each MPI call in a loop."""

    loop: int  # number of the loop
    ranks: tuple[int, ...]  # those of the shown that run it
    iterations: int  # theirs, together
    bursts_ns: float  # mean of a computation that begins a phase, at least
    phases: tuple[CallPhase, ...]  # in the order of the program
    operations: tuple[str, ...]  # by their names
    calls: Integers  # (operations, phases) calls, in all

    def rows(self) -> Iterator[dict[str, Any]]:
        """A dictionary per phase and operation that it has, phases counted from 1."""
        for number, (phase, column) in enumerate(
            zip(self.phases, self.calls.T, strict=True), 1
        ):
            for name, calls in zip(self.operations, column.tolist(), strict=True):
                if calls:
                    yield {
                        "loop": self.loop,
                        "phase": number,
                        "computing_ns": phase.computing_ns,
                        "operation": name,
                        "calls": calls,
                        "per_iteration": calls / self.iterations,
                    }

    @property
    def _of_operations(self) -> list[dict[str, Any]]:
        return [
            {
                "operation": name,
                "calls": sum(row),
                "per_iteration": sum(row) / self.iterations,
                "by_phase": [count / self.iterations for count in row],
            }
            for name, row in zip(self.operations, self.calls.tolist(), strict=True)
        ]

    CONTRACT: ClassVar[Contract] = (
        *("loop", "ranks", "iterations", ("bursts_ns", lambda self: round(self.bursts_ns))),
        *("phases", ("calls", "_of_operations")),
    )


def call_counts(
    structure: Structure,
    loop: int,
    *,
    ranks: Collection[int] | None = None,
    bursts_ns: int | None = None,
) -> CallCounts:
    """How often each MPI call is made in a loop, in all and by phase.

    A phase begins with a call before which, in the mean, something is computed for long, as
    the thesis of the published method compares a structure with the trace (figures 4.18 and
    4.20).

    Parameters
    ----------
    structure : Structure
        What was found in a trace.
    loop : int
        Number of the loop.
    ranks : collection of int, optional
        The ranks to look at; all by default.
    bursts_ns : int, optional
        How long that is at least; a twentieth of what an iteration computes by default.

    Returns
    -------
    CallCounts
        The calls, those of loops in it included.

    Raises
    ------
    ParameterError
        If there is no such loop, or `bursts_ns` is negative.
    NotEnoughDataError
        If none of the ranks runs it.

    Examples
    --------
    >>> from burstline.structure import detect
    >>> from burstline.testing import trace_of
    >>> ops = ["Send", "Send", "Barrier"]
    >>> steps = [
    ...     f"{90 * k + 9 * n} enter MPI_{op} path {n} | {90 * k + 9 * n + 2} leave"
    ...     for k in range(6)
    ...     for n, op in enumerate(ops)
    ... ]
    >>> paths = " | ".join(f"path {n} main file a.c line {n + 3}" for n in range(3))
    >>> structure = detect(trace_of(f"ranks 1 | {paths} | 0 | {' | '.join(steps)}"))
    >>> counts = call_counts(structure, 1, bursts_ns=20)
    >>> counts.operations, counts.calls.tolist(), counts.iterations
    (('MPI_Barrier', 'MPI_Send'), [[6], [12]], 6)
    """
    if bursts_ns is not None and bursts_ns < 0:
        raise ParameterError(f"computation lasts 0 ns or more, got {bursts_ns}")
    whole = structure.loop(loop)
    shown = set(structure.ranks if ranks is None else ranks)
    seen = Seen.by(structure, shown)
    lanes = np.isin(structure.ranks, list(shown))
    iterations = int(whole.executions[lanes].sum())
    if not iterations:
        raise NotEnoughDataError(f"none of the ranks shown runs loop {loop}")
    nodes = [item for item, _ in walk(whole.items) if isinstance(item, Call)]
    nodes = [node for node in nodes if node.executions[lanes].any()]
    calls_of = [int(node.executions[lanes].sum()) for node in nodes]
    before_ns = [seen.call(node).burst_ns for node in nodes]
    computed_ns = sum((ns or 0) * count for ns, count in zip(before_ns, calls_of, strict=True))
    least_ns = _LONG * computed_ns / iterations if bursts_ns is None else bursts_ns
    phases: list[CallPhase] = []
    place = []
    for node, burst_ns in zip(nodes, before_ns, strict=True):
        if burst_ns is not None and burst_ns >= max(least_ns, 1):
            phases.append(CallPhase(node, burst_ns))
        elif not phases:
            phases.append(CallPhase(None, None))
        place.append(len(phases) - 1)
    names = [node.operation for node in nodes]
    operations, of_name = np.unique(names, return_inverse=True)
    calls = sums_by((of_name, np.array(place)), calls_of, (len(operations), len(phases)))
    own = np.isin(structure.ranks, list(whole.ranks)) & lanes
    return CallCounts(
        loop=loop,
        ranks=tuple(np.unique(np.array(structure.ranks)[own]).tolist()),
        iterations=iterations,
        bursts_ns=float(least_ns),
        phases=tuple(phases),
        operations=tuple(operations.tolist()),
        calls=calls,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """The nodes of a program as some ranks execute them."""

    reduced: Reduced  # the unique calls of the program
    lanes: Mask  # (lanes,) which are those of the ranks
    # executions of the body around each node on each lane, by the node's identity
    around: Mapping[int, Integers]

    @classmethod
    def by(cls, structure: Structure, ranks: Collection[int]) -> Seen:
        """The nodes of a structure as some of its ranks execute them."""
        around: dict[int, Integers] = {}
        _note_around(structure.items, np.ones(len(structure.ranks), np.int64), around)
        return cls(structure.reduced, np.isin(structure.ranks, list(ranks)), around)

    @property
    def whole_ns(self) -> int:
        """The time of the run, once for each lane of the ranks."""
        return self.reduced.run_ns * int(self.lanes.sum())

    def call(self, call: Call) -> Call:
        """The call with executions and means of the ranks; itself if these are all or none."""
        some = self._of(call)
        if some is None:
            return call
        reduced = self.reduced
        is_member = (reduced.site == call.site) & np.isin(reduced.lane, some.lanes)
        members = np.flatnonzero(is_member)
        weights = reduced.repetitions_of(members)
        (means,) = means_of(reduced, members, weights, np.zeros(1, np.int64))
        return replace(call, **some.fields(), **means)

    def condition(self, condition: Condition) -> Condition:
        """The condition with the executions of the ranks."""
        some = self._of(condition)
        return condition if some is None else replace(condition, **some.fields())

    def loop(self, loop: Loop) -> Loop:
        """The loop with the iterations and times of the ranks."""
        some = self._of(loop)
        if some is None:
            return loop
        weights = some.executions[some.lanes]
        return replace(
            loop,
            **some.fields("iterations"),
            probability=float(loop.entered[some.lanes].sum() / some.around),
            mean_ns=float(np.average(loop.lane_mean_ns[some.lanes], weights=weights)),
            inside_ns=np.where(self.lanes, loop.inside_ns, 0),
            share=share_of_run(loop.inside_ns, some.lanes, self.reduced.run_ns),
        )

    def _of(self, node: Item) -> _Some | None:
        """The executions of a node by some of its ranks; None if that are all or none."""
        executions = np.where(self.lanes, node.executions, 0)
        lanes = np.flatnonzero(executions)
        if not len(lanes) or np.array_equal(executions, node.executions):
            return None
        ranks = tuple(np.unique(self.reduced.ranks[lanes]).tolist())
        return _Some(lanes, ranks, executions, int(self.around[id(node)][lanes].sum()))


class _Some(NamedTuple):
    """Executions of a node by some of its ranks."""

    lanes: Integers
    ranks: tuple[int, ...]
    executions: Integers  # (lanes of the structure,) none on others
    around: int  # executions of the body around, on these lanes

    def fields(self, share: str = "probability") -> dict[str, Any]:
        """What a node says of them, with executions per execution of the body around."""
        values = {"ranks": self.ranks, "executions": self.executions}
        return values | {share: float(self.executions.sum() / self.around)}


def _note_around(
    items: Sequence[Item], executions: Integers, around: dict[int, Integers]
) -> None:
    """Note for each node how often the body that it is in was executed."""
    for item in items:
        around[id(item)] = executions
        if not isinstance(item, Call):
            _note_around(item.items, item.executions, around)
