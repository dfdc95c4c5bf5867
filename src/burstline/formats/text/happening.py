"""One location while its events are read, and the rows they become."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from burstline.formats.text.statements import SMALLEST

if TYPE_CHECKING:
    from burstline.formats.text.definitions import Definitions, Row
    from burstline.formats.text.statements import Statement


@dataclass(slots=True)
class Rows:
    """What was read of all locations; each row a dictionary."""

    calls: list[Row] = field(default_factory=list)
    regions: list[Row] = field(default_factory=list)
    sends: list[Row] = field(default_factory=list)
    receives: list[Row] = field(default_factory=list)
    parts: list[Row] = field(default_factory=list)
    teams: list[Row] = field(default_factory=list)
    locks: list[Row] = field(default_factory=list)
    readings: list[Row] = field(default_factory=list)
    gaps: list[Row] = field(default_factory=list)
    halves: list[Row] = field(default_factory=list)
    others: list[Row] = field(default_factory=list)
    never_received: list[Row] = field(default_factory=list)


@dataclass(slots=True)
class Open:
    """Something entered and not yet left: a call, a region or a team."""

    row: Row
    kinds: tuple[str, ...]
    name: str
    statement: Statement
    barriers: int = 0


@dataclass(slots=True)
class Happening:
    """One location while its events are read.

    Attributes
    ----------
    location : int
        Its row.
    defined, rows
        What was declared, and where rows go.
    first_ns : int or None
        Time of its first event.
    now_ns, seq : int
        Time and ordinal of the event being read.
    """

    location: int
    defined: Definitions
    rows: Rows
    first_ns: int | None = None
    now_ns: int = SMALLEST
    seq: int = 0
    calls: int = 0
    regions: int = 0
    open: list[Open] = field(default_factory=list)
    around: dict[str, list[Open]] = field(
        default_factory=lambda: {"call": [], "region": [], "team": []}
    )
    forks: list[tuple[Row, Statement]] = field(default_factory=list)
    part: tuple[Row, Statement] | None = None
    sending: dict[int, Row] = field(default_factory=dict)
    posted: dict[int, Row] = field(default_factory=dict)
    taking_part: dict[int, tuple[Row, Statement]] = field(default_factory=dict)
    held: dict[int, list[Row]] = field(default_factory=dict)

    @property
    def call(self) -> Row | None:
        """The innermost open MPI call."""
        return self.around["call"][-1].row if self.around["call"] else None

    @property
    def region(self) -> Row | None:
        """The innermost open region, teams included."""
        return self.around["region"][-1].row if self.around["region"] else None

    @property
    def team(self) -> Open | None:
        """The innermost team this location is in."""
        return self.around["team"][-1] if self.around["team"] else None

    def push(self, begun: Open) -> None:
        """Enter something."""
        for kind in begun.kinds:
            self.around[kind].append(begun)
        self.open.append(begun)

    def pop(self) -> Open:
        """Leave what was entered last."""
        begun = self.open.pop()
        for kind in begun.kinds:
            self.around[kind].pop()
        return begun

    def stamp(self, when: str) -> Row:
        """Give the columns that say when this event happened."""
        return {f"{when}_ns": self.now_ns, f"{when}_seq": self.seq}
