"""Features of unique calls: what may distinguish the loops of a program.

Section 3.3.1 of the thesis of the published method asks which of them do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from burstline.columns import Floats, Integers, Ordinals, placed, quotients, stable_order
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.identity import Site, sites_of
from burstline.model import NO_VALUE, Trace
from burstline.structure import SCALES, Calls, Reduced, Scale, reduce_to_sites
from burstline.studies.loop_labels import NO_LABEL, Labels

_SETS: Final = ("PAPI", "IR")
"""Prefixes of counters: of the processor, and of work that a compiler put in."""

_TOTAL: Final = "TOT_INS"
_CYCLES: Final = "PAPI_TOT_CYC"
_RELATIVE: Final = {
    "branches": "BR_INS",
    "conditional branches": "BR_CN",
    "unconditional branches": "BR_UCN",
    "loads": "LD_INS",
    "stores": "SR_INS",
    "floating point": "FP_INS",
    "vector": "VEC_INS",
}
"""Kinds of instructions that are looked at relative to all, by the name of the variable."""

_KNOWN_ENOUGH: Final = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Variables of unique calls, and the loops they are in."""

    # variables: ``iterations`` and ``iteration time``, then those that the counters of the
    # trace give
    names: tuple[str, ...]
    made_of: Mapping[str, str]  # which counters each of the others is made of
    # (rows, variables) none of them missing. Times are in ns; on the ``"log"`` scale,
    # iterations and time are decimal logarithms.
    values: Floats
    loop: Integers  # (rows,) loop of the source, 0 outside of loops, -1 without a label
    # (rows,) what each unique call is
    lane: Integers
    site: Integers
    sites: tuple[Site, ...]  # in the order of their numbers
    loop_names: Mapping[int, str]
    scale: Scale  # how iterations and time are compared
    once: int  # unique calls that are executed once: they have no iteration
    unread: int  # others left out, because a counter was not read for them
    unknown: tuple[str, ...]  # variables that no counter of the trace gives

    def __len__(self) -> int:
        return len(self.loop)

    def by_loop(self) -> Features:
        """The loops as rows, instead of their unique calls."""
        inside = np.flatnonzero(self.loop > 0)
        loops, first, group = np.unique(
            self.loop[inside], return_index=True, return_inverse=True
        )
        sums = np.zeros((len(loops), len(self.names)))
        np.add.at(sums, group, self.values[inside])
        return replace(
            self,
            values=sums / np.bincount(group, minlength=len(loops))[:, None],
            loop=loops,
            lane=self.lane[inside][first],
            site=self.site[inside][first],
        )

    def rows(self, ranks: Integers) -> list[dict[str, Any]]:
        """A dictionary per row."""
        columns = (ranks[self.lane], self.site, self.loop, self.values)
        rows = []
        for rank, site, loop, values in zip(*(c.tolist() for c in columns), strict=True):
            call = self.sites[site]
            caller = call.path[-1] if call.path else None
            row = {
                "rank": rank,
                "operation": call.operation,
                "file": caller and caller.file,
                "line": caller and caller.line,
                "loop": None if loop == NO_LABEL else loop,
            }
            rows.append(row | dict(zip(self.names, values, strict=True)))
        return rows


def features(
    trace: Trace, calls: Calls, labels: Labels | None = None, *, scale: Scale = "log"
) -> Features:
    """The features of the unique calls of a trace.

    Parameters
    ----------
    trace : Trace
        Its bursts and counters are read.
    calls : Calls
        The calls of one application in it: `found_in` of a structure.
    labels : Labels, optional
        The loops they are in.
    scale : {"log", "minmax"}
        Whether iterations and time are compared as ratios or, as in the published study, as
        differences.

    Returns
    -------
    Features
        A row per unique call that is executed more than once.

    Raises
    ------
    NotEnoughDataError
        If no call is executed more than once.
    ParameterError
        If there is no such scale.

    Notes
    -----
    O(calls). Counters are summed over everything computed from the first execution of a call
    to the last, MPI apart, where both of a ratio were read. Instructions per cycle become
    instructions per nanosecond of computation where cycles were not counted, and then depend
    on the clock. A variable is left out if it is not known for half of the calls.

    Examples
    --------
    >>> from burstline.structure import detect
    >>> from burstline.testing import trace_of
    >>> steps = [f"{9 * k} enter MPI_Barrier path 0 | {9 * k + 2} leave" for k in range(4)]
    >>> trace = trace_of(f"ranks 1 | path 0 main file a.c line 3 | 0 | {' | '.join(steps)}")
    >>> variables = features(trace, detect(trace).found_in, scale="minmax")
    >>> variables.names, variables.values.tolist()
    (('iterations', 'iteration time'), [[4.0, 9.0]])
    """
    if scale not in SCALES:
        raise ParameterError(f"no scale {scale!r}; there are {', '.join(SCALES)}")
    reduced = reduce_to_sites(trace, calls, sites_of(trace, calls.row, calls.world_size))
    again = reduced.repetitions > 1
    if not again.any():
        raise NotEnoughDataError("no call is executed more than once: there is no iteration")
    columns, made_of = _variable_columns(reduced, trace, calls, scale)
    for name in [*columns]:
        if np.isfinite(columns[name][again]).mean() < _KNOWN_ENOUGH:
            del columns[name]
    values = np.stack(list(columns.values()), axis=1)
    rows = np.flatnonzero(again & np.isfinite(values).all(axis=1))
    return Features(
        names=tuple(columns),
        made_of={name: counters for name, counters in made_of.items() if name in columns},
        values=values[rows],
        loop=_loops_by_majority(reduced, calls, labels)[rows],
        lane=reduced.lane[rows].astype(np.int64),
        site=reduced.site[rows].astype(np.int64),
        sites=reduced.sites,
        loop_names={} if labels is None else labels.names,
        scale=scale,
        once=int(np.count_nonzero(~again)),
        unread=int(np.count_nonzero(again)) - len(rows),
        unknown=tuple(name for name in ("IPC", *_RELATIVE) if name not in columns),
    )


