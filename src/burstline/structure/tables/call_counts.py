"""Call counts: which MPI calls an iteration of a loop makes, by phase of computation."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from burstline.columns import Integers
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.structure.program.model import Structure
from burstline.structure.program.nodes import Call, walk
from burstline.structure.seen import Seen
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
    calls = np.zeros((len(operations), len(phases)), np.int64)
    np.add.at(calls, (of_name, np.array(place)), calls_of)
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
