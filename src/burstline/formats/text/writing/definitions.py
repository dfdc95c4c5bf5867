"""What a trace refers to, as the declarations of its text form.

Only what differs from what the text form assumes anyway is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from burstline.formats.text.forms import DECLARATIONS, DECLARED, LOCATION, ROWS
from burstline.formats.text.inference import derived_tables, worlds
from burstline.formats.text.places import place_word, thread_name
from burstline.formats.text.statements import written
from burstline.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from burstline.formats.text.forms import Row
    from burstline.formats.text.places import Place
    from burstline.trace import Trace


def declarations(
    trace: Trace, places: Sequence[Place], spans: Sequence[tuple[int, int]]
) -> Iterator[str]:
    """The lines that declare what events refer to, in an order that a reader accepts.

    `spans` are the times of the first and last event of each location.
    """
    yield from _grids(places)
    yield from _locations(trace, places, spans)
    yield from _communicators(trace, places)
    for word, name in DECLARATIONS.items():
        if name != "communicators":
            for row in trace.table(name).to_pylist():
                yield DECLARED[name].write(word, row)
    yield from _rows(trace)


def readings(trace: Trace, row: Row) -> str:
    """The words of the counters that a row has, each after a blank."""
    names = trace.counter_names
    return "".join(f" {written(c)}={row[c]}" for c in names if row[c] is not None)


def _rows(trace: Trace) -> Iterator[str]:
    """The rows of tables without a statement, but not of what follows from other tables."""
    derived = derived_tables({name: trace.table(name) for name in TABLES if name in trace})
    for name, form in ROWS.items():
        table = trace.table(name)
        if name not in derived or not table.equals(derived[name]):
            for row in table.to_pylist():
                counters = readings(trace, row) if TABLES[name].counters else ""
                yield form.write(f"row {name}", row) + counters


def _threads(places: Sequence[Place]) -> dict[int, dict[int, list[int]]]:
    threads: dict[int, dict[int, list[int]]] = {}
    for application, rank, thread in places:
        threads.setdefault(application, {}).setdefault(rank, []).append(thread)
    return threads


def _dense_applications(places: Sequence[Place]) -> set[int]:
    """The applications whose ranks and threads count from 0 without a hole."""
    return {
        application
        for application, of_rank in _threads(places).items()
        if list(of_rank) == list(range(len(of_rank)))
        and all(threads == list(range(len(threads))) for threads in of_rank.values())
    }


def _grids(places: Sequence[Place]) -> Iterator[str]:
    threads, dense = _threads(places), _dense_applications(places)
    if not places:
        yield "ranks 0"
    for application, of_rank in threads.items():
        counts = [len(row) for row in of_rank.values() if application in dense]
        line = f"ranks {len(counts)}"
        if len(set(counts)) > 1:
            line += " threads " + " ".join(map(str, counts))
        elif counts and counts[0] != 1:
            line += f" threads {counts[0]}"
        alone = len(threads) == 1 and not application
        yield line if alone else f"application {application} {line}"


def _locations(
    trace: Trace, places: Sequence[Place], spans: Sequence[tuple[int, int]]
) -> Iterator[str]:
    dense = _dense_applications(places)
    for place, span, row in zip(places, spans, trace.locations.to_pylist(), strict=True):
        head = f"location {place_word(place)}"
        born_ns, died_ns = span
        name = thread_name(place)
        line = LOCATION.write(head, row, born_ns=born_ns, died_ns=died_ns, name=name)
        if line != head or place[0] not in dense:
            yield line


def _communicators(trace: Trace, places: Sequence[Place]) -> Iterator[str]:
    usual, form = worlds(places), DECLARED["communicators"]
    for row in trace.communicators.to_pylist():
        number = row["communicator"]
        if row != usual.get(number):
            yield form.write("communicator", row, source_id=number + 1)
