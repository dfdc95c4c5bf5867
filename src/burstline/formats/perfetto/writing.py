"""From a trace to a file of events: names, arrows, counters, gaps, slices."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import Floats, Integers, coded, to_numpy
from burstline.formats import atomic
from burstline.formats.walk import Walk
from burstline.model import NO_VALUE, UNKNOWN, Trace
from burstline.progress import SILENCE, Progress

_DEEPEST: Final = 64
_LONGEST: Final = 64 << 10  # letters after which no frame is added to a path
_REMEMBERED: Final = 16 << 20  # letters of paths
_WORLD: Final = "world"


def quoted(text: str) -> str:
    """A text as a JSON string."""
    # Letters of any script stand as they are, because Perfetto shows escapes as escapes.
    if text.isprintable():
        return json.dumps(text, ensure_ascii=False)
    parts = (json.dumps(c, ensure_ascii=not c.isprintable())[1:-1] for c in text)
    return f'"{"".join(parts)}"'


class SliceLabels:
    """The labels of operations, regions, communicators and call paths as JSON."""

    def __init__(self, trace: Trace) -> None:
        # the name and the arguments of each
        self.regions = [_region(row) for row in trace.region_defs.to_pylist()]
        self.communicators = [
            quoted(_WORLD if row["kind"] == "world" else f"{row['kind']} {row['communicator']}")
            for row in trace.communicators.to_pylist()
        ]
        names = ("parent", "function", "file", "line")
        self._nodes = [trace.call_paths[name].to_pylist() for name in names]
        self._paths: dict[int, str] = {}
        self._letters = 0  # of these

    def path(self, number: int) -> str:
        """A call path as JSON, the innermost function last, of at most 64 frames."""
        if number not in self._paths:
            if self._letters > _REMEMBERED:
                self._paths.clear()
                self._letters = 0
            self._paths[number] = quoted(self._path(number))
            self._letters += len(self._paths[number])
        return self._paths[number]

    def _path(self, number: int) -> str:
        frames: list[str] = []
        node: int | None = number
        letters = 0
        while node is not None and len(frames) < _DEEPEST and letters < _LONGEST:
            node, function, file, line = (column[node] for column in self._nodes)
            place = "" if file is None else f" ({_place(file, line)})"
            frames.append(function + place)
            letters += len(frames[-1])
        if node is not None:
            frames.append("…")
        return " > ".join(reversed(frames))


def _region(row: dict[str, Any]) -> tuple[str, str]:
    arguments = f'"role":{quoted(row["role"])}'
    if row["file"] is not None:
        arguments += f',"source":{quoted(_place(row["file"], row["begin_line"]))}'
    return f'{quoted(row["name"])},"cat":{quoted(row["paradigm"])}', arguments


def _place(file: str, line: int | None) -> str:
    return file if line is None else f"{file}:{line}"


class TrackPlaces:
    """The processes and threads that stand for ranks and locations, as members of events."""

    # Both count from 1, because some viewers give 0 a meaning of its own.

    def __init__(self, trace: Trace) -> None:
        self._rows = trace.locations.to_pylist()
        self._several = len({row["application"] for row in self._rows}) > 1
        self.start_ns = min((row["born_ns"] for row in self._rows), default=0)
        self.processes = [f'"pid":{row["process"] + 1}' for row in self._rows]
        self.where = [
            f'{process},"tid":{row["location"] + 1}'
            for process, row in zip(self.processes, self._rows, strict=True)
        ]
        self.threads = [row["thread"] for row in self._rows]

    def time(self, moment_ns: int) -> str:
        """A moment of the trace in microseconds, exactly; not below 0."""
        return microseconds(max(moment_ns - self.start_ns, 0))

    def names(self) -> Iterator[str]:
        """Yield the events that name and order processes and threads."""
        named = set()
        for row, process, where in zip(self._rows, self.processes, self.where, strict=True):
            if row["process"] not in named:
                named.add(row["process"])
                yield _name_event("process_name", process, quoted(self._process(row)))
                yield _name_event("process_sort_index", process, row["process"])
                if row["node"] is not None:
                    yield _name_event("process_labels", process, quoted(row["node"]))
            name = row["name"] or f"thread {row['thread']}"
            yield _name_event("thread_name", where, quoted(name))
            yield _name_event("thread_sort_index", where, row["thread"])

    def _process(self, row: dict[str, int]) -> str:
        rank = f"rank {row['rank']}"
        return f"application {row['application']}, {rank}" if self._several else rank


def microseconds(span_ns: int) -> str:
    """Nanoseconds as a decimal number of microseconds, without rounding."""
    whole, rest = divmod(abs(span_ns), 1000)
    return f"{'-' if span_ns < 0 else ''}{whole}.{rest:03d}"


def _name_event(kind: str, where: str, value: str | int) -> str:
    argument = kind.partition("_")[2]
    return f'{{"ph":"M","name":"{kind}",{where},"args":{{"{argument}":{value}}}}}'


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
_NOWHERE: Final = "unknown function"


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


def sample_events(trace: Trace, places: TrackPlaces, labels: SliceLabels) -> Iterator[str]:
    """Yield a moment for each sample, named after the function that was executed."""
    functions = [quoted(name) for name in trace.call_paths["function"].to_pylist()]
    for part in trace.batches("samples", ("location", "time_ns", "periods", "call_path")):
        columns = (to_numpy(part[name]).tolist() for name in part.column_names)
        for location, time, periods, path in zip(*columns, strict=True):
            name, arguments = quoted(_NOWHERE), f'"periods":{periods}'
            if path != UNKNOWN:
                name = functions[path]
                arguments += f',"called from":{labels.path(path)}'
            yield (
                f'{{"ph":"i","s":"t","cat":"sample",{places.where[location]},'
                f'"ts":{places.time(time)},"name":{name},"args":{{{arguments}}}}}'
            )


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
    yield from sample_events(trace, places, labels)
    progress.step("writing slices", trace.rows("locations"), "locations")
    yield from slice_events(trace, places, labels, progress)
