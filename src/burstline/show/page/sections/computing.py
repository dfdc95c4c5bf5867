"""Computing: how long its stretches last, and what counters say of them."""

from __future__ import annotations

from typing import Final

from burstline.show.page.report import NothingError, Report, Section

NAME: Final = "computing"
LABEL: Final = "Computing"
EMPTY: Final = "Computing is not shown"


def section(report: Report) -> Section:
    """How long stretches of computing last."""
    del report
    raise NothingError("The stretches of computing were not looked at.")
