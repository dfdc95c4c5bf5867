"""From a trace to its text form: every table's rows become events again.

::

    tables ─ by location and ordinal ─► events ─► statements ─► text
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from burstline.errors import ParameterError
from burstline.formats.text.call_attributes import CallAttributes
from burstline.formats.text.options import ATTRIBUTE, CALL_COLUMNS, HALF_COLUMNS, OTHER_COLUMNS
from burstline.formats.text.places import place_word
from burstline.formats.text.statements import written
from burstline.formats.text.writing.definitions import declarations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from burstline.formats.text.places import Place, Row
    from burstline.trace import Trace

_BEFORE, _LAST = -1, 9
_Event = tuple[int, int, int, str]
"""Ordinal, place among events of one ordinal, time, and the statement without its time."""


def render(trace: Trace) -> str:
    """The text of a trace, without its raw tables.

    A trace that came from a text comes from this one, too. An event of a message that has
    neither a call nor an ordinal has no place among others: a ParameterError. A Paraver file
    gives several events one ordinal; the text gives each its own. Polling times are left out.
    """
    places = [
        (row["application"], row["rank"], row["thread"]) for row in trace.locations.to_pylist()
    ]
    events = _Events(trace, places)
    events.add_calls()
    events.add_regions()
    events.add_messages()
    events.add_collectives()
    events.add_locks()
    events.add_other_events()
    events.add_half_messages()
    events.add_readings()
    declared = declarations(trace, places, events.spans())
    lines = [*declared, *events.lines()]
    return "\n".join(lines) + "\n"


class _Events:
    """The events of a trace by location."""

    def __init__(self, trace: Trace, places: list[Place]) -> None:
        self._trace, self._places = trace, places
        self._events: dict[int, list[_Event]] = defaultdict(list)
        self._readings: dict[tuple[int, int], str] = {}
        self._attributes = CallAttributes()
        self._calls: dict[tuple[int, int], Row] = {
            (row["location"], row["call"]): row for row in trace.calls.to_pylist()
        }

    def _add(self, location: int, stamp: tuple[int | None, int], turn: int, text: str) -> None:
        """Add an event; `turn` orders events that share an ordinal."""
        seq, time_ns = stamp
        if seq is None:
            raise ParameterError(f"location {location}, {time_ns} ns: an event without ordinal")
        self._events[location].append((seq, turn, time_ns, text))

    def add_calls(self) -> None:
        """Add enters and leaves of calls, once their attributes are known."""
        self._gather()
        for call, row in self._calls.items():
            derived = self._attributes.of(call)
            text = f"enter {written(row['operation'])}"
            for option, column in CALL_COLUMNS.items():
                if row[column] != derived[column]:
                    text += f" {option} {written(row[column])}"
            if row["call_path"] is not None:
                text += f" path {row['call_path']}"
            self._add(row["location"], (row["enter_seq"], row["enter_ns"]), 1, text)
            self._add(row["location"], (row["leave_seq"], row["leave_ns"]), _LAST, "leave")

    def _gather(self) -> None:
        attributes, ranks = self._attributes, [rank for _, rank, _ in self._places]
        for row in self._trace.messages.to_pylist():
            sender, receiver = row["sender_location"], row["receiver_location"]
            if row["send_call"] is not None:
                call = sender, row["send_call"]
                attributes.add_send(call, (ranks[receiver], row["tag"]), row["communicator"])
                attributes.add_bytes(call, "sent_bytes", row["sent_bytes"])
            if row["post_call"] is not None:
                call = receiver, row["post_call"]
                attributes.add_post(call, (ranks[sender], row["tag"]), row["communicator"])
            if row["receive_call"] is not None:
                call = receiver, row["receive_call"]
                attributes.add_bytes(call, "received_bytes", row["received_bytes"])
        for row in self._members():
            call, rank = (row["location"], row["call"]), ranks[row["location"]]
            attributes.add_part(
                call, rank if row["root"] == rank else None, row["communicator"]
            )
            for column in ("sent_bytes", "received_bytes"):
                attributes.add_bytes(call, column, row[column])

    def _members(self) -> Iterator[Row]:
        instances = self._trace.collectives.to_pylist()
        for row in self._trace.collective_members.to_pylist():
            instance = instances[row["collective"]]
            yield row | {"root": instance["root"], "communicator": instance["communicator"]}

    def add_regions(self) -> None:
        """Add regions, and teams: a region of role team is being in it."""
        definitions = self._trace.region_defs.to_pylist()
        first: dict[str, int] = {}
        for definition in definitions:
            if definition["role"] != "team":
                first.setdefault(definition["name"], definition["region"])
        for row in self._trace.regions.to_pylist():
            definition = definitions[row["region"]]
            if definition["role"] == "team":
                comm = definition["source_value"] or 0
                enter, leave = f"team begin {comm}", f"team end {comm}"
            else:
                enter, leave = f"enter {written(definition['name'])}", "leave"
                if first[definition["name"]] != row["region"]:
                    enter += f" def {row['region']}"
                if row["call_path"] is not None:
                    enter += f" path {row['call_path']}"
                if row["iterations"] is not None:
                    enter += f" iterations {row['iterations']}"
                if row["origin"] != "recorded":
                    enter += f" origin {row['origin']}"
            self._add(row["location"], (row["enter_seq"], row["enter_ns"]), 1, enter)
            self._add(row["location"], (row["leave_seq"], row["leave_ns"]), _LAST, leave)
        for row in self._trace.teams.to_pylist():
            where, fork = row["fork_location"], f"fork {row['threads']}"
            self._add(where, (row["fork_seq"], row["fork_ns"]), 0, fork)
            self._add(where, (row["join_seq"], row["join_ns"]), _LAST, "join")

    def add_messages(self) -> None:
        """Add both halves of every message, with requests where there are any."""
        for row in self._trace.messages.to_pylist():
            sender, receiver = row["sender_location"], row["receiver_location"]
            common = f" tag {row['tag']}"
            world = self._places[sender][0]
            if row["communicator"] is not None and row["communicator"] != world:
                common += f" comm {row['communicator']}"
            text = f"send to {self._places[receiver][1]}{common} bytes {row['sent_bytes']}"
            request = row["send_request"]
            if request is not None:
                text += f" request {request}"
                if row["send_done_from"] == "recorded":
                    done = self._stamp(row, sender, "send_done", "send_done_call")
                    self._add(sender, done, 4, f"sent request {request}")
            self._add(sender, self._stamp(row, sender, "send", "send_call"), 3, text)
            text = f"receive from {self._places[sender][1]}{common}"
            text += f" bytes {row['received_bytes']}"
            request = row["receive_request"]
            if request is not None:
                text += f" request {request}"
                posted = self._stamp(row, receiver, "post", "post_call")
                self._add(receiver, posted, 3, f"post request {request}")
            received = self._stamp(row, receiver, "receive", "receive_call")
            self._add(receiver, received, 4, text)

    def _stamp(self, row: Row, location: int, what: str, call: str) -> tuple[int | None, int]:
        """Ordinal and time of an event: its own ordinal, or else that of its call."""
        seq: Any = row[f"{what}_seq"]
        if seq is None and row[call] is not None:
            seq = self._calls[location, row[call]]["enter_seq"]
        return seq, row[f"{what}_ns"]

    def add_collectives(self) -> None:
        """Add every member's begin and end."""
        for row in self._members():
            location = row["location"]
            request = ""
            if row["done_call"] != row["call"]:
                request = f" request {row['begin_seq']}"
            end = f"end{request} sent {row['sent_bytes']} received {row['received_bytes']}"
            if row["root"] is not None:
                end += f" root {row['root']}"
            if row["communicator"] not in {None, self._places[location][0]}:
                end += f" comm {row['communicator']}"
            begun = row["begin_seq"], row["begin_ns"]
            ended = row["begin_seq"] if row["end_seq"] is None else row["end_seq"]
            self._add(location, begun, 3, f"begin{request}")
            self._add(location, (ended, row["end_ns"]), 4, end)

    def add_locks(self) -> None:
        """Add acquisitions and releases."""
        for row in self._trace.locks.to_pylist():
            text = f"acquire {row['lock']} order {row['order']}"
            self._add(row["location"], (row["acquire_seq"], row["acquire_ns"]), 2, text)
            if row["release_seq"] is not None:
                stamp = row["release_seq"], row["release_ns"]
                self._add(row["location"], stamp, 5, f"release {row['lock']}")

    def add_half_messages(self) -> None:
        """Add events of messages without another side."""
        for row in self._trace.half_messages.to_pylist():
            options = [
                f" {option} {written(row[column])}"
                for option, column in HALF_COLUMNS.items()
                if row[column] is not None
            ]
            stamp = row["seq"], row["time_ns"]
            self._add(row["location"], stamp, 3, f"half {row['kind']}{''.join(options)}")

    def add_other_events(self) -> None:
        """Add events that are in no other table."""
        for row in self._trace.other_events.to_pylist():
            options = [
                f" {option} {written(row[column])}"
                for option, column in OTHER_COLUMNS.items()
                if row[column] is not None
            ]
            order = _BEFORE if row["kind"] == ATTRIBUTE else 6
            stamp = row["seq"], row["time_ns"]
            self._add(row["location"], stamp, order, f"tell {row['kind']}{''.join(options)}")

    def add_readings(self) -> None:
        """Add readings that belong to no other event; keep the others for theirs."""
        counters = self._trace.counter_names
        taken = {
            (where, seq)
            for where, events in self._events.items()
            for seq, order, *_ in events
            if order != _BEFORE
        }
        for row in self._trace.readings.to_pylist():
            values = [f" {written(c)}={row[c]}" for c in counters if row[c] is not None]
            event = row["location"], row["seq"]
            self._readings[event] = "".join(values)
            if event not in taken and values:
                self._add(row["location"], (row["seq"], row["time_ns"]), 0, "read")

    def spans(self) -> list[tuple[int, int]]:
        """The times of the first and last event of each location, 0 without any."""
        times = [
            [event[2] for event in self._events.get(where, ())]
            for where in range(len(self._places))
        ]
        return [(min(some, default=0), max(some, default=0)) for some in times]

    def lines(self) -> Iterator[str]:
        """The lines of all locations in order, each with its gaps first."""
        gaps: dict[int, list[str]] = defaultdict(list)
        for row in self._trace.gaps.to_pylist():
            span = f"{row['start_ns']}..{row['end_ns']}"
            gaps[row["location"]].append(f"  {span} gap {row['kind']}")
        for where, place in enumerate(self._places):
            if not self._events[where] and not gaps[where]:
                continue
            yield place_word(place)
            yield from gaps[where]
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
