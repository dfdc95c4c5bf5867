"""The events of an archive from all tables of a trace, a location at a time.

Messages and collectives are sorted by no location: they are in memory as a whole.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from burstline._core import Defined, Written
from burstline.columns import Columns, Integers, coded, distinct, mapped, to_numpy
from burstline.errors import NotEnoughDataError
from burstline.formats.otf2.numbers import COLLECTIVE_OPERATIONS, NO_ROOT, PERIODS
from burstline.formats.otf2.writing.definitions import WrittenCommunicators, WrittenDefinitions
from burstline.formats.otf2.writing.order import (
    EventMoments,
    OrderedEvents,
    RowsByLocation,
    Turn,
    columns_of,
)
from burstline.formats.otf2.writing.other_events import OtherEvents, Parameters
from burstline.formats.walk import Walk
from burstline.model import NO_VALUE, UNKNOWN, Trace, operations, schema

_RECORDED: Final = schema.SEND_DONE_SOURCES.index("recorded")
_TAG_BITS: Final = 0xFFFFFFFF
_CREATES, _DESTROYS = 17, 18
_DESTROYERS: Final = ("Finalize", "free", "disconnect", "close")
_CREATORS: Final = (
    "Init", "Comm_", "Intercomm", "Cart_", "Graph_", "Dist_graph", "Win_", "File_open",
)  # fmt: skip
_NOT_MPI: Final = 255
"""Operation of a call that the format has no collective for."""

_MOST_COUNTERS: Final = 255  # their number is a byte

_OWN_REQUESTS: Final = 1 << 48
"""Requests that have no id in the trace are numbered from here."""


class _Form(NamedTuple):
    """What rows write as events of a kind: rows have a mask of its name, and the columns."""

    kind: Written
    event: str  # its moments are in the columns ``event_seq``, ``event_call``, ``event_ns``
    turns: tuple[Turn, Turn]  # as a rule, and where the ordinal is that of the call's enter
    arguments: tuple[str, ...] = ()


_BEGUN: Final = Turn.COMPLETION, Turn.START
_ENDED: Final = Turn.COMPLETION, Turn.FOLLOWUP
_ENVELOPE: Final = ("partner", "communicator", "tag", "bytes")
_PART: Final = ("operation", "communicator", "root", "sent_bytes", "received_bytes")
_SENDS: Final = (
    _Form(Written.SEND, "send", _BEGUN, _ENVELOPE),
    _Form(Written.ISEND, "send", _BEGUN, (*_ENVELOPE, "request")),
    _Form(Written.SEND_DONE, "send_done", _ENDED, ("request",)),
)
_RECEIVES: Final = (
    _Form(Written.POST, "post", _BEGUN, ("request",)),
    _Form(Written.RECEIVE, "receive", _ENDED, _ENVELOPE),
    _Form(Written.IRECEIVE, "receive", _ENDED, (*_ENVELOPE, "request")),
)
# Half messages are in no call: what begins starts always.
_HALVES: Final = tuple(
    form._replace(event="half", turns=form.turns if form.turns == _ENDED else _BEGUN[1:] * 2)
    for form in _SENDS + _RECEIVES
)
_COLLECTIVES: Final = (
    _Form(Written.COLLECTIVE_BEGIN, "begin", _BEGUN),
    _Form(Written.COLLECTIVE_START, "begin", _BEGUN, ("request",)),
    _Form(Written.COLLECTIVE_END, "end", _ENDED, _PART),
    _Form(Written.COLLECTIVE_COMPLETE, "end", _ENDED, (*_PART, "request")),
)


def _leave_ordinals(calls: Columns, regions: Columns) -> Integers:
    """The ordinal of each call's leave; who never left leaves before the regions around it."""
    leave_seq = calls["leave_seq"].copy()
    for row in np.flatnonzero(leave_seq >= schema.NEVER_LEFT).tolist():
        around = (regions["enter_seq"] <= calls["enter_seq"][row]) & (
            regions["leave_ns"] == calls["leave_ns"][row]
        )
        first = int(regions["leave_seq"][around].min(initial=schema.NEVER_LEFT))
        leave_seq[row] = max(first - 1, int(calls["enter_seq"][row]))
    return leave_seq


