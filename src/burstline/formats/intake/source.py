"""What a format gives the one loop that reads: its parts, and the group that each becomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from burstline.columns import Integers
    from burstline.formats.intake.budget import Costs
    from burstline.formats.intake.defects import Defects
    from burstline.formats.intake.places import Places

    Columns = Mapping[str, Integers]


class Part(Protocol):
    """What is read at once: whole processes, or a slice of one."""

    @property
    def processes(self) -> range:
        """The processes it is of; parts of one process follow each other."""
        ...


@dataclass(frozen=True, slots=True)
class Processes:
    """A part of whole processes."""

    processes: range


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """What one part has, in the numbers of the trace.

    Attributes
    ----------
    tables : mapping of str to pyarrow.Table
        Rows of its locations.
    sends, receives : mapping of str to ndarray of int64
        Halves of messages, each with its ordinal on its channel.
    waiting : mapping of str to ndarray of int64
        Receives that never completed, as events of `half_messages`.
    parts : mapping of str to ndarray of int64
        Parts of collectives, each with its ordinal on its communicator.
    locations : int
        Locations that it completes.
    """

    tables: Mapping[str, pa.Table]
    sends: Columns
    receives: Columns
    waiting: Columns
    parts: Columns
    locations: int


PartOf = TypeVar("PartOf", bound=Part)
Loaded = TypeVar("Loaded")


class Source(Protocol[PartOf, Loaded]):
    """A recording of any format, as the loop reads it."""

    @property
    def places(self) -> Places:
        """Where processes and locations are."""
        ...

    @property
    def members(self) -> Sequence[tuple[int, ...]]:
        """World ranks of the members of each communicator."""
        ...

    @property
    def counters(self) -> Sequence[str]:
        """Names of the counters."""
        ...

    @property
    def operations(self) -> Sequence[str]:
        """Names behind the codes of operations; grows while groups are numbered."""
        ...

    @property
    def defects(self) -> Defects:
        """What is odd."""
        ...

    @property
    def costs(self) -> Costs:
        """Memory and disk that its units take."""
        ...

    def sizes(self) -> list[int]:
        """Units of each process: what a part is measured in."""
        ...

    def uncut(self) -> list[int]:
        """Units of each process that are read at once, however little memory there is."""
        ...

    def parts(self, most: int, longest: int | None = None) -> Sequence[PartOf]:
        """All parts in order, of at most so many units or of one process.

        A process of more than `longest` units, if that is given, is cut where it can be.
        """
        ...

    def longest(self, parts: Sequence[PartOf]) -> int:
        """Units of the longest part that could not be cut further."""
        ...

    def load(self, part: PartOf) -> Loaded:
        """What a part holds; several threads call this at once, so it changes nothing."""
        ...

    def group(self, part: PartOf, loaded: Loaded) -> Group:
        """The group of a part; parts come in order, and what counts through goes on."""
        ...

    def whole(self) -> Mapping[str, pa.Table]:
        """Tables that no part owns, once all parts are read."""
        ...
