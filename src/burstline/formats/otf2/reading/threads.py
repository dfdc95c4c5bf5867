"""Tables of threads: teams, locks, gaps, and events that no other table has."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa

from burstline._core import RecordKind
from burstline.columns import (
    Columns,
    Integers,
    Mask,
    begins_run,
    distinct,
    match_borders,
    row_of,
    take,
)
from burstline.formats.intake import Defects
from burstline.formats.otf2.reading.archive import ArchiveDefinitions
from burstline.formats.otf2.reading.basis import ArchiveBasis
from burstline.formats.otf2.reading.details import EventRecords
from burstline.model import NO_VALUE, UNKNOWN, arrow_table, last_until, schema

_ON: Final = 1


def forks_of(forks: Columns, begins: Columns, process: Integers, defects: Defects) -> Integers:
    """The fork of each begin of a team, shape (begins,)."""
    # The begin on the forking thread says which team a fork makes. The begin on another thread
    # belongs to the last fork of that team before it.
    fork = begins["of"].astype(np.int64)
    named = np.flatnonzero(fork >= 0)
    rest = np.flatnonzero(fork < 0)
    if not len(rest):
        return fork
    _, name = distinct(process[begins["location"]], begins["value"])
    forked = forks["begin_ns"][fork[named]]
    order = np.lexsort((forked, name[named]))
    named, forked = named[order], forked[order]
    last = last_until((name[named], forked), (name[rest], begins["begin_ns"][rest]))
    fork[rest] = take(fork[named], last)
    defects.note_rows("team_never_forked", "loss", "location {}", begins["location"][fork < 0])
    return fork


def team_table(forks: Columns, fork: Integers, process: Integers, defects: Defects) -> pa.Table:
    """The table `teams`: one for each fork."""
    count = len(forks["location"])
    threads = np.bincount(fork[fork >= 0], minlength=count)
    joined = forks["end_seq"] != NO_VALUE
    defects.note_rows("team_never_joined", "info", "location {}", forks["location"][~joined])
    last = np.maximum(forks["begin_seq"], 0) + 1
    return arrow_table(
        "teams",
        {
            "team": np.arange(count),
            "process": process[forks["location"]],
            "parent": take(fork, forks["of"]),
            "fork_location": forks["location"],
            "fork_ns": forks["begin_ns"],
            "fork_seq": forks["begin_seq"],
            "join_ns": forks["end_ns"],
            "join_seq": np.where(joined, forks["end_seq"], last),
            "threads": np.where(threads > 0, threads, np.clip(forks["value"], 1, 1 << 30)),
        },
    )


def lock_table(records: EventRecords, defects: Defects) -> pa.Table:
    """The table `locks`; a release ends the last acquisition of its location."""
    columns = records.of(RecordKind.LOCK_ACQUIRED, RecordKind.LOCK_RELEASED)
    columns = columns.pick(np.lexsort((columns["seq"], columns["location"])))
    takes = columns["kind"] == RecordKind.LOCK_ACQUIRED
    _, lock = distinct(columns["location"], columns["lock"])
    partner = match_borders(lock, takes)
    kind, alone = "lock_released_but_never_acquired", ~takes & (partner < 0)
    place = columns["location"][alone], columns["lock"][alone]
    defects.note_rows(kind, "info", "location {}, lock {}", *place)
    rows = np.flatnonzero(takes)
    end = partner[rows]
    return arrow_table(
        "locks",
        {
            "location": columns["location"][rows],
            "lock": columns["lock"][rows],
            "order": columns["order"][rows],
            "acquire_ns": columns["time_ns"][rows],
            "acquire_seq": columns["seq"][rows],
            "release_ns": np.where(end >= 0, columns["time_ns"][end], NO_VALUE),
            "release_seq": np.where(end >= 0, columns["seq"][end], NO_VALUE),
        },
    )


def gap_table(records: EventRecords, died_ns: dict[int, int]) -> pa.Table:
    """The table `gaps`; what is never on again is off until its location ends."""
    modes = records.of(RecordKind.MEASUREMENT)
    location, time = modes["location"].astype(np.int64), modes["time_ns"]
    off = modes["mode"] != _ON
    start = np.flatnonzero(begins_run(location, off))
    # a pause ends where the next run of modes begins, if that is on the same location
    following = np.append(start, UNKNOWN)[1:]
    begin, end = start[off[start]], following[off[start]]
    is_ended = (end >= 0) & (location[end] == location[begin])
    last = np.array([died_ns[row] for row in location[begin].tolist()], np.int64)
    stop = np.where(is_ended, time[end], last)
    kind = np.full(len(begin), schema.GAP_KINDS.index("tracing_off"))
    pauses = np.stack([location[begin], time[begin], stop, kind])
    flush = records.of(RecordKind.FLUSH)
    kind = np.full(len(flush), schema.GAP_KINDS.index("flush"))
    flushes = np.stack([flush["location"], flush["time_ns"], flush["end_ns"], kind])
    rows = np.concatenate([flushes, pauses], axis=1)
    rows = rows[:, rows[1] < rows[2]]
    rows = rows[:, np.lexsort((rows[2], rows[1], rows[0]))]
    names = ("location", "start_ns", "end_ns", "kind")
    return arrow_table("gaps", dict(zip(names, rows, strict=True)))


_KINDS: Final = [RecordKind[kind.upper()] for kind in schema.OTHER_EVENT_KINDS]
_CODES: Final = np.full(max(RecordKind) + 1, UNKNOWN, np.int8)
_CODES[_KINDS] = np.arange(len(_KINDS))
_COMMUNICATORS: Final = (RecordKind.COMMUNICATOR_CREATED, RecordKind.COMMUNICATOR_DESTROYED)
_TYPE: Final = {name: code for code, name in enumerate(schema.VALUE_TYPES)}
_LARGEST: Final = 0xFFFFFFFF


def other_event_table(records: EventRecords, basis: ArchiveBasis) -> pa.Table:
    """The table `other_events`, by location and ordinal; an attribute has that of its event."""
    defined, events = basis.archive.defined, records.of(*_KINDS)
    kind, value = events["kind"], events["value"].copy()
    attribute = kind == RecordKind.ATTRIBUTE
    form = np.where(events["type"] < len(schema.VALUE_TYPES), events["type"], UNKNOWN)
    words = form == _TYPE["string"]
    communicator = np.full(len(events), UNKNOWN)
    named = np.isin(kind, _COMMUNICATORS) | (attribute & (form == _TYPE["communicator"]))
    process = basis.places.process[events["location"]]
    communicator[named] = basis.communicators.rows(value[named], process[named])
    of_location = attribute & (form == _TYPE["location"])
    row = row_of(basis.standing.references, value[of_location].view(np.uint64))
    value[of_location] = np.where(row >= 0, row, NO_VALUE)
    value[words | (communicator >= 0) | (kind == RecordKind.PROGRAM_BEGIN)] = NO_VALUE
    return arrow_table(
        "other_events",
        {
            "location": events["location"],
            "seq": events["seq"],
            "time_ns": events["time_ns"],
            "kind": _CODES[kind],
            "name": _event_names(events, defined),
            "type": form,
            "value": value,
            "text": _event_texts(records, events, words, defined),
            "communicator": communicator,
        },
    )


def _looked_up(
    keys: Integers, text_of: Callable[[int], str | None], defined: ArchiveDefinitions
) -> pa.Array:
    """The text of each key; each key is looked up once."""
    distinct, place = np.unique(keys, return_inverse=True)
    texts = [text_of(key) for key in distinct.tolist()]
    sizes = np.array([len(text or "") for text in texts], np.int64)
    defined.account.charge_texts("other_events", int(sizes[place.reshape(-1)].sum()))
    words = pa.array(texts, pa.string())
    return words.take(pa.array(place.reshape(-1)))


def _event_names(events: EventRecords, defined: ArchiveDefinitions) -> pa.Array:
    def name(key: int) -> str | None:
        kind, reference = divmod(key, _LARGEST + 1)
        if kind == RecordKind.PROGRAM_BEGIN:
            return defined.text(reference)
        if kind not in {RecordKind.PARAMETER, RecordKind.ATTRIBUTE}:
            return None
        is_attribute = kind == RecordKind.ATTRIBUTE
        table = defined.attributes if is_attribute else defined.parameters
        return defined.text(table[reference][0]) if reference in table else f"{reference}"

    return _looked_up(
        events["kind"].astype(np.int64) << 32 | events["name"] & _LARGEST, name, defined
    )


def _event_texts(
    records: EventRecords, events: EventRecords, words: Mask, defined: ArchiveDefinitions
) -> pa.Array:
    """Values that are texts, and the arguments of programs."""
    texts = _looked_up(
        np.where(words, events["value"] & _LARGEST, -1),
        lambda reference: None if reference < 0 else defined.text(reference),
        defined,
    )
    given: dict[tuple[int, int], list[str]] = {}
    arguments = records.of(RecordKind.PROGRAM_ARGUMENT)
    columns = [arguments[name].tolist() for name in ("location", "seq", "value")]
    for location, seq, argument in zip(*columns, strict=True):
        given.setdefault((location, seq), []).append(defined.text(argument & _LARGEST))
    if not given:
        return texts
    listed = texts.to_pylist()
    for row in events.rows_of(RecordKind.PROGRAM_BEGIN).tolist():
        event = int(events["location"][row]), int(events["seq"][row])
        if event in given:
            listed[row] = shlex.join(given[event])
    return pa.array(listed, pa.string())
