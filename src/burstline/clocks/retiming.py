"""A trace on a logical clock: the same events, with stamps in ticks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar, Final

import numpy as np
import pyarrow as pa

from burstline.clocks.efforts import Basis, Effort, efforts_of
from burstline.clocks.readings import readings_of
from burstline.clocks.restamping import Stamping, restamped
from burstline.clocks.stamps import Stamps, stamps_of
from burstline.columns import (
    NO_VALUE,
    UNKNOWN,
    AnyIntegers,
    Integers,
    Mask,
    begins_run,
    coded,
    from_numpy,
    mask_at,
    slices,
    take,
    with_column,
)
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.model import Trace, schema
from burstline.synchronisation import PLACES, Graph, graph_of, never_falling, rows_of
from burstline.values import Contract, Documented

POLLS: Final = (
    "MPI_Test", "MPI_Testany", "MPI_Testall", "MPI_Testsome", "MPI_Iprobe", "MPI_Improbe",
    "MPI_Request_get_status", "MPI_Request_get_status_any", "MPI_Request_get_status_all",
    "MPI_Request_get_status_some",
)  # fmt: skip
"""Operations that are called until something is done: how often, the machine decides."""
_FIRST_COMES: Final = ("MPI_Waitany", "MPI_Waitsome", "MPI_Probe", "MPI_Mprobe")
"""Operations that return what is there first, if the program left that open."""

COLLECTIVES: Final = ("causal", "full")
"""Who waits in a collective: those who need what others send, or all for all."""
_RAW: Final = ("events", "states", "links")
_MEASURED: Final = ("polling_ns", "polls", "waiting_ns", "gap_ns")
"""What is known of bursts in ns alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Retiming(Basis, Documented):
    """A trace on a logical clock, and what its stamps rest on.

    Attributes
    ----------
    clock : str
        The clock.
    trace : Trace
        The trace with stamps in ticks, without records and states.
    end_ticks : int
        The last stamp of all.
    counters : tuple of str
        The counters that were taken as effort.
    sampled : float
        The share of the events of threads at which they were read, 0..1.
    unread : tuple of int
        Locations on which they were never read: each event is a tick there.
    negative : int
        Readings that fell; they count nothing.
    cycles : list of list of (int, int)
        Events that wait for each other, as location and event ordinal. A trace that has any
        contradicts itself; these went on without waiting.
    machine_order : MachineOrder
        What the machine decides, not the program, and so may differ from run to run with the
        stamps.
    call_cost : int
        The effort of a call into the OpenMP runtime.
    modelled_ticks : int
        The efforts of all these calls, on all threads: ticks that no counter gave.
    modelled_share : float
        Their share of the ticks of all events, 0..1.
    is_events : bool
        Whether each event is a tick and nothing else is, so that these are stamps of ``lt_1``.
    """

    clock: str
    trace: Trace
    end_ticks: int
    cycles: list[list[tuple[int, int]]]
    machine_order: MachineOrder

    @property
    def polls(self) -> dict[str, int]:
        """Calls by operation that ask whether something is done."""
        return self.machine_order.polls

    CONTRACT: ClassVar[Contract] = (
        *("clock", "end_ticks", "counters", "sampled"),
        *(("unread_locations", "unread"), ("negative_readings", "negative")),
        ("inconsistent", lambda self: len(self.cycles)),
        *("cycles", "polls", "machine_order", "call_cost"),
        *("modelled_ticks", "modelled_share"),
        ("equals", lambda self: "lt_1" if self.is_events else self.clock),
    )


