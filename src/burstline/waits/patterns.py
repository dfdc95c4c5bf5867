"""All patterns of waiting: from what synchronises to severities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from burstline.columns import Integers, Mask
from burstline.synchronisation import Sync
from burstline.waits import causes
from burstline.waits.collectives import Scans, add_collective_waits, add_world
from burstline.waits.division import add_costs, add_times, add_visits
from burstline.waits.messages import add_message_waits
from burstline.waits.openmp import add_modelled, add_openmp_waits
from burstline.waits.parts import Parts
from burstline.waits.points import PointColumns, PointList
from burstline.waits.severities import Severities
from burstline.waits.times import Nodes, add_counts, add_imbalance, add_time_tree


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """Severities of all patterns, and the points that they were made from."""

    severities: Severities
    points: PointColumns
    scans: Scans
    explained: causes.Explained | None  # None where causes were not asked for
    has_start: bool  # whether every process has a call of MPI_Init
    is_circular: bool  # whether the stamps lead the critical path round in a circle
    clipped: int  # intervals that outlived those around them


def patterns_of(
    sync: Sync,
    nodes_table: pa.Table,
    region_enters: Mask,
    *,
    like_scalasca: bool,
    has_causes: bool = True,
    parts: Parts | None = None,
    modelled: tuple[tuple[Integers, Integers], int] | None = None,
) -> Patterns:
    """All metrics of a trace, from what synchronises in it and its call tree, by part, too."""
    nodes = Nodes(nodes_table)
    severities = Severities(len(nodes), sync.locations, parts)
    points = PointList()
    starts, has_start = add_world(sync, severities, points)
    add_message_waits(sync, severities, points, like_scalasca=like_scalasca)
    scans = add_collective_waits(sync, severities, points)
    forks = add_openmp_waits(sync, severities, points)
    if modelled is not None:
        add_modelled(sync, severities, *modelled)
    marks = causes.add_marks(sync, points, forks)
    ordered = points.sorted(sync.locations) if has_causes else points.unsorted()
    cuts = ordered if has_causes else PointList().sorted(sync.locations)
    stretches, clipped = causes.stretches_of(sync, cuts, len(nodes))
    measured = causes.dense(
        severities.shape, stretches.node, stretches.location, stretches.time_ns
    ).astype(np.int64)
    visits = add_visits(sync, severities, region_enters)
    explained, is_circular = None, False
    if has_causes:
        known = causes.Evidence(sync, nodes, severities, ordered, stretches, like_scalasca)
        explained = causes.add_delay_costs(known, marks)
        is_circular = causes.add_critical_path(known, marks, starts, measured)
    add_time_tree(sync, nodes, severities, visits, measured)
    add_imbalance(sync, nodes, severities, visits)
    add_counts(sync, severities)
    add_times(sync, nodes, severities)
    if explained is not None:
        add_costs(sync, severities, ordered, explained)
    causes.add_sums(severities)
    return Patterns(severities, ordered, scans, explained, has_start, is_circular, clipped)
