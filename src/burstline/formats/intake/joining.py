"""What looks beyond a group of processes: messages, and instances of collectives.

::

    halves of each group ──► sends stay, receives go where their sends are ──► messages
    parts of each group ───► ranges of instances ──► collectives, their members
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.columns import begins_run, codes
from burstline.formats.intake.collectives import PART_COLUMNS, join_collectives
from burstline.formats.intake.half_messages import half_table, half_types
from burstline.formats.intake.meeting import Joining
from burstline.formats.intake.memory import give_back
from burstline.formats.intake.messages import RECEIVE_COLUMNS, SEND_COLUMNS
from burstline.formats.intake.target import Rows, types_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from burstline.columns import Integers
    from burstline.formats.intake.defects import Defects
    from burstline.formats.intake.places import Places
    from burstline.formats.intake.source import Columns, Group
    from burstline.formats.intake.target import Heap


class Halves:
    """Keeps what groups need of each other, and joins it when all are there.

    `processes` are those of each group, in order; `heap` makes a heap of a name.
    """

    def __init__(
        self,
        places: Places,
        members: Sequence[tuple[int, ...]],
        processes: Sequence[range],
        heap: Callable[[str], Heap],
        *,
        parts_at_once: int,
        odd: Defects,
    ) -> None:
        self._places, self._members, self._odd = places, members, odd
        self._borders = np.array([one.stop for one in processes], np.int64)
        self._first = np.searchsorted(self._borders, self._borders)
        self._at_once = parts_at_once
        self._sends = Rows(heap("sends"), types_of(SEND_COLUMNS, "messages"))
        self._receives = Rows(heap("receives"), types_of(RECEIVE_COLUMNS, "messages"))
        part = types_of(PART_COLUMNS, "collectives", "collective_members")
        self._parts = Rows(heap("parts"), part)
        self._ranges = Rows(heap("ranges"), part)
        self._alone = Rows(heap("alone"), half_types())
        # Of processes in several groups: which numbers on channels each group has.
        self._begins = Rows(heap("begins"), dict.fromkeys(_BEGIN_COLUMNS, np.dtype(np.int64)))
        self._parted = Rows(heap("parted"), types_of(RECEIVE_COLUMNS, "messages"))
        self._alone_ranges = Rows(heap("halves"), half_types())
        self._alone_counts, self._alone_last = np.zeros((2, len(processes)), np.int64)
        self._instances = np.zeros(len(members), np.int64)

    def append(self, number: int, group: Group) -> None:
        """Keep the halves and parts of a group; receives go where their sends are."""
        self._sends.append(number, group.sends)
        if self._is_parted(number):
            self._begins.append(int(self._first[number]), _begins_of(group.sends, number))
        self._receives.scatter(self._group_of(group.receives["sender"]), group.receives)
        parts = group.parts
        np.maximum.at(self._instances, parts["communicator"], parts["sequence"] + 1)
        self._parts.append(number, parts)
        self._keep(group.waiting)

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

    def messages(self) -> Iterator[pa.Table]:
        """Give the messages that each group sent."""
        joining = Joining(self._places, self._odd)
        for number in range(len(self._borders)):
            yield joining.join(self._sends.take(number), self._received(number))
            for alone in joining.alone:
                self._keep(alone)
            joining.alone.clear()
            give_back()
        joining.finish()

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
        """Give what each group has of messages without another side, after the messages."""
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

    def collectives(self, operations: Sequence[str]) -> Iterator[tuple[pa.Table, pa.Table]]:
        """Give instances and their members, a range of instances at a time."""
        base, borders = self._ranges_of(self._members)
        for number in range(len(self._borders)):
            parts = self._parts.take(number)
            instance = base[parts["communicator"]] + parts["sequence"]
            self._ranges.scatter(np.searchsorted(borders, instance, "right"), parts)
        first = 0
        for number in range(len(borders) + 1):
            found = join_collectives(
                self._ranges.take(number),
                places=self._places,
                members=self._members,
                operations=operations,
                first=first,
                odd=self._odd,
            )
            first += found[0].num_rows
            yield found

    def _ranges_of(self, members: Sequence[tuple[int, ...]]) -> tuple[Integers, Integers]:
        """Give the first instance of each communicator, and of each range but the first."""
        size = np.array([max(len(listed), 1) for listed in members], np.int64)
        base = np.cumsum(self._instances) - self._instances
        weight = np.cumsum(self._instances * size)
        total = int(weight[-1]) if len(weight) else 0
        cuts = np.arange(self._at_once, total, self._at_once)
        of = np.searchsorted(weight, cuts, "right")
        inside = (cuts - (weight[of] - self._instances[of] * size[of])) // size[of]
        return base, np.unique(base[of] + inside)


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
    at = np.minimum(np.searchsorted(channels, wanted), len(channels) - 1)
    is_known = channels[at] == wanted
    key = np.searchsorted(channels, known) << _WIDEST | begins["ordinal"]
    order = np.argsort(key)
    place = np.searchsorted(key[order], at << _WIDEST | receives["ordinal"], "right") - 1
    return np.where(is_known, begins["group"][order[np.maximum(place, 0)]], otherwise)
