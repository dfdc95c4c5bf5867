"""From a trace to a file of events: names, arrows, counters, gaps, slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from burstline.formats import atomic
from burstline.formats.perfetto import events
from burstline.formats.perfetto.labels import Labels, Places, quoted
from burstline.progress import SILENCE, Progress

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from burstline.trace import Trace

_AT_ONCE: Final = 4096
_SHOWN: Final = ("format", "recorder", "program", "command")


def write(trace: Trace, path: Path, *, progress: Progress = SILENCE) -> None:
    """Write a trace as JSON for Perfetto, about 200 bytes a call; replaces a file."""
    with atomic.output(path) as file:
        waiting: list[str] = []
        opening = '{"displayTimeUnit":"ns","otherData":' + _facts(trace) + ',"traceEvents":['
        separator = f"{opening}\n"
        for event in _events(trace, progress):
            waiting.append(separator + event)
            separator = ",\n"
            if len(waiting) >= _AT_ONCE:
                file.write("".join(waiting).encode())
                waiting.clear()
        closing = "\n]}\n" if separator == ",\n" else f"{opening}]}}\n"
        file.write(("".join(waiting) + closing).encode())


def _facts(trace: Trace) -> str:
    metadata = trace.metadata
    facts = [f"{quoted(key)}:{quoted(metadata[key])}" for key in _SHOWN if key in metadata]
    return "{" + ",".join(['"written by":"burstline"', *facts]) + "}"


def _events(trace: Trace, progress: Progress) -> Iterator[str]:
    places = Places(trace)
    labels = Labels(trace)
    yield from places.names()
    yield from events.message_events(trace, places)
    yield from events.counter_events(trace, places)
    yield from events.gap_events(trace, places)
    progress.step("writing slices", trace.rows("locations"), "locations")
    yield from events.slice_events(trace, places, labels, progress)
