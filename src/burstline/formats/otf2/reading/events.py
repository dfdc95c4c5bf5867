"""Events of some locations, read by the kernel in a child: damaged bytes may break the library.

A child that fell leaves what it had read; then each location is read in a child of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline.columns import Columns, lookup
from burstline.formats.otf2.reading.archive import Ending, describe
from burstline.formats.otf2.reading.basis import ArchiveBasis
from burstline.model import NEVER_LEFT, NO_VALUE

_SECONDS_BASE: Final = 5
_LOCATIONS_A_SECOND: Final = 100
_BYTES_A_SECOND: Final = 1 << 20
_MEMORY_BASE: Final = 1 << 30
_MEMORY_PER_BYTE: Final = 4
_SMALLEST_EVENT: Final = 2
_NOT_USED: Final = frozenset([
    "OmpTaskCreate", "OmpTaskSwitch", "OmpTaskComplete", "RmaCollectiveBegin",
    "RmaCollectiveEnd", "RmaGroupSync", "RmaRequestLock", "RmaAcquireLock", "RmaTryLock",
    "RmaReleaseLock", "RmaSync", "RmaWaitChange", "RmaOpCompleteBlocking",
    "RmaOpCompleteNonBlocking", "RmaOpTest", "RmaOpCompleteRemote",
    "IoCreateHandle", "IoDestroyHandle", "IoDuplicateHandle", "IoSeek", "IoChangeStatusFlags",
    "IoDeleteFile", "IoOperationBegin", "IoOperationTest", "IoOperationIssued",
    "IoOperationCancelled", "IoAcquireLock", "IoReleaseLock", "IoTryLock",
])  # fmt: skip


@dataclass(slots=True, eq=False)
class ArchiveEvents:
    """Events of some locations as the kernel's columns."""

    # calls, regions, records, forks, teams, readings, values, paths, lives
    tables: dict[str, Columns]
    kinds: dict[str, int]  # events of each kind


def read_events(basis: ArchiveBasis, locations: Sequence[int]) -> ArchiveEvents:
    """The events of some locations: 50 bytes an enter or leave, 100 an event of a call."""
    events, ending = _read_in_child(basis, locations)
    if ending[0] and len(locations) > 1:
        return _joined_reads([read_events(basis, [location]) for location in locations])
    _note_oddities(basis, locations, events, ending)
    return events


def _read_in_child(
    basis: ArchiveBasis, locations: Sequence[int]
) -> tuple[ArchiveEvents, Ending]:
    archive, regions = basis.archive, basis.regions
    references = basis.standing.references[list(locations)]
    size = sum(archive.event_bytes(reference) for reference in references.tolist())
    resolution, offset, _ = archive.defined.clock
    tables, kinds, full, ending = _core.otf2_events(
        archive.library,
        str(archive.anchor),
        (references, np.array(locations, np.int32)),
        regions.columns,
        regions.contexts,
        _metrics_alike(archive.defined.metrics),
        (resolution or 1_000_000_000, offset),
        size // _SMALLEST_EVENT + 64,
        size + 64,
        _SECONDS_BASE + len(locations) // _LOCATIONS_A_SECOND + size // _BYTES_A_SECOND,
        _MEMORY_BASE + size * _MEMORY_PER_BYTE,
    )
    if full:
        kinds["Unstored"] = full
    return ArchiveEvents(tables, kinds), ending


def _metrics_alike(metrics: Mapping[int, Sequence[int]]) -> tuple[npt.NDArray[np.uint32], ...]:
    """Metrics, and for each the first metric with which it shares members."""
    first: dict[int, int] = {}
    like: dict[int, int] = {}
    for metric, members in metrics.items():
        like[metric] = metric
        for member in members:
            other = first.setdefault(member, metric)
            low, high = sorted((_first_of(like, metric), _first_of(like, other)))
            like[high] = low
    firsts = [_first_of(like, metric) for metric in like]
    return np.array(list(like), np.uint32), np.array(firsts, np.uint32)


def _first_of(like: dict[int, int], metric: int) -> int:
    while like[metric] != metric:
        like[metric] = like[like[metric]]
        metric = like[metric]
    return metric


