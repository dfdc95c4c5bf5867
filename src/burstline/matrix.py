"""Who sends how much to whom: messages, bytes and their time by pair of ranks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from burstline.columns import Integers, numpy_columns
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.model import Trace
from burstline.progress import SILENCE, Progress
from burstline.values import BYTES, COUNT, SHARE, TEXT, TIME, Column, Table

_MOST = 256
_COLUMNS = (
    "sender_location", "receiver_location", "send_ns", "post_ns", "receive_ns", "sent_bytes",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """Point-to-point messages by sender and receiver, each a class of ranks: mostly one."""

    # the ranks; of more than 256 the classes, each some neighbours
    ranks: list[int] | list[list[int]]
    messages: Integers  # that a class sends to another: row to column
    sent_bytes: Integers  # their sizes at the sender, in bytes
    # how long they were under way: from when the send was begun and the receive posted
    # to when it was complete
    time_ns: Integers
    others: int  # messages from or to another application

    def names(self) -> list[str]:
        """Each class as a reader has it: a rank, or the first and last of some."""
        return [
            f"{each[0]}-{each[-1]}" if isinstance(each, list) else str(each)
            for each in self.ranks
        ]

    def __repr__(self) -> str:
        return (
            f"<Matrix: {len(self.ranks)} ranks or classes of them, {self.messages.sum():,} "
            f"messages, {self.sent_bytes.sum():,} bytes>"
        )

    def tables(self) -> list[Table]:
        """The pairs that send anything, the most bytes first."""
        names = self.names()
        pairs = np.argwhere(self.messages)
        values = self.sent_bytes, self.messages, self.time_ns
        size, count, time = (each[tuple(pairs.T)].tolist() for each in values)
        order = sorted(range(len(pairs)), key=lambda row: -size[row])
        whole = max(sum(size), 1)
        columns = (
            Column("from", TEXT), Column("to", TEXT), Column("sent", BYTES),
            Column("share", SHARE), Column("messages", COUNT), Column("time", TIME),
        )  # fmt: skip
        ends = [[names[each] for each in pair] for pair in pairs.tolist()]
        rows = [(*ends[k], size[k], size[k] / whole, count[k], time[k]) for k in order]
        return [Table(columns, rows, "Messages by pair of ranks", left=2)]


def matrix(
    trace: Trace, *, application: int | None = None, progress: Progress = SILENCE
) -> Matrix:
    """Who sends how much to whom.

    Linear in the messages; 24 bytes a pair of classes. Messages whose other side is not in the
    trace are left out, and so is what collectives send. Times are wrong where clocks of nodes
    disagree: what seems to arrive before it is sent takes no time.

    >>> from burstline.testing import trace_of
    >>> made = matrix(
    ...     trace_of(
    ...         "ranks 2 | 0 | 10 enter MPI_Send | 10 send to 1 bytes 8 | 11 leave "
    ...         "| 1 | 6 enter MPI_Recv | 12 receive from 0 bytes 8 | 12 leave"
    ...     )
    ... )
    >>> made.sent_bytes.tolist(), made.time_ns.tolist()
    ([[0, 8], [0, 0]], [[0, 2], [0, 0]])
    """
    sums = messages_summed(trace, application=application, progress=progress)
    return matrix_of(trace, [sums], application=application)


@dataclass(frozen=True, slots=True)
class PairSums:
    """Sums over the messages of some locations: of each application that sends any."""

    messages: int
    inside: dict[int, Integers]  # (3, classes * classes) messages, bytes and time by pair


def messages_summed(
    trace: Trace, *, application: int | None, progress: Progress = SILENCE
) -> PairSums:
    """The sums of what some locations send, of one application or of each that sends."""
    of, _ = trace.arrays("locations", "application", "rank")
    sums: dict[int, Integers] = {}
    classes: dict[int, _Classes] = {}
    total = 0
    progress.step("messages", trace.rows("messages"), "messages")
    for part in trace.batches("messages", _COLUMNS):
        sender, receiver, sent, posted, received, size = numpy_columns(part, *_COLUMNS)
        time = np.maximum(received - np.maximum(sent, posted), 0)
        total += part.num_rows
        sending = np.unique(of[sender]).tolist() if application is None else [application]
        for each in sending:
            if each not in classes:
                classes[each] = _Classes.of(trace, each)
                sums[each] = np.zeros((3, classes[each].classes ** 2), np.int64)
            row, column = (classes[each].number[side] for side in (sender, receiver))
            inside = np.flatnonzero((row >= 0) & (column >= 0))
            pair = row[inside] * classes[each].classes + column[inside]
            for added, values in zip(sums[each], (np.ones_like(sent), size, time), strict=True):
                np.add.at(added, pair, values[inside])
        progress.advance(part.num_rows)
    return PairSums(total, sums)


def matrix_of(trace: Trace, parts: Iterable[PairSums], *, application: int | None) -> Matrix:
    """The matrix of a trace by the sums of its parts."""
    total = 0
    inside: dict[int, Integers] = {}
    for part in parts:
        total += part.messages
        for each, sums in part.inside.items():
            inside[each] = inside.get(each, 0) + sums
    if not total:
        raise NotEnoughDataError("no message has both of its sides in this trace")
    if len(inside) > 1:
        raise ParameterError(f"applications {sorted(inside)} send messages: choose one")
    [(application, sums)] = inside.items()
    names, count, _ = _Classes.of(trace, application)
    messages, sent_bytes, time_ns = sums.reshape(3, count, count)
    return Matrix(names, messages, sent_bytes, time_ns, total - int(messages.sum()))


class _Classes(NamedTuple):
    """The ranks of an application, neighbours together where there are many."""

    names: list[int] | list[list[int]]
    classes: int
    number: Integers  # (locations,) the class of each; -1 of other applications

    @classmethod
    def of(cls, trace: Trace, application: int) -> _Classes:
        of, rank = trace.arrays("locations", "application", "rank")
        ranks = np.unique(rank[of == application])
        width = max(-(-len(ranks) // _MOST), 1)
        number = np.where(of == application, np.searchsorted(ranks, rank) // width, -1)
        every = ranks.tolist()
        parts = [every[first : first + width] for first in range(0, len(every), width)]
        return cls(every if width == 1 else parts, len(parts), number)
