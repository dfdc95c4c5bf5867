"""What ranks compute: counters of each, and the bursts that last longest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from burstline.columns import Integers, mask_at, numpy_columns
from burstline.model import (
    NAMES,
    NO_VALUE,
    POLL_GAP_NS,
    Trace,
    bursts_computing,
    instructions_and_cycles,
    processor_clock,
)
from burstline.progress import SILENCE, Progress
from burstline.values import COUNT, SHARE, TIME, Column, Documented, Table, table_of

_MOST: Final = 20


@dataclass(frozen=True, slots=True)
class RankComputing:
    """What a rank computes, its threads together."""

    application: int
    rank: int
    bursts: int
    computing_ns: int  # how long they compute, in ns
    # what each counter counted in the bursts at whose ends it was read; none where it never was
    counters: Mapping[str, int]
    counted_ns: Mapping[str, int]  # how long these bursts compute, in ns


@dataclass(frozen=True, slots=True)
class CallPlace:
    """A call beside a burst: its operation, and where it is called from if that is known."""

    operation: str
    function: str | None = None
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        """The call in a few words."""
        if self.file is not None and self.line is not None:
            return f"{self.operation} at {self.file}:{self.line}"
        return f"{self.operation} in {self.function}" if self.function else self.operation


@dataclass(frozen=True, slots=True)
class Burst:
    """A burst that lasts long."""

    # its row of `locations`, and its ordinal there
    location: int
    burst: int
    application: int
    rank: int
    thread: int
    # when it begins, and how long it computes, in ns
    start_ns: int
    computing_ns: int
    call: int | None  # the ordinal of the call behind it; None if there is none
    counters: Mapping[str, int]  # what was counted in it
    # the calls between which it lies
    before: CallPlace | None
    after: CallPlace | None


@dataclass(frozen=True, slots=True)
class Computing(Documented):
    """What ranks compute."""

    counters: tuple[str, ...]
    units: Mapping[str, str]  # the unit of each; empty of counts
    processor: str | None  # the one that counts ns on a processor
    cycles: tuple[str, str] | None  # those of instructions and of cycles
    ranks: tuple[RankComputing, ...]
    largest: tuple[Burst, ...]  # those that compute longest, the longest first

    def __repr__(self) -> str:
        bursts = f"{self.bursts:,} bursts of {len(self.ranks)} ranks"
        return f"<Computing: {bursts}, {self.computing_ns:,} ns>"

    def tables(self) -> list[Table]:
        """What each rank computes, and the bursts that compute longest."""
        whole = max(self.computing_ns, 1)
        ranks = table_of(
            self.ranks,
            {
                Column("rank", COUNT): lambda each: each.rank,
                Column("bursts", COUNT): lambda each: each.bursts,
                Column("computing", TIME): lambda each: each.computing_ns,
                Column("share", SHARE): lambda each: each.computing_ns / whole,
            },
            "What ranks compute",
        )
        bursts = table_of(
            self.largest,
            {
                Column("rank", COUNT): lambda each: each.rank,
                Column("behind"): lambda each: "" if each.before is None else str(each.before),
                Column("before"): lambda each: "" if each.after is None else str(each.after),
                Column("computing", TIME): lambda each: each.computing_ns,
                Column("share", SHARE): lambda each: each.computing_ns / whole,
            },
            "Bursts that compute longest",
            left=3,
        )
        return [ranks, bursts]

    @property
    def bursts(self) -> int:
        """All bursts."""
        return sum(rank.bursts for rank in self.ranks)

    @property
    def computing_ns(self) -> int:
        """How long all of them compute."""
        return sum(rank.computing_ns for rank in self.ranks)

    def per_ns(self, counter: str, without: Iterable[Burst] = ()) -> float | None:
        """What a counter counted in a ns of computing; None if it was never read."""
        left_out = [burst for burst in without if counter in burst.counters]
        counted = sum(rank.counters.get(counter, 0) for rank in self.ranks)
        time_ns = sum(rank.counted_ns.get(counter, 0) for rank in self.ranks)
        counted -= sum(burst.counters[counter] for burst in left_out)
        time_ns -= sum(burst.computing_ns for burst in left_out)
        return counted / time_ns if time_ns else None


@dataclass(slots=True)
class BurstSums:
    """Sums by location: bursts, their time, and of each counter what it counted, and when."""

    bursts: Integers
    computing_ns: Integers
    counted: dict[str, Integers]
    counted_ns: dict[str, Integers]
    longest: list[dict[str, Any]] = field(default_factory=list)  # bursts, the longest first

    @classmethod
    def nothing(cls, locations: int, counters: Iterable[str]) -> BurstSums:
        """The sums of no burst."""
        bursts, computing_ns = np.zeros((2, locations), np.int64)
        counted, counted_ns = (
            {name: np.zeros(locations, np.int64) for name in counters} for _ in range(2)
        )
        return cls(bursts, computing_ns, counted, counted_ns)

    def add(self, other: BurstSums, most: int) -> None:
        """Add the sums of locations behind these."""
        self.bursts += other.bursts
        self.computing_ns += other.computing_ns
        for name in self.counted:
            self.counted[name] += other.counted[name]
            self.counted_ns[name] += other.counted_ns[name]
        self.add_longest(other.longest, most)

    def add_longest(self, rows: list[dict[str, Any]], most: int) -> None:
        """Keep the longest of these bursts and others; of equal ones those that come first."""
        self.longest = sorted(self.longest + rows, key=lambda row: -row["length"])[:most]


def computing(
    trace: Trace,
    *,
    most: int = _MOST,
    poll_gap_ns: int = POLL_GAP_NS,
    progress: Progress = SILENCE,
) -> Computing:
    """What ranks compute: counters of each, and the bursts that last longest.

    Linear in the bursts. A burst computes for all of its time but what nobody watched and what
    was waiting in failed polls; a counter counts in these as well.

    >>> from burstline.testing import trace_of
    >>> calls = "0 enter MPI_Init | 5 leave | 25 enter MPI_Barrier | 30 leave"
    >>> made = computing(trace_of(f"ranks 1 | 0 | {calls} | 70 enter MPI_Barrier | 72 leave"))
    >>> [(str(each.before), each.computing_ns) for each in made.largest]
    [('MPI_Barrier', 40), ('MPI_Init', 20)]
    """
    sums = bursts_summed(trace, most=most, poll_gap_ns=poll_gap_ns, progress=progress)
    return computing_of(trace, [sums], most=most)


def bursts_summed(
    trace: Trace, *, most: int, poll_gap_ns: int, progress: Progress = SILENCE
) -> BurstSums:
    """The sums of each location of a trace, or of a part of one, and its longest bursts."""
    names = tuple(trace.counter_names)
    sums = BurstSums.nothing(trace.rows("locations"), names)
    around = ("location", "burst", "call_before", "call_after")
    for part, length in bursts_computing(trace, (*around, *names), poll_gap_ns, progress):
        (location,) = numpy_columns(part, "location")
        np.add.at(sums.bursts, location, 1)
        np.add.at(sums.computing_ns, location, length)
        for name, counted in zip(names, numpy_columns(part, *names), strict=True):
            read = counted != NO_VALUE
            np.add.at(sums.counted[name], location[read], counted[read])
            np.add.at(sums.counted_ns[name], location[read], length[read])
        rows = np.argsort(-length, kind="stable")[:most]
        told = part.select([*around, "start_ns", *names]).take(rows).to_pylist()
        longest = [
            row | {"length": long}
            for row, long in zip(told, length[rows].tolist(), strict=True)
            if long > 0
        ]
        sums.add_longest(longest, most)
    return sums


def computing_of(trace: Trace, parts: Iterable[BurstSums], *, most: int) -> Computing:
    """What ranks compute, by the sums of the parts of a trace in the order of locations."""
    names = tuple(trace.counter_names)
    sums, *others = parts
    for other in others:
        sums.add(other, most)
    return Computing(
        names,
        {row["name"]: row["unit"] for row in trace.table("counters").to_pylist()},
        processor_clock(trace),
        instructions_and_cycles(trace),
        tuple(_ranks(trace, sums, names)),
        tuple(_bursts(trace, sums.longest, names)),
    )


def _ranks(trace: Trace, sums: BurstSums, names: Iterable[str]) -> Iterable[RankComputing]:
    application, rank = trace.arrays("locations", "application", "rank")
    for number, of in sorted(set(zip(application.tolist(), rank.tolist(), strict=True))):
        own = (application == number) & (rank == of)
        if not sums.bursts[own].any():
            continue
        times = ((name, int(sums.counted_ns[name][own].sum())) for name in names)
        counted_ns = {name: time_ns for name, time_ns in times if time_ns}
        yield RankComputing(
            number,
            of,
            int(sums.bursts[own].sum()),
            int(sums.computing_ns[own].sum()),
            {name: int(sums.counted[name][own].sum()) for name in counted_ns},
            counted_ns,
        )


def _bursts(
    trace: Trace, rows: list[dict[str, Any]], names: tuple[str, ...]
) -> Iterable[Burst]:
    places = _places(trace, rows)
    application, rank, thread = trace.arrays("locations", "application", "rank", "thread")
    for row in rows:
        at = row["location"]
        yield Burst(
            at,
            row["burst"],
            int(application[at]),
            int(rank[at]),
            int(thread[at]),
            row["start_ns"],
            row["length"],
            row["call_after"],
            {name: row[name] for name in names if row[name] is not None},
            places.get((at, row["call_before"])),
            places.get((at, row["call_after"])),
        )


def _places(
    trace: Trace, rows: list[dict[str, Any]]
) -> dict[tuple[int, int | None], CallPlace]:
    """The calls around some bursts."""
    wanted = {
        (row["location"], row[side])
        for row in rows
        for side in ("call_before", "call_after")
        if row[side] is not None
    }
    locations = mask_at([location for location, _ in wanted], trace.rows("locations"))
    paths = trace.table("call_paths")
    found = {}
    columns = ("location", "call", "operation", "call_path")
    for part in trace.batches("calls", columns, locations=locations):
        location, call = numpy_columns(part, "location", "call")
        chosen = np.flatnonzero(locations[location] & np.isin(call, [k for _, k in wanted]))
        for row in part.take(chosen).to_pylist():
            key = row["location"], row["call"]
            if key in wanted:
                found[key] = _place(row, paths)
    return found


def _place(row: Mapping[str, Any], paths: Any) -> CallPlace:  # noqa: ANN401 -- a table of Arrow
    operation = row["operation"]
    operation = NAMES[operation] if isinstance(operation, int) else operation
    if row["call_path"] is None:
        return CallPlace(operation)
    [frame] = paths.slice(row["call_path"], 1).to_pylist()
    return CallPlace(operation, frame["function"], frame["file"], frame["line"])
