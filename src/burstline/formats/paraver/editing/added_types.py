"""Event types for counters that a trace gets from other runs.

::

    counters of other runs, types of the trace  --added_types-->  a type and a label for each

A counter keeps the type it has where it was recorded, so that configurations for it work.
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
    wanted: Sequence[WantedCounter], known: Mapping[int, str]
) -> list[SplicedCounter]:
    """The types and labels of counters of other runs, in their order.

    A counter under its own name has its own type, that of differences; if that means something
    else among the `known` of the trace, or the counter has another name than in its run, a type
    of :data:`MERGED_TYPES`. Raises ParameterError if these are more counters than types.

    >>> one = WantedCounter("PAPI_L1_DCM", "PAPI_L1_DCM", 42000000, "PAPI_L1_DCM [L1 misses]")
    >>> two = WantedCounter("run2.PAPI_TOT_INS", "PAPI_TOT_INS", 42000050, "")
    >>> [counter.type for counter in added_types([one, two], {42000050: "PAPI_TOT_INS"})]
    [42000000, 48600000]
    """
    taken = dict(known)
    spare = (number for number in MERGED_TYPES if number not in taken)
    found = []
    for one in wanted:
        number, label = one.type, one.label or one.counter
        if is_absolute(label):
            number, label = number - ABSOLUTE_OFFSET, label.removeprefix("Absolute ")
        is_own = one.name == one.counter and number in _TYPES
        if not is_own or (number in taken and read_counter(taken[number]) != one.counter):
            number = next(spare, -1)
        if number < 0:
            raise ParameterError("there are more counters to add than event types for them")
        described = label.removeprefix(read_counter(label)).strip()
        label = f"{one.name} {described}".strip()
        taken[number] = label
        found.append(SplicedCounter(number, label))
    return found


def type_labels(path: Path, trace: Trace) -> dict[int, str]:
    """The event types of a trace with their labels, without reading its records.

    From the ``.pcf`` beside `path`, or from its tables; counters without a label by name.
    """
    rows = trace.counters.to_pylist()
    named = {
        row["source_type"]: f"{'Absolute ' * (row['mode'] == 'absolute')}{row['name']}"
        for row in rows
    }
    if path.name.endswith((".prv", ".prv.gz")):
        labels = companion_paths(path)[0]
        types = read_pcf(labels.read_bytes()).types if labels.is_file() else {}
        return named | {number: known.label for number, known in types.items() if known.label}
    if "event_types" in trace:
        rows = trace.table("event_types").to_pylist()
        return named | {row["type"]: row["label"] for row in rows if row["label"]}
    return named
