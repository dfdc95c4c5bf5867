"""More counters in a Paraver trace: pairs put into its records, all other bytes as they are.

A counter's value stands where the burst ends, in the record of the burst's thread that has
the base's counters, as Extrae would have put it there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt

from burstline import _core
from burstline.columns import Integers, begins_run
from burstline.errors import InconsistentTraceError, ParameterError
from burstline.extrae import ABSOLUTE_OFFSET, MERGED_TYPES, MPI_TYPES, is_absolute, read_counter
from burstline.formats import atomic
from burstline.formats.files import is_plain
from burstline.formats.paraver.files.header import companion_paths, read_header
from burstline.formats.paraver.files.lines import LineSource
from burstline.formats.paraver.files.pcf import read_pcf
from burstline.model import NO_VALUE, Trace
from burstline.progress import SILENCE, Progress

_ENTERS, _LEAVES, _COUNTER = (int(bit) for bit in _core.Holds)
_CALL_TYPES: Final = np.array(MPI_TYPES, np.int64)
_GRADIENT: Final = 7
_TYPES: Final = range(1, 1 << 31)


@dataclass(frozen=True, slots=True, eq=False)
class Additions:
    """Counters to add, with their values over bursts."""

    # of all bursts of the trace, ascending
    location: npt.NDArray[np.int32]
    end_ns: Integers
    counters: Mapping[int, str]  # types that the trace has not, and their labels
    values: Sequence[Integers]  # of each counter over each burst, NO_VALUE to leave it out
    types: Sequence[int]  # event types of the counters that the trace has


def splice(
    source: Path, target: Path, additions: Additions, *, progress: Progress = SILENCE
) -> int:
    """Write a Paraver trace with more counters; return how many bursts got some."""
    # Memory: 40 bytes a burst and 20 MB.
    companions = companion_paths(target)
    beside = companion_paths(source)
    labels, names = (path.read_bytes() if is_plain(path) else None for path in beside)
    has_value = [column != NO_VALUE for column in additions.values]
    rows = np.flatnonzero(np.any(has_value, axis=0))
    with closing(LineSource(source)) as opened:
        header = read_header(opened.first_line(), source)
        threads = header.objects.threads.tolist()
        layout = _core.Layout(header.objects.tasks.tolist(), threads, [0] * len(threads))
        records = _EndRecords(additions, rows, header.unit_ns, layout.locations)
        progress.step("Looking for records", opened.size, "B")
        records.scan(opened, layout, progress)
    place, row = records.places(source)
    outputs = [target, companions[0], *([companions[1]] if names is not None else [])]
    with closing(LineSource(source)) as opened, atomic.outputs(outputs) as (prv, pcf, *rest):
        progress.step("Writing", opened.size, "B")
        prv.write(opened.first_line())
        _copy_text(opened, prv, additions, (place, row), progress)
        pcf.write(_with_labels(labels or b"", additions.counters))
        for file in rest:
            file.write(names or b"")
    return len(row)


class _EndRecords:
    def __init__(
        self, additions: Additions, rows: Integers, unit_ns: int, locations: int
    ) -> None:
        self._rows, self._unit = rows, unit_ns
        self._location = additions.location
        self._end = additions.end_ns // unit_ns
        self._counters = np.array(sorted(additions.types), np.int64)
        location, end = self._location[rows].astype(np.int64), self._end[rows]
        new = begins_run(location, end)
        self._number = np.cumsum(new) - 1
        self._times = np.ascontiguousarray(end[new])
        self._begin = np.searchsorted(location[new], np.arange(locations + 1))
        # the last of all bursts that end with each
        new = begins_run(self._location, self._end)
        self._last = (np.append(np.flatnonzero(new)[1:], len(new)) - 1)[np.cumsum(new) - 1]
        self._parts: list[tuple[npt.NDArray[Any], ...]] = []

    def scan(self, source: LineSource, layout: _core.Layout, progress: Progress) -> None:
        """Add the records in the text."""
        begin = self._begin.astype(np.int64)
        done, buffer = 0, bytearray()
        for stretch in source.stretches():
            text = stretch.fetch(buffer)
            moment, end, holds = _core.find_records(
                text, layout, begin, self._times, _CALL_TYPES, self._counters
            )
            self._parts.append((moment, end + done, holds))
            done += len(text)
            del text  # a buffer that is in use cannot grow for the next stretch
            progress.advance(stretch.size)

    def places(self, source: Path) -> tuple[Integers, Integers]:
        """The places in the text for the counters of bursts, ascending, and the bursts."""
        moment, end, holds = (
            np.concatenate([part[column] for part in self._parts] or [np.zeros(0, np.int64)])
            for column in range(3)
        )
        order = np.argsort(moment, kind="stable")
        moment, end, holds = moment[order], end[order], holds[order]
        begins = np.searchsorted(moment, np.arange(len(self._times) + 1))
        counts = np.diff(begins)
        if not counts.all():
            self._refuse(source, int(np.argmin(counts)))
        single = np.bincount(self._number, minlength=len(self._times)) == 1
        # Mostly a moment has one record, or one that says all.
        best = begins[:-1].copy()
        says_all = np.flatnonzero((holds & _ENTERS > 0) & (holds & _COUNTER > 0))
        best[moment[says_all]] = says_all
        entered = np.bincount(moment[holds & _ENTERS > 0], minlength=len(self._times))
        clear = single & (
            (counts == 1) | ((entered == 1) & (holds[best] == (_ENTERS | _COUNTER)))
        )
        place = end[best][self._number]
        for number in np.flatnonzero(~clear).tolist():
            candidates = slice(begins[number], begins[number + 1])
            bursts = slice(*np.searchsorted(self._number, [number, number + 1]))
            ends, bits = end[candidates].tolist(), holds[candidates].tolist()
            place[bursts] = self._chosen(self._rows[bursts], ends, bits)
        order = np.argsort(place, kind="stable")
        return place[order], self._rows[order]

    def _chosen(self, bursts: Integers, ends: list[int], holds: list[int]) -> list[int]:
        """The places of bursts that end in one moment with several records."""
        enters = [k for k, bits in enumerate(holds) if bits & _ENTERS]
        if not enters:
            with_counters = [k for k, bits in enumerate(holds) if bits & _COUNTER]
            return [ends[(with_counters or [0])[0]]] * len(bursts)
        # Bursts that end in one moment: the last belongs to the last call that begins there.
        after = self._last[bursts] - bursts
        calls = np.maximum(len(enters) - 1 - after, 0).tolist()
        return [ends[_record_of(enters[k], holds)] for k in calls]

    def _refuse(self, source: Path, number: int) -> None:
        location = int(np.searchsorted(self._begin, number, "right")) - 1
        time = int(self._times[number]) * self._unit
        raise InconsistentTraceError(
            f"{source}: no record of location {location} at {time} ns, where one of its bursts "
            "ends: the file is another one than the trace that was read"
        )


def _record_of(enter: int, holds: list[int]) -> int:
    """The record with the counters of a call that is entered, or the one that enters it."""
    # Counters may stand in a record of their own, behind; where their set changes, before.
    if holds[enter] & _COUNTER:
        return enter
    for k in range(enter + 1, len(holds)):
        if holds[k] & (_ENTERS | _LEAVES):
            break
        if holds[k] & _COUNTER:
            return k
    before = enter - 1
    if before >= 0 and holds[before] == _COUNTER:
        return before
    return enter


def _copy_text(
    source: LineSource,
    target: IO[bytes],
    additions: Additions,
    insertions: tuple[Integers, Integers],
    progress: Progress,
) -> None:
    """Write the text with counters; `insertions` are places in it, ascending, and bursts."""
    types = np.array(list(additions.counters), np.int64)
    done, buffer = 0, bytearray()
    for stretch in source.stretches():
        text = written = stretch.fetch(buffer)
        chosen = slice(*np.searchsorted(insertions[0], [done, done + len(text)], "right"))
        place, row = (column[chosen] for column in insertions)
        if len(row):
            values = np.stack([column[row] for column in additions.values], axis=1).ravel()
            written = _core.with_pairs(text, place - done, types, values)
        target.write(written.data)
        done += len(text)
        del text, written  # a buffer that is in use cannot grow for the next stretch
        progress.advance(stretch.size)


def _with_labels(labels: bytes, counters: Mapping[int, str]) -> bytes:
    if not counters:
        return labels
    lines = [
        f"{_GRADIENT}    {kind}    {' '.join(text.split())}" for kind, text in counters.items()
    ]
    ended = labels if not labels or labels.endswith(b"\n") else labels + b"\n"
    return ended + "\n".join(["", "", "EVENT_TYPE", *lines, ""]).encode(errors="replace")


@dataclass(frozen=True, slots=True)
class WantedCounter:
    """A counter of another run: its name here, its name, type and label there."""

    name: str
    counter: str
    type: int
    label: str


def added_types(wanted: Sequence[WantedCounter], labels: Mapping[int, str]) -> dict[int, str]:
    """The types of counters of other runs, and labels; `labels` are those of the trace."""
    taken, counters = dict(labels), {}
    spare = (number for number in MERGED_TYPES if number not in taken)
    for counter in wanted:
        # It keeps its type under its own name, so that configurations for it work.
        number, label = counter.type, counter.label or counter.counter
        if is_absolute(label):
            number, label = number - ABSOLUTE_OFFSET, label.removeprefix("Absolute ")
        is_own = counter.name == counter.counter and number in _TYPES
        if not is_own or (number in taken and read_counter(taken[number]) != counter.counter):
            number = next(spare, -1)
        if number < 0:
            raise ParameterError("there are more counters to add than event types for them")
        described = label.removeprefix(read_counter(label)).strip()
        label = f"{counter.name} {described}".strip()
        taken[number] = counters[number] = label
    return counters


def type_labels(path: Path, trace: Trace) -> dict[int, str]:
    """The labels of the event types of a trace; of counters without a label, the names."""
    rows = trace.counters.to_pylist()
    named = {
        row["source_type"]: f"{'Absolute ' * (row['mode'] == 'absolute')}{row['name']}"
        for row in rows
    }
    if path.name.endswith((".prv", ".prv.gz")):
        labels = companion_paths(path)[0]
        types = read_pcf(labels.read_bytes()).types if is_plain(labels) else {}
        return named | {kind: label.label for kind, label in types.items() if label.label}
    if "event_types" in trace:
        rows = trace.table("event_types").to_pylist()
        return named | {row["type"]: row["label"] for row in rows if row["label"]}
    return named
