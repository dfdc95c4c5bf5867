"""Several runs of a program beside the first: how they scale, and how alike they wait."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from burstline.comparison import Comparison, compare
from burstline.efficiency import Scalability, scalability
from burstline.errors import BurstlineError
from burstline.model import Trace
from burstline.run.run import Run
from burstline.waits import Waits

_SPLIT = ("serialisation", "transfer")


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Several runs beside the first.

    Attributes
    ----------
    scaling : Scalability
        Their efficiencies; that of communication is split where waits are known.
    waits : tuple of Waits or str
        The waits of each, or why there are none.
    comparison : Comparison or str
        How alike they divide their time by metric and call path, or why that is not known.
    """

    scaling: Scalability
    waits: tuple[Waits | str, ...]
    comparison: Comparison | str


def compared(runs: Iterable[Run], names: Sequence[str]) -> Compared:
    """Compare runs with the first; each is let go before the next is taken.

    Parameters
    ----------
    runs : iterable of Run
        At least one; of each, waits are asked.
    names : sequence of str
        What each is called.

    Returns
    -------
    Compared
        Their efficiencies, waits, and how alike they are.

    Raises
    ------
    NotEnoughDataError
        If no application of a run calls MPI.
    """
    waits: list[Waits | str] = []

    def traces() -> Iterator[Trace]:
        for run in runs:
            waits.append(_waits(run))
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
    return Compared(replace(scaling, runs=told), tuple(waits), _comparison(waits, names))


def _waits(run: Run) -> Waits | str:
    try:
        return run.waits()
    except BurstlineError as error:
        return str(error)


def _comparison(waits: Sequence[Waits | str], names: Sequence[str]) -> Comparison | str:
    for name, each in zip(names, waits, strict=True):
        if isinstance(each, str):
            return f"{name}: {each}"
    profiles = [each.profile for each in waits if isinstance(each, Waits)]
    try:
        return compare(profiles, names=names)
    except BurstlineError as error:
        return str(error)
