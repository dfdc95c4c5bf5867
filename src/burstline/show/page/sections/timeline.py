"""What each rank did when: lanes of pieces, opened at the median iteration."""

from __future__ import annotations

from typing import Final

from burstline.show.page.report import NothingError, Report, Section, found, needed
from burstline.show.page.timeline import timeline_picture

NAME: Final = "timeline"
LABEL: Final = "Timeline"
EMPTY: Final = "There is no timeline"


def section(report: Report) -> Section:
    """The timeline, with the iterations of the costliest loop."""
    line = needed(report.line)
    first, last = line.baseline_ns
    if first >= last:
        raise NothingError("Nothing takes any time in this trace.")
    title, body = timeline_picture(line, found(report.structure))
    return Section(title, body, {"baseline_ns": [first, last], "time_ns": line.totals_ns()})
