"""The events of a process: calls whose number and order a program decides, not its timing.

Event k is the computation since the leave of event k - 1, of MPI_Init for the first, and the
call itself. *Boundary* k is where event k begins: the moment from which k counted calls are
left. Polls are no events, for their number differs from run to run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from burstline.columns import (
    UNKNOWN,
    AnyIntegers,
    Integers,
    Mask,
    begins_run,
    coded,
    mask_at,
    numpy_columns,
    placed,
    slices,
)
from burstline.errors import InconsistentTraceError, NotEnoughDataError, plural
from burstline.model import (
    BLOCKING_SENDS,
    CODES,
    COLLECTIVES,
    COUNTED,
    IMMEDIATE_SENDS,
    NAMES,
    POLL_COLUMNS,
    POLL_GAP_NS,
    Trace,
    computing_in,
    init_finalize,
)
from burstline.structure import chosen_application

Hashes = npt.NDArray[np.uint64]

TIME: Final = "time"
"""What computation is compared by where nothing was counted."""

_WORK: Final = (
    "papi_tot_ins", "perf_count_hw_instructions", "instructions", "ir_tot_ins", "ir_bb", "cpu",
    "task-clock",
)  # fmt: skip
_SENDS: Final = {
    name for name in (*BLOCKING_SENDS, *IMMEDIATE_SENDS) if "sendrecv" not in name.lower()
}
_PLAIN: Final = ("world", "self", "group")
_TO_NOBODY: Final = 0xFFFFFF
_NO_PARTNER: Final = 0xFFFFFE
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """The events of the processes of one application, process after process."""

    application: int
    ranks: Integers  # (processes,)
    begin: Integers  # (processes + 1,) the first event of each
    row: Integers  # (events,) row in `calls`
    operation: AnyIntegers  # (events,) code of the operation
    token: Hashes  # (events,) what the recorder hashes of it
    enter_ns: Integers  # (events,) when its call was entered, and left
    leave_ns: Integers
    init_ns: Integers  # (processes,) when MPI_Init was left, and MPI_Finalize entered
    finalize_ns: Integers
    work: Integers  # (events,) computed since the event before it; none if nobody asked for it
    work_counter: str  # by which it is told
    full: bool  # whether tokens have partner and communicator, or the operation alone

    def of(self, process: int) -> slice:
        """Where the events of a process are."""
        return slice(int(self.begin[process]), int(self.begin[process + 1]))

    def count(self, process: int) -> int:
        """How many events a process has."""
        return int(self.begin[process + 1] - self.begin[process])

    @property
    def process(self) -> npt.NDArray[np.int32]:
        """The process of each event."""
        return np.repeat(np.arange(len(self.ranks), dtype=np.int32), np.diff(self.begin))

    def processes_at(self, trace: Trace) -> Integers:
        """The process of each location of a trace, -1 of other applications."""
        applications, processes = trace.arrays("locations", "application", "process")
        is_here = applications == self.application
        members = np.unique(processes[is_here])
        return np.where(is_here, np.searchsorted(members, processes), UNKNOWN)

    def boundaries(self, process: int) -> Integers:
        """When each event of a process begins, and the last one ends, (count + 1,).

        Of a call within another one, as damaged traces have, no event is left of its own.
        """
        ends = [self.init_ns[process : process + 1], self.leave_ns[self.of(process)]]
        return np.maximum.accumulate(np.concatenate(ends))

    def spans(self) -> Integers:
        """How long each process ran between MPI_Init and MPI_Finalize, ns."""
        return self.finalize_ns - self.init_ns

    def hashes(self, process: int) -> Hashes:
        """The hash of all calls before each boundary, (count + 1,)."""
        return hashes(self.token[self.of(process)])


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """Stretches of events in the order of time, of which none overlaps another."""

    phase: AnyIntegers  # (occurrences,) place of its phase in `names`
    begin: Integers  # (occurrences,) boundary at which it begins, and ends
    end: Integers
    names: tuple[str, ...]  # (phases,)
    similarity: float | None = None  # the least ratio of work in a phase, if that was compared

    @property
    def weights(self) -> Integers:
        """How often each phase occurs, (phases,)."""
        return np.bincount(self.phase, minlength=len(self.names))

    def durations(self, boundaries: Integers) -> Integers:
        """How long each occurrence lasts, ns, by the boundaries of its process."""
        return boundaries[self.end] - boundaries[self.begin]


def hashes(token: Hashes) -> Hashes:
    """The hash before each of some calls, and after the last: a sum of what each mixes to."""
    # The recorder adds one call at a time; here a sum over all of them is the same.
    mixed = mix(token, np.arange(1, len(token) + 1, dtype=np.uint64))
    return np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])


def mix(token: Hashes, place: Hashes) -> Hashes:
    """What calls at some places add to the hash of a sequence."""
    mixed = token + place * _GOLDEN
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What some locations tell of a run: who calls MPI in it, and which counters were read."""

    applications: frozenset[int]  # those that make calls whose number a program decides
    lasting: int  # bursts that follow a call and compute
    counted: dict[str, int]  # in how many that follow a call each counter of work was read

    @classmethod
    def of_all(cls, parts: Iterable[RunFacts]) -> RunFacts:
        """What all locations tell, by what some do each."""
        every = list(parts)
        counted = {name: sum(part.counted[name] for part in every) for name in every[0].counted}
        return cls(
            frozenset().union(*(part.applications for part in every)),
            sum(part.lasting for part in every),
            counted,
        )

    def counter(self) -> str:
        """The counter that tells the work of nearly all bursts that last, or else time."""
        least = 0.9 * self.lasting
        return next((name for name, count in self.counted.items() if count >= least), TIME)


