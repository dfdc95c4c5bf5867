"""Phases of a run, and the signature made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from burstline.columns import Integers, Mask, prefix_sums
from burstline.errors import InconsistentTraceError, ParameterError, plural
from burstline.model import BLOCKING_SENDS, CODES, IMMEDIATE_SENDS, Trace
from burstline.signature.cut import cut_of, demands_of
from burstline.signature.estimate import Prediction, predict
from burstline.signature.events import Events, events_of
from burstline.signature.loops import loops
from burstline.signature.model import Measurement, Phase, Process, Signature, Stamps
from burstline.signature.occurrences import Occurrences
from burstline.signature.published import epas, pas2p
from burstline.signature.windows import ENOUGH, MOST, early_end, windows_of

METHODS: Final = ("loops", "epas", "pas2p")
"""How phases can be found."""
Method = Literal["loops", "epas", "pas2p"]
_PARTS: Final = 20  # of the run, each about as long as an early part
_LEAST_WITHIN: Final = 0.001
_NODES: Final = 8  # that are named
_LEAST_PARTS: Final = 4
_SENDS: Final = (*BLOCKING_SENDS, *IMMEDIATE_SENDS)
_SLACK: Final = 0.05  # of the events, that a cut which nothing crosses may be later


@dataclass(frozen=True, slots=True, eq=False)
class Phases:
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
    """

    signature: Signature
    prediction: Prediction
    seed_predicted_ns: tuple[int, ...]

    @property
    def classes(self) -> tuple[tuple[int, ...], ...]:
        """Ranks that have the same relevant phases, equally often."""
        alike: dict[tuple[tuple[str, int], ...], list[int]] = {}
        for process in self.signature.processes:
            key = ((each.name, each.weight) for each in process.phases if each.is_relevant)
            alike.setdefault(tuple(key), []).append(process.rank)
        return tuple(map(tuple, alike.values()))

    def as_dict(self) -> dict[str, Any]:
        """The phases as JSON output."""
        signature = self.signature
        rows = zip(
            signature.processes, self.prediction.estimates, self.seed_predicted_ns, strict=True
        )
        chosen = signature.of_rank(signature.representative)
        return {
            "method": signature.method,
            "work_counter": signature.work_counter,
            "options": dict(signature.facts),
            "processes": [
                {
                    "rank": process.rank,
                    "events": process.events,
                    "phases": len(process.phases),
                    "relevant": sum(phase.is_relevant for phase in process.phases),
                    "once": sum(phase.weight == 1 for phase in process.phases),
                    "seed_predicted_ns": published,
                    "predicted_ns": estimate.predicted_ns,
                    "interval_ns": list(estimate.interval_ns),
                    "usable": estimate.usable,
                    "reason": estimate.reason or None,
                    "actual_ns": process.span_ns,
                    "error": estimate.error,
                    "coverage": process.coverage,
                    "cut": process.cut,
                    "early_ns": process.early_ns,
                }
                for process, estimate, published in rows
            ],
            "representative": signature.representative,
            "classes": [list(ranks) for ranks in self.classes],
            "crossing": signature.crossing,
            "phases": [
                {
                    "id": number,
                    "name": phase.name,
                    "weight": phase.weight,
                    "mean_ns": round(phase.mean_ns),
                    "share": phase.total_ns / max(chosen.span_ns, 1),
                    "events": phase.events,
                    "relevant": phase.is_relevant,
                }
                for number, phase in enumerate(chosen.phases, 1)
            ],
        }


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
    events = events_of(trace, application)
    way = _Way(method, similarity, key, min_share, within, windows)
    signature = _signature([trace], [events], way)
    own = _measurement(signature, events)
    prediction = replace(
        predict(signature, own, estimator="mean"), representative=signature.representative
    )
    published = [
        sum(phase.total_ns for phase in process.phases if phase.is_relevant)
        for process in signature.processes
    ]
    return Phases(signature, prediction, tuple(published))


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
    messages may be on their way, which `crossing` counts.

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
    runs = [events_of(trace, application) for trace in traces]
    _require_same_calls(runs)
    way = _Way(method, similarity, key, min_share, within, windows)
    return _signature(traces, runs, way)


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


