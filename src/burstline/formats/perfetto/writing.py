"""From a trace to a file of events: names, arrows, counters, gaps, slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from burstline.formats import atomic
from burstline.formats.perfetto import counters, messages, slices
from burstline.formats.perfetto.labels import Labels, quoted
from burstline.formats.perfetto.places import Places
from burstline.progress import SILENCE, Progress

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from burstline.trace import Trace

_AT_ONCE: Final = 4096
_SHOWN: Final = ("format", "recorder", "program", "command")


def write(trace: Trace, path: Path, *, progress: Progress = SILENCE) -> None:
    r"""Write a trace as JSON for Perfetto; replaces a file of that name.

    About 200 bytes for each call; in memory is one part of each table. Slices of a thread that
    lap over each other, which only a damaged trace has, end where the one around them ends.

    >>> import json
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from burstline.testing import trace_of
    >>> trace = trace_of("ranks 1\n0 | 0 enter MPI_Barrier | 1500 leave")
    >>> with TemporaryDirectory() as folder:
    ...     write(trace, Path(folder) / "run.perfetto.json")
    ...     text = (Path(folder) / "run.perfetto.json").read_text()
    >>> slice = json.loads(text)["traceEvents"][-1]
    >>> slice["name"], slice["ts"], slice["dur"]
    ('MPI_Barrier', 0.0, 1.5)
    """
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
    known = trace.metadata
    facts = [f"{quoted(key)}:{quoted(known[key])}" for key in _SHOWN if key in known]
    return "{" + ",".join(['"written by":"burstline"', *facts]) + "}"


def _events(trace: Trace, progress: Progress) -> Iterator[str]:
    places = Places(trace)
    labels = Labels(trace)
    yield from places.names()
    yield from messages.events(trace, places)
    yield from counters.events(trace, places)
    yield from slices.gaps(trace, places)
    progress.step("writing slices", trace.rows("locations"), "locations")
    yield from slices.events(trace, places, labels, progress)
