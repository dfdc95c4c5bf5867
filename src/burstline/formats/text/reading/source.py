"""A text becomes a trace: it is a source of the one loop that reads, and its only part."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from burstline.columns import Columns, Integers, ordinal_within
from burstline.errors import FormatError, readable
from burstline.formats import intake
from burstline.formats.files import require_plain
from burstline.formats.text.forms import FORMS, REFERENCES, ROWS, WORLD, Row
from burstline.formats.text.inference import CallAttributes, derived_tables, worlds
from burstline.formats.text.reading.definitions import Declarations
from burstline.formats.text.reading.location import OpenLocation, Rows
from burstline.formats.text.statements import (
    Place,
    place_of,
    place_word,
    statements,
    thread_name,
)
from burstline.model import CODES, NO_VALUE, UNKNOWN, Trace, arrow_table, schema
from burstline.progress import SILENCE, Progress

_FIRST_STATEMENT = re.compile(rb"(?:\s|#[^\n]*\n)*(?:ranks|application)[ \t]+[0-9]")
_NAME: Final = "<text>"
_BYTES_PER_BYTE: Final = 100  # in memory are the whole text and its rows
_RECORDED, _INFERRED, _UNKNOWN = map(
    schema.SEND_DONE_SOURCES.index, ("recorded", "inferred", "unknown")
)
_TABLES: Final = ("messages", "half_messages", "collective_members")
_LONG: Final = {
    c.name for name in _TABLES for c in schema.TABLES[name].columns if c.type == "int64"
}


def recognises(_path: Path, head: bytes) -> bool:
    """Whether a file that begins with `head` holds a trace as text: it declares ranks first."""
    return _FIRST_STATEMENT.match(head) is not None


def read(
    path: Path | str, *, memory: int | None = None, progress: Progress = SILENCE, **_: object
) -> Trace:
    """Read a trace that was written as text; its metadata names the path."""
    path = Path(path)
    require_plain(path)
    needed = intake.BASE + _BYTES_PER_BYTE * path.stat().st_size
    way_out = "Allow more memory (`memory`), or write it as .prv."
    intake.require_bytes(needed, memory, way_out=way_out)
    content = path.read_bytes()
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = repr(content[error.start : error.start + 8])
        raise FormatError(path, line, expected="UTF-8", found=found) from error
    source = TextSource(text, path, name=readable(path))
    return intake.hold(source, source.parts(), intake.Pace(progress=progress))


def parse(text: str) -> Trace:
    """The trace that a text describes, in memory and without raw tables."""
    source = TextSource(text, Path(_NAME))
    return intake.hold(source, source.parts(), intake.Pace())


class TextSource(intake.Source[intake.Processes, Rows]):
    """A text, its statements read; `name` is what the trace says it is made of."""

    def __init__(self, text: str, path: Path, *, name: str | None = None) -> None:
        self._name, self.defects = name, intake.Defects()
        self._definitions = Declarations()
        self._rows: Rows = defaultdict(list)
        locations = self._read(text, path)
        communicators = self._definitions.communicators
        communicators |= worlds(self._definitions.places) | communicators
        missing = set(range(len(communicators))) - set(communicators)
        if missing:
            number = f"communicator {min(missing)}"
            raise FormatError(path, None, expected=number, found="none of that number")
        self.members = [tuple(communicators[row]["members"]) for row in sorted(communicators)]
        self.counters = self._definitions.counter_names
        self.operations = list(self._definitions.operations)
        places = sorted(self._definitions.places)
        self.places = _places_of(places)
        self._process = self.places.process.tolist()
        self._defined = _definition_tables(self._definitions, locations, self._process)
        self.joining = intake.MpiOrder(self.places, self.defects)

    def _read(self, text: str, path: Path) -> dict[Place, OpenLocation]:
        """The locations after their last events; rows and definitions are added."""
        definitions = self._definitions
        locations: dict[Place, OpenLocation] = {}
        here: OpenLocation | None = None
        for statement in statements(text, path):
            if definitions.declare(statement):
                continue
            place = (
                place_of(statement.words[0], statement) if len(statement.words) == 1 else None
            )
            if place is not None:
                if place not in definitions.places:
                    raise statement.error("a rank that was declared before")
                if not definitions.is_closed:
                    definitions.is_closed = True
                    places = sorted(definitions.places)
                    locations = {
                        p: OpenLocation(k, definitions, self._rows)
                        for k, p in enumerate(places)
                    }
                here = locations[place]
            elif here is None:
                raise statement.error("a declaration, or a rank")
            else:
                here.take(statement)
        for location in locations.values():
            location.finish()
        return locations

    def parts(self) -> list[intake.Processes]:
        """All processes at once."""
        return [intake.Processes(range(len(self.places.rank)))]

    def load(self, part: intake.Processes) -> Rows:
        """The rows of all locations, which were read with the statements."""
        del part
        return self._rows

    def group(self, part: intake.Processes, loaded: Rows) -> intake.Group:
        """The group of all processes."""
        del part
        definitions, places = self._definitions, self.places
        _add_inferred(loaded, definitions, self._process, self.defects)
        for row in loaded["posts"]:
            statement = row["statement"]
            words = " ".join(statement.words)
            self.defects.note_line("receive_never_completed", "loss", statement.line, words)
        return intake.Group(
            _event_tables(loaded, definitions, self._defined),
            _sends_of(loaded["sends"], places),
            _receives_of(loaded["receives"], places),
            waiting=_half_messages(loaded["half_messages"], loaded["posts"]),
            parts=_parts_of(loaded["parts"], places, definitions.operations),
            locations=len(places.process),
        )

    def whole(self) -> dict[str, pa.Table]:
        """Tables of what is declared, and of what is odd."""
        metadata = self._definitions.rows["metadata"]
        declared = self._definitions.rows["defects"]
        if not any(row["key"] == "format" for row in metadata):
            metadata = [{"key": "format", "value": "text"}, *metadata]
        if self._name is not None:
            metadata = [row for row in metadata if row["key"] != "path"]
            metadata.append({"key": "path", "value": self._name})
        # what the text itself declares is not noted again: the text of a trace is that trace
        kinds = {row["kind"] for row in declared}
        found = self.defects.table().to_pylist() if self.defects.rows() else []
        noted = [row for row in found if row["kind"] not in kinds]
        return self._defined | {
            "metadata": _table_of("metadata", metadata),
            "defects": _table_of("defects", [*declared, *noted]),
        }


def _places_of(places: Sequence[Place]) -> intake.Placement:
    processes = sorted({place[:2] for place in places})
    number = {process: place for place, process in enumerate(processes)}
    application, rank = np.array(processes, np.int64).reshape(-1, 2).T
    process = np.array([number[place[:2]] for place in places], np.int64)
    return intake.Placement(process, application, rank, accuracy_ns=None)


def _sends_of(rows: Iterable[Row], places: intake.Placement) -> Columns:
    rows = sorted(rows, key=lambda row: (row["location"], row["send_seq"]))
    columns = _columns_of([_with_completion(row) for row in rows], intake.SEND_COLUMNS)
    sender = places.process[columns["sender_location"]]
    receiver = _partner_processes(rows, "to", places)
    ordinal = _ordinals_on_channels(columns, sender, receiver, columns["send_ns"])
    return columns | {"receiver": receiver, "ordinal": ordinal}


def _with_completion(row: Row) -> Row:
    call = row["within"]
    send = row | {"send_leave_ns": call["leave_ns"] if call else row["send_ns"]}
    if "send_done_ns" in row:
        return send | {"send_done_from": _RECORDED}
    if row["send_request"] is not None:
        return send | {"send_done_from": _UNKNOWN}
    return send | {
        "send_done_call": row["send_call"],
        "send_done_ns": send["send_leave_ns"],
        "send_done_seq": call["leave_seq"] if call else row["send_seq"],
        "send_done_from": _INFERRED,
    }


def _receives_of(rows: Iterable[Row], places: intake.Placement) -> Columns:
    """The receives of all locations, numbered on their channels by when they were posted."""
    rows = sorted(rows, key=lambda r: (r["location"], r["post_seq"], r["receive_seq"]))
    columns = _columns_of(rows, intake.RECEIVE_COLUMNS)
    receiver = places.process[columns["receiver_location"]]
    sender = _partner_processes(rows, "from", places)
    ordinal = _ordinals_on_channels(columns, sender, receiver, columns["post_ns"])
    return columns | {"sender": sender, "ordinal": ordinal}


def _ordinals_on_channels(
    columns: Columns, sender: Integers, receiver: Integers, time_ns: Integers
) -> Integers:
    channel = [columns["communicator"], sender, receiver, columns["tag"]]
    return intake.channel_ordinals(channel, time_ns, np.arange(len(time_ns)))


def _half_messages(rows: Iterable[Row], posts: Iterable[Row]) -> Columns:
    """What is told of messages without another side, and the posts of lost receives."""
    lost = [
        {"location": row["location"], "call": row["post_call"], "seq": row["post_seq"]}
        | {"time_ns": row["post_ns"], "kind": "post", "request": row["request"]}
        for row in posts
    ]
    kinds = schema.HALF_KINDS
    halves = [row | {"kind": kinds.index(row["kind"])} for row in [*rows, *lost]]
    return _columns_of(halves, intake.HALF_COLUMNS)


def _parts_of(
    rows: Iterable[Row], places: intake.Placement, operations: Mapping[str, int]
) -> Columns:
    """Parts of collectives by process and time, numbered on their communicators."""
    rows = [
        row | {"named_root": row["root"], "operation": operations[row["operation"]]}
        for row in sorted(rows, key=_turn("begin", "location", places.process.tolist()))
    ]
    columns = _columns_of(rows, intake.PART_COLUMNS)
    sequence = ordinal_within(columns["communicator"], places.process[columns["location"]])
    roots: dict[tuple[int, int], int] = {}
    for row, number in zip(rows, sequence.tolist(), strict=True):
        if row["root"] is not None:
            root = roots.setdefault((row["communicator"], number), row["root"])
            if root != row["root"]:
                raise row["statement"].error(f"root {root}, as others say")
    return columns | {"sequence": sequence}


def _turn(event: str, where: str, process: Sequence[int]) -> Callable[[Row], tuple[int, ...]]:
    """The order of rows by process and when an event of theirs was."""
    names = (f"{event}_ns", where, f"{event}_seq")
    return lambda row: (process[row[where]], *(row[name] for name in names))


def _columns_of(rows: Sequence[Row], names: Iterable[str]) -> Columns:
    """Columns of rows, with a sentinel for what a row does not have."""
    columns = {}
    for name in names:
        absent = NO_VALUE if name in _LONG else UNKNOWN
        values = (row.get(name) for row in rows)
        columns[name] = np.array([absent if v is None else v for v in values], np.int64)
    return columns


def _partner_processes(rows: Sequence[Row], side: str, places: intake.Placement) -> Integers:
    location, rank = (np.array([r[n] for r in rows], np.int64) for n in ("location", side))
    partner = places.process_of(location, rank)
    for missing in np.flatnonzero(partner < 0).tolist():
        application = places.application[places.process[location[missing]]]
        raise rows[missing]["statement"].error(
            f"a rank of application {application}", str(rank[missing])
        )
    return partner


_DEFINED: Final = ("call_paths", "region_defs", "counters", "counter_sets")
_HAPPENED: Final = (
    "calls",
    "regions",
    "teams",
    "locks",
    "readings",
    "other_events",
    "gaps",
    "samples",
)
_NAMES: Final = {"communicator": "a communicator", "call_path": "a call path declared before"}


def _table_of(
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


def _definition_tables(
    definitions: Declarations, locations: Mapping[Place, OpenLocation], process: Sequence[int]
) -> dict[str, pa.Table]:
    """The tables of what is declared; `process` is that of each location."""
    rows = {name: definitions.rows[name] for name in _DEFINED}
    rows["locations"] = _location_rows(definitions, locations, process)
    rows["communicators"] = list(definitions.communicators.values())
    tables = {name: _table_of(name, some) for name, some in rows.items()}
    _check_values("locations", rows["locations"], tables)
    return tables


def _add_inferred(
    rows: Rows, definitions: Declarations, process: Sequence[int], defects: intake.Defects
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


def _event_tables(
    rows: Rows, definitions: Declarations, defined: Mapping[str, pa.Table]
) -> dict[str, pa.Table]:
    """The tables of what happened on each location, where no other process is asked."""
    make = partial(
        _table_of, counters=definitions.counter_names, operations=definitions.operations
    )
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
    rows: Rows, places: Sequence[Place], process: Sequence[int], defects: intake.Defects
) -> None:
    """Add their numbers and parents to the teams, and its team to each region."""
    forks = sorted(rows["teams"], key=_turn("fork", "fork_location", process))
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
