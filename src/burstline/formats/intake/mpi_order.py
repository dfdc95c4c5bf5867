"""Halves of messages in MPI's order: those of equal channel and number belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.formats.intake.half_messages import of_receives, of_sends
from burstline.formats.intake.messages import RECEIVE_COLUMNS, SEND_COLUMNS
from burstline.formats.intake.target import types_of
from burstline.matching import channels, match_messages
from burstline.schema import UNKNOWN, arrow_table

if TYPE_CHECKING:
    import pyarrow as pa

    from burstline.columns import Integers
    from burstline.formats.intake.defects import Defects
    from burstline.formats.intake.places import Places
    from burstline.formats.intake.source import Columns


_SENT: Final = ("sender_location", "send_call", "receiver")
_RECEIVED: Final = ("receiver_location", "receive_call", "sender")


class MpiOrder:
    """Joins the halves of messages by channel and number; at the end it notes what is odd."""

    sends: Final = types_of(SEND_COLUMNS, "messages")
    receives: Final = types_of(RECEIVE_COLUMNS, "messages")

    def __init__(self, places: Places, defects: Defects) -> None:
        self._places, self._defects = places, defects
        self._alone: dict[str, tuple[int, tuple[int, ...]]] = {}

    def senders(self, receives: Columns) -> Integers:
        """The process that sent what each receive took."""
        return receives["sender"]

    def join(
        self, sends: Columns, receives: Columns
    ) -> tuple[dict[str, pa.Table], list[Columns]]:
        """Messages of some senders, in the order of sending, and events of what stays alone."""
        events: list[Columns] = []
        process = self._places.process
        partner = match_messages(
            *channels(
                [
                    sends["communicator"],
                    process[sends["sender_location"]],
                    sends["receiver"],
                    sends["tag"],
                    sends["ordinal"],
                ],
                [
                    receives["communicator"],
                    receives["sender"],
                    process[receives["receiver_location"]],
                    receives["tag"],
                    receives["ordinal"],
                ],
            )
        )
        taken = np.full(len(sends["tag"]), UNKNOWN, np.int64)
        kept = np.flatnonzero(partner >= 0)
        taken[partner[kept]] = kept
        for kind, halves, alone, (location, call, other) in (
            ("unmatched_send", sends, taken < 0, _SENT),
            ("unmatched_receive", receives, partner < 0, _RECEIVED),
        ):
            rows = np.flatnonzero(alone)
            rank = self._places.rank[halves[other][rows]]
            places = [halves[name][rows] for name in (location, call)]
            self._count(kind, [*places, rank, halves["tag"][rows]])
            half = {name: column[rows] for name, column in halves.items()}
            events += (of_sends if halves is sends else of_receives)(half, rank)
        sent = np.flatnonzero(taken >= 0)
        columns = {name: sends[name][sent] for name in SEND_COLUMNS[:-2]}
        columns |= {name: receives[name][taken[sent]] for name in RECEIVE_COLUMNS[:-4]}
        self._note_early(columns)
        return {"messages": arrow_table("messages", columns)}, events

    def _count(self, kind: str, alone: list[Integers]) -> None:
        if not len(alone[0]):
            return
        at = int(np.lexsort(alone[::-1])[0])
        here = tuple(int(column[at]) for column in alone)
        count, first = self._alone.get(kind, (0, here))
        self._alone[kind] = (count + len(alone[0]), min(first, here))

    def _note_early(self, columns: Columns) -> None:
        accuracy_ns = self._places.accuracy_ns
        if accuracy_ns is None:
            return
        early = columns["receive_ns"] + accuracy_ns < columns["send_ns"]
        if early.any():
            row = int(early.argmax())
            text = f"location {columns['sender_location'][row]} at {columns['send_ns'][row]} ns"
            count = np.count_nonzero(early)
            self._defects.note("message_arrives_before_it_is_sent", "error", text, count)

    def finish(self) -> None:
        """Note the halves that stay alone."""
        for kind, (count, (location, _, rank, tag)) in self._alone.items():
            text = f"location {location}: rank {rank}, tag {tag}"
            self._defects.note(kind, "loss", text, count)
