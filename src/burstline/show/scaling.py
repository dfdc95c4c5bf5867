"""What ``burstline info A B`` shows: runs side by side, factors below their product."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from burstline.efficiency import Scalability, ScaledRun
from burstline.show.blocks import Block, Facts, Heading, Lines
from burstline.show.views import Rows, View
from burstline.values import AMOUNT, COUNT, SHARE, TIME, Column, Notation, Table, Value, ratio

PROBLEM: Final = {
    "strong": "all runs solve the same problem (if it grows with the ranks: `scaling=weak`)",
    "weak": "the problem grows with the ranks (if all solve the same: `scaling=strong`)",
}
_FACTORS: Final = {
    "global": "global efficiency",
    "parallel": "  parallel efficiency",
    "load_balance": "    load balance",
    "communication": "    communication",
    "serialisation": "      serialisation",
    "transfer": "      transfer",
    "computation_scalability": "  computation scalability",
    "instruction_scalability": "    instruction scalability",
    "speed_scalability": "    speed scalability",
    "ipc_scalability": "    IPC scalability",
    "frequency_scalability": "    frequency scalability",
}
_OF_FULL: Final = ("serialisation", "transfer")
_WHOLE: Final = 0.9995  # is shown as 100.0 %

_Row = tuple[str, Notation, Callable[[ScaledRun], float | None]]
"""What stands before a row, how its values are told, and the value of a run."""


@dataclass(frozen=True, slots=True, eq=False)
class ScalabilityView(View):
    """Runs of a program, compared with the first."""

    result: Scalability

    def rows(self) -> Rows:
        """The runs with their factors."""
        factors = [name for name in _FACTORS if name not in _OF_FULL or self._has(name)]
        facts = ("path", "ranks", "threads", "runtime_ns", "useful_ns")
        return (*facts, *factors), (
            (
                *(run.path, run.ranks, run.threads, run.efficiency.runtime_ns, run.useful_ns),
                *(run.factors[name] for name in factors),
            )
            for run in self.result.runs
        )

    def blocks(self) -> Iterator[Block]:
        """The runs, their factors, what was counted, and what is doubtful or unknown."""
        result = self.result
        names = [f"run {number}" for number in range(1, 1 + len(result.runs))]
        yield Facts(zip(names, (run.path for run in result.runs), strict=True))
        cells = [*self.amounts(), *self.shares()]
        yield Table(
            [Column(""), *map(Column, names)],
            [
                [name, *(Value(figure(run), notation) for run in result.runs)]
                for name, notation, figure in cells
            ],
            f"{result.scaling.capitalize()} scaling: {PROBLEM[result.scaling]}",
        )
        yield Lines(list(self.legend()))
        if result.warnings:
            yield Heading("These runs may not be comparable")
            yield Lines([f"  {warning}" for warning in result.warnings])
        for factors, reason in result.not_computable:
            shown = [_FACTORS[name].strip() for name in factors if name != "speed_scalability"]
            yield Heading(f"Not computed: {', '.join(shown)}")
            yield Lines([f"  {line[0].upper()}{line[1:]}" for line in reason.split(". ")])

    def _has(self, factor: str) -> bool:
        return any(run.factors.get(factor) is not None for run in self.result.runs)

    def amounts(self) -> Iterator[_Row]:
        """Rows of the table that are no shares."""
        runs = self.result.runs
        yield "ranks", COUNT, lambda run: run.ranks
        if any(run.threads != run.ranks for run in runs):
            yield "threads that compute", COUNT, lambda run: run.threads
        yield "runtime", TIME, lambda run: run.efficiency.runtime_ns
        yield "time outside MPI, all threads", TIME, lambda run: run.useful_ns
        noun = "statements" if self._is_work else "instructions"
        if self._counters:
            yield f"{noun} a second", AMOUNT, lambda run: 1e9 * run.work.rates[0]
        if len(self._counters) > 1:
            yield "IPC", ratio(2), lambda run: run.work.rates[0] / run.work.rates[1]
            yield "frequency", ratio(2, unit="GHz"), lambda run: run.work.rates[1]
        if self._counters and any(run.share < _WHOLE for run in runs):
            yield "time outside MPI with counters", SHARE, lambda run: run.share

    def shares(self) -> Iterator[_Row]:
        """Rows of the table that are factors."""
        for name, title in _FACTORS.items():
            is_split = name == "speed_scalability" and self._has("ipc_scalability")
            if self._has(name) and not is_split:
                shown = title.replace("instruction", "work") if self._is_work else title
                yield shown, SHARE, lambda run, name=name: run.factors[name]  # type: ignore[misc]

    @property
    def _counters(self) -> tuple[str, ...]:
        """The counters that run 1 has in common with the others."""
        return self.result.runs[0].work.counters

    @property
    def _is_work(self) -> bool:
        """Whether statements of the program were counted, no instructions of the processor."""
        return any("IR_" in counter.upper() for counter in self._counters)

    def legend(self) -> Iterator[str]:
        """What shares and counters mean."""
        yield "  A share is the product of those indented below it."
        what = "means per thread" if self.result.scaling == "weak" else "totals of all threads"
        yield f"  Scalability compares {what} with run 1; above 100 % is better than there."
        if counters := self._counters:
            noun = f"Instructions{' and cycles' * (len(counters) > 1)} are"
            noun = "Work is statements of the program" if self._is_work else noun
            yield f"  {noun} counted by {' and '.join(counters)}."
            if len(counters) == 1:
                yield "  Speed is how many of them a second: IPC and frequency together."
