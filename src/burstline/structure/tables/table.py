"""The loop table, and what sums it up: over ranks, over iterations, and what stands out."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import Columns, Floats, Integers, Mask, begins_run, quotients, to_frame
from burstline.errors import plural
from burstline.model import NO_VALUE
from burstline.structure.tables.spread import FAR_OUT, Trend, medians, scores, trend
from burstline.values import Contract, Documented, document

if TYPE_CHECKING:
    import polars as pl


_FEWEST_WHOLE: Final = 2


@dataclass(frozen=True, slots=True)
class LoopSummary(Documented):
    """How long the counted iterations of a loop last, how that spreads, whether it drifts."""

    iterations: int  # most iterations of a lane
    counted: int  # those that another one of their entry follows, or all if hardly any is
    # ranks and threads that run it, and how often one enters it at most
    ranks: int
    lanes: int
    entries: int
    # mean and standard deviation of the duration over the iterations, each the mean over its
    # ranks
    mean_ns: float
    std_ns: float
    median_ns: float  # their median
    # shortest and longest iteration of any rank
    min_ns: int
    max_ns: int
    # shares of the time outside MPI, in MPI, in gaps, and waiting in failed polls
    useful: float
    mpi: float
    unwatched: float
    waiting: float
    # mean useful time of the ranks over the largest: 1 if all compute equally long in all
    balance: float | None
    # the same iteration by iteration, mean over the iterations: smaller where now one and then
    # another rank computes longer
    balance_within: float | None
    # how the duration drifts from one iteration to the next, in ns; None for fewer than four
    # iterations. A step is at an iteration, from 1, the first on the second level.
    trend: Trend | None
    outliers: int  # iterations that are unusually slow on some rank

    @property
    def variation(self) -> float:
        """Standard deviation over mean."""
        return self.std_ns / self.mean_ns if self.mean_ns else 0.0

    CONTRACT: ClassVar[Contract] = (("**", asdict), "variation")


class Slow(NamedTuple):
    """An iteration that is unusually slow, on the rank where it lasts longest."""

    iteration: int  # which, from 1
    # where it lasts longest
    rank: int
    location: int
    # when it begins there, and how long it lasts
    start_ns: int
    duration_ns: int
    score: float  # how far above the median of that lane it is; above 3.5 it is an outlier
    ratio: float  # its duration over that median
    # how much longer it computes, and is in MPI, than the medians of that lane
    more_useful_ns: float
    more_mpi_ns: float
    lanes: int  # lanes where it is an outlier
    # rank that computes longest beyond the median of its lane: others may wait for it
    cause_rank: int
    cause_more_useful_ns: float  # how much longer


@dataclass(frozen=True, slots=True, eq=False)
class LoopTable:
    """What each iteration of a loop cost, on each lane that executed it; see `loop_table`."""

    loop: int  # number of the loop
    method: str  # how the loop was found
    # (rows,) who executed it, lane after lane
    lane: Integers
    location: Integers
    rank: Integers
    # (rows,) which entry into the loop it belongs to, counted from 0 on its lane
    entry: Integers
    # (rows,) which iteration it is, counted from 1 on its lane over all entries
    iteration: Integers
    # (rows,) whether it lasts until the next one begins; else it is the last of its entry, and
    # lacks what was computed after its last call
    whole: Mask
    # (rows,) when it began and how long it lasted
    start_ns: Integers
    duration_ns: Integers
    calls: Integers  # (rows,) MPI calls in it
    # (rows,) time in MPI calls, outside them, and outside them in gaps and waiting in failed
    # polls that are no calls; their sum is the duration
    mpi_ns: Integers
    useful_ns: Integers
    unwatched_ns: Integers
    waiting_ns: Integers
    # (rows,) each counter over the computation between its calls;
    # :data:`burstline.model.NO_VALUE` where it was not read throughout
    counters: dict[str, Integers]

    def __len__(self) -> int:
        return len(self.lane)

    @property
    def counted(self) -> Mask:
        """Rows that statistics are made of: whole iterations, or all if hardly any is."""
        enough = np.count_nonzero(self.whole) >= _FEWEST_WHOLE
        return self.whole if enough else np.ones(len(self), bool)

    def summary(self) -> LoopSummary:
        """How long the counted iterations of the loop last, how they spread and drift."""
        counted = self.counted
        by_iteration = self.by_iteration(counted=True)
        by_lane = self.by_rank()
        mean_ns = by_iteration["mean_ns"]
        duration = self.duration_ns[counted]
        total = max(int(duration.sum()), 1)
        computed = np.bincount(_dense_lanes(self)[counted], self.useful_ns[counted])
        computed = computed[np.bincount(_dense_lanes(self)[counted]) > 0]
        most = by_iteration["max_useful_ns"]
        within = quotients(by_iteration["useful_ns"], most)[most > 0]
        drift = trend(mean_ns)
        if drift is not None:  # its step is at the number of an iteration
            number = int(by_iteration["iteration"][drift.step.at])
            drift = replace(drift, step=replace(drift.step, at=number))
        spent = {
            name: float(getattr(self, f"{name}_ns")[counted].sum() / total)
            for name in ("useful", "mpi", "unwatched", "waiting")
        }
        return LoopSummary(
            iterations=int(by_lane["iterations"].max()),
            counted=len(mean_ns),
            ranks=len(np.unique(by_lane["rank"])),
            lanes=len(by_lane["rank"]),
            entries=int(by_lane["entries"].max()),
            mean_ns=float(mean_ns.mean()),
            std_ns=float(mean_ns.std()),
            median_ns=float(np.median(mean_ns)),
            min_ns=int(duration.min()),
            max_ns=int(duration.max()),
            **spent,
            balance=float(computed.mean() / computed.max()) if computed.max() > 0 else None,
            balance_within=float(within.mean()) if len(within) else None,
            trend=drift,
            outliers=len(_slow_rows(self)[0]),
        )

    def slowest(self, most: int = 5) -> tuple[Slow, ...]:
        """At most `most` unusually slow iterations, the slowest first, each where longest."""
        rows, lanes, score = _slow_rows(self)
        order = np.argsort(-self.duration_ns[rows], kind="stable")[: max(most, 0)]
        more = {name: _beyond_median(self, name) for name in ("useful_ns", "mpi_ns")}
        usual_ns = self.duration_ns - _beyond_median(self, "duration_ns")
        iterations = []
        for row, count in zip(rows[order].tolist(), lanes[order].tolist(), strict=True):
            same = np.flatnonzero(self.iteration == self.iteration[row])
            cause = same[np.argmax(more["useful_ns"][same])]
            iterations.append(
                Slow(
                    iteration=int(self.iteration[row]),
                    rank=int(self.rank[row]),
                    location=int(self.location[row]),
                    start_ns=int(self.start_ns[row]),
                    duration_ns=int(self.duration_ns[row]),
                    score=float(score[row]),
                    ratio=float(self.duration_ns[row] / max(usual_ns[row], 1)),
                    more_useful_ns=float(more["useful_ns"][row]),
                    more_mpi_ns=float(more["mpi_ns"][row]),
                    lanes=count,
                    cause_rank=int(self.rank[cause]),
                    cause_more_useful_ns=float(more["useful_ns"][cause]),
                )
            )
        return tuple(iterations)

    def by_iteration(self, *, counted: bool = False) -> dict[str, npt.NDArray[Any]]:
        """What each iteration cost over the ranks, columns of shape (iterations,).

        ``iteration``, ``lanes`` that executed it, ``start_ns`` of the earliest, mean, smallest
        and largest duration, rank of the longest, mean and largest useful time, mean MPI,
        unwatched and waiting time, and the mean of each counter (NaN where no lane knows it);
        with `counted` of those rows only.
        """
        chosen = self.counted if counted else np.ones(len(self), bool)
        return _over_ranks(self, np.flatnonzero(chosen))

    def by_rank(self) -> dict[str, npt.NDArray[Any]]:
        """What the iterations of each lane cost, columns of shape (lanes,).

        ``rank``, ``location``, ``entries``, ``iterations``, ``total_ns``; of the rows that are
        `counted` mean, standard deviation, smallest, median and largest duration, mean useful,
        MPI, unwatched and waiting time, and the mean of each counter; NaN without any.
        """
        _, first, lane = np.unique(self.lane, return_index=True, return_inverse=True)
        count = len(first)
        counted = self.counted
        group, duration = lane[counted], self.duration_ns[counted]
        mean_ns = _known_mean(duration, group, count)
        squares = (duration - mean_ns[group]) ** 2
        shortest, longest = np.full(count, np.nan), np.full(count, np.nan)
        np.fmin.at(shortest, group, duration)
        np.fmax.at(longest, group, duration)
        return {
            "rank": self.rank[first],
            "location": self.location[first],
            "entries": np.bincount(lane[begins_run(self.entry, lane)], minlength=count),
            "iterations": np.bincount(lane, minlength=count),
            "total_ns": np.bincount(lane, self.duration_ns, count).astype(np.int64),
            "mean_ns": mean_ns,
            "std_ns": np.sqrt(_known_mean(squares, group, count)),
            "min_ns": shortest,
            "median_ns": medians(duration, group, count),
            "max_ns": longest,
            **_mean_columns(self, counted, group, count),
        }

    def to_frame(self) -> pl.DataFrame:
        """The table as a Polars data frame, counters null where not known."""
        return to_frame(self.to_arrow())

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The columns of the table, in the order in which files hold them."""
        names = ("rank", "location", "entry", "iteration", "whole", "start_ns", "duration_ns")
        spent = ("calls", "mpi_ns", "useful_ns", "unwatched_ns", "waiting_ns")
        return {name: getattr(self, name) for name in names + spent} | self.counters

    def to_arrow(self) -> pa.Table:
        """The table as an Arrow table, counters null where not known."""
        columns = {name: pa.array(values) for name, values in self.columns().items()}
        for name, values in self.counters.items():
            columns[name] = pa.array(values, mask=values == NO_VALUE)
        return pa.table(columns)

    def rows(self) -> list[tuple[object, ...]]:
        """A tuple per lane and iteration, as :meth:`columns`; None where not known."""
        return [
            tuple(None if value == NO_VALUE else value for value in row)
            for row in zip(*(c.tolist() for c in self.columns().values()), strict=True)
        ]

    def as_dict(self, *, most: int = 5) -> dict[str, Any]:
        """The table as JSON output, with at most `most` slow iterations."""
        return {
            "loop": self.loop,
            "method": self.method,
            "summary": self.summary().as_dict(),
            "slowest": document(self.slowest(most)),
            "by_iteration": _row_dictionaries(self.by_iteration()),
            "by_rank": _row_dictionaries(self.by_rank()),
        }

    def __repr__(self) -> str:
        lanes = len(np.unique(self.lane))
        iterations = plural(len(self), "iteration")
        return f"<LoopTable: loop {self.loop}, {iterations} on {plural(lanes, 'lane')}>"


