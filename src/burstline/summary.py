"""What is in a trace: counts, sums and what was not observed, in one pass.

A fold: whatever the trace's size, the memory is that of one batch, so a store larger
than memory is summarised like any other trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final

import numpy as np
import pyarrow as pa

from burstline.columns import Integers, Mask, coded, distinct, numpy_columns, sums_by, to_numpy
from burstline.efficiency import (
    BURST_COLUMNS,
    CALL_COLUMNS,
    SPANS,
    Baseline,
    Efficiency,
    RankParts,
    RankTimes,
    UsefulTime,
    with_communication,
)
from burstline.errors import ParameterError, plural
from burstline.identity import is_of_openmp, path_labels
from burstline.model import (
    POLL_GAP_NS,
    SILENT_THREADS,
    Trace,
    is_off_processor,
    processor_clock,
    schema,
    waiting_in,
)
from burstline.progress import SILENCE, Progress
from burstline.values import Contract, Documented

_RECORDS: Final = {"states": "states", "events": "events", "communications": "messages"}
"""For each kind of record, the table that is counted where the reader left no count."""
_DIGITS: Final = 5
"""Of the number of a processor: no machine has as many."""
_TAKEN: Final = ("calls_ns", "functions_ns", "thread_ns", "sampling_ns")
"""Columns of `recordings` that together are the time that recording took."""


@dataclass(frozen=True, slots=True)
class CallTotals:
    """All calls of one operation."""

    # how many there were, and the time in them over all locations
    count: int
    time_ns: int
    # bytes sent by them, and bytes of the receives they completed; unknown sizes count 0
    bytes_sent: int
    bytes_received: int


@dataclass(frozen=True, slots=True)
class GapTotals:
    """All gaps of one kind."""

    kind: str  # one of :data:`burstline.model.GAP_KINDS`
    # how many there were, and their length over all locations
    count: int
    time_ns: int


@dataclass(frozen=True, slots=True)
class Polling:
    """Failed polls that the source only sums up, and what of their bursts was waiting."""

    # how many, the time in them, and with it the short time from one to the next
    polls: int = 0
    time_ns: int = 0
    waiting_ns: int = 0
    # bursts whose waiting the recorder measured, and those judged by the mean distance of
    # their polls, which is short below `poll_gap_ns`
    bursts_measured: int = 0
    bursts_by_mean: int = 0
    poll_gap_ns: int = POLL_GAP_NS


@dataclass(frozen=True, slots=True)
class ProcessorTime:
    """How long processes of one thread were on a processor while they computed."""

    counter: str  # that counts it
    # of all bursts that it was read at both ends of: what it counted, and how long they lasted
    counted_ns: int
    elapsed_ns: int
    # of those that were long and hardly computed, the same: off the processor
    off_counted_ns: int = 0
    off_elapsed_ns: int = 0


@dataclass(frozen=True, slots=True)
class Crowding:
    """How many processors there are for each thread, where threads have fewest."""

    processors: int
    threads: int  # that may use these alone
    node: str | None


@dataclass(frozen=True, slots=True)
class RecordingCost:
    """What recording took, as the recorder itself estimates it."""

    estimated_ns: int  # of all threads
    watched_ns: int  # how long they were recorded


@dataclass(frozen=True, slots=True)
class Sampling:
    """The samples of call stacks while threads computed."""

    samples: int
    # how many in a second of processor time were asked for, and how many there are; None where
    # the recorder does not say
    asked_hz: int | None
    reached_hz: float | None


@dataclass(frozen=True, slots=True)
class OpenMP:
    """Whether threads of OpenMP were recorded, where they ran."""

    constructs: bool  # whether any was recorded
    unseen: int = 0  # call paths through threads of OpenMP, if no construct was recorded
    silent: str = ""  # a library of OpenMP that was there and tells nothing; empty without


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call that was entered and never left."""

    # who made it, and which call
    application: int
    rank: int
    thread: int
    operation: str
    peer: int | None  # rank of its partner, None if it has none or it is not known
    enter_ns: int
    call_path: str | None  # function@file:line from the outside in, None if unknown


