"""How long the program takes on another machine, as runs of its signature there tell."""

from __future__ import annotations

from typing import Final

from burstline.quantities import format_ns
from burstline.show.page.html import blocks
from burstline.show.page.report import Report, Section, needed
from burstline.show.signature import PredictionView
from burstline.signature import Prediction

NAME: Final = "prediction"
LABEL: Final = "Prediction"
EMPTY: Final = "Nothing is predicted"


def is_given(report: Report) -> bool:
    """Whether the page has this section at all."""
    return report.prediction is not None


def section(report: Report) -> Section:
    """The predicted time, what it rests on, and its phases."""
    assert report.prediction is not None  # noqa: S101 -- else there is no section
    prediction = needed(report.prediction)
    return Section(
        _title(prediction), blocks(PredictionView(prediction).blocks()), prediction.as_dict()
    )


def _title(prediction: Prediction) -> str:
    estimate = prediction.estimate
    predicted, low, high = map(format_ns, (estimate.predicted_ns, *estimate.interval_ns))
    if not estimate.usable:
        return "The runs of the signature do not tell how long the program takes there"
    return f"Where its signature ran, the program takes {predicted}, between {low} and {high}"
