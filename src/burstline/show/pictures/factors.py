"""The variable-factor map as a picture: SVG or PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from burstline.show.pictures.canvas import GREY, PALE, blank, drawn, safe
from burstline.show.units import format_share, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from burstline.columns import Floats
    from burstline.structure import FactorMap

_BLUE: Final = "#0072B2"
_SIZE, _DOTS = (8.0, 6.0), 200
_REACH: Final = 1.85
"""Half the width of the plane: the circle has radius 1, names are beside it."""

_APART, _BESIDE = 0.11, 0.06
_TITLE: Final = 60


def factor_plot(factors: FactorMap, *, form: Literal["svg", "png"], title: str = "") -> bytes:
    """Draw variables as arrows in the plane of the first two principal components.

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

    Notes
    -----
    The longer an arrow, the more of its variable the plane holds; on the circle it holds all
    of it. Arrows in one direction go together, opposite ones against each other.
    """
    with blank(_SIZE) as figure:
        plane = figure.add_axes((0.11, 0.09, 0.87, 0.81))
        _draw_circle(plane, factors.explained.tolist())
        ends = factors.correlation[:, :2]
        if ends.shape[1] < 2:
            ends = np.column_stack([ends[:, 0], np.zeros(len(ends))])
        for name, end, at in zip(factors.names, ends, _names_at(ends), strict=True):
            _draw_variable(plane, name, end.tolist(), at.tolist())
        about = "How the features of calls go together"
        figure.text(
            0.03,
            0.965,
            safe(f"{about}: {title}" if title else about, limit=_TITLE),
            weight="bold",
        )
        figure.text(0.03, 0.93, f"{plural(factors.rows, 'row')}", color=GREY, fontsize=9.5)
        return drawn(figure, form=form, dots=_DOTS)


def _draw_circle(plane: Axes, explained: Sequence[float]) -> None:
    from matplotlib.patches import Circle  # noqa: PLC0415 -- an extra

    plane.set(xlim=(-_REACH, _REACH), ylim=(-1.2, 1.2), aspect="equal")
    plane.add_patch(Circle((0, 0), 1, fill=False, edgecolor=PALE))
    for draw in (plane.axhline, plane.axvline):
        draw(0, color=PALE, linewidth=0.8, linestyle=(0, (4, 3)))
    ticks = [-1, -0.5, 0, 0.5, 1]
    plane.set_xticks(ticks)
    plane.set_yticks(ticks)
    plane.spines[["top", "right"]].set_visible(False)
    shares = [*explained, 0.0]
    plane.set_xlabel(f"correlation with component 1 ({format_share(shares[0])})")
    plane.set_ylabel(f"correlation with component 2 ({format_share(shares[1])})")


def _names_at(ends: Floats) -> Floats:
    """Where names are written: beside the ends of their arrows, none on another."""
    at = ends + np.where(ends[:, :1] < 0, -_BESIDE, _BESIDE) * [1, 0]
    for side in (ends[:, 0] < 0, ends[:, 0] >= 0):
        own = np.flatnonzero(side)
        own = own[np.argsort(ends[own, 1], kind="stable")]
        stacks: list[list[float]] = []
        for height in ends[own, 1].tolist():
            stacks.append([height])
            while (
                len(stacks) > 1 and _heights(stacks[-1])[0] - _heights(stacks[-2])[-1] < _APART
            ):
                above = stacks.pop()
                stacks[-1] += above
        at[own, 1] = [height for stack in stacks for height in _heights(stack)]
    return at


def _heights(stack: Sequence[float]) -> list[float]:
    """The heights of names that are written one above another, around their mean."""
    lowest = sum(stack) / len(stack) - _APART * (len(stack) - 1) / 2
    return [lowest + _APART * number for number in range(len(stack))]


def _draw_variable(plane: Axes, name: str, end: Sequence[float], at: Sequence[float]) -> None:
    plane.annotate(
        "",
        (end[0], end[1]),
        xytext=(0, 0),
        arrowprops={"arrowstyle": "-|>", "color": _BLUE, "shrinkA": 0, "shrinkB": 0},
    )
    plane.plot([end[0], at[0]], [end[1], at[1]], color=PALE, linewidth=0.6, zorder=1)
    plane.text(
        at[0],
        at[1],
        safe(name, limit=_TITLE),
        ha="right" if end[0] < 0 else "left",
        va="center",
        fontsize=9.5,
    )