@dataclass(frozen=True, slots=True)
class Defect:
    """One kind of defect."""

    kind: str
    severity: str  # one of :data:`burstline.model.SEVERITIES`
    count: int  # how often
    first: str  # where first, and what is there


@dataclass(frozen=True, slots=True)
class ApplicationSummary:
    """One application of the trace."""

    application: int
    # its processes, and its threads and streams
    ranks: int
    locations: int
    calls_mpi: bool  # whether any of them calls MPI


@dataclass(frozen=True, slots=True)
class Summary(Documented):
    """What is in a trace.

    Attributes
    ----------
    path, format : str
        Where it came from; empty if unknown.
    applications : tuple of ApplicationSummary
        All applications.
    ranks : int
        Processes of the applications that call MPI; of all, where none does.
    locations, nodes : int
        Threads and streams, and different nodes with a known name.
    duration_ns : int
        From the first to the last moment anybody was observed.
    counts_source : bool
        Whether `records` are of all that was read, even if a part was chosen of it.
    records : dict of str to int
        Records read from the source: ``states``, ``events``, ``communications``.
    calls : dict of str to CallTotals
        Per MPI operation, the most time first.
    messages, matched_messages : int
        Point-to-point messages; those whose sending and receiving call are known.
    collectives, bursts, regions : int
        Rows of the tables of that name.
    polling : Polling
        Failed polls that the source only sums up, and how long they were waiting.
    counters : tuple of str
        Counters read.
    compiler : str
        What compiled the code that counts its work; empty if none is known.
    call_paths, call_path_depth : int
        Different call paths, and the longest chain of callers.
    calls_with_path : int
        Calls whose caller is known.
    gaps : tuple of GapTotals
        Time that was not observed, by kind.
    open_calls : tuple of OpenCall
        Calls in which the run was interrupted.
    efficiency : Efficiency
        Of the applications that call MPI, as POP defines it.
    defects : tuple of Defect
        Defects of the trace, the worst first.
    baseline : Baseline
        What shares of a verdict are of: the time from the first end of MPI_Init to the last
        begin of MPI_Finalize, once for each thread.
    rank_parts : tuple of RankParts
        What the threads of each rank spent that time on, as far as calls tell.
    processor : ProcessorTime or None
        How much of their computing ranks were on a processor; None if nothing counted it.
    crowding : Crowding or None
        Where threads have fewest processors that they may use; None if nobody recorded it.
    recording : RecordingCost or None
        What recording took; None if the recorder does not say.
    openmp : OpenMP
        Whether threads of OpenMP were recorded, where they ran.
    sampling : Sampling or None
        How many samples of call stacks there are, and how often they were taken; None if none
        were.
    """

    path: str
    format: str
    applications: tuple[ApplicationSummary, ...]
    ranks: int
    locations: int
    nodes: int
    duration_ns: int
    counts_source: bool
    records: dict[str, int]
    calls: dict[str, CallTotals]
    messages: int
    matched_messages: int
    collectives: int
    bursts: int
    regions: int
    polling: Polling
    counters: tuple[str, ...]
    compiler: str
    call_paths: int
    call_path_depth: int
    calls_with_path: int
    gaps: tuple[GapTotals, ...]
    open_calls: tuple[OpenCall, ...]
    efficiency: Efficiency
    defects: tuple[Defect, ...]
    baseline: Baseline
    rank_parts: tuple[RankParts, ...]
    processor: ProcessorTime | None
    crowding: Crowding | None
    recording: RecordingCost | None
    openmp: OpenMP
    sampling: Sampling | None

    def __repr__(self) -> str:
        calls = sum(totals.count for totals in self.calls.values())
        ranks, made = plural(self.ranks, "rank"), plural(calls, "call")
        return f"<Summary: {ranks}, {made} of MPI, {self.duration_ns:,} ns>"

    CONTRACT: ClassVar[Contract] = (
        *("path", "format"),
        ("applications", lambda self: len(self.applications)),
        *("ranks", "locations", "nodes", "duration_ns", ("**", "records"), "calls"),
        ("messages", (("total", "messages"), ("matched", "matched_messages"))),
        *("collectives", "bursts", "regions", "polling", "counters", "compiler"),
        (
            "call_paths",
            (
                ("count", "call_paths"),
                ("depth", "call_path_depth"),
                ("calls", "calls_with_path"),
            ),
        ),
        *("gaps", "open_calls", "efficiency", "defects", "sampling"),
        ("by_application", "applications"),
    )


