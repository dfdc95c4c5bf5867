"""Which bursts of several runs are the same: matched thread by thread, or as published."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import Floats, Integers, coded, codes, placed
from burstline.errors import InconsistentTraceError, NotEnoughDataError, ParameterError
from burstline.executor import in_order, threads_allowed
from burstline.identity import Naming, Tokens, tokens_of
from burstline.merge.align.alignment import ThreadRows, align_thread, have_same_collectives
from burstline.merge.align.anchors import are_at_odds, renamed
from burstline.merge.align.loops import loops_of
from burstline.merge.model import STAGES, Alignment, Matching, Published
from burstline.merge.published import ComparedBursts, match_published, unlikeness
from burstline.model import FINALIZES, INITS, Trace
from burstline.progress import SILENCE, Progress

METHODS: Final = ("align", "seed")
_AHEAD: Final = 64
"""Threads of the program that are begun before one is waited for."""


def match(
    traces: Sequence[Trace],
    *,
    method: str = "align",
    options: Alignment | Published | None = None,
    base: int | None = None,
    threads: int | None = None,
    progress: Progress = SILENCE,
) -> Matching:
    """Find the bursts that several runs of one program have in common.

    Parameters
    ----------
    traces : sequence of Trace
        At least two runs, with as many ranks.
    method : str
        ``align``: in the program's order, by what the calls before bursts did (the
        default). ``seed``: the published one, by operations before and after.
    options : Alignment or Published, optional
        Of the method.
    base : int, optional
        The run that the others are compared to; by default the one of which the smallest
        share is unmatched. Of a cut run and a whole one that would be the cut one: ``align``
        takes the base from the runs that begin and end most ranks, and if none of them is
        whole, that which lacks least of the others; ``seed`` is as published.
    threads : int, optional
        Threads to use; by default as many as this process may run on.
    progress : Progress
        Counts the threads that have been matched.

    Returns
    -------
    Matching
        Every burst of every run stands in exactly one row, if all runs have its thread.

    Raises
    ------
    ParameterError
        If there is no such method or base, options are of the other method, or there are
        fewer than two runs.
    InconsistentTraceError
        If runs differ in their ranks.
    NotEnoughDataError
        If no thread has bursts.

    Notes
    -----
    ``align``: O(n log n) in the bursts where runs are alike; never crosses, but for
    completions of several requests and bursts that changed places with a neighbour. It is
    wrong where neighbours are alike in all but time and one of them is missing: which one
    cannot be known. ``seed``: O(n log n), and O(block) per burst the patterns leave. It is
    wrong where an extra burst shifts a pattern whose frequency is equal by accident, and
    where an extra collective shifts all spans behind it. At the peak about 230 bytes for
    each burst of any run, what is read of its trace included.
    The published method: Orteu Aubach et al., *Heuristic-Based Merging of HPC Traces to
    Extend Hardware Counter Coverage*.

    Examples
    --------
    >>> from burstline.testing import trace_of
    >>> lines = [f"{9 * k} enter MPI_Barrier | {9 * k + 2} leave" for k in range(4)]
    >>> runs = [trace_of("ranks 1 | 0 | " + " | ".join(lines)) for _ in range(2)]
    >>> matching = match(runs)
    >>> matching.match_rate.tolist(), matching.pairs["stage"].to_pylist()
    ([1.0, 1.0], ['direct', 'direct', 'direct'])
    """
    if method not in METHODS:
        raise ParameterError(f"{method} is no method of matching; methods are align and seed")
    if len(traces) < 2:
        raise ParameterError("matching wants at least two runs")
    kind = Alignment if method == "align" else Published
    if options is not None and not isinstance(options, kind):
        raise ParameterError(f"options of {method} are of the class {kind.__name__}")
    if base is not None and not 0 <= base < len(traces):
        raise ParameterError(f"there is no run {base} of {len(traces)} to be the base")
    keys, bounds = _shared_threads(traces)
    naming = tokens_of(traces, [loops_of(trace) for trace in traces])
    tokens = naming.tokens
    how = kind() if options is None else options
    if isinstance(how, Alignment):
        at_once = threads_allowed(threads)
        members, stage = _aligned_rows(tokens, bounds, how, at_once, progress)
    else:
        members, stage = match_published(tokens, bounds, how)
    thread, place = _places_on_threads(members, bounds)
    order = np.lexsort((place, thread))
    rows = _MatchedRows(traces, tokens, how, members[order], stage[order])
    return rows.matching(method, (keys, thread[order]), naming, base=base)


def _shared_threads(traces: Sequence[Trace]) -> tuple[Integers, list[Integers]]:
    """Application, rank and thread of threads in all runs, and first and last row per run."""
    spans = []
    for trace in traces:
        columns = trace.arrays("locations", "application", "rank", "thread")
        offsets = trace.offsets("bursts")
        keys = (key.tolist() for key in columns)
        rows = zip(zip(*keys, strict=True), offsets[:-1], offsets[1:], strict=True)
        spans.append({key: (first, last) for key, first, last in rows})
    sizes = [len({key[:2] for key in run}) for run in spans]
    if len(set(sizes)) > 1:
        counted = ", ".join(f"run {run}: {size}" for run, size in enumerate(sizes))
        raise InconsistentTraceError(
            f"the runs have different numbers of ranks ({counted}): only runs of the same "
            "program on as many ranks can be matched"
        )
    shared = sorted(key for key in spans[0] if all(key in other for other in spans[1:]))
    used = [key for key in shared if any(run[key][0] < run[key][1] for run in spans)]
    if not used:
        raise NotEnoughDataError("the runs have no bursts on any thread that all of them have")
    bounds = [np.array([run[key] for key in used], np.int64) for run in spans]
    return np.array(used, np.int64), bounds


def _missing_ends(trace: Trace) -> int:
    """How many ranks do not begin MPI, plus how many do not end it: 0 of a whole run."""
    (process,) = codes(trace.arrays("locations", "application", "rank"))
    ranks = len(np.unique(process))
    operation, names = coded(trace.calls["operation"])
    (location,) = trace.arrays("calls", "location")
    missing = 0
    for ends in (INITS, FINALIZES):
        calls = np.isin(operation, [names.index(name) for name in ends if name in names])
        missing += ranks - len(np.unique(process[location[calls]]))
    return missing


def _aligned_rows(
    tokens: Sequence[Tokens],
    bounds: Sequence[Integers],
    how: Alignment,
    at_once: int,
    progress: Progress,
) -> tuple[Integers, npt.NDArray[np.uint8]]:
    """Members and stages of all rows, aligned from the run with the fewest bursts on."""
    sizes = [int(np.diff(of_run).sum()) for of_run in bounds]
    order = np.argsort(sizes, kind="stable").tolist()
    threads = list(zip(*(of_run.tolist() for of_run in bounds), strict=True))

    def match_all(named: Sequence[Tokens], *, anchored: bool) -> list[ThreadRows]:
        """The matched rows of each thread, aligned alone."""
        progress.step("Matching", len(threads), "threads")
        align = partial(align_thread, named, order=order, how=how, anchored=anchored)
        results = []
        for rows in in_order(align, threads, at_once, ahead=_AHEAD):
            results.append(rows)
            progress.advance(1)
        return results

    has_anchors = have_same_collectives(tokens, bounds)
    matched = match_all(tokens, anchored=has_anchors)
    if not has_anchors and are_at_odds(matched, tokens, bounds):
        named = renamed(tokens, bounds, order, how)
        if named is not None:
            matched = match_all(named, anchored=True)
    members = np.concatenate([rows.members for rows in matched])
    stage = np.concatenate([rows.stage for rows in matched])
    return members, stage.max(axis=1)


def _places_on_threads(
    members: Integers, bounds: Sequence[Integers]
) -> tuple[Integers, Integers]:
    """The thread of each row, and which burst of it in the first run that has it."""
    thread = np.zeros(len(members), np.int64)
    place = np.full(len(members), -1, np.int64)
    for run, spans in enumerate(bounds):
        begins = np.argsort(spans[:, 0], kind="stable")
        has = (members[:, run] >= 0) & (place < 0)
        rows = members[has, run]
        of = begins[np.searchsorted(spans[begins, 0], rows, side="right") - 1]
        thread[has], place[has] = of, rows - spans[of, 0]
    return thread, place


class _MatchedRows:
    """The rows of a matching: which burst of each run they hold, and how it was matched."""

    def __init__(
        self,
        traces: Sequence[Trace],
        tokens: Sequence[Tokens],
        how: Alignment | Published,
        members: Integers,
        stage: npt.NDArray[np.uint8],
    ) -> None:
        self._traces, self._tokens, self._how = traces, tokens, how
        self._members = members
        self._shared = (members >= 0).sum(axis=1) >= 2
        self._stage = np.where(self._shared, stage, 0).astype(np.uint8)

    def matching(
        self,
        method: str,
        places: tuple[Integers, Integers],
        naming: Naming,
        *,
        base: int | None,
    ) -> Matching:
        """The matching, with the base that was asked for or the run best matched."""
        runs = range(len(self._traces))
        has = self._members >= 0
        bursts = has.sum(axis=0)
        matched = (has & self._shared[:, None]).sum(axis=0)
        pairs = ((has[:, ours] & has[:, theirs]).sum() for ours in runs for theirs in runs)
        shared = np.fromiter(pairs, np.int64).reshape(len(runs), -1)
        missing = np.array([_missing_ends(trace) for trace in self._traces])
        if base is None:
            unmatched = 1 - matched / np.maximum(bursts, 1)
            eligible = bursts > 0
            if method == "align":
                eligible &= missing == missing[eligible].min()
                if missing[eligible].min():
                    unmatched = -(shared / np.maximum(bursts, 1)).sum(axis=1)
            base = int(np.argmin(np.where(eligible, unmatched, 2.0)))
        times = [self._durations(run) for run in runs]
        stages = [np.bincount(self._stage[has[:, run]], minlength=len(STAGES)) for run in runs]
        return Matching(
            method=method,
            pairs=self._pairs(*places, base),
            bursts=bursts,
            matched=matched,
            time_ns=np.array([time.sum() for time in times]),
            matched_ns=np.array(
                [time[self._shared[has[:, run]]].sum() for run, time in enumerate(times)]
            ),
            base=base,
            by_stage=np.stack(stages),
            shared=shared,
            missing_ends=missing,
            patterns=self._patterns(naming.patterns),
            has_paths=naming.has_paths,
            has_loops=naming.has_loops,
        )

    def _durations(self, run: int) -> Integers:
        start, end = self._traces[run].arrays("bursts", "start_ns", "end_ns")
        rows = self._members[self._members[:, run] >= 0, run]
        return np.asarray(end[rows] - start[rows])

    def _pairs(self, keys: Integers, thread: Integers, base: int) -> pa.Table:
        columns: dict[str, pa.Array] = {
            name: pa.array(keys[thread, place].astype(np.int32))
            for name, place in (("rank", 1), ("thread", 2), ("application", 0))
        }
        for run, trace in enumerate(self._traces):
            has = self._members[:, run] >= 0
            (burst,) = trace.arrays("bursts", "burst")
            values = placed(burst[self._members[has, run]], has, len(has))
            columns[f"burst_{run}"] = pa.array(values, mask=~has)
        indices = pa.array(self._stage.astype(np.int8))
        columns["stage"] = pa.DictionaryArray.from_arrays(indices, list(STAGES))
        similarity = self._similarity(base)
        columns["similarity"] = pa.array(similarity, mask=~self._shared)
        return pa.table(columns)

    def _similarity(self, base: int) -> Floats:
        """The largest S between the base's burst, or the first there is, and others."""
        runs = [base, *(run for run in range(len(self._tokens)) if run != base)]
        largest = np.zeros(len(self._members))
        for first, ours in enumerate(runs[:-1]):
            leads = self._shared & (self._members[:, ours] >= 0)
            leads &= (self._members[:, runs[:first]] < 0).all(axis=1)
            for theirs in runs[first + 1 :]:
                rows = np.flatnonzero(leads & (self._members[:, theirs] >= 0))
                base_side, other_side = (
                    _compared_by(self._tokens[run], self._members[rows, run], self._how)
                    for run in (ours, theirs)
                )
                values = unlikeness(base_side, other_side, self._how.weights)
                largest[rows] = np.maximum(largest[rows], values)
        return largest

    def _patterns(self, patterns: Sequence[tuple[str, str]]) -> pa.Table:
        columns: dict[str, pa.Array] = {
            "before": pa.array([before for before, _ in patterns], pa.string()),
            "after": pa.array([after for _, after in patterns], pa.string()),
        }
        missing = np.zeros(len(patterns), np.int64)
        for run, tokens in enumerate(self._tokens):
            has = self._members[:, run] >= 0
            pattern = tokens.pattern[self._members[has, run]]
            all_of = np.bincount(pattern, minlength=len(patterns))
            matched = np.bincount(pattern[self._shared[has]], minlength=len(patterns))
            columns[f"bursts_{run}"], columns[f"matched_{run}"] = map(
                pa.array, (all_of, matched)
            )
            missing += all_of - matched
        return pa.table(columns).take(pa.array(np.argsort(-missing, kind="stable")))


def _compared_by(tokens: Tokens, rows: Integers, how: Alignment | Published) -> ComparedBursts:
    """What the method compares: aligning asks only what the call before did."""
    sides = [0, 1] if isinstance(how, Published) else [0]
    sized = sides if isinstance(how, Published) and how.both_sizes else [0]
    return ComparedBursts(
        tokens.place[rows],
        [tokens.sizes[side][rows] for side in sized],
        [tokens.partners[side][rows] for side in sides],
    )
