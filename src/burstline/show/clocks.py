"""What the stamps of a logical clock rest on, and where they are doubtful, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from burstline.errors import plural
from burstline.quantities import format_share

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
    if stamps["equals"] != stamps["clock"]:
        lacks = {"lt_loop": "no iterations of OpenMP loops were counted"}
        why = lacks.get(stamps["clock"], "no work was counted")
        yield f"{why}, so each event is a tick: this is {stamps['equals']}"
    if modelled := stamps["modelled_ticks"]:
        share = format_share(stamps["modelled_share"]).strip()
        yield (
            f"{share} of the ticks of all threads were not counted: {modelled:,}, which are "
            f"{stamps['call_cost']:,} for each call of OpenMP, in its construct (`call_cost`)"
        )
    yield from _order_notes(stamps["machine_order"])
    if cycles := stamps["inconsistent"]:
        (location, seq), *_ = stamps["cycles"][0]
        yield (
            f"the trace contradicts itself: {plural(cycles, 'circle')} of events that wait for "
            f"each other went on without waiting, first event {seq} of location {location}"
        )


def _order_notes(order: Mapping[str, Any]) -> Iterator[str]:
    """Sentences on what the machine decides: with it stamps differ from run to run."""
    if order["calls_share"]:
        calls = ", ".join(
            f"{count:,} {name}"
            for kind in ("polls", "first_comes")
            for name, count in order[kind].items()
        )
        share = format_share(order["calls_share"]).strip()
        yield (
            f"what is there first, the machine decides: stamps may differ from run to run by "
            f"{share} of the calls of MPI ({calls})"
        )
    if order["locks"]:
        share = format_share(order["locks_share"]).strip()
        yield (
            f"who gets a lock first, the machine decides: {plural(order['locks'], 'time')}, "
            f"at {share} of the regions of threads"
        )
    if order["rivals"]:
        share = format_share(order["rivals_share"]).strip()
        yield (
            f"if receives are of any source (a trace does not tell), the machine decides what "
            f"they take: at most {share} of the messages"
        )
