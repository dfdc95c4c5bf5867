"""The tables of a few processes, and what of them others need: one step of a reading.

::

    kernel's columns ─► calls and their records ─► requests ─► halves of messages, collectives
                     ├─► regions, teams, locks, readings, gaps ─► bursts
                     └─► call paths
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
import pyarrow as pa

from burstline._core import RecordKind
from burstline.bursts import bursts_of
from burstline.formats.intake.calls import Facts, Kind, describe_transfers
from burstline.formats.intake.defects import Defects
from burstline.formats.intake.messages import message_halves
from burstline.formats.intake.requests import follow
from burstline.formats.otf2.reading.collective_parts import collective_parts
from burstline.formats.otf2.reading.details import (
    REQUEST_MARK,
    Told,
    calls_of,
    details_of,
    stamped,
    without_requests,
)
from burstline.formats.otf2.reading.gaps import gap_table
from burstline.formats.otf2.reading.other_events import other_event_table
from burstline.formats.otf2.reading.paths import rehang
from burstline.formats.otf2.reading.records import Records
from burstline.formats.otf2.reading.teams import forks_of, lock_table, team_table
from burstline.schema import NO_VALUE, ORIGINS, UNKNOWN
from burstline.schema.arrays import arrow_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstline.columns import Columns, Integers, Mask
    from burstline.formats.intake.calls import Calls
    from burstline.formats.intake.places import Places
    from burstline.formats.otf2.reading.archive import Archive
    from burstline.formats.otf2.reading.communicators import Communicators
    from burstline.formats.otf2.reading.events import Events
    from burstline.formats.otf2.reading.metrics import Metrics
    from burstline.formats.otf2.reading.paths import CallPaths
    from burstline.formats.otf2.reading.places import Standing
    from burstline.formats.otf2.reading.regions import Regions


_IS_APART: Final = np.ones(max(Kind) + 1, bool)
_IS_APART[[Kind.SEND, Kind.SEND_DONE, Kind.POST, Kind.RECEIVE]] = False


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """What all processes share, known before any events are read.

    Attributes
    ----------
    archive : Archive
        What is read.
    standing : Standing
        Where locations stand.
    communicators : Communicators
        Those of MPI.
    regions : Regions
        All regions; they number what is used.
    metrics : Metrics
        All counters.
    paths : CallPaths
        The calling-context tree; it grows.
    """

    archive: Archive
    standing: Standing
    communicators: Communicators
    regions: Regions
    metrics: Metrics
    paths: CallPaths

    @property
    def places(self) -> Places:
        """Who is who."""
        return self.standing.places


@dataclass(slots=True, eq=False)
class Group:
    """What some processes did.

    Attributes
    ----------
    tables : dict of str to pyarrow.Table
        Rows of their locations. Teams are numbered within the group.
    sends, receives, parts : dict of str to ndarray of int64
        Halves of messages and parts of collectives.
    waiting : dict of str to ndarray of int64
        Receives that never completed, as events of `half_messages`.
    lives : ndarray of int64, shape (2, locations)
        Birth and death of each location.
    has_events : ndarray of bool, shape (locations,)
        Whether it has any.
    odd : Defects
        What is odd in them.
    """

    tables: dict[str, pa.Table] = field(default_factory=dict)
    sends: dict[str, Integers] = field(default_factory=dict)
    receives: dict[str, Integers] = field(default_factory=dict)
    parts: dict[str, Integers] = field(default_factory=dict)
    waiting: dict[str, Integers] = field(default_factory=dict)
    lives: Integers = field(default_factory=lambda: np.zeros((2, 0), np.int64))
    has_events: Mask = field(default_factory=lambda: np.zeros(0, bool))
    odd: Defects = field(default_factory=Defects)


def make_group(basis: Basis, events: Events, locations: Sequence[int], odd: Defects) -> Group:
    """Make the tables of some whole processes.

    Parameters
    ----------
    basis : Basis
        What all processes share; paths and numbers of regions grow.
    events : Events
        What the locations did.
    locations : sequence of int
        Their numbers, ascending.
    odd : Defects
        What was odd in reading them; told of the rest.

    Returns
    -------
    Group
        What they did.
    """
    group = Group(odd=odd)
    tables = events.tables
    lives = tables["lives"]
    group.has_events = lives["status"] != NO_VALUE
    group.lives = np.stack([lives["born_ns"], lives["died_ns"]])
    process = basis.places.process
    fork = forks_of(tables["forks"], tables["teams"], process, odd)
    rehang(basis.paths, tables, fork, process)
    calls = calls_of(tables["calls"], basis.regions.operations)
    records = Records(tables["records"])
    others = other_event_table(
        records, basis.archive.defined, basis.standing, basis.communicators
    )
    acquired = records.of(RecordKind.LOCK_ACQUIRED)
    released = records.of(RecordKind.LOCK_RELEASED)
    gaps = gap_table(records, dict(zip(locations, lives["died_ns"].tolist(), strict=True)))
    del records
    group.tables = {
        "calls": _calls(basis, group, calls, tables),
        "regions": _regions(basis, tables["regions"], fork),
        "teams": team_table(tables["forks"], fork, process, odd),
        "locks": lock_table(acquired, released, odd),
        "readings": basis.metrics.readings(tables["readings"], tables["values"], odd),
        "other_events": others,
        "gaps": gaps,
    }
    group.tables["bursts"] = _bursts(basis, group.tables)
    return group


def _calls(basis: Basis, group: Group, calls: Calls, tables: dict[str, Columns]) -> pa.Table:
    """Make the table of calls, and the halves and parts of a group.

    The records take more than anything else: each form of them goes once it is not needed.
    """
    facts, odd = Facts(calls), group.odd
    details, own, probe = details_of(
        Records(tables.pop("records")),
        basis.standing,
        basis.communicators,
        basis.archive.defined.windows,
        odd,
    )
    alone, stamps = stamped(details, own, calls)
    rest, apart = np.flatnonzero(_IS_APART[details.kind]), details
    if len(rest) < len(details):
        own, apart = own.pick(rest), details.pick(rest)
    ends = follow(alone, stamps, basis.places.process, odd, mark=REQUEST_MARK)
    group.parts = collective_parts(
        apart,
        own,
        calls,
        _moved(ends, rest),
        standing=basis.standing,
        communicators=basis.communicators,
        facts=facts,
        odd=odd,
    )
    del own, apart
    describe_transfers(details, facts)
    told = cast("Facts", Told(facts, details.call))
    group.sends, group.receives, group.waiting = message_halves(
        alone, stamps, ends, places=basis.places, facts=told, odd=odd, probe=probe
    )
    del alone, stamps, ends
    without_requests(group.sends, "send_request")
    without_requests(group.receives, "receive_request")
    without_requests(group.waiting, "request")
    return facts.table()


def _moved(ends: Integers, rows: Integers) -> Integers:
    """Give what ended some records as places among these, -1 where it is none of them."""
    place = np.full(len(ends) + 1, UNKNOWN)
    place[rows] = np.arange(len(rows))
    return place[ends[rows]]


def _regions(basis: Basis, regions: Columns, fork: Integers) -> pa.Table:
    team = np.append(fork, -1)[regions["team"]]
    columns: dict[str, Any] = dict(regions)
    columns["region"] = basis.regions.numbers(regions["region"])
    columns["team"] = team
    columns["call_path"] = columns.pop("path")
    columns["barrier_ordinal"] = columns.pop("barrier")
    count = len(team)
    columns["iterations"] = np.full(count, NO_VALUE)
    columns["origin"] = np.full(count, ORIGINS.index("recorded"), np.int8)
    return arrow_table("regions", columns)


def _bursts(basis: Basis, tables: dict[str, pa.Table]) -> pa.Table:
    count = len(basis.places.process)
    whole = {
        "locations": pa.table({"location": np.arange(count, dtype=np.int32)}),
        "counters": basis.metrics.table(),
        "region_defs": basis.regions.table(),
    }
    return bursts_of(tables | whole)