class Communication:
    """Messages, half messages and parts of collectives of all locations, in memory."""

    def __init__(self, trace: Trace, communicators: WrittenCommunicators) -> None:
        sends, receives = _message_columns(trace, communicators)
        self._tables = (
            (_SENDS, RowsByLocation(sends)),
            (_RECEIVES, RowsByLocation(receives)),
            (_HALVES, RowsByLocation(_half_messages(trace, communicators))),
            (_COLLECTIVES, RowsByLocation(_collective_columns(trace, communicators))),
        )

    def add(self, events: OrderedEvents, location: int, calls: Columns) -> None:
        """Add what a location did, in its `calls` or outside of them."""
        for forms, table in self._tables:
            rows = table.of(location)
            stamps = {event: EventMoments(rows, event, calls) for _, event, *_ in forms}
            for kind, event, turns, names in forms:
                stamp, arguments = stamps[event], (rows[name] for name in names)
                where = rows[kind.name] & stamp.has_moment
                events.add(kind, stamp.turn(*turns), stamp.moment, *arguments, where=where)


def _message_columns(
    trace: Trace, communicators: WrittenCommunicators
) -> tuple[Columns, Columns]:
    """What was sent and what was received, each on the location that did so."""
    rows = columns_of(trace.messages)
    sender, receiver, row = (
        rows[name] for name in ("sender_location", "receiver_location", "communicator")
    )
    application, process = communicators.application[sender], communicators.process
    reference, destination = communicators.named(row, process[receiver], application)
    of_sender, source = communicators.named(row, process[sender], application)
    # Both sides name the same communicator: the world, if either is no member.
    apart = np.flatnonzero(reference != of_sender)
    unknown = np.full(len(apart), UNKNOWN)
    for ranks, location in ((destination, receiver), (source, sender)):
        world = unknown, process[location[apart]], application[apart]
        reference[apart], ranks[apart] = communicators.named(*world)
    waits = rows["send_request"] != NO_VALUE
    is_done = waits & (rows["send_done_from"] == _RECORDED)
    sends = {name: rows[name] for name in rows if name.startswith("send_")} | {
        "location": sender,
        "partner": destination,
        "bytes": rows["sent_bytes"],
        "request": rows["send_request"],
        "SEND": ~waits,
        "ISEND": waits,
        "SEND_DONE": is_done & (rows["send_done_ns"] != NO_VALUE),
    }
    waits = rows["receive_request"] != NO_VALUE
    is_posted = (rows["post_seq"] != NO_VALUE) | (rows["post_call"] >= 0)
    receives = {name: rows[name] for name in rows if name.startswith(("post_", "receive_"))} | {
        "location": receiver,
        "partner": source,
        "bytes": rows["received_bytes"],
        "request": rows["receive_request"],
        "POST": waits,
        "RECEIVE": ~waits,
        "IRECEIVE": waits & is_posted,
    }
    both = {"communicator": reference, "tag": rows["tag"] & _TAG_BITS}
    return sends | both, receives | both


def _half_messages(trace: Trace, communicators: WrittenCommunicators) -> Columns:
    rows = columns_of(trace.half_messages)
    location, application = rows["location"], communicators.application[rows["location"]]
    process = communicators.processes(application, rows["peer"])
    reference, partner = communicators.named(rows["communicator"], process, application)
    waits, has_partner = rows["request"] != NO_VALUE, partner >= 0
    is_half = {kind: rows["kind"] == code for code, kind in enumerate(schema.HALF_KINDS)}
    return rows | {
        "half_seq": rows["seq"],
        "half_call": np.full(len(location), UNKNOWN),
        "half_ns": rows["time_ns"],
        "partner": partner,
        "communicator": reference,
        "tag": rows["tag"] & _TAG_BITS,
        "bytes": np.where(rows["bytes"] == NO_VALUE, 0, rows["bytes"]),
        "SEND": is_half["send"] & has_partner & ~waits,
        "ISEND": is_half["send"] & has_partner & waits,
        "SEND_DONE": is_half["send_done"] & waits,
        "POST": is_half["post"] & waits,
        "RECEIVE": is_half["receive"] & has_partner & ~waits,
        "IRECEIVE": is_half["receive"] & has_partner & waits,
    }