def retimed(
    trace: Trace,
    clock: str = "lt_stmt",
    *,
    weights: Mapping[str, float] | None = None,
    call_cost: int | None = None,
    mpi_work: bool = True,
    collectives: str = "causal",
) -> Retiming:
    """A trace on a logical clock: what the program did, without the noise of the machine.

    An event is stamped with the efforts of its thread so far, or one tick after the latest
    event that it waits for, whichever is later [1]_ [2]_. A clock of efforts that the program
    alone determines gives the same stamps in each run.

    Parameters
    ----------
    trace : Trace
        What happened. Its stamps are not used, only the order of events on each thread.
    clock : {'lt_1', 'lt_loop', 'lt_bb', 'lt_stmt', 'lt_hwctr'}
        What is an effort, besides each event: nothing, iterations of OpenMP loops, basic
        blocks, statements, or what a hardware counter counts.
    weights : mapping of str to float, optional
        Counters of ``lt_hwctr`` and what one count of each is worth in ticks; by default the
        instructions.
    call_cost : int, optional
        The effort of a call into the OpenMP runtime (fork, join, enter of a parallel region or
        loop); by default 100 for ``lt_bb``, 4300 for ``lt_stmt``, and 0 for others, as
        published.
    mpi_work : bool
        Whether what counters counted inside of MPI is effort.
    collectives : {'causal', 'full'}
        Whether a member of a collective waits for those that send it something, or for all.

    Returns
    -------
    Retiming
        The trace with stamps in ticks, and what they rest on.

    Raises
    ------
    ParameterError
        If a clock or a way of collectives has an unknown name.
    NotEnoughDataError
        If the trace lacks the counter, or has no events.

    Notes
    -----
    Linear in events, but for a search of each among those that synchronise; 40 bytes an event.
    Wrong where work is not counted: in libraries that were not compiled with counters, and
    between events at which they were not read. What was recorded without an event ordinal
    (gaps, iterations) gets the stamp of the event before it.

    References
    ----------
    .. [1] L. Lamport, Time, clocks, and the ordering of events in a distributed system,
       Communications of the ACM 21(7), 1978, DOI 10.1145/359545.359563.
    .. [2] G. Corbin, N. Daoud, B. Mohr, G. de Morais, F. Wolf, Are Noise-Resilient Logical
       Timers Useful for Performance Analysis?

    Examples
    --------
    >>> from burstline.testing import trace_of
    >>> retiming = retimed(
    ...     trace_of(
    ...         "ranks 2 | 0 | 10 enter MPI_Send | 11 send to 1 bytes 8 | 12 leave "
    ...         "| 1 | 6 enter MPI_Recv | 12 receive from 0 bytes 8 | 13 leave"
    ...     ),
    ...     "lt_1",
    ... )
    >>> retiming.trace.messages["receive_ns"].to_pylist()
    [3]
    """
    effort = Effort(clock, dict(weights or {}), call_cost, mpi_work)
    [retiming] = retimings(graph_of(trace), [effort], collectives=collectives)
    return retiming


def retimings(
    graph: Graph,
    efforts: Sequence[Effort],
    *,
    collectives: str = "causal",
    left_out: Sequence[str] = (),
) -> list[Retiming]:
    """A trace on several clocks, by one replay, without some tables."""
    trace = graph.trace
    return [
        Retiming(
            **asdict(basis),
            clock=effort.clock,
            trace=_on_clock(trace, stamps, effort.clock, left_out),
            end_ticks=stamps.end,
            cycles=_events_of_cycles(stamps),
            machine_order=machine_order(trace),
        )
        for effort, basis, stamps in _stamped_efforts(graph, efforts, collectives)
    ]


def all_stamps(
    trace: Trace, efforts: Sequence[Effort], *, collectives: str = "causal"
) -> list[Stamps]:
    """The stamps of several clocks, by one replay."""
    return [stamps for _, _, stamps in _stamped_efforts(graph_of(trace), efforts, collectives)]


def _stamped_efforts(
    graph: Graph, efforts: Sequence[Effort], collectives: str
) -> Iterable[tuple[Effort, Basis, Stamps]]:
    if collectives not in COLLECTIVES:
        raise ParameterError(f"members of collectives wait {' or '.join(COLLECTIVES)}")
    rows = rows_of(graph.sync, collectives)
    trace, readings = graph.trace, readings_of(graph.trace)
    if not len(readings):
        raise NotEnoughDataError("this trace has no events, so there is nothing to stamp")
    counted = list(efforts_of(trace, readings, efforts))
    basis = [each.basis for each in counted]
    stamps = stamps_of(rows, readings, [each.ticks for each in counted])
    return zip(efforts, basis, stamps, strict=True)


def _on_clock(trace: Trace, stamps: Stamps, clock: str, left_out: Sequence[str]) -> Trace:
    """The trace with stamps of a clock, in ticks, without some tables."""
    restamped = restamp(trace, stamps, left_out)
    facts = trace.metadata | {"clock": clock, "unit": "ticks"}
    tables = {name: restamped.table(name) for name in schema.TABLES if name in restamped}
    tables["metadata"] = schema.row_table("metadata", facts.items())
    return Trace(tables, sources=trace.sources)


def restamp(trace: Trace, stamps: Stamps, left_out: Sequence[str] = ()) -> Trace:
    """The trace with other stamps, without some tables and what was measured in ns alone."""
    names = [name for name in schema.TABLES if name not in (*_RAW, *left_out)]
    clocked = restamped(trace, _stamping_by(trace, stamps), names)
    tables = {name: clocked.table(name) for name in names if name in clocked}
    if "bursts" in tables:
        nothing = from_numpy(np.zeros(tables["bursts"].num_rows, np.int64), pa.int64())
        for name in _MEASURED:
            tables["bursts"] = with_column(tables["bursts"], name, nothing)
    if "recordings" in tables:
        unknown = pa.nulls(tables["recordings"].num_rows, pa.int64())
        for column in schema.TABLES["recordings"].columns:
            if column.unit == "ns":
                tables["recordings"] = with_column(tables["recordings"], column.name, unknown)
    return Trace(tables, sources=trace.sources)


