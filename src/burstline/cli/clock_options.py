"""What a clock counts, by the options of commands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from burstline import clocks
from burstline.cli import usage
from burstline.errors import ParameterError
from burstline.formats.documents import read_toml

MODELLED: Final = "lt_hwctr"
"""The clock that an effort model is of."""


def clocks_asked(arguments: usage.Arguments, names: Sequence[str]) -> list[clocks.Effort]:
    """What clocks of some names count, by the options of a clock; `physical` counts nothing.

    Counters and an effort model are of one clock among them; all else is of each.
    """
    usage.require_at_least(arguments, call_cost=0)
    logical = [name for name in names if name in clocks.CLOCKS]
    given = arguments.counter, arguments.effort_model, arguments.call_cost
    if not logical and (any(each is not None for each in given) or arguments.without_mpi):
        raise ParameterError("what a clock counts is of logical ones: name one, as lt_stmt")
    for option, value in (("counters are", given[0]), ("an effort model is", given[1])):
        if value is not None and MODELLED not in logical:
            raise ParameterError(f"{option} of {MODELLED}, not of {', '.join(names)}")
    return [_effort(arguments, name) for name in logical]


def _effort(arguments: usage.Arguments, name: str) -> clocks.Effort:
    cost, mpi_work = arguments.call_cost, not arguments.without_mpi
    if name != MODELLED or arguments.effort_model is None:
        weights = _weights(arguments.counter) if name == MODELLED else {}
        return clocks.Effort(name, weights, cost, mpi_work)
    if arguments.counter is not None:
        raise ParameterError("an effort model names its counters: leave --counter out")
    return effort_model(arguments.effort_model).effort(cost, mpi_work=mpi_work)


def collectives_asked(arguments: usage.Arguments, *, is_logical: bool = True) -> str:
    """Who waits in collectives on a logical clock."""
    if arguments.collectives is not None and not is_logical:
        raise ParameterError("who waits in collectives is of logical clocks: name one")
    way: str = arguments.collectives or clocks.COLLECTIVES[0]
    return way


def _weights(text: str | None) -> dict[str, float]:
    """Counters and their weights, of ``A,B=2``."""
    weights = {}
    for part in (text or "").split(","):
        name, _, weight = part.strip().partition("=")
        if not name:
            continue
        try:
            weights[name] = float(weight or 1)
        except ValueError:
            raise ParameterError(
                f"{part}: a counter's weight is a number, as in PAPI_TOT_INS=2"
            ) from None
    return weights


def effort_model(name: str) -> clocks.EffortModel:
    """The effort model in a file."""
    path = Path(name)
    return clocks.model_in(read_toml(path, clocks.MOST_BYTES), path)
