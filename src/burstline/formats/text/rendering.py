"""From a trace to its text form: every table's rows become events again.

::

    tables ─ by location and ordinal ─► events ─► statements ─► text
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from burstline.errors import ParameterError
from burstline.formats.text import attributes
from burstline.formats.text.declaring import declarations
from burstline.formats.text.definitions import place_word
from burstline.formats.text.events import ATTRIBUTE, TOLD_COLUMNS
from burstline.formats.text.halves import LONE_COLUMNS
from burstline.formats.text.statements import written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from burstline.formats.text.definitions import Place, Row
    from burstline.trace import Trace

_BEFORE, _LAST = -1, 9
_Event = tuple[int, int, int, str]
"""Ordinal, place among events of one ordinal, time, and the statement without its time."""


def render(trace: Trace) -> str:
    """Write a trace as text.

    Parameters
    ----------
    trace : Trace
        The trace; its raw tables are left out.

    Returns
    -------
    str
        A text that :func:`parse` turns into the same trace, if the trace came from a text.

    Raises
    ------
    ParameterError
        If a message, or its send, belongs to no call and has no ordinal: nobody knows
        where among the events it goes.

    Notes
    -----
    O(rows · log rows), with every row as a Python object: for traces a person can read.
    A Paraver file gives several things one ordinal; the text gives each its own.
    Polling times are not carried.
    """
    places = [
        (row["application"], row["rank"], row["thread"]) for row in trace.locations.to_pylist()
    ]
    happened = _Happened(trace, places)
    happened.calls()
    happened.regions()
    happened.messages()
    happened.collectives()
    happened.locks()
    happened.other_events()
    happened.half_messages()
    happened.readings()
    declared = declarations(trace, places, happened.spans())
    lines = [*declared, *happened.lines()]
    return "\n".join(lines) + "\n"


class _Happened:
    """The events of a trace by location."""

    def __init__(self, trace: Trace, places: list[Place]) -> None:
        self.trace, self.places = trace, places
        self.events: dict[int, list[_Event]] = defaultdict(list)
        self.read: dict[tuple[int, int], str] = {}
        self.known = attributes.Attributes()
        self.call_rows: dict[tuple[int, int], Row] = {
            (row["location"], row["call"]): row for row in trace.calls.to_pylist()
        }

    def add(self, location: int, stamp: tuple[int | None, int], turn: int, text: str) -> None:
        """Add an event; `turn` orders events that share an ordinal."""
        seq, time_ns = stamp
        if seq is None:
            raise ParameterError(f"location {location}, {time_ns} ns: an event without ordinal")
        self.events[location].append((seq, turn, time_ns, text))

    def calls(self) -> None:
        """Add enters and leaves of calls, once their attributes are known."""
        self._gather()
        for call, row in self.call_rows.items():
            derived = self.known.of(call)
            text = f"enter {written(row['operation'])}"
            for option, column in attributes.NAMES.items():
                if row[column] != derived[column]:
                    text += f" {option} {written(row[column])}"
            if row["call_path"] is not None:
                text += f" path {row['call_path']}"
            self.add(row["location"], (row["enter_seq"], row["enter_ns"]), 1, text)
            self.add(row["location"], (row["leave_seq"], row["leave_ns"]), _LAST, "leave")

    def _gather(self) -> None:
        known, ranks = self.known, [rank for _, rank, _ in self.places]
        for row in self.trace.messages.to_pylist():
            sender, receiver = row["sender_location"], row["receiver_location"]
            if row["send_call"] is not None:
                call = sender, row["send_call"]
                known.send(call, (ranks[receiver], row["tag"]), row["communicator"])
                known.add(call, "sent_bytes", row["sent_bytes"])
            if row["post_call"] is not None:
                call = receiver, row["post_call"]
                known.post(call, (ranks[sender], row["tag"]), row["communicator"])
            if row["receive_call"] is not None:
                call = receiver, row["receive_call"]
                known.add(call, "received_bytes", row["received_bytes"])
        for row in self._members():
            call, rank = (row["location"], row["call"]), ranks[row["location"]]
            known.part(call, rank if row["root"] == rank else None, row["communicator"])
            for column in ("sent_bytes", "received_bytes"):
                known.add(call, column, row[column])

    def _members(self) -> Iterator[Row]:
        instances = self.trace.collectives.to_pylist()
        for row in self.trace.collective_members.to_pylist():
            instance = instances[row["collective"]]
            yield row | {"root": instance["root"], "communicator": instance["communicator"]}

    def regions(self) -> None:
        """Add regions, and teams: a region of role team is being in it."""
        definitions = self.trace.region_defs.to_pylist()
        first: dict[str, int] = {}
        for definition in definitions:
            if definition["role"] != "team":
                first.setdefault(definition["name"], definition["region"])
        for row in self.trace.regions.to_pylist():
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
            self.add(row["location"], (row["enter_seq"], row["enter_ns"]), 1, enter)
            self.add(row["location"], (row["leave_seq"], row["leave_ns"]), _LAST, leave)
        for row in self.trace.teams.to_pylist():
            where, fork = row["fork_location"], f"fork {row['threads']}"
            self.add(where, (row["fork_seq"], row["fork_ns"]), 0, fork)
            self.add(where, (row["join_seq"], row["join_ns"]), _LAST, "join")

    def messages(self) -> None:
        """Add both halves of every message, with requests where there are any."""
        for row in self.trace.messages.to_pylist():
            sender, receiver = row["sender_location"], row["receiver_location"]
            common = f" tag {row['tag']}"
            world = self.places[sender][0]
            if row["communicator"] is not None and row["communicator"] != world:
                common += f" comm {row['communicator']}"
            text = f"send to {self.places[receiver][1]}{common} bytes {row['sent_bytes']}"
            request = row["send_request"]
            if request is not None:
                text += f" request {request}"
                if row["send_done_from"] == "recorded":
                    done = self._stamp(row, sender, "send_done", "send_done_call")
                    self.add(sender, done, 4, f"sent request {request}")
            self.add(sender, self._stamp(row, sender, "send", "send_call"), 3, text)
            text = f"receive from {self.places[sender][1]}{common}"
            text += f" bytes {row['received_bytes']}"
            request = row["receive_request"]
            if request is not None:
                text += f" request {request}"
                posted = self._stamp(row, receiver, "post", "post_call")
                self.add(receiver, posted, 3, f"post request {request}")
            received = self._stamp(row, receiver, "receive", "receive_call")
            self.add(receiver, received, 4, text)

    def _stamp(self, row: Row, location: int, what: str, call: str) -> tuple[int | None, int]:
        """Give an event its ordinal: its own, or else that of its call."""
        seq: Any = row[f"{what}_seq"]
        if seq is None and row[call] is not None:
            seq = self.call_rows[location, row[call]]["enter_seq"]
        return seq, row[f"{what}_ns"]

    def collectives(self) -> None:
        """Add every member's begin and end."""
        for row in self._members():
            location = row["location"]
            request = ""
            if row["done_call"] != row["call"]:
                request = f" request {row['begin_seq']}"
            end = f"end{request} sent {row['sent_bytes']} received {row['received_bytes']}"
            if row["root"] is not None:
                end += f" root {row['root']}"
            if row["communicator"] not in {None, self.places[location][0]}:
                end += f" comm {row['communicator']}"
            begun = row["begin_seq"], row["begin_ns"]
            ended = row["begin_seq"] if row["end_seq"] is None else row["end_seq"]
            self.add(location, begun, 3, f"begin{request}")
            self.add(location, (ended, row["end_ns"]), 4, end)

    def locks(self) -> None:
        """Add acquisitions and releases."""
        for row in self.trace.locks.to_pylist():
            text = f"acquire {row['lock']} order {row['order']}"
            self.add(row["location"], (row["acquire_seq"], row["acquire_ns"]), 2, text)
            if row["release_seq"] is not None:
                stamp = row["release_seq"], row["release_ns"]
                self.add(row["location"], stamp, 5, f"release {row['lock']}")

    def half_messages(self) -> None:
        """Add what has no other side."""
        for row in self.trace.half_messages.to_pylist():
            options = [
                f" {option} {written(row[column])}"
                for option, column in LONE_COLUMNS.items()
                if row[column] is not None
            ]
            stamp = row["seq"], row["time_ns"]
            self.add(row["location"], stamp, 3, f"half {row['kind']}{''.join(options)}")

    def other_events(self) -> None:
        """Add what no other table tells."""
        for row in self.trace.other_events.to_pylist():
            options = [
                f" {option} {written(row[column])}"
                for option, column in TOLD_COLUMNS.items()
                if row[column] is not None
            ]
            order = _BEFORE if row["kind"] == ATTRIBUTE else 6
            stamp = row["seq"], row["time_ns"]
            self.add(row["location"], stamp, order, f"tell {row['kind']}{''.join(options)}")

    def readings(self) -> None:
        """Add readings that belong to no other event; keep the others for theirs."""
        counters = self.trace.counter_names
        taken = {
            (where, seq)
            for where, events in self.events.items()
            for seq, order, *_ in events
            if order != _BEFORE
        }
        for row in self.trace.readings.to_pylist():
            values = [f" {written(c)}={row[c]}" for c in counters if row[c] is not None]
            event = row["location"], row["seq"]
            self.read[event] = "".join(values)
            if event not in taken and values:
                self.add(row["location"], (row["seq"], row["time_ns"]), 0, "read")

    def spans(self) -> list[tuple[int, int]]:
        """Give the times of the first and last event of each location, 0 without any."""
        times = [
            [event[2] for event in self.events.get(where, ())]
            for where in range(len(self.places))
        ]
        return [(min(found, default=0), max(found, default=0)) for found in times]

    def lines(self) -> Iterator[str]:
        """Give the lines of all locations, in order, with what else was recorded there."""
        gaps: dict[int, list[str]] = defaultdict(list)
        for row in self.trace.gaps.to_pylist():
            span = f"{row['start_ns']}..{row['end_ns']}"
            gaps[row["location"]].append(f"  {span} gap {row['kind']}")
        for where, place in enumerate(self.places):
            if not self.events[where] and not gaps[where]:
                continue
            yield place_word(place)
            yield from gaps[where]
            following = 0
            for seq, order, time_ns, text in sorted(self.events[where], key=_place_of):
                if seq > following:
                    yield f"  skip {seq - following}"
                if order == _BEFORE:
                    following = seq
                    yield f"  {time_ns:>10} {text}"
                    continue
                following = seq + 1
                yield f"  {time_ns:>10} {text}{self.read.pop((where, seq), '')}"


def _place_of(event: _Event) -> _Event:
    """Sort events; attributes of one event stay in the order in which the trace has them."""
    seq, order, time_ns, text = event
    return seq, order, time_ns, "" if order == _BEFORE else text
