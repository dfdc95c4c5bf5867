"""What some of the ranks see of a program: times, sizes and counters on these alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from burstline.columns import Integers, Mask
from burstline.structure.assembly import means_of, share_of_run
from burstline.structure.program.model import Structure
from burstline.structure.program.nodes import Call, Condition, Item, Loop
from burstline.structure.reduction import Reduced


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
        """The call with the executions and means of the ranks; its partners stay.

        It is itself where all who execute it are among the ranks, or none is; so are the
        others.
        """
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
