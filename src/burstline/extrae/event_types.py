"""What the event types of Extrae mean, without any label.

::

    classify(type, label) -> EventClass      one small number per type, for the kernels

The other tables of built-in knowledge are reachable from here too: states, MPI calls,
counters, and regions.
"""

from __future__ import annotations

from typing import Final

from burstline._core import EventClass, LockStep
from burstline.extrae.counters import (
    PRESET_COUNTERS,
    counter_mode,
    counter_name,
    is_counter,
    is_counter_set,
    is_label_of_counter,
)
from burstline.extrae.mpi_calls import (
    MPI_EVENTS,
    MPI_OPERATIONS,
    MPI_TYPE_LABELS,
    MPI_TYPE_OF,
    MPI_TYPES,
)
from burstline.extrae.regions import (
    LOCK_ADDRESS_TYPES,
    LOCK_TYPES,
    REGION_LINES,
    REGION_TYPES,
    RegionKind,
    lock_step,
    region_kind,
    region_name,
)
from burstline.extrae.states import STATE_COLORS, STATES

__all__ = [
    "CALLER_FUNCTIONS",
    "CALLER_LINES",
    "KNOWN_TYPES",
    "MPI_EVENTS",
    "MPI_OPERATIONS",
    "MPI_TYPES",
    "MPI_TYPE_LABELS",
    "MPI_TYPE_OF",
    "PRESET_COUNTERS",
    "REGION_LINES",
    "REGION_TYPES",
    "STATES",
    "STATE_COLORS",
    "EventClass",
    "LockStep",
    "RegionKind",
    "classify",
    "counter_mode",
    "counter_name",
    "is_label_of_counter",
    "lock_step",
    "region_kind",
    "region_name",
]

CALLER_FUNCTIONS: Final = range(70_000_000, 70_000_101)
"""Types of the calling function; the stack level is the distance from the first."""

CALLER_LINES: Final = range(80_000_000, 80_000_101)
"""Types of the calling line; the stack level is the distance from the first."""


_CLASSES: Final = {
    **dict.fromkeys(MPI_TYPES, EventClass.MPI_CALL),
    50100001: EventClass.COLLECTIVE_SENT,
    50100002: EventClass.COLLECTIVE_RECEIVED,
    50100003: EventClass.COLLECTIVE_ROOT,
    50100004: EventClass.COLLECTIVE_COMMUNICATOR,
    **dict.fromkeys(CALLER_FUNCTIONS, EventClass.CALLER_FUNCTION),
    **dict.fromkeys(CALLER_LINES, EventClass.CALLER_LINE),
    **dict.fromkeys((50000300, 50000302, 50000304, 50000306), EventClass.POLL_COUNT),
    **dict.fromkeys((50000301, 50000303, 50000305, 50000307), EventClass.POLL_TIME),
    40000001: EventClass.APPLICATION,
    40000003: EventClass.FLUSH,
    40000012: EventClass.TRACING,
    50001000: EventClass.RMA_SIZE,
    50001001: EventClass.RMA_TARGET,
    50000110: EventClass.IO_SIZE,
    **dict.fromkeys(REGION_TYPES, EventClass.REGION),
    **dict.fromkeys(LOCK_TYPES, EventClass.LOCK),
    **dict.fromkeys(REGION_LINES, EventClass.REGION_LINE),
    **dict.fromkeys(LOCK_ADDRESS_TYPES, EventClass.LOCK_ADDRESS),
}


KNOWN_TYPES: Final = frozenset(_CLASSES)
"""Types whose class needs no label; counters are known by their range."""


def classify(
    type: int,  # noqa: A002 -- the format's word
    label: str | None = None,
    gradient: int | None = None,
) -> EventClass:
    """Tell what an event type is.

    Parameters
    ----------
    type : int
        The event type.
    label : str or None
        Its label, if it has one; it decides where ids of several families overlap.
    gradient : int or None
        Its colour, if known; it tells counters outside their range.

    Returns
    -------
    EventClass
        ``OTHER`` for every type that is unknown: its events are punctual.

    Notes
    -----
    O(1). Phases of ordered sections and task groups (60007, 60008) are ``OTHER``: they are
    no stack, and 60004 has the same spans as regions.

    Examples
    --------
    >>> classify(50000001).name, classify(45000000, "User time used").name
    ('MPI_CALL', 'OTHER')
    """
    known = _CLASSES.get(type)
    if known is not None:
        return known
    if is_counter_set(type, label):
        return EventClass.COUNTER_SET
    if is_counter(type, label, gradient):
        return EventClass.COUNTER
    return EventClass.OTHER
