"""The answers, worst thing first, on one screen."""

from __future__ import annotations

from typing import Final

from burstline.show.page.html import join, tag
from burstline.show.page.report import Report, Section, found
from burstline.waits import sentences

NAME: Final = "verdict"
LABEL: Final = "Verdict"
EMPTY: Final = "There is no verdict"


def section(report: Report) -> Section:
    """What costs most, where, and who causes it."""
    waits = found(report.waits)
    said = [] if waits is None else sentences(waits)
    rows = [
        tag("div", tag("dt", about), tag("dd", tag("p", text), class_="answer"))
        for about, text in said
    ]
    return Section("What this run says", join(tag("dl", *rows, class_="verdict")), None)
