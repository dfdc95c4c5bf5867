"""What the stamps of a logical clock rest on, and where they are doubtful, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from burstline.show.units import format_share, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WHOLE = 0.9995  # share of events that is printed as 100.0 %


def clock_notes(stamps: Mapping[str, Any]) -> Iterator[str]:
    """Sentences on the stamps that :meth:`burstline.Retiming.as_dict` tells of."""
    counters = ", ".join(stamps["counters"])
    counted = f", work is {counters}" if counters else ""
    yield f"{stamps['clock']}: {stamps['end_ticks']:,} ticks{counted}"
    if stamps["sampled"] < _WHOLE:
        share = format_share(stamps["sampled"]).strip()
        yield (
            f"{counters or 'iterations'} were read at {share} of the events: work between two "
            "readings counts at the second one"
        )
    if unread := stamps["unread_locations"]:
        yield (
            f"nothing was counted on {plural(len(unread), 'thread')}, of location {unread[0]} "
            "first: work there is not seen"
        )
    if negative := stamps["negative_readings"]:
        yield f"{plural(negative, 'reading')} fell and count nothing"
    if polls := stamps["polls"]:
        calls = ", ".join(f"{count:,} {name}" for name, count in polls.items())
        yield f"what asks again and again differs from run to run, and so do stamps: {calls}"
    if cycles := stamps["inconsistent"]:
        (location, seq), *_ = stamps["cycles"][0]
        yield (
            f"the trace contradicts itself: {plural(cycles, 'circle')} of events that wait for "
            f"each other went on without waiting, first event {seq} of location {location}"
        )
