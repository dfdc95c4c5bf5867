"""The events of a process: calls whose number and order a program decides, not its timing.

Event k is the computation since the leave of event k - 1, of MPI_Init for the first, and the
call itself. *Boundary* k is where event k begins: the moment from which k counted calls are
left. Polls are no events, for their number differs from run to run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.bursts import POLL_GAP_NS, waiting_in
from burstline.columns import NO_VALUE, coded, numpy_columns, prefix_sums
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.matching import init_finalize
from burstline.operations import BLOCKING_SENDS, CODES, COLLECTIVES, COUNTED, IMMEDIATE_SENDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from burstline.columns import AnyIntegers, Integers, Mask
    from burstline.trace import Trace

    Hashes = npt.NDArray[np.uint64]

TIME: Final = "time"
"""What computation is compared by where nothing was counted."""

_WORK: Final = (
    ("papi_tot_ins", "perf_count_hw_instructions", "instructions"),
    ("ir_tot_ins",),
    ("ir_bb",),
    ("cpu", "task-clock"),
)
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
    work: Integers  # (events,) computed since the event before it, by `work_counter`
    work_counter: str
    full: bool  # whether tokens have partner and communicator, or the operation alone

    def of(self, process: int) -> slice:
        """Where the events of a process are."""
        return slice(int(self.begin[process]), int(self.begin[process + 1]))

    def count(self, process: int) -> int:
        """How many events a process has."""
        return int(self.begin[process + 1] - self.begin[process])

    def boundaries(self, process: int) -> Integers:
        """When each event of a process begins, and the last one ends, (count + 1,)."""
        return np.concatenate(
            [self.init_ns[process : process + 1], self.leave_ns[self.of(process)]]
        )

    def spans(self) -> Integers:
        """How long each process ran between MPI_Init and MPI_Finalize, ns."""
        return self.finalize_ns - self.init_ns

    def hashes(self, process: int) -> Hashes:
        """The hash of all calls before each boundary, (count + 1,)."""
        return hashes(self.token[self.of(process)])


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


def events_of(trace: Trace, application: int | None = None) -> Events:
    """The events of an application, by default the only one that calls MPI."""
    location, enter_ns, leave_ns = trace.arrays("calls", "location", "enter_ns", "leave_ns")
    codes, names = coded(trace.table("calls")["operation"])
    applications, processes, rank_of = trace.arrays(
        "locations", "application", "process", "rank"
    )
    of_event = np.array([*(name in COUNTED for name in names), False])[codes]
    chosen = _application(applications[np.unique(location[of_event])], application)
    row = np.flatnonzero(of_event & (applications == chosen)[location])
    if not len(row):
        raise NotEnoughDataError("the trace has no MPI calls whose number a program decides")
    process = processes[location[row]]
    if (process[1:] < process[:-1]).any() or _has_several_callers(location[row], process):
        order = np.lexsort((row, enter_ns[row], process))
        row, process = row[order], process[order]
    members = np.flatnonzero(np.bincount(processes[applications == chosen]))
    begin = np.searchsorted(process, np.append(members, np.iinfo(np.int64).max))
    init_ns, finalize_ns = _ends(trace, members, (location, enter_ns, leave_ns), processes)
    work, counter = _work(trace, row, begin)
    operation = np.array([*(CODES.get(name, -1) for name in names), -1])[codes[row]]
    token, full = _tokens(trace, row, operation, rank_of[location[row]])
    first = np.zeros(len(processes), np.int64)
    first[processes[::-1]] = rank_of[::-1]
    return Events(
        application=chosen,
        ranks=first[members],
        begin=begin,
        row=row,
        operation=operation,
        token=token,
        enter_ns=enter_ns[row],
        leave_ns=leave_ns[row],
        init_ns=init_ns,
        finalize_ns=finalize_ns,
        work=work,
        work_counter=counter,
        full=full,
    )


def _application(applications: Integers, application: int | None) -> int:
    if application is not None:
        return application
    callers = np.unique(applications).tolist()
    if len(callers) > 1:
        raise ParameterError(
            f"{len(callers)} applications call MPI: choose one of {callers} with --app"
        )
    return callers[0] if callers else 0


def _has_several_callers(location: AnyIntegers, process: AnyIntegers) -> bool:
    """Whether any process has events on more than one thread."""
    return len(np.unique(location)) > len(np.unique(process))


def _ends(
    trace: Trace,
    members: Integers,
    calls: tuple[AnyIntegers, Integers, Integers],
    processes: AnyIntegers,
) -> tuple[Integers, Integers]:
    """When each process left MPI_Init and entered MPI_Finalize, or its first and last call."""
    location, enter_ns, leave_ns = calls
    process = processes[location]
    most = int(processes.max()) + 1
    first = np.full(most, np.iinfo(np.int64).max)
    last = np.full(most, np.iinfo(np.int64).min)
    np.minimum.at(first, process, enter_ns)
    np.maximum.at(last, process, leave_ns)
    world = init_finalize(trace)
    rows = trace.offsets("calls")[world.location] + world.call
    final = world.is_finalize[world.instance]
    first[processes[world.location[~final]]] = leave_ns[rows[~final]]
    last[processes[world.location[final]]] = enter_ns[rows[final]]
    return first[members], last[members]


def _work(trace: Trace, row: Integers, begin: Integers) -> tuple[Integers, str]:
    """What each event computed, and by which counter: the best that was always read."""
    bursts = trace.table("bursts")
    location, call, start, end, gap = numpy_columns(
        bursts, "location", "call_after", "start_ns", "end_ns", "gap_ns"
    )
    has_call = call >= 0
    after = (trace.offsets("calls")[location] + call)[has_call]
    length = np.maximum(end - start - gap - waiting_in(bursts, POLL_GAP_NS), 0)
    amounts = {TIME: length[has_call]}
    for name in _candidates(trace.counter_names):
        (values,) = numpy_columns(bursts, name)
        values = values[has_call]
        known = values != NO_VALUE
        if np.count_nonzero(known & (values > 0)) >= 0.9 * np.count_nonzero(amounts[TIME]):
            amounts = {name: np.where(known, np.maximum(values, 0), 0)}
            break
    ((counter, amount),) = amounts.items()
    total = prefix_sums(np.bincount(after, amount, trace.rows("calls")).astype(np.int64))
    # Computation between two events may be cut by calls that are none.
    before = np.empty_like(row)
    before[1:] = row[:-1] + 1
    starts = begin[:-1][np.diff(begin) > 0]
    before[starts] = trace.offsets("calls")[trace.arrays("calls", "location")[0][row[starts]]]
    goes_back = before > row  # events of several threads: what is between is not all its own
    before[goes_back] = row[goes_back]
    return total[row + 1] - total[before], counter


def _candidates(names: Iterable[str]) -> list[str]:
    by_name = {name.lower(): name for name in names}
    return [by_name[name] for group in _WORK for name in group if name in by_name]


def _tokens(
    trace: Trace, row: Integers, operation: AnyIntegers, rank: AnyIntegers
) -> tuple[Hashes, bool]:
    """What the recorder hashes of each event, and whether it has partners."""
    columns = trace.arrays("calls", "communicator", "peer")
    communicator, peer = (column[row] for column in columns)
    is_send, is_collective = _are(operation, _SENDS), _are(operation, COLLECTIVES)
    token = operation.astype(np.uint64) << np.uint64(48)
    members = trace.communicators["members"].to_pylist()
    kinds = trace.communicators["kind"].to_pylist()
    is_plain = np.array([*(kind in _PLAIN for kind in kinds), False])[communicator]
    to_nobody = is_send & (peer < 0) & (communicator < 0)
    to_other = is_send & (peer >= 0) & is_plain
    if not (to_nobody | to_other | is_collective & is_plain)[is_send | is_collective].all():
        return token, False
    size = np.array([*(len(ranks or ()) for ranks in members), 0])[communicator]
    size[~(to_other | is_collective)] = 0
    offset = np.full(len(row), _NO_PARTNER)
    offset[to_nobody] = _TO_NOBODY
    own, other = (
        _comm_rank(members, communicator[to_other], ranks[to_other]) for ranks in (rank, peer)
    )
    offset[to_other] = (other - own) % np.maximum(size[to_other], 1)
    token |= offset.astype(np.uint64) << np.uint64(24)
    return token | size.astype(np.uint64), True


def _comm_rank(
    members: Sequence[Sequence[int] | None], communicator: AnyIntegers, rank: AnyIntegers
) -> Integers:
    """The rank in a communicator of ranks of the application."""
    place = np.zeros(len(rank), np.int64)
    for number in np.unique(communicator).tolist():
        here = communicator == number
        ranks = np.array(members[number], np.int64)
        of_rank = np.zeros(max(int(ranks.max()), int(rank[here].max())) + 1, np.int64)
        of_rank[ranks] = np.arange(len(ranks))
        place[here] = of_rank[rank[here]]
    return place


def _are(operation: AnyIntegers, names: Iterable[str]) -> Mask:
    return np.isin(operation, [CODES[name] for name in names])
