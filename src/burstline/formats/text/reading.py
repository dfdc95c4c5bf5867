"""Reading of the text form."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from burstline import schema
from burstline.bursts import bursts_of
from burstline.errors import FormatError, InconsistentTraceError, printable
from burstline.formats.text import attributes
from burstline.formats.text.definitions import Definitions, place_of, thread_name
from burstline.formats.text.events import finish, take
from burstline.formats.text.happening import Happening, Rows
from burstline.formats.text.statements import statements
from burstline.formats.text.tables import Assembly, table
from burstline.progress import SILENCE
from burstline.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from burstline.formats.text.definitions import Place, Row
    from burstline.progress import Progress


_FIRST_STATEMENT = re.compile(rb"(?:\s|#[^\n]*\n)*(?:ranks|application)[ \t]+[0-9]")
_NAME: Final = "<text>"


def recognises(head: bytes) -> bool:
    r"""Tell from the first bytes of a file whether it holds a trace as text.

    Parameters
    ----------
    head : bytes
        The beginning of the file, a few kilobytes.

    Returns
    -------
    bool
        Whether its first statement declares ranks.

    Examples
    --------
    >>> recognises(b"# two ranks\nranks 2\n"), recognises(b"#Paraver (")
    (True, False)
    """
    return _FIRST_STATEMENT.match(head) is not None


def read(
    path: Path | str,
    *,
    raw: bool = True,  # noqa: ARG001 -- a text holds nothing raw
    memory: int | None = None,  # noqa: ARG001 -- a text is written by hand: it is small
    threads: int | None = None,  # noqa: ARG001 -- as above
    strict: bool = False,
    progress: Progress = SILENCE,
) -> Trace:
    """Read a trace that was written as text.

    Parameters
    ----------
    path : Path
        The file, in UTF-8.
    raw, memory, threads
        As for every reader; they make no difference here.
    strict : bool
        Whether defects of severity ``error`` are raised.
    progress : Progress
        Told about the bytes read.

    Returns
    -------
    Trace
        The trace; its metadata names the path.

    Raises
    ------
    FormatError
        If the file breaks the rules of the form; it names path and line.
    InconsistentTraceError
        If `strict` is true and something is wrong that cannot be.

    Notes
    -----
    O(characters) time, with the whole text and its rows as Python objects in memory:
    about a hundred times the size of the file.
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
    wrong = [row for row in trace.defects.to_pylist() if row["severity"] == "error"]
    if strict and wrong:
        raise InconsistentTraceError(
            f"{path}: {wrong[0]['kind']}, {printable(wrong[0]['first'])}"
        )
    rows = [row for row in trace.metadata.items() if row[0] != "path"]
    named = [{"key": key, "value": value} for key, value in [*rows, ("path", str(path))]]
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}
    return Trace(tables | {"metadata": table("metadata", named)})


def parse(text: str) -> Trace:
    r"""Build the trace that a text describes.

    Sends and receives are matched in MPI's order, collectives by their sequence on
    each communicator, and bursts lie between consecutive calls.

    Parameters
    ----------
    text : str
        Statements, see :mod:`burstline.formats.text`.

    Returns
    -------
    Trace
        In memory, without raw tables. Sends without a receive and receives without a
        send are rows of `defects`.

    Raises
    ------
    FormatError
        If the text breaks the rules of the form; it names the line.

    Notes
    -----
    Every event list becomes a trace and comes back from it unchanged: ``render(parse(t))``
    says what `t` said, and ``half`` of each event of a message that has no other side.

    Examples
    --------
    >>> trace = parse(
    ...     "ranks 2 | 0 | 5 enter MPI_Send | 6 send to 1 bytes 8 | 7 leave"
    ...     "| 1 | 0 enter MPI_Recv | 9 receive from 0 bytes 8 | 9 leave"
    ... )
    >>> trace.messages["post_ns"].to_pylist(), trace.messages["receive_ns"].to_pylist()
    ([0], [9])
    """
    return _parse(text, Path(_NAME))


