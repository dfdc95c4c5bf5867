"""Parts of collectives, from the records that begin and end them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline._core import RecordKind
from burstline.columns import ordinal_within
from burstline.formats.intake import PART_COLUMNS, Kind
from burstline.formats.otf2.numbers import COLLECTIVE_OPERATIONS, NO_ROOT
from burstline.schema import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from burstline.columns import Integers, Mask
    from burstline.formats.intake import Calls, Defects, Details, Facts
    from burstline.formats.otf2.reading.communicators import Communicators
    from burstline.formats.otf2.reading.places import Standing
    from burstline.formats.otf2.reading.records import Records


_ROOT_SELF: Final = 0xFFFFFFFE


def collective_parts(
    details: Details,
    records: Records,
    calls: Calls,
    ends: Integers,
    *,
    standing: Standing,
    communicators: Communicators,
    defects: Defects,
) -> tuple[dict[str, Integers], Integers]:
    """Columns of the parts of collectives, and the call that started each.

    `records` are those of `details`, `ends` the rows that ended their requests.
    """
    start, end, blocking = _ended(details, records, ends, standing, defects)
    begin_seq = np.where(blocking, records["begin_seq"][start], records["seq"][start])
    begin_ns = np.where(blocking, records["begin_ns"][start], records["time_ns"][start])
    location = details.location[start]
    process = standing.places.process[location]
    order = np.lexsort((begin_seq, location, begin_ns, process))
    start, end, blocking, process = start[order], end[order], blocking[order], process[order]
    rank = standing.places.rank[process]
    root = _roots(records, end, process, rank, communicators)
    sent = records["sent"][end]
    received = records["received"][end]
    call = details.call[start]
    columns = {
        "location": details.location[start],
        "call": calls.call[call],
        "done_call": calls.call[details.call[end]],
        "begin_ns": begin_ns[order],
        "end_ns": records["time_ns"][end],
        "begin_seq": begin_seq[order],
        "end_seq": records["seq"][end],
        "sent_bytes": sent,
        "received_bytes": received,
        "communicator": details.communicator[end],
        "sequence": ordinal_within(details.communicator[end], process),
        "operation": _operations(calls, call, records["operation"][end]),
        "own_root": np.where(root == rank, rank, UNKNOWN),
        "named_root": root,
    }
    return {name: columns[name].astype(np.int64) for name in PART_COLUMNS}, call


def add_parts(parts: Mapping[str, Integers], call: Integers, facts: Facts) -> None:
    """Add the communicator, root and bytes of collectives to the facts of their calls."""
    is_root = parts["own_root"] >= 0
    facts.add_communicators(call, parts["communicator"])
    facts.add_roots(call[is_root], parts["own_root"][is_root])
    facts.add_bytes("sent", call, parts["sent_bytes"])
    facts.add_bytes("received", call, parts["received_bytes"])


def _ended(
    details: Details, records: Records, ends: Integers, standing: Standing, defects: Defects
) -> tuple[Integers, Integers, Mask]:
    """The records that begin and end collectives, and whether they are blocking."""
    start = np.flatnonzero(details.kind == Kind.COLLECTIVE)
    blocking = records["kind"][start] == RecordKind.COLLECTIVE
    end = np.where(blocking, start, ends[start])
    lost = details.location[start[end < 0]]
    standing.note(defects, "collective_never_completed", lost)
    is_usable = (end >= 0) & (details.communicator[end] >= 0)
    return start[is_usable], end[is_usable], blocking[is_usable]


def _roots(
    records: Records,
    end: Integers,
    process: Integers,
    rank: Integers,
    communicators: Communicators,
) -> Integers:
    recorded = records["root"][end]
    world = communicators.world_ranks(
        records["communicator"][end], process, np.where(recorded < 1 << 31, recorded, -1)
    )
    return np.where(recorded == _ROOT_SELF, rank, np.where(recorded == NO_ROOT, UNKNOWN, world))


def _operations(calls: Calls, call: Integers, recorded: Integers) -> Integers:
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
