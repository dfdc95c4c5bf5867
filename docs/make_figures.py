"""Draw the figures of ``concepts/loops.md`` again: ``make images``.

Both show one program: a loop of 40 iterations with a call in every second one.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from burstline.plots import cluster_plot
from burstline.structure import detect, points
from burstline.testing import trace_of

IMAGES = Path(__file__).parent / "images"
CALLS = {9: "Allreduce", 12: "Sendrecv", 14: "Barrier"}
TIMES = 40
DARK, BLUE, RED, PALE = "#1b1b1b", "#0072b2", "#d55e00", "#eef3f8"


def steps():
    """Go through the calls of a rank: operation, line and the time computed before, in us."""
    for k in range(TIMES):
        for line, operation in CALLS.items():
            if line != 9 or k % 2:
                yield operation, line, 300


def run(ranks=2):
    """Give the trace of the program."""
    words = [f"ranks {ranks}"]
    words += [f"path {k} first file t5_cond.c line {line}" for k, line in enumerate(CALLS)]
    for rank in range(ranks):
        words += [f"{rank}", "0 enter MPI_Init", "1000 leave"]
        now = 1_000
        for operation, line, work in steps():
            now += 1_000 * work
            path = list(CALLS).index(line)
            words += [f"{now} enter MPI_{operation} path {path}", f"{now + 20_000} leave"]
            now += 20_000
        words += [f"{now + 1_000} enter MPI_Finalize", f"{now + 2_000} leave"]
    return trace_of(" | ".join(words))


def draw_points(name):
    """Draw the plane of the published method."""
    trace = run()
    found = detect(trace, method="seed", min_share=0)
    picture = cluster_plot(points(trace, found), found, form="svg", title="t5_cond.prv")
    (IMAGES / f"{name}.svg").write_bytes(picture)


def draw_graph(name):
    """Draw what follows what, and which edges lead to the next iteration."""
    mpl.rcParams["svg.hashsalt"] = name
    figure = Figure(figsize=(7.2, 4.6))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-3.4, 3.8), ylim=(-5.1, 1.1))
    axes.axis("off")
    axes.add_patch(
        FancyBboxPatch(
            (-2.2, -3.65), 4.4, 3.3, boxstyle="round,pad=0.1", fc=PALE, ec=BLUE, lw=1.2
        )
    )
    axes.text(-2.15, -0.42, "for 1 to 40", color=BLUE, fontsize=11, va="top")
    places = {
        "MPI_Init": (0, 0.6),
        "MPI_Allreduce   line 9": (0, -1),
        "MPI_Sendrecv   line 12": (0, -2.1),
        "MPI_Barrier   line 14": (0, -3.2),
        "MPI_Finalize": (0, -4.6),
    }
    for text, (x, y) in places.items():
        axes.text(
            x,
            y,
            text,
            ha="center",
            va="center",
            fontsize=11,
            color=DARK,
            bbox={"boxstyle": "round,pad=0.35", "fc": "white", "ec": DARK, "lw": 1},
        )
    arrow(axes, (0, -1.28), (0, -1.82), "20", (0.15, -1.55))
    arrow(axes, (0, -2.38), (0, -2.92), "40", (0.15, -2.65))
    arrow(axes, (0, -3.48), (0, -4.32), "1", (0.15, -3.95))
    arrow(axes, (-0.45, 0.35), (-1.05, -1.95), "1", (-1.4, -1.5), bend=0.35)
    arrow(axes, (1.0, -3.1), (1.05, -1.1), "20", (1.5, -1.75), bend=0.55, later=True)
    arrow(axes, (1.0, -3.25), (1.1, -2.2), "19", (1.4, -2.75), bend=0.75, later=True)
    axes.text(2.5, -4.45, "to the next iteration", color=RED, fontsize=10, ha="center")
    axes.add_patch(
        FancyArrowPatch(
            (1.6, -4.75),
            (3.4, -4.75),
            arrowstyle="-|>",
            mutation_scale=12,
            color=RED,
            linestyle="--",
        )
    )
    figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None})


def arrow(axes, begin, end, times, label, *, bend=0.0, later=False):
    """Draw an edge, with how often it was taken."""
    color = RED if later else DARK
    axes.add_patch(
        FancyArrowPatch(
            begin,
            end,
            arrowstyle="-|>",
            mutation_scale=12,
            color=color,
            linestyle="--" if later else "-",
            connectionstyle=f"arc3,rad={bend}",
        )
    )
    axes.text(*label, times, fontsize=10, color=color, va="center")


def draw_all():
    """Draw every figure that this script makes."""
    draw_points("loops-by-means")
    draw_graph("loops-by-order")


if __name__ == "__main__":
    draw_all()
