"""What a text declares before the first event: who runs, and what names mean."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

from burstline.extrae import COUNTER_TYPES
from burstline.formats.text.forms import DECLARATIONS, FORMS, ROWS, Row
from burstline.formats.text.statements import MOST_LOCATIONS, Place, Statement, place_of
from burstline.model import CODES, schema

_WORDS: Final = {"ranks", "application", "location", "row", *DECLARATIONS}
"""Of statements that declare; those with a method have a rule of their own."""
_MOST_OPERATIONS: Final = 1 << 15


@dataclass(slots=True)
class Declarations:
    """Everything declared so far: what is said of each place, and rows by table."""

    places: dict[Place, Row] = field(default_factory=dict)
    rows: defaultdict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    communicators: dict[int, Row] = field(default_factory=dict)
    counter_rows: dict[str, int] = field(default_factory=dict)
    region_rows: dict[str, int] = field(default_factory=dict)
    team_rows: dict[int, int] = field(default_factory=dict)
    operations: dict[str, int] = field(default_factory=lambda: dict(CODES))
    is_closed: bool = False

    def declare(self, statement: Statement) -> bool:
        """Add what a statement declares; return whether it declares something."""
        word = statement.words[0] if statement.words else ""
        if word not in _WORDS:
            return False
        if statement.readings and word != "row":
            raise statement.error("no reading here; quote words with =", word)
        statement.word("a declaration")
        getattr(self, f"_{word}", self._plain)(statement)
        return True

    @property
    def counter_names(self) -> list[str]:
        """Names of the counters, in order."""
        return [*self.counter_rows]

    def region(self, name: str) -> int:
        """The row of a region, which is a user function unless declared before."""
        if name not in self.region_rows:
            self._add_region(FORMS["region"].usual | {"name": name})
        return self.region_rows[name]

    def team(self, comm: int) -> int:
        """The row of the region that stands for being in the team `comm`."""
        if comm not in self.team_rows:
            given = {"paradigm": "openmp", "role": "team", "source_value": comm}
            self._add_region(FORMS["region"].usual | given | {"name": f"team {comm}"})
        return self.team_rows[comm]

    def operation(self, name: str, statement: Statement) -> str:
        """Add an operation that the fixed list does not have; return its name."""
        if self.operations.setdefault(name, len(self.operations)) >= _MOST_OPERATIONS:
            raise statement.error(f"at most {_MOST_OPERATIONS} different operations", name)
        return name

    def reading(self, statement: Statement) -> Row:
        """The counters that a statement has read."""
        unknown = statement.readings.keys() - self.counter_rows.keys()
        if unknown:
            raise statement.error("a counter declared before", min(unknown))
        return dict(statement.readings)

    def _check_open(self, statement: Statement) -> None:
        if self.is_closed:
            raise statement.error("every location before the first event")

    def _ranks(self, statement: Statement) -> None:
        application = 0
        if statement.words[0] == "application":
            application = statement.number("an application", 0, MOST_LOCATIONS)
            statement.keyword("ranks")
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

    _application = _ranks

    def _location(self, statement: Statement) -> None:
        self._check_open(statement)
        place = place_of(statement.word("a rank"), statement)
        if place is None:
            raise statement.error("a place: rank, rank.thread or application/rank.thread")
        if len(self.places) >= MOST_LOCATIONS:
            raise statement.error(f"at most {MOST_LOCATIONS} threads in all")
        given = FORMS["location"].read(statement) | {"statement": statement}
        self.places.setdefault(place, {}).update(given)

    def _communicator(self, statement: Statement) -> None:
        row = FORMS["communicator"].whole(statement, source_id=None)
        if row["source_id"] is None:
            row["source_id"] = row["communicator"] + 1
        self.communicators[row["communicator"]] = row

    def _region(self, statement: Statement) -> None:
        self._add_region(FORMS["region"].whole(statement))

    def _add_region(self, row: Row) -> None:
        rows = self.rows["region_defs"]
        row["region"] = len(rows)
        rows.append(row)
        if row["role"] == "team" and row["source_value"] is not None:
            self.team_rows.setdefault(row["source_value"], row["region"])
        else:
            self.region_rows.setdefault(row["name"], row["region"])

    def _path(self, statement: Statement) -> None:
        rows = self.rows["call_paths"]
        row = FORMS["path"].whole(statement)
        if row["call_path"] != len(rows):
            raise statement.error(f"call path {len(rows)}", str(row["call_path"]))
        if row["parent"] is not None and row["parent"] >= len(rows):
            raise statement.error("a call path declared before", str(row["parent"]))
        rows.append(row)

    def _counter(self, statement: Statement) -> None:
        rows = self.rows["counters"]
        row = FORMS["counter"].whole(statement, source_type=None)
        if row["name"] in self.counter_rows or row["name"] in schema.BESIDE_COUNTERS:
            raise statement.error("a counter that has no column yet", row["name"])
        if row["source_type"] is None:
            row["source_type"] = COUNTER_TYPES[1] + len(rows)
        self.counter_rows[row["name"]] = len(rows)
        rows.append(row)

    def _set(self, statement: Statement) -> None:
        number = statement.number("a set")
        names = statement.rest
        self.rows["counter_sets"] += [{"counter_set": number, "counter": n} for n in names]

    def _row(self, statement: Statement) -> None:
        name = statement.choice("a table", statement.word("a table"), list(ROWS))
        self.rows[name].append(ROWS[name].whole(statement) | self.reading(statement))

    def _plain(self, statement: Statement) -> None:
        form = FORMS[statement.words[0]]
        self.rows[form.tables[0]].append(form.whole(statement))