class _Way(NamedTuple):
    """How phases are found, and which of their occurrences are measured."""

    method: Method
    similarity: float | None
    key: Literal["operation", "full"]
    min_share: float
    within: float
    windows: int

    def require(self) -> None:
        """Refuse what is outside of its domain."""
        if self.method not in METHODS:
            raise ParameterError(f"no method {self.method!r}; there are {', '.join(METHODS)}")
        for name in ("min_share", "within"):
            if not 0 <= getattr(self, name) <= 1:
                raise ParameterError(
                    f"{name} is a share of the run, 0 to 1, got {getattr(self, name)}"
                )
        if self.similarity is not None and not 0 < self.similarity <= 1:
            raise ParameterError(f"similarity is above 0, at most 1, got {self.similarity}")
        if self.windows < 1:
            raise ParameterError(f"at least 1 window is measured, not {self.windows}")

    def facts(self, found: Sequence[Occurrences]) -> dict[str, str]:
        """The choices that were made, for people; the least similarity that was compared by."""
        used = [each.similarity for each in found if each.similarity is not None]
        made = self._asdict() | {"similarity": f"{min(used):.4g}" if used else None}
        return {name: str(value) for name, value in made.items() if value is not None}


def _signature(traces: Sequence[Trace], runs: Sequence[Events], way: _Way) -> Signature:
    way.require()
    base = runs[0]
    found = _occurrences(traces[0], base, way)
    relevant = [_relevant(base, *each, way.min_share) for each in enumerate(found)]
    counts, crossing = _cut(traces[0], base, found, relevant, way.within)
    every = [
        tuple(
            _process(events, number, each, relevant[number], (int(counts[number]), way.windows))
            for number, each in enumerate(found)
        )
        for events in runs
    ]
    processes = tuple(_mean(each) for each in zip(*every, strict=True))
    chosen = _median_span(processes) if way.method == "loops" else _least_error(processes)
    signature = Signature(
        method=way.method,
        work_counter=base.work_counter,
        full=base.full,
        representative=chosen.rank,
        span_ns=chosen.span_ns,
        runs=len(runs),
        spread=None,
        drift=_root_mean_square([_drift(events, found) for events in runs]),
        crossing=crossing,
        processes=processes,
        facts=way.facts(found) | _origin(traces[0]),
    )
    if len(runs) < 2:
        return signature
    return replace(signature, spread=_spread(signature, runs, every))


def _origin(trace: Trace) -> dict[str, str]:
    """What the base run was, for people: its name and its machines."""
    nodes = sorted({node for node in trace.locations["node"].to_pylist() if node})
    shown = ", ".join(nodes[:_NODES]) + ", …" * (len(nodes) > _NODES)
    name = trace.metadata.get("path", "").rpartition("/")[2]
    return {"base": name, "nodes": shown}


def _occurrences(trace: Trace, events: Events, way: _Way) -> list[Occurrences]:
    processes = range(len(events.ranks))
    if way.method == "epas":
        return [
            epas(events, process, similarity=way.similarity, key=way.key)
            for process in processes
        ]
    if way.method == "pas2p":
        found = pas2p(trace, events, similarity=way.similarity, key=way.key)[0]
        return [_present(each) for each in found]
    # A loop is opened if its early iterations would take longer than the early part.
    fewest = max(ceil(ENOUGH / max(way.within, _LEAST_WITHIN)), 2 * ENOUGH)
    return [
        loops(trace, events, process, min_share=way.min_share, min_iterations=fewest)
        for process in processes
    ]


def _present(found: Occurrences) -> Occurrences:
    """The same without the phases of other processes alone, which keep their names."""
    there, phase = np.unique(found.phase, return_inverse=True)
    names = tuple(found.names[number] for number in there.tolist())
    return replace(found, phase=phase, names=names)


def _durations(events: Events, process: int, found: Occurrences) -> Integers:
    boundaries = events.boundaries(process)
    return boundaries[found.end] - boundaries[found.begin]


