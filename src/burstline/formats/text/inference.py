"""What follows from the rest of a text: attributes of calls, worlds, and whole tables.

The text form writes these only where a trace says more, or less.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from burstline.formats.text.forms import FORMS, Row
from burstline.formats.text.statements import Place
from burstline.model import Loops, bursts_of

Call = tuple[int, int]
"""Location, and ordinal of the call on it."""


def derived_tables(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """The tables without a statement that follow from others, unless a text has their rows."""
    loops = Loops()
    regions, definitions = tables["regions"], tables["region_defs"]
    told = loops.tables(tables, definitions, None) if regions.num_rows else {}
    return {"bursts": bursts_of(tables), **told, **loops.definitions()}


def worlds(places: Iterable[Place]) -> dict[int, Row]:
    """The rows of communicators of all ranks of an application, by its number."""
    ranks: dict[int, dict[int, None]] = defaultdict(dict)
    for application, rank, _ in sorted(places):
        ranks[application][rank] = None
    return {
        number: FORMS["communicator"].usual
        | {"communicator": number, "application": number, "kind": "world"}
        | {"members": list(ranks.get(number, ())), "source_id": number + 1}
        for number in range(max(ranks, default=-1) + 1)
    }


class CallAttributes:
    """The attributes of calls: of what was sent and received, and of parts of collectives.

    Rows have the columns of `messages`, and ``to`` and ``from`` as ranks, or those of
    `collectives` and their members; `ranks` are of locations.
    """

    def __init__(
        self,
        sends: Iterable[Row],
        receives: Iterable[Row],
        parts: Iterable[Row],
        ranks: Sequence[int],
    ) -> None:
        self._partners: dict[Call, set[tuple[int, int]]] = defaultdict(set)
        self._posts: dict[Call, set[tuple[int, int]]] = defaultdict(set)
        self._communicators: dict[Call, set[int | None]] = defaultdict(set)
        self._sums: dict[Call, Row] = defaultdict(dict)
        # what happens outside of calls is noted for a call None, for which nobody asks
        for row in sends:
            call = row["sender_location"], row["send_call"]
            self._partners[call].add((row["to"], row["tag"]))
            self._communicators[call].add(row["communicator"])
            self._add_bytes(call, "sent_bytes", row)
        for row in receives:
            call = row["receiver_location"], row["post_call"]
            self._posts[call].add((row["from"], row["tag"]))
            self._communicators[call].add(row["communicator"])
            received = row["receiver_location"], row["receive_call"]
            self._add_bytes(received, "received_bytes", row)
        for row in parts:
            call = row["location"], row["call"]
            self._communicators[call].add(row["communicator"])
            if row["root"] is not None and row["root"] == ranks[row["location"]]:
                self._sums[call]["root"] = row["root"]
            self._add_bytes(call, "sent_bytes", row)
            self._add_bytes(call, "received_bytes", row)

    def _add_bytes(self, call: Call, column: str, row: Row) -> None:
        self._sums[call][column] = self._sums[call].get(column, 0) + row[column]

    def of(self, call: Call) -> Row:
        """The attributes of a call, None where unknown; a destination goes before a source."""
        partners = self._partners.get(call) or self._posts.get(call, set())
        return (
            FORMS["call"].usual
            | self._sums.get(call, {})
            | {
                "communicator": _single_value(self._communicators.get(call, ())),
                "peer": _single_value({rank for rank, _ in partners}),
                "tag": _single_value({tag for _, tag in partners}),
            }
        )


def _single_value(values: Iterable[Any]) -> Any:  # noqa: ANN401 -- whatever the values are
    several = list(values)
    return several[0] if len(several) == 1 else None
