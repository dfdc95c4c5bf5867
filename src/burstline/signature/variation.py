"""How far runs differ: parts of one from each other, and base runs in what they predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from burstline.columns import Integers
from burstline.signature.estimate import predict
from burstline.signature.events import Occurrences
from burstline.signature.model import Measurement, Process, Signature

_PARTS: Final = 20  # of the run, each about as long as an early part
_LEAST_PARTS: Final = 4


def drift_of(runs: Sequence[Sequence[float]]) -> float:
    """How unsteady the worst process of each run is, root mean square over runs."""
    return _root_mean_square([max(run) for run in runs])


def unsteadiness(found: Occurrences, boundaries: Integers) -> float:
    """The standard deviation of the speed of parts of a process, as a share."""
    if not len(found.phase):
        return 0.0
    duration = found.durations(boundaries).astype(float)
    weight = found.weights
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


def spread_of(
    signature: Signature, every: Sequence[tuple[Process, ...]], measured: Sequence[Measurement]
) -> float:
    """How far each base run predicts the others wrongly, root mean square of the shares."""
    errors = []
    for one, processes in enumerate(every):
        by_one = replace(signature, processes=processes, runs=1, spread=None)
        for other, measurement in enumerate(measured):
            if other != one:
                error = predict(by_one, measurement, estimator="ratio").estimate.error
                errors.append(error or 0.0)
    return _root_mean_square(errors)


def _root_mean_square(values: Sequence[float]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
