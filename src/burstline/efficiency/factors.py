"""The factors of the parallel efficiency, as POP defines them [1]_ [2]_.

With U(r) the useful time of rank r and T the runtime: load balance is mean U / max U,
communication efficiency is max U / T, and parallel efficiency, mean U / T, is their product.
On an ideal network the run takes T'. Then serialisation is max U / T', transfer T' / T, and
their product the communication efficiency.

.. [1] Performance Optimisation and Productivity (POP), Standard Metrics for Parallel
   Performance Analysis, https://co-design.pop-coe.eu/metrics/.
.. [2] C. Rosas, J. Giménez, J. Labarta, Scalability Prediction for Fundamental Performance
   Factors, Supercomputing Frontiers and Innovations 1(2), 2014, DOI 10.14529/jsfi140201.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from burstline.columns import Integers
from burstline.values import Contract, Documented

Factors = dict[str, float | None]
"""Efficiencies by name, 0..1; None where they are not defined."""

FACTORS: Final = ("parallel", "load_balance", "communication")
"""The first is the product of the others."""

SPANS: Final = ("init-finalize", "trace")
"""The part of a trace that an efficiency is of: the program's, or all of it."""


@dataclass(frozen=True, slots=True)
class Efficiency(Documented):
    """How well a run used its ranks."""

    parallel: float | None
    load_balance: float | None
    communication: float | None
    reason: str  # why they are not defined; empty if they are
    # longest time a rank was observed in its span, or the duration of the trace
    runtime_ns: int
    useful_ns: tuple[int, ...]  # (ranks,) time spent computing, by application and rank
    # (ranks,) application and rank of each entry of `useful_ns`
    ranks: tuple[tuple[int, int], ...]
    span: str = SPANS[0]
    # serialisation and transfer, whose product is `communication`; None if not asked for
    of_communication: Factors | None = None

    @property
    def factors(self) -> Factors:
        """The efficiencies by name."""
        return {
            "parallel": self.parallel,
            "load_balance": self.load_balance,
            "communication": self.communication,
            **(self.of_communication or {}),
        }

    CONTRACT: ClassVar[Contract] = (
        *(("**", "factors"), "span"),
        ("reason", lambda self: self.reason or None),
        ("ranks", lambda self: len(self.useful_ns)),
        "runtime_ns",
        ("useful_ns", "_spread"),
        ("busiest", "_busiest"),
    )

    @property
    def busiest(self) -> tuple[tuple[int, int], int]:
        """Application and rank that compute longest, and for how long; zeros without ranks."""
        pairs = zip(self.ranks, self.useful_ns, strict=True)
        return max(pairs, key=lambda pair: pair[1], default=((0, 0), 0))

    @property
    def _spread(self) -> dict[str, int]:
        useful = self.useful_ns or (0,)
        mean = sum(useful) // len(useful)
        return {"minimum": min(useful), "mean": mean, "maximum": max(useful)}

    @property
    def _busiest(self) -> dict[str, int] | None:
        names = ("application", "rank")
        return dict(zip(names, self.busiest[0], strict=True)) if self.useful_ns else None


def rank_efficiency(
    useful: Integers, runtime_ns: int, ranks: tuple[tuple[int, int], ...], span: str
) -> Efficiency:
    """The efficiency of ranks by their useful times, (ranks,)."""
    if not runtime_ns:
        return undefined("no rank was observed between MPI_Init and MPI_Finalize")
    each = tuple(useful.tolist())  # exact until the last division
    factors = _ratios(sum(each), len(each), max(each), runtime_ns)
    return Efficiency(*factors, "", runtime_ns, each, ranks, span)


def undefined(reason: str) -> Efficiency:
    """No efficiency, and why."""
    return Efficiency(None, None, None, reason, 0, (), ())


def thread_factors(useful_ns: Integers, runtime_ns: int) -> Factors:
    """How well threads are used that compute this long, (threads,), while this time passes."""
    most = int(useful_ns.max(initial=0))
    if most <= 0 or runtime_ns <= 0:
        return dict.fromkeys(FACTORS)
    factors = _ratios(float(useful_ns.mean()), 1, most, runtime_ns)
    return dict(zip(FACTORS, factors, strict=True))


def _ratios(total: float, count: int, most: int, runtime_ns: int) -> tuple[float, float, float]:
    balance = total / (count * most) if most else 1.0
    return total / (count * runtime_ns), balance, most / runtime_ns


def communication_factors(useful_ns: int, runtime_ns: int, ideal_ns: int | None) -> Factors:
    """Serialisation and transfer, of the thread that computes most and of the longest one."""
    if ideal_ns is None or not useful_ns or not runtime_ns:
        return {"serialisation": None, "transfer": None}
    ideal = min(max(ideal_ns, useful_ns), max(runtime_ns, useful_ns))
    return {"serialisation": useful_ns / ideal, "transfer": ideal / runtime_ns}
