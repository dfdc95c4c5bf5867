"""The events of an archive from all tables of a trace, a location at a time.

Messages and collectives are sorted by no location: they are in memory as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import operations
from burstline._core import Written
from burstline.columns import coded, distinct, to_numpy
from burstline.formats.otf2.numbers import COLLECTIVE_OPERATIONS, NO_ROOT
from burstline.formats.otf2.writing.order import Events, RowsByLocation, Stamp, Turn, columns_of
from burstline.formats.otf2.writing.other_events import OtherEvents, Parameters
from burstline.formats.walk import Walk
from burstline.schema import GAP_KINDS, HALF_KINDS, NO_VALUE, SEND_DONE_SOURCES, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from burstline.columns import Columns, Integers
    from burstline.formats.otf2.writing.definitions import Communicators, Definitions
    from burstline.trace import Trace

_ENDS: Final = ("sender_location", "receiver_location", "communicator")
_STAMPS: Final = tuple(
    f"{event}_{column}"
    for event in ("send", "send_done", "post", "receive")
    for column in ("seq", "call", "ns")
)
_MESSAGE: Final = (
    *_ENDS, *_STAMPS, "send_done_from", "send_request", "receive_request", "tag", "sent_bytes",
    "received_bytes",
)  # fmt: skip
_HALF: Final = (
    "location", "seq", "time_ns", "communicator", "peer", "tag", "bytes", "request", "kind",
)  # fmt: skip
_RECORDED: Final = SEND_DONE_SOURCES.index("recorded")
_TAG_BITS: Final = 0xFFFFFFFF
_MEMBER: Final = (
    "collective", "location", "begin_seq", "call", "begin_ns", "end_seq", "done_call", "end_ns",
    "sent_bytes", "received_bytes",
)  # fmt: skip
_CREATES, _DESTROYS = 17, 18
_DESTROYERS: Final = ("Finalize", "free", "disconnect", "close")
_CREATORS: Final = (
    "Init", "Comm_", "Intercomm", "Cart_", "Graph_", "Dist_graph", "Win_", "File_open",
)  # fmt: skip
_NOT_MPI: Final = 255
"""Operation of a call that the format has no collective for."""

_OWN_REQUESTS: Final = 1 << 48
"""Requests that have no id in the trace are numbered from here."""


class Messages:
    """All messages of a trace."""

    def __init__(self, trace: Trace, communicators: Communicators) -> None:
        self._rows = columns_of(trace.messages, _MESSAGE)
        sender, receiver, row = (self._rows[name] for name in _ENDS)
        self._sent, self._received = RowsByLocation(sender), RowsByLocation(receiver)
        application, process = communicators.application[sender], communicators.process
        reference, self._to = communicators.named(row, process[receiver], application)
        of_sender, self._from = communicators.named(row, process[sender], application)
        # Both sides name the same communicator: the world, if either is no member.
        apart = np.flatnonzero(reference != of_sender)
        unknown = np.full(len(apart), UNKNOWN)
        for ranks, location in ((self._to, receiver), (self._from, sender)):
            world = unknown, process[location[apart]], application[apart]
            reference[apart], ranks[apart] = communicators.named(*world)
        self._communicator = reference

    def add(self, events: Events, location: int, calls: Columns) -> None:
        """Add what a location did for messages, in its `calls` or outside of them."""
        self._add_sends(events, self._sent.of(location), calls)
        self._add_receives(events, self._received.of(location), calls)

    def _add_sends(self, events: Events, which: Integers, calls: Columns) -> None:
        rows = {name: column[which] for name, column in self._rows.items()}
        send, done = _stamp(rows, "send", calls), _stamp(rows, "send_done", calls)
        request = rows["send_request"]
        has_request = request != NO_VALUE
        events.add(
            np.where(has_request, int(Written.ISEND), int(Written.SEND)),
            send.turn(Turn.COMPLETION, Turn.START),
            send.moment,
            self._to[which],
            self._communicator[which],
            rows["tag"] & _TAG_BITS,
            rows["sent_bytes"],
            np.where(has_request, request, 0),
            where=send.has_moment,
        )
        is_done = has_request & (rows["send_done_from"] == _RECORDED) & done.has_moment
        is_done &= rows["send_done_ns"] != NO_VALUE
        turn = done.turn(Turn.COMPLETION, Turn.FOLLOWUP)
        events.add(Written.SEND_DONE, turn, done.moment, request, where=is_done)

    def _add_receives(self, events: Events, which: Integers, calls: Columns) -> None:
        rows = {name: column[which] for name, column in self._rows.items()}
        post, receive = _stamp(rows, "post", calls), _stamp(rows, "receive", calls)
        has_request = rows["receive_request"] != NO_VALUE
        request = np.where(has_request, rows["receive_request"], 0)
        turn, posted = post.turn(Turn.COMPLETION, Turn.START), has_request & post.has_moment
        events.add(Written.POST, turn, post.moment, request, where=posted)
        events.add(
            np.where(has_request, int(Written.IRECEIVE), int(Written.RECEIVE)),
            receive.turn(Turn.COMPLETION, Turn.FOLLOWUP),
            receive.moment,
            self._from[which],
            self._communicator[which],
            rows["tag"] & _TAG_BITS,
            rows["received_bytes"],
            request,
            where=receive.has_moment & (post.has_moment | ~has_request),
        )


def _stamp(rows: Columns, event: str, calls: Columns) -> Stamp:
    seq, call, time = (rows[f"{event}_{column}"] for column in ("seq", "call", "ns"))
    return Stamp(seq, call, time, calls)


class HalfMessages:
    """The recorded halves of messages whose other half is unknown."""

    def __init__(self, trace: Trace, communicators: Communicators) -> None:
        rows = self._rows = columns_of(trace.half_messages, _HALF)
        self._of = RowsByLocation(rows["location"])
        application = communicators.application[rows["location"]]
        process = communicators.processes(application, rows["peer"])
        self._communicator, self._partner = communicators.named(
            rows["communicator"], process, application
        )

    def add(self, events: Events, location: int) -> None:
        """Add the halves of a location, but for messages whose partner is unknown."""
        which = self._of.of(location)
        rows = {name: column[which] for name, column in self._rows.items()}
        partner, moment = self._partner[which], (rows["time_ns"], rows["seq"])
        has_request, request = rows["request"] != NO_VALUE, (rows["request"],)
        sizes = np.where(rows["bytes"] == NO_VALUE, 0, rows["bytes"])
        message = (partner, self._communicator[which], rows["tag"] & _TAG_BITS, sizes)
        blocking, waited = (partner >= 0) & ~has_request, (partner >= 0) & has_request
        for half, kind, turn, chosen, arguments in (
            ("send", Written.SEND, Turn.START, blocking, message),
            ("send", Written.ISEND, Turn.START, waited, message + request),
            ("send_done", Written.SEND_DONE, Turn.COMPLETION, has_request, request),
            ("post", Written.POST, Turn.START, has_request, request),
            ("receive", Written.RECEIVE, Turn.COMPLETION, blocking, message),
            ("receive", Written.IRECEIVE, Turn.COMPLETION, waited, message + request),
        ):
            is_half = rows["kind"] == HALF_KINDS.index(half)
            events.add(kind, turn, moment, *arguments, where=chosen & is_half)


class Collectives:
    """All parts of collectives in a trace."""

    def __init__(self, trace: Trace, communicators: Communicators) -> None:
        instances = trace.collectives
        self._rows = columns_of(trace.collective_members, _MEMBER)
        location, instance = self._rows["location"], self._rows["collective"]
        self._of = RowsByLocation(location)
        code, row, root = (
            column[instance]
            for column in columns_of(instances, ("operation", "communicator", "root")).values()
        )
        numbers = np.array([_number_of(name) for name in _operations_of(instances)], np.int64)
        self._operation = np.append(numbers, _NOT_MPI)[code]
        application = communicators.application[location]
        process = communicators.process[location]
        self._communicator, _ = communicators.named(row, process, application)
        root_process = communicators.processes(application, root)
        reference, rank = communicators.named(row, root_process, application)
        is_there = (root >= 0) & (rank >= 0) & (reference == self._communicator)
        self._root = np.where(is_there, rank, NO_ROOT)

    def add(self, events: Events, location: int, calls: Columns) -> None:
        """Add the parts of a location, in its `calls` or outside of them."""
        which = self._of.of(location)
        which = which[self._operation[which] != _NOT_MPI]
        begin_seq, call, begin_ns, end_seq, done_call, end_ns, *sizes = (
            self._rows[name][which] for name in _MEMBER[2:]
        )
        begin = Stamp(begin_seq, call, begin_ns, calls)
        end = Stamp(end_seq, done_call, end_ns, calls)
        turn = begin.turn(Turn.COMPLETION, Turn.START)
        request = _OWN_REQUESTS + which
        part = self._operation[which], self._communicator[which], self._root[which], *sizes
        blocking = done_call == call
        started = ~blocking & (done_call >= 0) & (end_ns != NO_VALUE)
        begun, ended = begin.moment, end.moment
        events.add(Written.COLLECTIVE_BEGIN, turn, begun, where=blocking)
        events.add(Written.COLLECTIVE_START, turn, begun, request, where=started)
        turn = end.turn(Turn.COMPLETION, Turn.FOLLOWUP)
        events.add(Written.COLLECTIVE_END, turn, ended, *part, where=blocking)
        events.add(Written.COLLECTIVE_COMPLETE, turn, ended, *part, request, where=started)


def _operations_of(instances: pa.Table) -> Sequence[str]:
    """Names of the operations of collectives by their codes."""
    return coded(instances["operation"])[1] or operations.NAMES


def _number_of(name: str) -> int:
    """The format's number of a collective operation."""
    plain = name.removeprefix("MPI_")
    if name in operations.NON_BLOCKING_COLLECTIVES and plain.startswith("I"):
        plain = plain[1:]
    plain = plain.capitalize().removeprefix("Neighbor_").removesuffix("_init").capitalize()
    if plain in COLLECTIVE_OPERATIONS:
        return COLLECTIVE_OPERATIONS.index(plain)
    if plain.endswith(_DESTROYERS):
        return _DESTROYS
    return _CREATES if plain.startswith(_CREATORS) and "fence" not in plain else _NOT_MPI


