"""In which collectives ranks meet: how often, how long, and who comes last."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from burstline.columns import Integers, dense, placed, sums_by
from burstline.errors import NotEnoughDataError
from burstline.identity import communicator_labels, splits_of
from burstline.model import NAMES, Trace
from burstline.values import BYTES, COUNT, TEXT, TIME, Column, Table

_MOST_LAST = 3


@dataclass(frozen=True, slots=True)
class Collective:
    """All instances of a collective operation on a communicator."""

    operation: str
    communicator: str  # which; those into which all ranks are split at once are together
    ranks: int  # members of an instance, the mean
    count: int
    incomplete: int  # those of them in which some member was not seen
    # what a member sends or receives in an instance, whichever is more, the mean
    rank_bytes: int
    inside_ns: int  # the time of all members in it, in ns
    early_ns: int  # how much of that is before the last member came, in ns
    # Ranks that came last, and in how many instances, the most frequent first. Where no member
    # came before another, nobody is last.
    last: tuple[tuple[int, int], ...]

    @property
    def last_text(self) -> str:
        """Who comes last, in words.

        >>> def text(*last, count=9):
        ...     return Collective("MPI_Bcast", "", 8, count, 0, 0, 0, 0, last).last_text
        >>> text((3, 9)), text((3, 5), (1, 4)), text((3, 2), (5, 2), (1, 1)), text()
        ('always rank 3', 'rank 3 in 5 of 9', 'ranks 3, 5 in 2 of 9 each', '')
        >>> text((5, 1), count=1)
        'rank 5'
        """
        if not self.last:
            return ""
        most = self.last[0][1]
        ranks = [rank for rank, count in self.last if count == most]
        if most == self.count:
            return f"{'always ' * (most > 1)}rank {ranks[0]}"
        if len(ranks) == 1:
            return f"rank {ranks[0]} in {most:,} of {self.count:,}"
        if len(ranks) > _MOST_LAST:
            return f"{len(ranks)} ranks in {most:,} of {self.count:,} each"
        return f"ranks {', '.join(map(str, ranks))} in {most:,} of {self.count:,} each"


@dataclass(frozen=True, slots=True)
class Collectives:
    """The collectives of a run by operation and communicator, the longest first."""

    operations: tuple[Collective, ...]

    def tables(self) -> list[Table]:
        """A row for each operation on a communicator."""
        columns = (
            Column("collective", TEXT), Column("communicator", TEXT), Column("ranks", COUNT),
            Column("times", COUNT), Column("per rank", BYTES),
            Column("before the last", TIME), Column("in the call", TIME),
            Column("last to come", TEXT),
        )  # fmt: skip
        rows = [
            (each.operation, each.communicator, each.ranks, each.count, each.rank_bytes or None,
             each.early_ns, each.inside_ns, each.last_text)
            for each in self.operations
        ]  # fmt: skip
        return [Table(columns, rows, "Collectives by communicator", left=2)]


def collectives(trace: Trace) -> Collectives:
    """In which collectives ranks meet, by operation and communicator.

    Linear in the members. What is before the last member came is no wait where nobody needs
    the last: a broadcast asks for its root alone. Whether ranks wait is told by
    :func:`burstline.wait_states`.

    >>> from burstline.testing import trace_of
    >>> made = collectives(
    ...     trace_of(
    ...         "ranks 2 | 0 | 10 enter MPI_Barrier | 10 begin | 20 end | 20 leave "
    ...         "| 1 | 16 enter MPI_Barrier | 16 begin | 20 end | 20 leave"
    ...     )
    ... )
    >>> [(each.operation, each.early_ns, each.inside_ns, each.last) for each in made.operations]
    [('MPI_Barrier', 6, 14, ((1, 1),))]
    """
    if not trace.rows("collectives"):
        raise NotEnoughDataError("no collective was recorded")
    communicator, operation, complete = trace.arrays(
        "collectives", "communicator", "operation", "complete"
    )
    instance, location, begin, end, sent, received = trace.arrays(
        "collective_members",
        "collective", "location", "begin_ns", "end_ns", "sent_bytes", "received_bytes",
    )  # fmt: skip
    application, rank = trace.arrays("locations", "application", "rank")
    member = np.lexsort((begin, instance))
    of_member = instance[member]
    ends = np.flatnonzero(np.diff(of_member, append=-1))
    last_row = placed(member[ends], of_member[ends], len(operation))
    begins = np.flatnonzero(np.diff(of_member, prepend=-1))
    has_last = np.zeros(len(operation), np.bool_)
    has_last[of_member[ends]] = begin[member[begins]] < begin[member[ends]]
    early = np.minimum(begin[last_row[of_member]], end[member]) - begin[member]
    size = np.maximum(np.maximum(sent, received), 0)[member]

    names, split = _named(trace, communicator, application)
    groups = len(NAMES) + 1
    number, keys = dense((split + 1) * groups + operation + 1, (len(names) + 1) * groups)
    count = np.bincount(number, minlength=len(keys))
    members = sums_by(number[of_member], np.ones_like(member), len(keys))
    sizes, inside, before = (
        sums_by(number[of_member], values, len(keys))
        for values in (size, (end - begin)[member], np.maximum(early, 0))
    )
    made = []
    for k, key in enumerate(keys.tolist()):
        in_group = (number == k) & has_last
        ranks, times = np.unique(rank[location[last_row[in_group]]], return_counts=True)
        pairs = zip(ranks.tolist(), times.tolist(), strict=True)
        latest = sorted(pairs, key=lambda each: (-each[1], each[0]))
        made.append(
            Collective(
                NAMES[key % groups - 1],
                names[key // groups - 1] if key >= groups else "unknown",
                round(members[k] / count[k]),
                int(count[k]),
                int(np.count_nonzero((number == k) & ~complete.astype(bool))),
                round(sizes[k] / max(members[k], 1)),
                int(inside[k]),
                int(before[k]),
                tuple(latest),
            )
        )
    return Collectives(tuple(sorted(made, key=lambda each: -each.inside_ns)))


def _named(
    trace: Trace, communicator: Integers, application: Integers
) -> tuple[list[str], Integers]:
    """Labels of communicators, and the one that stands for that of each instance."""
    labels, split = communicator_labels(trace), splits_of(trace)
    sizes = [len(each) for each in trace.communicators["members"].to_pylist()]
    together = np.bincount(split, minlength=len(labels)) if len(split) else split
    of = trace.communicators["application"].to_pylist()
    several = len(np.unique(application)) > 1
    names = []
    for number, label in enumerate(labels):
        name = label
        if together[number] > 1:
            alike = {sizes[k] for k in np.flatnonzero(split == number).tolist()}
            size = "-".join(dict.fromkeys(map(str, (min(alike), max(alike)))))
            name = f"{together[number]} groups of {size} ranks"
        names.append(f"application {of[number]}, {name}" if several else name)
    return names, np.where(communicator >= 0, split[np.maximum(communicator, 0)], -1)