def summarise(
    trace: Trace, *, poll_gap_ns: int = POLL_GAP_NS, span: str = SPANS[0], full: bool = False
) -> Summary:
    """Counts and sums of what a trace holds, and of what was not observed.

    Parameters
    ----------
    trace : Trace
        The trace, or a selection of it; in memory or in a store.
    poll_gap_ns : int
        Failed polls that a source only sums up are waiting where they are less than this apart.
    span : {'init-finalize', 'trace'}
        What the efficiency is of: from MPI_Init to MPI_Finalize, or the whole trace as
        BasicAnalysis takes it, by its states where it has been read with them.
    full : bool
        Whether the efficiency of communication has its factors, too: ``serialisation`` and
        ``transfer``, by a replay on an ideal network, from MPI_Init to MPI_Finalize alone.

    Returns
    -------
    Summary
        See there. Records are those read from the source, also for a selection.

    Raises
    ------
    ParameterError
        If there is no such span, the gap is negative, or a whole trace is to be replayed.

    Notes
    -----
    O(calls + messages + bursts) time, one batch of memory; raw tables are not needed. Sums
    are exact. With `full`, all of the trace has to be in memory.

    Examples
    --------
    >>> from burstline import Trace
    >>> summarise(Trace({})).as_dict()["messages"]
    {'total': 0, 'matched': 0}
    """
    require_span(span, poll_gap_ns, full=full)
    sums = summed(trace, span=span, poll_gap_ns=poll_gap_ns)
    return summary_of(trace, [sums], full=full, poll_gap_ns=poll_gap_ns)


def require_span(span: str, poll_gap_ns: int, *, full: bool) -> None:
    """Raise ParameterError if there is no such span, or it is not that of a replay."""
    if span not in SPANS:
        raise ParameterError(f"a span is one of {', '.join(SPANS)}, got {span!r}")
    if poll_gap_ns < 0:
        raise ParameterError(f"polls are not less than 0 ns apart, got {poll_gap_ns}")
    if full and span != SPANS[0]:
        raise ParameterError(
            "serialisation and transfer are of the time from MPI_Init to MPI_Finalize, not of "
            "the whole trace"
        )


@dataclass(slots=True)
class Sums:
    """What is added up over some locations."""

    useful: UsefulTime
    times: RankTimes
    calls: dict[str, Integers]  # count, time, bytes sent and received of each operation
    calls_with_path: int
    interrupted: list[dict[str, Any]]  # calls that never ended
    messages: int
    matched: int
    bursts: int
    polling: Integers  # polls, their time, how long they waited, bursts measured and by mean
    # what the clock of the processor counted and the time it was read, and the same off it
    on_processor: Integers
    gaps: Integers  # (kinds, 2) how many, and how long
    samples: Integers  # how many, and the periods that they stand for

    def add(self, other: Sums) -> None:
        """Add the sums of locations behind these."""
        self.useful.add_all(other.useful)
        self.times.add_all(other.times)
        for name, row in other.calls.items():
            self.calls[name] = self.calls.get(name, 0) + row
        for each in fields(self):
            if each.name not in ("useful", "times", "calls"):
                setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


def summed(trace: Trace, *, span: str, poll_gap_ns: int, progress: Progress = SILENCE) -> Sums:
    """What is added up over the locations of a trace, or of a part of one."""
    progress.step("Adding up", 0, "")
    useful, times = UsefulTime(trace, span), RankTimes(trace)
    calls, with_path, interrupted = _fold_calls(trace, useful, times)
    messages, matched = _fold_messages(trace)
    bursts, polling, on_processor = _fold_bursts(trace, useful, times, poll_gap_ns)
    return Sums(
        useful, times, calls, with_path, interrupted, messages, matched, bursts, polling,
        on_processor, _fold_gaps(trace), _fold_samples(trace),
    )  # fmt: skip


