"""The tables of a few processes, and what other processes need of them.

::

    kernel's columns ─► calls and their records ─► requests ─► halves of messages, collectives
                     ├─► regions, teams, locks, readings, gaps ─► bursts
                     └─► call paths
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from burstline._core import RecordKind
from burstline.bursts import bursts_of
from burstline.columns import shifted
from burstline.formats.intake import (
    Facts,
    Group,
    Kind,
    describe_messages,
    describe_transfers,
    follow,
    message_halves,
    sides_of,
)
from burstline.formats.otf2.reading.collective_parts import add_parts, collective_parts
from burstline.formats.otf2.reading.details import (
    REQUEST_MARK,
    calls_of,
    details_of,
    stamped,
    with_own_requests,
)
from burstline.formats.otf2.reading.other_events import other_event_table
from burstline.formats.otf2.reading.paths import rehang
from burstline.formats.otf2.reading.threads import forks_of, gap_table, lock_table, team_table
from burstline.schema import NO_VALUE, ORIGINS, UNKNOWN, arrow_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstline.columns import Columns, Integers
    from burstline.formats.intake import Calls, Defects, Details, Places
    from burstline.formats.otf2.reading.archive import Archive
    from burstline.formats.otf2.reading.communicators import Communicators
    from burstline.formats.otf2.reading.events import Events
    from burstline.formats.otf2.reading.metrics import Metrics
    from burstline.formats.otf2.reading.paths import CallPaths
    from burstline.formats.otf2.reading.places import Standing
    from burstline.formats.otf2.reading.records import Records
    from burstline.formats.otf2.reading.regions import Regions


_IS_APART: Final = np.ones(max(Kind) + 1, bool)
_IS_APART[[Kind.SEND, Kind.SEND_DONE, Kind.POST, Kind.RECEIVE]] = False


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """What all processes share before any events are read."""

    archive: Archive  # what is read
    standing: Standing  # where locations stand
    communicators: Communicators  # those of MPI
    regions: Regions  # all regions; they number what is used
    metrics: Metrics  # all counters
    paths: CallPaths  # the calling-context tree; it grows

    @property
    def places(self) -> Places:
        """The process of each location and the rank of each process."""
        return self.standing.places


def make_group(
    basis: Basis, events: Events, locations: Sequence[int], defects: Defects, *, teams: int
) -> Group:
    """The group of some whole processes; adds call paths and regions to `basis`.

    `events` lose their records: these take more memory than anything else, so each form of
    them goes once it is not needed. `teams` is the number of teams in the groups before.
    """
    tables, places = events.tables, basis.places
    fork = forks_of(tables["forks"], tables["teams"], places.process, defects)
    rehang(basis.paths, tables, fork, places.process)
    calls = calls_of(tables["calls"], basis.regions.operations)
    records = events.take_records()
    others = other_event_table(
        records, basis.archive.defined, basis.standing, basis.communicators
    )
    acquired = records.of(RecordKind.LOCK_ACQUIRED)
    released = records.of(RecordKind.LOCK_RELEASED)
    died_ns = tables["lives"]["died_ns"].tolist()
    gaps = gap_table(records, dict(zip(locations, died_ns, strict=True)))
    details, call_records, probe = details_of(
        records, basis.standing, basis.communicators, basis.archive.defined.windows, defects
    )
    del records
    facts = Facts(calls)
    alone, stamps = stamped(details, call_records, calls)
    ends = follow(alone, stamps, places.process, defects, mark=REQUEST_MARK)
    parts = _parts(basis, details, call_records, calls, ends, facts=facts, defects=defects)
    del call_records
    describe_transfers(details, facts)
    sides = sides_of(details, places, defects)
    describe_messages(details, ends, sides, facts)
    sends, receives, waiting, _ = message_halves(
        alone, stamps, ends, sides, places=places, defects=defects, probe=probe
    )
    del details, alone, stamps, ends, sides
    group_tables = {
        "calls": facts.table(),
        "regions": shifted(_regions(basis, tables["regions"], fork), "team", teams),
        "teams": team_table(tables["forks"], fork, places.process, defects),
        "locks": lock_table(acquired, released, defects),
        "readings": basis.metrics.readings(tables["readings"], tables["values"], defects),
        "other_events": others,
        "gaps": gaps,
    }
    group_tables["bursts"] = _bursts(basis, group_tables)
    for name in ("team", "parent"):
        group_tables["teams"] = shifted(group_tables["teams"], name, teams)
    return Group(
        group_tables,
        with_own_requests(sends, "send_request"),
        with_own_requests(receives, "receive_request"),
        with_own_requests(waiting, "request"),
        parts,
        len(locations),
    )


def _parts(
    basis: Basis,
    details: Details,
    records: Records,
    calls: Calls,
    ends: Integers,
    *,
    facts: Facts,
    defects: Defects,
) -> dict[str, Integers]:
    """Columns of the parts of collectives, which are added to the facts of their calls."""
    apart = np.flatnonzero(_IS_APART[details.kind])
    if len(apart) < len(details):
        records, details = records.pick(apart), details.pick(apart)
    parts, call = collective_parts(
        details,
        records,
        calls,
        _moved(ends, apart),
        standing=basis.standing,
        communicators=basis.communicators,
        defects=defects,
    )
    add_parts(parts, call, facts)
    return parts


def _moved(ends: Integers, rows: Integers) -> Integers:
    """The positions among `rows` of what ended them, -1 where it is none of them."""
    place = np.full(len(ends) + 1, UNKNOWN)
    place[rows] = np.arange(len(rows))
    return place[ends[rows]]


def _regions(basis: Basis, regions: Columns, fork: Integers) -> pa.Table:
    count = len(regions["team"])
    return arrow_table(
        "regions",
        {
            **regions,
            "region": basis.regions.numbers(regions["region"]),
            "team": np.append(fork, -1)[regions["team"]],
            "call_path": regions["path"],
            "barrier_ordinal": regions["barrier"],
            "iterations": np.full(count, NO_VALUE),
            "origin": np.full(count, ORIGINS.index("recorded")),
        },
    )


def _bursts(basis: Basis, tables: dict[str, pa.Table]) -> pa.Table:
    count = len(basis.places.process)
    whole = {
        "locations": pa.table({"location": np.arange(count, dtype=np.int32)}),
        "counters": basis.metrics.table(),
        "region_defs": basis.regions.table(),
    }
    return bursts_of(tables | whole)
