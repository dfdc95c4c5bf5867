"""The clustering plot as a picture: SVG or PNG."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from burstline.columns import Floats, Integers
from burstline.errors import plural
from burstline.show.pictures.canvas import GREY, Axes, Figure, Form, blank, drawn, safe
from burstline.show.pictures.cluster_layout import Layout, layout
from burstline.structure import IN_NO_LOOP, LEFT_OUT, Points, Structure, compact

# Okabe and Ito's palette, without the yellow and black: everybody tells them apart on white.
# Markers are as many as have no divisor in common with it: 42 loops look different.
_COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X")
_PALE, _LIGHT = "#8C8C8C", "#F3F3F3"
_LINES: Final = ("solid", (0, (6, 3)), (0, (2, 2)))
_BESIDE: Final[dict[str, Any]] = {
    "textcoords": "offset points",
    "color": GREY,
    "annotation_clip": False,
}
_TITLE: Final = 60
_SIZE, _GROWTH, _MOST_GROWN = 46.0, 0.9, 4
_MOST_NAMED: Final = 16

# Inches; 100 pixels each as the picture is meant to be looked at.
_WIDTH, _PLANE_HEIGHT, _LEGEND_ROW = 9.0, 4.6, 0.22
_LEFT, _RIGHT, _ABOVE, _BELOW = 0.95, 1.15, 0.8, 0.65
_PNG_DOTS: Final = 200

# Hundredths of an inch, for numbers of loops beside their points.
_TOGETHER, _CHARACTER, _HEIGHT, _DISTANCE, _POINT, _SPOT = 12.0, 8.0, 14.0, 11.0, 5.0, 20.0


def cluster_plot(points: Points, structure: Structure, *, form: Form, title: str = "") -> bytes:
    """Draw unique calls by repetitions and time between them, coloured by loop.

    Parameters
    ----------
    points : Points
        What is to be shown.
    structure : Structure
        The loops they belong to.
    form : {"svg", "png"}
        Kind of picture: 900 units wide, or 1,800 dots.
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
    NotEnoughDataError
        If there is no point.

    Examples
    --------
    >>> from burstline.structure import detect, points
    >>> from burstline.testing import trace_of
    >>> calls = " | ".join(f"{9 * k} enter MPI_Barrier | {9 * k + 2} leave" for k in range(8))
    >>> trace = trace_of(f"ranks 1 | 0 | {calls}")
    >>> structure = detect(trace)
    >>> cluster_plot(points(trace, structure), structure, form="png")[1:4]
    b'PNG'
    """
    plane = layout(points, structure, most=_MOST_NAMED)
    rows = (len(plane.legend) + bool(plane.unnamed) + 1) // 2
    size = _WIDTH, _ABOVE + _PLANE_HEIGHT + _BELOW + _LEGEND_ROW * rows
    with blank(size, {"axes.edgecolor": _PALE}) as figure, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        low = (size[1] - _ABOVE - _PLANE_HEIGHT) / size[1]
        wide, high = 1 - (_LEFT + _RIGHT) / _WIDTH, _PLANE_HEIGHT / size[1]
        drawing = figure.add_axes((_LEFT / _WIDTH, low, wide, high))
        _draw_plane(drawing, plane)
        sizes = _write_numbers(drawing, plane, points)
        for each in plane.loops:
            _draw_points(drawing, each.loop, points, sizes.get(each.loop, _SIZE))
        _write_legend(figure, drawing, plane)
        _write_title(figure, safe(title, limit=_TITLE), plane.heading)
        return drawn(figure, form=form, dots=_PNG_DOTS)


def _write_numbers(drawing: Axes, plane: Layout, points: Points) -> dict[int, float]:
    """Write the numbers of loops beside them; give each a size to be seen on the others."""
    from matplotlib import patheffects  # noqa: PLC0415 -- an extra

    size = 100 * (_WIDTH - _LEFT - _RIGHT), 100 * _PLANE_HEIGHT
    across, up = plane.fractions(points.repetitions, points.interval_ns)
    positions = np.stack([across, up], axis=1) * size
    for label in placed_labels(positions, points.loop, size):
        x, y, to = label.x / size[0], label.y / size[1], drawing.transAxes
        text = drawing.text(x, y, label.text, transform=to, va="center", zorder=4)
        text.set_path_effects([patheffects.withStroke(linewidth=2.5, foreground="white")])
    in_loops = points.loop > 0
    stacks = stacked(positions[in_loops], points.loop[in_loops])
    return {
        loop: _SIZE * (1 + _GROWTH * min(len(stack) - 1 - above, _MOST_GROWN))
        for stack in stacks
        for above, loop in enumerate(stack)
    }


def _draw_plane(drawing: Axes, plane: Layout) -> None:
    drawing.set(xscale="log", yscale="log", xlim=plane.x, ylim=plane.y)
    for axis, ticks in ((drawing.xaxis, plane.x_ticks), (drawing.yaxis, plane.y_ticks)):
        axis.set_ticks([value for value, _ in ticks], labels=[text for _, text in ticks])
        axis.set_ticks([], minor=True)
    drawing.grid(color="#E3E3E3", linewidth=0.6)
    drawing.set_axisbelow(True)
    drawing.set_xlabel("repetitions of a call on its rank")
    drawing.set_ylabel("mean time between two of them")
    x = np.array(plane.x)
    if plane.least is not None:
        below = plane.height(plane.least, x)
        drawing.fill_between(x, plane.y[0], below, color=_LIGHT, linewidth=0, zorder=0)
    for (share, text), dashes in zip(plane.curves, _LINES, strict=False):
        drawing.plot(x, plane.height(share, x), color=_PALE, linestyle=dashes, linewidth=1)
        end = x[1], plane.height(share, x[1])
        drawing.annotate(text, end, xytext=(6, 0), va="center", **_BESIDE)
    top = x[1], plane.run_ns / x[1]
    drawing.annotate("share of\nthe run", top, xytext=(6, 10), va="bottom", **_BESIDE)


def _look(loop: int, size: float) -> dict[str, Any]:
    """The marker of a loop as Matplotlib takes it."""
    if loop == IN_NO_LOOP:
        return {"color": "none", "marker": "o", "edgecolors": _PALE, "s": 30, "zorder": 2.5}
    if loop == LEFT_OUT:
        return {"color": "#A6A6A6", "marker": ".", "s": 30, "zorder": 2, "edgecolors": "none"}
    return {
        "color": _COLOURS[(loop - 1) % len(_COLOURS)],
        "marker": _MARKERS[(loop - 1) % len(_MARKERS)],
        "edgecolors": "white",
        "linewidths": 0.6,
        "s": size,
        "zorder": 3,
    }


def _draw_points(drawing: Axes, loop: int, points: Points, size: float) -> None:
    here = points.loop == loop
    look = _look(loop, size)
    x, y = points.repetitions[here], points.interval_ns[here]
    if (points.unique[here] > 1).any():
        ranges = np.stack([points.repetitions_range, points.interval_range_ns])[:, here]
        low, high = np.moveaxis(ranges, 2, 0)
        drawing.errorbar(
            x,
            y,
            xerr=np.abs([x - low[0], high[0] - x]),
            yerr=np.abs([y - low[1], high[1] - y]),
            fmt="none",
            ecolor=_PALE if look["color"] == "none" else look["color"],
            elinewidth=0.9,
            alpha=0.6,
            zorder=look["zorder"] - 0.1,
        )
    drawing.scatter(x, y, **look)


def _write_legend(figure: Figure, drawing: Axes, plane: Layout) -> None:
    entries = [
        (drawing.scatter([], [], **_look(each.loop, _SIZE)), each.name) for each in plane.legend
    ]
    if plane.unnamed:
        more = f"and {plural(plane.unnamed, 'shorter loop')}"
        entries.append((drawing.scatter([], [], s=0), more))
    figure.legend(
        [handle for handle, _ in entries],
        [text for _, text in entries],
        loc="lower left",
        bbox_to_anchor=(_LEFT / _WIDTH, 0.06 / figure.get_figheight()),
        ncols=2,
        frameon=False,
        borderaxespad=0,
        borderpad=0,
        labelspacing=0.35,
        handletextpad=0.3,
        columnspacing=2,
        fontsize=9.5,
    )


def _write_title(figure: Figure, title: str, subtitle: str) -> None:
    height = figure.get_figheight()
    left = 0.2 / _WIDTH
    about = "How often, and how far apart, calls return"
    first = f"{about}: {title}" if title else about
    figure.text(left, 1 - 0.22 / height, first, fontsize=12.5, weight="bold", va="center")
    figure.text(left, 1 - 0.47 / height, subtitle, fontsize=9.5, color=GREY, va="center")


class Label(NamedTuple):
    """Numbers of loops, as in ``2, 7..9``, with the position of the left end and middle."""

    text: str
    x: float
    y: float

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, lower, right and upper edge, as wide as digits usually are."""
        width = _CHARACTER * len(self.text)
        return self.x, self.y - _HEIGHT / 2, self.x + width, self.y + _HEIGHT / 2


