"""What looks beyond a group of processes: messages, and instances of collectives.

::

    halves of each group ──► sends stay, receives go where their sends are ──► messages
    parts of each group ───► ranges of instances ──► collectives, their members
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline.columns import begins_run, codes, row_of
from burstline.formats.intake.collectives import PART_COLUMNS, join_collectives
from burstline.formats.intake.half_messages import HALF_TYPES, half_table
from burstline.formats.intake.messages import RECEIVE_COLUMNS
from burstline.formats.intake.target import give_back, types_of
from burstline.schema import arrow_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from burstline.columns import Integers
    from burstline.formats.intake.source import Columns, Group, Source
    from burstline.formats.intake.target import MakeRows


class Halves:
    """Keeps what groups need of each other, and joins it when all are there.

    `processes` are those of each group, in order.
    """

    def __init__(
        self,
        source: Source[Any, Any],
        processes: Sequence[range],
        rows: MakeRows,
        *,
        parts_at_once: int,
    ) -> None:
        self._source, self._places, self._joining = source, source.places, source.joining
        self._borders = np.array([group.stop for group in processes], np.int64)
        self._first = np.searchsorted(self._borders, self._borders)
        self._at_once = parts_at_once
        self._sends = rows("sends", self._joining.sends)
        self._receives = rows("receives", self._joining.receives)
        part = types_of(PART_COLUMNS, "collectives", "collective_members")
        self._parts = rows("parts", part)
        self._ranges = rows("ranges", part)
        self._alone = rows("alone", HALF_TYPES)
        # Of processes in several groups: which numbers on channels each group has.
        self._begins = rows("begins", dict.fromkeys(_BEGIN_COLUMNS, np.dtype(np.int64)))
        self._parted = rows("parted", types_of(RECEIVE_COLUMNS, "messages"))
        self._alone_ranges = rows("halves", HALF_TYPES)
        self._alone_counts, self._alone_last = np.zeros((2, len(processes)), np.int64)
        self._instances = np.zeros(0, np.int64)
        self._has_parts = self._has_alone = False

    def append(self, number: int, group: Group) -> None:
        """Keep the halves and parts of a group; receives go where their sends are."""
        self._sends.append(number, group.sends)
        if self._is_parted(number):
            self._begins.append(int(self._first[number]), _begins_of(group.sends, number))
        if len(self._borders) == 1:
            self._receives.append(number, group.receives)
        else:
            sender = self._joining.senders(group.receives)
            self._receives.scatter(self._group_of(sender), group.receives)
        if group.parts is not None:
            self._has_parts = True
            self._count(group.parts)
            self._parts.append(number, group.parts)
        if group.waiting is not None:
            self._has_alone = True
            self._keep(group.waiting)

    def _count(self, parts: Columns) -> None:
        """Count the instances of each communicator that parts are of."""
        self._widen(int(parts["communicator"].max(initial=-1)) + 1)
        np.maximum.at(self._instances, parts["communicator"], parts["sequence"] + 1)

    def _group_of(self, process: Integers) -> Integers:
        """The group of each process; of a process in several groups, the first."""
        return np.searchsorted(self._borders, process, "right")

    def _keep(self, alone: Columns) -> None:
        """Keep events without another side for the first group of their process."""
        group = self._group_of(self._places.process[alone["location"]])
        np.add.at(self._alone_counts, group, 1)
        np.maximum.at(self._alone_last, group, alone["seq"])
        self._alone.scatter(group, alone)

    def _is_parted(self, number: int) -> bool:
        """Whether a group is one of several of its process."""
        return int(np.count_nonzero(self._first == self._first[number])) > 1

    def messages(self) -> Iterator[Mapping[str, pa.Table]]:
        """The messages that each group sent, and what its format has beside."""
        for number in range(len(self._borders)):
            tables, events = self._joining.join(
                self._sends.take(number), self._received(number)
            )
            yield tables
            del tables
            for alone in events:
                self._keep(alone)
            give_back()
        self._joining.finish()

    def _received(self, number: int) -> dict[str, Integers]:
        """The receives of what a group sent."""
        if not self._is_parted(number):
            return self._receives.take(number)
        if number == self._first[number]:
            begins = self._begins.take(number)
            for receives in self._receives.pieces(number):
                owner = _owners(begins, receives, self._places.process, number)
                self._parted.scatter(owner, receives)
        return self._parted.take(number)

    def half_messages(self) -> Iterator[pa.Table]:
        """What each group has of messages without another side, after the messages."""
        if not self._has_alone:
            return
        for number in range(len(self._borders)):
            if self._alone_counts[number] <= self._at_once or not self._is_parted(number):
                yield half_table(self._alone.take(number))
                continue
            # All events of a process in several groups are of one location.
            ranges = -(-self._alone_counts[number] // self._at_once)
            width = self._alone_last[number] // ranges + 1
            for alone in self._alone.pieces(number):
                self._alone_ranges.scatter(alone["seq"] // width, alone)
            for place in range(ranges):
                yield half_table(self._alone_ranges.take(place))

    def collectives(self) -> Iterator[tuple[pa.Table, pa.Table]]:
        """Instances and their members, a range of instances at a time."""
        if not self._has_parts:
            return
        if not self._instances.any():
            yield (
                arrow_schema("collectives").empty_table(),
                arrow_schema("collective_members").empty_table(),
            )
            return
        members = self._source.members
        size = np.array([max(len(listed), 1) for listed in members], np.int64)
        self._widen(len(size))
        base = np.cumsum(self._instances) - self._instances
        borders = self._source.borders(self._instances, size, self._at_once)
        for number in range(len(self._borders)):
            parts = self._parts.take(number)
            instance = base[parts["communicator"]] + parts["sequence"]
            self._ranges.scatter(np.searchsorted(borders, instance, "right"), parts)
        first = 0
        for number in range(len(borders) + 1):
            joined = join_collectives(
                self._ranges.take(number),
                places=self._places,
                members=members,
                operations=self._source.operations,
                words=self._source.words_of_instance,
                first=first,
                defects=self._source.defects,
            )
            first += joined[0].num_rows
            yield joined

    def _widen(self, communicators: int) -> None:
        """Have room to count the instances of so many communicators."""
        more = max(communicators - len(self._instances), 0)
        self._instances = np.append(self._instances, np.zeros(more, np.int64))


_CHANNEL: Final = ("communicator", "receiver", "tag")
_BEGIN_COLUMNS: Final = (*_CHANNEL, "ordinal", "group")
_WIDEST: Final = 40


def _begins_of(sends: Columns, number: int) -> dict[str, Integers]:
    """The first ordinal that a group has on each of its channels."""
    channel = [sends[name] for name in _CHANNEL]
    order = np.lexsort((sends["ordinal"], *channel))
    first = order[np.flatnonzero(begins_run(*(column[order] for column in channel)))]
    begins = {name: sends[name][first] for name in (*_CHANNEL, "ordinal")}
    return begins | {"group": np.full(len(first), number)}


def _owners(begins: Columns, receives: Columns, process: Integers, otherwise: int) -> Integers:
    """The group that sent what each receive took; `otherwise` where no group did."""
    receiver = process[receives["receiver_location"]]
    known, wanted = codes(
        [begins[name] for name in _CHANNEL],
        [receives["communicator"], receiver, receives["tag"]],
    )
    channels = np.unique(known)
    if not len(channels):
        return np.full(len(wanted), otherwise)
    channel = row_of(channels, wanted)
    key = np.searchsorted(channels, known) << _WIDEST | begins["ordinal"]
    order = np.argsort(key)
    place = np.searchsorted(key[order], channel << _WIDEST | receives["ordinal"], "right") - 1
    return np.where(channel >= 0, begins["group"][order[np.maximum(place, 0)]], otherwise)