def _collective_columns(trace: Trace, communicators: WrittenCommunicators) -> Columns:
    """The parts of collectives that the format has."""
    rows = columns_of(trace.collective_members)
    location, instance = rows["location"], rows["collective"]
    names = coded(trace.collectives["operation"])[1] or operations.NAMES
    of_instances = columns_of(trace.collectives, ("operation", "communicator", "root"))
    code, row, root = (column[instance] for column in of_instances.values())
    operation = np.array([*map(_number_of, names), _NOT_MPI], np.int64)[code]
    application = communicators.application[location]
    reference, _ = communicators.named(row, communicators.process[location], application)
    root_process = communicators.processes(application, root)
    of_root, rank = communicators.named(row, root_process, application)
    is_there = (root >= 0) & (rank >= 0) & (of_root == reference)
    blocking = rows["done_call"] == rows["call"]
    is_started = ~blocking & (rows["done_call"] >= 0) & (rows["end_ns"] != NO_VALUE)
    blocking, is_started = (mask & (operation != _NOT_MPI) for mask in (blocking, is_started))
    return rows | {
        "begin_call": rows["call"],
        "end_call": rows["done_call"],
        "operation": operation,
        "communicator": reference,
        "root": np.where(is_there, rank, NO_ROOT),
        "request": _OWN_REQUESTS + np.arange(len(location)),
        "COLLECTIVE_BEGIN": blocking,
        "COLLECTIVE_START": is_started,
        "COLLECTIVE_END": blocking,
        "COLLECTIVE_COMPLETE": is_started,
    }


def collectives_left_out(trace: Trace) -> int:
    """How many collectives are of operations that the format has no number for."""
    code, names = coded(trace.collectives["operation"])
    missing = [place for place, name in enumerate(names) if _number_of(name) == _NOT_MPI]
    return int(np.isin(code, missing).sum())


def _number_of(name: str) -> int:
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
_FLUSH: Final = schema.GAP_KINDS.index("flush")
_NEVER_THERE: Final = schema.GAP_KINDS.index("not_created")
_CALL: Final = ("operation", "enter_ns", "leave_ns", "enter_seq", "leave_seq")
_REGION: Final = ("region", *_CALL[1:])
_LOCK: Final = ("lock", "order", "acquire_ns", "acquire_seq", "release_ns", "release_seq")
_FORK: Final = ("fork_ns", "fork_seq", "join_ns", "join_seq", "threads")
_SAMPLE: Final = ("time_ns", "periods", "call_path")
_LARGEST_LOCK: Final = 0xFFFFFFFF


