"""What the threads of each rank spent the time of the run on, as far as calls and gaps tell.

The run is from the first end of MPI_Init to the last begin of MPI_Finalize: one baseline for
all ranks. It is divided once for each thread, so the parts of a rank add up exactly: MPI_Init
and MPI_Finalize of late and early ranks, other calls of MPI, failed polls that the source only
sums up, not recorded, and all else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from burstline.columns import Integers, Mask, coded, numpy_columns
from burstline.efficiency.useful_time import gaps_of_locations, mpi_before, rows_of_locations
from burstline.model import FINALIZES, INITS, Trace


@dataclass(frozen=True, slots=True)
class Baseline:
    """The time that shares of a run are of: once for each of its threads."""

    # from the first end of MPI_Init to the last begin of MPI_Finalize; from the first to the
    # last moment of ranks without them
    start_ns: int
    end_ns: int
    threads: int

    @property
    def length_ns(self) -> int:
        """How long it lasts."""
        return max(self.end_ns - self.start_ns, 0)

    @property
    def whole_ns(self) -> int:
        """How long it lasts for all threads together."""
        return self.length_ns * self.threads


@dataclass(frozen=True, slots=True)
class RankParts:
    """The time of the threads of a rank, ns; the parts add up to `whole_ns`."""

    application: int
    rank: int
    locations: tuple[int, ...]  # its threads
    whole_ns: int  # the baseline, once for each thread
    # outside of MPI, polls and gaps: computing, and what OpenMP does
    outside_ns: int
    mpi_ns: int  # without MPI_Init and MPI_Finalize
    polling_ns: int  # in polls that the source only sums up, while they waited
    init_finalize_ns: int  # before the process has left MPI_Init, and from MPI_Finalize on
    not_recorded_ns: int


class RankTimes:
    """A fold: batches of calls and bursts are added, the times of ranks are read."""

    def __init__(self, trace: Trace) -> None:
        self._application, self._rank, self._process, self._born, self._died = trace.arrays(
            "locations", "application", "rank", "process", "born_ns", "died_ns"
        )
        kinds = trace.locations["kind"].to_pylist()
        self._is_cpu = np.array([kind == "cpu" for kind in kinds], bool)
        self._calls, self._mpi, self._polling = np.zeros((3, len(kinds)), np.int64)
        # Calls of MPI_Init and MPI_Finalize: location, enter, leave, whether it is an init.
        self._ends: list[tuple[int, int, int, bool]] = []
        self._gaps = dict(gaps_of_locations(trace, self._is_cpu))

    def add(self, calls: pa.Table) -> None:
        """Add all calls of some locations."""
        location, enter, leave = numpy_columns(calls, "location", "enter_ns", "leave_ns")
        codes, names = coded(calls["operation"])
        inits, finals = (
            np.isin(codes, [code for code, name in enumerate(names) if name in ends])
            for ends in (INITS, FINALIZES)
        )
        self._calls += np.bincount(location, minlength=len(self._calls))
        is_end = inits | finals
        columns = (location[is_end], enter[is_end], leave[is_end], inits[is_end])
        self._ends += zip(*(column.tolist() for column in columns), strict=True)
        location, enter, leave = (column[~is_end] for column in (location, enter, leave))
        np.add.at(self._mpi, location, leave - enter)
        for place, rows in rows_of_locations(location):
            if place in self._gaps:
                starts, ends = self._gaps[place]
                within = mpi_before(ends, enter[rows], leave[rows])
                within -= mpi_before(starts, enter[rows], leave[rows])
                self._mpi[place] -= within.sum()

    def add_bursts(self, bursts: pa.Table, waiting_ns: Integers) -> None:
        """Add how long bursts waited in polls."""
        (location,) = numpy_columns(bursts, "location")
        np.add.at(self._polling, location, waiting_ns)

    def add_all(self, other: RankTimes) -> None:
        """Add what was added to another fold of the trace: of locations behind these."""
        self._calls += other._calls
        self._mpi += other._mpi
        self._polling += other._polling
        self._ends += other._ends
        self._gaps |= other._gaps

    def _chosen(self) -> Mask:
        """Mask of the threads of applications that call MPI; of all, if none does."""
        with_mpi = np.unique(self._application[self._calls > 0])
        of_mpi = np.isin(self._application, with_mpi) if len(with_mpi) else self._is_cpu
        return of_mpi & self._is_cpu

    def baseline(self) -> Baseline:
        """What shares are of."""
        chosen = self._chosen()
        if not chosen.any():
            return Baseline(0, 0, 0)
        seen = self._process.tolist()
        begins: dict[int, int] = {}
        ends: dict[int, int] = {}
        columns = (each[chosen].tolist() for each in (self._process, self._born, self._died))
        for process, born, died in zip(*columns, strict=True):
            begins[process] = min(born, begins.get(process, born))
            ends[process] = max(died, ends.get(process, died))
        for location, enter, leave, is_init in self._ends:
            process = seen[location]
            if process in begins and is_init:
                begins[process] = max(leave, begins[process])
            elif process in begins:
                ends[process] = min(enter, ends[process])
        return Baseline(min(begins.values()), max(ends.values()), int(chosen.sum()))

    def result(self) -> tuple[RankParts, ...]:
        """The times of each rank of the applications that call MPI, in order."""
        baseline = self.baseline()
        start, end = baseline.start_ns, baseline.start_ns + baseline.length_ns
        born, died = np.clip(self._born, start, end), np.clip(self._died, start, end)
        observed = np.maximum(died - born, 0)
        for place, (starts, stops) in self._gaps.items():
            observed[place] -= _inside(starts, stops, born[place], died[place]).sum()
        # What contradicts itself, such as a call inside of a call, never exceeds the whole.
        in_ends = np.minimum(self._in_ends(born, died), observed)
        mpi = np.minimum(self._mpi, observed - in_ends)
        polling = np.minimum(self._polling, observed - in_ends - mpi)
        outside = observed - in_ends - mpi - polling
        unseen = baseline.length_ns - observed
        chosen = np.flatnonzero(self._chosen())
        keys = np.stack([self._application[chosen], self._rank[chosen]], axis=1)
        ranks, which = np.unique(keys, axis=0, return_inverse=True)
        made = []
        for number, (application, rank) in enumerate(ranks.tolist()):
            places = chosen[which.reshape(-1) == number]
            parts = (outside, mpi, polling, in_ends, unseen)
            sums = (int(part[places].sum()) for part in parts)
            whole_ns = len(places) * baseline.length_ns
            made.append(RankParts(application, rank, tuple(places.tolist()), whole_ns, *sums))
        return tuple(made)

    def _in_ends(self, born: Integers, died: Integers) -> Integers:
        """How long each thread was there before MPI_Init was left, and from MPI_Finalize on."""
        total = np.zeros(len(born), np.int64)
        for location, enter, leave, is_init in self._ends:
            for place in np.flatnonzero(self._process == self._process[location]).tolist():
                since = int(born[place]) if is_init else max(enter, int(born[place]))
                until = min(leave, int(died[place])) if is_init else int(died[place])
                total[place] += max(until - since, 0)
                if place in self._gaps and until > since:
                    total[place] -= _inside(*self._gaps[place], since, until).sum()
        return total


def _inside(starts: Integers, ends: Integers, since: int, until: int) -> Integers:
    """How much of each interval lies within a time."""
    return np.maximum(np.minimum(ends, until) - np.maximum(starts, since), 0)
