"""What matching finds: which bursts of several runs are the same, and how alike they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from burstline.columns import (
    AnyIntegers,
    Floats,
    Integers,
    Mask,
    Ordinals,
    codes,
    numpy_columns,
    to_numpy,
)
from burstline.errors import ParameterError
from burstline.model import UNKNOWN

STAGES: Final = ("none", "direct", "pattern", "region", "aligned", "moved", "similar")
"""How bursts are matched. Both methods: *direct*, by position, where all runs did the same.
The published one: *pattern*, by order of occurrence of what lies around; *region*, the most
similar between two collectives. Aligning: *aligned*, in order; *moved*, alike but out of
order; *similar*, alike but for the size."""

THREAD: Final = ("application", "rank", "thread")
LEAST_WINDOW: Final = 4
ASSIGNMENTS: Final = ("greedy", "optimal")


@dataclass(frozen=True, slots=True)
class Weights:
    """What makes two bursts unlike: S of the published method.

    ``S = place · |difference of places| + size · relative difference of sizes
    + partner · (partners differ)``

    Attributes
    ----------
    place, size, partner : float
        Weights.
    limit : float
        Bursts with an S as large are not matched.
    """

    place: float = 0.6
    size: float = 0.2
    partner: float = 0.2
    limit: float = 0.3


@dataclass(frozen=True, slots=True)
class Alignment:
    """How to align.

    Attributes
    ----------
    window : int
        Bursts compared with as many of the other run at a time, where they differ; at
        least 4.
    weights : Weights
        What makes two bursts of the same kind unlike each other. Their limit is the published
        method's: aligned, bursts match by their order, and what is left by being alike.

    Raises
    ------
    ParameterError
        If the window is too small, or the weights have another limit.
    """

    window: int = 128
    weights: Weights = Weights()

    def __post_init__(self) -> None:
        if self.window < LEAST_WINDOW:
            raise ParameterError(
                f"the window of an alignment holds at least {LEAST_WINDOW} bursts, "
                f"got {self.window}"
            )
        if self.weights.limit != Weights().limit:
            raise ParameterError("a limit of S belongs to the published method")


@dataclass(frozen=True, slots=True)
class Published:
    """Options of the published method, and variants of it.

    Attributes
    ----------
    weights : Weights
        Of similarity.
    block : int
        Larger groups are matched in blocks of at most as many bursts of each run. The
        published method knows no blocks: they bound its quadratic cost.
    both_sizes : bool
        Compare sizes after the burst, too, instead of only those before.
    aligned_spans : bool
        Let spans of different runs correspond where their collectives do, rather than
        by counting collectives.
    assignment : str
        ``greedy``, or ``optimal`` for the least sum of S in each block.

    Raises
    ------
    ParameterError
        If a block holds nothing, or there is no such assignment.
    """

    weights: Weights = Weights()
    block: int = 256
    both_sizes: bool = False
    aligned_spans: bool = False
    assignment: str = "greedy"

    def __post_init__(self) -> None:
        if self.block < 1:
            raise ParameterError(f"a block holds at least one burst, got {self.block}")
        if self.assignment not in ASSIGNMENTS:
            raise ParameterError(f"assignments are {', '.join(ASSIGNMENTS)}")


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """Which bursts of several runs are the same.

    Attributes
    ----------
    method : str
        ``align`` or ``seed``.
    pairs : pyarrow.Table
        Every burst of every run stands in exactly one row, if all runs have its thread;
        a run matched with itself is matched whole, by position. Columns ``rank``,
        ``thread``, ``application``; ``burst_0``, ``burst_1`` …, the ordinal of the burst in
        each run, null where the run has none; ``stage``, how it was matched: ``none``,
        ``direct``, ``pattern``, ``region``, ``aligned``, ``moved`` or ``similar``;
        ``similarity``, the largest S between the base's burst (or the first there is) and
        those of other runs, 0 if they are alike, null if there is but one.
    bursts, matched : ndarray of int64, shape (runs,)
        Bursts of each run; and of these, those that were matched to one of another run.
    time_ns, matched_ns : ndarray of int64, shape (runs,)
        The same in time.
    base : int
        The run that the others are compared to: the one that was asked for, or else that
        of which the smallest share is unmatched, but by ``align`` never one that was cut if
        another was not.
    by_stage : ndarray of int64, shape (runs, stages)
        Bursts of each run by how they were matched.
    shared : ndarray of int64, shape (runs, runs)
        Bursts that two runs have in common.
    missing_ends : ndarray of int64, shape (runs,)
        Ranks of each run without ``MPI_Init``, plus ranks without ``MPI_Finalize``.
    patterns : pyarrow.Table
        Operations before and after, with bursts and matched bursts of each run:
        ``before, after, bursts_0, matched_0, …``; most unmatched first.
    has_paths : bool
        Whether call paths distinguish bursts (``align`` only).
    has_loops : bool
        Whether loops of the program did, or which iteration of them (``align`` only).
    """

    method: str
    pairs: pa.Table
    bursts: Integers
    matched: Integers
    time_ns: Integers
    matched_ns: Integers
    base: int
    by_stage: Integers
    shared: Integers
    missing_ends: Integers
    patterns: pa.Table
    has_paths: bool
    has_loops: bool = False

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.bursts)

    @property
    def match_rate(self) -> Floats:
        """Share of each run's bursts that were matched; 1 for a run without bursts."""
        return _share(self.matched, self.bursts)

    @property
    def base_rate(self) -> Floats:
        """Share of each run's bursts that the base has, too; of the base's, that any has."""
        shared = self.shared[self.base].copy()
        shared[self.base] = self.matched[self.base]
        return _share(shared, self.bursts)

    @property
    def is_cut(self) -> Mask:
        """Whether each run lacks beginnings or ends of ranks that another run has."""
        return self.missing_ends > self.missing_ends.min()

    @property
    def time_coverage(self) -> Floats:
        """Share of each run's time in bursts that was matched; 1 for a run without any."""
        return _share(self.matched_ns, self.time_ns)


def paired_rows(
    pairs: pa.Table, run: int, threads: Sequence[AnyIntegers], rows: Ordinals
) -> Integers:
    """The row of the burst of a run that each pair names, -1 where it names none."""
    ordinal = to_numpy(pairs[f"burst_{run}"])
    *keys, location = threads  # application, rank, thread
    if not len(location):
        return np.full(len(ordinal), UNKNOWN, np.int64)
    thread, named = codes(keys, numpy_columns(pairs, *THREAD))
    order = np.argsort(thread, kind="stable")
    place = np.minimum(np.searchsorted(thread[order], named), len(order) - 1)
    is_named = (ordinal >= 0) & (thread[order][place] == named)
    row = rows.rows(location[order[place]], np.where(is_named, ordinal, 0))
    return np.where(is_named, row, UNKNOWN)


def _share(part: Integers, whole: Integers) -> Floats:
    return np.divide(part, whole, out=np.ones(len(whole)), where=whole > 0)