def _stamping_by(trace: Trace, stamps: Stamps) -> Stamping:
    """How a clock stamps events: by their places, and others as the last one before them."""
    readings = stamps.readings
    risen = never_falling(readings.begin, readings.times(trace))

    def stamping(
        location: AnyIntegers, time: Integers, place: Integers, /, *, first: bool
    ) -> Integers:
        has_place, moved = place >= 0, time.copy()
        for part in slices(len(time)):
            chosen = has_place[part]
            moved[part][chosen] = stamps.of(location[part][chosen], place[part][chosen])
        rest = np.flatnonzero(~has_place & (time != NO_VALUE) & (time != UNKNOWN))
        event = _events_at(readings.begin, risen, location[rest], time[rest], first=first)
        begun = event >= 0
        moved[rest] = 0
        places = take(readings.seq, event[begun]) * PLACES + PLACES - 1
        moved[rest[begun]] = stamps.of(location[rest[begun]], places)
        return moved

    return stamping


def _events_at(
    begin: Integers, time_ns: Integers, location: AnyIntegers, wanted: Integers, *, first: bool
) -> Integers:
    """The last event of locations up to some times, the `first` of those at it; -1 for none."""
    event = np.full(len(wanted), UNKNOWN)
    order = np.argsort(location, kind="stable")
    parts = np.searchsorted(location[order], np.arange(len(begin)))
    for start, end, low, high in zip(begin[:-1], begin[1:], parts[:-1], parts[1:], strict=True):
        if low == high or start == end:
            continue
        times, rows = time_ns[start:end], order[low:high]
        last = np.searchsorted(times, wanted[rows], "right") - 1
        if first:
            left = np.searchsorted(times, wanted[rows])
            last = np.where(left <= last, left, last)
        event[rows] = np.where(last >= 0, start + last, UNKNOWN)
    return event


def _events_of_cycles(stamps: Stamps) -> list[list[tuple[int, int]]]:
    """Location and event ordinal of the members of each circle."""
    rows = stamps.rows
    location = rows.location
    return [
        [(int(location[row]), int(rows.place[row] // PLACES)) for row in circle]
        for circle in stamps.cycles
    ]


@dataclass(frozen=True, slots=True)
class MachineOrder(Documented):
    """How much of a run is in an order that the machine decides.

    Whether a receive was of any source is no part of a trace, only whom it came from. So
    `rivals` is a bound: without receives of any source none of them is decided by the machine.
    """

    polls: dict[str, int]  # calls by operation that ask whether something is done
    first_comes: dict[str, int]  # calls by operation that return what is there first
    locks: int  # acquisitions of locks that several threads take
    calls: int  # of MPI, in all
    regions: int  # of OpenMP and of functions, in all
    rivals: int  # messages that a receive of any source could take in place of another rank's
    messages: int  # in all

    @property
    def calls_share(self) -> float:
        """The share of such calls in those of MPI, 0..1."""
        chosen = sum(self.polls.values()) + sum(self.first_comes.values())
        return chosen / self.calls if self.calls else 0.0

    @property
    def locks_share(self) -> float:
        """Acquisitions of locks by regions of all threads, 0..1."""
        return self.locks / self.regions if self.regions else 0.0

    CONTRACT: ClassVar[Contract] = (
        *("polls", "first_comes", "calls_share", "locks", "locks_share", "rivals"),
        ("rivals_share", lambda self: self.rivals / self.messages if self.messages else 0.0),
    )


def machine_order(trace: Trace) -> MachineOrder:
    """What the machine decided in a trace."""
    codes, names = coded(trace.table("calls")["operation"])
    counts = dict(zip(names, np.bincount(codes, minlength=len(names)).tolist(), strict=True))
    polls, first = (
        {name: counts[name] for name in names if name in chosen and counts[name]}
        for chosen in (POLLS, _FIRST_COMES)
    )
    return MachineOrder(
        polls, first, _shared_locks(trace), len(codes), trace.rows("regions"),
        _rival_messages(trace), trace.rows("messages"),
    )  # fmt: skip


def _rival_messages(trace: Trace) -> int:
    """Messages to a rank of which others send it some with the same tag."""
    sender, receiver, *envelope = trace.arrays(
        "messages", "sender_location", "receiver_location", "communicator", "tag"
    )
    if not len(sender):
        return 0
    process = trace.arrays("locations", "process")[0]
    return int(np.count_nonzero(_of_several(process[sender], process[receiver], *envelope)))


def _shared_locks(trace: Trace) -> int:
    """Acquisitions of locks that several threads of a process take."""
    location, lock = trace.arrays("locks", "location", "lock")
    if not len(lock):
        return 0
    process = trace.arrays("locations", "process")[0][location]
    return int(np.count_nonzero(_of_several(location, process, lock)))


def _of_several(who: AnyIntegers, *keys: AnyIntegers) -> Mask:
    """Rows whose keys are those of rows of others, too."""
    order = np.lexsort((who, *keys))
    starts = begins_run(*(key[order] for key in keys))
    group = np.cumsum(starts) - 1
    changes = np.flatnonzero(begins_run(who[order]) & ~starts)
    is_shared = mask_at(group[changes], int(group[-1]) + 1)
    rows = np.zeros(len(who), bool)
    rows[order] = is_shared[group]
    return rows
