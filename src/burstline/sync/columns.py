"""What synchronises in a trace: calls and regions in order, messages, collectives.

A row names calls by their rows in `calls`, and the order of events by their ordinals, never
by stamps: stamps may be ticks of any clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.columns import NO_VALUE, UNKNOWN, Ordinals, coded, take, to_numpy
from burstline.matching import init_finalize
from burstline.operations import BLOCKING_SENDS
from burstline.schema import OTHER_EVENT_KINDS, SEND_DONE_SOURCES
from burstline.sync.intervals import Intervals
from burstline.sync.teams import Barriers, Locks, Teams, barriers_of, locks_of, teams_of

if TYPE_CHECKING:
    import pyarrow as pa

    from burstline.columns import AnyIntegers, Integers, Mask
    from burstline.identity import CallTree
    from burstline.trace import Trace

_SEQ: Final = ("enter_ns", "leave_ns", "enter_seq", "leave_seq")


@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """Messages whose calls are known on both sides; -1 for a call that is not known."""

    sender: AnyIntegers  # location
    receiver: AnyIntegers
    send: Integers  # row of the call that started the send
    done: Integers  # the one that completed it
    post: Integers  # the one that posted the receive
    receive: Integers  # the one that completed it
    send_ns: Integers
    receive_ns: Integers
    send_seq: Integers
    done_seq: Integers
    post_seq: Integers
    receive_seq: Integers
    sent_bytes: Integers
    done_known: Mask  # whether the completion of the send is known


@dataclass(frozen=True, slots=True, eq=False)
class Collectives:
    """Members of collectives, those of an instance beside each other, in order of rank."""

    begin: Integers  # (instances + 1,) the first member of each instance
    operation: AnyIntegers  # (instances,) position in the names of operations
    communicator: AnyIntegers  # (instances,)
    root: AnyIntegers  # (instances,) rank in the communicator, -1 without one
    location: AnyIntegers
    comm_rank: AnyIntegers
    call: Integers  # row of the call; that which completed it, of a non-blocking one
    begin_ns: Integers
    end_ns: Integers
    begin_seq: Integers
    end_seq: Integers
    sent_bytes: Integers
    received_bytes: Integers


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """The start and the end of an application: calls of all of its ranks, or none."""

    locations: Integers  # those of first threads that call MPI
    init: Integers  # rows of `calls`, one of each rank
    finalize: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Sync:
    """What synchronises in a trace."""

    calls: Intervals
    regions: Intervals
    # (locations,) of the program itself, where it is told: enter, leave, node; -1: not told
    programs: tuple[Integers, Integers, AnyIntegers]
    # (calls,) or empty: the node of what follows each call while no region is open, or -1
    between: AnyIntegers
    operation: AnyIntegers  # (calls,) position in `operations`
    operations: tuple[str, ...]
    messages: Messages
    collectives: Collectives
    teams: Teams
    barriers: Barriers
    locks: Locks
    worlds: tuple[World, ...]  # of each application
    locations: int
    application: AnyIntegers  # (locations,)
    process: AnyIntegers
    rank: AnyIntegers  # (locations,)
    thread: AnyIntegers  # (locations,) 0 for the first of each process
    is_cpu: Mask  # (locations,)
    left_out: dict[str, int]  # what could not be used, by reason

    def are(self, *operations: str) -> Mask:
        """Which calls are of some operations, shape (calls,)."""
        wanted = np.array([*(name in operations for name in self.operations), False])
        if not wanted.any():
            return np.zeros(len(self.operation), bool)
        return wanted[self.operation]

    def world_calls(self, *operations: str) -> Integers:
        """Rows of the first call of some operations on the first thread of each process."""
        rows = np.flatnonzero(self.are(*operations))
        rows = rows[self.thread[self.calls.location[rows]] == 0]
        _, first = np.unique(self.calls.location[rows], return_index=True)
        return rows[first]


def sync_of(trace: Trace, tree: CallTree) -> Sync:
    """What synchronises in a trace, with the call paths of its calls and regions."""
    codes, names = coded(trace.table("calls")["operation"])
    application, process, rank, thread, kind = trace.arrays(
        "locations", "application", "process", "rank", "thread", "kind"
    )
    calls = _intervals(trace, "calls", tree.call_node)
    location, call = trace.arrays("calls", "location", "call")
    rows = Ordinals(location, call)
    left_out: dict[str, int] = {}
    teams, node = teams_of(trace, tree.region_node)
    regions = _intervals(trace, "regions", node)
    return Sync(
        calls,
        regions,
        _programs(trace, len(process)),
        np.zeros(0, np.int32),
        codes,
        tuple(names),
        _messages(trace, rows, codes, names, left_out),
        _collectives(trace, rows, names, left_out),
        teams,
        barriers_of(trace),
        locks_of(trace, regions),
        _worlds(trace, rows),
        len(process),
        application,
        process,
        rank,
        thread,
        kind == 0,
        left_out,
    )


def _worlds(trace: Trace, rows: Ordinals) -> tuple[World, ...]:
    instances = init_finalize(trace)
    row = rows.rows(instances.location, instances.call)
    application, thread = trace.arrays("locations", "application", "thread")
    calls_any = np.diff(trace.offsets("calls")) > 0
    worlds = []
    for number in np.unique(application).tolist():
        inits, finals = (
            np.flatnonzero(
                instances.complete
                & (instances.application == number)
                & (instances.is_finalize == is_finalize)
            )[:1]
            for is_finalize in (False, True)
        )
        worlds.append(
            World(
                np.flatnonzero((application == number) & (thread == 0) & calls_any),
                row[np.isin(instances.instance, inits)],
                row[np.isin(instances.instance, finals)],
            )
        )
    return tuple(worlds)


def tells_program(trace: Trace) -> bool:
    """Whether any location says when the program began: then the root has time of its own."""
    kind = trace.arrays("other_events", "kind")[0]
    return bool((kind == OTHER_EVENT_KINDS.index("program_begin")).any())


def _programs(trace: Trace, locations: int) -> tuple[Integers, Integers, AnyIntegers]:
    """When the program began and ended on each location that says so; it is the root."""
    location, time_ns, kind = trace.arrays("other_events", "location", "time_ns", "kind")
    enter, leave = np.zeros((2, locations), np.int64)
    (died,) = trace.arrays("locations", "died_ns")
    begins, ends = (OTHER_EVENT_KINDS.index(name) for name in ("program_begin", "program_end"))
    node = np.full(locations, UNKNOWN, np.int32)
    rows = np.flatnonzero(kind == begins)[::-1]
    enter[location[rows]], node[location[rows]] = time_ns[rows], 0
    leave[:] = died
    rows = np.flatnonzero(kind == ends)
    leave[location[rows]] = time_ns[rows]
    return enter, leave, node


def _intervals(trace: Trace, name: str, node: AnyIntegers) -> Intervals:
    location, *columns = trace.arrays(name, "location", *_SEQ)
    enter, leave, enter_seq, leave_seq = (
        np.ascontiguousarray(column, np.int64) for column in columns
    )
    nodes = np.ascontiguousarray(node, np.int32)
    return Intervals(trace.offsets(name), location, enter, leave, enter_seq, leave_seq, nodes)


def _messages(
    trace: Trace, rows: Ordinals, codes: AnyIntegers, names: list[str], left_out: dict[str, int]
) -> Messages:
    names_of = ("sender_location", "receiver_location", "send_call", "send_done_call",
                "post_call", "receive_call", "send_ns", "receive_ns", "send_seq",
                "send_done_seq", "post_seq", "receive_seq", "sent_bytes")  # fmt: skip
    columns = dict(zip(names_of, trace.arrays("messages", *names_of), strict=True))
    sender, receiver = columns["sender_location"], columns["receiver_location"]

    def row(side: AnyIntegers, call: str) -> Integers:
        ordinal = columns[call]
        return np.where(ordinal >= 0, rows.rows(side, np.maximum(ordinal, 0)), UNKNOWN)

    send, receive = row(sender, "send_call"), row(receiver, "receive_call")
    done, post = row(sender, "send_done_call"), row(receiver, "post_call")
    sends_at_once = np.isin(
        take(codes, send), [k for k, name in enumerate(names) if name in BLOCKING_SENDS]
    )
    done = np.where((done < 0) & sends_at_once, send, done)
    source = to_numpy(trace.table("messages")["send_done_from"])
    usable = (send >= 0) & (receive >= 0)
    if not usable.all():
        left_out["messages without their calls"] = int((~usable).sum())
    chosen = slice(None) if usable.all() else np.flatnonzero(usable)

    def seq(name: str, call: Integers, border: str) -> Integers:
        value = columns[name]
        absent = value == NO_VALUE
        if not absent.any():
            return value
        (of_call,) = trace.arrays("calls", border)
        return np.where(absent, take(of_call, call), value)

    return Messages(
        sender[chosen],
        receiver[chosen],
        send[chosen],
        done[chosen],
        post[chosen],
        receive[chosen],
        columns["send_ns"][chosen],
        columns["receive_ns"][chosen],
        seq("send_seq", send, "enter_seq")[chosen],
        seq("send_done_seq", done, "leave_seq")[chosen],
        seq("post_seq", post, "enter_seq")[chosen],
        seq("receive_seq", receive, "leave_seq")[chosen],
        columns["sent_bytes"][chosen],
        (source != SEND_DONE_SOURCES.index("unknown"))[chosen],
    )


def _collectives(
    trace: Trace, rows: Ordinals, names: list[str], left_out: dict[str, int]
) -> Collectives:
    members = (
        "collective", "location", "comm_rank", "call", "done_call", "begin_ns", "end_ns",
        "begin_seq", "end_seq", "sent_bytes", "received_bytes",
    )  # fmt: skip
    columns = dict(zip(members, trace.arrays("collective_members", *members), strict=True))
    communicator, root, complete = trace.arrays(
        "collectives", "communicator", "root", "complete"
    )
    operation = _operation_codes(trace.table("collectives"), names)
    usable = complete.astype(bool)
    ambiguous = np.append(trace.arrays("communicators", "ambiguous")[0].astype(bool), False)
    left = int((~usable).sum())
    if left:
        left_out["collectives without all of their members"] = left
    doubtful = usable & ambiguous[communicator]
    if doubtful.any():
        left_out["collectives on ambiguous communicators"] = int(doubtful.sum())
        usable = usable & ~doubtful
    started = rows.rows(columns["location"], columns["call"])
    done = rows.rows(columns["location"], np.maximum(columns["done_call"], 0))
    call = np.where(columns["done_call"] >= 0, done, started)
    has_call = (started >= 0) & (call >= 0)
    if len(has_call):
        usable = usable & (
            np.bincount(columns["collective"][~has_call], minlength=len(usable)) == 0
        )
    keep = usable[columns["collective"]]
    order = np.flatnonzero(keep)
    order = order[np.lexsort((columns["comm_rank"][order], columns["collective"][order]))]
    instances = np.flatnonzero(usable)
    member_of = columns["collective"][order]
    begin = np.searchsorted(member_of, np.append(instances, len(usable)))
    return Collectives(
        begin.astype(np.int64),
        operation[instances],
        communicator[instances],
        root[instances],
        columns["location"][order],
        columns["comm_rank"][order],
        call[order],
        columns["begin_ns"][order],
        columns["end_ns"][order],
        columns["begin_seq"][order],
        columns["end_seq"][order],
        columns["sent_bytes"][order],
        columns["received_bytes"][order],
    )


def _operation_codes(table: pa.Table, names: list[str]) -> Integers:
    codes, own = coded(table["operation"])
    position = {name: k for k, name in enumerate(names)}
    return np.array([position.get(name, UNKNOWN) for name in own] or [UNKNOWN], np.int64)[codes]
