"""What ``burstline structure --iterations`` shows: a loop over time, and what stands out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline.show.blocks import Block, Facts, Heading, Lines, Table, table_of
from burstline.show.code_lines import IPC
from burstline.show.units import format_count, format_ns, format_share, plural
from burstline.show.views import Rows, View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from burstline.columns import Floats, Integers
    from burstline.structure import LoopSummary, LoopTable, Slow, Trend

_ROWS: Final = 20
_SHAPE: Final = 60
_BAR: Final = 20
_CHANCE: Final = 0.05
_INSTRUCTIONS: Final = "PAPI_TOT_INS"
_CYCLES: Final = "PAPI_TOT_CYC"
_HEIGHTS: Final = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True, eq=False)
class LoopTableView(View):
    """What iterations cost, with a counter, `most` slow ones, and the command to `cut` them."""

    result: LoopTable
    counter: str | None = None
    most: int = 5
    cut: str = ""

    def document(self) -> dict[str, Any]:
        """The loop by iteration and by rank."""
        return self.result.as_dict(most=self.most)

    def rows(self) -> Rows:
        """Each iteration on each lane."""
        return tuple(self.result.columns()), self.result.rows()

    def blocks(self) -> Iterator[Block]:
        """How long iterations last, how that went on, and which are slow."""
        summary, by_iteration = self.result.summary(), self.result.by_iteration()
        shape = sparkline(by_iteration["max_ns"])
        yield Facts([*_facts(self.result, summary), ("longest", shape)])
        yield _neighbours(by_iteration, self.counter)
        yield from _slowest(self.result.slowest(self.most), summary, self.cut)


def _facts(table: LoopTable, summary: LoopSummary) -> Iterator[tuple[str, str]]:
    entries = (
        f" in {plural(summary.entries, 'entry', 'entries')}" if summary.entries > 1 else ""
    )
    ranks = plural(summary.ranks, "rank")
    threads = f" ({plural(summary.lanes, 'thread')})" if summary.lanes > summary.ranks else ""
    times = f"{plural(summary.iterations, 'iteration')}{entries} on {ranks}{threads}"
    yield f"loop {table.loop}", f"{times}, method {table.method}"
    spread = f"{format_ns(round(summary.std_ns))} ({format_share(summary.variation)})"
    middle = f"{format_ns(round(summary.mean_ns))} mean, {format_ns(round(summary.median_ns))}"
    ends = f"{format_ns(summary.min_ns)} to {format_ns(summary.max_ns)}"
    yield "duration", f"{middle} median, standard deviation {spread}, {ends}"
    unwatched = f", unwatched {format_share(summary.unwatched)}" if summary.unwatched else ""
    spent = f"computing {format_share(summary.useful)}, MPI {format_share(summary.mpi)}"
    yield "spent", spent + unwatched
    if summary.balance is not None:
        within = format_share(summary.balance_within)
        whole = format_share(summary.balance)
        yield "balance", f"load balance {whole} over the loop, {within} within an iteration"
    yield "trend", _trend_text(summary.trend, summary)
    left_out = summary.iterations - summary.counted
    if left_out > 0:
        last = plural(left_out, "iteration")
        yield "not counted", f"{last}, the last of an entry, which ends with its last call"


def _trend_text(trend: Trend | None, summary: LoopSummary) -> str:
    if trend is None:
        return "too few iterations to tell"
    drift = trend.slope * (summary.counted - 1) / max(summary.median_ns, 1)
    slope = f"{_signed_ns(trend.slope)} an iteration, {100 * drift:+.1f} % over the loop"
    chance = f"p = {trend.p_value:.2g}"
    if trend.p_value > _CHANCE:
        return f"none beyond chance ({slope}, {chance})"
    between = f"{_signed_ns(trend.low)} to {_signed_ns(trend.high)} with 95 %"
    return f"{slope} ({between}, {chance})"


def _signed_ns(time_ns: float) -> str:
    return ("+" if time_ns >= 0 else "-") + format_ns(abs(round(time_ns)))


def sparkline(values: npt.NDArray[Any]) -> str:
    """Draw a series in one line.

    >>> sparkline(np.array([1, 2, 8, 4]))
    '▁▂█▄'
    """
    blocks = min(len(values), _SHAPE)
    block = np.arange(len(values)) * blocks // max(len(values), 1)
    largest = np.zeros(blocks)
    np.maximum.at(largest, block, values)
    most = max(float(largest.max(initial=0)), 1.0)
    levels = np.clip(np.ceil(largest / most * len(_HEIGHTS)) - 1, 0, len(_HEIGHTS) - 1)
    return "".join(_HEIGHTS[level] for level in levels.astype(int).tolist())


def block_begins(count: int, most: int) -> Integers:
    """Where blocks of neighbours begin, up to `most` of them."""
    blocks = min(count, most)
    return np.arange(blocks) * count // max(blocks, 1)


def _neighbours(by_iteration: dict[str, npt.NDArray[Any]], counter: str | None) -> Table:
    """Iterations, neighbours together where there are many: mean and longest of each row."""
    count = len(by_iteration["iteration"])
    begin = block_begins(count, _ROWS)
    size = np.diff(np.append(begin, count))

    def mean(name: str) -> Floats:
        values = np.nan_to_num(by_iteration[name].astype(np.float64))
        return np.add.reduceat(values, begin) / size

    longest = np.maximum.reduceat(by_iteration["max_ns"], begin)
    block = np.repeat(np.arange(len(begin)), size)
    at = np.lexsort((by_iteration["max_ns"], block))[begin + size - 1]
    means = {name: mean(name) for name in ("mean_ns", "useful_ns", "mpi_ns")}
    read = [] if counter is None else [_counter(counter, mean)]
    rows = []
    for k in range(len(begin)):
        first = by_iteration["iteration"][begin[k]]
        last = by_iteration["iteration"][begin[k] + size[k] - 1]
        times = [means["mean_ns"][k], longest[k], means["useful_ns"][k], means["mpi_ns"][k]]
        cells = [format_ns(round(time)) for time in times]
        cells.insert(2, str(by_iteration["slowest_rank"][at[k]]))
        name = str(first) if first == last else f"{first}:{last}"
        share = means["mean_ns"][k] / max(longest.max(), 1), longest[k] / max(longest.max(), 1)
        bar = _bar(*share)
        rows.append([name, bar, *cells, *(format_count(values[k]) for values in read)])
    heads = ["iterations", "mean, longest", "mean", "longest", "on rank", "computing", "MPI"]
    heads += [counter] if counter else []
    return Table(heads, rows, "Iterations", left=2)


def _counter(name: str, mean: Callable[[str], Floats]) -> Floats:
    if name != IPC:
        return mean(name)
    cycles = mean(_CYCLES)
    return np.divide(mean(_INSTRUCTIONS), cycles, out=np.zeros(len(cycles)), where=cycles > 0)


def _bar(mean: float, longest: float) -> str:
    solid = round(mean * _BAR)
    return "█" * solid + "░" * max(round(longest * _BAR) - solid, 0)


def _slowest(slow: Sequence[Slow], summary: LoopSummary, cut: str) -> Iterator[Block]:
    if not slow:
        yield Heading(f"Slow iterations: {summary.outliers or 'none stands out'}")
        return
    yield table_of(
        slow,
        {
            "iteration": lambda each: str(each.iteration),
            "rank": lambda each: str(each.rank),
            "begins at": lambda each: format_ns(each.start_ns),
            "lasts": lambda each: format_ns(each.duration_ns),
            "usually": lambda each: format_ns(round(each.duration_ns / each.ratio)),
            "computing": lambda each: _signed_ns(each.more_useful_ns),
            "MPI": lambda each: _signed_ns(each.more_mpi_ns),
            "slow on": lambda each: str(each.lanes),
            "most computing": lambda each: (
                f"{each.cause_rank}: {_signed_ns(each.cause_more_useful_ns)}"
            ),
        },
        "Slow iterations, and how they differ from the median of that rank",
    )
    if summary.outliers > len(slow):
        more = plural(summary.outliers - len(slow), "shorter one")
        yield Lines([f"  … and {more}: --slowest {summary.outliers} shows all"])
    if cut:
        number = slow[0].iteration
        yield Lines(["", f"  {cut} {number} -o iteration-{number}.prv"])
