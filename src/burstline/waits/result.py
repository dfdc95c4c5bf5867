"""What the analysis of waits returns: a profile, single waits, who delays whom, coverage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline._core import Wait
from burstline.columns import (
    UNKNOWN,
    AnyIntegers,
    Integers,
    Mask,
    dense,
    descending,
    mask_at,
    to_numpy,
)
from burstline.efficiency import Factors, communication_factors, thread_factors
from burstline.errors import plural
from burstline.identity import CallTree
from burstline.model import LOCATIONS, Profile, Trace, Values, schema
from burstline.model import METRICS as METRIC_TABLE
from burstline.synchronisation import Sync
from burstline.values import Contract, Documented, document
from burstline.waits.computing_shares import computing_shares
from burstline.waits.intrinsic import Intrinsic
from burstline.waits.metrics import METRICS, PARENTS, WAITS, exclusive_or_zero, total_or_zero
from burstline.waits.openmp import holders_nodes, lock_waits
from burstline.waits.patterns import Patterns
from burstline.waits.places import Places, places_of
from burstline.waits.points import column_at
from burstline.waits.severities import Severities

MOST_DELAYS: Final = 1000
WHOLE_LOCATIONS: Final = ("node", "rank")
"""What parts of a run may be that hold whole locations."""
_CALL_PATHS_TOLD, _SEVERE_TOLD = 20, 10
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
        `serialisation` times `transfer`; both are None where processes have threads, for the
        reason that `not_computable` of the coverage says.
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


@dataclass(frozen=True, slots=True)
class Modelled(Documented):
    """The ticks of a logical clock that no counter gave: of calls into the OpenMP runtime."""

    ticks: int  # on all threads
    share: float  # of the ticks of all events, 0..1
    call_cost: int  # of each call
    # the waits without them, but for single ones; None where their share is too small to ask,
    # or causes were not asked for
    without: Waits | None

    CONTRACT: ClassVar[Contract] = (
        ("modelled_ticks", "ticks"),
        ("modelled_share", "share"),
        "call_cost",
    )


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

    def __repr__(self) -> str:
        waits = plural(self.instances.num_rows, "longest wait")
        return f"<Waits: {len(self.profile.stored)} metrics in {self.unit}, {waits}>"

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON output, by the contract; the longest lists are cut."""
        profile, path = self.profile, self.profile.paths()
        ranks = profile.locations["rank"].to_pylist()
        totals = {name: int(profile.total(name)) for name in profile.stored}
        metrics = profile.metrics.to_pylist()
        times = {row["name"] for row in metrics if row["unit"] == self.unit}

        def severe(metric: str) -> list[dict[str, Any]]:
            rows = self.instances.filter(pc.equal(self.instances["metric"], metric))
            return [
                {
                    "rank": ranks[row["location"]],
                    "call_path": list(path(row["call_path"])),
                    "start_ns": row["start_ns"],
                    "wait_ns": row["wait_ns"],
                    "cause_rank": ranks[row["cause_location"]],
                    "cause_call_path": None
                    if row["cause_call_path"] is None
                    else list(path(row["cause_call_path"])),
                }
                for row in rows.slice(0, _SEVERE_TOLD).to_pylist()
            ]

        whole = int(to_numpy(self.delays["wait_ns"]).sum())
        told = self.delays.slice(0, MOST_DELAYS).to_pylist()
        modelled = (
            {"modelled_ticks": None} if self.modelled is None else self.modelled.as_dict()
        )
        return {
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
            "most_severe": {
                m: severe(m) for m in self.instances["metric"].unique().to_pylist()
            },
            "delays": told,
            "delays_share": sum(row["wait_ns"] for row in told) / whole if whole else 1.0,
            "by": document(self.by),
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
    names = ("rank", "thread", "name", "node")
    rows: dict[str, Any] = {name: trace.locations[name].to_pylist() for name in names}
    rows["location"] = range(sync.locations)
    rows["process"] = [f"rank {rank}" for rank in rows["rank"]]
    facts = trace.metadata
    divided = computing_shares(trace, sync, tree, severities["time"])
    unit = facts.get("unit", "ns")
    clock = "physical" if unit == "ns" else facts["clock"]
    profile = Profile(
        _metric_table(severities, unit),
        tree.nodes,
        pa.table([list(rows[name]) for name in LOCATIONS.names], schema=LOCATIONS),
        {
            name: _stored_values(*divided.divided(name, *severities.rows(name)))
            for name in severities.names()
        },
        {},
        {"clock": clock, "unit": unit} | _placed_by(trace),
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
        _by_location(profile, by, ideal_ns)
        if by in WHOLE_LOCATIONS
        else _by_part(patterns.severities, sync.process, ideal_ns),
        places=places_of(trace, sync, tree),
    )


def _placed_by(trace: Trace) -> dict[str, str]:
    """What threads were bound to, from small to large, and who started them, where known."""
    bound = {*trace.table("placements")["bound_to"].to_pylist()} - {None}
    parts = [each for each in schema.PARTS if each in bound]
    launcher = trace.metadata.get("launcher")
    facts = {"binding": " and ".join(parts), "launcher": launcher}
    return {name: text for name, text in facts.items() if text}


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
        factors = _factors(computed[k], spent[k], None if ideal is None else ideal[k], runs)
        metrics = dict(zip(names, totals[k].tolist(), strict=True))
        made.append(
            Part(key, metrics, factors, None if around[k] < 0 else int(parts.keys[around[k]]))
        )
    return tuple(made)


def _factors(
    computed: Integers,
    spent: Integers,
    ideal: Integers | None,
    runs: Mask | slice = slice(None),
) -> Factors:
    """The factors of threads that compute, and are in a part, so long; of those that `runs`."""
    most, longest = (int(each.max(initial=0)) for each in (computed, spent))
    ideal_ns = None if ideal is None else int(ideal.max(initial=0))
    of_communication = communication_factors(most, longest, ideal_ns)
    return thread_factors(computed[runs], longest) | of_communication


def _by_location(
    profile: Profile, by: str | int | None, ideal_ns: Integers | None
) -> tuple[Part, ...]:
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
        factors = _factors(
            computed[threads],
            spent[threads],
            None if ideal_ns is None else ideal_ns[0, threads],
        )
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
    locks = sync.locks
    waited_ns = lock_waits(sync)
    held = np.flatnonzero(
        (waited_ns > 0) & (locks.before["location"] != locks.acquired["location"])
    )
    metrics = [_METRIC_OF.get(Wait(type_), "") for type_ in range(int(Wait.NONE) + 1)]
    explicit = mask_at(sync.barriers.region[sync.barriers.is_explicit], len(sync.regions.node))
    contention = "omp_lock_contention_critical", "omp_lock_contention_api"
    names = [
        *metrics, "omp_ebarrier_wait", "omp_ibarrier_wait", *contention, "mpi_earlyscan",
    ]  # fmt: skip
    interval, cause, in_team = (
        of[rows] for of in (points.interval, points.cause, points.in_team)
    )
    kind = points.type[rows].astype(np.int64)
    kind[in_team] = np.where(explicit[interval[in_team]], len(metrics), len(metrics) + 1)
    of_locks, of_scans = np.ones(len(held), bool), np.zeros(len(scans.call), bool)
    kind = np.concatenate(
        [kind, len(names) - 2 - locks.is_critical[held], np.full(len(of_scans), len(names) - 1)]
    )
    row = np.concatenate([interval, locks.region[held], scans.call])
    is_region = np.concatenate([in_team, of_locks, of_scans])
    cause_row = np.concatenate(
        [points.interval[cause], np.full(len(held), UNKNOWN), scans.cause]
    )
    whole = {
        "location": column_at(sync, "location", row, is_region),
        "call": _ordinals(sync, row, is_region),
        "start_ns": column_at(sync, "enter_ns", row, is_region),
        "wait_ns": np.concatenate([points.wait_ns[rows], waited_ns[held], scans.wait_ns]),
        "call_path": column_at(sync, "node", row, is_region),
        "cause_location": np.concatenate([
            points.location[cause], locks.before["location"][held],
            sync.calls.location[scans.cause],
        ]),
    }  # fmt: skip
    order = descending(whole["wait_ns"])
    blamed = np.full(len(rows), UNKNOWN) if explained is None else explained.blamed[rows]
    blamed = np.concatenate(
        [blamed, holders_nodes(sync, held), np.full(len(scans.call), UNKNOWN)]
    )[order]
    cause_call = _ordinals(sync, cause_row, is_region)[order]
    table = pa.table({name: column[order] for name, column in whole.items()})
    table = table.append_column("cause_call", pa.array(cause_call, mask=cause_call < 0))
    table = table.add_column(
        0, "metric", pa.array(names, pa.string()).take(pa.array(kind[order]))
    )
    return table.append_column("cause_call_path", pa.array(blamed, pa.int32(), mask=blamed < 0))


def _ordinals(sync: Sync, row: Integers, is_region: Mask) -> Integers:
    """The ordinals of calls and regions on their locations; -1 for none."""
    location = column_at(sync, "location", row, is_region)
    first = np.where(is_region, sync.regions.begin[location], sync.calls.begin[location])
    return np.where(row >= 0, row - first, UNKNOWN)


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


def unexplained_ns(profile: Profile) -> dict[str, int]:
    """By metric of delays: how much more is waited than charged, and than rounding makes."""
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