def _relevant(events: Events, process: int, found: Occurrences, min_share: float) -> Mask:
    """Which phases take their share of the run, (phases,)."""
    total = np.bincount(found.phase, _durations(events, process, found), len(found.names))
    return total >= min_share * events.spans()[process]


def _cut(
    trace: Trace,
    events: Events,
    found: Sequence[Occurrences],
    relevant: Sequence[Mask],
    within: float,
) -> tuple[Integers, int]:
    """How many events each process makes, and how many messages are on their way then."""
    spans, total = events.spans(), np.diff(events.begin)
    shares = []
    for number, (each, mask) in enumerate(zip(found, relevant, strict=True)):
        boundaries = events.boundaries(number)
        end = early_end(each, boundaries, int(spans[number]), mask, within)
        shares.append((end - int(boundaries[0])) / max(int(spans[number]), 1))
    # All stop at about the same moment, which is late enough for each of them.
    moments = events.init_ns + np.ceil(min(max(shares), 1.0) * spans).astype(np.int64)
    wanted = np.array(
        [
            np.clip(np.searchsorted(events.boundaries(number), moment), 1, total[number])
            for number, moment in enumerate(moments.tolist())
        ]
    )
    most = np.minimum(wanted + np.ceil(_SLACK * total).astype(np.int64), total)
    cut = cut_of(demands_of(trace, events), wanted, most)
    return np.minimum(cut.counts, total), cut.crossing


def _process(
    events: Events, number: int, found: Occurrences, relevant: Mask, ends: tuple[int, int]
) -> Process:
    """The signature of a process that stops at a cut, by the times of a run."""
    cut, most = ends
    boundaries = events.boundaries(number)
    begin, end = boundaries[found.begin], boundaries[found.end]
    late = np.maximum(end - np.maximum(begin, boundaries[cut]), 0)
    duration = end - begin
    kinds = len(found.names)
    weight = np.bincount(found.phase, minlength=kinds)
    sums = [
        np.bincount(found.phase, values, kinds)
        for values in (
            found.end - found.begin,
            duration,
            late,
            late / np.maximum(duration, 1) + (duration == 0) * (found.begin >= cut),
        )
    ]
    phases = tuple(
        Phase(name, n, events_in / n, round(total), round(late_ns), late_n, is_relevant)
        for name, n, events_in, total, late_ns, late_n, is_relevant in zip(
            found.names, *(each.tolist() for each in (weight, *sums, relevant)), strict=True
        )
    )
    chosen = windows_of(found, relevant, cut, most)
    counts = np.unique(np.concatenate([found.begin[chosen], found.end[chosen], [cut]]))
    counts = counts[counts > 0]
    return Process(
        rank=int(events.ranks[number]),
        events=events.count(number),
        cut=cut,
        span_ns=int(events.spans()[number]),
        early_ns=int(boundaries[cut] - boundaries[0]),
        phases=phases,
        phase=found.phase[chosen].astype(np.int64),
        begin=found.begin[chosen],
        end=found.end[chosen],
        base_ns=duration[chosen],
        counts=counts,
        hashes=events.hashes(number)[counts],
    )


def _mean(runs: Sequence[Process]) -> Process:
    """A process by the mean times of base runs that make the same calls; windows by medians."""
    first = runs[0]
    if len(runs) == 1:
        return first
    phases = tuple(
        of_runs[0]._replace(
            total_ns=round(np.mean([each.total_ns for each in of_runs])),
            late_ns=round(np.mean([each.late_ns for each in of_runs])),
            late_weight=float(np.mean([each.late_weight for each in of_runs])),
        )
        for of_runs in zip(*(run.phases for run in runs), strict=True)
    )
    # A window of microseconds that was disturbed in one run would lie off in the mean of all.
    base_ns = np.median([run.base_ns for run in runs], axis=0).astype(np.int64)
    spans, early = ([getattr(run, name) for run in runs] for name in ("span_ns", "early_ns"))
    return replace(
        first,
        span_ns=round(np.mean(spans)),
        early_ns=round(np.mean(early)),
        phases=phases,
        base_ns=base_ns,
    )


