"""The answers, worst thing first, on one screen."""

from __future__ import annotations

from typing import Final

from burstline.answers import verdict_on_waits
from burstline.show.page.html import join, tag
from burstline.show.page.report import Report, Section, found

NAME: Final = "verdict"
LABEL: Final = "Verdict"
EMPTY: Final = "There is no verdict"


def section(report: Report) -> Section:
    """What costs most, where, and who causes it."""
    waits = found(report.waits)
    said = [] if waits is None else verdict_on_waits(waits)
    rows = [
        tag(
            "div", tag("dt", each.question), tag("dd", tag("p", each.sentence), class_="answer")
        )
        for each in said
    ]
    return Section("What this run says", join(tag("dl", *rows, class_="verdict")), None)
