"""The loops of the source: which of them is around each call, and how detected loops agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from burstline.columns import AnyIntegers, Integers, Mask, Ordinals, dense, distinct, take
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.model import Trace, innermost_entry, most_iterations, recorded_loops
from burstline.structure import Calls, Structure, innermost_loops
from burstline.values import Documented

NO_LABEL: Final = -1
"""Loop of a call that has no label: nobody knows whether it is in one."""

OUTSIDE: Final = 0
"""Loop of a call that is in no loop."""


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The loop of the source around each MPI call."""

    # (calls,) number of the innermost loop; 0 outside of loops, -1 where the trace does not say
    loop: Integers
    names: Mapping[int, str]  # where each loop is, as ``file:line``
    source: Literal["events", "regions"]  # what the labels were recorded as

    @property
    def unlabelled(self) -> int:
        """Calls without a label."""
        return int(np.count_nonzero(self.loop == NO_LABEL))

    def name(self, loop: int) -> str:
        """What a loop is called."""
        if loop == OUTSIDE:
            return "outside of loops"
        return self.names.get(loop) or f"loop {loop}"


def labels_of(trace: Trace, calls: Calls, *, repeated: bool = False) -> Labels:
    """The label of each MPI call.

    Parameters
    ----------
    trace : Trace
        Its `call_loops` are read, or its `loop_entries` if no call was labelled.
    calls : Calls
        The calls of one application in it: `found_in` of a structure.
    repeated : bool
        Whether only loops count that some entry went round at least twice; calls in others
        are in the loop around. No trace of a run shows more loops than these. Recorded loops
        say so, with their iterations; labels of calls do not.

    Returns
    -------
    Labels
        One per call.

    Raises
    ------
    NotEnoughDataError
        If the trace has neither labels nor recorded loops; if loops that repeat are wanted and
        no recorded loop has its iterations.

    Notes
    -----
    O(calls + entries). Neither loops of OpenMP, constructs of the runtime, nor detected loops
    are labels. Where loops were recorded in some iterations only, and no label, calls of the
    other iterations seem to be in the loop around: record labels then.

    Examples
    --------
    >>> from burstline.structure import detect
    >>> from burstline.testing import trace_of
    >>> loop = "region solve paradigm user role loop file a.c begin 7 end 9"
    >>> steps = "1 enter solve | 2 enter MPI_Barrier | 3 leave | 4 leave"
    >>> trace = trace_of(f"ranks 1 | {loop} | 0 | {steps} | 5 enter MPI_Barrier | 6 leave")
    >>> found = labels_of(trace, detect(trace).found_in)
    >>> [found.name(loop) for loop in found.loop.tolist()]
    ['a.c:7', 'outside of loops']
    """
    if repeated:
        is_loop = recorded_loops(trace) & (most_iterations(trace) > 1)
        why = (
            "no recorded loop says how often it went round. Record the program with its loops "
            "into a store, which keeps their iterations"
        )
    elif trace.rows("call_loops"):
        return _of_calls(trace, calls)
    else:
        is_loop = recorded_loops(trace)
        why = (
            "no call has a label that says which loop it is in. Record the program with "
            "labels of its loops, and read the trace with its events"
        )
    if not is_loop.any():
        raise NotEnoughDataError(why)
    return _of_entries(trace, calls, is_loop)


def _of_calls(trace: Trace, calls: Calls) -> Labels:
    location, call, loop = trace.arrays("call_loops", "location", "call", "loop")
    row = Ordinals(*trace.arrays("calls", "location", "call")).rows(location, call)
    of_row = np.full(trace.rows("calls"), NO_LABEL, np.int64)
    of_row[row] = loop + 1
    return Labels(of_row[calls.row], _loop_names(trace), "events")


def _of_entries(trace: Trace, calls: Calls, is_loop: Mask) -> Labels:
    (loop,) = trace.arrays("loop_entries", "loop")
    location = calls.locations[calls.lane]
    row = innermost_entry(trace, location, calls.enter_ns, is_loop[loop])
    return Labels(take(loop, row).astype(np.int64) + 1, _loop_names(trace), "regions")


def _loop_names(trace: Trace) -> Mapping[int, str]:
    columns = (
        trace.table("loops")[name].to_pylist() for name in ("name", "file", "begin_line")
    )
    return {
        number: name if file is None or line is None else f"{file.rpartition('/')[2]}:{line}"
        for number, (name, file, line) in enumerate(zip(*columns, strict=True), start=1)
    }


@dataclass(frozen=True, slots=True)
class Overlap:
    """A loop of the source, and the detected loop that has most of its calls."""

    name: str  # where the loop of the source is
    calls: int  # calls that are labelled with it
    loop: int  # the detected loop that has most of them; 0 if that is none
    share: float  # share of the calls of the source's loop that it has
    purity: float  # share of the calls of the detected loop that the source's loop has


@dataclass(frozen=True, slots=True)
class Accuracy(Documented):
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
    >>> from burstline.structure import detect
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
        loops_found=len(np.setdiff1d(detected, OUTSIDE)),
        loops_labelled=len(np.setdiff1d(truth, OUTSIDE)),
        overlaps=tuple(_overlaps_by_size(detected, truth, labels)),
    )


def adjusted_rand(first: AnyIntegers, second: AnyIntegers) -> float:
    """The adjusted Rand index of two partitions, DOI 10.1007/BF01908075: 1 if equal."""
    if len(first) != len(second):
        raise ParameterError(f"partitions of {len(first):,} and {len(second):,} things")
    _, codes, sizes = np.unique(first, return_inverse=True, return_counts=True)
    _, other_codes, other_sizes = np.unique(second, return_inverse=True, return_counts=True)
    cells = dense(
        codes * max(len(other_sizes), 1) + other_codes, len(sizes) * len(other_sizes)
    )[0]
    together = _count_pairs(np.bincount(cells))
    in_first, in_second = _count_pairs(sizes), _count_pairs(other_sizes)
    in_all = _count_pairs(np.array([len(first)]))
    # Both sides of the quotient are multiplied by the pairs there are: all integers.
    by_chance = in_first * in_second
    most = in_all * (in_first + in_second) - 2 * by_chance
    return 2 * (in_all * together - by_chance) / most if most else 1.0


def _count_pairs(counts: AnyIntegers) -> int:
    """The pairs in classes of these sizes; Python's integers never overflow."""
    return sum(size * (size - 1) // 2 for size in counts.tolist())


def _overlaps_by_size(detected: Integers, truth: Integers, labels: Labels) -> Iterator[Overlap]:
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
