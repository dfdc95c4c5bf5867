"""Which bursts of a rank are the same in which runs, as a picture: SVG or PNG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from burstline.columns import Floats, Integers, Ordinals
from burstline.errors import ParameterError, plural
from burstline.merge import STAGES, Matching
from burstline.model import UNKNOWN, Trace
from burstline.quantities import format_share
from burstline.show.pictures.canvas import DARK, GREY, Axes, Form, blank, drawn, safe

_RED: Final = "#D55E00"
_COLORS: Final = {
    "direct": "#0072B2",
    "pattern": "#0072B2",
    "region": "#CC79A7",
    "aligned": "#0072B2",
    "moved": "#E69F00",
    "similar": "#009E73",
}
_SIZE, _DOTS = (11.0, 4.0), 160
_MOST_LINES: Final = 2_000


def merge_plot(
    traces: Sequence[Trace], matching: Matching, names: Sequence[str], rank: int, *, form: Form
) -> bytes:
    """Draw when a rank's bursts begin in each run, and which of them are the same.

    Parameters
    ----------
    traces : sequence of Trace
        The runs.
    matching : Matching
        Of them.
    names : sequence of str
        What the runs are called; any text.
    rank : int
        The rank, from 0; of it the first thread.
    form : {"svg", "png"}
        Kind of picture.

    Returns
    -------
    bytes
        The picture, the same for the same input and version of Matplotlib. Of many
        matched bursts every n-th is drawn, of those without a match every one.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    ParameterError
        If no run has bursts on that rank.

    Examples
    --------
    >>> from burstline import match
    >>> from burstline.testing import trace_of
    >>> lines = [f"{9 * k} enter MPI_Barrier | {9 * k + 2} leave" for k in range(4)]
    >>> runs = [trace_of("ranks 1 | 0 | " + " | ".join(lines)) for _ in range(2)]
    >>> merge_plot(runs, match(runs), ["before", "after"], 0, form="png")[1:4]
    b'PNG'
    """
    times, stage = _times(traces, matching, rank)
    runs = len(traces)
    with blank(_SIZE, {"ytick.color": DARK}) as figure:
        plane = figure.add_axes((0.21, 0.14, 0.77, 0.70))
        _draw_matches(plane, times, stage)
        _draw_unmatched(plane, times, stage)
        plane.set_ylim(-0.4, runs - 0.6)
        plane.invert_yaxis()
        labels = [safe(f"{run + 1}: {name}", limit=30) for run, name in enumerate(names)]
        plane.set_yticks(range(runs), labels)
        plane.set_xlabel("begin of the burst, in seconds after the first of its run")
        plane.spines["left"].set_visible(False)
        plane.tick_params(axis="y", length=0)
        figure.text(0.02, 0.93, f"The same bursts of rank {rank}", weight="bold")
        begun = ~np.isnan(times)
        bursts = int(begun.sum())
        matched = int(begun[stage > 0].sum())
        said = f"{plural(bursts, 'burst')}, {format_share(matched / bursts)} matched"
        figure.text(0.02, 0.88, said, color=GREY, fontsize=9.5)
        if plane.get_legend_handles_labels()[1]:
            plane.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=6, frameon=False)
        return drawn(figure, form=form, dots=_DOTS)


def _times(
    traces: Sequence[Trace], matching: Matching, rank: int
) -> tuple[Floats, npt.NDArray[np.int8]]:
    """When each burst of a rank begins in its run, in seconds, and its stage."""
    is_drawn = (pc.field("rank") == rank) & (pc.field("thread") == 0)
    pairs = matching.pairs.filter(is_drawn)
    if not pairs.num_rows:
        raise ParameterError(f"no burst of rank {rank} is in the runs; ranks count from 0")
    application = pairs["application"][0].as_py()
    pairs = pairs.filter(pc.equal(pairs["application"], application))
    numbers = [pc.fill_null(pairs[f"burst_{run}"], UNKNOWN) for run in range(len(traces))]
    columns = [
        _begins(trace, (application, rank, 0), number.to_numpy())
        for trace, number in zip(traces, numbers, strict=True)
    ]
    index = pc.index_in(pairs["stage"].cast("string"), value_set=pa.array(STAGES))
    return np.stack(columns, axis=1), index.to_numpy().astype(np.int8)


def _begins(trace: Trace, place: tuple[int, int, int], wanted: Integers) -> Floats:
    """When the bursts of some numbers on a thread begin in its run, in seconds."""
    places = np.stack(trace.arrays("locations", "application", "rank", "thread"), axis=1)
    location = int(np.flatnonzero((places == place).all(axis=1))[0])
    locations, burst, start = trace.arrays("bursts", "location", "burst", "start_ns")
    rows = Ordinals(locations, burst).rows(np.full(len(wanted), location), wanted)
    begins = np.where(rows >= 0, start[rows] / 1e9, np.nan)
    return begins - np.nanmin(begins) if (rows >= 0).any() else begins


def _draw_matches(plane: Axes, times: Floats, stage: npt.NDArray[np.int8]) -> None:
    """Draw a line through the rows of the runs for each matched burst, or for some."""
    from matplotlib.collections import LineCollection  # noqa: PLC0415 -- an extra

    step = max(int(np.count_nonzero(stage)) // _MOST_LINES, 1)
    for number, name in enumerate(STAGES):
        rows = np.flatnonzero(stage == number)
        if number == 0 or not len(rows):
            continue
        count, rows = len(rows), rows[::step]
        lines = []
        for moments in times[rows]:
            runs = np.flatnonzero(~np.isnan(moments))
            lines.append(np.column_stack([moments[runs], runs]))
        color, label = _COLORS[name], f"{name} ({count:,})"
        plane.add_collection(LineCollection(lines, colors=color, linewidths=0.5, alpha=0.5))
        plane.plot(*np.concatenate(lines).T, ".", color=color, markersize=3, label=label)


def _draw_unmatched(plane: Axes, times: Floats, stage: npt.NDArray[np.int8]) -> None:
    alone = times[stage == 0]
    rows, runs = np.nonzero(~np.isnan(alone))
    if len(rows):
        label = f"no match ({len(rows):,})"
        plane.plot(alone[rows, runs], runs, "x", color=_RED, markersize=4, label=label)
