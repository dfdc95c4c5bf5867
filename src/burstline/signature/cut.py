"""A consistent cut: where every process stops, so that nobody waits for what never comes.

The *place* of a call is how many events its process has left before it; a call is made if the
cut of its process is behind its place. A message crosses a cut if one of its ends is made and
the other is not; so does a collective that only some of its members make.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from burstline.columns import (
    UNKNOWN,
    AnyIntegers,
    Integers,
    begins_run,
    coded,
    ordinal_within,
    take,
)
from burstline.model import TOGETHER, Trace
from burstline.signature.events import Events
from burstline.synchronisation import Links

_EAGER_BYTES: Final = 4096  # what every MPI sends without asking the receiver


class Edges(NamedTuple):
    """Calls by process and place, of which each demands another: (process, place) each."""

    process: Integers
    place: Integers
    needed: Integers
    needed_place: Integers


@dataclass(frozen=True, slots=True, eq=False)
class HappensBefore:
    """What a cut must respect: whoever makes a call of `strict` or `least` makes another."""

    # sends and the completion of their receives, both ways; collectives; last: all complete
    strict: Edges
    # what must be made so that all calls before the cut return; messages may be in flight
    least: Edges


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """How many events each process makes, and how many messages are in flight then."""

    counts: Integers  # (processes,)
    crossing: int


def happens_before(trace: Trace, events: Events) -> HappensBefore:
    """What the messages and collectives of a trace demand of each other."""
    places, links = _Places(trace, events), Links(trace)
    sent, completed, posted, received = map(places, links.messages())
    done_ns, post_ns, size = trace.arrays("messages", "send_done_ns", "post_ns", "sent_bytes")
    started = places(links.members().start)
    members = _all_edges(
        _member_edges(trace, *started), _joint_call_edges(trace, events, places)
    )
    forth, back = _edges_between(sent, received), _edges_between(received, sent)
    # A small send that was complete before its receive was posted waits for nobody.
    may_wait = (done_ns >= post_ns) | (size > _EAGER_BYTES)
    completed = np.where(may_wait, completed[0], UNKNOWN), completed[1]
    waits = _edges_between(completed, posted)
    return HappensBefore(_all_edges(forth, back, members), _all_edges(back, waits, members))


class _Places:
    """The process and place of calls, by their rows."""

    def __init__(self, trace: Trace, events: Events) -> None:
        (location,) = trace.arrays("calls", "location")
        self._place = np.zeros(len(location), np.int64)
        self._process = of_call = events.processes_at(trace)[location]
        # Other calls have the place of the event that follows them.
        order = np.argsort(events.row) if (np.diff(events.row) < 0).any() else slice(None)
        row = events.row[order]
        ordinal = np.arange(len(events.row)) - np.repeat(
            events.begin[:-1], np.diff(events.begin)
        )
        following = np.searchsorted(row, np.arange(len(location)))
        inside = following < len(row)
        same = np.zeros(len(location), bool)
        same[inside] = of_call[row[following[inside]]] == of_call[inside]
        self._place[same] = ordinal[order][following[same]]
        self._place[~same] = np.diff(events.begin)[of_call[~same]]

    def __call__(self, row: AnyIntegers) -> tuple[Integers, Integers]:
        return take(self._process, row).astype(np.int64), take(self._place, row)


def _edges_between(one: tuple[Integers, Integers], other: tuple[Integers, Integers]) -> Edges:
    known = (one[0] >= 0) & (other[0] >= 0)
    return Edges(*(column[known] for column in (*one, *other)))


def _member_edges(trace: Trace, process: Integers, place: Integers) -> Edges:
    """Each member of a collective demands the next one of it, and the last the first."""
    (collective,) = trace.arrays("collective_members", "collective")
    known = process >= 0
    collective, process, place = collective[known], process[known], place[known]
    order = np.argsort(collective, kind="stable")
    collective, process, place = collective[order], process[order], place[order]
    following = np.arange(1, len(collective) + 1)
    starts = np.flatnonzero(begins_run(collective)) if len(collective) else following
    following[np.append(starts[1:], len(collective))[: len(starts)] - 1] = starts
    return Edges(process, place, process[following], place[following])


def _joint_call_edges(trace: Trace, events: Events, places: _Places) -> Edges:
    """Calls that all members make together and that are no instances: the k-th of each process.

    Only where all processes make the same of them: what is on a part of the ranks is not told.
    """
    codes, names = coded(trace.table("calls")["operation"])
    row = np.flatnonzero(np.array([*(name in TOGETHER for name in names), False])[codes])
    process, place = places(row)
    row, process, place = row[process >= 0], process[process >= 0], place[process >= 0]
    turn = ordinal_within(process)
    order = np.lexsort((process, turn))
    processes = len(events.ranks)
    shape = (len(row) // processes, processes)
    operations = codes[row[order]][: shape[0] * processes].reshape(shape)
    if len(row) % processes or (operations != operations[:, :1]).any():
        none = np.zeros(0, np.int64)
        return Edges(none, none, none, none)
    process, place = process[order].reshape(shape), place[order].reshape(shape)
    following = np.roll(process, -1, axis=1), np.roll(place, -1, axis=1)
    return Edges(process.ravel(), place.ravel(), following[0].ravel(), following[1].ravel())


def _all_edges(*parts: Edges) -> Edges:
    return Edges(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def cut_of(demands: HappensBefore, wanted: Integers, most: Integers) -> Cut:
    """The first cut not before what is wanted that nothing crosses, if it is below `most`.

    Else messages may be in flight, but every call that is made returns.
    """
    strict = closure(demands.strict, wanted)
    if (strict <= most).all():
        return Cut(strict, 0)
    least = closure(demands.least, wanted)
    ends = demands.strict
    made = ends.place < least[ends.process]
    return Cut(least, int(np.count_nonzero(made & (ends.needed_place >= least[ends.needed]))))


def closure(ends: Edges, wanted: Integers) -> Integers:
    """The least counts from `wanted` on that meet all demands."""
    counts = wanted.copy()
    open_ends = ends
    while True:
        # What is needed already, or needed by none up to now, is looked at again only if
        # it is open: ends that are met stay met, for counts only grow.
        unmet = open_ends.needed_place >= counts[open_ends.needed]
        open_ends = Edges(*(column[unmet] for column in open_ends))
        made = open_ends.place < counts[open_ends.process]
        if not made.any():
            return counts
        np.maximum.at(counts, open_ends.needed[made], open_ends.needed_place[made] + 1)
