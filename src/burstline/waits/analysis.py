"""The analysis of waits, from a trace to severities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from burstline.waits import causes
from burstline.waits.collectives import add_collective_waits, add_world
from burstline.waits.division import add_costs, add_times, add_visits
from burstline.waits.messages import add_message_waits
from burstline.waits.openmp import add_openmp_waits
from burstline.waits.points import PointList
from burstline.waits.severities import Severities
from burstline.waits.times import Nodes, add_counts, add_imbalance, add_time_tree

if TYPE_CHECKING:
    import pyarrow as pa

    from burstline.columns import Mask
    from burstline.sync import Sync
    from burstline.waits.parts import Parts
    from burstline.waits.points import Points


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """Severities, and the points that they were made from."""

    severities: Severities
    points: Points
    explained: causes.Explained | None  # None where causes were not asked for
    has_start: bool  # whether every process has a call of MPI_Init
    is_circular: bool  # whether the stamps lead the critical path round in a circle
    clipped: int  # intervals that outlived those around them


def analysed(
    sync: Sync,
    nodes_table: pa.Table,
    region_enters: Mask,
    *,
    like_scalasca: bool,
    has_causes: bool = True,
    parts: Parts | None = None,
) -> Analysis:
    """All metrics of a trace, from what synchronises in it and its call tree, by part, too."""
    nodes = Nodes(nodes_table)
    severities = Severities(len(nodes), sync.locations, parts)
    points = PointList()
    starts, has_start = add_world(sync, severities, points)
    add_message_waits(sync, severities, points, like_scalasca=like_scalasca)
    add_collective_waits(sync, severities, points)
    forks = add_openmp_waits(sync, severities, points)
    marks = causes.add_marks(sync, points, forks)
    ordered = points.sorted(sync.locations)
    stretches, clipped = causes.stretches_of(sync, ordered, len(nodes))
    measured = np.zeros(severities.shape, np.int64)
    np.add.at(measured, (stretches.node, stretches.location), stretches.time_ns)
    visits = np.zeros(severities.shape, np.int64)
    for rows, enters in ((sync.calls, None), (sync.regions, region_enters)):
        chosen = rows.node >= 0 if enters is None else (rows.node >= 0) & enters
        np.add.at(visits, (rows.node[chosen], rows.location[chosen]), 1)
    told = np.flatnonzero(sync.programs[2] >= 0)
    visits[sync.programs[2][told], told] += 1
    follows = np.flatnonzero(sync.between >= 0)
    np.add.at(visits, (sync.between[follows], sync.calls.location[follows]), 1)
    explained, is_circular = None, False
    if has_causes:
        explained = causes.add_delay_costs(
            sync, severities, ordered, stretches, marks, like_scalasca=like_scalasca
        )
        is_circular = causes.add_critical_path(
            sync, nodes, severities, ordered, stretches, marks=marks, starts=starts,
            measured=measured, like_scalasca=like_scalasca,
        )  # fmt: skip
    add_time_tree(sync, nodes, severities, visits, measured)
    add_imbalance(sync, nodes, severities, visits)
    add_counts(sync, severities)
    add_visits(sync, severities, region_enters)
    add_times(sync, nodes, severities)
    if explained is not None:
        add_costs(sync, severities, ordered, explained)
    causes.add_sums(severities)
    return Analysis(severities, ordered, explained, has_start, is_circular, clipped)
