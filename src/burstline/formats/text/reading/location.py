"""One location while its events are read, and the rows they become."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from burstline.formats.text.statements import SMALLEST

if TYPE_CHECKING:
    from burstline.formats.text.places import Row
    from burstline.formats.text.reading.definitions import Definitions
    from burstline.formats.text.statements import Statement


@dataclass(slots=True)
class Rows:
    """The rows of all locations."""

    calls: list[Row] = field(default_factory=list)
    regions: list[Row] = field(default_factory=list)
    sends: list[Row] = field(default_factory=list)
    receives: list[Row] = field(default_factory=list)
    parts: list[Row] = field(default_factory=list)
    teams: list[Row] = field(default_factory=list)
    locks: list[Row] = field(default_factory=list)
    readings: list[Row] = field(default_factory=list)
    gaps: list[Row] = field(default_factory=list)
    half_messages: list[Row] = field(default_factory=list)
    other_events: list[Row] = field(default_factory=list)
    never_completed: list[Row] = field(default_factory=list)


@dataclass(slots=True)
class Span:
    """Something entered and not yet left: a call, a region or a team."""

    row: Row
    kinds: tuple[str, ...]
    name: str
    statement: Statement
    barriers: int = 0


@dataclass(slots=True)
class Location:
    """One location while its events are read: its row, declarations, and where rows go.

    `now_ns` and `seq` are of the event being read, `first_ns` of the first event.
    """

    location: int
    definitions: Definitions
    rows: Rows
    first_ns: int | None = None
    now_ns: int = SMALLEST
    seq: int = 0
    calls: int = 0
    regions: int = 0
    open: list[Span] = field(default_factory=list)
    around: dict[str, list[Span]] = field(
        default_factory=lambda: {"call": [], "region": [], "team": []}
    )
    forks: list[tuple[Row, Statement]] = field(default_factory=list)
    part: tuple[Row, Statement] | None = None
    sending: dict[int, Row] = field(default_factory=dict)
    posted: dict[int, Row] = field(default_factory=dict)
    started_parts: dict[int, tuple[Row, Statement]] = field(default_factory=dict)
    acquired: dict[int, list[Row]] = field(default_factory=dict)

    @property
    def call(self) -> Row | None:
        """The innermost open MPI call."""
        return self.around["call"][-1].row if self.around["call"] else None

    @property
    def call_number(self) -> int | None:
        """The ordinal of the innermost open MPI call."""
        call = self.call
        return None if call is None else call["call"]

    @property
    def region(self) -> Row | None:
        """The innermost open region, teams included."""
        return self.around["region"][-1].row if self.around["region"] else None

    @property
    def team(self) -> Span | None:
        """The innermost team this location is in."""
        return self.around["team"][-1] if self.around["team"] else None

    def push(self, begun: Span) -> None:
        """Enter a span."""
        for kind in begun.kinds:
            self.around[kind].append(begun)
        self.open.append(begun)

    def pop(self) -> Span:
        """Leave the span that was entered last."""
        begun = self.open.pop()
        for kind in begun.kinds:
            self.around[kind].pop()
        return begun

    def stamp(self, when: str) -> Row:
        """The columns of a moment: time and ordinal of this event."""
        return {f"{when}_ns": self.now_ns, f"{when}_seq": self.seq}