def stacked(positions: Floats, loops: Integers) -> list[tuple[int, ...]]:
    """Group loops whose largest spots lie on each other.

    >>> stacked(np.array([[0.0, 0], [50, 0], [3, 4]]), np.array([1, 2, 3]))
    [(1, 3), (2,)]
    """
    groups: list[list[int]] = []
    centres: list[Floats] = []
    for loop in np.unique(loops).tolist():
        centre = _spot(positions[loops == loop]).mean(axis=0)
        near = (k for k, c in enumerate(centres) if np.hypot(*(c - centre)) < _TOGETHER)
        group = next(near, None)
        if group is None:
            groups.append([loop])
            centres.append(centre)
        else:
            groups[group].append(loop)
    return [tuple(group) for group in groups]


def _spot(points: Floats) -> Floats:
    """The points of a loop that lie together, where most of them do."""
    cells = np.floor(points / _SPOT)
    cell, count = np.unique(cells, axis=0, return_counts=True)
    middle = (cell[count.argmax()] + 0.5) * _SPOT
    return points[np.abs(points - middle).max(axis=1) <= _SPOT]


def placed_labels(
    positions: Floats, loops: Integers, size: tuple[float, float]
) -> tuple[Label, ...]:
    """Labels of loops that cover nothing: positions and size in hundredths of an inch."""
    inside = loops > 0
    placed: list[Label] = []
    for group in stacked(positions[inside], loops[inside]):
        of_group = _spot(positions[np.isin(loops, group)])
        text = compact(group)
        for label in _candidates(text, of_group):
            if _is_free(label, placed, positions, limits=size):
                placed.append(label)
                break
    return tuple(placed)


