"""Effort models: what a count of each counter takes, in ns, as a small file.

::

    version = 1
    origin = "fitted to run.store"
    openmp_call = 850.0
    [weights]
    IR_LD_INS = 0.31
    IR_CALLS_MATH = 12.4
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Self

import numpy as np

from burstline.clocks.efforts import Effort
from burstline.columns import Floats
from burstline.errors import FormatError, printable, require_extra
from burstline.values import Contract, Documented

_VERSION: Final = 1
_MOST_NS: Final = 1e9
MOST_BYTES: Final = 1 << 16
"""Of the file of a model."""
KINDS: Final = ("IR_TOT_INS", "IR_LD_INS", "IR_SR_INS", "IR_BR_INS", "IR_FP_INS")
"""All statements, and of these kinds that have nothing in common."""
CALLS: Final = ("IR_CALLS_MATH", "IR_CALLS_MEM", "IR_CALLS_OTHER")
"""Classes of callees whose own work nobody counts."""

_KEYS: Final = {"version", "origin", "openmp_call", "weights"}


@dataclass(frozen=True, slots=True)
class EffortModel(Documented):
    """What a count of each counter takes, and where that was learned."""

    weights: Mapping[str, float]  # ns; counters that take nothing are left out
    openmp_call: float  # ns of a call into the OpenMP runtime
    origin: str

    @classmethod
    def of(cls, weights: Mapping[str, float], openmp_call: float, origin: str) -> Self:
        """The model of weights as measured, to six digits: a file holds no more."""
        shown = {name: _rounded(weight) for name, weight in weights.items() if weight > 0}
        return cls(shown, _rounded(openmp_call), origin)

    def effort(self, call_cost: int | None = None, *, mpi_work: bool = True) -> Effort:
        """The clock of this model, whose ticks are ns."""
        cost = round(self.openmp_call) if call_cost is None else call_cost
        return Effort("lt_hwctr", self.weights, cost, mpi_work)

    CONTRACT: ClassVar[Contract] = (
        ("version", lambda _: _VERSION),
        *("origin", "openmp_call", "weights"),
    )

    def text(self) -> str:
        """The file."""
        lines = ["# An effort model: ns of each count, for burstline retime and waits."]
        lines += [f"version = {_VERSION}", f"origin = {_quoted(self.origin)}"]
        lines += [f"openmp_call = {self.openmp_call!r}", "", "[weights]"]
        lines += [f"{_quoted(name)} = {weight!r}" for name, weight in self.weights.items()]
        return "\n".join(lines) + "\n"


def model_in(document: Mapping[str, Any], path: Path) -> EffortModel:
    """The model that a document holds; `path` is named where it is none."""
    for expected, found in _offences(document):
        raise FormatError(path, None, expected=expected, found=printable(str(found)))
    weights = {name: float(ns) for name, ns in document["weights"].items() if ns}
    cost, origin = document.get("openmp_call", 0.0), document.get("origin", "")
    return EffortModel(weights, float(cost), origin)


def _offences(document: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """What is expected at each place of a document where something else was found."""
    version = document.get("version")
    if type(version) is not int or version != _VERSION:
        yield f"an effort model, with version = {_VERSION}", version
    for name in document.keys() - _KEYS:
        yield f"only the keys {', '.join(sorted(_KEYS))}", name
    if not isinstance(origin := document.get("origin", ""), str):
        yield "a text as origin", origin
    weights = document.get("weights")
    if not isinstance(weights, dict):
        yield "a table [weights] of counters", weights
        return
    costs = {"openmp_call": document.get("openmp_call", 0)}
    costs |= {f"weights.{printable(name)}": ns for name, ns in weights.items()}
    for name, ns in costs.items():
        if type(ns) not in (int, float) or not 0 <= ns <= _MOST_NS:  # as NaN is
            yield f"{name}: a number of ns from 0 to {_MOST_NS:,.0f}", ns
    if not any(weights.values()):
        yield "a weight above 0", weights


def require_solver() -> None:
    """Make sure that weights can be fitted."""
    require_extra("scipy.optimize", "ml", "an effort model")


def non_negative(counts: Floats, times: Floats) -> Floats:
    """The weights >= 0 of columns by which rows of counts are nearest to times.

    Least squares by active sets: C. L. Lawson, R. J. Hanson, Solving Least Squares Problems,
    1974, chapter 23.
    """
    require_solver()
    from scipy.optimize import nnls  # noqa: PLC0415 -- an extra

    size = np.sqrt((counts**2).sum(axis=0))
    size[size == 0] = 1
    weights: Floats = nnls(counts / size, times)[0] / size
    return weights


def share_explained(times: Floats, modelled: Floats) -> float:
    """The share of some times that a model tells at the right places, 0..1."""
    total = float(times.sum())
    return max(0.0, 1 - float(np.abs(times - modelled).sum()) / total) if total else 0.0


def _rounded(number: float) -> float:
    return float(f"{number:.6g}")


def _quoted(text: str) -> str:
    return json.dumps(printable(text, limit=1_000), ensure_ascii=False)
