"""Accuracy: how well detected loops agree with the loops of the source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from burstline.columns import AnyIntegers, Integers, dense, distinct
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.structure.computation.bursts import Bursts
from burstline.structure.program.model import Structure
from burstline.structure.program.nodes import with_innermost_loop
from burstline.structure.study.labels import NO_LABEL, OUTSIDE, Labels

_NO_LOOP: Final = 0


@dataclass(frozen=True, slots=True)
class Overlap:
    """A loop of the source, and the detected loop that has most of its calls."""

    name: str  # where the loop of the source is
    calls: int  # calls that are labelled with it
    loop: int  # the detected loop that has most of them; 0 if that is none
    share: float  # share of the calls of the source's loop that it has
    purity: float  # share of the calls of the detected loop that the source's loop has


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How well the loops of one method agree with those of the source."""

    method: str  # what detected them
    # adjusted Rand index of the innermost loop of each call: 1 if both put the same calls
    # together, about 0 by chance
    adjusted_rand: float
    # the same, each unique call (rank, operation, call path) and label counted once, however
    # often it is executed
    adjusted_rand_unique: float
    calls: int  # calls that were compared
    unlabelled: int  # calls that were not, because they have no label
    # innermost loops of the calls compared, as detected and in the source
    loops_found: int
    loops_labelled: int
    overlaps: tuple[Overlap, ...]  # the loops of the source, those with most calls first

    def as_dict(self) -> dict[str, Any]:
        """The accuracy as JSON output."""
        return asdict(self)


def accuracy(structure: Structure, labels: Labels) -> Accuracy:
    """How well detected loops agree with those of the source.

    Parameters
    ----------
    structure : Structure
        Found by any method.
    labels : Labels
        Labels of the calls it was found in.

    Returns
    -------
    Accuracy
        Of the innermost loops around calls; loops without an MPI call of their own do not
        matter.

    Raises
    ------
    NotEnoughDataError
        If no call has a label.
    ParameterError
        If the labels are of other calls.

    Notes
    -----
    O(calls · log(unique calls)). All calls outside of loops are one class. A loop of the
    source that is reached by two call paths is one label, where a method may well see two
    loops: that costs accuracy although both are right.

    Examples
    --------
    >>> from burstline.structure import detect, labels_of
    >>> from burstline.testing import trace_of
    >>> where = "region solve paradigm user role loop file a.c begin 7 end 9"
    >>> steps = [f"{9 * k} enter MPI_Barrier path 0 | {9 * k + 2} leave" for k in range(1, 4)]
    >>> loop = f"{where} | 0 | 1 enter solve | {' | '.join(steps)} | 60 leave"
    >>> path = "path 0 main file a.c line 8"
    >>> trace = trace_of(f"ranks 1 | {path} | {loop} | 70 enter MPI_Finalize | 80 leave")
    >>> structure = detect(trace)
    >>> accuracy(structure, labels_of(trace, structure.found_in)).adjusted_rand
    1.0
    """
    detected = innermost_loops(structure)
    if len(detected) != len(labels.loop):
        raise ParameterError(
            f"labels of {len(labels.loop):,} calls do not fit a structure of {len(detected):,}"
        )
    labelled = np.flatnonzero(labels.loop != NO_LABEL)
    if not len(labelled):
        raise NotEnoughDataError("no call has a label to compare detected loops to")
    detected, truth = detected[labelled], labels.loop[labelled]
    sequence, lane = structure.steps.sequence[labelled], structure.found_in.lane[labelled]
    once, _ = distinct(lane, sequence, detected, truth)
    return Accuracy(
        method=structure.method,
        adjusted_rand=adjusted_rand(detected, truth),
        adjusted_rand_unique=adjusted_rand(detected[once], truth[once]),
        calls=len(labelled),
        unlabelled=labels.unlabelled,
        loops_found=len(np.setdiff1d(detected, _NO_LOOP)),
        loops_labelled=len(np.setdiff1d(truth, OUTSIDE)),
        overlaps=tuple(_overlaps(detected, truth, labels)),
    )


def innermost_loops(structure: Structure) -> Integers:
    """The innermost detected loop around each call, shape (calls,)."""
    node = Bursts.of(structure).node
    loops = [loop for _, loop in with_innermost_loop(structure.items, _NO_LOOP)]
    left_out = [_NO_LOOP] * len(structure.left_out)
    return np.array([*loops, *left_out, _NO_LOOP], np.int64)[node]  # the last: of no node


def adjusted_rand(first: AnyIntegers, second: AnyIntegers) -> float:
    """The adjusted Rand index of two partitions, DOI 10.1007/BF01908075: 1 if equal."""
    if len(first) != len(second):
        raise ParameterError(f"partitions of {len(first):,} and {len(second):,} things")
    _, codes, sizes = np.unique(first, return_inverse=True, return_counts=True)
    _, other_codes, other_sizes = np.unique(second, return_inverse=True, return_counts=True)
    cells = dense(
        codes * max(len(other_sizes), 1) + other_codes, len(sizes) * len(other_sizes)
    )[0]
    together = _pairs(np.bincount(cells))
    in_first, in_second = _pairs(sizes), _pairs(other_sizes)
    in_all = _pairs(np.array([len(first)]))
    # Both sides of the quotient are multiplied by the pairs there are: all integers.
    by_chance = in_first * in_second
    most = in_all * (in_first + in_second) - 2 * by_chance
    return 2 * (in_all * together - by_chance) / most if most else 1.0


def _pairs(counts: AnyIntegers) -> int:
    """The pairs in classes of these sizes; Python's integers never overflow."""
    sizes, times = np.unique_counts(counts)
    pairs = zip(sizes.tolist(), times.tolist(), strict=True)
    return sum(many * (size * (size - 1) // 2) for size, many in pairs)


def _overlaps(detected: Integers, truth: Integers, labels: Labels) -> Iterator[Overlap]:
    names, codes, sizes = np.unique(truth, return_inverse=True, return_counts=True)
    loops, others, widths = np.unique(detected, return_inverse=True, return_counts=True)
    cells = np.bincount(codes * len(loops) + others, minlength=len(names) * len(loops))
    cells = cells.reshape(len(names), len(loops))
    for row in np.argsort(-sizes, kind="stable").tolist():
        if names[row] == OUTSIDE:
            continue
        best = int(cells[row].argmax())
        yield Overlap(
            name=labels.name(int(names[row])),
            calls=int(sizes[row]),
            loop=int(loops[best]),
            share=float(cells[row, best] / sizes[row]),
            purity=float(cells[row, best] / widths[best]),
        )
