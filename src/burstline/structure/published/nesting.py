"""Nesting: a loop is in the body of another if it iterates between its iterations."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final

import numpy as np

from burstline import _core
from burstline.columns import Integers
from burstline.structure.assembly import Draft
from burstline.structure.published.clustering import (
    clusters,
    count_runs,
    normalised,
    take_turns,
)
from burstline.structure.reduction import Reduced

_NOWHERE: Final = np.zeros(0, np.int64)
_MOST: Final = 0.9
_HALF: Final = 0.5
_MORE_THAN_ONCE: Final = 1.5
_NEAREST: Final = 64
"""Loops that are asked before a question is given up: keeps irregular programs linear."""


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
