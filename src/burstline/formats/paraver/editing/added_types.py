"""Event types for counters that a trace gets from other runs.

::

    counters of other runs, types of the trace  --added_types-->  a type and a label for each
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from burstline.errors import ParameterError
from burstline.extrae import ABSOLUTE_OFFSET, MERGED_TYPES, is_absolute, read_counter
from burstline.formats.paraver.editing.splice import SplicedCounter
from burstline.formats.paraver.files.companions import companion_paths
from burstline.formats.paraver.files.pcf import read_pcf

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from burstline.trace import Trace

_TYPES: Final = range(1, 1 << 31)


@dataclass(frozen=True, slots=True)
class WantedCounter:
    """A counter of another run: its name here, its name, type and label there."""

    name: str
    counter: str
    type: int
    label: str


def added_types(
    wanted: Sequence[WantedCounter], labels: Mapping[int, str]
) -> list[SplicedCounter]:
    """The types and labels of counters of other runs; `labels` are those of the trace."""
    taken = dict(labels)
    spare = (number for number in MERGED_TYPES if number not in taken)
    counters = []
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
        taken[number] = label
        counters.append(SplicedCounter(number, label))
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
        types = read_pcf(labels.read_bytes()).types if labels.is_file() else {}
        return named | {kind: label.label for kind, label in types.items() if label.label}
    if "event_types" in trace:
        rows = trace.table("event_types").to_pylist()
        return named | {row["type"]: row["label"] for row in rows if row["label"]}
    return named
