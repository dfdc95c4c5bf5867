"""What a trace refers to, as the declarations of its text form.

Only what differs from what the text form assumes anyway is written.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from burstline.formats.text.options import REGION_COLUMNS
from burstline.formats.text.places import place_word, thread_name
from burstline.formats.text.statements import written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    yield from _counters(trace)
    yield from _call_paths(trace)
    yield from _regions(trace)
    for row in trace.table("metadata").to_pylist():
        yield f"meta {written(row['key'])} {written(row['value'])}"
    for row in trace.defects.to_pylist():
        words = row["kind"], row["severity"], row["count"], row["first"]
        yield "defect " + " ".join(written(word) for word in words)


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
        usual = {"born_ns": span[0], "died_ns": span[1], "name": thread_name(place)}
        usual |= {"kind": "cpu", "node": None, "cpu": None}
        words = [
            f"{column.removesuffix('_ns')} {written(row[column])}"
            for column, value in usual.items()
            if row[column] != value
        ]
        if words or place[0] not in dense:
            yield " ".join(["location", place_word(place), *words])


def _communicators(trace: Trace, places: Sequence[Place]) -> Iterator[str]:
    ranks: dict[int, list[int]] = defaultdict(list)
    for application, rank in dict.fromkeys(place[:2] for place in places):
        ranks[application].append(rank)
    for row in trace.communicators.to_pylist():
        number = row["communicator"]
        world = {
            "communicator": number,
            "application": number,
            "kind": "world",
            "members": ranks[number],
            "ambiguous": False,
            "source_id": number + 1,
        }
        if row == world:
            continue
        line = f"communicator {number} members {' '.join(map(str, row['members']))}".rstrip()
        line += f" kind {row['kind']}"
        if row["application"]:
            line += f" application {row['application']}"
        if row["source_id"] != number + 1:
            line += f" id {row['source_id']}"
        yield line + " ambiguous yes" * row["ambiguous"]


def _counters(trace: Trace) -> Iterator[str]:
    for row in trace.counters.to_pylist():
        yield (
            f"counter {written(row['name'])} unit {written(row['unit'])} mode {row['mode']} "
            f"type {row['source_type']}"
        )
    sets = defaultdict(list)
    for row in trace.counter_sets.to_pylist():
        sets[row["counter_set"]].append(written(row["counter"]))
    for number, names in sets.items():
        yield f"set {number} {' '.join(names)}"


def _call_paths(trace: Trace) -> Iterator[str]:
    for row in trace.call_paths.to_pylist():
        line = f"path {row['call_path']} {written(row['function'])}"
        if row["file"] is not None:
            line += f" file {written(row['file'])}"
        if row["line"] is not None:
            line += f" line {row['line']}"
        if row["parent"] is not None:
            line += f" under {row['parent']}"
        yield line


def _regions(trace: Trace) -> Iterator[str]:
    for row in trace.region_defs.to_pylist():
        line = f"region {written(row['name'])} paradigm {row['paradigm']}"
        line += f" role {written(row['role'])}"
        for option, column in REGION_COLUMNS.items():
            if row[column] is not None:
                line += f" {option} {written(row[column])}"
        yield line
