"""From the rows of a text to tables: what each location did, and what its names mean."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Final

import pyarrow as pa

from burstline.formats.intake import Defects
from burstline.formats.text.forms import FORMS, REFERENCES, ROWS, WORLD, Row
from burstline.formats.text.inference import CallAttributes, derived_tables
from burstline.formats.text.reading.definitions import Declarations
from burstline.formats.text.reading.location import OpenLocation, Rows
from burstline.formats.text.statements import Place, place_word, thread_name
from burstline.model import CODES, UNKNOWN, arrow_table, schema

_DEFINED: Final = ("call_paths", "region_defs", "counters", "counter_sets")
_HAPPENED: Final = ("calls", "regions", "teams", "locks", "readings", "other_events", "gaps")
_NAMES: Final = {"communicator": "a communicator", "call_path": "a call path declared before"}


def table(
    name: str,
    rows: Sequence[Row],
    *,
    counters: Sequence[str] = (),
    operations: Mapping[str, int] = CODES,
) -> pa.Table:
    """A table of the schema from rows: what a row lacks is null, what is no column left out."""
    if not rows:
        return _empty_table(name, tuple(counters))
    rows = _in_order(name, rows)
    names = [*(column.name for column in schema.TABLES[name].columns), *counters]
    values: dict[str, Any] = {column: [row.get(column) for row in rows] for column in names}
    return arrow_table(name, values, counters=counters, operations=list(operations))


def _in_order(name: str, rows: Sequence[Row]) -> list[Row]:
    order = schema.TABLES[name].order
    return sorted(rows, key=lambda row: [UNKNOWN if row[c] is None else row[c] for c in order])


@lru_cache(maxsize=256)
def _empty_table(name: str, counters: tuple[str, ...]) -> pa.Table:
    return schema.arrow_schema(name, counters).empty_table()


def definition_tables(
    definitions: Declarations, locations: Mapping[Place, OpenLocation], process: Sequence[int]
) -> dict[str, pa.Table]:
    """The tables of what is declared; `process` is that of each location."""
    rows = {name: definitions.rows[name] for name in _DEFINED}
    rows["locations"] = _location_rows(definitions, locations, process)
    rows["communicators"] = list(definitions.communicators.values())
    tables = {name: table(name, some) for name, some in rows.items()}
    _check_values("locations", rows["locations"], tables)
    return tables


def add_inferred(
    rows: Rows, definitions: Declarations, process: Sequence[int], defects: Defects
) -> None:
    """Add to the rows what the text leaves to be inferred; `process` is of each location."""
    places = sorted(definitions.places)
    for row in [*rows["sends"], *rows["receives"], *rows["parts"]]:
        if row["communicator"] == WORLD:
            row["communicator"] = places[row["location"]][0]
    ranks = [rank for _, rank, _ in places]
    attributes = CallAttributes(rows["sends"], rows["receives"], rows["parts"], ranks)
    for row in rows["calls"]:
        row.update(attributes.of((row["location"], row["call"])) | row["given"])
    _add_teams(rows, places, process, defects)
    _add_orders(rows["locks"], process)


def event_tables(
    rows: Rows, definitions: Declarations, defined: Mapping[str, pa.Table]
) -> dict[str, pa.Table]:
    """The tables of what happened on each location, where no other process is asked.

    `defined` are those of :func:`definition_tables`.
    """
    make = partial(table, counters=definitions.counter_names, operations=definitions.operations)
    tables = {name: make(name, rows[name]) for name in _HAPPENED}
    given = {
        name: make(name, definitions.rows[name]) for name in ROWS if definitions.rows[name]
    }
    tables |= derived_tables({**defined, **tables}) | given
    _check_references(rows, definitions, {**defined, **tables})
    for name in given:
        _check_values(name, definitions.rows[name], {**defined, **tables})
    return tables


def _check_values(name: str, rows: Sequence[Row], tables: Mapping[str, pa.Table]) -> None:
    """Raise where a row that was declared has a value that no other format would keep."""
    wrong = schema.first_wrong_of(name, tables)
    if wrong is not None:
        statement = _in_order(name, rows)[wrong.row]["statement"]
        raise statement.error(f"{wrong.expected}, in column {wrong.column}", wrong.value)


def _check_references(
    rows: Rows, definitions: Declarations, tables: Mapping[str, pa.Table]
) -> None:
    """Raise where a row names a row of another table that is not there."""
    counts = dict.fromkeys(ROWS, 0) | {name: table.num_rows for name, table in tables.items()}
    limits = {c: (name, counts[name]) for c, name in REFERENCES.items() if name in counts}
    for name, some in [*rows.items(), *definitions.rows.items()]:
        for row in some:
            for column in limits.keys() & row.keys():
                target, limit = limits[column]
                if target != name and row[column] is not None and row[column] >= limit:
                    expected = _NAMES.get(column, f"a row of {target}")
                    raise row["statement"].error(expected, str(row[column]))
    calls = Counter(row["location"] for row in rows["calls"])
    for row in (row for name in ROWS for row in definitions.rows[name]):
        for column in ("call", "call_before", "call_after"):
            if row.get(column) is not None and row[column] >= calls[row["location"]]:
                raise row["statement"].error("a call of its location", str(row[column]))
    for row in rows["other_events"]:
        location = row["value"] if row["type"] == "location" else None
        if location is not None and not 0 <= location < tables["locations"].num_rows:
            raise row["statement"].error("the number of a location", str(location))


def _add_teams(
    rows: Rows, places: Sequence[Place], process: Sequence[int], defects: Defects
) -> None:
    """Add their numbers and parents to the teams, and its team to each region."""
    forks = sorted(
        rows["teams"],
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
    for row in rows["regions"]:
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


def _location_rows(
    definitions: Declarations, locations: Mapping[Place, OpenLocation], process: Sequence[int]
) -> list[Row]:
    rows = []
    for location, (place, given) in enumerate(sorted(definitions.places.items())):
        here = locations.get(place)
        application, rank, thread = place
        row = {"location": location, "process": process[location]}
        row |= {"application": application, "rank": rank, "thread": thread}
        if here and here.first_ns is not None:
            row |= {"born_ns": here.first_ns, "died_ns": here.now_ns}
        rows.append(FORMS["location"].usual | row | {"name": thread_name(place)} | given)
    return rows