def _parse(text: str, path: Path) -> Trace:
    defined, rows = Definitions(), Rows()
    happenings: dict[Place, Happening] = {}
    here: Happening | None = None
    for statement in statements(text, path):
        if defined.declare(statement):
            continue
        place = place_of(statement.words[0], statement) if statement.words else None
        if place is not None and len(statement.words) == 1:
            if place not in defined.places:
                raise statement.error("a rank that was declared before")
            if not defined.is_closed:
                defined.is_closed = True
                places = sorted(defined.places)
                happenings = {p: Happening(k, defined, rows) for k, p in enumerate(places)}
            here = happenings[place]
        elif here is None:
            raise statement.error("a declaration, or a rank")
        else:
            take(here, statement)
    for happening in happenings.values():
        finish(happening)
    _add_worlds(defined, path)
    return Trace(_tables(defined, rows, happenings))


def _add_worlds(defined: Definitions, path: Path) -> None:
    ranks: dict[int, dict[int, None]] = {}
    for application, rank, _ in sorted(defined.places):
        ranks.setdefault(application, {})[rank] = None
    for application in range(max(ranks, default=-1) + 1):
        row = {"communicator": application, "application": application, "kind": "world"}
        row |= {"members": list(ranks.get(application, {})), "ambiguous": False}
        defined.communicators.setdefault(application, row | {"source_id": application + 1})
    missing = set(range(len(defined.communicators))) - set(defined.communicators)
    if missing:
        raise FormatError(
            path, None, expected=f"communicator {min(missing)}", found="none of that number"
        )


def _tables(
    defined: Definitions, rows: Rows, happenings: Mapping[Place, Happening]
) -> dict[str, pa.Table]:
    places = sorted(defined.places)
    assembly = Assembly(defined, rows, places)
    known = list(defined.operations)
    calls = sorted(rows.calls, key=lambda row: (row["location"], row["call"]))
    teams, locks = assembly.teams(), assembly.locks()
    messages = assembly.messages()
    instances, members = assembly.collectives(known)
    _describe(calls, rows, places)
    found: dict[str, Sequence[Row]] = {
        "locations": _locations(defined, happenings, assembly),
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
        "call_paths": defined.paths,
        "region_defs": defined.regions,
        "counters": defined.counters,
        "counter_sets": sorted(defined.counter_sets, key=lambda row: row["counter_set"]),
        "communicators": [row for _, row in sorted(defined.communicators.items())],
        "metadata": defined.metadata,
        "defects": [*defined.defects, *assembly.defects],
    }
    if not any(row["key"] == "format" for row in defined.metadata):
        defined.metadata.insert(0, {"key": "format", "value": "text"})
    counters = defined.counter_names
    tables = {
        name: table(name, some, counters=counters, known=known) for name, some in found.items()
    }
    return tables | {"bursts": bursts_of(tables)}


def _locations(
    defined: Definitions, happenings: Mapping[Place, Happening], assembly: Assembly
) -> list[Row]:
    rows = []
    for location, (place, given) in enumerate(sorted(defined.places.items())):
        here = happenings.get(place)
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
    """Give every call the attributes that follow from its events, or that were given."""
    known = attributes.Attributes()

    def named(row: Row, column: str) -> Any:  # noqa: ANN401 -- None, or a call
        return row[column] and (row["location"], row[column]["call"])

    for row in rows.sends:
        if row["send_call"]:
            partner = row["partner"], row["tag"]
            known.send(named(row, "send_call"), partner, row["communicator"])
            known.add(named(row, "send_call"), "sent_bytes", row["bytes"])
    for row in rows.receives:
        if row["post_call"]:
            partner = row["partner"], row["tag"]
            known.post(named(row, "post_call"), partner, row["communicator"])
        if row["receive_call"]:
            known.add(named(row, "receive_call"), "received_bytes", row["bytes"])
    for row in rows.parts:
        call, rank = named(row, "call"), places[row["location"]][1]
        known.part(call, rank if row["root"] == rank else None, row["communicator"])
        for column in ("sent_bytes", "received_bytes"):
            known.add(call, column, row[column])
    for call_row in calls:
        given = call_row["given"]
        call_row.update(known.of((call_row["location"], call_row["call"])))
        call_row.update({attributes.NAMES.get(k, k): value for k, value in given.items()})
        call_row["call_path"] = given.get("path")