def _candidates(text: str, points: Floats) -> Sequence[Label]:
    """Places right of, left of, above and below a group, the nearest first."""
    (left, low), (right, high) = points.min(axis=0), points.max(axis=0)
    middle, width = (low + high) / 2, _CHARACTER * len(text)
    before, behind = left - _DISTANCE - width, right + _DISTANCE
    rise = _DISTANCE + _HEIGHT / 2
    centred = (left + right - width) / 2
    near = [(behind, middle), (before, middle), (centred, high + rise), (centred, low - rise)]
    corners = [(x, y) for x in (behind, before) for y in (high + rise, low - rise)]
    far = [(x, y + way * rise) for way in (1, -1) for x, y in corners]
    return [Label(text, float(x), float(y)) for x, y in (*near, *corners, *far)]


def _is_free(
    label: Label, placed: Sequence[Label], points: Floats, *, limits: tuple[float, float]
) -> bool:
    left, low, right, high = label.box
    if left < 0 or low < 0 or right > limits[0] or high > limits[1]:
        return False
    for other in placed:
        o_left, o_low, o_right, o_high = other.box
        if left < o_right and o_left < right and low < o_high and o_low < high:
            return False
    least, most = np.array([left, low]) - _POINT, np.array([right, high]) + _POINT
    return not ((points > least) & (points < most)).all(axis=1).any()
