"""From a trace to a file of events: names, arrows, counters, gaps, slices."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import Floats, Integers, coded, to_numpy
from burstline.formats import atomic
from burstline.formats.perfetto.labels import SliceLabels, TrackPlaces, microseconds, quoted
from burstline.formats.walk import Walk
from burstline.model import NO_VALUE, UNKNOWN, Trace
from burstline.progress import SILENCE, Progress

_Slice = tuple[str, str, int]
"""Name and arguments, which share the labels, and the number of the call path."""

_SPAN: Final = ("enter_ns", "leave_ns", "enter_seq")
_CALL: Final = (
    "location", "operation", *_SPAN, "communicator", "peer", "tag", "root", "sent_bytes",
    "received_bytes", "call_path",
)  # fmt: skip
_REGION: Final = ("location", "region", *_SPAN, "call_path", "iterations")
_NUMBERS: Final = {
    **dict.fromkeys(("peer", "tag", "root"), UNKNOWN),
    **dict.fromkeys(("bytes sent", "bytes received"), NO_VALUE),
}
"""What each is where a call has none."""
_MESSAGE: Final = (
    "sender_location", "send_call", "send_ns", "receiver_location", "post_ns", "receive_ns",
    "tag", "sent_bytes",
)  # fmt: skip
_NS_PER_US = 1000


def slice_events(
    trace: Trace, places: TrackPlaces, labels: SliceLabels, progress: Progress
) -> Iterator[str]:
    """Yield an event for each call and region, by location and begin."""
    calls, regions = Walk(trace, "calls", _CALL), Walk(trace, "regions", _REGION)
    for location, where in enumerate(places.where):
        called, entered = calls.of(location), regions.of(location)
        texts = [*_call_slices(called, labels), *_region_slices(entered, labels)]
        begin, end, seq = (
            np.concatenate([to_numpy(called[name]), to_numpy(entered[name])]) for name in _SPAN
        )
        order = np.lexsort((-end, seq, begin))
        begin, end = begin[order], end[order]
        rows = zip(order.tolist(), begin.tolist(), within(begin, end), strict=True)
        for row, first, last in rows:
            yield (
                f'{{"ph":"X",{where},"ts":{places.time(first)},'
                f'"dur":{microseconds(last - first)},{_slice_text(texts[row], labels)}}}'
            )
        progress.advance(1)


def within(begins: Integers, ends: Integers) -> list[int]:
    """The ends of slices, no later than that of the slice they began in."""
    shown = []
    around: list[int] = []
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        while around and around[-1] <= begin:
            around.pop()
        last = max(min(end, around[-1]) if around else end, begin)
        around.append(last)
        shown.append(last)
    return shown


def _slice_text(slice_: _Slice, labels: SliceLabels) -> str:
    """What a slice is called, and its arguments."""
    name, arguments, path = slice_
    if path != UNKNOWN:
        arguments += f'{"," * bool(arguments)}"called from":{labels.path(path)}'
    return f'"name":{name},"args":{{{arguments}}}'


def _call_slices(rows: pa.Table, labels: SliceLabels) -> Iterator[_Slice]:
    if not rows.num_rows:
        return
    names = [f'{quoted(name)},"cat":"mpi"' for name in coded(rows["operation"])[1]]
    columns = [to_numpy(rows[name]).tolist() for name in _CALL]
    for _, operation, _, _, _, communicator, *numbers, path in zip(*columns, strict=True):
        arguments = [
            f'"{name}":{number}'
            for (name, absent), number in zip(_NUMBERS.items(), numbers, strict=True)
            if number != absent
        ]
        if communicator != UNKNOWN:
            arguments.append(f'"communicator":{labels.communicators[communicator]}')
        yield names[operation], ",".join(arguments), path


def _region_slices(rows: pa.Table, labels: SliceLabels) -> Iterator[_Slice]:
    columns = [to_numpy(rows[name]).tolist() for name in _REGION]
    for _, region, _, _, _, path, iterations in zip(*columns, strict=True):
        name, arguments = labels.regions[region]
        if iterations != NO_VALUE:
            arguments += f',"iterations":{iterations}'
        yield name, arguments, path


def gap_events(trace: Trace, places: TrackPlaces) -> Iterator[str]:
    """Yield two events for each gap, on tracks beside the threads."""
    columns = ("location", "start_ns", "end_ns", "kind")
    for part in trace.batches("gaps", columns):
        for row in part.to_pylist():
            where = places.where[row["location"]]
            common = f'"cat":"gap","name":"not recorded: {row["kind"]}",'
            common += f'"id":{row["location"] + 1},{where},"ts":'
            yield f'{{"ph":"b",{common}{places.time(row["start_ns"])}}}'
            yield f'{{"ph":"e",{common}{places.time(row["end_ns"])}}}'


def message_events(trace: Trace, places: TrackPlaces) -> Iterator[str]:
    """Yield both ends of every arrow."""
    # An end lies within its slice, so one nanosecond before its call is left; but viewers leave
    # out arrows that end before they begin.
    number = 0
    senders = _Senders(trace)
    for part in trace.batches("messages", _MESSAGE):
        column = {name: to_numpy(part[name]) for name in _MESSAGE}
        begin = senders.moments(*(column[name] for name in _MESSAGE[:3]))
        end = np.maximum(column["post_ns"], column["receive_ns"] - 1)
        end = np.maximum(end, np.minimum(begin, column["receive_ns"]))
        names = ("sender_location", "receiver_location", "tag", "sent_bytes")
        ends = (values.tolist() for values in (begin, end, *(column[name] for name in names)))
        for sent, received, sender, receiver, tag, size in zip(*ends, strict=True):
            number += 1
            common = f'"name":"message","cat":"message","id":{number}'
            arguments = f'"args":{{"tag":{tag},"bytes":{size}}}'
            yield (
                f'{{"ph":"s",{common},{places.where[sender]},"ts":{places.time(sent)},{arguments}}}'
            )
            yield (
                f'{{"ph":"f","bp":"e",{common},{places.where[receiver]},'
                f'"ts":{places.time(received)}}}'
            )


class _Senders:
    """The calls that sent, which are asked for location after location."""

    def __init__(self, trace: Trace) -> None:
        self._walk = Walk(trace, "calls", ("location", "call", "enter_ns", "leave_ns"))
        self._location = -1
        self._rows: pa.Table | None = None

    def moments(
        self, location: npt.NDArray[np.int32], call: npt.NDArray[np.int32], sent: Integers
    ) -> Integers:
        """The moments of sending in ns, each within its call; `location` ascends."""
        result = sent.copy()
        for sender in np.unique(location).tolist():
            of_sender = slice(*np.searchsorted(location, [sender, sender + 1]).tolist())
            rows = self._of(sender)
            calls, enter, leave = (
                to_numpy(rows[name]) for name in ("call", "enter_ns", "leave_ns")
            )
            row = np.searchsorted(calls, call[of_sender])
            has_call = np.append(calls, -1)[row] == call[of_sender]
            first, last = np.append(enter, 0)[row], np.append(leave, 0)[row] - 1
            inside = np.clip(sent[of_sender], first, np.maximum(first, last))
            result[of_sender] = np.where(
                has_call & (call[of_sender] >= 0), inside, sent[of_sender]
            )
        return result

    def _of(self, location: int) -> pa.Table:
        if self._rows is None or location != self._location:
            self._location, self._rows = location, self._walk.of(location)
        return self._rows


def counter_events(trace: Trace, places: TrackPlaces) -> Iterator[str]:
    """Yield the values of all tracks: rates, or those of absolute counters."""
    definitions = trace.counters.to_pylist()
    if not definitions:
        return
    walk = Walk(trace, "readings")
    for location in range(len(places.where)):
        readings = walk.of(location)
        if readings.num_rows:
            for row in definitions:
                yield from _counter_track(readings, row, places, location)


def _counter_track(
    readings: pa.Table, row: dict[str, str], places: TrackPlaces, location: int
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


_AT_ONCE: Final = 1 << 20
"""Letters that are written at once: a label may be long, and stands in each event."""
_SHOWN: Final = ("format", "recorder", "program", "command")


def write(trace: Trace, path: Path, *, progress: Progress = SILENCE, **_: object) -> None:
    """Write a trace as JSON for Perfetto, about 200 bytes a call; replaces a file."""
    with atomic.output(path) as file:
        waiting: list[str] = []
        letters = 0
        opening = (
            '{"displayTimeUnit":"ns","otherData":' + _shown_metadata(trace) + ',"traceEvents":['
        )
        separator = f"{opening}\n"
        for event in _all_events(trace, progress):
            waiting.append(separator + event)
            letters += len(event)
            separator = ",\n"
            if letters >= _AT_ONCE:
                file.write("".join(waiting).encode())
                waiting, letters = [], 0
        closing = "\n]}\n" if separator == ",\n" else f"{opening}]}}\n"
        file.write(("".join(waiting) + closing).encode())


def _shown_metadata(trace: Trace) -> str:
    metadata = trace.metadata
    facts = [f"{quoted(key)}:{quoted(metadata[key])}" for key in _SHOWN if key in metadata]
    return "{" + ",".join(['"written by":"burstline"', *facts]) + "}"


def _all_events(trace: Trace, progress: Progress) -> Iterator[str]:
    places = TrackPlaces(trace)
    labels = SliceLabels(trace)
    yield from places.names()
    yield from message_events(trace, places)
    yield from counter_events(trace, places)
    yield from gap_events(trace, places)
    progress.step("writing slices", trace.rows("locations"), "locations")
    yield from slice_events(trace, places, labels, progress)
