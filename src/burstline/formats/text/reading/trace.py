"""From statements to a trace: declarations first, then the events of each location."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from burstline import schema
from burstline.bursts import bursts_of
from burstline.errors import FormatError
from burstline.formats.text.call_attributes import CallAttributes
from burstline.formats.text.options import CALL_COLUMNS
from burstline.formats.text.places import place_of, thread_name
from burstline.formats.text.reading.definitions import Definitions
from burstline.formats.text.reading.events import finish, take
from burstline.formats.text.reading.location import Location, Rows
from burstline.formats.text.reading.tables import Assembly, table
from burstline.formats.text.statements import statements
from burstline.progress import SILENCE
from burstline.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from burstline.formats.text.places import Place, Row
    from burstline.progress import Progress


_FIRST_STATEMENT = re.compile(rb"(?:\s|#[^\n]*\n)*(?:ranks|application)[ \t]+[0-9]")
_NAME: Final = "<text>"


def recognises(_path: Path, head: bytes) -> bool:
    r"""Whether a file that begins with `head` holds a trace as text: it declares ranks first.

    >>> from pathlib import Path
    >>> heads = b"# two ranks\nranks 2\n", b"#Paraver ("
    >>> [recognises(Path("run"), head) for head in heads]
    [True, False]
    """
    return _FIRST_STATEMENT.match(head) is not None


def read(path: Path | str, *, progress: Progress = SILENCE, **_: object) -> Trace:
    """Read a trace that was written as text; its metadata names the path.

    In memory are the whole text and its rows, about a hundred times the size of the file. What
    readers of other formats are asked makes no difference: a text holds nothing raw.
    """
    path = Path(path)
    progress.step("Reading", path.stat().st_size, "B")
    content = path.read_bytes()
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = repr(content[error.start : error.start + 8])
        raise FormatError(path, line, expected="UTF-8", found=found) from error
    trace = _parse(text, path)
    progress.advance(len(content))
    rows = [row for row in trace.metadata.items() if row[0] != "path"]
    named = [{"key": key, "value": value} for key, value in [*rows, ("path", str(path))]]
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
    return Trace(tables | {"metadata": table("metadata", named)})


def parse(text: str) -> Trace:
    r"""The trace that a text describes, in memory and without raw tables.

    Sends and receives are matched in MPI's order, collectives by their sequence on each
    communicator, and bursts lie between consecutive calls. Every list of events comes back
    from its trace: ``render(parse(t))`` says what `t` said, and ``half`` of each event of a
    message that has no other side.

    >>> trace = parse(
    ...     "ranks 2 | 0 | 5 enter MPI_Send | 6 send to 1 bytes 8 | 7 leave"
    ...     "| 1 | 0 enter MPI_Recv | 9 receive from 0 bytes 8 | 9 leave"
    ... )
    >>> trace.messages["post_ns"].to_pylist(), trace.messages["receive_ns"].to_pylist()
    ([0], [9])
    """
    return _parse(text, Path(_NAME))


def _parse(text: str, path: Path) -> Trace:
    definitions, rows = Definitions(), Rows()
    locations: dict[Place, Location] = {}
    here: Location | None = None
    for statement in statements(text, path):
        if definitions.declare(statement):
            continue
        place = place_of(statement.words[0], statement) if statement.words else None
        if place is not None and len(statement.words) == 1:
            if place not in definitions.places:
                raise statement.error("a rank that was declared before")
            if not definitions.is_closed:
                definitions.is_closed = True
                places = sorted(definitions.places)
                locations = {p: Location(k, definitions, rows) for k, p in enumerate(places)}
            here = locations[place]
        elif here is None:
            raise statement.error("a declaration, or a rank")
        else:
            take(here, statement)
    for location in locations.values():
        finish(location)
    _add_worlds(definitions, path)
    return Trace(_tables(definitions, rows, locations))


def _add_worlds(definitions: Definitions, path: Path) -> None:
    ranks: dict[int, dict[int, None]] = {}
    for application, rank, _ in sorted(definitions.places):
        ranks.setdefault(application, {})[rank] = None
    for application in range(max(ranks, default=-1) + 1):
        row = {"communicator": application, "application": application, "kind": "world"}
        row |= {"members": list(ranks.get(application, {})), "ambiguous": False}
        definitions.communicators.setdefault(application, row | {"source_id": application + 1})
    missing = set(range(len(definitions.communicators))) - set(definitions.communicators)
    if missing:
        raise FormatError(
            path, None, expected=f"communicator {min(missing)}", found="none of that number"
        )


def _tables(
    definitions: Definitions, rows: Rows, locations: Mapping[Place, Location]
) -> dict[str, pa.Table]:
    places = sorted(definitions.places)
    assembly = Assembly(definitions, rows, places)
    known = list(definitions.operations)
    calls = sorted(rows.calls, key=lambda row: (row["location"], row["call"]))
    teams, locks = assembly.teams(), assembly.locks()
    messages = assembly.messages()
    instances, members = assembly.collectives(known)
    _describe(calls, rows, places)
    by_table: dict[str, Sequence[Row]] = {
        "locations": _locations(definitions, locations, assembly),
        "calls": calls,
        "messages": messages,
        "collectives": instances,
        "collective_members": members,
        "regions": sorted(rows.regions, key=lambda row: (row["location"], row["row"])),
        "teams": teams,
        "locks": locks,
        "readings": sorted(rows.readings, key=lambda row: (row["location"], row["seq"])),
        "half_messages": assembly.half_messages(),
        "other_events": assembly.other_events(),
        "gaps": sorted(rows.gaps, key=lambda row: (row["location"], row["start_ns"])),
        "call_paths": definitions.paths,
        "region_defs": definitions.regions,
        "counters": definitions.counters,
        "counter_sets": sorted(definitions.counter_sets, key=lambda row: row["counter_set"]),
        "communicators": [row for _, row in sorted(definitions.communicators.items())],
        "metadata": definitions.metadata,
        "defects": [*definitions.defects, *assembly.defects],
    }
    if not any(row["key"] == "format" for row in definitions.metadata):
        definitions.metadata.insert(0, {"key": "format", "value": "text"})
    counters = definitions.counter_names
    tables = {
        name: table(name, some, counters=counters, known=known)
        for name, some in by_table.items()
    }
    return tables | {"bursts": bursts_of(tables)}


def _locations(
    definitions: Definitions, locations: Mapping[Place, Location], assembly: Assembly
) -> list[Row]:
    rows = []
    for location, (place, given) in enumerate(sorted(definitions.places.items())):
        here = locations.get(place)
        seen = here is not None and here.first_ns is not None
        rows.append(
            {
                "location": location,
                "application": place[0],
                "process": assembly.process(location),
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


def _describe(calls: Sequence[Row], rows: Rows, places: Sequence[Place]) -> None:
    """Add to every call the attributes that follow from its events, or that were given."""
    attributes = CallAttributes()

    def named(row: Row, column: str) -> Any:  # noqa: ANN401 -- None, or a call
        return row[column] and (row["location"], row[column]["call"])

    for row in rows.sends:
        if row["send_call"]:
            partner = row["partner"], row["tag"]
            attributes.add_send(named(row, "send_call"), partner, row["communicator"])
            attributes.add_bytes(named(row, "send_call"), "sent_bytes", row["bytes"])
    for row in rows.receives:
        if row["post_call"]:
            partner = row["partner"], row["tag"]
            attributes.add_post(named(row, "post_call"), partner, row["communicator"])
        if row["receive_call"]:
            attributes.add_bytes(named(row, "receive_call"), "received_bytes", row["bytes"])
    for row in rows.parts:
        call, rank = named(row, "call"), places[row["location"]][1]
        attributes.add_part(call, rank if row["root"] == rank else None, row["communicator"])
        for column in ("sent_bytes", "received_bytes"):
            attributes.add_bytes(call, column, row[column])
    for call_row in calls:
        given = call_row["given"]
        call_row.update(attributes.of((call_row["location"], call_row["call"])))
        call_row.update({CALL_COLUMNS.get(k, k): value for k, value in given.items()})
        call_row["call_path"] = given.get("path")
