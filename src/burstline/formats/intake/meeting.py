"""Where halves of messages meet: those of equal channel and number belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.formats.intake.half_messages import of_receives, of_sends
from burstline.formats.intake.messages import RECEIVE_COLUMNS, SEND_COLUMNS
from burstline.matching import channels, match_messages
from burstline.schema import UNKNOWN, arrow_table

if TYPE_CHECKING:
    import pyarrow as pa

    from burstline.columns import Integers
    from burstline.formats.intake.defects import Defects
    from burstline.formats.intake.places import Places
    from burstline.formats.intake.target import Columns


_SENT: Final = ("sender_location", "send_call", "receiver")
_RECEIVED: Final = ("receiver_location", "receive_call", "sender")


class Joining:
    """Joins the halves of messages, and remembers what was odd until all are joined.

    Parameters
    ----------
    places : Places
        Where processes and locations are.
    odd : Defects
        Told, at the end, of halves that stay alone, and of messages that arrive before
        they are sent.

    Attributes
    ----------
    alone : list of dict of str to ndarray of int64
        Events of halves that stay alone, as `half_messages` has them.
    """

    def __init__(self, places: Places, odd: Defects) -> None:
        self._places, self._odd = places, odd
        self._alone: dict[str, tuple[int, tuple[int, ...]]] = {}
        self.alone: list[Columns] = []

    def join(self, sends: Columns, receives: Columns) -> pa.Table:
        """Give the messages of some senders, out of their sends and all receives of them.

        Returns
        -------
        pyarrow.Table
            Rows of `messages`, by sender and in the order of sending.
        """
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
            self.alone += (of_sends if halves is sends else of_receives)(half, rank)
        sent = np.flatnonzero(taken >= 0)
        columns = {name: sends[name][sent] for name in SEND_COLUMNS[:-2]}
        columns |= {name: receives[name][taken[sent]] for name in RECEIVE_COLUMNS[:-4]}
        self._note_early(columns)
        return arrow_table("messages", columns)

    def _count(self, kind: str, alone: list[Integers]) -> None:
        if not len(alone[0]):
            return
        at = int(np.lexsort(alone[::-1])[0])
        here = tuple(int(column[at]) for column in alone)
        count, first = self._alone.get(kind, (0, here))
        self._alone[kind] = (count + len(alone[0]), min(first, here))

    def _note_early(self, columns: Columns) -> None:
        early = columns["receive_ns"] + self._places.accuracy_ns < columns["send_ns"]
        if early.any():
            row = int(early.argmax())
            text = f"location {columns['sender_location'][row]} at {columns['send_ns'][row]} ns"
            count = np.count_nonzero(early)
            self._odd.note("message_arrives_before_it_is_sent", "error", text, count)

    def finish(self) -> None:
        """Tell of the halves that stay alone."""
        for kind, (count, (location, _, rank, tag)) in self._alone.items():
            text = f"location {location}: rank {rank}, tag {tag}"
            self._odd.note(kind, "loss", text, count)
