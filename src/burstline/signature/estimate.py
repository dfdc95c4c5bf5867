"""The time of a run, predicted from what a signature measured of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median_low
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from burstline.columns import Floats
from burstline.errors import InconsistentTraceError, ParameterError, plural
from burstline.signature.model import Measurement, Phase, Process, Signature, Stamps
from burstline.values import Contract, Documented

ESTIMATORS: Final = ("ratio", "mean")
"""How an early part tells of the rest: by what it took on both machines, or by its mean."""
_TWO_SIDES: Final = 2.0  # standard errors of 95 %
_STUDENT: Final = (4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""The same where the error itself is told by few values: of 2, 3, … degrees of freedom."""
_USABLE: Final = 0.5  # of a prediction: an interval that is wider says too little
_LEAST_NOISE: Final = 0.01  # of the time: what two runs of a quiet machine differ by
_LONGEST_NS: Final = 2**63 - 1


class Measured(NamedTuple):
    """What the windows of a phase took on the target."""

    windows: int
    mean_ns: float
    ratio: float  # to what the same windows took on the base machine: the median
    error: float  # standard error of the ratio, or of the mean as a share of it


@dataclass(frozen=True, slots=True)
class Estimate(Documented):
    """The predicted run of one process, from MPI_Init to MPI_Finalize."""

    rank: int
    predicted_ns: int
    half_width_ns: int  # of the interval of 95 %
    # mean x weight of all relevant phases; None: not all measured
    seed_predicted_ns: int | None
    early_ns: int  # up to the cut, as measured
    rest_ns: int  # after it, in no phase that was measured: scaled as all phases together
    measured_ns: int  # in windows
    set_ns: int  # one mean time of each phase that was measured
    phases: tuple[Measured | None, ...]  # as in the signature; None without a window
    actual_ns: int | None  # of a full run
    reason: str = ""  # why the interval is too wide to be of use; empty if it is not

    @property
    def usable(self) -> bool:
        """Whether the interval is no wider than half of the prediction."""
        return not self.reason

    @property
    def interval_ns(self) -> tuple[int, int]:
        """What the time lies between, in 95 of 100 cases: not less than was run already."""
        low, high = (self.predicted_ns + side * self.half_width_ns for side in (-1, 1))
        return max(low, self.early_ns), high

    @property
    def error(self) -> float | None:
        """(predicted - actual) / actual, if the run was made and took any time."""
        if not self.actual_ns:
            return None
        return (self.predicted_ns - self.actual_ns) / self.actual_ns

    @property
    def error_of_prediction(self) -> float | None:
        """(predicted - actual) / predicted, as published, if the run was made."""
        if self.actual_ns is None or not self.predicted_ns:
            return None
        return (self.predicted_ns - self.actual_ns) / self.predicted_ns

    CONTRACT: ClassVar[Contract] = (
        *("rank", "predicted_ns", "interval_ns", "usable"),
        ("reason", lambda self: self.reason or None),
        *("seed_predicted_ns", "early_ns", "rest_ns", "set_ns", "measured_ns"),
        *("actual_ns", "error"),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Prediction(Documented):
    """The time of a run on a machine where only its signature ran.

    Attributes
    ----------
    signature : Signature
        What was measured, and what it took on the base machine.
    estimator : str
        ``ratio`` or ``mean``.
    estimates : tuple of Estimate
        Of each process, in the order of ranks.
    representative : int
        The rank whose estimate is that of the run.
    wall_ns : int
        How long the signature run took, with its start and its end.
    """

    signature: Signature
    estimator: str
    estimates: tuple[Estimate, ...]
    representative: int
    wall_ns: int

    @property
    def estimate(self) -> Estimate:
        """The estimate of the run: that of its representative."""
        return next(each for each in self.estimates if each.rank == self.representative)

    @property
    def process(self) -> Process:
        """What was measured of the representative."""
        return self.signature.of_rank(self.representative)

    def _phases(self) -> list[dict[str, Any]]:
        rows = zip(self.process.phases, self.estimate.phases, strict=True)
        return [
            {
                "id": number,
                "name": phase.name,
                "weight": phase.weight,
                "windows": measured.windows,
                "mean_ns": round(measured.mean_ns),
                "ratio": measured.ratio,
            }
            for number, (phase, measured) in enumerate(rows, 1)
            if measured is not None
        ]

    CONTRACT: ClassVar[Contract] = (
        *(("method", "signature.method"), "estimator", ("**", "estimate")),
        ("error_of_prediction", "estimate.error_of_prediction"),
        ("set_share", lambda self: self.estimate.set_ns / max(self.estimate.predicted_ns, 1)),
        *("wall_ns", ("coverage", "process.coverage"), ("base_ns", "process.span_ns")),
        *("representative", ("phases", _phases), ("processes", "estimates")),
    )


def predict(
    signature: Signature, *measurements: Measurement, estimator: str | None = None
) -> Prediction:
    """The time of a run from what its signature measured.

    The part before the cut is taken as measured. Each relevant phase after it is predicted by
    its windows; what lies in no phase is scaled as all phases together.

    Parameters
    ----------
    signature : Signature
        Of the base run, or runs.
    *measurements : Measurement
        What `burstline signature run` measured: of the same ranks. Of several runs, the result
        is the mean of what each predicts, and the interval is narrower if these are alike.
    estimator : {"ratio", "mean"}, optional
        ``ratio`` (default of `loops`): what the phase took on the base machine, times what the
        windows took by the same windows there, of which the median is taken: disturbances of
        seconds do not move it. Later occurrences differ from the windows as they do on the base
        machine, as far as that is more than noise; so a phase whose occurrences grow is
        predicted, too. ``mean`` (default of `epas` and `pas2p`): the mean of the windows times
        the number of occurrences, as published [1]_.

    Returns
    -------
    Prediction
        Of each process and of the run, with an interval of 95 %.

    Raises
    ------
    ParameterError
        If there is no such estimator, or nothing was measured.
    InconsistentTraceError
        If the measurement is of other ranks, lacks a boundary, or tells of a time that no run
        takes.

    Notes
    -----
    Linear in the windows, but for their sorting. The interval holds the spread of the windows,
    and how far base runs predict each other, wider where these are few (Student's t), and, as
    one run more, how far parts of a run as long as the early one lie from a steady course, and
    how far signature runs lie apart. It reaches to what the mean of the ratios would predict,
    which is right where a few windows are slow in every run. It knows nothing of a target that
    is disturbed only later.

    References
    ----------
    .. [1] F. Tirado, A. Wong, D. Rexachs, E. Luque, "Scalable performance analysis method for
       SPMD applications", 2022.

    Examples
    --------
    >>> from burstline.signature import Measurement, Stamps, predict, signature_of
    >>> from burstline.testing import trace_of
    >>> steps = [f"{100 * k + 90} enter MPI_Barrier | {100 * k + 100} leave" for k in range(40)]
    >>> ends = "0 enter MPI_Init | 0 leave", "4000 enter MPI_Finalize | 4001 leave"
    >>> trace = trace_of(" | ".join(["ranks 1", "0", ends[0], *steps, ends[1]]))
    >>> found = signature_of([trace])
    >>> counts = found.processes[0].counts
    >>> twice = Measurement((Stamps(0, counts, 200 * counts, 0, None),), 1000, {})
    >>> predict(found, twice).estimate.predicted_ns
    8000
    """
    if estimator is None:
        estimator = "ratio" if signature.method == "loops" else "mean"
    if estimator not in ESTIMATORS:
        raise ParameterError(f"no estimator {estimator!r}; there are {', '.join(ESTIMATORS)}")
    if not measurements:
        raise ParameterError("predict takes a signature and at least one measurement of it")
    for number, each in enumerate(measurements, 1):
        which = "the measurement" if len(measurements) == 1 else f"measurement {number}"
        _require_same_ranks(signature, each, which)
    noise = _run_noise(signature)
    alone = (
        [
            _estimate_process(process, stamps, estimator, noise)
            for process, stamps in zip(signature.processes, each.stamps, strict=True)
        ]
        for each in measurements
    )
    shared = _shared_processors(measurements)
    estimates = tuple(_mean_of(signature, runs, shared) for runs in zip(*alone, strict=True))
    _require_times(estimates)
    chosen = signature.representative
    if signature.method == "loops":
        _, chosen = median_low((each.predicted_ns, each.rank) for each in estimates)
    wall_ns = round(np.mean([each.wall_ns for each in measurements]))
    return Prediction(signature, estimator, estimates, chosen, wall_ns)


def _mean_of(signature: Signature, runs: Sequence[Estimate], shared: str) -> Estimate:
    """What several signature runs predict of a process, which is the mean; how sure that is."""

    def mean(name: str) -> int:
        return round(np.mean([getattr(run, name) for run in runs], dtype=float))

    def mean_of_known(name: str) -> int | None:
        return None if any(getattr(run, name) is None for run in runs) else mean(name)

    predicted_ns = mean("predicted_ns")
    apart = np.array([run.predicted_ns / max(predicted_ns, 1) - 1 for run in runs])
    by_windows = np.linalg.norm([float(run.half_width_ns) for run in runs]) / len(runs)
    half = np.hypot(by_windows, _interval_width(signature, apart) * predicted_ns)
    found = Estimate(
        rank=runs[0].rank,
        predicted_ns=predicted_ns,
        half_width_ns=round(float(half)),
        seed_predicted_ns=mean_of_known("seed_predicted_ns"),
        early_ns=mean("early_ns"),
        rest_ns=mean("rest_ns"),
        measured_ns=mean("measured_ns"),
        set_ns=mean("set_ns"),
        phases=tuple(map(_mean_of_phase, zip(*(run.phases for run in runs), strict=True))),
        actual_ns=mean_of_known("actual_ns"),
    )
    low, high = found.interval_ns
    if high - low <= _USABLE * predicted_ns:
        return found
    share = (high - low) / max(predicted_ns, 1)
    reason = _most_of_width(signature, apart, float(by_windows) / max(predicted_ns, 1))
    return replace(
        found,
        reason=f"the interval is {share:.0%} of the prediction wide, above all because {reason}"
        + shared,
    )


def _most_of_width(signature: Signature, apart: Floats, by_windows: float) -> str:
    """What makes an interval wide above all, as a sentence's end."""
    runs, within = signature.runs, early_drift(signature)
    course = _TWO_SIDES * within * float(np.sqrt(1 / len(apart) + 1 / runs))
    between = _TWO_SIDES * float(np.linalg.norm(apart)) / len(apart)
    widths = {
        f"occurrences of a phase last unequally: their mean is known within {by_windows:.0%} "
        "only": by_windows,
        "parts of the base run as long as the measured one differ in speed, by a standard "
        f"deviation of {signature.drift:.0%}": course,
        f"signature runs lie apart, up to {np.abs(apart).max():.0%} from their mean": between,
    }
    if runs > 1:
        spread = signature.spread or 0.0
        by_runs = _STUDENT[min(runs - 2, len(_STUDENT) - 1)] * spread
        by_runs *= float(np.sqrt((runs - 1) / runs * (1 + 1 / runs) / 2))
        widths[f"base runs predict each other wrongly by {spread:.0%} (root mean square)"] = (
            by_runs
        )
    return max(widths, key=lambda reason: widths[reason])


def _shared_processors(measurements: Sequence[Measurement]) -> str:
    """What is to be added where ranks may have shared processors; empty if not, or unknown."""
    for each in measurements:
        processors = each.facts.get("processors", "")
        if processors.isdecimal() and 0 < int(processors) < len(each.stamps):
            return (
                f"; {len(each.stamps)} ranks share the processors, {int(processors)}, if all "
                "of them ran on the machine that started them: their times vary by that"
            )
    return ""


def _mean_of_phase(runs: Sequence[Measured | None]) -> Measured | None:
    """What the windows of a phase took in several runs, which all have it or all do not."""
    known = [run for run in runs if run is not None]
    if not known:
        return None
    _, mean_ns, ratio, _ = np.mean(known, axis=0)
    error = float(np.linalg.norm([run.error for run in known])) / len(known)
    return Measured(known[0].windows, float(mean_ns), float(ratio), error)


def _run_noise(signature: Signature) -> float:
    """The standard error by which another run differs from the base runs, as a share.

    Base runs tell it, and, as one more of them would, how much parts of one differ. The spread
    is how two runs differ; another run differs less from the mean of all.
    """
    runs = signature.runs
    squares = (runs - 1) * (signature.spread or 0.0) ** 2 + 2 * early_drift(signature) ** 2
    return float(np.sqrt(squares / runs * (1 + 1 / runs) / 2))


def early_drift(signature: Signature) -> float:
    """How far a part of a run as long as the early one lies off, as a share of its time."""
    return max(signature.drift, _LEAST_NOISE)


def _interval_width(signature: Signature, apart: Floats) -> float:
    """Half of the interval by what is known of runs, as a share of the time.

    However alike base runs are, the target is known by early parts alone. These lie off by as
    much as others do, or by as much more as signature runs lie apart from their mean.
    """
    within, runs, measured = early_drift(signature), signature.runs, len(apart)
    of_target = max(within**2, (within**2 + float((apart**2).sum())) / measured)
    least = _TWO_SIDES * float(np.sqrt(of_target / measured + within**2 / runs))
    if runs < 2:
        return least
    return max(least, _STUDENT[min(runs - 2, len(_STUDENT) - 1)] * _run_noise(signature))


def _require_same_ranks(signature: Signature, measurement: Measurement, which: str) -> None:
    """Raise if what was measured, which the error names, is not of this signature."""
    ours = [process.rank for process in signature.processes]
    theirs = [stamps.rank for stamps in measurement.stamps]
    if ours != theirs:
        raise InconsistentTraceError(
            f"the signature is of {plural(len(ours), 'rank')}, {which} of {len(theirs)}: "
            "run the signature with as many ranks as the base run had"
        )
    for process, stamps in zip(signature.processes, measurement.stamps, strict=True):
        if not np.isin(process.counts, stamps.counts).all():
            raise InconsistentTraceError(
                f"{which} is of another signature: rank {process.rank} was not stamped at all "
                "of its boundaries"
            )


def _require_times(estimates: Sequence[Estimate]) -> None:
    """Raise if a run of the program would take a time that no run takes."""
    for each in estimates:
        if not 0 <= each.predicted_ns <= each.interval_ns[1] <= _LONGEST_NS:
            raise InconsistentTraceError(
                f"rank {each.rank} would take {each.predicted_ns:.3g} ns, as no run does: the "
                "signature and what was measured are of different programs, or one is damaged"
            )


def _estimate_process(
    process: Process, stamps: Stamps, estimator: str, noise: float
) -> Estimate:
    """What one signature run predicts of a process; the interval is by its windows alone."""
    times = (stamps.at(process.end) - stamps.at(process.begin)).astype(float)
    base = process.base_ns.astype(float)
    measured = tuple(
        _measured_windows(
            times[process.phase == number], base[process.phase == number], estimator
        )
        for number in range(len(process.phases))
    )
    early_ns = int(stamps.at(np.array([process.cut]))[0] - stamps.init_ns)
    late, before, errors = 0.0, 0.0, 0.0
    for number, (phase, windows) in enumerate(zip(process.phases, measured, strict=True)):
        if windows is None or not phase.is_relevant:
            continue
        time = phase.late_weight * windows.mean_ns
        before_cut = base[process.phase == number]
        if estimator == "ratio" and before_cut.any():
            time = phase.late_weight * windows.ratio * float(before_cut.mean())
            time *= _late_growth(phase, before_cut, noise)
        late += time
        before += phase.late_ns
        errors += (time * windows.error) ** 2
    if before > 0:
        ratio = late / before
    else:
        ratio = early_ns / process.early_ns if process.early_ns else 1.0
    left = process.span_ns - process.early_ns - before
    predicted = early_ns + late + left * ratio
    actual = None if stamps.finalize_ns is None else stamps.finalize_ns - stamps.init_ns
    return Estimate(
        rank=process.rank,
        predicted_ns=round(predicted),
        half_width_ns=round(_TWO_SIDES * float(np.sqrt(errors))),
        seed_predicted_ns=_published_sum(process, measured),
        early_ns=early_ns,
        rest_ns=round(left * ratio),
        measured_ns=round(times.sum()),
        set_ns=round(sum(each.mean_ns for each in measured if each is not None)),
        phases=measured,
        actual_ns=actual,
    )


def _late_growth(phase: Phase, base: Floats, noise: float) -> float:
    """How much longer an occurrence after the cut takes than a window, by the base run.

    A difference that noise may be is not handed on: of two runs, each has its own.
    """
    early, late = float(base.mean()), phase.late_ns / max(phase.late_weight, 1e-9)
    if early <= 0 or late <= 0:
        return 1.0
    change = float(np.log(late / early))
    return float(np.exp(change * change**2 / (change**2 + noise**2)))


def _published_sum(process: Process, measured: Sequence[Measured | None]) -> int | None:
    """The sum of mean x weight over relevant phases, without what lies outside of them."""
    total = 0.0
    for phase, windows in zip(process.phases, measured, strict=True):
        if phase.is_relevant and windows is None:
            return None
        if phase.is_relevant and windows is not None:
            total += phase.weight * windows.mean_ns
    return round(total)


def _measured_windows(times: Floats, base: Floats, estimator: str) -> Measured | None:
    if not len(times):
        return None
    mean, ratio = float(times.mean()), _usual_ratio(times, base)
    # Of occurrences that differ by the program, only what differs from the base run is unsure.
    expected = ratio * base if estimator == "ratio" else np.full(len(times), mean)
    error = _standard_error(times, expected)
    if estimator == "ratio" and base.any():
        by_mean = float(times.sum() / base.sum())
        error = max(error, abs(by_mean / max(ratio, 1e-9) - 1) / _TWO_SIDES)
    return Measured(len(times), mean, ratio, error)


def _usual_ratio(times: Floats, base: Floats) -> float:
    """The median of what windows took by what they did on the base machine, weighed by that."""
    known = base > 0
    if not known.any():
        return 1.0
    ratios, weights = times[known] / base[known], base[known]
    low, high = (
        side * np.quantile(side * ratios, 0.5, weights=weights, method="inverted_cdf")
        for side in (1, -1)
    )
    return float(low + high) / 2


def _standard_error(times: Floats, expected: Floats) -> float:
    """How unsure the mean is of times that differ from expected ones, as a share of it."""
    windows = len(times)
    if windows < 2:
        return 0.0
    deviation = float(np.sqrt(((times - expected) ** 2).sum() / (windows - 1)))
    return deviation / np.sqrt(windows) / max(float(expected.mean()), 1.0)