def summary_of(trace: Trace, parts: Iterable[Sums], *, full: bool, poll_gap_ns: int) -> Summary:
    """The summary of a trace by the sums of its parts, in the order of their locations."""
    first, *others = parts
    for other in others:
        first.add(other)
    sums, useful, times = first, first.useful, first.times
    applications = _application_summaries(trace, useful.applications())
    covered = [entry for entry in applications if entry.calls_mpi] or applications
    paths, depth = _count_call_paths(trace)
    facts = trace.metadata
    defects = [Defect(**row) for row in trace.defects.to_pylist()]
    efficiency = useful.result()
    if full:
        efficiency = with_communication(efficiency, trace, poll_gap_ns)
    return Summary(
        path=facts.get("path", ""),
        format=facts.get("format", ""),
        applications=applications,
        ranks=sum(entry.ranks for entry in covered),
        locations=trace.locations.num_rows,
        nodes=len(set(trace.locations["node"].to_pylist()) - {None}),
        duration_ns=trace.duration_ns,
        counts_source="records_states" in facts,
        records={
            name: int(facts.get(f"records_{name}", trace.rows(table)))
            for name, table in _RECORDS.items()
        },
        calls=_call_totals(sums.calls),
        messages=sums.messages,
        matched_messages=sums.matched,
        collectives=trace.rows("collectives"),
        bursts=sums.bursts,
        regions=trace.rows("regions"),
        polling=_polling(sums.polling, poll_gap_ns),
        counters=trace.counter_names,
        compiler=facts.get("compiler", ""),
        call_paths=paths,
        call_path_depth=depth,
        calls_with_path=sums.calls_with_path,
        gaps=_gap_totals(sums.gaps),
        open_calls=_open_calls(trace, sums.interrupted),
        efficiency=efficiency,
        defects=tuple(
            sorted(defects, key=lambda row: schema.SEVERITIES.index(row.severity), reverse=True)
        ),
        baseline=times.baseline(),
        rank_parts=times.result(),
        processor=_processor_time(trace, sums.on_processor),
        crowding=_crowding(trace),
        recording=_recording(trace),
        openmp=_openmp(trace),
        sampling=_sampling(trace, *sums.samples.tolist()),
    )


def _fold_calls(
    trace: Trace, useful: UsefulTime, times: RankTimes
) -> tuple[dict[str, Integers], int, list[dict[str, Any]]]:
    """The sums of each operation; calls with a path; interrupted ones."""
    with_path = 0
    interrupted: list[dict[str, Any]] = []
    totals: dict[str, Integers] = {}
    columns = (*CALL_COLUMNS, "leave_seq", "sent_bytes", "received_bytes", "peer", "call_path")
    for batch in trace.batches("calls", columns):
        useful.add(batch)
        times.add(batch)
        codes, names = coded(batch["operation"])  # each batch may number operations anew
        enter, leave = to_numpy(batch["enter_ns"]), to_numpy(batch["leave_ns"])
        sums = (
            np.bincount(codes, minlength=len(names)),
            sums_by(codes, leave - enter, len(names)),
            sums_by(codes, _or_zero(batch["sent_bytes"]), len(names)),
            sums_by(codes, _or_zero(batch["received_bytes"]), len(names)),
        )
        for name, row in zip(names, np.transpose(sums), strict=True):
            if row[0]:
                totals[name] = totals.get(name, 0) + row
        is_open = to_numpy(batch["leave_seq"]) >= schema.NEVER_LEFT
        interrupted += batch.filter(pa.array(is_open)).to_pylist()
        with_path += batch.num_rows - batch["call_path"].null_count
    return totals, with_path, interrupted


def _call_totals(totals: Mapping[str, Integers]) -> dict[str, CallTotals]:
    """The sums of each operation, the longest first."""
    longest = sorted(totals.items(), key=lambda entry: (-entry[1][1], entry[0]))
    return {name: CallTotals(*row.tolist()) for name, row in longest}


def _fold_messages(trace: Trace) -> tuple[int, int]:
    total = matched = 0
    for batch in trace.batches("messages", ("send_call", "receive_call")):
        send, receive = numpy_columns(batch, *batch.column_names)
        total += batch.num_rows
        matched += int(np.count_nonzero((send >= 0) & (receive >= 0)))
    return total, matched


