"""The published method: loops out of mean values, nested by when they iterate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import numpy.typing as npt

from burstline.columns import Floats, Integers, Mask
from burstline.identity import Sites
from burstline.model import Trace
from burstline.progress import SILENCE, Progress
from burstline.structure.assembly import Draft, FoundProgram, assembly, share_of_run
from burstline.structure.calls import Calls
from burstline.structure.program.iterations import Spans, timed
from burstline.structure.program.nodes import Item, Loop
from burstline.structure.published.clustering import (
    SeedOptions,
    cluster_calls,
    merged,
    split_aliased,
)
from burstline.structure.published.nesting import draft, join_split, nest
from burstline.structure.reduction import Reduced, reduce_to_sites


def by_means(
    trace: Trace, calls: Calls, sites: Sites, limits: SeedOptions, progress: Progress = SILENCE
) -> FoundProgram:
    """The loops of a program, by how often, and how far apart, its calls return."""
    progress.step("reduction", 0, "")
    reduced = reduce_to_sites(trace, calls, sites)
    repeated, enough = _repeated_and_long_enough(reduced, limits)
    progress.step("clustering", 0, "")
    clusters = cluster_calls(reduced, np.flatnonzero(repeated & enough), limits)
    loops = [
        draft(reduced, calls)
        for cluster in clusters
        for calls in split_aliased(reduced, cluster)
    ]
    progress.step("nesting", 0, "")
    top = nest(reduced, join_split(reduced, loops), eps=limits.eps)
    progress.step("assembly", 0, "")
    build = assembly(trace, reduced)
    items = build.items(top, np.flatnonzero(~repeated).tolist())
    steps = DraftSteps(reduced, calls, build.numbered)
    return FoundProgram(
        method="seed",
        parameters=asdict(limits),
        reduced=reduced,
        items=_with_times(items, steps, calls),
        left_out=build.calls(np.flatnonzero(repeated & ~enough).tolist()),
        steps=steps,
        unique_calls=len(reduced.lane),
    )


def _with_times(items: Iterable[Item], steps: DraftSteps, calls: Calls) -> tuple[Item, ...]:
    """The items, with the time inside of loops as their iterations in the trace have it."""
    # Iterations times their mean would be another share than that of the exact method.
    nodes: list[Item] = []
    for item in items:
        if not isinstance(item, Loop):
            nodes.append(item)
            continue
        spans = timed(item.id, steps.spans(item.id), calls)
        durations_ns = (spans.end_ns - spans.start_ns).astype(np.float64)
        inside_ns: Floats = np.zeros(len(calls.ranks))
        np.add.at(inside_ns, spans.lane, durations_ns)
        share = share_of_run(inside_ns, item.executions > 0, calls.run_ns)
        inner = _with_times(item.items, steps, calls)
        nodes.append(replace(item, inside_ns=inside_ns, share=share, items=inner))
    return tuple(nodes)


def _repeated_and_long_enough(reduced: Reduced, limits: SeedOptions) -> tuple[Mask, Mask]:
    """Which unique calls are repeated, and which of them span enough of the run."""
    features = np.stack([reduced.repetitions, reduced.shares()], axis=1)
    if limits.rank_merge == "early":
        point, means = merged(reduced.site, features)
        features = means[point]
    return features[:, 0] > 1, features[:, 1] >= limits.min_share


@dataclass(frozen=True, slots=True, eq=False)
class DraftSteps:
    """The iterations of loops that were found by when they begin."""

    reduced: Reduced  # the unique calls
    calls: Calls  # all calls
    # each loop by its number, and the number of the loop around it
    numbered: dict[int, tuple[Draft, int | None]]

    @property
    def sequence(self) -> npt.NDArray[np.int32]:
        """Site of every call."""
        return self.reduced.sequence

    def spans(self, loop: int) -> Spans:
        """The calls of each iteration of a loop."""
        body, outer = self.numbered[loop]
        around = {} if outer is None else self.numbered[outer][0].iterations_ns
        masks = [
            np.isin(self.sequence, np.unique(self.reduced.site[uniques]))
            for uniques in (_calls_with_subloops(body), body.calls)
        ]
        parts = [
            self._of_lane(lane, begins_ns, around.get(lane), masks)
            for lane, begins_ns in sorted(body.iterations_ns.items())
        ]
        return Spans(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _of_lane(
        self, lane: int, begins_ns: Integers, around_ns: Integers | None, masks: Sequence[Mask]
    ) -> tuple[Integers, ...]:
        lane_calls = slice(self.calls.lane_begin[lane], self.calls.lane_begin[lane + 1])
        enter_ns = self.calls.enter_ns[lane_calls]
        members, direct = (np.flatnonzero(mask[lane_calls]) for mask in masks)
        first = _calls_that_begin(begins_ns, direct if len(direct) else members, enter_ns)
        until = np.append(first[1:], len(enter_ns))
        if members[0] < first[0] and len(direct):
            # the body begins with a loop: an iteration ends with the last call outside of that
            last = direct[np.searchsorted(direct, until) - 1]
            behind = np.append(0, last[:-1] + 1)
            first = members[np.searchsorted(members, behind)]
        else:
            last = members[np.searchsorted(members, until) - 1]
        entry = np.zeros(len(first), np.int64)
        if around_ns is not None:
            inside = np.searchsorted(around_ns, begins_ns, side="right")
            entry = np.unique(inside, return_inverse=True)[1].ravel()
        begin = lane_calls.start
        return np.full(len(first), lane), entry, first + begin, last + begin


def _calls_that_begin(begins_ns: Integers, members: Integers, enter_ns: Integers) -> Integers:
    """The calls with which iterations begin, among `members`: of equal stamps one each."""
    ordinal = np.arange(len(begins_ns)) - np.searchsorted(begins_ns, begins_ns)
    return members[np.searchsorted(enter_ns[members], begins_ns) + ordinal]


def _calls_with_subloops(loop: Draft) -> list[int]:
    return loop.calls + [
        call for child in loop.children for call in _calls_with_subloops(child)
    ]
