"""From a trace back to a Paraver trace: ``.prv``, ``.pcf`` and ``.row``.

::

    Trace ──numbering──► prologue ─┐
       └───records by time─► body ─┴─► X.prv(.gz)      labels ─► X.pcf      names ─► X.row

The law: what was read from a Paraver file and is written again has the same states, the
same events of each thread in the same order, and the same communications. The three
files appear together, whole, or not at all.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from burstline.errors import NotEnoughDataError
from burstline.formats import atomic
from burstline.formats.derivation.records import with_records
from burstline.formats.paraver.files.pcf import write_pcf
from burstline.formats.paraver.files.row import write_row
from burstline.formats.paraver.writing.body_text import blocks
from burstline.formats.paraver.writing.companions import companion_paths, labels, object_names
from burstline.formats.paraver.writing.numbering import numbering
from burstline.formats.paraver.writing.prologue import prologue
from burstline.formats.paraver.writing.windows import survey
from burstline.progress import SILENCE, Progress

if TYPE_CHECKING:
    from os import PathLike

    from burstline.trace import Trace


def write(
    trace: Trace,
    path: str | PathLike[str],
    *,
    memory: int | None = None,
    progress: Progress = SILENCE,
) -> None:
    """Write a trace as a Paraver trace.

    Parameters
    ----------
    trace : Trace
        The trace. If it has no raw tables, its records are derived from its calls,
        messages, regions and readings.
    path : path
        The ``.prv`` or ``.prv.gz``; labels and names go beside it. Files of these names
        are replaced.
    memory : int, optional
        Bytes for records, when the trace is in a store; more than that goes through
        temporary files beside the output. A gigabyte by default.
    progress : Progress
        Told of every record.

    Raises
    ------
    ParameterError
        If the name ends neither in ``.prv`` nor in ``.prv.gz``, its folder does not
        exist, or a record is before time 0.
    NotEnoughDataError
        If the trace has no location or no record.
    InconsistentTraceError
        If the records of a location run backwards in time.
    MemoryBudgetError
        If records must be derived and do not fit in `memory`.

    Notes
    -----
    O(records log locations) time. Ids of a trace whose ranks were filtered count what is
    left; the ``.row`` keeps the old names. States that do not end after they begin and
    event types beyond 31 bits are left out, because Paraver refuses them.
    """
    path = Path(path)
    companions = companion_paths(path)
    if not trace.has_raw:
        trace = with_records(trace, memory=memory)
    names = numbering(trace)
    found = survey(trace)
    records = sum(found.rows.values())
    if not records:
        raise NotEnoughDataError("a trace without records cannot be written as .prv")
    claimed = int(trace.metadata.get("claimed_duration_ns", 0))
    end_ns = max(found.last_ns, int(trace.locations["died_ns"].to_numpy().max()), claimed)
    progress.step("writing", 0, "B")
    with atomic.outputs([path, *companions]) as (prv, pcf, row):
        prv.write(prologue(trace, names, end_ns))
        for block in blocks(trace, names, found, memory=memory, beside=path.parent):
            prv.write(block)
            progress.advance(len(block))
        pcf.write(write_pcf(labels(trace)))
        row.write(write_row(object_names(trace, names)))
