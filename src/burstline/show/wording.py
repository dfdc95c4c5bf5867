"""Wording: the nodes of a structure in the words of a program.

::

    Loop       ->  for 1 to 10:  # loop 1, 98.3 % of the run
    Condition  ->  if not first iteration:
    Call       ->  MPI_Send(rank+1, world)

Iterations are counted from 1 here, as people count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.errors import printable
from burstline.show.units import format_share
from burstline.structure import compact

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from burstline.columns import Integers
    from burstline.structure import Call, Condition, Loop, Runs

_NAME: Final = 60
_FEW: Final = 4
_TEENS: Final = range(11, 14)


def name_text(text: str) -> str:
    """Make a name from a trace safe and short enough to print."""
    return printable(text.strip(), limit=_NAME)


def loop_text(loop: Loop) -> str:
    """Write the head of a loop: its trip count, number and share of the run."""
    remarks = [f"loop {loop.id}", f"{format_share(loop.share)} of the run"]
    if loop.when is None and loop.probability < 1:
        remarks.append(f"entered in {format_share(loop.probability)} of the iterations around")
    if loop.hidden:
        remarks.append("no call of its own")
    return f"for 1 to {_trips_text(loop)}:  # {', '.join(remarks)}"


def _trips_text(loop: Loop) -> str:
    if loop.trips is None:
        whole = abs(loop.iterations - round(loop.iterations)) < 0.005
        return f"{loop.iterations:.0f}" if whole else f"{loop.iterations:.2f} (mean)"
    lanes = np.flatnonzero(loop.executions).tolist()
    trips = [loop.trips.values(lane) for lane in lanes]
    together = np.concatenate(trips)
    low, high = int(together.min()), int(together.max())
    if low == high:
        return f"{low}"
    if all(each.min() == each.max() for each in trips):
        return f"{low}..{high} (by rank)"
    alike = all(np.array_equal(each, trips[0]) for each in trips)
    if alike and len(trips[0]) <= _FEW:
        return f"n, n = {', '.join(map(str, trips[0].tolist()))}"
    steps = np.unique(np.diff(trips[0]))
    if alike and len(steps) == 1:
        return f"n, n = {trips[0][0]}, {trips[0][1]}, .., {trips[0][-1]}"
    return f"{low}..{high} (mean {together.mean():.2f})"


def condition_text(condition: Condition, around: Loop | None) -> str:
    """Write when a condition holds, in the words that fit all its ranks."""
    lanes = np.flatnonzero(condition.executions).tolist()
    share = f"in {format_share(condition.probability)} of the iterations"
    if around is None or around.trips is None:
        return share
    said = {_holds(condition.when.values(k), around.trips.values(k)) for k in lanes}
    return said.pop() or share if len(said) == 1 else share


def is_otherwise(condition: Condition, before: Condition, around: Loop | None) -> bool:
    """Whether a condition holds exactly when the one before does not."""
    if around is None or not np.array_equal(
        condition.executions + before.executions, around.executions * (condition.executions > 0)
    ):
        return False
    lanes = np.flatnonzero(condition.executions).tolist()
    return all(_are_apart(condition.when, before.when, lane) for lane in lanes)


def _are_apart(a: Runs, b: Runs, lane: int) -> bool:
    return not np.isin(a.values(lane), b.values(lane)).any()


def _holds(when: Integers, trips: Integers) -> str | None:
    """Say in which iterations something happens; None if there are no few words for it."""
    begins = np.cumsum(trips) - trips
    entry = np.searchsorted(begins, when, side="right") - 1
    place = when - begins[entry]
    to_end = trips[entry] - 1 - place
    for at, name in ((place, "first"), (to_end, "last")):
        if len(when) == len(trips) and not at.any():
            return f"{name} iteration"
        if len(when) == trips.sum() - len(trips) and at.all():
            return f"not {name} iteration"
    every = _in_each(place, entry, trips)
    return None if every is None else _set_text(every, int(trips.max()))


def _in_each(place: Integers, entry: Integers, trips: Integers) -> Integers | None:
    """The iterations of an entry in which something happens, if all entries agree."""
    first = place[entry == 0]
    if trips.min() != trips.max() or len(place) != len(first) * len(trips):
        return None
    return first if np.array_equal(place, np.tile(first, len(trips))) else None


def _set_text(chosen: Integers, total: int) -> str | None:
    """Write a set of iterations 0..total-1."""
    if len(chosen) == 1:
        return f"iteration == {chosen[0] + 1}"
    steps = np.unique(np.diff(chosen))
    step = int(steps[0])
    if len(steps) == 1 and step > 1 and chosen[-1] + step >= total:
        since = f", from iteration {chosen[0] + 1}" if chosen[0] != step - 1 else ""
        return f"every {_ordinal(step)} iteration{since}"
    inside = compact((chosen + 1).tolist())
    outside = compact((np.setdiff1d(np.arange(total), chosen) + 1).tolist())
    if inside.count(",") >= _FEW and outside.count(",") >= _FEW:
        return None
    if outside.count(",") < inside.count(","):
        return f"iteration not in {{{outside}}}"
    return f"iteration in {{{inside}}}"


def _ordinal(number: int) -> str:
    last = 0 if number % 100 in _TEENS else number % 10
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(last, 'th') }".replace(" ", "")


def ranks_text(ranks: Collection[int], around: Collection[int]) -> str:
    """Write the condition that holds on some of the ranks `around`."""
    if len(ranks) == 1:
        return f"rank == {min(ranks)}"
    return f"rank in {{{compact(ranks, around)}}}"


def call_text(call: Call, world: int) -> str:
    """Write a call, with its partners among `world` ranks, communicator and root."""
    said = [text for text in (_partner(call, world), call.communicator) if text]
    if call.roots:
        said.append(f"root {compact(call.roots)}")
    unexplained = call.when is None and call.probability < 1
    condition = f"  # in {format_share(call.probability)}" if unexplained else ""
    return f"{name_text(call.operation)}({', '.join(said)}){condition}"


def _partner(call: Call, world: int) -> str:
    if not call.peers:
        return ""
    if len(call.peers) == 1:
        return f"{call.peers[0]}"
    if call.peers_vary:
        return f"{call.peers[0]} to {call.peers[-1]}"
    if call.offset is None:
        return compact(call.peers)
    return _relative(call.offset, call.ranks, world) if call.offset else "rank"


def _relative(offset: int, ranks: Sequence[int], world: int) -> str:
    """Write a partner so that the formula holds for every rank that uses it."""
    nearest, other = sorted((offset, offset - world), key=abs)
    for ahead in (nearest, other):
        if all(0 <= rank + ahead < world for rank in ranks):
            return f"rank{ahead:+d}"
    return f"(rank{nearest:+d})%{world}"
