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
    """What `region` needs of a trace in a store; refused if `copies` of that do not fit."""
    if not trace.is_stored:
        return trace
    needed = copies * selection.estimate_bytes(trace, tables, **region)
    if needed > memory:
        raise MemoryBudgetError(needed, memory, way_out=_WAY_OUT)
    return selection.narrowed(trace, memory=memory // copies, **region) if region else trace