def told_by(trace: Trace, **_: object) -> RunFacts:
    """What a trace, or some locations of it, tells of a run; a fold over its parts."""
    applications = trace.arrays("locations", "application")[0]
    calling: set[int] = set()
    for calls in trace.batches("calls", ["location", "operation"]):
        codes, names = coded(calls["operation"])
        (location,) = numpy_columns(calls, "location")
        callers = np.flatnonzero(np.bincount(location[_are_counted(names)[codes]]))
        calling.update(applications[callers].tolist())
    by_name = {name.lower(): name for name in trace.counter_names}
    counted = {by_name[name]: 0 for name in _WORK if name in by_name}
    lasting = 0
    for bursts in trace.batches("bursts", [*POLL_COLUMNS, "call_after", *counted]):
        has_call = numpy_columns(bursts, "call_after")[0] >= 0
        lasting += int(np.count_nonzero(computing_in(bursts, POLL_GAP_NS)[has_call]))
        for name in counted:
            (values,) = numpy_columns(bursts, name)
            counted[name] += int(np.count_nonzero((values > 0) & has_call))
    return RunFacts(frozenset(calling), lasting, counted)


def events_of(trace: Trace, application: int | None = None) -> Events:
    """The events of an application, by default the only one that calls MPI."""
    told = told_by(trace)
    chosen = chosen_application(told.applications, application)
    events = events_in(trace, chosen, counter=told.counter())
    require_events(len(events.row))
    return events


def require_events(count: int) -> None:
    """Refuse a run without any event."""
    if not count:
        raise NotEnoughDataError("the trace has no MPI calls whose number a program decides")


