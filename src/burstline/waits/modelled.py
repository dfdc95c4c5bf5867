"""Ticks that no counter gave: those of calls into the OpenMP runtime."""

from __future__ import annotations

from typing import Final

import numpy as np

from burstline.columns import Integers
from burstline.synchronisation import Sync
from burstline.waits.severities import Contributions, Severities

LEAST_COMPARED: Final = 0.01
"""Share of the ticks from which the analysis is made without them, too."""


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
        severities.add("omp_management", Contributions.entered(regions, inside), ticks)
