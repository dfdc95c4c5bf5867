"""How far each counter can be trusted after matching runs that have it, and where it varies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from burstline.columns import Floats, Integers, Mask, Ordinals, numpy_columns, quotients
from burstline.errors import NotEnoughDataError, ParameterError, printable
from burstline.merge.matching import match
from burstline.merge.model import THREAD, Matching, paired_rows
from burstline.merge.tables.bursts import burst_table
from burstline.merge.tables.columns import counter_columns
from burstline.merge.trust.quality import PUBLISHED, CounterQuality, Limits, compare, distances
from burstline.model import NO_VALUE, UNKNOWN, Trace
from burstline.progress import SILENCE, Progress
from burstline.structure import detect
from burstline.values import Contract, Documented

FEATURES: Final = ("duration", "position", "sizes", "partner")
_SIZES: Final = tuple(
    f"bytes_{way}_{side}" for side in ("before", "after") for way in ("sent", "received")
)
_PARTNERS: Final = ("partner_before", "partner_after")

BY: Final = ("call-path", "phase")
_CORRELATED: Final = 1_000_000
_SAMPLED: Final = 2_000
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


class BurstPlaces(NamedTuple):
    """A place for each matched burst."""

    code: Integers  # (bursts,) its place in `names`; -1 where the base lacks the burst
    names: list[str]  # the places


@dataclass(frozen=True, slots=True, eq=False)
class Check(Documented):
    """How well runs with the same counters agree; made by :func:`check`.

    Attributes
    ----------
    matching : Matching
        Which bursts were compared.
    counters, features : tuple of CounterQuality
        Of each counter that several runs have; of ``duration`` (ns), ``position``,
        ``sizes`` (bytes) and ``partner``: the figures and the ``verdict``, which is
        ``trust``, ``with care``, ``do not use`` or ``no information``.
    alone : tuple of str
        Counters that one run alone has, so that how well they repeat is unknown.
    names : tuple of str
        Rows and columns of `matrix`.
    matrix : ndarray of float64, shape (names, names)
        Pearson's correlation of a quantity of the base (row) with the mean of another of the
        other runs (column); NaN where one is constant. At most a million bursts, evenly
        spread, are taken.
    samples : tuple of (ndarray of float64, ndarray of float64)
        For each of `names`, up to 2,000 bursts evenly spread: the base, the others' mean.
    by : str
        What `variations` are listed by; empty if they were not asked for.
    variations : tuple of Variation
        Where counters differ: the ``share`` of the difference that is at a ``place``; for
        each counter, the places with most of it first.
    """

    matching: Matching
    counters: tuple[CounterQuality, ...]
    features: tuple[CounterQuality, ...]
    alone: tuple[str, ...]
    names: tuple[str, ...]
    matrix: Floats
    samples: tuple[tuple[Floats, Floats], ...]
    by: str = ""
    variations: tuple[Variation, ...] = ()

    @property
    def match_rate(self) -> float:
        """Share of the bursts of all runs that were matched."""
        return float(self.matching.matched.sum() / max(self.matching.bursts.sum(), 1))

    @property
    def _runs(self) -> list[dict[str, Any]]:
        names = ("bursts", "matched", "match_rate")
        rows = zip(*(getattr(self.matching, name).tolist() for name in names), strict=True)
        return [dict(zip(names, row, strict=True)) for row in rows]

    CONTRACT: ClassVar[Contract] = (
        *("match_rate", ("method", "matching.method"), ("base", "matching.base")),
        ("runs", "_runs"),
        ("counters", lambda self: {each.name: each for each in self.counters}),
        ("features", lambda self: {each.name: each for each in self.features}),
        *("alone", ("correlations", ("names", "matrix"))),
        *(("by", lambda self: self.by or None), "variations"),
    )


def check(
    traces: Sequence[Trace],
    *,
    method: str = "align",
    matching: Matching | None = None,
    by: str = "",
    limits: Limits = PUBLISHED,
    names: Sequence[str] = (),
    threads: int | None = None,
    progress: Progress = SILENCE,
) -> Check:
    """How far counters can be trusted, from runs that have the same ones.

    Parameters
    ----------
    traces : sequence of Trace
        At least two runs of one program.
    method : str
        How bursts are matched: ``align`` or ``seed``.
    matching : Matching, optional
        What was matched already, by whichever method.
    by : str
        Where counters differ: by ``call-path`` or by ``phase``, the innermost loop of the
        base that a burst is in. Not at all if empty.
    limits : Limits
        Where verdicts change.
    names : sequence of str
        What errors call the runs; ``run 1`` and so on if empty.
    threads : int, optional
        As of :func:`burstline.match`.
    progress : Progress
        Counts the threads matched, and the quantities compared.

    Returns
    -------
    Check
        Figures and a verdict for each counter and feature.

    Raises
    ------
    NotEnoughDataError
        If no counter is in several runs, or no burst was matched.
    BurstlineError
        As :func:`burstline.match`.

    Notes
    -----
    O(n log n) in the bursts, and 200 bytes for each burst and run at the peak. What differs
    may be the program, the measurement or a wrong match: the features tell the last of them,
    as bursts with other partners or sizes are hardly the same.

    Examples
    --------
    >>> from burstline.testing import trace_of
    >>> calls = "0 enter MPI_Init | 5 leave | 9 enter MPI_Barrier | 12 leave"
    >>> runs = [trace_of(f"ranks 1 | 0 | {calls}") for _ in range(2)]
    >>> check(runs)
    Traceback (most recent call last):
    ...
    burstline.errors.NotEnoughDataError: no counter is in more than one run...
    """
    _require_shared(traces, names)
    if matching is None:
        matching = match(traces, method=method, threads=threads, progress=progress)
    measured = MatchedBursts(traces, matching)
    labels = labels_of(traces[matching.base], measured, by) if by else None
    several = measured.counters()
    progress.step("Comparing", len(several) + len(FEATURES), "quantities")
    counters: list[CounterQuality] = []
    features: list[CounterQuality] = []
    columns: list[tuple[Floats, Floats]] = []
    places: list[Variation] = []
    for name in (*several, *FEATURES):
        is_feature = len(counters) == len(several)
        quantity = measured.feature(name) if is_feature else measured.counter(name)
        quality = _quality_of(quantity, limits)
        (features if is_feature else counters).append(quality)
        if not quantity.categories:
            columns.append(_base_and_others(quantity))
        if labels is not None and not is_feature:
            places += variations(quantity, labels, limits.tolerance)
        progress.advance(1)
    every = dict.fromkeys(name for trace in traces for name in trace.counter_names)
    return Check(
        matching=matching,
        counters=tuple(counters),
        features=tuple(features),
        alone=tuple(name for name in every if name not in several),
        names=tuple(each.name for each in (*counters, *features) if each.name != "partner"),
        matrix=_correlation_matrix(columns),
        samples=tuple(_sampled_pair(*column) for column in columns),
        by=by,
        variations=tuple(places),
    )


def shared(
    traces: Sequence[Trace], matching: Matching, *, limits: Limits = PUBLISHED
) -> tuple[CounterQuality, ...]:
    """How well the counters agree that several of some merged runs have, in their order."""
    measured = MatchedBursts(traces, matching)
    return tuple(_quality_of(measured.counter(name), limits) for name in measured.counters())


def _require_shared(traces: Sequence[Trace], names: Sequence[str]) -> None:
    counters = [set(trace.counter_names) for trace in traces]
    if len(traces) < 2 or len(set().union(*counters)) < sum(map(len, counters)):
        return
    called = names or [f"run {number}" for number in range(1, len(traces) + 1)]
    counts = "; ".join(
        f"{run}: {', '.join(sorted(map(printable, counters_of_run))) or 'none'}"
        for run, counters_of_run in zip(called, counters, strict=True)
    )
    raise NotEnoughDataError(
        f"no counter is in more than one run ({counts}). Record the program again with a set "
        "of counters that another run has: burstline record `counters`"
    )


def labels_of(trace: Trace, measured: MatchedBursts, by: str) -> BurstPlaces:
    """Where each matched burst is in the program."""
    if by not in BY:
        raise ParameterError(f"{by} is no way to tell bursts apart; ways are {', '.join(BY)}")
    labels = _by_path(trace) if by == "call-path" else _by_loop(trace)
    rows = measured.rows[:, measured.base]
    return BurstPlaces(np.where(rows >= 0, labels.code[rows], -1), labels.names)


def variations(quantity: Quantity, labels: BurstPlaces, tolerance: float) -> list[Variation]:
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


def _by_path(trace: Trace) -> BurstPlaces:
    table = burst_table(trace, columns=_AROUND)
    codes = np.stack(table.arrays(*_AROUND), axis=1)
    different, code = np.unique(codes, axis=0, return_inverse=True)
    texts = [[*table.names(name), ""] for name in _AROUND]
    names = []
    for row in different.tolist():
        words = [column[code] or "" for column, code in zip(texts, row, strict=True)]
        before, after = (" ".join(filter(None, words[k : k + 2])) for k in (0, 2))
        names.append(f"{before or 'begin'} → {after or 'end'}")
    return BurstPlaces(code.reshape(-1), names)


def _by_loop(trace: Trace) -> BurstPlaces:
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
    return BurstPlaces(code, names)


def _quality_of(quantity: Quantity, limits: Limits) -> CounterQuality:
    return compare(
        quantity.name,
        quantity.values,
        base=quantity.base,
        present=quantity.present,
        categories=quantity.categories,
        limits=limits,
    )


def _base_and_others(quantity: Quantity) -> tuple[Floats, Floats]:
    """The base and the mean of the others, NaN where there is none."""
    others = quantity.present.copy()
    others[:, quantity.base] = False
    mean = quotients(np.where(others, quantity.values, 0).sum(axis=1), others.sum(axis=1))
    has_base = quantity.present[:, quantity.base]
    return np.where(has_base, quantity.values[:, quantity.base], np.nan), mean


def _even_places(count: int, most: int) -> Integers:
    return np.unique(np.linspace(0, max(count - 1, 0), min(count, most)).astype(np.int64))


def _sampled_pair(base: Floats, others: Floats) -> tuple[Floats, Floats]:
    both = np.flatnonzero(~np.isnan(base) & ~np.isnan(others))
    rows = both[_even_places(len(both), _SAMPLED)]
    return base[rows], others[rows]


def _correlation_matrix(columns: Sequence[tuple[Floats, Floats]]) -> Floats:
    """The correlation of every quantity of the base with every one of the others."""
    rows = _even_places(len(columns[0][0]), _CORRELATED)
    sides = [np.stack([column[side][rows] for column in columns]) for side in (0, 1)]
    is_complete = ~np.isnan(sides).any(axis=(0, 1))
    if not is_complete.any():
        return np.full((len(columns), len(columns)), np.nan)
    units = [_unit_rows(side[:, is_complete]) for side in sides]
    return np.clip(np.round(units[0] @ units[1].T, 12), -1, 1)


def _unit_rows(table: Floats) -> Floats:
    """The rows, centred and of length 1; NaN where constant."""
    varies = table.min(axis=1) < table.max(axis=1)
    centred = table - table.mean(axis=1, keepdims=True)
    centred[varies] /= np.abs(centred[varies]).max(axis=1, keepdims=True)
    centred[varies] /= np.linalg.norm(centred[varies], axis=1, keepdims=True)
    centred[~varies] = np.nan
    return np.asarray(centred)


class Quantity(NamedTuple):
    """One counter, or another quantity, of matched bursts."""

    name: str
    # the run that others are compared with: the base of the matching, or the first run that has
    # the quantity
    base: int
    values: Floats  # (rows, runs) what each run measured; 0 where it did not
    present: Mask  # (rows, runs) where it did
    categories: bool = False  # whether values are names rather than amounts


class MatchedBursts:
    """Matched bursts, and what their runs measured in them."""

    # (bursts in at least two runs, runs) row in the table `bursts` of each run, -1 without
    rows: Integers
    base: int  # of the matching

    def __init__(self, traces: Sequence[Trace], matching: Matching) -> None:
        if len(traces) != matching.runs:
            raise ParameterError(f"{matching.runs} runs were matched, {len(traces)} are given")
        self._traces, self.base = tuple(traces), matching.base
        each = [_paired_rows_of(trace, matching, run) for run, trace in enumerate(traces)]
        rows = np.stack(each, axis=1)
        self.rows = rows[(rows >= 0).sum(axis=1) >= 2]
        if not len(self.rows):
            raise NotEnoughDataError(
                "no burst of one run was found in another: are these runs of one program?"
            )

    def counters(self) -> tuple[str, ...]:
        """The counters that at least two runs have, in the order of the first ones."""
        names = [name for trace in self._traces for name in trace.counter_names]
        return tuple(name for name in dict.fromkeys(names) if names.count(name) >= 2)

    def counter(self, name: str) -> Quantity:
        """A counter of the bursts."""
        (column,) = counter_columns([name])
        having = [k for k, trace in enumerate(self._traces) if name in trace.counter_names]
        return self._gathered(column, partial(_counter_readings, name=name), having)

    def feature(self, name: str) -> Quantity:
        """A quantity that every run has."""
        if name == "partner":
            return self._partners()
        if name not in _AMOUNTS:
            raise ParameterError(f"{name} is no feature of bursts; features are {FEATURES}")
        return self._gathered(name, _AMOUNTS[name], range(len(self._traces)))

    def _gathered(
        self,
        name: str,
        column_of: Callable[[Trace], npt.NDArray[np.generic]],
        having: Sequence[int],
    ) -> Quantity:
        values = np.zeros(self.rows.shape)
        present = np.zeros(self.rows.shape, bool)
        for run in having:
            column = column_of(self._traces[run])
            is_measured = self.rows[:, run] >= 0
            taken = column[self.rows[is_measured, run]]
            if taken.dtype == np.int64:
                has_value = taken != NO_VALUE
                is_measured[is_measured], taken = has_value, taken[has_value]
            values[is_measured, run], present[:, run] = taken, is_measured
        base = self.base if self.base in having else having[0]
        return Quantity(name, base, values, present)

    def _partners(self) -> Quantity:
        """Partners before and, below them, after."""
        runs = range(len(self._traces))
        sides = [
            self._gathered(name, partial(_table_column, name=name), runs) for name in _PARTNERS
        ]
        values = np.concatenate([side.values for side in sides])
        present = np.concatenate([side.present for side in sides])
        has_partner = (present & (values != UNKNOWN)).any(axis=1)
        return Quantity(
            "partner", self.base, values[has_partner], present[has_partner], categories=True
        )


def _paired_rows_of(trace: Trace, matching: Matching, run: int) -> Integers:
    """The row of each burst of the pairs in one run, -1 where it has none."""
    threads = trace.arrays("locations", *THREAD)
    rows = Ordinals(*trace.arrays("bursts", "location", "burst"))
    return paired_rows(matching.pairs, run, (*threads, np.arange(len(threads[0]))), rows)


def _counter_readings(trace: Trace, name: str) -> npt.NDArray[np.generic]:
    # of a store, a table is read with all its counters, for each of them
    parts = [numpy_columns(part, name)[0] for part in trace.batches("bursts", [name])]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _durations(trace: Trace) -> Integers:
    start, end = trace.arrays("bursts", "start_ns", "end_ns")
    return np.asarray(end - start)


def _sizes(trace: Trace) -> Floats:
    table = burst_table(trace, columns=_SIZES)
    return np.asarray(sum(np.maximum(size, 0) for size in table.arrays(*_SIZES)), np.float64)


def _table_column(trace: Trace, name: str) -> Floats:
    (values,) = burst_table(trace, columns=[name]).arrays(name)
    return values.astype(np.float64)


_AMOUNTS: Final[dict[str, Callable[[Trace], npt.NDArray[Any]]]] = {
    "duration": _durations,
    "position": partial(_table_column, name="position"),
    "sizes": _sizes,
}
