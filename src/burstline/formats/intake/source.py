"""What a format gives the one loop that reads: its parts, and the group that each becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, TypeVar

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
PartOf_contra = TypeVar("PartOf_contra", bound=SourcePart, contravariant=True)
Loaded = TypeVar("Loaded")


class Joining(Protocol):
    """How both halves of messages meet."""

    @property
    def sends(self) -> Mapping[str, np.dtype[Any]]:
        """The columns of a send, each as narrow as its values allow."""

    @property
    def receives(self) -> Mapping[str, np.dtype[Any]]:
        """The columns of a receive."""

    def senders(self, receives: Columns) -> Integers:
        """The process that sent what each receive took."""

    def join(
        self, sends: Columns, receives: Columns
    ) -> tuple[Mapping[str, pa.Table], Sequence[Columns]]:
        """Tables of all messages of some senders, and events of halves that stay alone."""

    def finish(self) -> None:
        """Note what is odd, once all are joined."""


class Source(Protocol[PartOf_contra, Loaded]):
    """A recording of any format, as the loop reads it."""

    @property
    def places(self) -> Placement:
        """Where processes and locations are."""

    @property
    def members(self) -> Sequence[tuple[int, ...]]:
        """World ranks of the members of each communicator."""

    @property
    def counters(self) -> Sequence[str]:
        """Names of the counters."""

    @property
    def operations(self) -> Sequence[str]:
        """Names behind the codes of operations; grows while groups are numbered."""

    @property
    def defects(self) -> Defects:
        """What is odd."""

    @property
    def joining(self) -> Joining:
        """How its halves of messages meet."""

    @property
    def words_of_instance(self) -> str:
        """How a defect names a collective, with `operation`, `number` and `communicator`."""

    def borders(self, instances: Integers, size: Integers, most: int, /) -> Integers:
        """The first instance of each range but the first; a range is joined at once.

        `instances` and `size` are of each communicator; `most` parts are to be in a range.
        """

    def load(self, part: PartOf_contra) -> Loaded:
        """What a part holds; several threads call this at once, so it changes nothing."""

    def group(self, part: PartOf_contra, loaded: Loaded) -> Group:
        """The group of a part; parts come in order, and what counts through goes on."""

    def whole(self) -> Mapping[str, pa.Table]:
        """Tables that no part owns, once all parts are read."""


class Divisible(Source[PartOf, Loaded], Protocol[PartOf, Loaded]):
    """A recording that says, before it is read, how large its processes are."""

    @property
    def costs(self) -> ReadingCosts:
        """Memory and disk that its units take."""

    def sizes(self) -> list[int]:
        """Units of each process: what a part is measured in."""

    def uncut(self) -> list[int]:
        """Units of each process that are read at once, however little memory there is."""

    def parts(self, most: int, longest: int | None = None) -> Sequence[PartOf]:
        """All parts in order, of at most so many units; longer processes than that are cut."""