def events_in(
    trace: Trace, application: int, *, counter: str, has_work: bool = True, full: bool = True
) -> Events:
    """The events of an application in a trace, or in some locations, with what is asked for."""
    location, enter_ns, leave_ns = trace.arrays("calls", "location", "enter_ns", "leave_ns")
    codes, names = coded(trace.table("calls")["operation"])
    applications, processes, rank_of = trace.arrays(
        "locations", "application", "process", "rank"
    )
    row = np.flatnonzero(_are_counted(names)[codes] & (applications == application)[location])
    if not _is_in_order(location[row], processes):
        row = row[np.lexsort((row, enter_ns[row], processes[location[row]]))]
    caller = location[row]
    process = processes[caller]
    here = np.flatnonzero(applications == application)
    members, first = np.unique(processes[here], return_index=True)
    begin = np.searchsorted(process, np.append(members, np.iinfo(np.int64).max))
    init_ns, finalize_ns = _process_ends(
        trace, members, (location, enter_ns, leave_ns), processes
    )
    no_work = np.zeros(0, np.int64)
    operation = np.array([*(CODES.get(name, -1) for name in names), -1])[codes[row]]
    token = operation.astype(np.uint64) << np.uint64(48)
    partners = _partner_tokens_of(trace, row, operation, rank_of[caller]) if full else None
    return Events(
        application=application,
        ranks=rank_of[here[first]].astype(np.int64),
        begin=begin,
        row=row,
        operation=operation,
        token=token if partners is None else token | partners,
        enter_ns=enter_ns[row],
        leave_ns=leave_ns[row],
        init_ns=init_ns,
        finalize_ns=finalize_ns,
        work=_event_work(trace, row, begin, counter) if has_work else no_work,
        work_counter=counter,
        full=partners is not None,
    )


def _are_counted(names: Sequence[str]) -> Mask:
    """By its code whether an operation is an event; the last is that of none."""
    return np.array([*(name in COUNTED for name in names), False])


def require_same_calls(runs: Sequence[Events]) -> None:
    """Refuse runs that are not of one program with one input."""
    first = runs[0]
    for which, other in enumerate(runs[1:], 2):
        if not np.array_equal(first.ranks, other.ranks):
            raise InconsistentTraceError(
                f"run 1 has {plural(len(first.ranks), 'rank')}, run {which} has "
                f"{len(other.ranks)}: a signature is of one program with one number of ranks"
            )
        for number, rank in enumerate(first.ranks.tolist()):
            if first.count(number) != other.count(number):
                raise InconsistentTraceError(
                    f"rank {rank} makes {plural(first.count(number), 'call')} in run 1 and "
                    f"{other.count(number):,} in run {which}: a signature is of one program "
                    "with one input"
                )
            if first.full == other.full and (
                first.hashes(number)[-1] != other.hashes(number)[-1]
            ):
                raise InconsistentTraceError(
                    f"rank {rank} makes other calls in run {which} than in run 1: a signature "
                    "is of one program with one input"
                )


def _is_in_order(location: AnyIntegers, processes: AnyIntegers) -> bool:
    """Whether calls lie process after process, of which each calls on one thread only."""
    process = processes[location]
    goes_on = (process[1:] > process[:-1]) | (location[1:] == location[:-1])
    return bool(goes_on.all())


def _process_ends(
    trace: Trace,
    members: Integers,
    calls: tuple[AnyIntegers, Integers, Integers],
    processes: AnyIntegers,
) -> tuple[Integers, Integers]:
    """When each process left MPI_Init and entered MPI_Finalize, or its first and last call."""
    location, enter_ns, leave_ns = calls
    begin = np.flatnonzero(begins_run(location))
    every, number = np.unique(processes, return_inverse=True)
    process = number[location[begin]]
    first = np.full(len(every), np.iinfo(np.int64).max)
    last = np.full(len(every), np.iinfo(np.int64).min)
    np.minimum.at(first, process, np.minimum.reduceat(enter_ns, begin))
    np.maximum.at(last, process, np.maximum.reduceat(leave_ns, begin))
    world = init_finalize(trace)
    rows = trace.offsets("calls")[world.location] + world.call
    final = world.is_finalize[world.instance]
    first[number[world.location[~final]]] = leave_ns[rows[~final]]
    last[number[world.location[final]]] = enter_ns[rows[final]]
    asked = np.searchsorted(every, members)
    return first[asked], last[asked]


