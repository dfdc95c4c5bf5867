"""Phases as published: stretches of events of different types, by types and amounts of work.

EPAS, of each process alone [1]_. A phase ends before the first event of a type that it has;
it is an occurrence of the oldest phase with the same types in the same order that did similar
work before each of them.

PAS2P, of all processes together [2]_. Events have logical times; a phase ends before the time
at which any process would repeat a type, and all processes have the same phases.

.. [1] F. Tirado, A. Wong, D. Rexachs, E. Luque, Scalable performance analysis method for SPMD
   applications, accepted 2022.
.. [2] A. Wong, D. Rexachs, E. Luque, Parallel application signature for performance analysis
   and prediction, IEEE Transactions on Parallel and Distributed Systems 26(7), 2015, 2009-2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline.columns import (
    UNKNOWN,
    AnyIntegers,
    ColumnParts,
    Integers,
    Mask,
    begins_run,
    ranges,
    run_lengths,
    take,
)
from burstline.errors import ParameterError
from burstline.model import Trace
from burstline.signature.events import TIME, Events, Hashes, Occurrences
from burstline.synchronisation import Links

# type, process, work, first event of each tick, as the kernel takes them
Columns = tuple[Hashes, npt.NDArray[np.int32], Integers, Integers]

Key = Literal["operation", "full"]

SIMILARITY: Final = 0.85
"""How much of the more work the less must be, as published; for counters without noise."""

_NOISY: Final = (TIME, "cpu", "task-clock")
_WITHIN: Final = 3.8
"""99 of 100 normal values are as near to their mean, in units of the median distance."""
_FARTHEST: Final = 12
"""Up to how many occurrences later work may repeat."""
_MANY: Final = 1 << 14
_NOTHING: Final = np.zeros(0, np.int64)

# What happens in an event, in this order: a poll before it completed a receive, the call sends,
# it receives, and it meets the others of a collective, whose time is that of the latest.
_BEGIN, _POLLED, _SEND, _RECEIVE, _ARRIVE, _MEET = range(6)


@dataclass(frozen=True, slots=True)
class Coordination:
    """What processes would tell each other if each analysed its own events, as published."""

    messages: int  # with a logical time, one for each between processes of the program
    agreements: int  # collectives on a logical time, one for each of the program
    decisions: int  # collectives on whether a phase ends, one for each tick


def epas(
    events: Events, process: int, *, similarity: float | None = None, key: Key = "operation"
) -> Occurrences:
    """The phases of a process, by nothing but its own events.

    Events are of one type if their operations are, or also partners and communicators if the
    key is ``"full"``. Without a similarity, it is that of :func:`noise`.
    """
    part = events.of(process)
    columns = (
        _event_types(events, part, key),
        np.zeros(0, np.int32),
        events.work[part],
        _NOTHING,
    )
    threshold = _least_similarity(columns, events.work_counter, similarity)
    phase, begin = _core.phases(*columns, threshold)
    return Occurrences(phase, begin[:-1], begin[1:], _phase_names(phase), threshold)


def pas2p(
    trace: Trace, events: Events, *, similarity: float | None = None, key: Key = "operation"
) -> tuple[list[Occurrences], Coordination]:
    """The phases of all processes together, with the events of each process in them.

    A process has no occurrence of a phase in which it has no event. What else may be chosen is
    as in :func:`epas`.
    """
    time, messages, agreements = logical_times(trace, events)
    process = events.process
    order, begin = _core.order_within(
        time.astype(np.int32), process.astype(np.int64), int(time.max(initial=0)) + 1
    )
    tick_begin = np.append(begin[:-1][np.diff(begin) > 0], len(time))
    types = _event_types(events, slice(None), key)
    columns = types[order], process[order], events.work[order], tick_begin
    threshold = _least_similarity(columns, events.work_counter, similarity)
    phase, tick = _core.phases(*columns, threshold)
    of_event = np.empty(len(time), np.int64)
    of_event[order] = np.repeat(np.arange(len(phase)), np.diff(tick_begin[tick]))
    names = _phase_names(phase)
    occurrences = []
    for each in range(len(events.ranks)):
        within = of_event[events.of(each)]
        first = np.flatnonzero(begins_run(within))
        end = first + run_lengths(first, len(within))
        occurrences.append(Occurrences(phase[within[first]], first, end, names, threshold))
    return occurrences, Coordination(messages, agreements, len(tick_begin) - 1)


def logical_times(trace: Trace, events: Events) -> tuple[Integers, int, int]:
    """The logical time of each event, and how many messages and collectives decide these.

    It is more by 1 than the latest of that of the event before it on its process, of the sends
    of the messages that it completes, and of what comes before each member of its collective,
    all of which have one time. A send has the time of its call without what that receives. A
    receive that a poll completed is of the next event. One of a collective that does not block
    is later than the starts of all. What waits for itself does not wait.
    """
    calls, steps = Links(trace), _Steps(trace, events)
    of_message, of_member = calls.messages(), calls.members()
    send = steps.event(of_message.send)
    receive, polled = steps.completion(of_message.receive)
    source = np.arange(len(send))
    steps.add(send, _SEND, signals=source)
    steps.add(receive, np.where(polled, _POLLED, _RECEIVE), awaits=source)
    process = events.process
    linked = np.flatnonzero((send >= 0) & (receive >= 0))
    messages = int(np.count_nonzero(process[send[linked]] != process[receive[linked]]))

    complete, ambiguous = calls.certain()
    (collective,) = trace.arrays("collective_members", "collective")
    usable = (complete & ~ambiguous)[collective]
    start = np.where(usable, steps.event(of_member.start), UNKNOWN)
    done, polled = steps.completion(of_member.done)
    done = np.where(start >= 0, done, UNKNOWN)
    source = collective + len(send)
    blocks = start == done
    # A time of 1 before that of the latest, as what is taken is later by 1.
    steps.add(start[blocks], _ARRIVE, step=-1, signals=source[blocks])
    steps.add(start[blocks], _MEET, step=1, awaits=source[blocks])
    steps.add(start[~blocks], _SEND, signals=source[~blocks])
    when = np.where(polled, _POLLED, _RECEIVE)[~blocks]
    steps.add(done[~blocks], when, awaits=source[~blocks])
    agreements = len(np.unique(collective[start >= 0]))
    return steps.times(len(send) + trace.rows("collectives")), messages, agreements


class _Steps:
    """What happens in events: steps of logical time, what they give and what they wait for."""

    _TYPES: Final[dict[str, npt.DTypeLike]] = {
        "event": np.int32, "when": np.int64, "step": np.int64, "signals": np.int32,
        "awaits": np.int32,
    }  # fmt: skip

    def __init__(self, trace: Trace, events: Events) -> None:
        location, self._enter_ns = trace.arrays("calls", "location", "enter_ns")
        self._events, self._event = events, np.full(len(location), UNKNOWN)
        self._event[events.row] = np.arange(len(events.row))
        self._location, self._process = location, events.processes_at(trace)
        self._steps = ColumnParts(self._TYPES)
        self.add(np.arange(len(events.row)), _BEGIN, step=1)

    def event(self, row: AnyIntegers) -> Integers:
        """The event that each call is, -1 if it is none."""
        return take(self._event, row)

    def completion(self, row: AnyIntegers) -> tuple[Integers, Mask]:
        """The event of each call, the next one if it is a poll, and whether that is so."""
        event = take(self._event, row)
        is_poll = (row >= 0) & (event < 0)
        other = np.flatnonzero(is_poll)
        polls = row[other]
        process, entered = self._process[self._location[polls]], self._enter_ns[polls]
        for each in np.unique(process[process >= 0]).tolist():
            mine, part = np.flatnonzero(process == each), self._events.of(each)
            after = np.searchsorted(self._events.enter_ns[part], entered[mine], "right")
            is_last = after == part.stop - part.start
            event[other[mine]] = np.where(is_last, UNKNOWN, part.start + after)
        return event, is_poll

    def add(
        self,
        event: Integers,
        when: Integers | int,
        *,
        step: int = 0,
        signals: Integers | int = UNKNOWN,
        awaits: Integers | int = UNKNOWN,
    ) -> None:
        """Add what happens in events, of which some may be unknown."""
        chosen = np.flatnonzero(event >= 0)
        columns = (event, when, step, signals, awaits)
        known = (each if isinstance(each, int) else each[chosen] for each in columns)
        self._steps.add(len(chosen), *known)

    def times(self, sources: int) -> Integers:
        """The logical times of all events, from 1."""
        event, when = self._steps.take("event"), self._steps.take("when")
        order, begin = _core.order_within(event, when, len(self._events.row))
        step, *links = self._steps.take_rest(order).values()
        before = np.full(sources, UNKNOWN, np.int32)
        (stamps,), *_ = _core.replay(
            (begin[self._events.begin], *links, before), [(step, _NOTHING, 1)]
        )
        return stamps[begin[1:] - 1]


def _event_types(events: Events, part: slice, key: Key) -> Hashes:
    if key not in get_args(Key):
        raise ParameterError(f"no key {key!r}; there are {', '.join(get_args(Key))}")
    if key == "full" and not events.full:
        raise ParameterError(
            "the trace does not tell the partners of all calls: compare their operations alone"
        )
    return events.token[part] if key == "full" else events.operation[part].astype(np.uint64)


def _least_similarity(columns: Columns, counter: str, similarity: float | None) -> float:
    if similarity is None:
        is_noisy = counter.lower() in _NOISY
        return min(SIMILARITY, noise(columns)) if is_noisy else SIMILARITY
    if not 0 <= similarity <= 1:
        raise ParameterError(f"a similarity is a number from 0 to 1, got {similarity}")
    return similarity


def noise(columns: Columns) -> float:
    """The similarity that 99 of 100 events keep that differ by noise alone.

    Stretches of the same types are compared with the next of them, with the one after that, and
    so on, as a program may take turns. The distance counts at which the middle ratio of work at
    the same place is highest: what still differs there is noise. It is taken for normal, of
    logarithms of work, so that the middle ratio is enough to tell it.
    """
    _, _, work, tick_begin = columns
    phase, begin = _core.phases(*columns, 0.0)
    if len(tick_begin):
        begin = tick_begin[begin]
    order = np.argsort(phase, kind="stable")
    best, least = 1.0, 0
    for apart in range(1, _FARTHEST + 1):
        again = phase[order[apart:]] == phase[order[:-apart]]
        pairs = int(np.count_nonzero(again))
        if pairs <= least:
            break
        middle = _middle_ratio(work, begin, order[apart:][again], order[:-apart][again])
        best, least = (middle, pairs // 2) if apart == 1 else (max(best, middle), least)
    return best**_WITHIN


def _middle_ratio(
    work: Integers, begin: Integers, one: AnyIntegers, other: AnyIntegers
) -> float:
    """The median ratio of work at the same place of two occurrences, of many some pairs."""
    some = slice(None, None, len(one) // _MANY + 1)
    one, other = one[some], other[some]
    length = begin[one + 1] - begin[one]
    event = ranges(begin[one], length)
    here = work[event]
    there = work[event - np.repeat(begin[one] - begin[other], length)]
    less, more = np.minimum(here, there), np.maximum(here, there)
    ratios = less[more > 0] / more[more > 0]
    return float(np.median(ratios)) if len(ratios) else 1.0


def _phase_names(phase: AnyIntegers) -> tuple[str, ...]:
    return tuple(f"phase {k + 1}" for k in range(int(phase.max(initial=-1)) + 1))
