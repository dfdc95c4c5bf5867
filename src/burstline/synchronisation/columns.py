"""What synchronises in a trace: calls and regions in order, messages, collectives.

A row names calls by their rows in `calls`, and the order of events by their ordinals, never
by stamps: stamps may be ticks of any clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline.columns import (
    NO_VALUE,
    UNKNOWN,
    AnyIntegers,
    Integers,
    Mask,
    Ordinals,
    coded,
    take,
    to_numpy,
)
from burstline.identity import CallTree, rooted_tree
from burstline.model import (
    BLOCKING_SENDS,
    OTHER_EVENT_KINDS,
    SEND_DONE_SOURCES,
    Trace,
    init_finalize,
)
from burstline.selection import loaded
from burstline.synchronisation.intervals import Intervals, Recorded, narrow
from burstline.synchronisation.teams import (
    Barriers,
    Locks,
    Teams,
    barriers_of,
    locks_of,
    teams_of,
)

_ORDINALS: Final = {
    "send_seq": ("send", "enter_seq"),
    "send_done_seq": ("done", "leave_seq"),
    "post_seq": ("post", "enter_seq"),
    "receive_seq": ("receive", "leave_seq"),
}
"""Columns of `messages`, and the call and its ordinal that stand for absent values."""
_NOTHING: Final = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """Messages whose calls are known on both sides; -1 for a call that is not known."""

    recorded: Recorded  # rows of `messages`
    calls: Intervals
    send: AnyIntegers  # row of the call that started the send
    done: AnyIntegers  # the one that completed it
    post: AnyIntegers  # the one that posted the receive
    receive: AnyIntegers  # the one that completed it
    done_known: Mask  # whether the completion of the send is known

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """A column of `messages`; absent ordinals of events are those of their calls."""
        column = self.recorded[name]
        if name not in _ORDINALS or not (absent := column == NO_VALUE).any():
            return column
        call, ordinal = _ORDINALS[name]
        of_call = take(getattr(self.calls, ordinal), getattr(self, call))
        return np.where(absent, of_call, column)


@dataclass(frozen=True, slots=True, eq=False)
class Collectives:
    """Members of collectives, those of an instance beside each other, in order of rank."""

    begin: Integers  # (instances + 1,) the first member of each instance
    operation: AnyIntegers  # (instances,) position in the names of operations
    communicator: AnyIntegers  # (instances,)
    root: AnyIntegers  # (instances,) rank in the communicator, -1 without one
    recorded: Recorded  # rows of `collective_members`
    call: AnyIntegers  # row of the call; that which completed it, of a non-blocking one

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """A column of `collective_members`."""
        return self.recorded[name]


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """The start and the end of an application: the first calls of ranks that have such."""

    locations: Integers  # those of first threads that call MPI
    # rows of `calls` in which all ranks start and end; none if any rank has no such call
    start: Integers
    end: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Sync:
    """What synchronises in a trace."""

    calls: Intervals
    regions: Intervals
    # (locations,) of the program itself, where it is told: enter, leave, node; -1: not told
    programs: tuple[Integers, Integers, AnyIntegers]
    # (calls,) or empty: the node of what follows each call while no region is open, or -1
    computation_node: AnyIntegers
    # (regions,) or empty: the same of a team, by its region on the thread that forked it
    resumed: AnyIntegers
    operation: AnyIntegers  # (calls,) position in `operations`
    operations: tuple[str, ...]
    messages: Messages
    collectives: Collectives
    teams: Teams
    barriers: Barriers
    locks: Locks
    worlds: tuple[World, ...]  # of each application
    inits: Integers  # rows of the MPI_Init of each rank that has one
    finals: Integers  # rows of the MPI_Finalize of each rank that has one
    locations: int
    application: AnyIntegers  # (locations,)
    process: AnyIntegers
    rank: AnyIntegers  # (locations,)
    thread: AnyIntegers  # (locations,) 0 for the first of each process
    is_cpu: Mask  # (locations,)
    left_out: dict[str, int]  # what could not be used, by reason

    def mask_of(self, *operations: str) -> Mask:
        """Mask of the calls with one of some operations, shape (calls,)."""
        wanted = np.array([*(name in operations for name in self.operations), False])
        if not wanted.any():
            return np.zeros(len(self.operation), bool)
        return wanted[self.operation]

    def masks_of(self, *groups: Sequence[str]) -> list[Mask]:
        """Masks of the calls with an operation of each group, shape (calls,)."""
        return [self.mask_of(*group) for group in groups]

    def counts_of(self, *groups: Sequence[str]) -> list[int]:
        """How many calls have an operation of each group."""
        counts = np.bincount(self.operation[self.operation >= 0], minlength=1).tolist()
        by_name = dict(zip(self.operations, counts, strict=False))
        return [sum(by_name.get(name, 0) for name in set(group)) for group in groups]


def sync_of(trace: Trace, tree: CallTree) -> Sync:
    """What synchronises in a trace, with the call paths of its calls and regions."""
    codes, names = coded(trace.table("calls")["operation"])
    application, process, rank, thread, kind = trace.arrays(
        "locations", "application", "process", "rank", "thread", "kind"
    )
    calls = _intervals_of(trace, "calls", tree.call_node)
    links = Links(trace)
    left_out: dict[str, int] = {}
    teams, node = teams_of(trace, tree.region_node)
    regions = _intervals_of(trace, "regions", node)
    worlds, inits, finals = _worlds_of(trace, links)
    return Sync(
        calls,
        regions,
        _program_spans(trace, len(process)),
        np.zeros(0, np.int32),
        np.zeros(0, np.int32),
        codes,
        tuple(names),
        _messages_of(trace, links, calls, (codes, names), left_out),
        _collectives_of(trace, links, names, left_out),
        teams,
        barriers_of(trace),
        locks_of(trace, regions),
        worlds,
        inits,
        finals,
        len(process),
        application,
        process,
        rank,
        thread,
        kind == 0,
        left_out,
    )


def _worlds_of(trace: Trace, links: Links) -> tuple[tuple[World, ...], Integers, Integers]:
    """The worlds of applications, and all their calls of MPI_Init and of MPI_Finalize."""
    instances = init_finalize(trace)
    row = links.rows(instances.location, instances.call)
    application, process, thread = trace.arrays("locations", "application", "process", "thread")
    calls_any = np.diff(trace.offsets("calls")) > 0
    worlds, every = [], [[_NOTHING], [_NOTHING]]
    for number in np.unique(application).tolist():
        here = application == number
        ranks, whole = len(np.unique(process[here])), []
        for is_finalize, calls in enumerate(every):
            first = np.flatnonzero(
                (instances.application == number) & (instances.is_finalize == is_finalize)
            )[:1]
            calls.append(row[np.isin(instances.instance, first)])
            whole.append(calls[-1] if len(calls[-1]) == ranks else _NOTHING)
        worlds.append(World(np.flatnonzero(here & (thread == 0) & calls_any), *whole))
    inits, finals = map(np.concatenate, every)
    return tuple(worlds), inits, finals


def _program_spans(trace: Trace, locations: int) -> tuple[Integers, Integers, AnyIntegers]:
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


def _intervals_of(trace: Trace, name: str, node: AnyIntegers) -> Intervals:
    location, *columns = trace.arrays(
        name, "location", "enter_ns", "leave_ns", "enter_seq", "leave_seq"
    )
    enter, leave, enter_seq, leave_seq = (
        np.ascontiguousarray(column, np.int64) for column in columns
    )
    nodes = np.ascontiguousarray(node, np.int32)
    return Intervals(trace.offsets(name), location, enter, leave, enter_seq, leave_seq, nodes)


def _messages_of(
    trace: Trace,
    links: Links,
    calls: Intervals,
    operations: tuple[AnyIntegers, list[str]],
    left_out: dict[str, int],
) -> Messages:
    send, done, post, receive = links.messages()
    codes, names = operations
    sends_at_once = np.array([*(name in BLOCKING_SENDS for name in names), False])
    done = np.where((done < 0) & sends_at_once[take(codes, send)], send, done)
    table = trace.table("messages")
    is_known = to_numpy(table["send_done_from"]) != SEND_DONE_SOURCES.index("unknown")
    usable = (send >= 0) & (receive >= 0)
    chosen: AnyIntegers | None = None
    if not usable.all():
        left_out["messages without their calls"] = int((~usable).sum())
        chosen = narrow(np.flatnonzero(usable))
        send, done, post, receive, is_known = (
            column[chosen] for column in (send, done, post, receive, is_known)
        )
    return Messages(Recorded(table, chosen), calls, send, done, post, receive, is_known)


def _collectives_of(
    trace: Trace, links: Links, names: list[str], left_out: dict[str, int]
) -> Collectives:
    collective, comm_rank = trace.arrays("collective_members", "collective", "comm_rank")
    communicator, root = trace.arrays("collectives", "communicator", "root")
    codes, own = coded(trace.table("collectives")["operation"])
    position = {name: k for k, name in enumerate(names)}
    operation = np.array([position.get(name, UNKNOWN) for name in own] or [UNKNOWN])[codes]
    usable, ambiguous = links.certain()
    left = int((~usable).sum())
    if left:
        left_out["collectives without all of their members"] = left
    doubtful = usable & ambiguous
    if doubtful.any():
        left_out["collectives on ambiguous communicators"] = int(doubtful.sum())
        usable = usable & ~doubtful
    start, call = links.members()
    has_call = (call >= 0) & (start >= 0)
    if not has_call.all():
        usable = usable & (np.bincount(collective[~has_call], minlength=len(usable)) == 0)
    chosen: AnyIntegers | None = None
    in_order = collective[1:] > collective[:-1]
    in_order |= (collective[1:] == collective[:-1]) & (comm_rank[1:] >= comm_rank[:-1])
    if not (usable.all() and in_order.all()):
        members = np.flatnonzero(usable[collective])
        order = np.lexsort((comm_rank[members], collective[members]))
        chosen = narrow(members[order])
        collective, call = collective[chosen], call[chosen]
    instances = np.flatnonzero(usable)
    begin = np.searchsorted(collective, np.append(instances, len(usable)))
    return Collectives(
        begin.astype(np.int64),
        operation[instances],
        communicator[instances],
        root[instances],
        Recorded(trace.table("collective_members"), chosen),
        narrow(call),
    )


class _MessageCalls(NamedTuple):
    """Rows of `calls` by message, -1 for a call that is not known."""

    send: AnyIntegers  # the call that started the send
    done: AnyIntegers  # the one that completed it
    post: AnyIntegers  # the one that posted the receive
    receive: AnyIntegers  # the one that completed it


class _MemberCalls(NamedTuple):
    """Rows of `calls` by member of a collective, -1 for a call that is not known."""

    start: Integers
    done: Integers  # the call that completed it, of a non-blocking one; else the same


class Links:
    """The calls of a trace by location and ordinal, and who names them."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._rows = Ordinals(*trace.arrays("calls", "location", "call"))

    def rows(self, location: AnyIntegers, call: AnyIntegers) -> Integers:
        """The rows of some calls, -1 where there is none."""
        return self._rows.rows(location, call)

    def messages(self) -> _MessageCalls:
        """The calls of both sides of each message."""
        sender, receiver, send, done, post, receive = self._trace.arrays(
            "messages", "sender_location", "receiver_location",
            "send_call", "send_done_call", "post_call", "receive_call",
        )  # fmt: skip
        sides = (sender, send), (sender, done), (receiver, post), (receiver, receive)
        return _MessageCalls(*(narrow(self.rows(*side)) for side in sides))

    def members(self) -> _MemberCalls:
        """The calls of each member of a collective."""
        location, started, done = self._trace.arrays(
            "collective_members", "location", "call", "done_call"
        )
        start = self.rows(location, started)
        if not (done >= 0).any():
            return _MemberCalls(start, start)
        return _MemberCalls(start, self.rows(location, np.where(done >= 0, done, started)))

    def certain(self) -> tuple[Mask, Mask]:
        """Which collectives have all members, and which are on ambiguous communicators."""
        communicator, complete = self._trace.arrays("collectives", "communicator", "complete")
        ambiguous = self._trace.arrays("communicators", "ambiguous")[0].astype(bool)
        return complete.astype(bool), np.append(ambiguous, False)[communicator]


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Graph:
    """A trace, the call paths in it, and what synchronises its processes and threads."""

    trace: Trace  # each table loaded once
    tree: CallTree  # below one root
    sync: Sync


def graph_of(trace: Trace) -> Graph:
    """The graph of a trace, in O(rows log rows) and memory of the columns that synchronise."""
    trace = loaded(trace)
    tree = rooted_tree(trace)
    return Graph(trace, tree, sync_of(trace, tree))
