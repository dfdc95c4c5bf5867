"""Scores of profiles, and what their call paths have, as a picture: SVG or PNG."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase
from textwrap import wrap
from typing import Final

import numpy as np

from burstline.columns import Floats
from burstline.comparison import Comparison
from burstline.show.pictures.canvas import DARK, GREY, Axes, Form, blank, drawn, safe
from burstline.waits import WAITS

_KINDS: Final = ("comp", "mpi", "omp_time", "omp_idle_threads")
_COLOURS: Final = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#8C8C8C"),
)
_OTHER: Final = "#D9D9D9"
_DOTS: Final = 160
_MOST_PAIRS, _MOST_NAMES, _MOST_PATHS = 6, 8, 6
_NAME, _PATH, _LINE = 46, 58, 220


def comparison_plot(comparison: Comparison, *, form: Form, metric: str = "") -> bytes:
    """Draw scores of pairs, what takes the time, and call paths of computation and of a wait.

    Bars are scores; the dashed line is the least one of repetitions of the first, circles are
    those of the others. At most 6 pairs are drawn, those least alike, and 8 profiles.

    Parameters
    ----------
    comparison : Comparison
        What is to be shown.
    form : {"svg", "png"}
        Kind of picture.
    metric : str, optional
        The metric whose call paths are drawn beside those of computation; by default, the
        delays that cause the largest wait.

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
    >>> from burstline import wait_states
    >>> from burstline.comparison import compare
    >>> from burstline.testing import trace_of
    >>> waits = wait_states(
    ...     trace_of(
    ...         "ranks 2 | 0 | 0 enter MPI_Init | 9 leave | 1 | 5 enter MPI_Init | 9 leave"
    ...     )
    ... )
    >>> comparison = compare([waits.profile, waits.profile])
    >>> comparison_plot(comparison, form="png", metric="mpi")[1:4]
    b'PNG'
    """
    wait = _largest_wait(comparison, metric)
    delays = WAITS.get(wait, "")
    metric = metric or (delays if delays in comparison.by_call_path else wait)
    is_cause = wait not in {"", metric}
    told = f"{comparison.titles.get(wait if is_cause else metric)} ({metric})"
    told = f"What causes {told}, %" if is_cause else f"Where {told} is, %"
    stacked = {"comp": "Where Computation (comp) is, %", metric: told}
    panels = [pair for pair in stacked.items() if pair[0] in comparison.by_call_path]
    with blank((17.0, 6.0), {"font.size": 9.5}) as figure:
        plane = figure.add_axes((0.03, 0.36, 0.22, 0.47))
        _draw_scores(plane, comparison, [*dict.fromkeys(("comp", wait, metric))])
        plane = figure.add_axes((0.29, 0.36, 0.15, 0.47))
        plane.set_title("What takes the time, %", loc="left", fontsize=10)
        draw_kinds(plane, comparison)
        for number, (metric, title) in enumerate(panels or [("time", "Where the time is, %")]):
            plane = figure.add_axes((0.48 + 0.265 * number, 0.36, 0.235, 0.47))
            plane.set_title(safe(title, limit=70), loc="left", fontsize=10)
            draw_call_paths(plane, comparison, metric)
        several = "; of all pairs the least" * (len(comparison.pairs) > 1)
        title = (
            f"Profiles agree by {comparison.j_mc:.1%} (J of metrics and call paths{several})"
        )
        figure.text(0.02, 0.95, title, weight="bold", fontsize=12)
        names = enumerate(comparison.names[:_MOST_NAMES])
        about = "    ".join(
            f"{letter(number)}  {safe(name, limit=_NAME)}" for number, name in names
        )
        figure.text(0.02, 0.905, safe(about, limit=_LINE), color=GREY)
        return drawn(figure, form=form, dots=_DOTS)


def _largest_wait(comparison: Comparison, metric: str) -> str:
    """The wait that takes most of the time of any profile, of all or those of a metric."""
    waits = {
        name: np.nanmax(comparison.of_time[name])
        for name, delays in WAITS.items()
        if name in comparison.of_time and metric in {"", name, delays}
    }
    return max(waits, key=lambda name: waits[name], default="")


def _draw_scores(plane: Axes, comparison: Comparison, metrics: Sequence[str]) -> None:
    pairs = sorted(comparison.pairs, key=lambda pair: pair.j_mc)[:_MOST_PAIRS]
    pairs.sort(key=lambda pair: pair[:2])
    metrics = [name for name in metrics if name in comparison.by_call_path]
    width = 0.8 / len(pairs)
    for number, pair in enumerate(pairs):
        places = np.arange(1 + len(metrics)) - 0.4 + width * (number + 0.5)
        scores = [pair.j_mc, *(pair.j_c.get(metric, np.nan) for metric in metrics)]
        label = " and ".join(map(letter, pair[:2]))
        plane.bar(places, scores, width * 0.92, color=_COLOURS[number], label=label)
    repeated = [comparison.run_to_run[pair.second] for pair in pairs]
    rings = [(n, score) for n, score in enumerate(repeated) if score is not None]
    if rings:
        label = "repetitions of the other, the least pair"
        middles = [width * (number + 0.5) - 0.4 for number, _ in rings]
        heights = [score for _, score in rings]
        [circles] = plane.plot(middles, heights, "o", color="white", ms=6, label=label)
        circles.set(markeredgecolor=DARK, clip_on=False)
    least = comparison.run_to_run[0]
    if least is not None:
        label = "repetitions of A, the least pair"
        plane.plot([-0.48, 0.48], [least, least], "--", color=DARK, linewidth=1.2, label=label)
    titles = [
        "delays: " * name.startswith("delay") + comparison.titles[name] for name in metrics
    ]
    titles = ["\n".join(wrap(safe(title, limit=40), 11)) for title in titles]
    plane.set_xticks(range(1 + len(metrics)), ["all metrics", *titles])
    plane.set_ylim(0, 1.05)
    plane.set_title("J of all metrics, then of call paths of one", loc="left", fontsize=10)
    _finish(plane, columns=1 if len(pairs) < 4 else 2, below=0.24)


def draw_kinds(plane: Axes, comparison: Comparison) -> None:
    """Stack a bar for each profile: what computation, MPI and OpenMP take of the time."""
    names = len(comparison.names[:_MOST_NAMES])
    kinds = [name for name in _KINDS if name in comparison.of_time]
    whole, *shares = (
        100 * np.nan_to_num(comparison.of_time.get(name, [0.0] * names)[:names])
        for name in ("time", *kinds)
    )
    labels = [safe(comparison.titles[name], limit=40) for name in kinds]
    _stack(plane, shares, labels, "other", whole)


def draw_call_paths(plane: Axes, comparison: Comparison, metric: str) -> None:
    """Stack a bar for each profile: what call paths have of a metric, the largest below."""
    shares = 100 * comparison.by_call_path[metric][:_MOST_NAMES]
    best = np.argsort(-shares.max(axis=0), kind="stable")[:_MOST_PATHS]
    best = best[shares[:, best].any(axis=0)]
    labels = _endings([comparison.path(row) for row in best.tolist()])
    _stack(plane, [*shares[:, best].T], labels, "other call paths", shares.sum(axis=1))


def _stack(
    plane: Axes, shares: Sequence[Floats], labels: Sequence[str], other: str, whole: Floats
) -> None:
    """Stack bars of shares in %, an array for each label, and of what is left of the whole."""
    places = np.arange(len(whole))
    below = np.zeros(len(whole))
    for heights, label, colour in zip(shares, labels, _COLOURS, strict=False):
        plane.bar(places, heights, 0.7, below, color=colour, label=label)
        below += heights
    others = np.maximum(whole - below, 0)
    if others.max() > 0.05:
        plane.bar(places, others, 0.7, below, color=_OTHER, label=other)
    plane.set_xticks(places, map(letter, places.tolist()))
    plane.set_ylim(0, 105)
    _finish(plane)


def _finish(plane: Axes, columns: int = 1, below: float = 0.14) -> None:
    plane.legend(
        frameon=False,
        fontsize=8.5,
        loc="upper left",
        bbox_to_anchor=(-0.03, -below),
        ncols=columns,
    )


def letter(number: int) -> str:
    """What a profile is called in tables and pictures."""
    return ascii_uppercase[number] if number < len(ascii_uppercase) else str(number + 1)


def _endings(paths: Sequence[tuple[str, ...]]) -> list[str]:
    """The ends of call paths, which tell more than where they begin: as far as they differ.

    What OpenMP does is named with the function that it is in.
    """
    depth = 2
    while depth < max(map(len, paths), default=0) and len(
        {path[-depth:] for path in paths}
    ) < len(set(paths)):
        depth += 1
    texts = []
    for path in paths:
        first = len(path) - depth
        while first > 0 and path[first].startswith("!$omp"):
            first -= 1
        texts.append(safe(" > ".join(path[max(first, 0) :]), limit=1_000))
    return [text if len(text) <= _PATH else "…" + text[1 - _PATH :] for text in texts]
