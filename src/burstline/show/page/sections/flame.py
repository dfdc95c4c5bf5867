"""Call paths: which functions compute, wait and transfer, as a flame graph."""

from __future__ import annotations

from typing import Final

from burstline.show.page.flames import flame_graph
from burstline.show.page.html import join, share_text, table, tag
from burstline.show.page.kinds import look
from burstline.show.page.report import NothingError, Report, Section, needed
from burstline.timeline import KINDS, Flame, Kind

NAME: Final = "flame"
LABEL: Final = "Call paths"
EMPTY: Final = "Time by call path is not shown"


def section(report: Report) -> Section:
    """The time of all threads by call path and kind."""
    flame = needed(report.flame)
    if not flame.times_ns.any():
        raise NothingError("No time of the run is known.")
    return Section(
        title(flame),
        join(
            tag("p", _note(flame), class_="sub"),
            flame_graph(flame),
            *(table(each) for each in flame.tables()),
        ),
        flame.as_dict(),
    )


def title(flame: Flame) -> str:
    """On what most time is spent, and in which function."""
    row, kind = divmod(int(flame.times_ns.argmax()), len(KINDS))
    share = share_text(flame.times_ns[row, kind] / flame.times_ns.sum())
    label = look(KINDS[kind]).label.lower()
    *above, name = flame.path(row) or ["the program"]
    called = f", called by {above[-1]}" if above and kind != Kind.COMPUTING else ""
    where = name.removeprefix(f"{label} ")  # up to a call: no function is known
    return (
        f"{share} of all thread time is {label}{':' if where == name else ''} {where}{called}"
    )


def _note(flame: Flame) -> str:
    said = (
        "Each box is a function, as wide as its time with what it calls; below it, in colour, "
        "is what it spends itself. "
    )
    if flame.rate_hz is None:
        return said + (
            "No call stacks were sampled, so computing between two calls has no function. To "
            "know it: burstline record does it unless told otherwise."
        )
    computing = flame.times_ns[:, Kind.COMPUTING].sum()
    share = flame.sampled_ns / computing if computing else 0.0
    return said + (
        f"{share_text(share)} of computing was given to functions by samples of call stacks, "
        f"{flame.rate_hz:,.0f} for each second of it."
    )
