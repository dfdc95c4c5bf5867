"""The tables of a few processes, and what other processes need of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from burstline._core import RecordKind
from burstline.columns import (
    Columns,
    Integers,
    Mask,
    codes,
    mapped,
    mask_at,
    ordinal_within,
    row_of,
    shifted,
)
from burstline.extrae import UNRESOLVED
from burstline.formats import intake
from burstline.formats.otf2.numbers import COLLECTIVE_OPERATIONS, NO_ROOT, PERIODS
from burstline.formats.otf2.reading.basis import ArchiveBasis
from burstline.formats.otf2.reading.details import (
    REQUEST_MARK,
    EventRecords,
    as_instant_calls,
    details_of,
    with_own_requests,
)
from burstline.formats.otf2.reading.events import ArchiveEvents
from burstline.formats.otf2.reading.regions import rehang
from burstline.formats.otf2.reading.threads import (
    forks_of,
    gap_table,
    lock_table,
    other_event_table,
    team_table,
)
from burstline.model import NO_VALUE, ORIGINS, UNKNOWN, arrow_table, bursts_of, operations

_COLUMNS: Final = ("location", "time_ns", "periods", "call_path")
_MOST: Final = 1 << 62

_ROOT_SELF: Final = 0xFFFFFFFE
_NOT_OF_PROGRAM: Final = np.array(
    [operations.CODES[name] for name in (*operations.INITS, *operations.FINALIZES)]
)


def collective_parts(
    basis: ArchiveBasis,
    details: intake.Details,
    records: EventRecords,
    ends: Integers,
    facts: intake.CallFacts,
) -> dict[str, Integers]:
    """Columns of the parts of collectives, which are added to the facts of their calls."""
    calls, start = facts.calls, np.flatnonzero(details.kind == intake.DetailKind.COLLECTIVE)
    # What a recorder makes for itself in Init and Finalize is no collective of the program.
    start = start[~np.isin(calls.operation[details.call[start]], _NOT_OF_PROGRAM)]
    blocking = records["kind"][start] == RecordKind.COLLECTIVE
    end = np.where(blocking, start, ends[start])
    basis.note("collective_never_completed", details.location[start[end < 0]])
    is_usable = (end >= 0) & (details.communicator[end] >= 0)
    start, end, blocking = start[is_usable], end[is_usable], blocking[is_usable]
    begin_seq = np.where(blocking, records["begin_seq"][start], records["seq"][start])
    begin_ns = np.where(blocking, records["begin_ns"][start], records["time_ns"][start])
    location = details.location[start]
    process = basis.places.process[location]
    order = np.lexsort((begin_seq, location, begin_ns, process))
    start, end, process = start[order], end[order], process[order]
    rank, recorded = basis.places.rank[process], records["root"][end]
    world = basis.communicators.world_ranks(
        records["communicator"][end], process, np.where(recorded < 1 << 31, recorded, -1)
    )
    root = np.select([recorded == _ROOT_SELF, recorded == NO_ROOT], [rank, UNKNOWN], world)
    is_root, call = root == rank, details.call[start]
    columns = {
        "location": details.location[start],
        "call": calls.call[call],
        "done_call": calls.call[details.call[end]],
        "begin_ns": begin_ns[order],
        "end_ns": records["time_ns"][end],
        "begin_seq": begin_seq[order],
        "end_seq": records["seq"][end],
        "sent_bytes": records["sent"][end],
        "received_bytes": records["received"][end],
        "communicator": details.communicator[end],
        "sequence": ordinal_within(details.communicator[end], process),
        "operation": _part_operations(calls, call, records["operation"][end]),
        "own_root": np.where(is_root, rank, UNKNOWN),
        "named_root": root,
    }
    parts = {name: columns[name].astype(np.int64) for name in intake.PART_COLUMNS}
    facts.add_communicators(call, parts["communicator"])
    facts.add_roots(call[is_root], rank[is_root])
    facts.add_bytes("sent", call, parts["sent_bytes"])
    facts.add_bytes("received", call, parts["received_bytes"])
    return parts


def _part_operations(calls: intake.Calls, call: Integers, recorded: Integers) -> Integers:
    """The operation of each part: that of its call, unless the record names another."""
    codes = {name: code for code, name in enumerate(calls.names)}
    of_call = calls.operation[call].astype(np.int64)
    names = calls.names
    result = of_call.copy()
    pairs = np.stack([of_call, recorded])
    for code, number in np.unique(pairs, axis=1).T.tolist():
        if not 0 <= number < len(COLLECTIVE_OPERATIONS):
            continue
        plain = names[code].removesuffix("_init").lower()
        named = f"MPI_{COLLECTIVE_OPERATIONS[number]}"
        if plain not in (named.lower(), f"mpi_i{COLLECTIVE_OPERATIONS[number].lower()}") and (
            "Neighbor" not in names[code] and "neighbor" not in names[code]
        ):
            result[(of_call == code) & (recorded == number)] = codes[named]
    return result


def make_group(
    basis: ArchiveBasis, events: ArchiveEvents, locations: Sequence[int], *, teams: int
) -> intake.Group:
    """The group of some whole processes, after groups with so many `teams`; `basis` grows."""
    tables, places, defects = events.tables, basis.places, basis.defects
    fork = forks_of(tables["forks"], tables["teams"], places.process, defects)
    rehang(basis.paths, tables, fork, places.process)
    calls = intake.Calls(**tables["calls"], names=tuple(basis.regions.operations))
    # Records take more memory than anything else: each form of them goes once it is not needed.
    records = EventRecords(events.tables.pop("records"))
    died_ns = tables["lives"]["died_ns"].tolist()
    samples, records = _sample_table(records, basis)
    group_tables = {
        "samples": samples,
        "other_events": other_event_table(records, basis),
        "locks": lock_table(records, defects),
        "gaps": gap_table(records, dict(zip(locations, died_ns, strict=True))),
    }
    details, call_records, probe = details_of(records, basis)
    del records
    facts = intake.CallFacts(calls)
    stamped = as_instant_calls(details, call_records, calls)
    ends = intake.follow(*stamped, places.process, defects, mark=REQUEST_MARK)
    parts = collective_parts(basis, details, call_records, ends, facts)
    del call_records
    intake.describe_transfers(details, facts)
    sends, receives, waiting, _ = intake.message_halves(
        details, ends, facts, places=places, defects=defects, probe=probe, stamped=stamped
    )
    del details, stamped, ends
    group_tables |= {
        "calls": facts.table(),
        "regions": shifted(_region_table(basis, tables["regions"], fork), "team", teams),
        "teams": team_table(tables["forks"], fork, places.process, defects),
        "readings": basis.metrics.readings(tables["readings"], tables["values"], defects),
    }
    group_tables["bursts"] = _burst_rows(basis, group_tables)
    for name in ("team", "parent"):
        group_tables["teams"] = shifted(group_tables["teams"], name, teams)
    return intake.Group(
        group_tables,
        with_own_requests(sends, "send_request"),
        with_own_requests(receives, "receive_request"),
        with_own_requests(waiting, "request"),
        parts,
        len(locations),
    )


def _region_table(basis: ArchiveBasis, regions: Columns, fork: Integers) -> pa.Table:
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


def _burst_rows(basis: ArchiveBasis, tables: dict[str, pa.Table]) -> pa.Table:
    count = len(basis.places.process)
    whole = {
        "locations": pa.table({"location": np.arange(count, dtype=np.int32)}),
        "counters": basis.metrics.table(),
        "region_defs": basis.regions.table(),
    }
    return bursts_of(tables | whole)


def _sample_table(records: EventRecords, basis: ArchiveBasis) -> tuple[pa.Table, EventRecords]:
    """The table `samples`, and the records without those that it is made of.

    Periods are an attribute of ours; a sample without stands for one.
    """
    is_sample = records["kind"] == RecordKind.SAMPLE
    if not is_sample.any():
        return arrow_table("samples", dict.fromkeys(_COLUMNS, np.zeros(0, np.int64))), records
    samples = records.pick(np.flatnonzero(is_sample))
    is_periods = _are_periods(records, basis)
    periods = np.ones(len(samples), np.int64)
    given = records.pick(np.flatnonzero(is_periods))
    # an attribute has the ordinal of its sample
    row = row_of(*codes(*((each["location"], each["seq"]) for each in (samples, given))))
    periods[row[row >= 0]] = np.clip(given["value"][row >= 0], 1, _MOST)
    is_own = mask_at(np.flatnonzero(is_periods)[row >= 0], len(is_sample))
    columns = {
        "location": samples["location"],
        "time_ns": samples["time_ns"],
        "periods": periods,
        "call_path": mapped(lambda number: _path_of(number, basis), samples["value"]),
    }
    rest = records.pick(np.flatnonzero(~is_sample & ~is_own))
    return arrow_table("samples", columns), rest


def _are_periods(records: EventRecords, basis: ArchiveBasis) -> Mask:
    """Which records are attributes of that name."""
    defined = basis.archive.defined
    attributes = defined.attributes.items()
    named = [each for each, row in attributes if defined.text(row[0]) == PERIODS]
    is_attribute = records["kind"] == RecordKind.ATTRIBUTE
    return is_attribute & np.isin(records["name"], np.array(named, np.int64))


def _path_of(number: int, basis: ArchiveBasis) -> int:
    """The row of a calling context, from the outermost function on."""
    if number <= basis.regions.unknown_row:
        return UNKNOWN
    chain = basis.regions.chain(number)
    if len(chain) == 1 and basis.regions.function(chain[0][0])[0] == UNRESOLVED:
        return UNKNOWN  # as we write a sample of nobody knows what
    return basis.paths.child(UNKNOWN, number)