class TraceEvents:
    """The events of all locations, asked for in their order; adds definitions they need."""

    def __init__(self, trace: Trace, definitions: WrittenDefinitions) -> None:
        self._definitions = definitions
        born, died = trace.arrays("locations", "born_ns", "died_ns")
        self._start = min(int(born.min(initial=0)), 0)
        # behind the last event, once all locations were asked for
        self.length_ns = int(died.max(initial=0)) - self._start + 1
        roles = trace.region_defs["role"].to_pylist()
        self._is_team = np.array([role == "team" for role in roles], bool)
        self._calls = Walk(trace, "calls", ("location", *_CALL))
        self._regions = Walk(trace, "regions", ("location", *_REGION))
        self._readings = Walk(trace, "readings")
        self._gaps, self._locks = Walk(trace, "gaps"), Walk(trace, "locks")
        self._samples = Walk(trace, "samples", ("location", *_SAMPLE))
        self._counters = trace.counter_names
        self._absolute = [mode == "absolute" for mode in trace.counters["mode"].to_pylist()]
        self._communication = Communication(trace, definitions.communicators)
        forks = columns_of(trace.teams, ("fork_location", *_FORK))
        self._forks = RowsByLocation(forks | {"location": forks["fork_location"]})
        self._parameters = Parameters(trace, definitions)
        self._other_events = OtherEvents(trace, definitions)
        self._lock_numbers: dict[int, int] = {}

    def of(self, location: int) -> OrderedEvents:
        """The events of a location, which is not before one that was asked for already."""
        events = OrderedEvents(self._start)
        calls = columns_of(self._calls.of(location), _CALL)
        self._add_spans(events, location, calls)
        self._add_forks(events, location)
        self._communication.add(events, location, calls)
        self._add_locks(events, location)
        self._add_gaps(events, location)
        self._parameters.add(events, location)
        self._add_metrics(events, location)
        self._other_events.add(events, location)
        self._add_samples(events, location)
        self.length_ns = max(self.length_ns, events.last_ns + 1)
        return events

    def _add_spans(self, events: OrderedEvents, location: int, calls: Columns) -> None:
        names = self._calls.names("operation") or list(operations.NAMES)
        define = self._definitions.operation
        called = mapped(lambda code: define(code, names), calls["operation"])
        regions = columns_of(self._regions.of(location), _REGION)
        calls = calls | {"leave_seq": _leave_ordinals(calls, regions)}
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

    def _add_forks(self, events: OrderedEvents, location: int) -> None:
        forks = self._forks.of(location)
        forked, joined = (
            (forks[f"{event}_ns"], forks[f"{event}_seq"]) for event in ("fork", "join")
        )
        events.add(Written.FORK, Turn.FORK, forked, forks["threads"])
        events.add(Written.JOIN, Turn.JOIN, joined)

    def _add_locks(self, events: OrderedEvents, location: int) -> None:
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

    def _add_gaps(self, events: OrderedEvents, location: int) -> None:
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

    def _add_samples(self, events: OrderedEvents, location: int) -> None:
        rows = columns_of(self._samples.of(location), _SAMPLE)
        count = len(rows["time_ns"])
        if not count:
            return
        moment = rows["time_ns"], np.full(count, -1, np.int64)
        order = 2 * np.arange(count) + 1  # behind gaps of that moment; periods before theirs
        code = schema.VALUE_TYPES.index("uint64")
        periods = self._definitions.named(PERIODS, Defined.ATTRIBUTE, code)
        events.add(
            Written.ATTRIBUTE, Turn.METRIC, moment, periods, code, rows["periods"], tie=order
        )
        context = self._definitions.contexts.of(rows["call_path"])
        events.add(Written.SAMPLE, Turn.METRIC, moment, context, tie=order + 1)

    def _add_metrics(self, events: OrderedEvents, location: int) -> None:
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
            self._definitions.metrics[tuple(np.flatnonzero(pattern).tolist())]
            if pattern.any()
            else 0
            for pattern in read[patterns]
        ]
        # The values of a reading stand together, and their types behind them.
        types = np.broadcast_to(self._definitions.value_types, read.shape)
        first = events.add_values(np.hstack([values, types])[np.hstack([read, read])])
        count = read.sum(axis=1)
        if (most := int(count.max())) > _MOST_COUNTERS:
            raise NotEnoughDataError(
                f"OTF2 holds at most {_MOST_COUNTERS} counters that are read at once, and "
                f"{most} are: write the trace as .prv, .store, .parquet or .csv"
            )
        first_value = first + 2 * (np.cumsum(count) - count)
        moment = to_numpy(readings["time_ns"]), to_numpy(readings["seq"])
        metric = np.array(metrics, np.int64)[which]
        reading = metric, first_value, count
        events.add(Written.METRIC, Turn.METRIC, moment, *reading, where=count > 0)
