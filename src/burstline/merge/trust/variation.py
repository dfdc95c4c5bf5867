"""Where a counter differs between runs: at which call paths, in which loops.

::

    base run  --labels_of-->  a place for each matched burst
    Quantity, places  --variations-->  Variation: how much of the difference is where
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from burstline.columns import Ordinals, quotients
from burstline.errors import ParameterError
from burstline.merge.tables.bursts import burst_table
from burstline.merge.trust.quality import distances
from burstline.structure import detect

if TYPE_CHECKING:
    from burstline.columns import Integers
    from burstline.merge.trust.measured import Measured, Quantity
    from burstline.trace import Trace


BY: Final = ("call-path", "phase")
_AROUND: Final = tuple(
    f"{name}_{side}" for side in ("before", "after") for name in ("operation", "call_path")
)


@dataclass(frozen=True, slots=True)
class Variation:
    """How a counter differs between the runs at one place."""

    counter: str
    place: str  # the calls around the bursts with their call paths, or the loop
    bursts: int  # compared there
    difference: float | None  # sum of |b - µ| over the sum of b there; None if that is 0
    below_30: float | None  # share of bursts below the tolerance, of those with b > 0
    share: float  # of the sum of |b - µ| over all places


class Labels(NamedTuple):
    """A place for each matched burst."""

    code: Integers  # (bursts,) its place in `names`; -1 where the base lacks the burst
    names: list[str]  # the places


def labels_of(trace: Trace, measured: Measured, by: str) -> Labels:
    """Where each matched burst is in the program."""
    if by not in BY:
        raise ParameterError(f"{by} is no way to tell bursts apart; ways are {', '.join(BY)}")
    labels = _by_path(trace) if by == "call-path" else _by_loop(trace)
    rows = measured.rows[:, measured.base]
    return Labels(np.where(rows >= 0, labels.code[rows], -1), labels.names)


def variations(quantity: Quantity, labels: Labels, tolerance: float) -> list[Variation]:
    """How much a counter differs at each place."""
    base, present = quantity.base, quantity.present
    compared = present[:, base] & (present.sum(axis=1) >= 2) & (labels.code >= 0)
    values, code = quantity.values[compared], labels.code[compared]
    counts = values[:, base]
    difference = distances(values, present[compared], base)
    size = len(labels.names)
    bursts = np.bincount(code, minlength=size)
    total = np.bincount(code, counts, minlength=size)
    missed = np.bincount(code, difference, minlength=size)
    counted = np.bincount(code, counts > 0, minlength=size)
    close = np.bincount(code, quotients(difference, counts) < tolerance, minlength=size)
    whole = missed.sum()
    places = [
        Variation(
            counter=quantity.name,
            place=labels.names[k],
            bursts=int(bursts[k]),
            difference=float(missed[k] / total[k]) if total[k] > 0 else None,
            below_30=float(close[k] / counted[k]) if counted[k] else None,
            share=float(missed[k] / whole),
        )
        for k in np.flatnonzero(missed > 0).tolist()
    ]
    return sorted(places, key=lambda variation: -variation.share)


def _by_path(trace: Trace) -> Labels:
    table = burst_table(trace, columns=_AROUND)
    codes = np.stack(table.arrays(*_AROUND), axis=1)
    different, code = np.unique(codes, axis=0, return_inverse=True)
    texts = [[*table.names(name), ""] for name in _AROUND]
    names = []
    for row in different.tolist():
        words = [column[code] or "" for column, code in zip(texts, row, strict=True)]
        before, after = (" ".join(filter(None, words[k : k + 2])) for k in (0, 2))
        names.append(f"{before or 'begin'} → {after or 'end'}")
    return Labels(code.reshape(-1), names)


def _by_loop(trace: Trace) -> Labels:
    """The innermost loop that the call before each burst is in."""
    structure = detect(trace)
    location, before = trace.arrays("bursts", "location", "call_before")
    call = Ordinals(*trace.arrays("calls", "location", "call")).rows(location, before)
    code = np.zeros(len(call), np.int64)
    names = ["outside all loops"]
    for loop in structure.loops:
        iterations = structure.iterations(loop.id)
        order = np.argsort(iterations.first, kind="stable")
        first, last = iterations.first[order], iterations.last[order]
        if len(first):
            iteration = np.maximum(np.searchsorted(first, call, side="right") - 1, 0)
            code[(call >= first[iteration]) & (call <= last[iteration])] = len(names)
        names.append(f"loop {loop.id}")
    return Labels(code, names)
