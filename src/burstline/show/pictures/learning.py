"""Predictions as a picture: predicted against measured, errors, importance; SVG or PNG."""

from __future__ import annotations

from typing import Final

import numpy as np

from burstline.errors import plural
from burstline.quantities import format_count, format_ns
from burstline.show.pictures.canvas import DARK, GREY, Axes, Form, blank, drawn, safe
from burstline.studies import Learned, Score

_COLOURS: Final = {"base": "#D55E00", "merged": "#0072B2", "reliable": "#009E73"}
_OTHER: Final = "#8C8C8C"
_DOTS: Final = 200
_MOST_POINTS: Final = 3_000
_MOST_FEATURES: Final = 12
_NAME: Final = 34
_NS: Final = "ns"


def learn_plot(found: Learned, *, form: Form) -> bytes:
    """Draw predictions over what was measured, the errors of all sets, and importance.

    Up to 3,000 bursts are drawn, evenly chosen; errors are means over folds with their
    standard deviation.

    Parameters
    ----------
    found : Learned
        What is to be shown.
    form : {"svg", "png"}
        Kind of picture.

    Returns
    -------
    bytes
        The picture, the same for the same input and version of Matplotlib.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> from burstline.studies import learn
    >>> work = np.random.default_rng(1).integers(100, 10_000, 200)
    >>> columns = {"rank": np.arange(200) % 4, "duration_ns": 3 * work, "IR_LD_INS": work}
    >>> learned = learn({"a": pa.table(columns)}, features="base")
    >>> learn_plot(learned, form="png")[1:4]
    b'PNG'
    """
    shown = [one for one in found.scores if one.name in {"base", "merged"}]
    with blank((13.0, 4.8), {"font.size": 9.5}) as figure:
        _draw_bursts(figure.add_axes((0.08, 0.13, 0.265, 0.70)), found, shown)
        _draw_errors(figure.add_axes((0.435, 0.13, 0.17, 0.70)), found)
        _draw_importance(figure.add_axes((0.80, 0.13, 0.18, 0.70)), found)
        title = f"How well bursts are predicted: {found.target}"
        figure.text(0.02, 0.945, safe(title, limit=80), weight="bold", fontsize=12)
        about = f"{plural(len(found.measured), 'burst')}, {found.groups} groups by {found.by}"
        figure.text(0.02, 0.90, about, color=GREY)
        return drawn(figure, form=form, dots=_DOTS)


def _draw_bursts(plane: Axes, found: Learned, shown: list[Score]) -> None:
    step = max(1, -(-len(found.measured) // _MOST_POINTS))
    measured = found.measured[::step]
    for one in shown:
        color, values = _COLOURS[one.name], one.predicted[::step]
        plane.plot(measured, values, ".", color=color, ms=3, alpha=0.5, label=one.name)
    ends = [float(np.min(found.measured)), float(np.max(found.measured))]
    plane.plot(ends, ends, color=DARK, linewidth=0.8)
    if found.is_log:
        _logarithmic(plane, found.unit)
    is_said = not found.unit or (found.is_log and found.unit == _NS)
    unit = "" if is_said else f" ({found.unit})"
    plane.set_xlabel(f"measured{unit}")
    plane.set_ylabel(f"predicted{unit}")
    plane.legend(frameon=False, loc="upper left", markerscale=3)


def _logarithmic(plane: Axes, unit: str) -> None:
    """Make both axes logarithmic, with numbers that people read."""
    from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: PLC0415 -- an extra

    def name(value: float, _: int) -> str:
        return format_ns(round(value)) if unit == _NS else format_count(value)

    plane.set_xscale("log")
    plane.set_yscale("log")
    for axis in (plane.xaxis, plane.yaxis):
        axis.set_major_formatter(FuncFormatter(name))
        axis.set_minor_formatter(NullFormatter())


def _draw_errors(plane: Axes, found: Learned) -> None:
    scores = found.scores[::-1]
    places = np.arange(len(scores))
    plane.barh(
        places,
        [one.mean for one in scores],
        xerr=[one.spread for one in scores],
        color=[_COLOURS.get(one.name, _OTHER) for one in scores],
        ecolor=DARK,
        height=0.6,
    )
    plane.set_yticks(places, [one.name for one in scores])
    plane.set_xlim(left=0)
    plane.set_xlabel("mean error")


def _draw_importance(plane: Axes, found: Learned) -> None:
    best = list(found.importance.items())[:_MOST_FEATURES][::-1]
    places = np.arange(len(best))
    plane.barh(places, [value for _, value in best], color=_COLOURS["merged"], height=0.6)
    plane.set_yticks(places, [safe(name, limit=_NAME) for name, _ in best])
    plane.set_xlabel("error rises by, if shuffled")
