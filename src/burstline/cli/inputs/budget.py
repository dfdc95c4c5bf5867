"""Whether what a command is asked for fits into the memory it may use.

::

    store, region  --manifest-->  estimate  -->  MemoryBudgetError, or what is near the region
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from burstline import selection
from burstline.errors import MemoryBudgetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from burstline.trace import Trace

ANALYSED: Final = ("calls", "messages", "bursts", "regions", "gaps")
"""Tables that grow with the trace and that analyses ask for."""

_WAY_OUT: Final = (
    "Take a part of it (--from, --to, --ranks), a shorter one if you did, "
    "or allow more memory (--memory)."
)


def require(
    trace: Trace,
    memory: int,
    *,
    tables: Iterable[str],
    copies: int,
    region: Mapping[str, Any],
) -> Trace:
    """Refuse a region of a trace in a store that would not fit, before it is loaded.

    Parameters
    ----------
    trace : Trace
        As it was read.
    memory : int
        Bytes that may be used.
    tables : iterable of str
        The tables that the command will ask for.
    copies : int
        How many times their bytes the command needs.
    region : mapping
        Arguments of :func:`burstline.select`; empty for all of the trace.

    Returns
    -------
    Trace
        What a selection of the region needs of `trace`; `trace` itself if it is in memory
        or all of it is wanted.

    Raises
    ------
    MemoryBudgetError
        If the estimate exceeds `memory`; or later, if it was too low and a table does.
    """
    if not trace.is_stored:
        return trace
    needed = copies * selection.estimate_bytes(trace, tables, **region)
    if needed > memory:
        raise MemoryBudgetError(needed, memory, way_out=_WAY_OUT)
    return selection.narrowed(trace, memory=memory // copies, **region) if region else trace
