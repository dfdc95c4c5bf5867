"""From the rows of a text to tables: what each location did, and what its names mean.

::

    rows ─ add_inferred ─► with communicators, teams, orders, attributes of calls ─► tables
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from burstline import operations, schema
from burstline.bursts import bursts_of
from burstline.formats.text.call_attributes import CallAttributes
from burstline.formats.text.options import CALL_COLUMNS
from burstline.formats.text.places import place_word, thread_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from burstline.formats.intake import Defects
    from burstline.formats.text.places import Place, Row
    from burstline.formats.text.reading.definitions import Definitions
    from burstline.formats.text.reading.location import Location, Rows


def table(
    name: str, rows: Sequence[Row], *, counters: Sequence[str] = (), known: Sequence[str] = ()
) -> pa.Table:
    """A table of the schema from rows: what a row lacks is null, what is no column left out.

    `known` has every operation that occurs, in the order of its codes.
    """
    target = schema.arrow_schema(name, counters)
    columns = []
    for field in target:
        values = [row.get(field.name) for row in rows]
        if pa.types.is_dictionary(field.type):
            column = next(c for c in schema.TABLES[name].columns if c.name == field.name)
            words = column.values or known or operations.NAMES
            codes: dict[Any, int] = {word: code for code, word in enumerate(words)}
            indices = pa.array([codes.get(v) for v in values], field.type.index_type)
            columns.append(
                pa.DictionaryArray.from_arrays(indices, pa.array(words, pa.string()))
            )
        else:
            columns.append(pa.array(values, field.type))
    return pa.Table.from_arrays(columns, schema=target)


def definition_tables(
    definitions: Definitions, locations: Mapping[Place, Location], process: Sequence[int]
) -> dict[str, pa.Table]:
    """The tables of what is declared; `process` is that of each location."""
    rows: dict[str, Sequence[Row]] = {
        "locations": _locations(definitions, locations, process),
        "call_paths": definitions.paths,
        "region_defs": definitions.regions,
        "counters": definitions.counters,
        "counter_sets": sorted(definitions.counter_sets, key=lambda row: row["counter_set"]),
        "communicators": [row for _, row in sorted(definitions.communicators.items())],
    }
    return {name: table(name, some) for name, some in rows.items()}


def add_inferred(
    rows: Rows, definitions: Definitions, process: Sequence[int], defects: Defects
) -> None:
    """Add to the rows what the text leaves to be inferred; `process` is of each location."""
    places = sorted(definitions.places)
    _add_communicators(rows, definitions, places)
    _check_locations(rows, len(places))
    _add_attributes(rows, places)
    _add_teams(rows, places, process, defects)
    _add_orders(rows.locks, process)


def event_tables(
    rows: Rows, definitions: Definitions, defined: Mapping[str, pa.Table]
) -> dict[str, pa.Table]:
    """The tables of what happened on each location, where no other process is asked.

    `defined` are those of :func:`definition_tables`.
    """
    by_table = {
        "calls": _sorted(rows.calls, "call"),
        "regions": _sorted(rows.regions, "row"),
        "teams": sorted(rows.teams, key=lambda row: row["team"]),
        "locks": _sorted(rows.locks, "acquire_seq"),
        "readings": _sorted(rows.readings, "seq"),
        "other_events": _sorted(rows.other_events, "seq"),
        "gaps": _sorted(rows.gaps, "start_ns"),
    }
    counters, known = definitions.counter_names, list(definitions.operations)
    tables = {
        name: table(name, some, counters=counters, known=known)
        for name, some in by_table.items()
    }
    return tables | {"bursts": bursts_of({**defined, **tables})}


def _sorted(rows: Sequence[Row], column: str) -> list[Row]:
    return sorted(rows, key=lambda row: (row["location"], row[column]))


def _add_communicators(rows: Rows, definitions: Definitions, places: Sequence[Place]) -> None:
    """Add the world where a row names no communicator; what it names has to be declared."""
    inner = [*rows.sends, *rows.receives, *rows.parts]
    for row in inner:
        if row["communicator"] is None:
            row["communicator"] = places[row["location"]][0]
    for row in [*inner, *rows.half_messages, *rows.other_events]:
        named = row["communicator"]
        if named is not None and named not in definitions.communicators:
            raise row["statement"].error("a communicator", str(named))


def _check_locations(rows: Rows, count: int) -> None:
    for row in rows.other_events:
        named = row["value"] if row["type"] == "location" else None
        if named is not None and not 0 <= named < count:
            raise row["statement"].error("the number of a location", str(named))


def _add_teams(
    rows: Rows, places: Sequence[Place], process: Sequence[int], defects: Defects
) -> None:
    """Add their numbers and parents to the teams, and its team to each region."""
    forks = sorted(
        rows.teams,
        key=lambda row: (
            process[row["fork_location"]],
            row["fork_ns"],
            row["fork_location"],
            row["fork_seq"],
        ),
    )
    of_comm = defaultdict(list)
    for team, row in enumerate(forks):
        row |= {"team": team, "process": process[row["fork_location"]]}
        of_comm[row["process"], row["comm"]].append(team)
    seen: dict[tuple[int, int], int] = defaultdict(int)
    for row in rows.regions:
        if "comm" not in row:
            row["team"] = row["inside"] and row["inside"]["team"]
            continue
        where = row["location"], row["comm"]
        teams = of_comm[process[row["location"]], row["comm"]]
        row["team"] = teams[seen[where]] if seen[where] < len(teams) else None
        seen[where] += 1
        if row["team"] is None:
            text = f"location {place_word(places[row['location']])} at {row['enter_ns']} ns"
            defects.note("team_without_fork", "loss", text)
    for row in forks:
        row["parent"] = row["inside"] and row["inside"]["team"]


def _add_orders(locks: Sequence[Row], process: Sequence[int]) -> None:
    """Add the order of each acquisition that lacks one: by time within its process."""
    count: dict[tuple[int, int], int] = defaultdict(int)
    for row in sorted(locks, key=lambda r: (r["acquire_ns"], r["location"], r["acquire_seq"])):
        lock = process[row["location"]], row["lock"]
        count[lock] += 1
        if row["order"] is None:
            row["order"] = count[lock]


def _locations(
    definitions: Definitions, locations: Mapping[Place, Location], process: Sequence[int]
) -> list[Row]:
    rows = []
    for location, (place, given) in enumerate(sorted(definitions.places.items())):
        here = locations.get(place)
        seen = here is not None and here.first_ns is not None
        rows.append(
            {
                "location": location,
                "application": place[0],
                "process": process[location],
                "rank": place[1],
                "thread": place[2],
                "kind": given.get("kind", "cpu"),
                "node": given.get("node"),
                "born_ns": given.get("born", here.first_ns if here and seen else 0),
                "died_ns": given.get("died", here.now_ns if here and seen else 0),
                "name": given.get("name", thread_name(place)),
                "cpu": given.get("cpu"),
            }
        )
    return rows


def _add_attributes(rows: Rows, places: Sequence[Place]) -> None:
    """Add to every call the attributes that follow from its events, or that were given."""
    attributes = CallAttributes()

    def named(row: Row, column: str) -> tuple[int, int]:
        return row["location"], row[column]

    for row in rows.sends:
        if row["send_call"] is not None:
            partner = row["partner"], row["tag"]
            attributes.add_send(named(row, "send_call"), partner, row["communicator"])
            attributes.add_bytes(named(row, "send_call"), "sent_bytes", row["bytes"])
    for row in rows.receives:
        if row["post_call"] is not None:
            partner = row["partner"], row["tag"]
            attributes.add_post(named(row, "post_call"), partner, row["communicator"])
        if row["receive_call"] is not None:
            attributes.add_bytes(named(row, "receive_call"), "received_bytes", row["bytes"])
    for row in rows.parts:
        call, rank = named(row, "call"), places[row["location"]][1]
        attributes.add_part(call, rank if row["root"] == rank else None, row["communicator"])
        for column in ("sent_bytes", "received_bytes"):
            attributes.add_bytes(call, column, row[column])
    for call_row in rows.calls:
        given = call_row["given"]
        call_row.update(attributes.of((call_row["location"], call_row["call"])))
        call_row.update({CALL_COLUMNS.get(k, k): value for k, value in given.items()})
        call_row["call_path"] = given.get("path")
