"""From a trace to its text form: every table's rows become events again.

Only what differs from what the text form assumes anyway is written.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from burstline.errors import ParameterError
from burstline.formats.text.forms import (
    ATTRIBUTE,
    DECLARATIONS,
    FORMS,
    MOMENTS,
    ROWS,
    Form,
    Row,
)
from burstline.formats.text.inference import CallAttributes, derived_tables, worlds
from burstline.formats.text.statements import NOTHING, Place, place_word, thread_name
from burstline.model import TABLES, Trace

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_.:+*<>()&,~/@-]*")
_BEFORE = -1
"""The turn of attributes: they have the ordinal of the event that follows."""
_TURNS = {
    "fork": 0, "read": 0, "enter": 1, "acquire": 2, "send": 3, "post": 3, "begin": 3, "half": 3,
    "sent": 4, "receive": 4, "end": 4, "release": 5, "tell": 6, "leave": 9, "join": 9,
}  # fmt: skip
"""Of events that are written under one ordinal."""
_Event = tuple[int, int, int, str]
"""Ordinal, place among events of one ordinal, time, and the statement without its time."""


def render(trace: Trace) -> str:
    """The text of a trace, without its raw tables.

    A trace that came from a text comes from this one, too. An event of a message that has
    neither a call nor an ordinal has no place among others: a ParameterError. A Paraver file
    gives several events one ordinal; the text gives each its own.
    """
    places = [
        (row["application"], row["rank"], row["thread"]) for row in trace.locations.to_pylist()
    ]
    events = _EventLines(trace, places)
    lines = [*_declaration_lines(trace, places, events.spans()), *events.lines()]
    return "\n".join(lines) + "\n"


class _EventLines:
    def __init__(self, trace: Trace, places: list[Place]) -> None:
        self._trace, self._places = trace, places
        self._events: dict[int, list[_Event]] = defaultdict(list)
        self._readings: dict[tuple[int, int], str] = {}
        self._calls: dict[tuple[int, int], Row] = {
            (row["location"], row["call"]): row for row in trace.calls.to_pylist()
        }
        ranks = [rank for _, rank, _ in places]
        messages = [
            row | {"to": ranks[row["receiver_location"]], "from": ranks[row["sender_location"]]}
            for row in trace.messages.to_pylist()
        ]
        instances = trace.collectives.to_pylist()
        parts: list[Row] = [
            instances[row["collective"]] | row for row in trace.collective_members.to_pylist()
        ]
        attributes = CallAttributes(messages, messages, parts, ranks)
        for call, row in self._calls.items():
            self._add(
                "enter", row, statement_of(FORMS["call"], "enter", row, **attributes.of(call))
            )
            self._add("leave", row, "leave")
        self._add_regions()
        self._add_messages(messages)
        self._add_collectives(parts)
        for row in trace.locks.to_pylist():
            self._write("acquire", row, order=None)
            if row["release_seq"] is not None:
                self._add("release", row, f"release {row['lock']}")
        for row in trace.half_messages.to_pylist():
            self._write("half", row)
        for row in trace.other_events.to_pylist():
            self._write("tell", row, turn=_BEFORE if row["kind"] == ATTRIBUTE else None)
        self._add_readings()

    def _write(self, verb: str, row: Row, *, turn: int | None = None, **usual: object) -> None:
        self._add(verb, row, statement_of(FORMS[verb], verb, row, **usual), turn)

    def _add(self, verb: str, row: Row, text: str, turn: int | None = None) -> None:
        """Add an event; of one that has no ordinal of its own, its call's counts."""
        moment = MOMENTS[verb]
        where, seq, time_ns = row[moment.where], row[moment.seq], row[moment.time_ns]
        if seq is None and moment.call and row[moment.call] is not None:
            seq = self._calls[where, row[moment.call]]["enter_seq"]
        if seq is None:
            raise ParameterError(f"location {where}, {time_ns} ns: an event without ordinal")
        turn = _TURNS[verb] if turn is None else turn
        self._events[where].append((seq, turn, time_ns, text))

    def _add_regions(self) -> None:
        """Add regions, and teams: a region of role team is being in it."""
        definitions = self._trace.region_defs.to_pylist()
        first: dict[str, int] = {}
        for definition in definitions:
            if definition["role"] != "team":
                first.setdefault(definition["name"], definition["region"])
        for row in self._trace.regions.to_pylist():
            definition = definitions[row["region"]]
            usual, leave = first.get(definition["name"]), "leave"
            head = f"enter {written(definition['name'])}"
            if definition["role"] == "team":
                usual, comm = row["region"], definition["source_value"] or 0
                head, leave = f"team begin {comm}", f"team end {comm}"
            self._add("enter", row, statement_of(FORMS["enter"], head, row, region=usual))
            self._add("leave", row, leave)
        for row in self._trace.teams.to_pylist():
            self._write("fork", row)
            self._add("join", row, "join")

    def _add_messages(self, messages: list[Row]) -> None:
        for row in messages:
            usual = {"communicator": self._places[row["sender_location"]][0]}
            if row["send_request"] is not None and row["send_done_from"] == "recorded":
                self._add("sent", row, f"sent request {row['send_request']}")
            self._write("send", row, **usual)
            if row["receive_request"] is not None:
                self._add("post", row, f"post request {row['receive_request']}")
            self._write("receive", row, **usual)

    def _add_collectives(self, parts: list[Row]) -> None:
        for row in parts:
            world = self._places[row["location"]][0]
            is_blocking = row["done_call"] == row["call"]
            row["request"] = None if is_blocking else row["begin_seq"]
            row["communicator"] = world if row["communicator"] is None else row["communicator"]
            row["end_seq"] = row["begin_seq"] if row["end_seq"] is None else row["end_seq"]
            self._write("begin", row)
            self._write("end", row, communicator=world)

    def _add_readings(self) -> None:
        """Add readings that belong to no other event; keep the others for theirs."""
        taken = {
            (where, seq)
            for where, events in self._events.items()
            for seq, order, *_ in events
            if order != _BEFORE
        }
        for row in self._trace.readings.to_pylist():
            values, event = _reading_words(self._trace, row), (row["location"], row["seq"])
            self._readings[event] = values
            if event not in taken and values:
                self._add("read", row, "read")

    def spans(self) -> list[tuple[int, int]]:
        """The times of the first and last event of each location, 0 without any."""
        times = [
            [event[2] for event in self._events.get(where, ())]
            for where in range(len(self._places))
        ]
        return [(min(some, default=0), max(some, default=0)) for some in times]

    def lines(self) -> Iterator[str]:
        beside: dict[int, list[str]] = defaultdict(list)
        for row in self._trace.gaps.to_pylist():
            head = f"  {row['start_ns']}..{row['end_ns']} gap"
            beside[row["location"]].append(statement_of(FORMS["gap"], head, row))
        for row in self._trace.table("samples").to_pylist():
            head = f"  {row['time_ns']:>10} sample"
            beside[row["location"]].append(statement_of(FORMS["sample"], head, row))
        for where, place in enumerate(self._places):
            if not self._events[where] and not beside[where]:
                continue
            yield place_word(place)
            yield from beside[where]
            following = 0
            for seq, order, time_ns, text in sorted(self._events[where], key=_place_of):
                if seq > following:
                    yield f"  skip {seq - following}"
                if order == _BEFORE:
                    following = seq
                    yield f"  {time_ns:>10} {text}"
                    continue
                following = seq + 1
                yield f"  {time_ns:>10} {text}{self._readings.pop((where, seq), '')}"