def _note_oddities(
    basis: ArchiveBasis, locations: Sequence[int], events: ArchiveEvents, ending: Ending
) -> None:
    archive, name_of, defects = basis.archive, basis.standing.name, basis.defects
    lives = events.tables["lives"]
    done = len(lives["status"])
    for missing in locations[done:]:
        text = f"{name_of[missing]}: {describe(ending)}"
        defects.note("location_unreadable", "error", text)
    for name, column in lives.items():
        fill = NO_VALUE if name == "status" else 0
        lives[name] = np.append(column, np.full(len(locations) - done, fill))
    _note_open_calls(basis, locations, events.tables)
    status = lives["status"]
    for number in np.flatnonzero((status != 0) & (status != NO_VALUE)).tolist():
        reference = int(basis.standing.references[locations[number]])
        is_there = archive.event_bytes(reference) > 0
        kind = "location_cut_short" if is_there else "location_without_file"
        text = f"{name_of[locations[number]]}: {describe((0, 1, ending[2], ending[3]))}"
        defects.note(kind, "error" if is_there else "loss", text)
    for name, kind, severity in (
        ("strange", "unknown_event", "info"),
        ("never_left", "region_never_left", "loss"),
        ("not_entered", "region_left_but_never_entered", "loss"),
        ("backwards", "time_runs_backwards", "error"),
        ("nested", "call_inside_a_call", "info"),
        ("open", "collective_never_completed", "loss"),
        ("out_of_range", "time_out_of_range", "error"),
    ):
        total = int(lives[name].sum())
        if total:
            first = name_of[locations[int((lives[name] > 0).argmax())]]
            defects.note(kind, severity, first, total)
    for kind, count in events.kinds.items():
        if kind in _NOT_USED:
            defects.note_named("event_not_used", "info", kind, count)
    lost = events.kinds.pop("Unstored", 0)
    defects.note("events_not_kept", "loss", name_of[locations[0]], lost)


def _note_open_calls(
    basis: ArchiveBasis, locations: Sequence[int], tables: dict[str, Columns]
) -> None:
    """Mark the calls that are open behind the last event of their location, and count them."""
    calls, lives = tables["calls"], tables["lives"]
    places = {location: row for row, location in enumerate(locations)}
    row = lookup(calls["location"], places)
    # the kernel closes what is open there, under ordinals that no event has
    is_open = calls["leave_seq"] >= lives["events"][row]
    calls["leave_seq"] = np.where(is_open, NEVER_LEFT, calls["leave_seq"])
    lives["never_left"] = lives["never_left"] - np.bincount(row[is_open], minlength=len(places))
    for first in np.flatnonzero(is_open)[:1].tolist():
        location = int(calls["location"][first])
        count = np.count_nonzero(calls["location"] == location)
        text = f"{basis.standing.name[location]}: call {calls['call'][first]} of {count}"
        basis.defects.note("call_never_left", "loss", text, np.count_nonzero(is_open))


def _joined_reads(parts: Sequence[ArchiveEvents]) -> ArchiveEvents:
    """The columns of several reads together; references to rows are shifted."""
    references = {
        ("regions", "path"): "paths",
        ("calls", "path"): "paths",
        ("forks", "path"): "paths",
        ("teams", "path"): "paths",
        ("paths", "parent"): "paths",
        ("regions", "team"): "teams",
        ("forks", "of"): "teams",
        ("teams", "of"): "forks",
        ("records", "call"): "calls",
    }
    base = dict.fromkeys(("paths", "teams", "forks", "calls"), 0)
    columns: dict[str, dict[str, list[npt.NDArray[Any]]]] = {}
    kinds: Counter[str] = Counter()
    for part in parts:
        for name, table in part.tables.items():
            for column, values in table.items():
                of = references.get((name, column))
                moved = values if of is None else np.where(values >= 0, values + base[of], -1)
                moved = moved.astype(values.dtype)
                columns.setdefault(name, {}).setdefault(column, []).append(moved)
        for name in base:
            base[name] += len(next(iter(part.tables[name].values())))
        kinds.update(part.kinds)
    tables = {
        name: {column: np.concatenate(values) for column, values in table.items()}
        for name, table in columns.items()
    }
    return ArchiveEvents(tables, kinds)
