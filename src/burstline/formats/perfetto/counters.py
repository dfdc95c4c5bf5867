"""Counters as tracks: the rate of each between readings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstline.columns import to_numpy
from burstline.formats.perfetto.labels import quoted
from burstline.formats.walk import Walk
from burstline.schema import NO_VALUE

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from burstline.columns import Floats, Integers
    from burstline.formats.perfetto.labels import Places
    from burstline.trace import Trace

_NS_PER_US = 1000


def events(trace: Trace, places: Places) -> Iterator[str]:
    """Yield the values of all tracks: rates, or those of absolute counters."""
    definitions = trace.counters.to_pylist()
    if not definitions:
        return
    walk = Walk(trace, "readings")
    for location in range(len(places.where)):
        readings = walk.of(location)
        if readings.num_rows:
            for row in definitions:
                yield from _track(readings, row, places, location)


def _track(
    readings: pa.Table, row: dict[str, str], places: Places, location: int
) -> Iterator[str]:
    times, values = to_numpy(readings["time_ns"]), to_numpy(readings[row["name"]])
    read = values != NO_VALUE
    times, values = times[read], values[read]
    name, unit = row["name"], row["unit"]
    if row["mode"] == "delta":
        times, shown = rates(times, values)
        name += f" [{unit}/µs]" if unit else " [1/µs]"
    else:
        shown = values
        name += f" [{unit}]" if unit else ""
    if places.threads[location]:
        name += f", thread {places.threads[location]}"
    head = f'{{"ph":"C","name":{quoted(name)},{places.processes[location]},"ts":'
    for time, value in zip(times.tolist(), shown.tolist(), strict=True):
        yield f'{head}{places.time(time)},"args":{{"value":{value!r}}}}}'


def rates(times: Integers, deltas: Integers) -> tuple[Integers, Floats]:
    """Distinct times, and counts per microsecond from each to the next; 0 at the last.

    >>> import numpy as np
    >>> rates(np.array([0, 1000, 1000, 3000]), np.array([9, 5, 1, 8]))
    (array([   0, 1000, 3000]), array([6., 4., 0.]))
    """
    if not len(times):
        return times, np.empty(0)
    first = np.flatnonzero(np.diff(times, prepend=times[0] - 1))
    moments = times[first]
    counted = np.add.reduceat(deltas, first)
    values = np.zeros(len(moments))
    values[:-1] = counted[1:] / np.diff(moments) * _NS_PER_US
    return moments, values