def _row_dictionaries(columns: dict[str, npt.NDArray[Any]]) -> list[dict[str, Any]]:
    """A dictionary per row, None for what is not a number."""
    rows = zip(*document(list(columns.values())), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _over_ranks(table: LoopTable, chosen: Integers) -> Columns:
    """What each iteration cost over the ranks in some rows, shape (iterations,)."""
    order = chosen[np.argsort(table.iteration[chosen], kind="stable")]
    numbers, begin, group, lanes = np.unique(
        table.iteration[order], return_index=True, return_inverse=True, return_counts=True
    )
    longest = np.lexsort((-order, table.duration_ns[order], group))[begin + lanes - 1]
    means = _mean_columns(table, order, group, len(numbers))
    return {
        "iteration": numbers,
        "lanes": lanes,
        "start_ns": np.minimum.reduceat(table.start_ns[order], begin),
        "mean_ns": _known_mean(table.duration_ns[order], group, len(numbers)),
        "min_ns": np.minimum.reduceat(table.duration_ns[order], begin),
        "max_ns": np.maximum.reduceat(table.duration_ns[order], begin),
        "slowest_rank": table.rank[order][longest],
        "useful_ns": means.pop("useful_ns"),
        "max_useful_ns": np.maximum.reduceat(table.useful_ns[order], begin),
        **means,
    }


def _mean_columns(
    table: LoopTable, rows: Integers | Mask, group: Integers, count: int
) -> Columns:
    """Mean useful, MPI, unwatched and waiting time, and counters, of groups of some rows."""
    names = ("useful_ns", "mpi_ns", "unwatched_ns", "waiting_ns")
    columns = {name: getattr(table, name) for name in names} | table.counters
    return {name: _known_mean(values[rows], group, count) for name, values in columns.items()}


def _beyond_median(table: LoopTable, name: str) -> Floats:
    """How far a column of each row is above the median of its lane."""
    values, lane, counted = getattr(table, name), _dense_lanes(table), table.counted
    return values - medians(values[counted], lane[counted], int(lane.max()) + 1)[lane]


def _slow_rows(table: LoopTable) -> tuple[Integers, Integers, Floats]:
    """The longest row of each slow iteration, on how many lanes it is, and all scores."""
    counted = np.flatnonzero(table.counted)
    lane = _dense_lanes(table)
    score = np.zeros(len(table))
    score[counted] = scores(table.duration_ns[counted], lane[counted], int(lane.max()) + 1)
    rows = np.flatnonzero(score > FAR_OUT)
    rows = rows[np.lexsort((-table.duration_ns[rows], table.iteration[rows]))]
    _, first, lanes = np.unique(table.iteration[rows], return_index=True, return_counts=True)
    return rows[first], lanes, score


def _dense_lanes(table: LoopTable) -> Integers:
    """The lane of each row, counted from 0 without holes."""
    return np.unique(table.lane, return_inverse=True)[1]


def _known_mean(values: npt.NDArray[Any], group: Integers, count: int) -> Floats:
    """Mean of each group over the values that are known; NaN without any."""
    is_known = values != NO_VALUE
    sums = np.bincount(group[is_known], values[is_known], count)
    return quotients(sums, np.bincount(group[is_known], minlength=count))
