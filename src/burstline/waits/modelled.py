"""Ticks that no counter gave: what they are of, and whether the verdict rests on them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from burstline.columns import Integers
from burstline.synchronisation import Sync
from burstline.waits.severities import Severities

LEAST_COMPARED: Final = 0.01
"""Share of the ticks from which the analysis is made without them, too."""
_HOW_MUCH: Final = re.compile(r"\d+(\.\d+)? ?%|most of it|more of it than any other rank")
"""What sentences say of amounts: a verdict is another one by its metric, place or rank."""


def add_modelled(
    sync: Sync, severities: Severities, constructs: tuple[Integers, Integers], cost: int
) -> None:
    """Add the ticks of calls into the OpenMP runtime to the management of their constructs."""
    regions, teams = sync.regions, sync.teams
    master = np.flatnonzero(teams.forked_here)
    mine = teams.region[master]
    # What lies behind the region, up to the join, is management anyhow.
    joined = mine[regions.leave_seq[mine] >= teams.join_seq[teams.team[master]]]
    for rows in (*constructs, joined):
        inside = rows[regions.leave_ns[rows] - regions.enter_ns[rows] >= cost]
        ticks = np.full(len(inside), cost)
        severities.add(
            "omp_management", regions.node[inside], regions.location[inside], ticks,
            regions.enter_ns[inside],
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Modelled:
    """The ticks of a logical clock that no counter gave: of calls into the OpenMP runtime."""

    ticks: int  # on all threads
    share: float  # of the ticks of all events, 0..1
    call_cost: int  # of each call
    # the verdict without them; None where their share is too small to ask, or causes were not
    # asked for
    without: tuple[str, ...] | None

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return {
            "modelled_ticks": self.ticks,
            "modelled_share": self.share,
            "call_cost": self.call_cost,
            "verdict_without": None if self.without is None else list(self.without),
        }

    def doubts(self, verdict: Sequence[str]) -> list[str]:
        """A sentence that a verdict is another one without these ticks, if so."""
        if self.without is None:
            return []
        ours, theirs = (
            [_HOW_MUCH.sub("", line) for line in lines] for lines in (verdict, self.without)
        )
        changed = [
            line
            for k, line in enumerate(self.without)
            if k >= len(ours) or ours[k] != theirs[k]
        ]
        if not changed:
            return []
        constant = f"a constant, {self.call_cost:,} for each call of OpenMP"
        instead = " ".join(changed)
        return [f"{self.share:.1%} of all ticks are {constant}. With --call-cost 0: {instead}"]
