"""What the analysis of waits returns: a profile, single waits, who delays whom, coverage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline._core import Wait
from burstline.columns import (
    UNKNOWN,
    AnyIntegers,
    Floats,
    Integers,
    Mask,
    dense,
    descending,
    take,
    to_numpy,
)
from burstline.efficiency import communication_factors, thread_factors
from burstline.identity import MAINS, CallTree
from burstline.model import FINALIZES, INITS, LOCATIONS, Profile, Trace, Values
from burstline.model import METRICS as METRIC_TABLE
from burstline.synchronisation import Intervals, Sync
from burstline.waits.idle import Keeping, keeper
from burstline.waits.intrinsic import Intrinsic
from burstline.waits.metrics import (
    METRICS,
    PARENTS,
    WAITS,
    exclusive_or_zero,
    total_or_zero,
)
from burstline.waits.modelled import Modelled
from burstline.waits.openmp import holders_nodes, lock_waits
from burstline.waits.patterns import Patterns
from burstline.waits.places import EXTENSION, Places, one_of, places_of
from burstline.waits.severities import Severities

MOST_DELAYS: Final = 1000
WHOLE_LOCATIONS: Final = ("node", "rank")
"""What parts of a run may be that hold whole locations."""
_CALL_PATHS_TOLD, _SEVERE_TOLD = 20, 10
_IDLE: Final = "omp_idle_threads"
_LEAST_LEFT_OUT: Final = 0.0005  # of the time: less would be printed as 0.0%
_LITTLE: Final = 0.05  # of the time: waits of which no cause is named, as noise makes them
_MUCH_UNDERSTOOD: Final = 0.9
_WAITS_OF_MPI: Final = tuple(name for name in WAITS if name.startswith("mpi_"))
_HALVES: Final = ("collectives_share", "messages_share")
_MUCH_TRANSFER: Final = 0.1  # of the time
_MUCH_COMPUTED: Final = 0.2
"""Of what causes a wait mostly caused in MPI: computing that is named beside."""
_STANDS_OUT: Final = 1.5
"""Of the mean of what ranks cause: enough of one to blame it, as half of all is."""
_OTHER_MPI: Final = ("mpi_io", "mpi_rma_communication")
"""Time in MPI that is neither a wait nor the transfer of a message."""
_POINTS_TO: Final = (
    "look whether ranks share processors, then at the network and at how much is sent how "
    "often."
)
_ENDS: Final = frozenset((*INITS, *FINALIZES))
_METRIC_OF: Final = {
    Wait.LATE_SENDER: "mpi_latesender",
    Wait.LATE_RECEIVER: "mpi_latereceiver",
    Wait.BARRIER: "mpi_barrier_wait",
    Wait.N_TO_N: "mpi_wait_nxn",
    Wait.ONE_TO_N: "mpi_latebroadcast",
    Wait.N_TO_ONE: "mpi_earlyreduce",
}


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What lies in a part of a run: a loop, an iteration, a window of time, a rank or a node.

    Attributes
    ----------
    key : int or str
        The loop, the iteration from 1, when the window begins in ns, the rank, or the node's
        name; ``outside`` for what is in no loop or iteration.
    metrics : dict
        Totals by name of the metric, those of a metric with those of the metrics below it.
    efficiency : dict
        `parallel` (mean computation of its threads by the time of the one that is longest
        in it), the product of `load_balance` (mean by largest computation) and
        `communication` (largest computation by that time), 0..1; None without computation.
        Threads of a loop are those of processes that run it. `communication` is
        `serialisation` times `transfer`, of loops and iterations of runs without threads;
        else both are None.
    parent : int or None
        The loop that a loop is in: what lies in the inner one lies in the outer one, too.
    """

    key: int | str
    metrics: dict[str, int]
    efficiency: dict[str, float | None]
    parent: int | None = None

    @property
    def waits_ns(self) -> int:
        """How long threads wait in it."""
        return sum(self.metrics.get(name, 0) for name in WAITS)


