"""What a benchmark says: one figure a line as JSON on stdout, all as a table on stderr.

A speed alone says little about the code and much about the machine. So wherever it
can, a figure carries its ratio to a named baseline, measured in the same run.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass

__all__ = ["Figure", "publish", "tabulate"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure.

    Attributes
    ----------
    benchmark, name : str
        Which benchmark, and which of its figures.
    value : float
        What was measured.
    unit : str
        In what.
    goal : str
        What it should be, as ``>= 1200`` or ``<= 0.1``; empty if nothing was promised.
    baseline : str
        What it is compared with; empty if with nothing.
    ratio : float or None
        `value` over the baseline's.
    """

    benchmark: str
    name: str
    value: float
    unit: str
    goal: str = ""
    baseline: str = ""
    ratio: float | None = None

    @property
    def within_goal(self) -> bool | None:
        """Whether the goal is reached; None without a goal."""
        if not self.goal:
            return None
        sign, bound = self.goal.split()
        return self.value >= float(bound) if sign == ">=" else self.value <= float(bound)


def publish(figure: Figure) -> Figure:
    """Print a figure as one line of JSON, and give it back."""
    shown = {key: value for key, value in asdict(figure).items() if value not in ("", None)}
    if figure.within_goal is not None:
        shown["within_goal"] = figure.within_goal
    print(json.dumps(shown), flush=True)
    return figure


def tabulate(figures: list[Figure]) -> None:
    """Print figures as a table on stderr."""
    rows = [("benchmark", "figure", "value", "unit", "goal", "against")]
    for figure in figures:
        against = "" if figure.ratio is None else f"{figure.ratio:.3g} x {figure.baseline}"
        missed = " (missed)" if figure.within_goal is False else ""
        value = f"{figure.value:,.4g}" if abs(figure.value) < 1e4 else f"{figure.value:,.0f}"
        goal = f"{figure.goal}{missed}"
        rows.append((figure.benchmark, figure.name, value, figure.unit, goal, against))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        sys.stderr.write("  ".join(cells).rstrip() + "\n")