def _place_of(event: _Event) -> _Event:
    """Key for sorting events; attributes of one event stay in the order of the trace."""
    seq, order, time_ns, text = event
    return seq, order, time_ns, "" if order == _BEFORE else text


def _declaration_lines(
    trace: Trace, places: Sequence[Place], spans: Sequence[tuple[int, int]]
) -> Iterator[str]:
    """The lines that declare what events refer to, in an order that a reader accepts."""
    threads: dict[int, dict[int, list[int]]] = {}
    for application, rank, thread in places:
        threads.setdefault(application, {}).setdefault(rank, []).append(thread)
    # applications whose ranks and threads count from 0 without a hole
    dense = {
        application
        for application, of_rank in threads.items()
        if list(of_rank) == list(range(len(of_rank)))
        and all(numbers == list(range(len(numbers))) for numbers in of_rank.values())
    }
    yield from _grid_lines(threads, dense)
    for place, (born_ns, died_ns), row in zip(
        places, spans, trace.locations.to_pylist(), strict=True
    ):
        head = f"location {place_word(place)}"
        usual = {"born_ns": born_ns, "died_ns": died_ns, "name": thread_name(place)}
        line = statement_of(FORMS["location"], head, row, **usual)
        if line != head or place[0] not in dense:
            yield line
    worlds_of = worlds(places)
    for row in trace.communicators.to_pylist():
        number = row["communicator"]
        if row != worlds_of.get(number):
            yield statement_of(FORMS["communicator"], "communicator", row, source_id=number + 1)
    for word in DECLARATIONS[1:]:
        for row in trace.table(FORMS[word].tables[0]).to_pylist():
            yield statement_of(FORMS[word], word, row)
    yield from _row_lines(trace)


def _grid_lines(threads: dict[int, dict[int, list[int]]], dense: set[int]) -> Iterator[str]:
    if not threads:
        yield "ranks 0"
    for application, of_rank in threads.items():
        counts = [len(row) for row in of_rank.values() if application in dense]
        line = f"ranks {len(counts)}"
        if len(set(counts)) > 1:
            line += " threads " + " ".join(map(str, counts))
        elif counts and counts[0] != 1:
            line += f" threads {counts[0]}"
        is_alone = len(threads) == 1 and not application
        yield line if is_alone else f"application {application} {line}"


def _reading_words(trace: Trace, row: Row) -> str:
    names = trace.counter_names
    return "".join(f" {written(c)}={row[c]}" for c in names if row[c] is not None)


def _row_lines(trace: Trace) -> Iterator[str]:
    """The rows of tables without a statement, but not of what follows from other tables."""
    counted = [name for name, table in TABLES.items() if table.counters and name not in trace]
    names = [name for name, table in TABLES.items() if not table.raw and name not in counted]
    derived = derived_tables({name: trace.table(name) for name in names})
    for name, form in ROWS.items():
        table = trace.table(name)
        if name not in derived or not table.equals(derived[name]):
            for row in table.to_pylist():
                counters = _reading_words(trace, row) if TABLES[name].counters else ""
                yield statement_of(form, f"row {name}", row) + counters


def statement_of(form: Form, head: str, row: Row, **usual: object) -> str:
    """The statement of a row; options that have their usual value are left out."""
    words = [head, *(written(row[column.name]) for column in form.first)]
    for name, column in form.options.items():
        value = row[column.name]
        if value != usual.get(column.name, form.usual[column.name]):
            words.append(f"{name} {written(value)}".rstrip())
    return " ".join(words)


def written(value: object) -> str:
    """A value as one word, quoted where it has to be; numbers of a list as several."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return " ".join(map(str, value))
    word = str(value)
    if _BARE.fullmatch(word):
        return word
    return json.dumps(word, ensure_ascii=not word.isprintable())