def _median_span(processes: Sequence[Process]) -> Process:
    """The process that ran for the median time, the lower one of two."""
    order = sorted(processes, key=lambda each: (each.span_ns, each.rank))
    return order[(len(order) - 1) // 2]


def _least_error(processes: Sequence[Process]) -> Process:
    """The process that its phases predict best, as published: the choice knows the outcome."""
    return min(processes, key=lambda each: (abs(1 - each.coverage), each.rank))


def _measurement(signature: Signature, events: Events) -> Measurement:
    """What a signature run would have measured, had it been this run."""
    return Measurement(
        tuple(
            Stamps(
                process.rank,
                process.counts,
                events.boundaries(number)[process.counts],
                int(events.init_ns[number]),
                int(events.finalize_ns[number]),
            )
            for number, process in enumerate(signature.processes)
        ),
        0,
        {},
    )


def _drift(events: Events, found: Sequence[Occurrences]) -> float:
    """How far parts as long as the early one lie from a steady course, on the worst process."""
    return max(_unsteadiness(events, *each) for each in enumerate(found))


def _unsteadiness(events: Events, number: int, found: Occurrences) -> float:
    """The standard deviation of the speed of parts of a process, as a share."""
    if not len(found.phase):
        return 0.0
    duration = _durations(events, number, found).astype(float)
    weight = np.bincount(found.phase, minlength=len(found.names))
    mean = np.bincount(found.phase, duration, len(found.names)) / np.maximum(weight, 1)
    usual = mean[found.phase]
    of_part = np.minimum(np.cumsum(usual) / max(usual.sum(), 1e-9) * _PARTS, _PARTS - 1)
    part = of_part.astype(np.int64)
    speed = np.bincount(part, duration, _PARTS) / np.maximum(
        np.bincount(part, usual, _PARTS), 1
    )
    speed = speed[np.bincount(part, minlength=_PARTS) > 0]
    if len(speed) < _LEAST_PARTS:
        return 0.0
    # Around a line: a steady change is the program's own. Differences from part to part alone
    # would miss what is slower than a part, such as a machine whose speed wanders.
    course = np.arange(len(speed))
    rest = speed - np.polyval(np.polyfit(course, speed, 1), course)
    return float(np.sqrt((rest**2).sum() / (len(speed) - 2)))


def _spread(
    signature: Signature, runs: Sequence[Events], every: Sequence[tuple[Process, ...]]
) -> float:
    """How far each base run predicts the others wrongly, root mean square of the shares."""
    errors = []
    for one, processes in enumerate(every):
        by_one = replace(signature, processes=processes, runs=1, spread=None)
        for other, events in enumerate(runs):
            if other != one:
                measured = _measurement(signature, events)
                error = predict(by_one, measured, estimator="ratio").estimate.error
                errors.append(error or 0.0)
    return _root_mean_square(errors)


def _root_mean_square(values: Sequence[float]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def _require_same_calls(runs: Sequence[Events]) -> None:
    first = runs[0]
    for which, other in enumerate(runs[1:], 2):
        if not np.array_equal(first.ranks, other.ranks):
            raise InconsistentTraceError(
                f"run 1 has {plural(len(first.ranks), 'rank')}, run {which} has "
                f"{len(other.ranks)}: a signature is of one program with one number of ranks"
            )
        for number, rank in enumerate(first.ranks.tolist()):
            if first.count(number) != other.count(number):
                raise InconsistentTraceError(
                    f"rank {rank} makes {plural(first.count(number), 'call')} in run 1 and "
                    f"{other.count(number):,} in run {which}: a signature is of one program "
                    "with one input"
                )
            if first.full == other.full and (
                first.hashes(number)[-1] != other.hashes(number)[-1]
            ):
                raise InconsistentTraceError(
                    f"rank {rank} makes other calls in run {which} than in run 1: a signature "
                    "is of one program with one input"
                )
