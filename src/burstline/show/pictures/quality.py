"""How well counters repeat, as a picture: boxes, correlations, scatter plots."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from burstline.merge import DO_NOT_USE, TRUST, WITH_CARE, Check, CounterQuality, Spread
from burstline.quantities import format_share
from burstline.show.pictures.canvas import DARK, GREY, Axes, Figure, Form, blank, drawn, safe
from burstline.show.units import text_of
from burstline.values import AMOUNT, BYTES, TIME, Notation

_COLOURS: Final = {TRUST: "#009E73", WITH_CARE: "#E69F00", DO_NOT_USE: "#D55E00"}
_TITLE: Final = 100
_NAME: Final = 24
_DOTS: Final = 150
_DECADES: Final = 100.0  # values that span more are drawn on logarithmic axes
_MOST: Final = 16  # quantities drawn; a picture of more would be read by nobody

# Inches.
_WIDTH, _COLUMNS, _CELL, _ROW, _HEAD = 12.0, 4, 2.9, 0.24, 0.95
_LEFT, _GAP, _BELOW = 1.9, 0.75, 0.95
_MATRIX, _MARGIN = 8.15, 0.25


def drawn_of(found: Check) -> list[CounterQuality]:
    """What is drawn: the first 16 quantities that are not 0 throughout."""
    return [
        each
        for each in (*found.counters, *found.features)
        if each.name in found.names and (each.counted or each.appearing)
    ][:_MOST]


def quality_plot(found: Check, *, form: Form, title: str = "") -> bytes:
    """Draw how well runs agree.

    Boxes: relative difference of each run to the first, quartiles, whiskers to 1.5 times
    their distance; bursts beyond are not drawn. Matrix: correlation of the base (row) with
    the mean of the others (column). Scatter plots: the same two, up to 2,000 bursts.

    Parameters
    ----------
    found : Check
        What is to be shown: the first 16 quantities that are not 0 throughout.
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
    >>> from burstline.merge import check
    >>> from burstline.testing import trace_of
    >>> lines = [f"{9 * k} enter MPI_Barrier A={k} | {9 * k + 2} leave A=0" for k in range(9)]
    >>> runs = [trace_of("ranks 1 | counter A | 0 | " + " | ".join(lines)) for _ in range(2)]
    >>> quality_plot(check(runs), form="png")[1:4]
    b'PNG'
    """
    qualities = drawn_of(found)
    boxes = [(each, spread) for each in qualities for spread in each.per_run]
    rows = math.ceil(len(qualities) / _COLUMNS)
    upper = max(_ROW * max(len(boxes), 1.6 * len(qualities)) + 1.2, 2.6)
    height = _HEAD + upper + _BELOW + rows * (_CELL + 0.1)
    with blank((_WIDTH, height), {"font.size": 9}) as figure:
        _write_title(figure, found, title)
        _draw_boxes(_axes(figure, (_LEFT, _HEAD, 4.0, upper)), boxes)
        side = min(upper, _WIDTH - _MATRIX - _MARGIN)
        _draw_matrix(_axes(figure, (_MATRIX, _HEAD, side, side)), found, qualities)
        for number, each in enumerate(qualities):
            row, column = divmod(number, _COLUMNS)
            left = _GAP + column * _CELL
            above = _HEAD + upper + _BELOW + row * (_CELL + 0.1)
            plane = _axes(figure, (left, above, _CELL - 0.85, _CELL - 0.85))
            _draw_scatter(plane, each, *found.samples[found.names.index(each.name)])
        return drawn(figure, form=form, dots=_DOTS)


def _axes(figure: Figure, box: tuple[float, float, float, float]) -> Axes:
    """Axes at inches from the left and the top, so wide and high."""
    width, height = figure.get_size_inches().tolist()
    left, above, wide, high = box
    low = height - above - high
    return figure.add_axes((left / width, low / height, wide / width, high / height))


def _write_title(figure: Figure, found: Check, title: str) -> None:
    width, height = figure.get_size_inches().tolist()
    about = "How far counters can be trusted" + f": {title}" * bool(title)
    text = safe(about, limit=_TITLE)
    figure.text(0.3 / width, 1 - 0.3 / height, text, weight="bold", fontsize=11)
    matched = f"{format_share(found.match_rate)} of the bursts matched"
    said = f"{matched} ({found.matching.method}), base run {found.matching.base + 1}"
    figure.text(0.3 / width, 1 - 0.52 / height, said, color=GREY)
    for at, (verdict, colour) in zip((4.6, 5.3, 6.2), _COLOURS.items(), strict=True):
        figure.text(at / width, 1 - 0.52 / height, f"■ {verdict}", color=colour)


def _draw_boxes(plane: Axes, boxes: list[tuple[CounterQuality, Spread]]) -> None:
    plane.set_xlabel("relative difference to the first run, per burst")
    if not boxes:
        plane.set_yticks([])
        plane.text(0.5, 0.5, "nothing was counted", ha="center", transform=plane.transAxes)
        return
    stats = [
        {
            "med": spread.median,
            "q1": spread.lower,
            "q3": spread.upper,
            "whislo": spread.low,
            "whishi": spread.high,
            "label": safe(f"{each.name}, run {spread.run + 1}", limit=_NAME + 8),
        }
        for each, spread in boxes
    ]
    drawn = plane.bxp(
        stats, orientation="horizontal", showfliers=False, patch_artist=True, widths=0.6
    )
    for patch, (each, _) in zip(drawn["boxes"], boxes, strict=True):
        patch.set(facecolor=_COLOURS[each.verdict], alpha=0.75)
    for median in drawn["medians"]:
        median.set(color=DARK)
    across = plane.get_xaxis_transform()
    plane.axvline(0.3, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)))
    plane.text(0.3, 1.01, "30 %", color=GREY, ha="center", transform=across)
    plane.invert_yaxis()
    plane.set_xlim(left=-0.01)


def _draw_matrix(plane: Axes, found: Check, qualities: list[CounterQuality]) -> None:
    size = len(qualities)
    if not size:
        plane.set_axis_off()
        return
    plane.spines[:].set_visible(True)
    rows = [found.names.index(each.name) for each in qualities]
    matrix = found.matrix[np.ix_(rows, rows)]
    plane.imshow(np.ma.masked_invalid(matrix), vmin=-1, vmax=1, cmap="RdBu", aspect="equal")
    names = [safe(each.name, limit=_NAME) for each in qualities]
    plane.set_xticks(range(size), [str(number + 1) for number in range(size)])
    plane.set_yticks(range(size), [f"{name}  {k + 1}" for k, name in enumerate(names)])
    plane.set_title("correlation: base (row), mean of the others (column)", fontsize=9)
    plane.tick_params(length=0)
    centred: dict[str, Any] = {
        "ha": "center",
        "va": "center",
        "fontsize": 8 if size <= 8 else 6,
    }
    for (row, column), value in np.ndenumerate(matrix):
        text = "-" if np.isnan(value) else f"{value:.2f}"
        colour = "white" if abs(value) > 0.6 else DARK
        plane.text(column, row, text, color=colour, **centred)


def _draw_scatter(
    plane: Axes, each: CounterQuality, mine: np.ndarray[Any, Any], others: np.ndarray[Any, Any]
) -> None:
    colour = _COLOURS[each.verdict]
    plane.scatter(mine, others, s=6, color=colour, alpha=0.5, linewidths=0, rasterized=True)
    both = np.concatenate([mine, others, [0.0]])
    low, high, positive = float(both.min()), float(both.max()), both[both > 0]
    if each.name != "position" and len(positive) and high > _DECADES * positive.min():
        least = float(positive.min())
        low = min(low, 0.0) if (both[:-1] <= 0).any() else least / 1.5
        high *= 1.5
        for set_scale in (plane.set_xscale, plane.set_yscale):
            set_scale("symlog", linthresh=least)
        ticks = _ticks(least, high, has_zero=low <= 0)
        shown = [text_of(tick, notation_of(each.name)) for tick in ticks]
        plane.set_xticks(ticks, shown)
        plane.set_yticks(ticks, shown)
        plane.minorticks_off()
    else:
        high += 0.05 * (high - low) or 0.5
        low -= 0.05 * (high - low)
    plane.plot([low, high], [low, high], color=GREY, linewidth=0.8, zorder=0)
    plane.set(xlim=(low, high), ylim=(low, high), xlabel="base", ylabel="mean of others")
    name = safe(each.name, limit=_NAME)
    plane.set_title(f"{name}: {each.verdict}", fontsize=9, color=colour, weight="bold")
    plane.tick_params(labelsize=7)


def _ticks(least: float, high: float, *, has_zero: bool) -> list[float]:
    """At most four powers of ten, and 0 if there is such a value."""
    powers = range(math.ceil(math.log10(least)), math.floor(math.log10(high)) + 1)
    step = max(math.ceil(len(powers) / 4), 1)
    return [0.0] * has_zero + [10.0**power for power in powers[step - 1 :: step]]


def notation_of(name: str) -> Notation:
    """How a value of a counter, or of a feature of bursts, is told."""
    return {"duration": TIME, "sizes": BYTES}.get(name, AMOUNT)
