"""The effort of a thread from one event to the next, in ticks: five models of it.

Each event is an effort of 1, and what was done before it comes on top, as far as the trace has
counted it: G. Corbin, N. Daoud, B. Mohr, G. de Morais, F. Wolf, Are Noise-Resilient Logical
Timers Useful for Performance Analysis?
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from burstline.clocks.readings import Readings
from burstline.columns import (
    NO_VALUE,
    AnyIntegers,
    Floats,
    Integers,
    Mask,
    begins_run,
    numpy_columns,
    slices,
    take,
)
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.model import Trace

CLOCKS: Final = ("lt_1", "lt_loop", "lt_bb", "lt_stmt", "lt_hwctr")
BLOCKS: Final = "IR_BB"
STATEMENTS: Final = "IR_TOT_INS"
ITERATIONS: Final = "IR_LOOP_ITER"
INSTRUCTIONS: Final = ("PAPI_TOT_INS", "PERF_COUNT_HW_INSTRUCTIONS", "instructions", STATEMENTS)
"""Counters of instructions that lt_hwctr takes where none is named: the first there is."""
_MOST_TICKS: Final = 1 << 62
RECORDED_BY: Final = "record `counters=clocks`"

_CALL_COSTS: Final = {"lt_bb": 100, "lt_stmt": 4300}
"""X and Y: the effort of a call into the OpenMP runtime, as fitted in the publication."""


@dataclass(frozen=True, slots=True)
class Effort:
    """What a clock counts besides events, and how much that is worth.

    Attributes
    ----------
    clock : {'lt_1', 'lt_loop', 'lt_bb', 'lt_stmt', 'lt_hwctr'}
        Nothing, iterations of OpenMP loops, basic blocks, statements, or counters.
    weights : mapping of str to float
        Counters of ``lt_hwctr`` and what one count of each is worth; none: the instructions.
    call_cost : int or None
        Of each call into the OpenMP runtime; None: 100 of ``lt_bb``, 4300 of ``lt_stmt``, as
        published, else 0.
    mpi_work : bool
        Whether what was counted inside of MPI is effort.

    Raises
    ------
    ParameterError
        If there is no such clock, or counters are named for another one than ``lt_hwctr``.

    Examples
    --------
    >>> Effort("lt_stmt", call_cost=0).clock
    'lt_stmt'
    """

    clock: str
    weights: Mapping[str, float] = field(default_factory=dict)
    call_cost: int | None = None
    mpi_work: bool = True

    def __post_init__(self) -> None:
        if self.clock not in CLOCKS:
            raise ParameterError(f"no clock called {self.clock}: {', '.join(CLOCKS)}")
        if self.weights and self.clock != "lt_hwctr":
            raise ParameterError(f"counters are named for lt_hwctr alone, not {self.clock}")
        for name, weight in self.weights.items():
            if not math.isfinite(weight):
                raise ParameterError(f"{name}={weight}: a counter's weight is a finite number")


@dataclass(frozen=True, slots=True)
class Basis:
    """What the stamps of a clock rest on."""

    counters: tuple[str, ...]  # those that were taken
    sampled: float  # share of the events of threads at which they were read
    unread: tuple[int, ...]  # locations on which they were never read
    negative: int  # readings that fell, taken as 0
    call_cost: int  # of each call into the OpenMP runtime
    modelled_ticks: int  # that no counter gave: of calls into the OpenMP runtime
    modelled_share: float  # of the ticks of all events
    is_events: bool  # whether each event is a tick, and nothing else is: the clock is lt_1


class Efforts(NamedTuple):
    """The efforts of one clock, and what stamps made of them rest on."""

    ticks: Integers  # (events,) at least 1
    basis: Basis


def efforts_of(
    trace: Trace, readings: Readings, efforts: Sequence[Effort]
) -> Iterator[Efforts]:
    """The efforts of all events by some models, from what a trace has counted."""
    row = _events_read_at(trace, readings)
    samples: dict[bytes, _Samples] = {}  # by which rows have them: mostly all of all counters
    for effort in efforts:
        weights = _counter_weights(trace, effort)
        if effort.clock == "lt_loop" and not weights:
            yield _of_loops(trace, readings, effort)
        elif not weights:
            ticks = np.ones(len(readings), np.int64)
            yield _with_calls(ticks, trace, readings, effort)
        else:
            columns = numpy_columns(trace.table("readings"), *weights)
            known = np.all([column != NO_VALUE for column in columns], axis=0) & (row >= 0)
            key = known.tobytes()
            if key not in samples:
                samples[key] = _samples_of(trace, readings, row, known)
            sample = samples[key]
            counts = columns if known.all() else [column[known] for column in columns]
            total = _weighted_total(counts, tuple(weights.values()))
            fell = int(np.count_nonzero(total < 0))
            ticks = _of_counters(trace, readings, sample, total, effort)
            sampled = tuple(weights), sample.share, sample.without, fell
            yield _with_calls(ticks, trace, readings, effort, sampled)


@dataclass(frozen=True, slots=True, eq=False)
class _Samples:
    """Where counters were read."""

    row: AnyIntegers  # the events, rising
    first: Integers | None  # the first reading of each, where any has several
    unread: AnyIntegers  # events between each and the one before it on its location
    share: float  # of the events of threads
    without: tuple[int, ...]  # locations that have none


def _samples_of(trace: Trace, readings: Readings, row: AnyIntegers, known: Mask) -> _Samples:
    row = row if known.all() else row[known]
    starts = begins_run(row)
    first = None if starts.all() else np.flatnonzero(starts)
    row = row if first is None else row[first]
    places = np.searchsorted(row, readings.begin)
    events, reads = np.diff(readings.begin), np.diff(places)
    unread = row - 1
    unread[1:] -= row[:-1]
    here = places[:-1][reads > 0]
    unread[here] = row[here] - readings.begin[:-1][reads > 0]
    is_thread = trace.arrays("locations", "kind")[0] == 0
    share = reads[is_thread].sum() / max(int(events[is_thread].sum()), 1)
    without = np.flatnonzero(is_thread & (reads == 0) & (events > 0))
    return _Samples(row, first, unread, float(share), tuple(without.tolist()))


def _events_read_at(trace: Trace, readings: Readings) -> AnyIntegers:
    """The event of each row of `readings`; of one that is no event the next, which ends it."""
    location, seq, time_ns = trace.arrays("readings", "location", "seq", "time_ns")
    row = readings.rows(location, seq)
    if trace.metadata.get("format") != "paraver":  # each is an event
        return row
    is_between = (row < 0) | (take(readings.times(trace), row) != time_ns)
    following = np.where(row < 0, readings.begin[location], row + 1)
    has_next = following < readings.begin[location + 1]
    return np.where(is_between & has_next, following, row)


def _counter_weights(trace: Trace, effort: Effort) -> Mapping[str, float]:
    """The counters of a clock and what a count of each is worth; none, where it needs none."""
    if effort.clock == "lt_loop":
        return {ITERATIONS: 1} if ITERATIONS in trace.counter_names else {}
    if effort.clock == "lt_hwctr":
        weights = effort.weights or _instruction_counter(trace)
    else:
        weights = {"lt_bb": {BLOCKS: 1}, "lt_stmt": {STATEMENTS: 1}}.get(effort.clock, {})
    _require_counters(trace, effort.clock, tuple(weights))
    return weights


def _require_counters(trace: Trace, clock: str, counters: tuple[str, ...]) -> None:
    if missing := [name for name in counters if name not in trace.counter_names]:
        all_clocks = {BLOCKS, STATEMENTS, ITERATIONS} >= {*missing}
        recorded_by = RECORDED_BY if all_clocks else f"record `counters={','.join(counters)}`"
        raise NotEnoughDataError(
            f"{clock} needs the counter {', '.join(missing)}, which was not recorded. "
            f"Record the program anew with it: burstline {recorded_by}"
        )


def _instruction_counter(trace: Trace) -> Mapping[str, float]:
    for name in INSTRUCTIONS:
        if name in trace.counter_names:
            return {name: 1}
    raise NotEnoughDataError(
        "lt_hwctr needs a counter of instructions, and none was recorded. Name another one, "
        f"or record the program anew: burstline {RECORDED_BY}"
    )


def _weighted_total(counts: Sequence[Integers], weights: Sequence[float]) -> Integers:
    """What counters counted together, each count worth its weight."""
    if len(counts) == 1 and weights[0] == 1:
        return counts[0]
    total, most = np.empty(len(counts[0]), np.int64), 0.0
    for part in slices(len(total)):
        pairs = zip(counts, weights, strict=True)
        ticks = np.rint(sum(weight * count[part] for count, weight in pairs))
        most += float(np.abs(ticks).sum())
        if most > _MOST_TICKS:
            raise ParameterError("weights of counters are too large: no tick can hold them")
        total[part] = ticks
    return total


def _of_counters(
    trace: Trace, readings: Readings, samples: _Samples, total: Integers, effort: Effort
) -> Integers:
    """Ticks of events from what was counted since the last reading, less 1 of each between."""
    if samples.first is not None:
        total = np.add.reduceat(np.maximum(0, total), samples.first)
    if not effort.mpi_work:
        leaves, _ = readings.exact(*trace.arrays("calls", "location", "leave_seq"))
        total = np.where(np.isin(samples.row, leaves), 0, total)
    ticks = np.ones(len(readings), np.int64)
    # In parts: fresh pages of so many events take longer than what is done with them.
    for part in slices(len(total)):
        work = np.maximum(0, total[part])
        work += effort.clock != "lt_hwctr"  # the event's own
        work -= samples.unread[part]
        ticks[samples.row[part]] = np.maximum(1, work, out=work)
    return ticks


def _of_loops(trace: Trace, readings: Readings, effort: Effort) -> Efforts:
    """Iterations of OpenMP loops, told with the loops of each thread."""
    location, region, leave_seq, count = trace.arrays(
        "regions", "location", "region", "leave_seq", "iterations"
    )
    is_loop = _has_role(trace, "loop")[region] if len(region) else np.zeros(0, bool)
    known = is_loop & (count != NO_VALUE)
    if is_loop.any() and not known.any():
        raise NotEnoughDataError(
            "lt_loop needs the iterations of OpenMP loops, which were not recorded: schedules "
            f"that gcc divides leave no trace. Record the program anew: burstline {RECORDED_BY}"
        )
    ticks = np.ones(len(readings), np.int64)
    row, is_left = readings.exact(location[known], leave_seq[known])
    np.add.at(ticks, row, np.maximum(0, count[known][is_left]))
    share = float(known.sum() / is_loop.sum()) if is_loop.any() else 1.0
    fell = int(np.count_nonzero(count[known] < 0))
    return _with_calls(ticks, trace, readings, effort, ((), share, (), fell))


def _with_calls(
    ticks: Integers,
    trace: Trace,
    readings: Readings,
    effort: Effort,
    sampled: tuple[tuple[str, ...], float, tuple[int, ...], int] = ((), 1.0, (), 0),
) -> Efforts:
    """Efforts and those of calls into the OpenMP runtime, inside of their constructs.

    `sampled` is the counters, share, locations and readings that a :class:`Basis` begins with.
    """
    cost = _CALL_COSTS.get(effort.clock, 0) if effort.call_cost is None else effort.call_cost
    count = 0
    if cost:
        for row in runtime_calls(trace, readings).values():
            np.add.at(ticks, row, cost)
            count += len(row)
    total, modelled = int(ticks.sum()), cost * count
    share = modelled / total if total else 0.0
    return Efforts(ticks, Basis(*sampled, cost, modelled, share, total == len(ticks)))


def runtime_calls(trace: Trace, readings: Readings) -> dict[str, Integers]:
    """Events that end what calls into the OpenMP runtime do: enters, forks, joins.

    What ends an enter is the event after it, so that its effort lies in the construct. A fork
    is an effort of each thread of the team where it begins, and the join of who forked.
    """
    location, seq = trace.arrays("regions", "location", "enter_seq")
    rows = {}
    for name, regions in zip(("enter", "fork"), constructs(trace), strict=True):
        row, is_event = readings.exact(location[regions], seq[regions])
        has_next = row + 1 < readings.begin[location[regions][is_event] + 1]
        rows[name] = row + has_next
    columns = trace.arrays("teams", "fork_location", "join_seq")
    rows["join"], _ = readings.exact(*columns)
    return rows


def constructs(trace: Trace) -> tuple[Integers, Integers]:
    """Rows of `regions` that a call into the OpenMP runtime enters, and where teams begin.

    A thread's part of a team begins with its parallel region, or with what stands for one: the
    team, or the outlined function.
    """
    location, region, team, seq = trace.arrays(
        "regions", "location", "region", "team", "enter_seq"
    )
    if not len(region):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    parallel, *others = (
        _has_role(trace, role)[region] for role in ("parallel", "team", "outlined")
    )
    rows = np.flatnonzero((parallel | others[0] | others[1]) & (team >= 0))
    order = rows[np.lexsort((seq[rows], ~parallel[rows], location[rows], team[rows]))]
    parts = order[begins_run(team[order], location[order])]
    enters = parallel | _has_role(trace, "loop")[region]
    enters[parts] = True
    forked = np.isin(team[parts], trace.arrays("teams", "team")[0])
    return np.flatnonzero(enters), np.sort(parts[forked])


def counts_of(trace: Trace, readings: Readings, counters: Sequence[str]) -> list[Floats]:
    """What counters counted before each event; what was not read counts at the next reading."""
    row = _events_read_at(trace, readings)
    counts: list[Floats] = []
    for column in numpy_columns(trace.table("readings"), *counters):
        known = (column != NO_VALUE) & (row >= 0)
        work = np.maximum(0, column[known]).astype(np.float64)
        counts.append(np.bincount(row[known], work, len(readings)).astype(np.float64))
    return counts


def _has_role(trace: Trace, role: str) -> Mask:
    """Which definitions of regions are OpenMP constructs of a role."""
    roles, paradigms = (trace.region_defs[name].to_pylist() for name in ("role", "paradigm"))
    pairs = zip(roles, paradigms, strict=True)
    return np.array([pair == (role, "openmp") for pair in pairs], bool)
