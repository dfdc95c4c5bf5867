"""What a format gives the one loop that reads: its parts, and the group that each becomes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from burstline.columns import Integers, row_of
from burstline.formats.intake.budget import ReadingCosts
from burstline.formats.intake.defects import Defects
from burstline.model import UNKNOWN

Columns = Mapping[str, Integers]


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """Who is who among locations, processes and ranks."""

    process: Integers  # (locations,) process of each location
    # (processes,) place of each process in the run
    application: Integers
    rank: Integers
    # how wrong the comparison of two clocks may be; None if they are not compared
    accuracy_ns: int | None
    is_part: bool = False  # other ranks were not to be recorded

    def process_of(self, location: Integers, rank: Integers) -> Integers:
        """The process of a rank in the application of a location, -1 without one."""
        if not len(location):
            return np.zeros(0, np.int64)
        span = int(self.rank.max()) + 1
        wanted = self.application[self.process[location]] * span + rank
        keys = self.application * span + self.rank
        return np.where((rank >= 0) & (rank < span), row_of(keys, wanted), UNKNOWN)


class SourcePart(Protocol):
    """What is read at once: whole processes, or a slice of one."""

    @property
    def processes(self) -> range:
        """The processes it is of; parts of one process follow each other."""


@dataclass(frozen=True, slots=True)
class Processes:
    """A part of whole processes."""

    processes: range


def borders_of(sizes: Sequence[int], most: int) -> list[int]:
    """Cut processes into groups of at most so many records, or of one process.

    >>> borders_of([3, 3, 3, 9, 1], 6)
    [0, 2, 3, 4, 5]
    """
    borders, held = [0], 0
    for number, size in enumerate(sizes):
        if number > borders[-1] and held + size > most:
            borders.append(number)
            held = 0
        held += size
    return [*borders, len(sizes)]


def groups_of(sizes: Sequence[int], most: int) -> list[Processes]:
    """Groups of whole processes, of at most so many units or of one process."""
    return [Processes(range(*pair)) for pair in pairwise(borders_of(sizes, most))]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """What one part has, in the numbers of the trace."""

    tables: Mapping[str, pa.Table]  # rows of its locations
    # halves of messages, each with its ordinal on its channel
    sends: Columns
    receives: Columns
    # events of `half_messages` that meet no other side, as receives that never completed
    waiting: Columns | None
    parts: Columns | None  # parts of collectives, each with its ordinal on its communicator
    locations: int  # locations that it completes
    # tables of it that are in files already, each as `store.write_part` writes it
    written: Mapping[str, Path] = field(default_factory=dict)


PartOf = TypeVar("PartOf", bound=SourcePart)
Loaded = TypeVar("Loaded")


class Joining(ABC):
    """How both halves of messages meet."""

    # the columns of each, as narrow as their values allow
    sends: Mapping[str, np.dtype[Any]]
    receives: Mapping[str, np.dtype[Any]]

    @abstractmethod
    def senders(self, receives: Columns) -> Integers:
        """The process that sent what each receive took."""

    @abstractmethod
    def join(
        self, sends: Columns, receives: Columns
    ) -> tuple[Mapping[str, pa.Table], Sequence[Columns]]:
        """Tables of all messages of some senders, and events of halves that stay alone."""

    def finish(self) -> None:  # noqa: B027 -- not all have something to note
        """Note what is odd, once all are joined."""


def even_borders(instances: Integers, size: Integers, most: int) -> Integers:
    """The first instance of each range but the first, each of at most so many parts or so."""
    base = np.cumsum(instances) - instances
    weight = np.cumsum(instances * size)
    total = int(weight[-1]) if len(weight) else 0
    cuts = np.arange(most, total, most)
    of = np.searchsorted(weight, cuts, "right")
    inside = (cuts - (weight[of] - instances[of] * size[of])) // size[of]
    return np.unique(base[of] + inside)


def window_borders(instances: Integers, size: Integers, most: int) -> Integers:
    """As :func:`even_borders`: small communicators together, or a window of a large one."""
    largest = int(size.max(initial=1))
    step = max(1, most // largest)
    borders, held, number = [], 0, 0
    for count, members in zip(instances.tolist(), size.tolist(), strict=True):
        for first in range(0, count, step):
            if held and held + members > largest:
                borders.append(number)
                held = 0
            held += members
            number += min(step, count - first)
    return np.array(borders, np.int64)


class Source(ABC, Generic[PartOf, Loaded]):
    """A recording of any format, as the loop reads it."""

    places: Placement  # where processes and locations are
    members: Sequence[tuple[int, ...]]  # world ranks of those of each communicator
    counters: Sequence[str]  # their names
    operations: Sequence[str]  # names behind codes; grows while groups are numbered
    defects: Defects
    joining: Joining  # how its halves of messages meet
    # how a defect names a collective
    words_of_instance = "{operation}, number {number} on communicator {communicator}"
    # the first instance of each range but the first, by instances and members of each
    # communicator; a range, of so many parts, is joined at once
    borders: Callable[[Integers, Integers, int], Integers] = staticmethod(even_borders)

    @abstractmethod
    def load(self, part: PartOf) -> Loaded:
        """What a part holds; several threads call this at once, so it changes nothing."""

    @abstractmethod
    def group(self, part: PartOf, loaded: Loaded) -> Group:
        """The group of a part; parts come in order, and what counts through goes on."""

    @abstractmethod
    def whole(self) -> Mapping[str, pa.Table]:
        """Tables that no part owns, once all parts are read."""


class Divisible(Source[PartOf, Loaded]):
    """A recording that says, before it is read, how large its processes are."""

    costs: ReadingCosts  # memory and disk that its units take

    @abstractmethod
    def sizes(self) -> list[int]:
        """Units of each process: what a part is measured in."""

    def uncut(self) -> list[int]:
        """Units of each process that are read at once, however little memory there is."""
        return self.sizes()

    @abstractmethod
    def parts(self, most: int, longest: int | None = None) -> Sequence[PartOf]:
        """All parts in order, of at most so many units; longer processes than that are cut."""
