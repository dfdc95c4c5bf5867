"""Several runs beside each other: efficiencies and how they scale."""

from __future__ import annotations

from typing import Final

from burstline.errors import plural
from burstline.show.page.html import blocks, code, join, tag
from burstline.show.page.report import Report, Section, found
from burstline.show.scaling import ScalabilityView

NAME: Final = "runs"
LABEL: Final = "Runs"
EMPTY: Final = "Runs could not be compared"


def section(report: Report) -> Section:
    """How the runs compare; what would do that, if there is but one."""
    runs = found(report.runs)
    if runs is None:
        how = join(
            "With several, this place compares them: ",
            code("burstline report run1.prv run2.prv -o report.html"),
        )
        return Section("One run was given", tag("p", how, class_="sub"), {"runs": 1})
    view = ScalabilityView(runs)
    count = plural(len(report.source.paths), "run")
    return Section(f"{count} compared with the first", blocks(view.blocks()), view.document())