_ON, _OFF = 1, 2
_FLUSH: Final = GAP_KINDS.index("flush")
_NEVER_THERE: Final = GAP_KINDS.index("not_created")
_CALL: Final = ("operation", "enter_ns", "leave_ns", "enter_seq", "leave_seq")
_REGION: Final = ("region", *_CALL[1:])
_LOCK: Final = ("lock", "order", "acquire_ns", "acquire_seq", "release_ns", "release_seq")
_FORK: Final = ("fork_ns", "fork_seq", "join_ns", "join_seq", "threads")
_LARGEST_LOCK: Final = 0xFFFFFFFF


class TraceEvents:
    """The events of all locations, asked for in their order; adds definitions they need."""

    def __init__(self, trace: Trace, definitions: Definitions) -> None:
        self._definitions = definitions
        born, died = trace.arrays("locations", "born_ns", "died_ns")
        self._start = min(int(born.min(initial=0)), 0)
        # behind the last event, once all locations were asked for
        self.length_ns = max(int(died.max(initial=0)) - self._start, 0) + 1
        roles = trace.region_defs["role"].to_pylist()
        self._is_team = np.array([role == "team" for role in roles], bool)
        self._calls = Walk(trace, "calls", ("location", *_CALL))
        self._regions = Walk(trace, "regions", ("location", *_REGION))
        self._readings = Walk(trace, "readings")
        self._gaps, self._locks = Walk(trace, "gaps"), Walk(trace, "locks")
        self._counters = trace.counter_names
        self._absolute = [mode == "absolute" for mode in trace.counters["mode"].to_pylist()]
        self._messages = Messages(trace, definitions.communicators)
        self._half_messages = HalfMessages(trace, definitions.communicators)
        self._collectives = Collectives(trace, definitions.communicators)
        self._forks = columns_of(trace.teams, _FORK)
        self._forks_of = RowsByLocation(to_numpy(trace.teams["fork_location"]))
        self._parameters = Parameters(trace, definitions)
        self._other_events = OtherEvents(trace, definitions)
        self._lock_numbers: dict[int, int] = {}

    def of(self, location: int) -> Events:
        """The events of a location, which is not before one that was asked for already."""
        events = Events(self._start)
        calls = columns_of(self._calls.of(location), _CALL)
        self._add_spans(events, location, calls)
        self._add_forks(events, location)
        self._messages.add(events, location, calls)
        self._half_messages.add(events, location)
        self._collectives.add(events, location, calls)
        self._add_locks(events, location)
        self._add_gaps(events, location)
        self._parameters.add(events, location)
        self._add_metrics(events, location)
        self._other_events.add(events, location)
        self.length_ns = max(self.length_ns, events.last_ns + 1)
        return events

    def _add_spans(self, events: Events, location: int, calls: Columns) -> None:
        names = self._calls.names("operation") or list(operations.NAMES)
        codes, which = np.unique(calls["operation"], return_inverse=True)
        defined = [self._definitions.operation(int(code), names) for code in codes]
        called = np.array(defined, np.int64)[which.reshape(-1)]
        regions = columns_of(self._regions.of(location), _REGION)
        is_team = np.append(self._is_team, False)[regions["region"]]
        team = np.where(is_team, self._definitions.teams[location], -1)
        region = np.concatenate([called, self._definitions.regions[regions["region"]]])
        team = np.concatenate([np.full(len(called), -1), team])
        enter_ns, leave_ns, enter_seq, leave_seq = (
            np.concatenate([calls[name], regions[name]]) for name in _CALL[1:]
        )
        # Regions that begin together with a call are around it, if they end later.
        order = np.lexsort((-leave_seq, -leave_ns, enter_seq, enter_ns))
        enter = enter_ns[order], enter_seq[order]
        leave = leave_ns[order], leave_seq[order]
        events.add_spans(enter, leave, region[order], team[order])

    def _add_forks(self, events: Events, location: int) -> None:
        rows = self._forks_of.of(location)
        fork_ns, fork_seq, join_ns, join_seq, threads = (
            self._forks[name][rows] for name in _FORK
        )
        events.add(Written.FORK, Turn.FORK, (fork_ns, fork_seq), threads)
        events.add(Written.JOIN, Turn.JOIN, (join_ns, join_seq))

    def _add_locks(self, events: Events, location: int) -> None:
        rows = columns_of(self._locks.of(location), _LOCK)
        lock = self._numbered(rows["lock"]), rows["order"]
        acquired = rows["acquire_ns"], rows["acquire_seq"]
        events.add(Written.ACQUIRE, Turn.START, acquired, *lock)
        released = rows["release_ns"], rows["release_seq"]
        is_released = (released[0] != NO_VALUE) & (released[1] != NO_VALUE)
        events.add(Written.RELEASE, Turn.COMPLETION, released, *lock, where=is_released)

    def _numbered(self, locks: Integers) -> Integers:
        """The numbers of locks, or others once one does not fit."""
        numbers = self._lock_numbers
        if ((locks >= 0) & (locks <= _LARGEST_LOCK)).all() and not numbers:
            return locks
        return np.array(
            [numbers.setdefault(lock, len(numbers)) for lock in locks.tolist()], np.int64
        )

    def _add_gaps(self, events: Events, location: int) -> None:
        gaps = self._gaps.of(location)
        start, end, kind = columns_of(gaps, ("start_ns", "end_ns", "kind")).values()
        first = np.full(len(kind), -1, np.int64)
        begun, ended = (start, first), (end, first)
        is_long, is_flush = start < end, kind == _FLUSH
        flush = is_long & is_flush
        events.add(Written.FLUSH, Turn.METRIC, begun, end - self._start, where=flush)
        off = is_long & ~is_flush & (kind != _NEVER_THERE)
        events.add(Written.MEASUREMENT, Turn.LEAVE, begun, _OFF, where=off)
        events.add(Written.MEASUREMENT, Turn.METRIC, ended, _ON, where=off)

    def _add_metrics(self, events: Events, location: int) -> None:
        readings = self._readings.of(location)
        if not self._counters or not readings.num_rows:
            return
        valid = [readings[name].is_valid().to_numpy() for name in self._counters]
        read = np.stack(valid, axis=1)
        values = np.zeros(read.shape, np.int64)
        for place, name in enumerate(self._counters):
            column = np.where(read[:, place], to_numpy(readings[name]), 0)
            values[:, place] = column if self._absolute[place] else np.cumsum(column)
        patterns, which = distinct(*np.packbits(read, axis=1).T)
        metrics = [
            self._definitions.metric(tuple(np.flatnonzero(pattern).tolist()))
            if pattern.any()
            else 0
            for pattern in read[patterns]
        ]
        # The values of a reading stand together, and their types behind them.
        types = np.broadcast_to(self._definitions.value_types, read.shape)
        first = events.add_values(np.hstack([values, types])[np.hstack([read, read])])
        count = read.sum(axis=1)
        first_value = first + 2 * (np.cumsum(count) - count)
        moment = to_numpy(readings["time_ns"]), to_numpy(readings["seq"])
        metric = np.array(metrics, np.int64)[which]
        reading = metric, first_value, count
        events.add(Written.METRIC, Turn.METRIC, moment, *reading, where=count > 0)