def _variable_columns(
    reduced: Reduced, trace: Trace, calls: Calls, scale: Scale
) -> tuple[dict[str, Floats], dict[str, str]]:
    """The variables, and which counters they are made of."""
    iterations = reduced.repetitions.astype(np.float64)
    time_ns = reduced.iteration_mean_ns()
    if scale == "log":
        iterations, time_ns = np.log10(iterations), np.log10(np.maximum(time_ns, 1))
    columns, made_of = {"iterations": iterations, "iteration time": time_ns}, {}
    ratios = _Ratios(trace, calls, reduced)
    for name, (counter, over) in _counter_ratios(frozenset(trace.counter_names)).items():
        columns[name] = ratios.of(counter, over)
        made_of[name] = f"{counter} / {over or 'ns'}"
    return columns, made_of


def _counter_ratios(recorded: frozenset[str]) -> dict[str, tuple[str, str | None]]:
    """The counter of each variable, and what it is divided by: a counter, or time."""
    ratios: dict[str, tuple[str, str | None]] = {}
    for prefix in _SETS:
        total = f"{prefix}_{_TOTAL}"
        if total not in recorded:
            continue
        ratios.setdefault("IPC", (total, _CYCLES if _CYCLES in recorded else None))
        for name, kind in _RELATIVE.items():
            if f"{prefix}_{kind}" in recorded:
                ratios.setdefault(name, (f"{prefix}_{kind}", total))
    return ratios


class _Ratios:
    """Ratios of counters over everything computed from the first to the last of equal calls."""

    def __init__(self, trace: Trace, calls: Calls, reduced: Reduced) -> None:
        row = calls.row[_unique_and_order(reduced, calls)[1]]
        self._trace = trace
        self._first, self._last = row[reduced.begin[:-1]], row[reduced.begin[1:] - 1]
        where, after, start_ns, end_ns, gap_ns = trace.arrays(
            "bursts", "location", "call_after", "start_ns", "end_ns", "gap_ns"
        )
        row = Ordinals(*trace.arrays("calls", "location", "call")).rows(where, after)
        self._bursts = np.flatnonzero(row >= 0)
        self._row = row[self._bursts]
        self._time_ns = end_ns - start_ns - gap_ns

    def of(self, counter: str, over: str | None) -> Floats:
        (above,) = self._trace.arrays("bursts", counter)
        below = self._time_ns if over is None else self._trace.arrays("bursts", over)[0]
        above, below = above[self._bursts], below[self._bursts]
        # sets of counters take turns: only bursts count in which both were read
        read = (above != NO_VALUE) & (below != NO_VALUE)
        total = self._between(np.where(read, below, 0))
        sums = self._between(np.where(read, above, 0))
        return quotients(sums, total)

    def _between(self, values: Integers) -> Integers:
        """The sum of the values of bursts between the first and the last of equal calls."""
        by_call = placed(values, self._row, self._trace.rows("calls"))
        sums = np.cumsum(by_call)
        return sums[self._last] - sums[self._first]


def _unique_and_order(reduced: Reduced, calls: Calls) -> tuple[Integers, Integers]:
    """The unique call of each call, and the calls by unique call, in the order of time."""
    count = len(reduced.sites)
    keys = reduced.lane * count + reduced.site
    unique = np.searchsorted(keys, calls.lane * count + reduced.sequence)
    return unique, stable_order(unique, len(keys))


def _loops_by_majority(reduced: Reduced, calls: Calls, labels: Labels | None) -> Integers:
    """The loop that most of the labelled executions of each unique call are in."""
    loop_of = np.full(len(reduced.lane), NO_LABEL, np.int64)
    if labels is None:
        return loop_of
    unique, _ = _unique_and_order(reduced, calls)
    is_labelled = labels.loop != NO_LABEL
    loops, codes = np.unique(labels.loop[is_labelled], return_inverse=True)
    pairs, times = np.unique(unique[is_labelled] * len(loops) + codes, return_counts=True)
    order = np.lexsort((-pairs, times))  # the last of each unique call has most executions
    loop_of[pairs[order] // max(len(loops), 1)] = loops[pairs[order] % max(len(loops), 1)]
    return loop_of