def _fold_bursts(
    trace: Trace, useful: UsefulTime, times: RankTimes, poll_gap_ns: int
) -> tuple[int, Integers, Integers]:
    """The number of bursts, sums of their polls, and what was counted on a processor."""
    rows, sums = 0, np.zeros(5, np.int64)
    on_processor = np.zeros(4, np.int64)
    clock = [] if (name := processor_clock(trace)) is None else [name]
    alone = _threads_alone(trace)
    for batch in trace.batches("bursts", (*BURST_COLUMNS, *clock)):
        waiting = waiting_in(batch, poll_gap_ns)
        useful.add_bursts(batch, waiting)
        times.add_bursts(batch, waiting)
        for name in clock:
            location, start, end, counted = numpy_columns(
                batch, "location", "start_ns", "end_ns", name
            )
            read = (counted != schema.NO_VALUE) & alone[location]
            counted, elapsed = counted[read], (end - start)[read]
            off = is_off_processor(elapsed, counted)
            on_processor += [
                each.sum() for each in (counted, elapsed, counted[off], elapsed[off])
            ]
        rows += batch.num_rows
        polls, time, measured = numpy_columns(batch, "polls", "polling_ns", "waiting_ns")
        is_measured = measured != schema.NO_VALUE
        by_mean = (polls > 0) & ~is_measured
        sums += [column.sum() for column in (polls, time, waiting, is_measured, by_mean)]
    return rows, sums, on_processor


def _polling(sums: Integers, poll_gap_ns: int) -> Polling:
    names = ("polls", "time_ns", "waiting_ns", "bursts_measured", "bursts_by_mean")
    return Polling(**dict(zip(names, sums.tolist(), strict=True)), poll_gap_ns=poll_gap_ns)


def _processor_time(trace: Trace, on_processor: Integers) -> ProcessorTime | None:
    counted_ns, elapsed_ns, *off_ns = on_processor.tolist()
    clock = processor_clock(trace)
    if not clock or not elapsed_ns:
        return None
    return ProcessorTime(clock, counted_ns, elapsed_ns, *off_ns)


def _crowding(trace: Trace) -> Crowding | None:
    """The processors with most threads for each that may use nothing else."""
    places = trace.locations.select(["kind", "node"]).to_pylist()
    threads: dict[tuple[str | None, frozenset[int]], int] = {}
    for row in trace.table("placements").select(["location", "allowed"]).to_pylist():
        place, allowed = places[row["location"]], _numbers_in(row["allowed"] or "")
        if place["kind"] == "cpu" and allowed:
            key = place["node"], allowed
            threads[key] = threads.get(key, 0) + 1
    found = [
        Crowding(
            len(allowed),
            sum(n for (at, some), n in threads.items() if at == node and some <= allowed),
            node,
        )
        for node, allowed in threads
    ]
    return min(found, key=lambda each: each.processors / each.threads, default=None)


def _numbers_in(text: str) -> frozenset[int]:
    """The processors of ``0-3,8``; none where that is no such text."""
    numbers: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        ends = [first, last or first]
        if not all(each.isascii() and each.isdigit() and len(each) <= _DIGITS for each in ends):
            return frozenset()
        numbers.update(range(int(ends[0]), int(ends[1]) + 1))
    return frozenset(numbers)


def _recording(trace: Trace) -> RecordingCost | None:
    """The cost that each thread has, of the time that it was recorded."""
    (location,) = trace.arrays("recordings", "location")
    born, died = trace.arrays("locations", "born_ns", "died_ns")
    watched_ns = int((died - born)[location].sum())
    columns = numpy_columns(trace.table("recordings"), *_TAKEN)
    known = [each[each != schema.NO_VALUE] for each in columns]
    if watched_ns <= 0 or not any(map(len, known)):
        return None
    return RecordingCost(sum(int(each.sum()) for each in known), watched_ns)


