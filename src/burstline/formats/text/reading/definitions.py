"""What a text declares before the first event: who runs, and what names mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from burstline import schema
from burstline.extrae import COUNTER_TYPES
from burstline.formats.text.options import REGION_COLUMNS
from burstline.formats.text.places import place_of
from burstline.formats.text.statements import (
    LARGEST,
    maybe_small,
    signed,
    small,
    text,
)
from burstline.operations import CODES

if TYPE_CHECKING:
    from collections.abc import Callable

    from burstline.formats.text.places import Place, Row
    from burstline.formats.text.statements import Statement

MOST_LOCATIONS: Final = 1 << 16
_MOST_OPERATIONS: Final = 1 << 15
_FIRST_COUNTER_TYPE: Final = COUNTER_TYPES[1]


@dataclass(slots=True)
class Definitions:
    """Everything declared so far; each table a list of rows."""

    places: dict[Place, Row] = field(default_factory=dict)
    communicators: dict[int, Row] = field(default_factory=dict)
    regions: list[Row] = field(default_factory=list)
    paths: list[Row] = field(default_factory=list)
    counters: list[Row] = field(default_factory=list)
    counter_sets: list[Row] = field(default_factory=list)
    metadata: list[Row] = field(default_factory=list)
    defects: list[Row] = field(default_factory=list)
    region_rows: dict[str, int] = field(default_factory=dict)
    team_rows: dict[int, int] = field(default_factory=dict)
    operations: dict[str, int] = field(default_factory=lambda: dict(CODES))
    is_closed: bool = False

    def declare(self, statement: Statement) -> bool:
        """Add what a statement declares; return whether it declares something."""
        declaration = _DECLARATIONS.get(statement.words[0]) if statement.words else None
        if declaration is None:
            return False
        if statement.readings:
            raise statement.error("no reading here; quote words with =", statement.words[0])
        statement.word("a declaration")
        declaration(self, statement)
        return True

    def region(self, name: str) -> int:
        """The row of a region, which is a user function unless declared before."""
        if name not in self.region_rows:
            self._add_region(name, {})
        return self.region_rows[name]

    def team(self, comm: int) -> int:
        """The row of the region that stands for being in the team `comm`."""
        if comm not in self.team_rows:
            given = {"paradigm": "openmp", "role": "team", "source_value": comm}
            self._add_region(f"team {comm}", given)
        return self.team_rows[comm]

    def operation(self, name: str, statement: Statement) -> str:
        """Add an operation that the fixed list does not have; return its name."""
        if self.operations.setdefault(name, len(self.operations)) >= _MOST_OPERATIONS:
            raise statement.error(f"at most {_MOST_OPERATIONS} different operations", name)
        return name

    def _add_region(self, name: str, given: Row) -> None:
        row: Row = {column.name: None for column in schema.TABLES["region_defs"].columns}
        row |= {"region": len(self.regions), "name": name} | {
            "paradigm": "user",
            "role": "function",
        }
        row |= given
        self.regions.append(row)
        if row["role"] == "team" and row["source_value"] is not None:
            self.team_rows.setdefault(row["source_value"], row["region"])
        else:
            self.region_rows.setdefault(name, row["region"])

    def ranks(self, statement: Statement) -> None:
        """``ranks N [threads T …]``: one application, numbered 0."""
        self._grid(statement, 0)

    def application(self, statement: Statement) -> None:
        """``application A ranks N [threads T …]``."""
        application = statement.number("an application", 0, MOST_LOCATIONS)
        statement.keyword("ranks")
        self._grid(statement, application)

    def _check_open(self, statement: Statement) -> None:
        if self.is_closed:
            raise statement.error("every location before the first event")

    def _grid(self, statement: Statement, application: int) -> None:
        self._check_open(statement)
        ranks = statement.number("a number of ranks", 0, MOST_LOCATIONS)
        threads = [1]
        if statement.rest:
            statement.keyword("threads")
            threads = statement.numbers()
        statement.end()
        if len(threads) not in {1, ranks}:
            raise statement.error("one number of threads, or one per rank")
        threads = threads * ranks if len(threads) == 1 else threads
        if len(self.places) + sum(threads) > MOST_LOCATIONS:
            raise statement.error(f"at most {MOST_LOCATIONS} threads in all")
        for rank in range(ranks):
            for thread in range(threads[rank]):
                self.places.setdefault((application, rank, thread), {})

    def location(self, statement: Statement) -> None:
        """``location PLACE [node …] [kind …] [born …] [died …] [name …] [cpu …]``."""
        self._check_open(statement)
        place = place_of(statement.word("a rank"), statement)
        if place is None:
            raise statement.error("a place: rank, rank.thread or application/rank.thread")
        if len(self.places) >= MOST_LOCATIONS:
            raise statement.error(f"at most {MOST_LOCATIONS} threads in all")
        self.places.setdefault(place, {}).update(
            statement.options(
                {
                    "node": text,
                    "kind": lambda s: s.one_of("a kind", schema.LOCATION_KINDS),
                    "born": signed,
                    "died": signed,
                    "name": text,
                    "cpu": small,
                }
            )
        )

    def communicator(self, statement: Statement) -> None:
        """``communicator C members R … [kind …] [application A] [id N] [ambiguous yes]``."""
        row = statement.number("a communicator")
        statement.keyword("members")
        members = statement.numbers()
        given = statement.options(
            {
                "kind": lambda s: s.one_of("a kind", schema.COMMUNICATOR_KINDS),
                "application": small,
                "id": signed,
                "ambiguous": lambda s: s.one_of("yes or no", ("yes", "no")),
            }
        )
        self.communicators[row] = {
            "communicator": row,
            "application": given.get("application", 0),
            "kind": given.get("kind", "group"),
            "members": members,
            "ambiguous": given.get("ambiguous") == "yes",
            "source_id": given.get("id", row + 1),
        }

    def region_def(self, statement: Statement) -> None:
        """``region NAME [paradigm P] [role R] [file F] [begin L] [end L] …``."""
        name = statement.word("a name")
        given = statement.options(
            {
                "paradigm": lambda s: s.one_of("a paradigm", schema.PARADIGMS),
                "role": text,
                "file": text,
                "begin": small,
                "end": small,
                "type": signed,
                "value": signed,
            }
        )
        renamed = {REGION_COLUMNS.get(key, key): value for key, value in given.items()}
        self._add_region(name, renamed)

    def path(self, statement: Statement) -> None:
        """``path P FUNCTION [file …] [line …] [under P]``."""
        row = statement.number("a call path")
        if row != len(self.paths):
            raise statement.error(f"call path {len(self.paths)}", str(row))
        function = statement.word("a function")
        given = statement.options({"file": text, "line": small, "under": maybe_small})
        parent = given.pop("under", None)
        if isinstance(parent, int) and parent >= row:
            raise statement.error("a call path declared before", str(parent))
        self.paths.append(
            {"call_path": row, "parent": parent, "function": function}
            | {"file": given.get("file"), "line": given.get("line")}
        )

    def counter(self, statement: Statement) -> None:
        """``counter NAME [unit …] [mode …] [type …]``."""
        name = statement.word("a name")
        if name in self.counter_names or name in _READING_COLUMNS:
            raise statement.error("a counter that has no column yet", name)
        given = statement.options(
            {
                "unit": text,
                "mode": lambda s: s.one_of("a mode", schema.COUNTER_MODES),
                "type": signed,
            }
        )
        self.counters.append(
            {
                "name": name,
                "unit": given.get("unit", ""),
                "mode": given.get("mode", "delta"),
                "source_type": given.get("type", _FIRST_COUNTER_TYPE + len(self.counters)),
            }
        )

    @property
    def counter_names(self) -> list[str]:
        """Names of the counters, in order."""
        return [counter["name"] for counter in self.counters]

    def counter_set(self, statement: Statement) -> None:
        """``set N COUNTER …``."""
        number = statement.number("a set")
        self.counter_sets += [
            {"counter_set": number, "counter": name} for name in statement.rest
        ]

    def meta(self, statement: Statement) -> None:
        """``meta KEY VALUE``."""
        row = {"key": statement.word("a key"), "value": statement.word("a value")}
        statement.end()
        self.metadata.append(row)

    def defect(self, statement: Statement) -> None:
        """``defect KIND SEVERITY COUNT FIRST``."""
        row = {
            "kind": statement.word("a kind"),
            "severity": statement.one_of("a severity", schema.SEVERITIES),
            "count": statement.number("a count", 0, LARGEST),
            "first": statement.word("where first"),
        }
        statement.end()
        self.defects.append(row)


_READING_COLUMNS: Final = {
    column.name for name in ("readings", "bursts") for column in schema.TABLES[name].columns
}
_DECLARATIONS: Final[dict[str, Callable[[Definitions, Statement], None]]] = {
    "ranks": Definitions.ranks,
    "application": Definitions.application,
    "location": Definitions.location,
    "communicator": Definitions.communicator,
    "region": Definitions.region_def,
    "path": Definitions.path,
    "counter": Definitions.counter,
    "set": Definitions.counter_set,
    "meta": Definitions.meta,
    "defect": Definitions.defect,
}