def _event_work(trace: Trace, row: Integers, begin: Integers, counter: str) -> Integers:
    bursts, offsets = trace.table("bursts"), trace.offsets("calls")
    location, call = numpy_columns(bursts, "location", "call_after")
    if counter == TIME:
        amount = computing_in(bursts, POLL_GAP_NS)
    else:
        (amount,) = numpy_columns(bursts, counter)
    total = np.zeros(trace.rows("calls") + 1, np.int64)
    for part in slices(len(call)):
        has_call = call[part] >= 0
        behind = (offsets[location[part]] + call[part] + 1)[has_call]
        computed = np.maximum(amount[part][has_call], 0)
        if (behind[1:] > behind[:-1]).all():
            total[behind] += computed
        else:
            np.add.at(total, behind, computed)
    np.cumsum(total, out=total)
    # Computation between two events may be cut by calls that are none.
    until = total[row + 1]
    work = np.diff(until, prepend=0)
    # Of several threads, what is between two events is not all its own.
    goes_back = np.flatnonzero(row[1:] <= row[:-1]) + 1
    work[goes_back] = until[goes_back] - total[row[goes_back]]
    first = begin[:-1][np.diff(begin) > 0]
    of_location = trace.arrays("calls", "location")[0][row[first]]
    work[first] = until[first] - total[offsets[of_location]]
    return work


def _partner_tokens_of(
    trace: Trace, row: Integers, operation: AnyIntegers, rank: AnyIntegers
) -> Hashes | None:
    """What tokens tell of partners and communicators; None if some calls do not tell it."""
    calls = trace.arrays("calls", "communicator", "peer")
    kinds, members = (trace.communicators[name].to_pylist() for name in ("kind", "members"))
    groups = [of if kind in _PLAIN else None for kind, of in zip(kinds, members, strict=True)]
    every = np.zeros(len(row), np.uint64)
    for part in slices(len(row)):
        communicator, peer = (column[row[part]] for column in calls)
        partners = _partner_tokens(groups, operation[part], communicator, peer, rank[part])
        if partners is None:
            return None
        every[part] = partners
    return every


def _partner_tokens(
    groups: Sequence[Sequence[int] | None],
    operation: AnyIntegers,
    communicator: AnyIntegers,
    peer: AnyIntegers,
    rank: AnyIntegers,
) -> Hashes | None:
    """What tokens tell of partners and communicators; None if calls do not tell it."""
    is_send, is_collective = _mask_of(operation, _SENDS), _mask_of(operation, COLLECTIVES)
    is_plain = np.array([*(of is not None for of in groups), False])[communicator]
    to_nobody = is_send & (peer < 0) & (communicator < 0)
    to_other = is_send & (peer >= 0) & is_plain
    if not (to_nobody | to_other | is_collective & is_plain)[is_send | is_collective].all():
        return None
    size = np.array([*(len(of or ()) for of in groups), 0])[communicator]
    size[~(to_other | is_collective)] = 0
    offset = np.full(len(operation), _NO_PARTNER)
    offset[to_nobody] = _TO_NOBODY
    own, other = (
        _comm_rank(groups, communicator[to_other], ranks[to_other]) for ranks in (rank, peer)
    )
    offset[to_other] = (other - own) % np.maximum(size[to_other], 1)
    return offset.astype(np.uint64) << np.uint64(24) | size.astype(np.uint64)


def _comm_rank(
    members: Sequence[Sequence[int] | None], communicator: AnyIntegers, rank: AnyIntegers
) -> Integers:
    """The rank in a communicator of ranks of the application."""
    place = np.zeros(len(rank), np.int64)
    for number in np.unique(communicator).tolist():
        here = communicator == number
        ranks = np.array(members[number], np.int64)
        highest = max(int(ranks.max()), int(rank[here].max()))
        place[here] = placed(np.arange(len(ranks)), ranks, highest + 1)[rank[here]]
    return place


def _mask_of(operation: AnyIntegers, names: Iterable[str]) -> Mask:
    return mask_at([CODES[name] for name in names], len(NAMES) + 1)[operation]