def _fold_samples(trace: Trace) -> Integers:
    """How many samples there are, and the periods that they stand for."""
    found = np.zeros(2, np.int64)
    for batch in trace.batches("samples", ("periods",)):
        found += [batch.num_rows, to_numpy(batch["periods"]).sum()]
    return found


def _sampling(trace: Trace, samples: int, periods: int) -> Sampling | None:
    """How often samples were taken: as often as asked for, if each stands for one period."""
    asked = {*trace.table("recordings")["asked_hz"].to_pylist()} - {None}
    if not samples:
        return None
    hz = asked.pop() if len(asked) == 1 else None
    return Sampling(samples, hz, None if hz is None else hz * samples / periods)


def _openmp(trace: Trace) -> OpenMP:
    """Whether OpenMP was recorded, and what shows that it ran if it was not."""
    constructs = "openmp" in trace.table("region_defs")["paradigm"].to_pylist()
    functions = trace.table("call_paths")["function"].to_pylist()
    unseen = 0 if constructs else sum(map(is_of_openmp, functions))
    defects = [] if constructs else trace.defects.to_pylist()
    silent = (each["first"] for each in defects if each["kind"] == SILENT_THREADS)
    return OpenMP(constructs, unseen, next(silent, ""))


def _threads_alone(trace: Trace) -> Mask:
    """Mask of the threads that are alone in their process: others wait for each other."""
    (process,) = trace.arrays("locations", "process")
    is_cpu = np.array([kind == "cpu" for kind in trace.locations["kind"].to_pylist()], bool)
    _, number = distinct(process)
    threads = np.bincount(number[is_cpu], minlength=len(process))
    return is_cpu & (threads[number] == 1)


def _fold_gaps(trace: Trace) -> Integers:
    """How many gaps there are of each kind, and how long they are."""
    totals = np.zeros((len(schema.GAP_KINDS), 2), np.int64)
    for batch in trace.batches("gaps", ("start_ns", "end_ns", "kind")):
        codes, names = coded(batch["kind"])
        kinds = np.array([schema.GAP_KINDS.index(name) for name in names], np.int64)[codes]
        length = to_numpy(batch["end_ns"]) - to_numpy(batch["start_ns"])
        np.add.at(totals, kinds, np.stack([np.ones_like(length), length], axis=1))
    return totals


def _gap_totals(totals: Integers) -> tuple[GapTotals, ...]:
    rows = zip(schema.GAP_KINDS, totals.tolist(), strict=True)
    return tuple(GapTotals(kind, *row) for kind, row in rows if row[0])


def _or_zero(column: pa.ChunkedArray) -> Integers:
    values = to_numpy(column)
    return np.where(values == schema.NO_VALUE, 0, values) if column.null_count else values


def _application_summaries(
    trace: Trace, with_mpi: tuple[int, ...]
) -> tuple[ApplicationSummary, ...]:
    application, process = trace.arrays("locations", "application", "process")
    return tuple(
        ApplicationSummary(
            application=number,
            ranks=len(np.unique(process[application == number])),
            locations=int(np.count_nonzero(application == number)),
            calls_mpi=number in with_mpi,
        )
        for number in np.unique(application).tolist()
    )


def _count_call_paths(trace: Trace) -> tuple[int, int]:
    """The number of call paths, and the length of the longest."""
    (parent,) = trace.arrays("call_paths", "parent")
    depths: list[int] = []
    for caller in parent.tolist():  # callers come before what they call
        depths.append(1 + (depths[caller] if caller >= 0 else 0))
    return len(depths), max(depths, default=0)


def _open_calls(trace: Trace, calls: list[dict[str, Any]]) -> tuple[OpenCall, ...]:
    if not calls:
        return ()
    paths = {row["call_path"] for row in calls} - {None}
    number, labels = path_labels(trace, np.array([*paths], np.int64))
    places = trace.locations.to_pylist()
    made = []
    for row in calls:
        place = places[row["location"]]
        path = -1 if row["call_path"] is None else number[row["call_path"]]
        facts = {name: place[name] for name in ("application", "rank", "thread")}
        facts |= {name: row[name] for name in ("operation", "peer", "enter_ns")}
        made.append(OpenCall(**facts, call_path=labels[path] if path >= 0 else None))
    return tuple(made)
