"""The body of a ``.prv``: all records of a trace in order of time, printed by the kernel.

::

    Records (whole, or window by window)  ->  _core.PrvBody  ->  blocks of text
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import _core
from burstline.errors import InconsistentTraceError, ParameterError
from burstline.formats.paraver.writing.records import whole
from burstline.formats.paraver.writing.windows import COPIES, windows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from burstline.formats.paraver.writing.numbering import Numbering
    from burstline.formats.paraver.writing.windows import Survey
    from burstline.trace import Trace

DEFAULT_MEMORY: Final = 1 << 30
"""Bytes for the records of one window of a trace in a store."""

_BUFFER_BYTES: Final = 4 << 20


def blocks(
    trace: Trace, names: Numbering, found: Survey, *, memory: int | None, beside: Path
) -> Iterator[memoryview]:
    """Print the records of a trace.

    Parameters
    ----------
    trace : Trace
        With raw tables. In memory it is printed from where it is; in a store that is
        larger than `memory` it is first sorted into windows of time.
    names : Numbering
        What its locations are called.
    found : Survey
        Of the same trace.
    memory : int, optional
        Bytes that records may take; :data:`DEFAULT_MEMORY` by default.
    beside : Path
        A folder for temporary files.

    Yields
    ------
    memoryview
        Some megabytes of whole lines, valid until the next is asked for.

    Raises
    ------
    ParameterError
        If a record is before time 0.
    InconsistentTraceError
        If the records of a location run backwards in time.

    Notes
    -----
    At one moment of a location: states that begin, events, communications that were sent.
    O(records log locations) time. States that do not end after they begin and event types
    outside 1 to 2**31 - 1 are left out, because Paraver refuses them.
    """
    if found.first_ns < 0:
        raise ParameterError(
            f"the trace begins at {found.first_ns} ns, and Paraver knows no time before 0. "
            f"Shift it by {-found.first_ns} ns first"
        )
    budget = DEFAULT_MEMORY if memory is None else memory
    body = _core.PrvBody(names.cpu, names.application, names.task, names.thread)
    out = np.empty(_BUFFER_BYTES, np.uint8)
    fits = COPIES * found.bytes <= budget or not trace.is_stored
    parts = (
        iter([whole(trace)]) if fits else windows(trace, found, memory=budget, beside=beside)
    )
    for part in parts:
        body.load(part.events, part.states, part.links)
        while filled := body.fill(out):
            yield out.data[:filled]
        if body.disordered >= 0:
            raise InconsistentTraceError(
                f"the records of location {body.disordered} run backwards in time"
            )
