"""From the rows that a text holds to the tables of a trace.

::

    rows ─ teams, orders, attributes of calls ─► halves ─ matching ─► columns ─► tables

Half a message that has no other half is no row of `messages`: it is counted in
`defects`, and its call keeps what is known of it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from burstline import operations, schema
from burstline.errors import printable
from burstline.formats.text.places import place_word
from burstline.formats.text.reading.location import half_message
from burstline.matching import channels, collective_instances, match_messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstline.formats.text.places import Place, Row
    from burstline.formats.text.reading.definitions import Definitions
    from burstline.formats.text.reading.location import Rows


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


class Assembly:
    """The rows of a text on their way into tables; `places` are those of the locations."""

    def __init__(self, definitions: Definitions, rows: Rows, places: Sequence[Place]) -> None:
        self.definitions, self.rows, self.places = definitions, rows, places
        self.processes = {
            process: number
            for number, process in enumerate(sorted({place[:2] for place in places}))
        }
        self.defects: list[Row] = []

    def process(self, location: int) -> int:
        """The process of a location."""
        return self.processes[self.places[location][:2]]

    def defect(self, kind: str, severity: str, where: Sequence[str]) -> None:
        """Add a defect, unless the text itself declares those of its kind."""
        declared = {row["kind"] for row in self.definitions.defects}
        if where and kind not in declared:
            self.defects.append(
                {"kind": kind, "severity": severity, "count": len(where), "first": where[0]}
            )

    def teams(self) -> list[Row]:
        """The teams in their order; adds its team to each region."""
        forks = sorted(
            self.rows.teams,
            key=lambda row: (
                self.process(row["fork_location"]),
                row["fork_ns"],
                row["fork_location"],
                row["fork_seq"],
            ),
        )
        of_comm = defaultdict(list)
        for team, row in enumerate(forks):
            row |= {"team": team, "process": self.process(row["fork_location"])}
            of_comm[row["process"], row["comm"]].append(team)
        seen: dict[tuple[int, int], int] = defaultdict(int)
        without = []
        for row in self.rows.regions:
            if "comm" in row:
                where = row["location"], row["comm"]
                teams = of_comm[self.process(row["location"]), row["comm"]]
                row["team"] = teams[seen[where]] if seen[where] < len(teams) else None
                seen[where] += 1
                if row["team"] is None:
                    without.append(self._at(row["location"], row["enter_ns"]))
            else:
                row["team"] = row["inside"] and row["inside"]["team"]
        for row in forks:
            row["parent"] = row["inside"] and row["inside"]["team"]
        self.defect("team_without_fork", "loss", without)
        return forks

    def _at(self, location: int, time_ns: int) -> str:
        return f"location {place_word(self.places[location])} at {time_ns} ns"

    def locks(self) -> list[Row]:
        """The acquisitions; adds their order where the text does not."""
        count: dict[tuple[int, int], int] = defaultdict(int)
        by_time = sorted(
            self.rows.locks, key=lambda r: (r["acquire_ns"], r["location"], r["acquire_seq"])
        )
        for row in by_time:
            lock = self.process(row["location"]), row["lock"]
            count[lock] += 1
            if row["order"] is None:
                row["order"] = count[lock]
        return sorted(self.rows.locks, key=lambda r: (r["location"], r["acquire_seq"]))

    def messages(self) -> list[Row]:
        """Sends and receives joined; adds the halves and defects of others."""
        for row in [*self.rows.sends, *self.rows.receives]:
            self._complete_half(row)
        sends = sorted(
            self.rows.sends, key=lambda r: (r["send_ns"], r["location"], r["send_seq"])
        )
        receives = sorted(
            self.rows.receives,
            key=lambda r: (r["post_ns"], r["location"], r["post_seq"], r["receive_seq"]),
        )
        partner = match_messages(
            *channels(
                self._channel(sends, "mine", "other"), self._channel(receives, "other", "mine")
            )
        )
        matched = [
            _message(sends[send], receives[receive])
            for receive, send in enumerate(partner.tolist())
            if send >= 0
        ]
        received = set(partner.tolist())
        unsent = [r for r, s in zip(receives, partner, strict=True) if s < 0]
        unreceived = [s for k, s in enumerate(sends) if k not in received]
        self._lost("unmatched_send", unreceived)
        self._lost("unmatched_receive", unsent)
        self._lost("receive_never_completed", self.rows.never_completed)
        for row in unreceived:
            self.rows.half_messages += _halves_of_send(row)
        for row in [*unsent, *self.rows.never_completed]:
            self.rows.half_messages += _halves_of_receive(row)
        return sorted(matched, key=lambda row: (row["sender_location"], row["send_seq"]))

    def half_messages(self) -> list[Row]:
        """The halves of messages, once all messages are joined."""
        self._check_communicators(self.rows.half_messages)
        return sorted(self.rows.half_messages, key=lambda row: (row["location"], row["seq"]))

    def other_events(self) -> list[Row]:
        """The events that are in no other table."""
        self._check_communicators(self.rows.other_events)
        for row in self.rows.other_events:
            named = row["value"] if row["type"] == "location" else None
            if named is not None and not 0 <= named < len(self.places):
                raise row["statement"].error("the number of a location", str(named))
        return sorted(self.rows.other_events, key=lambda row: (row["location"], row["seq"]))

    def _check_communicators(self, rows: Sequence[Row]) -> None:
        for row in rows:
            named = row["communicator"]
            if named is not None and named not in self.definitions.communicators:
                raise row["statement"].error("a communicator", str(named))

    def _complete_half(self, row: Row) -> None:
        application, rank, _ = self.places[row["location"]]
        if (application, row["partner"]) not in self.processes:
            raise row["statement"].error(
                f"a rank of application {application}", str(row["partner"])
            )
        row["mine"] = self.processes[application, rank]
        row["other"] = self.processes[application, row["partner"]]
        self._complete_communicator(row)

    def _complete_communicator(self, row: Row) -> None:
        if row["communicator"] is None:
            row["communicator"] = self.places[row["location"]][0]
        if row["communicator"] not in self.definitions.communicators:
            raise row["statement"].error("a communicator", str(row["communicator"]))

    @staticmethod
    def _channel(rows: Sequence[Row], source: str, destination: str) -> list[Any]:
        names = "communicator", source, destination, "tag"
        return [np.array([row[name] for row in rows], np.int64) for name in names]

    def _lost(self, kind: str, rows: Sequence[Row]) -> None:
        self.defect(
            kind,
            "loss",
            [
                f"line {row['statement'].line}: "
                + printable(" ".join(row["statement"].words), limit=80)
                for row in rows
            ],
        )

    def collectives(self, known: Sequence[str]) -> tuple[list[Row], list[Row]]:
        """The instances of collectives, and their members."""
        parts = sorted(self.rows.parts, key=lambda row: (row["location"], row["begin_seq"]))
        codes = {word: code for code, word in enumerate(known)}
        communicators = self.definitions.communicators
        ranks = {
            (number, rank): comm_rank
            for number, row in communicators.items()
            for comm_rank, rank in enumerate(row["members"])
        }
        for row in parts:
            self._complete_communicator(row)
            rank = self.places[row["location"]][1]
            row["comm_rank"] = ranks.get((row["communicator"], rank))
            row["operation"] = row["call"]["operation"]
        communicator, location = (
            np.array([row[name] for row in parts], np.int64)
            for name in ("communicator", "location")
        )
        found = collective_instances(
            communicator,
            location,
            np.array([-1 if r["comm_rank"] is None else r["comm_rank"] for r in parts], int),
            np.array([codes[row["operation"]] for row in parts], np.int64),
            sizes=np.array([len(communicators[k]["members"]) for k in sorted(communicators)]),
        )
        members = [parts[k] | {"collective": int(found.instance[k])} for k in found.order]
        instances: list[Row] = [
            {"communicator": communicator, "sequence": sequence, "complete": complete}
            | {"operation": None, "root": None}
            for communicator, sequence, complete in zip(
                found.communicator.tolist(),
                found.sequence.tolist(),
                found.complete.tolist(),
                strict=True,
            )
        ]
        for row in members:
            self._join_instance(row, instances[row["collective"]])
        self.defect(
            "incomplete_collective",
            "loss",
            [
                f"{row['operation']}, number {row['sequence']} on communicator "
                f"{row['communicator']}"
                for row in instances
                if not row["complete"]
            ],
        )
        return instances, members

    @staticmethod
    def _join_instance(member: Row, instance: Row) -> None:
        if instance["operation"] is None:
            instance["operation"] = member["operation"]
        if instance["root"] is None:
            instance["root"] = member["root"]
        elif member["root"] not in {None, instance["root"]}:
            raise member["statement"].error(f"root {instance['root']}, as others say")
        member |= {
            "call": member["call"]["call"],
            "done_call": member["done_call"] and member["done_call"]["call"],
        }


def _message(send: Row, receive: Row) -> Row:
    call = send["send_call"]
    row = {
        "sender_location": send["location"],
        "send_call": call and call["call"],
        "send_ns": send["send_ns"],
        "send_seq": send["send_seq"],
        "send_leave_ns": call["leave_ns"] if call else send["send_ns"],
        "send_done_from": "unknown",
        "receiver_location": receive["location"],
        "post_call": receive["post_call"] and receive["post_call"]["call"],
        "receive_call": receive["receive_call"] and receive["receive_call"]["call"],
        "communicator": send["communicator"],
        "tag": send["tag"],
        "sent_bytes": send["bytes"],
        "received_bytes": receive["bytes"],
        "send_request": send["request"],
        "receive_request": receive["request"],
    }
    for name in ("post_ns", "post_seq", "receive_ns", "receive_seq"):
        row[name] = receive[name]
    if send["done"]:
        done = send["done"]["send_done_call"]
        row |= send["done"] | {"send_done_call": done and done["call"]}
        row["send_done_from"] = "recorded"
    elif send["request"] is None:
        row["send_done_call"] = row["send_call"]
        row["send_done_ns"] = row["send_leave_ns"]
        row["send_done_seq"] = call["leave_seq"] if call else send["send_seq"]
        row["send_done_from"] = "inferred"
    return row


def _halves_of_send(row: Row) -> list[Row]:
    """The events of a send without a receive."""
    names = ("communicator", "tag", "bytes", "request")
    about = {name: row[name] for name in names} | {"peer": row["partner"]}
    stamp = {"seq": row["send_seq"], "time_ns": row["send_ns"]}
    halves = [half_message(row["location"], "send", row["send_call"]) | about | stamp]
    if row["done"] is not None:
        done = row["done"]
        stamp = {"seq": done["send_done_seq"], "time_ns": done["send_done_ns"]}
        half = half_message(row["location"], "send_done", done["send_done_call"])
        halves.append(half | {"request": row["request"]} | stamp)
    return halves


def _halves_of_receive(row: Row) -> list[Row]:
    """The events of a receive without a send, or that never completes."""
    halves = []
    if row["request"] is not None:
        stamp = {"seq": row["post_seq"], "time_ns": row["post_ns"]}
        half = half_message(row["location"], "post", row["post_call"])
        halves.append(half | {"request": row["request"]} | stamp)
    if "receive_seq" in row:
        names = ("communicator", "tag", "bytes", "request")
        about = {name: row[name] for name in names} | {"peer": row["partner"]}
        stamp = {"seq": row["receive_seq"], "time_ns": row["receive_ns"]}
        halves.append(
            half_message(row["location"], "receive", row["receive_call"]) | about | stamp
        )
    return halves
