"""Several runs of a program beside the first: how they scale, and how alike they wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from burstline.comparison import Comparison, compare
from burstline.efficiency import Scalability, scalability
from burstline.errors import BurstlineError
from burstline.merge import Check, check
from burstline.model import Trace
from burstline.run.needs import bytes_to_merge
from burstline.run.run import Run
from burstline.waits import Waits

_Result = TypeVar("_Result")
_SPLIT = ("serialisation", "transfer")


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Several runs beside the first."""

    # their efficiencies; that of communication is split where waits are known
    scaling: Scalability
    waits: tuple[Waits | str, ...]  # the waits of each, or why there are none
    # how alike they divide their time by metric and call path, or why that is not known
    comparison: Comparison | str
    # which bursts they have in common, and how much durations and counters of these differ, or
    # why that is not known
    bursts: Check | str


def compared(runs: Iterable[Run], names: Sequence[str]) -> Compared:
    """Compare runs with the first; each is let go before the next is taken."""
    waits: list[Waits | str] = []
    together = _Together()

    def traces() -> Iterator[Trace]:
        for run in runs:
            waits.append(_or_why(run.waits))
            together.add(run)
            yield run.trace
            del run

    scaling = scalability(traces())
    split = [
        {name: each.efficiency.get(name) for name in _SPLIT} if isinstance(each, Waits) else {}
        for each in waits
    ]
    told = tuple(
        replace(run, factors={**run.factors, **more})
        for run, more in zip(scaling.runs, split, strict=True)
    )
    return Compared(
        replace(scaling, runs=told),
        tuple(waits),
        _comparison(waits, names),
        together.checked(names),
    )


class _Together:
    """Traces that are held as long as all of them fit beside the next."""

    def __init__(self) -> None:
        self._traces: list[Trace] = []
        self._threads: int | None = None
        self._why = ""

    def add(self, run: Run) -> None:
        """Hold the trace of a run, or let all go."""
        if self._why:
            return
        if 2 * bytes_to_merge([*self._traces, run.trace]) > run.memory:
            self._traces, self._why = [], "the runs do not fit in memory together"
            return
        self._traces.append(run.trace)
        self._threads = run.threads

    def checked(self, names: Sequence[str]) -> Check | str:
        """How far bursts of the runs, and their counters, agree."""
        if self._why:
            return self._why
        return _or_why(partial(check, self._traces, names=names, threads=self._threads))


def _or_why(compute: Callable[[], _Result]) -> _Result | str:
    try:
        return compute()
    except BurstlineError as error:
        return str(error)


def _comparison(waits: Sequence[Waits | str], names: Sequence[str]) -> Comparison | str:
    for name, each in zip(names, waits, strict=True):
        if isinstance(each, str):
            return f"{name}: {each}"
    profiles = [each.profile for each in waits if isinstance(each, Waits)]
    return _or_why(partial(compare, profiles, names=names))