@dataclass(frozen=True, slots=True, eq=False)
class Waits:
    """Where a program waits, and who causes it.

    Attributes
    ----------
    profile : Profile
        Severities by metric, call path and location: int64 in `unit`, those of a metric with
        those of the metrics below it.
    instances : pyarrow.Table
        Single waits, the longest first: `metric, location, call, start_ns, wait_ns,
        call_path, cause_location, cause_call, cause_call_path`. `call` is the ordinal of the
        call on its location, of the region for waits of threads; `cause_call` of the one that
        ends the wait when it is entered, null of a lock, whose release ends it; call paths
        are rows of the profile's.
        The cause's call path is the one in which it spent most more time than who waited
        since both met last; of a lock, where it was while it had it. Null where that
        explains nothing.
    delays : pyarrow.Table
        `from, to, wait_ns`: how long ranks waited for others in MPI, the largest first.
    efficiency : dict of str to float or None
        The factors of the parallel efficiency of POP, 0..1: `parallel` is `load_balance` times
        `communication`, which is `serialisation` (processes wait in turn, even on an ideal
        network) times `transfer`. Where processes have threads, `hybrid`, of all threads, is
        `mpi` times `openmp`; each is its `_load_balance` times its `_communication`. None
        where there is none.
    coverage : dict
        What of the trace was used, what was left out, and `not_computable`: metrics that
        the trace cannot tell, each with the reason.
    clock : str
        The clock of the stamps: `physical`, or the name of a logical one.
    like : str or None
        The tool whose oddities are kept.
    corrected : dict of str to int
        `violations`: events stamped before their cause in the trace as it was recorded,
        such as a receive before its send; `worst_ns`, by how much at worst; `moved_ns`, how
        far the stamp that was moved most was, 0 unless that was asked for.
    unit : str
        Of times: `ns`, or `ticks` of a logical clock.
    by : tuple of Part
        The same by part of the run, if that was asked for: windows, iterations and loops in
        order, those in a loop behind it; ranks and nodes by what they wait.
    intrinsic : Intrinsic or None
        What of the waits the program makes itself, and what the machine added, if that was
        asked for.
    modelled : Modelled or None
        Ticks of a logical clock that no counter gave; None of physical time.
    places : Places
        Where calls are made from, and between which calls computing lies, by call path.
    """

    profile: Profile
    instances: pa.Table
    delays: pa.Table
    efficiency: dict[str, float | None]
    coverage: dict[str, Any]
    clock: str
    like: str | None
    corrected: dict[str, int]
    unit: str
    by: tuple[Part, ...] = ()
    intrinsic: Intrinsic | None = None
    modelled: Modelled | None = None
    places: Places = field(default_factory=Places)

    def share_of_time(self, metric: str) -> float:
        """The share of a metric in the time of all threads, 0..1; 0 if there is no time."""
        whole = total_or_zero(self.profile, "time")
        return total_or_zero(self.profile, metric) / whole if whole else 0.0

    def doubts(self) -> list[str]:
        """What the verdict rests on that nobody counted, if it would be another one without."""
        return [] if self.modelled is None else self.modelled.doubts(verdict(self))

    def path(self, call_path: int) -> list[str]:
        """The names of a call path, from the root."""
        return list(self.profile.path(call_path))

    def top_call_paths(
        self, metric: str, most: int, left_out: Mask | None = None
    ) -> list[tuple[int, int]]:
        """The call paths with most of a metric, and how much each has alone."""
        sums = exclusive_or_zero(self.profile, metric).sum(axis=1)
        if left_out is not None:
            sums = np.where(left_out, 0, sums)
        order = np.argsort(-sums, kind="stable")[:most]
        return [(int(row), int(sums[row])) for row in order if sums[row] > 0]

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON output, by the contract; the longest lists are cut."""
        profile, path = self.profile, self.profile.paths()
        ranks = profile.locations["rank"].to_pylist()
        totals = {name: int(profile.total(name)) for name in profile.stored}
        units = zip(
            *(profile.metrics[name].to_pylist() for name in ("name", "unit")), strict=True
        )
        times = {name for name, unit in units if unit == self.unit}
        severe: dict[str, list[dict[str, Any]]] = {}
        for metric in self.instances["metric"].unique().to_pylist():
            listed = severe.setdefault(metric, [])
            rows = self.instances.filter(pc.equal(self.instances["metric"], metric))
            for row in rows.slice(0, _SEVERE_TOLD).to_pylist():
                blamed = row["cause_call_path"]
                listed.append(
                    {
                        "rank": ranks[row["location"]],
                        "call_path": list(path(row["call_path"])),
                        "start_ns": row["start_ns"],
                        "wait_ns": row["wait_ns"],
                        "cause_rank": ranks[row["cause_location"]],
                        "cause_call_path": None if blamed is None else list(path(blamed)),
                    }
                )
        whole = int(to_numpy(self.delays["wait_ns"]).sum())
        told = self.delays.slice(0, MOST_DELAYS).to_pylist()
        modelled = (
            {"modelled_ticks": None} if self.modelled is None else self.modelled.as_dict()
        )
        return {
            "verdict": [*verdict(self), *self.doubts()],
            "clock": self.clock,
            "like": self.like,
            "corrected": self.corrected,
            "unit": self.unit,
            "metrics": totals,
            "share_time": {name: self.share_of_time(name) for name in totals if name in times},
            "call_paths": {
                name: [
                    {
                        "path": list(path(row)),
                        "value": value,
                        "share_metric": value / totals[name],
                    }
                    for row, value in self.top_call_paths(name, _CALL_PATHS_TOLD)
                ]
                for name in totals
                if totals[name]
            },
            "most_severe": severe,
            "delays": told,
            "delays_share": sum(row["wait_ns"] for row in told) / whole if whole else 1.0,
            "by": [asdict(part) for part in self.by],
            "efficiency": self.efficiency,
            **modelled,
            "coverage": self.coverage,
        } | ({} if self.intrinsic is None else {"intrinsic": self.intrinsic.as_dict()})


def waits_of(
    trace: Trace,
    sync: Sync,
    tree: CallTree,
    patterns: Patterns,
    *,
    like: str | None,
    by: str | int | None,
    ideal_ns: Integers | None = None,
) -> Waits:
    """The result of an analysis; `ideal_ns` as :func:`ideal_in` has it."""
    severities = patterns.severities
    locations = trace.locations
    rows = {
        "location": range(sync.locations),
        "rank": locations["rank"].to_pylist(),
        "thread": locations["thread"].to_pylist(),
        "process": [f"rank {rank}" for rank in locations["rank"].to_pylist()],
        "name": locations["name"].to_pylist(),
        "node": locations["node"].to_pylist(),
    }
    facts = trace.metadata
    unit = facts.get("unit", "ns")
    clock = "physical" if unit == "ns" else facts["clock"]
    profile = Profile(
        _metric_table(severities, unit),
        tree.nodes,
        pa.table([list(rows[name]) for name in LOCATIONS.names], schema=LOCATIONS),
        {name: _stored_values(*severities.rows(name)) for name in severities.names()},
        {},
        {"clock": clock, "unit": unit},
    )
    return Waits(
        profile,
        _single_waits(sync, patterns),
        _delays_by_rank(sync, patterns),
        {},
        {},
        clock,
        like,
        {},
        unit,
        _by_location(profile, by)
        if by in WHOLE_LOCATIONS
        else _by_part(patterns.severities, sync.process, ideal_ns),
        places=places_of(trace, sync, tree),
    )


def _by_part(
    severities: Severities, process: AnyIntegers, ideal_ns: Integers | None
) -> tuple[Part, ...]:
    """What lies in each window, loop or iteration."""
    parts = severities.parts
    if parts is None:
        return ()
    is_thread = severities["time"].any(axis=0)
    names = [name for name in severities.names() if name in severities.by_part]
    totals = np.stack([severities.by_part[name] for name in names], axis=1)
    computed, spent = severities.computed[:, is_thread], severities.spent[:, is_thread]
    process = process[is_thread]
    ideal = None if ideal_ns is None else ideal_ns.copy()
    around = parts.around or [UNKNOWN] * len(parts.keys)
    for inner, outer in reversed([*enumerate(around)]):
        if outer >= 0:
            for values in (totals, computed, spent, ideal):
                if values is not None:
                    values[outer] += values[inner]
    made = []
    for k, key in enumerate(parts.keys):
        # A loop is no matter of processes that do not run it.
        runs = np.isin(process, process[spent[k] > 0]) | (not parts.around)
        most, longest = (int(each[k].max(initial=0)) for each in (computed, spent))
        factors = thread_factors(computed[k, runs], longest)
        factors |= communication_factors(
            most, longest, None if ideal is None else int(ideal[k].max())
        )
        metrics = dict(zip(names, totals[k].tolist(), strict=True))
        made.append(
            Part(key, metrics, factors, None if around[k] < 0 else int(parts.keys[around[k]]))
        )
    return tuple(made)


def _by_location(profile: Profile, by: str | int | None) -> tuple[Part, ...]:
    """What the locations of each rank or node add up to, who waits most first."""
    of_location = profile.locations[by].to_pylist()
    keys = list(dict.fromkeys(of_location))
    part = np.array([keys.index(key) for key in of_location], np.int64)
    sums = {name: profile.exclusive(name).sum(axis=0) for name in profile.stored}
    nothing = np.zeros(len(part), np.int64)
    computed, time = sums.get("comp", nothing), sums.get("time", nothing)
    spent = time - sums.get("omp_idle_threads", 0)
    parts = []
    for k, key in enumerate(keys):
        metrics = {name: int(values[part == k].sum()) for name, values in sums.items()}
        threads = (part == k) & (time > 0)
        longest = int(spent[threads].max(initial=0))
        factors = thread_factors(computed[threads], longest) | communication_factors(0, 0, None)
        parts.append(Part(key, metrics, factors))
    return tuple(sorted(parts, key=lambda each: -each.waits_ns))


def _stored_values(rows: Integers, values: Integers) -> Values:
    some = values.any(axis=1)
    if not some.all():
        rows, values = rows[some], values[some]
    return Values(rows.astype(np.int32), values, inclusive=False)


def _metric_table(severities: Severities, unit: str) -> pa.Table:
    names = set(severities.names())
    kept = [metric for metric in METRICS if metric.name in names]
    numbers = {metric.name: row for row, metric in enumerate(kept)}
    units = {"sec": unit}
    rows = [
        {
            "metric": row,
            "parent": numbers.get(metric.parent),
            "name": metric.name,
            "title": metric.title,
            "unit": units.get(metric.unit, metric.unit),
            "combined": "sum",
            "description": metric.description,
        }
        for row, metric in enumerate(kept)
    ]
    return pa.Table.from_pylist(rows, METRIC_TABLE)


def _single_waits(sync: Sync, patterns: Patterns) -> pa.Table:
    points, explained, scans = patterns.points, patterns.explained, patterns.scans
    rows = np.flatnonzero((points.wait_ns > 0) & (points.cause >= 0))
    rows = rows[points.type[rows] != int(Wait.NONE)]
    in_team = points.in_team[rows]
    interval = points.interval[rows]
    ended_by = points.interval[points.cause[rows]]
    start = np.empty(len(rows), np.int64)
    ordinal, cause_ordinal = np.empty((2, len(rows)), np.int64)
    for chosen, table in ((in_team, sync.regions), (~in_team, sync.calls)):
        ordinal[chosen] = _ordinal_in(table, interval[chosen])
        cause_ordinal[chosen] = _ordinal_in(table, ended_by[chosen])
        start[chosen] = table.enter_ns[interval[chosen]]
    locks = sync.locks
    waited_ns = lock_waits(sync)
    held = np.flatnonzero(
        (waited_ns > 0) & (locks.before["location"] != locks.acquired["location"])
    )
    metrics = [_METRIC_OF.get(Wait(type_), "") for type_ in range(int(Wait.NONE) + 1)]
    explicit = np.zeros(len(sync.regions.node), bool)
    explicit[sync.barriers.region] = sync.barriers.is_explicit
    contention = "omp_lock_contention_critical", "omp_lock_contention_api"
    names = [
        *metrics, "omp_ebarrier_wait", "omp_ibarrier_wait", *contention, "mpi_earlyscan",
    ]  # fmt: skip
    kind = points.type[rows].astype(np.int64)
    kind[in_team] = np.where(explicit[interval[in_team]], len(metrics), len(metrics) + 1)
    kind = np.concatenate([
        kind, len(names) - 2 - locks.is_critical[held],
        np.full(len(scans.call), len(names) - 1),
    ])  # fmt: skip
    calls = sync.calls
    columns = {
        "location": (
            points.location[rows], locks.acquired["location"][held], calls.location[scans.call],
        ),
        "call": (
            ordinal,
            _ordinal_in(sync.regions, locks.region[held]),
            _ordinal_in(calls, scans.call),
        ),
        "start_ns": (
            start, sync.regions.enter_ns[locks.region[held]], calls.enter_ns[scans.call],
        ),
        "wait_ns": (points.wait_ns[rows], waited_ns[held], scans.wait_ns),
        "call_path": (
            points.node[rows], sync.regions.node[locks.region[held]], calls.node[scans.call],
        ),
        "cause_location": (
            points.location[points.cause[rows]], locks.before["location"][held],
            calls.location[scans.cause],
        ),
        "cause_call": (
            cause_ordinal, np.full(len(held), UNKNOWN), _ordinal_in(calls, scans.cause),
        ),
    }  # fmt: skip
    whole = {name: np.concatenate(parts) for name, parts in columns.items()}
    order = descending(whole["wait_ns"])
    blamed = np.full(len(rows), UNKNOWN) if explained is None else explained.blamed[rows]
    untold = np.full(len(scans.call), UNKNOWN)
    blamed = np.concatenate([blamed, holders_nodes(sync, held), untold])[order]
    cause_call = whole.pop("cause_call")[order]
    table = pa.table({name: column[order] for name, column in whole.items()})
    table = table.append_column("cause_call", pa.array(cause_call, mask=cause_call < 0))
    table = table.add_column(
        0, "metric", pa.array(names, pa.string()).take(pa.array(kind[order]))
    )
    return table.append_column("cause_call_path", pa.array(blamed, pa.int32(), mask=blamed < 0))


def _ordinal_in(table: Intervals, row: AnyIntegers) -> Integers:
    """The ordinals of some rows on their locations; -1 for none."""
    return np.where(row >= 0, row - table.begin[take(table.location, row, 0)], UNKNOWN)


def _delays_by_rank(sync: Sync, patterns: Patterns) -> pa.Table:
    points = patterns.points
    rows = np.flatnonzero((points.wait_ns > 0) & (points.cause >= 0) & ~points.in_team)
    origin = sync.rank[points.location[points.cause[rows]]].astype(np.int64)
    target = sync.rank[points.location[rows]]
    ranks = int(sync.rank.max(initial=0)) + 1
    pair, pairs = dense(origin * ranks + target, ranks * ranks)
    wait = np.bincount(pair, points.wait_ns[rows], minlength=len(pairs))
    order = np.argsort(-wait, kind="stable")
    return pa.table(
        {
            "from": (pairs // ranks)[order].astype(np.int32),
            "to": (pairs % ranks)[order].astype(np.int32),
            "wait_ns": np.rint(wait[order]).astype(np.int64),
        }
    )


@dataclass(frozen=True, slots=True, eq=False)
class Largest:
    """The largest wait that a program can change: that is not in MPI_Init or MPI_Finalize."""

    metric: str
    cost_ns: int
    left_out: Mask  # (call paths,) those not looked at: none where nothing else waits
    left_out_ns: int  # of all waits


def ends_of(profile: Profile) -> Mask:
    """The call paths of MPI_Init and MPI_Finalize, and those below them."""
    names, parents = (profile.call_paths[name].to_pylist() for name in ("function", "parent"))
    ends = np.zeros(len(names), bool)
    for row, (name, parent) in enumerate(zip(names, parents, strict=True)):
        ends[row] = name in _ENDS or (parent is not None and ends[parent])
    return ends


def largest_wait(waits: Waits) -> Largest | None:
    """The largest wait, of what a program can change if it waits there; None without any."""
    profile = waits.profile
    sums = {
        name: profile.exclusive(name).sum(axis=1) for name in WAITS if name in profile.stored
    }
    every = sum(sums.values(), np.zeros(profile.call_paths.num_rows, np.int64))
    if not every.any():
        return None
    left_out = ends_of(profile)
    if not every[~left_out].any():
        left_out[:] = False
    cost, metric = max((int(values[~left_out].sum()), name) for name, values in sums.items())
    return Largest(metric, cost, left_out, int(every[left_out].sum()))


def verdict(waits: Waits) -> list[str]:
    """What costs most, where, and caused by whom, in a few sentences."""
    return [sentence for _, sentence in sentences(waits)]


def sentences(waits: Waits) -> list[tuple[str, str]]:
    """The sentences of the verdict, each with a word for what it is about."""
    unsure, transfer, largest = _not_understood(waits), _of_transfer(waits), largest_wait(waits)
    time = total_or_zero(waits.profile, "time")
    every = _waits_ns(waits)
    if largest is None or every / time < _LEAST_LEFT_OUT:
        nothing = "no wait state was found in what the trace tells."
        if largest is not None:
            nothing = f"all waits are less than {_LEAST_LEFT_OUT:.2%} of the time of the run."
        what = "In what was understood, nothing" if unsure else "Nothing"
        return unsure + (transfer or [("lost", f"{what} waits: {nothing}")])
    rest = every - largest.left_out_ns
    if rest / time < _LITTLE:
        ends = _in_ends(largest, time, ", {:.1%} of it in MPI_Init and MPI_Finalize")
        little = f"Threads wait for {every / time:.1%} of the time of the run{ends}"
        return unsure + (transfer or [("lost", f"{little}: too little to look for a cause.")])
    of_wait = _of_largest(waits, largest, every, time)
    costs = _costs_of(waits, largest)
    if transfer and costs is not None and costs.of_mpi > 1 / 2:
        (lost, where, (about, cause)), (_, how_much), *_ = transfer, *of_wait
        too = f"{how_much} Most of that, {costs.of_mpi:.1%}, is caused by transfer, too."
        return [lost, where, (about, f"{cause} {too}")]
    return unsure + transfer + of_wait


def _waits_ns(waits: Waits, left_out: Mask | None = None, names: Iterable[str] = WAITS) -> int:
    """All waits, but for those of some call paths."""
    values = (waits.profile.exclusive(name) for name in names if name in waits.profile.stored)
    kept = slice(None) if left_out is None else ~left_out
    return sum(int(each[kept].sum()) for each in values)


def _in_ends(largest: Largest, time: int, text: str) -> str:
    """What is said of waits in MPI_Init and MPI_Finalize: nothing if they are few."""
    share = largest.left_out_ns / time
    return text.format(share) if share >= _LEAST_LEFT_OUT else ""


def _of_largest(waits: Waits, largest: Largest, every: int, time: int) -> list[tuple[str, str]]:
    """How much is waited, where most of the largest kind of wait is, and who causes it."""
    profile, metric = waits.profile, largest.metric
    row = profile.metrics["name"].to_pylist().index(metric)
    title, meaning = (profile.metrics[name][row].as_py() for name in ("title", "description"))
    [(place, there), *_] = waits.top_call_paths(metric, 1, largest.left_out)
    but = _in_ends(largest, time, "without {:.1%} in MPI_Init and MPI_Finalize, ")
    how_much = (
        f"Threads wait for {every / time:.1%} of the time of the run; {but}the largest part, "
        f"{largest.cost_ns / time:.1%} of the run, is {title} ({meaning})."
    )
    who = "while the first thread of its process is " if metric == _IDLE else ""
    where = f"{there / largest.cost_ns:.1%} of it is {who}{_inside_text(waits, place)}."
    return [("lost", how_much), ("where", where), ("cause", _blame_for(waits, largest))]


def _why_not(coverage: dict[str, Any]) -> str:
    """Why collectives were not understood: what the trace lacks, or contradicts itself in."""
    reasons = []
    if coverage["collectives_apart"]:
        reasons.append("members left before others came")
    if any("collectives" in what for what in coverage["left_out"]) or not reasons:
        reasons.append("their other members are unknown")
    return ", or ".join(reasons)


def _not_understood(waits: Waits) -> list[tuple[str, str]]:
    """What of the trace was not understood, if that is so much that waits may be hidden."""
    coverage = waits.coverage
    parts = [
        f"{1 - coverage[name]:.1%} of {what}"
        for name, what in (
            ("collectives_share", f"the calls of collectives ({_why_not(coverage)})"),
            ("messages_share", "the messages (one side is missing)"),
            ("time_share", "the time (nobody recorded it)"),
        )
        if coverage.get(name, 1.0) < _MUCH_UNDERSTOOD
    ]
    if not parts:
        return []
    told = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
    return [("unsure", f"Not understood: {told}. Waits there are unknown, and not told below.")]


def unexplained_ns(profile: Profile) -> dict[str, int]:
    """By metric of delays: how much more is waited than is charged to anybody.

    Nothing where the two differ by what rounding makes of them: half a unit a value.
    """
    waited: dict[str, int] = {}
    for name, delay in WAITS.items():
        if delay and name in profile.stored:
            waited[delay] = waited.get(delay, 0) + int(profile.total(name))
    missing = {delay: time - total_or_zero(profile, delay) for delay, time in waited.items()}
    return {
        delay: missed
        for delay, missed in missing.items()
        if missed
        > sum(
            np.count_nonzero(profile.exclusive(name))
            for name in profile.stored
            if PARENTS[name] == delay
        )
    }


def transfer_ns(waits: Waits) -> Integers | None:
    """Time in MPI that is no wait, by call path, if there is more of it than of waits.

    Without MPI_Init and MPI_Finalize, files and one-sided communication.
    """
    profile = waits.profile
    if not total_or_zero(profile, "mpi") or not (time := profile.total("time")):
        return None
    if min(waits.coverage.get(name, 1.0) for name in _HALVES) < _MUCH_UNDERSTOOD:
        return None  # calls may wait for what was not understood
    if (waits.efficiency.get("transfer") or 0.0) > 1 - _MUCH_TRANSFER:
        return None  # faster messages would change little: calls wait in ways without a metric
    ends = ends_of(profile)
    own = profile.exclusive("mpi").sum(axis=1)
    for name in (*_OTHER_MPI, *_WAITS_OF_MPI):
        if name in profile.stored:
            own = own - profile.exclusive(name).sum(axis=1)
    own[ends] = 0
    dominates = own.sum() / time >= _MUCH_TRANSFER and own.sum() > _waits_ns(waits, ends)
    return own if dominates else None


def _of_transfer(waits: Waits) -> list[tuple[str, str]]:
    """Where MPI takes longer than its waits, and what that points to; else nothing."""
    own = transfer_ns(waits)
    if own is None:
        return []
    whole, time = own.sum(), waits.profile.total("time")
    place = int(own.argmax())
    in_mpi = whole + _waits_ns(waits, ends_of(waits.profile), _WAITS_OF_MPI)
    lost = (
        f"MPI takes {in_mpi / time:.1%} of the time of the run, without "
        f"MPI_Init and MPI_Finalize, and most of that, {whole / time:.1%} of the run, is no "
        "wait that the trace tells of: transfer dominates."
    )
    where = f"{own[place] / whole:.1%} of the transfer is {_inside_text(waits, place)}."
    return [("lost", lost), ("where", where), ("cause", f"No rank is to blame: {_POINTS_TO}")]


@dataclass(frozen=True, slots=True, eq=False)
class _Costs:
    """What causes a wait, by call path and location."""

    computing: Floats  # where it is not time in MPI
    in_mpi: Floats
    whole: float

    @property
    def of_mpi(self) -> float:
        """The share that is caused in MPI, by calls that wait for nobody."""
        return float(self.in_mpi.sum() / self.whole)


def _costs_of(waits: Waits, largest: Largest) -> _Costs | None:
    """What causes the largest wait, outside of what is left out; None if nothing tells."""
    profile, delay = waits.profile, WAITS[largest.metric]
    if not delay or delay not in profile.stored:
        return None
    values = profile.exclusive(delay)
    if values[~largest.left_out].any():
        values[largest.left_out] = 0
    if not values.any():
        return None
    in_mpi = np.array([[each == "mpi"] for each in profile.call_paths["paradigm"].to_pylist()])
    return _Costs(values * ~in_mpi, values * in_mpi, values.sum())


def _blame_for(waits: Waits, largest: Largest) -> str:
    """Who causes most of a wait, and where: by computing, unless most is time in MPI."""
    if largest.metric == _IDLE:
        return _blame_of_idle(waits, largest)
    costs = _costs_of(waits, largest)
    if costs is None:
        return "The trace does not tell who causes it."
    if costs.of_mpi <= 1 / 2:
        return _blame_of_computing(waits, costs)
    of_place = costs.in_mpi.sum(axis=1)
    place = int(of_place.argmax())
    rest = ""
    if costs.of_mpi <= 1 - _MUCH_COMPUTED:
        blame = _blame_of_computing(waits, costs)
        rest = f" By computing, {blame[0].lower()}{blame[1:]}"
    return (
        f"Most of it, {costs.of_mpi:.1%}, is caused in MPI itself, by calls that take longer "
        "on one rank than on another and wait for nobody: above all "
        f"({of_place[place] / costs.whole:.1%}), {_place_text(waits, place)}. "
        f"This is transfer: {_POINTS_TO}{rest}"
    )


def _blame_of_computing(waits: Waits, costs: _Costs) -> str:
    """Which rank causes a wait by computing, and where; or that none stands out."""
    ranks = waits.profile.locations["rank"].to_numpy()
    by_rank = np.bincount(ranks, costs.computing.sum(axis=0))
    rank = int(by_rank.argmax())
    share = by_rank[rank] / costs.whole
    stands_out = _stands_out(waits, costs, rank)
    chosen = costs.computing[:, ranks == rank] if stands_out else costs.computing
    by_place = chosen.sum(axis=1)
    place = int(by_place.argmax())
    of_place = by_place[place] / costs.whole
    where = _place_text(waits, place)
    where += "," * (place in waits.places.ends and "," in where)
    if not stands_out:
        return (
            f"No rank stands out (rank {rank} causes most, {share:.1%}): above all "
            f"({of_place:.1%}), {where} takes longer now on one rank, now on another: "
            "its work changes, or other programs share the processors."
            + _hint_at_names(waits, place)
        )
    most = "most of it" if share > 1 / 2 else "more of it than any other rank"
    return (
        f"Rank {rank} causes {most}, {share:.1%}: above all ({of_place:.1%}), {where} takes "
        f"longer there than for those who wait. Look there first.{_hint_at_names(waits, place)}"
    )


def _stands_out(waits: Waits, costs: _Costs, rank: int) -> bool:
    """Whether a rank takes longer than others where it causes most, and not by turns with them.

    Who takes longer by turns, or by chance, causes waits each time, but takes no longer in
    all. Who is slower throughout takes longer in all by as much as the others wait for it.
    """
    is_here = waits.profile.locations["rank"].to_numpy() == rank
    if is_here.all():
        return True
    of_rank = costs.computing[:, is_here].sum(axis=1)
    count = len(waits.profile.locations["rank"].unique())
    if of_rank.sum() < min(costs.whole / 2, _STANDS_OUT / count * costs.computing.sum()):
        return False
    place = int(of_rank.argmax())
    time = waits.profile.exclusive("time")[place]
    longer = time[is_here].sum() - time[~is_here].sum() / (count - 1)
    waits_of = waits.delays["wait_ns"].to_numpy()[waits.delays["from"].to_numpy() == rank]
    most = waits_of.max(initial=0) / max(waits_of.sum(), 1)
    return bool(longer >= of_rank[place] * most / 2)


def _blame_of_idle(waits: Waits, largest: Largest) -> str:
    """Who keeps threads idle, where, and how."""
    found = keeper(waits.profile, largest.left_out)
    if found is None:
        return "The trace does not tell who causes it."
    where = _inside_text(waits, found.place)
    how = f"first threads of other ranks wait in MPI for what it does {where}"
    for keeping, text in (
        (Keeping.ALONE, f"one thread works alone {where}"),
        (Keeping.IN_MPI, f"its first thread is in MPI, and was not seen to wait, {where}"),
        (
            Keeping.NARROW,
            f"{_place_text(waits, found.place)} has fewer threads than its process",
        ),
    ):
        if keeping in found.keeping:
            how = text
            if Keeping.LATE in found.keeping:
                how += ", and first threads of other ranks wait for it in MPI"
    most = "most of it" if found.of_rank > 1 / 2 else "more of it than any other rank"
    return (
        f"Rank {found.rank} causes {most}, {found.of_rank:.1%}: above all "
        f"({found.of_place:.1%}), {how}. Look there first.{_hint_at_names(waits, found.place)}"
    )


def _hint_at_names(waits: Waits, call_path: int) -> str:
    """How to get the name of a function that computes, where the trace has none."""
    end = waits.places.ends.get(call_path)
    if end is None or _is_of_python(waits, end):
        return ""
    return " Compiled with -finstrument-functions, the program tells which function it is."


def _is_of_python(waits: Waits, call_path: int) -> bool:
    """Whether a call is made from Python, whose functions no stack tells of."""
    return any(name.startswith(EXTENSION) for name in waits.path(call_path))


def _place_text(waits: Waits, call_path: int) -> str:
    """The end of a call path: an operation or function, and what it is called in.

    Behind `at` is the line of a call, in parentheses the one that a function begins at.
    """
    places = waits.places
    if call_path in places.ends:
        return _computing_text(waits, call_path)
    text = _name_with_line(waits, call_path)
    [row] = waits.profile.call_paths.slice(call_path, 1).to_pylist()
    if row["paradigm"] == "openmp":
        return f"{text} in {function}" if (function := _function_around(waits, row)) else text
    parent = row["parent"]
    if parent is None or row["paradigm"] == "compiler":
        return text
    [above] = waits.profile.call_paths.slice(parent, 1).to_pylist()
    if above["role"] == "artificial" or above["function"].startswith(EXTENSION):
        return text
    sites = places.place_text(call_path)
    caller = above["function"]
    if sites:
        caller += f" at {sites[0]}"
    elif parent not in places.regions or above["paradigm"] == "openmp":
        caller = _name_with_line(waits, parent)  # with the line that it calls from
    return f"{text} called by {caller}"


def _function_around(waits: Waits, row: dict[str, Any]) -> str | None:
    """The function that a construct of threads is in, None where none is known."""
    table = waits.profile.call_paths
    while row["parent"] is not None and row["paradigm"] == "openmp":
        [row] = table.slice(row["parent"], 1).to_pylist()
    is_function = row["paradigm"] not in ("openmp", "measurement")
    return row["function"].partition("@")[0].strip() if is_function else None


def _inside_text(waits: Waits, call_path: int) -> str:
    where = _place_text(waits, call_path)
    return where if call_path in waits.places.ends else f"in {where}"


def _name_with_line(waits: Waits, call_path: int) -> str:
    name, *line = waits.path(call_path)[-1].replace(" @", "@").split("@", 1)
    if not line:
        return name
    is_construct = name.startswith("!$omp")
    begins = call_path in waits.places.regions and not is_construct
    return f"{name} ({line[0]})" if begins else f"{name} at {line[0]}"


def told_path(waits: Waits, call_path: int) -> str:
    """A call path for people: with the lines of calls, and the calls around computing."""
    parents = waits.profile.call_paths["parent"].to_pylist()
    chain = [call_path]
    while (parent := parents[chain[-1]]) is not None:
        chain.append(parent)
    names = waits.path(call_path)[::-1]
    for k, node in enumerate(chain):
        name, *line = names[k].split("@", 1)
        if node in waits.places.regions and line and not name.startswith("!$omp"):
            names[k] = f"{name} ({line[0]})"
    if call_path in waits.places.ends:
        names[0] = _computing_text(waits, call_path).partition(", in ")[0]
    elif len(chain) > 1 and chain[1] in waits.places.regions:
        names[0] = " at ".join([names[0], *waits.places.place_text(call_path)])
    return " > ".join(names[::-1])


def _computing_text(waits: Waits, call_path: int) -> str:
    """Computing, by the calls around it and the function that is known to hold it."""
    functions, parents, files, lines = (
        waits.profile.call_paths[name].to_pylist()
        for name in ("function", "parent", "file", "begin_line")
    )
    places = waits.places
    end, begins = places.ends[call_path], places.begins[call_path]
    last = places.call(end, functions[end])
    before = [places.call(each, functions[each]) for each in begins]
    comma = "," * any("," in each for each in (*before, last))
    first = one_of(before, comma)
    text = f"computing from {first}{comma} to {last}"
    if begins == (end,):
        text = f"computing from one {last}{comma} to the next"
    holder = parents[call_path]
    if holder is None or functions[holder] not in MAINS or _is_of_python(waits, end):
        return text  # Python's own main would say nothing
    text += comma
    where = f"{files[holder]}:{lines[holder]}"
    is_told = last.endswith(f" {where}") or where in places.sites.get(end, ())
    if files[holder] is None or lines[holder] is None or is_told:
        return f"{text} in {functions[holder]} or what it calls"
    return f"{text} in {functions[holder]}, {where}, or what it calls"
