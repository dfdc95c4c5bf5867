"""Phases of a run, and the signature made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median_low
from typing import Any, ClassVar, Final, Literal

import numpy as np

from burstline.columns import prefix_sums
from burstline.errors import ParameterError, plural
from burstline.model import BLOCKING_SENDS, CODES, IMMEDIATE_SENDS, Trace
from burstline.signature.cut import place_cut
from burstline.signature.estimate import Prediction, predict
from burstline.signature.events import events_of, require_events, require_same_calls
from burstline.signature.model import Measurement, Signature
from burstline.signature.processes import (
    Method,
    Options,
    ProcessSource,
    Signed,
    source_in_parts,
    source_of,
)
from burstline.signature.variation import drift_of, spread_of
from burstline.signature.windows import MOST, mean_process
from burstline.structure import Parts
from burstline.values import Contract, Documented

_NODES: Final = 8  # that are named
_SENDS: Final = (*BLOCKING_SENDS, *IMMEDIATE_SENDS)


@dataclass(frozen=True, slots=True, eq=False)
class Phases(Documented):
    """The phases of a run, and how well its early part predicts the whole.

    Attributes
    ----------
    signature : Signature
        The phases of each process, and what a signature run would measure.
    prediction : Prediction
        Made of these windows as they were in this run: by their means, for their ratio to
        themselves is 1 and proves nothing.
    seed_predicted_ns : tuple of int
        Of each process, the published sum over all occurrences of its relevant phases.
    functions : tuple of (str or None)
        The function that computes most in each phase of the representative, where samples of
        its threads say so.
    """

    signature: Signature
    prediction: Prediction
    seed_predicted_ns: tuple[int, ...]
    functions: tuple[str | None, ...]

    @property
    def classes(self) -> tuple[tuple[int, ...], ...]:
        """Ranks that have the same relevant phases, equally often."""
        alike: dict[tuple[tuple[str, int], ...], list[int]] = {}
        for process in self.signature.processes:
            key = ((each.name, each.weight) for each in process.phases if each.is_relevant)
            alike.setdefault(tuple(key), []).append(process.rank)
        return tuple(map(tuple, alike.values()))

    def __repr__(self) -> str:
        ranks = plural(self.signature.ranks, "rank")
        return f"<Phases of {ranks}, by method {self.signature.method!r}>"

    def _processes(self) -> list[dict[str, Any]]:
        return [
            {
                "rank": process.rank,
                "events": process.events,
                "phases": len(process.phases),
                "relevant": sum(phase.is_relevant for phase in process.phases),
                "once": sum(phase.weight == 1 for phase in process.phases),
                "seed_predicted_ns": published,
                "predicted_ns": estimate.predicted_ns,
                "interval_ns": estimate.interval_ns,
                "usable": estimate.usable,
                "reason": estimate.reason or None,
                "actual_ns": process.span_ns,
                "error": estimate.error,
                "coverage": process.coverage,
                "cut": process.cut,
                "early_ns": process.early_ns,
            }
            for process, estimate, published in zip(
                self.signature.processes,
                self.prediction.estimates,
                self.seed_predicted_ns,
                strict=True,
            )
        ]

    def _phases(self) -> list[dict[str, Any]]:
        chosen = self.signature.of_rank(self.signature.representative)
        return [
            {
                "id": number,
                "name": phase.name,
                "weight": phase.weight,
                "mean_ns": round(phase.mean_ns),
                "share": phase.total_ns / max(chosen.span_ns, 1),
                "events": phase.events,
                "relevant": phase.is_relevant,
                "function": function,
            }
            for number, (phase, function) in enumerate(
                zip(chosen.phases, self.functions, strict=True), 1
            )
        ]

    CONTRACT: ClassVar[Contract] = (
        *(("method", "signature.method"), ("work_counter", "signature.work_counter")),
        *(("options", "signature.facts"), ("processes", _processes)),
        *(("representative", "signature.representative"), "classes"),
        *(("crossing", "signature.crossing"), ("phases", _phases)),
    )


def phases(
    trace: Trace,
    *,
    method: Method = "loops",
    similarity: float | None = None,
    key: Literal["operation", "full"] = "operation",
    min_share: float = 0.01,
    within: float = 0.05,
    windows: int = MOST,
    application: int | None = None,
) -> Phases:
    """What each process of a run does again and again, and how well that predicts the run.

    Parameters
    ----------
    trace : Trace
        Its calls, bursts, messages and members of collectives are read.
    method : {"loops", "epas", "pas2p"}
        ``loops``: bodies of loops, and long stretches between them, by name and source line.
        ``epas``: the published phases of each process [1]_; ``pas2p``: those over all
        processes together, by a global logical time.
    similarity : float, optional
        `epas` and `pas2p`: the least quotient of the computation of two events that are alike;
        0.85 as published by default, less where the counter is noisy.
    key : {"operation", "full"}
        `epas` and `pas2p`: whether events are alike by operation alone, or by partner and
        communicator, too.
    min_share : float
        Part of the run that a relevant phase takes at least.
    within : float
        Part of the run that a signature run measures, if it meets enough phases by then.
    windows : int
        Occurrences of a phase that it measures at most.
    application : int, optional
        The application to look at; the one with MPI calls by default.

    Returns
    -------
    Phases
        With a prediction from the windows that a signature run would measure.

    Raises
    ------
    ParameterError
        If an argument is outside its domain, or several applications call MPI and none is
        chosen.
    NotEnoughDataError
        If there is no MPI call whose number a program decides.

    Notes
    -----
    About linear in the calls. The prediction is of the trace by an early part of itself: it
    tells whether that part stands for the run, not whether another machine is like this one.

    References
    ----------
    .. [1] F. Tirado, A. Wong, D. Rexachs, E. Luque, "Scalable performance analysis method for
       SPMD applications", 2022.

    Examples
    --------
    >>> from burstline.testing import trace_of
    >>> steps = [f"{100 * k + 90} enter MPI_Barrier | {100 * k + 100} leave" for k in range(40)]
    >>> ends = "0 enter MPI_Init | 0 leave", "4000 enter MPI_Finalize | 4001 leave"
    >>> trace = trace_of(" | ".join(["ranks 1", "0", ends[0], *steps, ends[1]]))
    >>> found = phases(trace)
    >>> [(phase.weight, phase.mean_ns) for phase in found.signature.processes[0].phases]
    [(40, 100.0)]
    >>> found.prediction.estimate.predicted_ns
    4000
    """
    options = Options(method, similarity, key, min_share, within, windows).checked()
    return _phases_of(source_of(trace, events_of(trace, application)), options)


def phases_by_parts(
    trace: Trace,
    parts: Parts,
    *,
    application: int | None = None,
    **options: Any,  # noqa: ANN401 -- as phases
) -> Phases:
    """The phases of a trace as :func:`phases` finds them, by its parts, each whole processes.

    The method ``pas2p`` looks at all processes together: it is none of parts.
    """
    asked = Options(**options).checked()
    return _phases_of(source_in_parts(trace, parts, application), asked)


def signature_of(
    traces: Sequence[Trace],
    *,
    method: Method = "loops",
    similarity: float | None = None,
    key: Literal["operation", "full"] = "operation",
    min_share: float = 0.01,
    within: float = 0.05,
    windows: int = MOST,
    application: int | None = None,
) -> Signature:
    """The signature of a program, from one base run or several.

    Parameters
    ----------
    traces : sequence of Trace
        Runs of one program with the same input; phases and windows are those of the first,
        times are means, and the differences tell how far runs differ.
    method, similarity, key, min_share, within, windows, application
        As :func:`burstline.phases` takes them.

    Returns
    -------
    Signature
        What a signature run measures, where it stops, and what the base run took.

    Raises
    ------
    ParameterError
        If there is no trace, or an argument is outside its domain.
    NotEnoughDataError
        If there is no MPI call whose number a program decides.
    InconsistentTraceError
        If the runs make different calls.

    Notes
    -----
    About linear in the calls. Every process stops at a cut that no message and no collective
    crosses, if there is one at most a twentieth of its calls behind the last window; else
    messages may be in flight, which `crossing` counts.

    Examples
    --------
    >>> from burstline.testing import trace_of
    >>> steps = [f"{100 * k + 90} enter MPI_Barrier | {100 * k + 100} leave" for k in range(40)]
    >>> trace = trace_of(" | ".join(["ranks 1 | 0 | 0 enter MPI_Init | 0 leave", *steps]))
    >>> signature_of([trace]).processes[0].cut
    4
    """
    if not traces:
        raise ParameterError("a signature is made of at least one run")
    options = Options(method, similarity, key, min_share, within, windows).checked()
    runs = [events_of(trace, application) for trace in traces]
    require_same_calls(runs)
    signature, _ = _make_signature(list(map(source_of, traces, runs)), options)
    return signature


def phase_table(trace: Trace, signature: Signature) -> list[tuple[int, int, int, int, int]]:
    """The published table of the representative's relevant phases, one row each.

    Sends before its first window begins, and before it ends; its number, twice; its weight.
    """
    process = signature.of_rank(signature.representative)
    events = events_of(trace)
    number = int(np.flatnonzero(events.ranks == process.rank)[0])
    is_send = np.isin(events.operation[events.of(number)], [CODES[name] for name in _SENDS])
    sends = prefix_sums(is_send)
    rows = []
    for phase, known in enumerate(process.phases):
        windows = np.flatnonzero(process.phase == phase)
        if known.is_relevant and len(windows):
            edges = sends[[process.begin[windows[0]], process.end[windows[0]]]]
            rows.append((*edges.tolist(), phase + 1, phase + 1, known.weight))
    return rows


def _phases_of(source: ProcessSource, options: Options) -> Phases:
    signature, [own] = _make_signature([source], options)
    measured = Measurement(tuple(each.stamps for each in own), 0, {})
    prediction = replace(
        predict(signature, measured, estimator="mean"), representative=signature.representative
    )
    published = [
        sum(phase.total_ns for phase in process.phases if phase.is_relevant)
        for process in signature.processes
    ]
    [functions] = [
        each.functions for each in own if each.process.rank == signature.representative
    ]
    return Phases(signature, prediction, tuple(published), functions)


def _make_signature(
    runs: Sequence[ProcessSource], options: Options
) -> tuple[Signature, list[list[Signed]]]:
    """The signature of some runs, and what each of them tells of its processes."""
    base = runs[0]
    found = base.courses(options)
    courses = [course for part in found for course in part]
    require_events(sum(course.events for course in courses))
    share = min(max(course.share for course in courses), 1.0)
    cut = place_cut(base.trace, partial(base.places, share))
    every = [run.signed(found, cut.counts, options.windows) for run in runs]
    processes = tuple(
        mean_process([each.process for each in of_runs]) for of_runs in zip(*every, strict=True)
    )
    if options.method == "loops":
        *_, chosen = median_low((each.span_ns, each.rank, each) for each in processes)
    else:  # predicted best, as published: the choice knows the outcome
        chosen = min(processes, key=lambda each: (abs(1 - each.coverage), each.rank))
    signature = Signature(
        method=options.method,
        work_counter=base.work_counter,
        full=all(course.full for course in courses),
        representative=chosen.rank,
        span_ns=chosen.span_ns,
        runs=len(runs),
        spread=None,
        drift=drift_of([[each.unsteadiness for each in run] for run in every]),
        crossing=cut.crossing,
        processes=processes,
        facts=options.facts(courses) | _origin_facts(base.trace),
    )
    if len(runs) > 1:
        measured = [Measurement(tuple(each.stamps for each in run), 0, {}) for run in every]
        by_run = [tuple(each.process for each in run) for run in every]
        signature = replace(signature, spread=spread_of(signature, by_run, measured))
    return signature, every


def _origin_facts(trace: Trace) -> dict[str, str]:
    """What the base run was, for people: its name and its machines."""
    nodes = sorted({node for node in trace.locations["node"].to_pylist() if node})
    shown = ", ".join(nodes[:_NODES]) + ", …" * (len(nodes) > _NODES)
    name = trace.metadata.get("path", "").rpartition("/")[2]
    return {"base": name, "nodes": shown}
