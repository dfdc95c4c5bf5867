"""What an event type is, by its number, and by its label where numbers overlap."""

from __future__ import annotations

from burstline._core import EventClass
from burstline.extrae.counters import is_counter, is_counter_set
from burstline.extrae.event_types import KNOWN_TYPES, TABLE


def classify(
    type: int,  # noqa: A002 -- the format's word
    label: str | None = None,
    gradient: int | None = None,
) -> EventClass:
    """The class of an event type; ``OTHER`` for an unknown one: its events are punctual.

    >>> classify(50000001).name, classify(45000000, "User time used").name
    ('MPI_CALL', 'OTHER')
    """
    if type in KNOWN_TYPES:
        return TABLE[type].event_class
    if is_counter_set(type, label):
        return EventClass.COUNTER_SET
    if is_counter(type, label, gradient):
        return EventClass.COUNTER
    return EventClass.OTHER
