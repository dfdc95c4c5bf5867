"""The variable-factor map as a picture: SVG or PNG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from burstline.columns import Floats
from burstline.errors import plural
from burstline.quantities import format_share
from burstline.show.pictures.canvas import GREY, PALE, Axes, Form, blank, drawn, safe
from burstline.studies import FactorMap

_BLUE: Final = "#0072B2"
_SIZE, _DOTS = (8.0, 6.0), 200
_REACH: Final = 1.85  # half the width of the plane: names are beside a circle of radius 1
_APART, _BESIDE = 0.11, 0.06
_TITLE: Final = 60


def factor_plot(factors: FactorMap, *, form: Form, title: str = "") -> bytes:
    """Draw variables as arrows in the plane of the first two principal components.

    The longer an arrow, the more of its variable the plane holds; on the circle it holds all
    of it. Arrows in one direction go together, opposite ones against each other.

    Parameters
    ----------
    factors : FactorMap
        What is to be shown.
    form : {"svg", "png"}
        Kind of picture.
    title : str
        What the picture is of; any text.

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
    >>> from burstline.structure import detect
    >>> from burstline.studies import factor_map, features
    >>> from burstline.testing import trace_of
    >>> names = ["MPI_Send", "MPI_Barrier", "MPI_Barrier"]
    >>> calls = [(k * k, names[k % 3], k % 2) for k in range(1, 16)]
    >>> steps = [f"{k} enter {name} path {path} | {k + 1} leave" for k, name, path in calls]
    >>> paths = "path 0 main file a.c line 3 | path 1 main file a.c line 4"
    >>> trace = trace_of(f"ranks 1 | {paths} | 0 | {' | '.join(steps)}")
    >>> factors = factor_map(features(trace, detect(trace).found_in))
    >>> factor_plot(factors, form="png")[1:4]
    b'PNG'
    """
    with blank(_SIZE) as figure:
        plane = figure.add_axes((0.11, 0.09, 0.87, 0.81))
        _draw_circle(plane, factors.explained.tolist())
        ends = factors.correlation[:, :2]
        if ends.shape[1] < 2:
            ends = np.column_stack([ends[:, 0], np.zeros(len(ends))])
        for name, end, at in zip(factors.names, ends, _names_at(ends), strict=True):
            _draw_variable(plane, name, end.tolist(), at.tolist())
        about = "How the features of calls go together" + f": {title}" * bool(title)
        figure.text(0.03, 0.965, safe(about, limit=_TITLE), weight="bold")
        figure.text(0.03, 0.93, plural(factors.rows, "row"), color=GREY, fontsize=9.5)
        return drawn(figure, form=form, dots=_DOTS)


def _draw_circle(plane: Axes, explained: Sequence[float]) -> None:
    from matplotlib.patches import Circle  # noqa: PLC0415 -- an extra

    plane.set(xlim=(-_REACH, _REACH), ylim=(-1.2, 1.2), aspect="equal")
    plane.add_patch(Circle((0, 0), 1, fill=False, edgecolor=PALE))
    for draw in (plane.axhline, plane.axvline):
        draw(0, color=PALE, linewidth=0.8, linestyle=(0, (4, 3)))
    axes = (plane.xaxis, plane.yaxis)
    for number, (axis, share) in enumerate(zip(axes, [*explained, 0.0], strict=False), 1):
        axis.set_ticks([-1, -0.5, 0, 0.5, 1])
        axis.set_label_text(f"correlation with component {number} ({format_share(share)})")


def _names_at(ends: Floats) -> Floats:
    """Where names are written: beside the ends of their arrows, none on another."""
    at = ends + np.where(ends[:, :1] < 0, -_BESIDE, _BESIDE) * [1, 0]
    for side in (ends[:, 0] < 0, ends[:, 0] >= 0):
        rows = np.flatnonzero(side)
        rows = rows[np.argsort(ends[rows, 1], kind="stable")]
        stacks: list[list[float]] = []
        for height in ends[rows, 1].tolist():
            stacks.append([height])
            while stacks[1:] and _heights(stacks[-1])[0] - _heights(stacks[-2])[-1] < _APART:
                above = stacks.pop()
                stacks[-1] += above
        at[rows, 1] = [height for stack in stacks for height in _heights(stack)]
    return at


def _heights(stack: Sequence[float]) -> list[float]:
    """The heights of names that are written one above another, around their mean."""
    lowest = sum(stack) / len(stack) - _APART * (len(stack) - 1) / 2
    return [lowest + _APART * number for number in range(len(stack))]


def _draw_variable(plane: Axes, name: str, end: Sequence[float], at: Sequence[float]) -> None:
    arrow = {"arrowstyle": "-|>", "color": _BLUE, "shrinkA": 0, "shrinkB": 0}
    plane.annotate("", (end[0], end[1]), xytext=(0, 0), arrowprops=arrow)
    plane.plot([end[0], at[0]], [end[1], at[1]], color=PALE, linewidth=0.6, zorder=1)
    side = "right" if end[0] < 0 else "left"
    plane.text(at[0], at[1], safe(name, limit=_TITLE), ha=side, va="center", fontsize=9.5)
