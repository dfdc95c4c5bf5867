"""The published method: loops out of mean values, nested by when they iterate."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline.columns import UNKNOWN, Integers, Mask, begins_run
from burstline.progress import SILENCE, Progress
from burstline.structure.assembly import Draft, DraftTimes, FoundProgram, assembly
from burstline.structure.program.iterations import Spans
from burstline.structure.published.clustering import (
    SeedOptions,
    cluster_calls,
    clusters,
    count_runs,
    merged,
    normalised,
    split_aliased,
    take_turns,
)
from burstline.structure.reduction import Reduced
from burstline.structure.source import Source
from burstline.structure.stretches import Stretches

_MOST: Final = 0.9
_HALF: Final = 0.5
_MORE_THAN_ONCE: Final = 1.5
_NEAREST: Final = 64
"""Loops that are asked before a question is given up: keeps irregular programs linear."""

_NOWHERE: Final = np.zeros(0, np.int64)


def by_means(source: Source, limits: SeedOptions, progress: Progress = SILENCE) -> FoundProgram:
    """The loops of a program, by how often, and how far apart, its calls return."""
    reduced = source.reduced
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
    drafts = list(_with_outer(top, None))
    stretches = [each for own in drafts for each in _stretches(reduced, *own)]
    times = iter(source.times(stretches))
    of_drafts = {
        id(one): DraftTimes(*own)
        for (one, _), own in zip(drafts, zip(times, times, strict=True), strict=True)
    }
    build = assembly(source.trace, reduced, of_drafts)
    items = build.items(top, np.flatnonzero(~repeated).tolist())
    return FoundProgram(
        method="seed",
        parameters=asdict(limits),
        reduced=reduced,
        items=items,
        left_out=build.calls(np.flatnonzero(repeated & ~enough).tolist()),
        steps=DraftSteps(reduced, build.numbered),
        times={
            number: of_drafts[id(one)].inside for number, (one, _) in build.numbered.items()
        },
        unique_calls=len(reduced.lane),
    )


def _with_outer(
    drafts: Iterable[Draft], outer: Draft | None
) -> Iterator[tuple[Draft, Draft | None]]:
    """Each draft with the one around it, and those in it."""
    for one in drafts:
        yield one, outer
        yield from _with_outer(one.children, one)


def _repeated_and_long_enough(reduced: Reduced, limits: SeedOptions) -> tuple[Mask, Mask]:
    """Which unique calls are repeated, and which of them span enough of the run."""
    features = np.stack([reduced.repetitions, reduced.shares()], axis=1)
    if limits.rank_merge == "early":
        point, means = merged(reduced.site, features)
        features = means[point]
    return features[:, 0] > 1, features[:, 1] >= limits.min_share


class _Iterations(NamedTuple):
    """The iterations of a loop on a lane: their entries, and their calls, counted there."""

    entry: Integers
    first: Integers
    last: Integers


def _stretches(
    reduced: Reduced, loop: Draft, outer: Draft | None
) -> tuple[Stretches, Stretches]:
    """From the first begin of an iteration to the last of each entry; and all its calls."""
    kinds = reduced.kinds
    around = {} if outer is None else outer.begins
    numbers: dict[tuple[int, int, int], int] = {}
    of_lane = np.full(len(reduced.ranks), UNKNOWN)
    iterating: list[tuple[Integers, Integers]] = []
    inside: list[tuple[Integers, Integers]] = []
    for lane, key, own in _iterations(reduced, loop, outer):
        if key not in numbers:
            numbers[key] = len(inside)
            begins = loop.begins[lane]
            calls = kinds.calls_at(key[0], begins)
            entry = np.searchsorted(around.get(lane, _NOWHERE), begins, side="right")
            iterating.append(_ends_of_entries(entry, calls, calls))
            inside.append(_ends_of_entries(own.entry, own.first, own.last))
        of_lane[lane] = numbers[key]
    return (
        Stretches(of_lane, iterating, to_leave=False),
        Stretches(of_lane, inside, to_leave=True),
    )


def _iterations(
    reduced: Reduced, loop: Draft, outer: Draft | None
) -> Iterator[tuple[int, tuple[int, int, int], _Iterations]]:
    """The iterations on each lane; what they are by, which is alike on lanes of a kind."""
    around = {} if outer is None else outer.begins
    masks = np.zeros((2, len(reduced.sites)), np.bool_)
    for mask, uniques in zip(masks, (_calls_with_subloops(loop), loop.calls), strict=True):
        mask[reduced.site[uniques]] = True
    known: dict[tuple[int, int, int], _Iterations] = {}
    for lane, begins in sorted(loop.begins.items()):
        kind = int(reduced.kinds.of_lane[lane])
        key = kind, id(begins), id(around.get(lane))
        if key not in known:
            known[key] = _of_kind(reduced, kind, begins, around.get(lane), masks)
        yield lane, key, known[key]


def _of_kind(
    reduced: Reduced,
    kind: int,
    begins: Integers,
    around: Integers | None,
    masks: npt.NDArray[np.bool_],
) -> _Iterations:
    kinds = reduced.kinds
    sequence, moments = kinds.sequences[kind], kinds.entered_at(kind)
    members, direct = (np.flatnonzero(mask[sequence]) for mask in masks)
    first = _calls_that_begin(begins, direct if len(direct) else members, moments)
    until = np.append(first[1:], len(moments))
    if members[0] < first[0] and len(direct):
        # the body begins with a loop: an iteration ends with the last call outside of that
        last = direct[np.searchsorted(direct, until) - 1]
        behind = np.append(0, last[:-1] + 1)
        first = members[np.searchsorted(members, behind)]
    else:
        last = members[np.searchsorted(members, until) - 1]
    entry = np.zeros(len(first), np.int64)
    if around is not None:
        inside = np.searchsorted(around, begins, side="right")
        entry = np.unique(inside, return_inverse=True)[1].ravel()
    return _Iterations(entry, first, last)


def _ends_of_entries(
    entry: Integers, first: Integers, last: Integers
) -> tuple[Integers, Integers]:
    """The first call of each entry and the last one, by those of its iterations."""
    begin = np.flatnonzero(begins_run(entry))
    return first[begin], last[np.append(begin[1:], len(entry)) - 1]


@dataclass(frozen=True, slots=True, eq=False)
class DraftSteps:
    """The iterations of loops that were found by when they begin."""

    reduced: Reduced  # the unique calls
    # each loop by its number, and the number of the loop around it
    numbered: dict[int, tuple[Draft, int | None]]

    @property
    def sequence(self) -> npt.NDArray[np.int32]:
        """Site of every call."""
        return self.reduced.sequence

    def spans(self, loop: int) -> Spans:
        """The calls of each iteration of a loop."""
        body, outer = self.numbered[loop]
        around = None if outer is None else self.numbered[outer][0]
        begin = self.reduced.lane_begin
        parts = [
            (
                np.full(len(own.first), lane),
                own.entry,
                own.first + begin[lane],
                own.last + begin[lane],
            )
            for lane, _, own in _iterations(self.reduced, body, around)
        ]
        return Spans(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _calls_that_begin(begins: Integers, members: Integers, moments: Integers) -> Integers:
    """The calls with which iterations begin, among `members`: of equal moments one each."""
    ordinal = np.arange(len(begins)) - np.searchsorted(begins, begins)
    return members[np.searchsorted(moments[members], begins) + ordinal]


def _calls_with_subloops(loop: Draft) -> list[int]:
    return loop.calls + [
        call for child in loop.children for call in _calls_with_subloops(child)
    ]


def draft(reduced: Reduced, calls: Sequence[int]) -> Draft:
    """A loop of calls that take turns."""
    loop = Draft(list(calls))
    members = np.array(loop.calls)
    repetitions = reduced.repetitions_of(members)
    first_ns, lane = reduced.first_ns[members], reduced.lane[members]
    order = np.lexsort((first_ns, -repetitions, lane))
    # the first of the most frequent calls marks where iterations begin, the last where they end
    most: dict[int, int] = {}
    for which, number, times in zip(
        lane[order].tolist(), members[order].tolist(), repetitions[order].tolist(), strict=True
    ):
        if which not in most:
            most[which] = times
            loop.begins[which] = reduced.executions(number)
            loop.firsts_ns[which] = int(reduced.first_ns[number])
        elif times == most[which]:
            loop.ends[which] = reduced.executions(number)
    return loop


def join_split(reduced: Reduced, loops: Sequence[Draft]) -> list[Draft]:
    """The loops, with those joined whose body a delayed rank or first iteration had split."""
    joined: list[Draft] = []
    alike: dict[int, list[int]] = {}
    for loop in sorted(loops, key=Draft.first_ns):
        others = alike.setdefault(loop.repetitions(), [])
        near = reversed(others[-_NEAREST:])
        twin = next((k for k in near if _one_body(reduced, joined[k], loop)), None)
        if twin is None:
            others.append(len(joined))
            joined.append(loop)
        else:
            joined[twin] = draft(reduced, joined[twin].calls + loop.calls)
    return joined


def _one_body(reduced: Reduced, a: Draft, b: Draft) -> bool:
    lane = _common_lane(a, b)
    if lane is None:
        shared = set(reduced.site[a.calls].tolist()) & set(reduced.site[b.calls].tolist())
        return bool(shared) and a.repetitions() == b.repetitions()
    begins, others = a.begins[lane], b.begins[lane]
    return len(begins) == len(others) and take_turns(begins, others)


def nest(reduced: Reduced, loops: list[Draft], *, eps: float) -> list[Draft]:
    """The outermost loops of a forest, nested phase by phase: only loops of one can be."""
    if not loops:
        return []
    share = reduced.shares()
    means = np.array([[share[loop.calls].mean()] for loop in loops])
    phase = clusters(normalised(means, scale="log"), eps=eps)
    top: list[Draft] = []
    for number in range(int(phase.max()) + 1):
        members = [loops[k] for k in np.flatnonzero(phase == number).tolist()]
        top += _with_hidden(_with_subloops(_with_conditional_calls(reduced, members)), None)
    return top


def _with_conditional_calls(reduced: Reduced, loops: list[Draft]) -> list[Draft]:
    """The loops, from few to many iterations, with calls that only some iterations execute."""
    remaining = sorted(loops, key=Draft.repetitions)
    repetitions = [loop.repetitions() for loop in remaining]
    outer: list[Draft] = []
    for i in range(len(remaining)):
        rare = remaining[i]  # which may have grown since the loop began
        more = bisect_right(repetitions, repetitions[i])
        near = range(more, min(more + _NEAREST, len(remaining)))
        home = next((k for k in near if _is_part(reduced, rare, remaining[k])), None)
        if home is None:
            outer.append(rare)
        else:
            remaining[home] = draft(reduced, remaining[home].calls + rare.calls)
    return outer


def _is_part(reduced: Reduced, rare: Draft, loop: Draft) -> bool:
    """Whether each call of `rare` happens in the body of `loop`, in some of its iterations."""
    lane = _common_lane(rare, loop)
    if lane is None or len(rare.begins[lane]) >= len(loop.begins[lane]):
        return False
    lane_calls = [unique for unique in rare.calls if reduced.lane[unique] == lane]
    return all(_happens_in(reduced.executions(unique), loop, lane) for unique in lane_calls)


def _happens_in(times: Integers, loop: Draft, lane: int) -> bool:
    """Whether a call happens at most once an iteration, and in the middle of the body."""
    begins, ends = loop.begins[lane], loop.ends.get(lane)
    iteration = np.searchsorted(begins, times, side="right") - 1
    if 1 + np.count_nonzero(np.diff(iteration)) < _MOST * len(times):
        return False
    if len(begins) < _MORE_THAN_ONCE * len(times):  # too few iterations for a loop around
        return True
    if ends is None:
        return False
    inside = (iteration >= 0) & (times < ends[iteration])
    return bool(np.count_nonzero(inside) >= _MOST * len(times))


def _with_subloops(loops: list[Draft]) -> list[Draft]:
    """The outermost loops, each other one moved into the nearest rarer one it repeats in."""
    ordered = sorted(loops, key=lambda loop: (-loop.repetitions(), loop.first_ns()))
    rarer = [-loop.repetitions() for loop in ordered]
    top: list[Draft] = []
    for loop in ordered:
        fewer = bisect_left(rarer, -loop.repetitions() / _MORE_THAN_ONCE)
        near = ordered[fewer : fewer + _NEAREST]
        filled = [(_share_filled(loop, outer), outer) for outer in near]
        # one that it repeats in at every iteration goes before one where it does at half
        homes = [outer for least in (_MOST, _HALF) for share, outer in filled if share >= least]
        (homes[0].children if homes else top).append(loop)
    return top


def _share_filled(loop: Draft, outer: Draft) -> float:
    """Share of the iterations of `outer` in which `loop` iterates; 0 if it is no subloop."""
    lane = _common_lane(loop, outer)
    if lane is None:
        return 0.0
    times, begins = loop.begins[lane], outer.begins[lane]
    if len(times) < _MORE_THAN_ONCE * len(begins):
        return 0.0
    filled, _, _ = _core.steps_within(times, begins)
    return filled / len(begins) if filled >= 2 else 0.0


def _with_hidden(siblings: list[Draft], parent: Draft | None) -> list[Draft]:
    """The siblings, with a superloop around those that alternate in blocks."""
    for loop in siblings:
        loop.children = _with_hidden(loop.children, loop)
    chains: list[list[Draft]] = []
    blocks = 0
    for loop in sorted(siblings, key=Draft.first_ns):
        alternations = _alternating_blocks(chains[-1][-1], loop, parent) if chains else 0
        if alternations and (len(chains[-1]) == 1 or abs(alternations - blocks) <= 1):
            blocks = max(alternations, blocks)
            chains[-1].append(loop)
        else:
            blocks = 0
            chains.append([loop])
    return [_superloop(chain) if len(chain) > 1 else chain[0] for chain in chains]


def _alternating_blocks(a: Draft, b: Draft, parent: Draft | None) -> int:
    """The blocks in which two loops alternate; 0 if they have no loop around them."""
    lane = _common_lane(a, b)
    if lane is None:
        return 0
    begins, others = a.begins[lane], b.begins[lane]
    blocks = sorted((count_runs(begins, others), count_runs(others, begins)))
    entries = 1 if parent is None else len(parent.begins.get(lane, _NOWHERE))
    repeated = blocks[0] >= max(2.0, _MORE_THAN_ONCE * entries)
    in_blocks = min(len(begins), len(others)) >= _MORE_THAN_ONCE * blocks[1]
    return blocks[1] if repeated and in_blocks and blocks[1] - blocks[0] <= 1 else 0


def _superloop(members: list[Draft]) -> Draft:
    """The loop without calls that iterates with each block of its first member."""
    superloop = Draft([], members, hidden=True)
    known: dict[tuple[int, ...], Integers] = {}  # lanes of a kind have the same
    for lane in sorted(set().union(*(member.begins for member in members))):
        there = [member for member in members if lane in member.begins]
        begins = [member.begins[lane] for member in there]
        key = tuple(map(id, begins))
        if key not in known:
            others = np.sort(np.concatenate([_NOWHERE, *begins[1:]]))
            behind = np.searchsorted(others, begins[0])
            starts = np.concatenate([[True], np.diff(behind) > 0])
            known[key] = begins[0][starts]
        superloop.begins[lane] = known[key]
        superloop.firsts_ns[lane] = there[0].firsts_ns[lane]
    return superloop


def _common_lane(a: Draft, b: Draft) -> int | None:
    return next((lane for lane in a.begins if lane in b.begins), None)
