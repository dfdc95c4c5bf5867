"""From a trace back to a Paraver trace: ``.prv``, ``.pcf`` and ``.row``.

What was read from a Paraver file and is written again has the same states, the same events of
each thread in the same order, and the same communications.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import _core
from burstline.errors import InconsistentTraceError, NotEnoughDataError, ParameterError
from burstline.formats import atomic
from burstline.formats.derivation import with_records
from burstline.formats.paraver.files.header import companion_paths
from burstline.formats.paraver.files.pcf import Pcf, TypeLabel, read_pcf, write_pcf
from burstline.formats.paraver.files.row import write_row
from burstline.formats.paraver.writing.prologue import (
    numbering,
    object_names,
    prologue,
    source_lines,
)
from burstline.formats.paraver.writing.records import COPIES, survey, whole, windows
from burstline.progress import SILENCE, Progress

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from burstline.formats.paraver.writing.prologue import Numbering
    from burstline.formats.paraver.writing.records import Survey
    from burstline.trace import Trace

_DEFAULT_MEMORY: Final = 1 << 30
"""Bytes for the records of one window of a trace in a store."""

_BUFFER_BYTES: Final = 4 << 20


def write(
    trace: Trace,
    path: str | PathLike[str],
    *,
    memory: int | None = None,
    progress: Progress = SILENCE,
) -> None:
    """Write the three files of a Paraver trace, together and whole or not at all.

    Records of a trace without raw tables are derived. `memory` bytes of a store, a gigabyte by
    default, are sorted at once.
    """
    path = Path(path)
    companions = companion_paths(path)
    if not trace.has_raw:
        trace = with_records(trace, memory=memory)
    names = numbering(trace)
    surveyed = survey(trace)
    records = sum(surveyed.rows.values())
    if not records:
        raise NotEnoughDataError("a trace without records cannot be written as .prv")
    claimed = int(trace.metadata.get("claimed_duration_ns", 0))
    end_ns = max(surveyed.last_ns, int(trace.locations["died_ns"].to_numpy().max()), claimed)
    progress.step("writing", 0, "B")
    with atomic.outputs([path, *companions]) as (prv, pcf, row):
        prv.write(prologue(trace, names, end_ns))
        for block in _blocks(trace, names, surveyed, memory=memory, beside=path.parent):
            prv.write(block)
            progress.advance(len(block))
        pcf.write(write_pcf(_labels(trace)))
        row.write(write_row(object_names(trace, names)))


def _labels(trace: Trace) -> Pcf:
    """The labels of a trace with raw tables, completed by those of the source."""
    other = read_pcf("\n".join(source_lines(trace, "pcf")).encode())
    in_order = sorted(trace.table("event_types").to_pylist(), key=lambda row: row["group"])
    types = {
        row["type"]: TypeLabel(row["label"], row["gradient"], row["group"]) for row in in_order
    }
    values: dict[int, dict[int, str]] = {}
    for row in trace.table("event_values").to_pylist():
        values.setdefault(row["group"], {})[row["value"]] = row["label"]
    return replace(other, types=types, values=values) if types else other


def _blocks(
    trace: Trace, names: Numbering, surveyed: Survey, *, memory: int | None, beside: Path
) -> Iterator[memoryview]:
    """Yield the records as some megabytes of whole lines each, valid until the next."""
    if surveyed.first_ns < 0:
        raise ParameterError(
            f"the trace begins at {surveyed.first_ns} ns, and Paraver knows no time before 0. "
            f"Shift it by {-surveyed.first_ns} ns first"
        )
    budget = _DEFAULT_MEMORY if memory is None else memory
    body = _core.PrvBody(names.cpu, names.application, names.task, names.thread)
    out = np.empty(_BUFFER_BYTES, np.uint8)
    fits = COPIES * surveyed.bytes <= budget or not trace.is_stored
    parts = (
        iter([whole(trace)]) if fits else windows(trace, surveyed, memory=budget, beside=beside)
    )
    for part in parts:
        body.load(part.events, part.states, part.links)
        while filled := body.fill(out):
            yield out.data[:filled]
        if body.disordered >= 0:
            raise InconsistentTraceError(
                f"the records of location {body.disordered} run backwards in time"
            )
