"""Labels for a trace that has none: numbers and meanings of callers, regions, parameters.

::

    call_paths   ->  ids of functions and of lines, per level of the stack
    region_defs  ->  event type and value of each region
    other_events ->  events of a type for each name; types and texts count by alphabet
    all          ->  event_types, event_values
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline import extrae
from burstline.columns import Integers, coded, distinct, placed, to_numpy
from burstline.extrae import ATTRIBUTE_TYPES, PARAMETER_TYPES
from burstline.model import NO_VALUE, OTHER_EVENT_KINDS, Trace, row_table

_Named = tuple[int, str | None]

UNRESOLVED_ID: Final = 1
_FIRST_ID: Final = 2
_PLAIN, _MPI, _MISCELLANEOUS, _COUNTERS = 0, 9, 6, 7
_SPAN: Final = {0: "End", 1: "Begin"}
_FIXED: Final[dict[int, tuple[int, dict[int, str]]]] = {
    extrae.APPLICATION: (_MISCELLANEOUS, _SPAN),
    extrae.FLUSH: (_MISCELLANEOUS, _SPAN),
    extrae.TRACING: (_MISCELLANEOUS, {0: "Disabled", 1: "Enabled"}),
    extrae.COUNTER_SET: (_COUNTERS, {}),
    **dict.fromkeys((extrae.FILE_SIZE, extrae.TEST_MISSES, extrae.TEST_TIME), (_MPI, {})),
    **dict.fromkeys((extrae.POLL_WAITING, extrae.INTERRUPTED_PARTNER), (_MPI, {})),
    **dict.fromkeys((extrae.RMA_SIZE, extrae.SENT_SIZE, extrae.RECEIVED_SIZE), (_MPI, {})),
    **dict.fromkeys((extrae.ROOT, extrae.COMMUNICATOR), (_MPI, {})),
}
_FUNCTION_LINE: Final = "User function line"
_LOCK_LABELS: Final = {0: "Unlocked", 38: "LOCK: Obtaining", 39: "LOCK: Taken"}
_TYPES: Final = {
    OTHER_EVENT_KINDS.index("parameter"): PARAMETER_TYPES,
    OTHER_EVENT_KINDS.index("attribute"): ATTRIBUTE_TYPES,
}
_COLUMNS: Final = ["location", "time_ns", "seq", "name", "value", "text"]


class Callers:
    """Ids of the functions and source lines in the calling-context tree of a trace."""

    def __init__(self, trace: Trace) -> None:
        table = trace.table("call_paths")
        functions = table["function"].to_pylist()
        places = zip(table["file"].to_pylist(), table["line"].to_pylist(), strict=True)
        lines = ["??" if file is None else f"{line or 0} ({file})" for file, line in places]
        self._parent = trace.arrays("call_paths", "parent")[0]
        # (call_paths,): the id of each node, 1 if unresolved; and the label of each id
        self.function, self.functions = _numbered_labels(functions)
        self.line, self.lines = _numbered_labels(lines)

    def levels(self, path: npt.NDArray[np.int32]) -> Iterator[npt.NDArray[np.int32]]:
        """Yield the node of each call's callers, the innermost first; -1 beyond."""
        node = path
        for _ in range(len(extrae.CALLER_FUNCTIONS) - 1):
            if not (node >= 0).any():
                return
            yield node
            node = np.where(node >= 0, self._parent[node], -1)


def _numbered_labels(labels: list[str]) -> tuple[Integers, dict[int, str]]:
    numbers: dict[str, int] = {"??": UNRESOLVED_ID}
    for label in labels:
        numbers.setdefault(label, len(numbers) - 1 + _FIRST_ID)
    ids = np.array([numbers[label] for label in labels], np.int64)
    return ids, {0: "End", **{number: label for label, number in numbers.items()}}


def region_events(trace: Trace) -> tuple[Integers, Integers]:
    """The event type and value of each region, those of user functions where unknown."""
    kind, value = trace.arrays("region_defs", "source_type", "source_value")
    has_type = (
        np.isin(kind, [*extrae.REGION_TYPES, *extrae.LOCK_TYPES])
        & (kind != extrae.USER_FUNCTION)
        & (value > 0)
    )
    number = np.arange(1, len(kind) + 1)
    return np.where(has_type, kind, extrae.USER_FUNCTION), np.where(has_type, value, number)


def construct_frames(trace: Trace) -> tuple[Integers, dict[int, str]]:
    """The frame that each construct was entered from, 0 for other regions; and the labels."""
    kind, _ = region_events(trace)
    region, path = trace.arrays("regions", "region", "call_path")
    is_told = ~np.isin(kind, list(extrae.REGION_LINES))[region]
    frame = np.where(is_told & (path >= 0), path.astype(np.int64) + 1, 0)
    rows = trace.call_paths.to_pylist() if frame.any() else []
    labels: dict[int, str] = {}
    waiting = np.unique(frame[frame > 0]).tolist()
    while waiting:
        row = rows[(number := waiting.pop()) - 1]
        caller = 0 if row["parent"] is None else row["parent"] + 1
        labels[number] = extrae.frame_label(row["function"], row["file"], row["line"], caller)
        if caller and caller not in labels:
            waiting.append(caller)
    return frame, {0: "End", **dict(sorted(labels.items()))}


def function_lines(trace: Trace) -> tuple[Integers, dict[int, str]]:
    """The number of the line where each region begins, 0 of no function; and the labels."""
    definitions = trace.table("region_defs")
    names = ("source_type", "file", "begin_line")
    lines = [
        f"{line or 0} ({file})" if kind == extrae.USER_FUNCTION and file else ""
        for kind, file, line in zip(*(definitions[n].to_pylist() for n in names), strict=True)
    ]
    number, labels = _numbered_labels([line for line in lines if line])
    numbers = placed(number, [row for row, line in enumerate(lines) if line], len(lines))
    return numbers, labels


def label_tables(
    trace: Trace, callers: Callers, others: Others, present: Integers
) -> dict[str, pa.Table]:
    """The tables of the labels of all types in `present`, and of their values."""
    groups = [
        *_fixed_labels(),
        *_caller_labels(callers),
        *_region_labels(trace),
        *_counter_labels(trace),
        *others.labels(),
    ]
    types: list[tuple[int, str, int, int]] = []
    values: list[tuple[int, int, str]] = []
    occurring = set(present.tolist())
    for labels, gradient, meanings in groups:
        occurring_labels = {kind: label for kind, label in labels.items() if kind in occurring}
        if not occurring_labels:
            continue
        group = types[-1][3] + 1 if types else 0
        types += [(kind, label, gradient, group) for kind, label in occurring_labels.items()]
        values += [(group, value, label) for value, label in meanings.items()]
    return {
        "event_types": row_table("event_types", types),
        "event_values": row_table("event_values", values),
    }


_Group = tuple[dict[int, str], int, dict[int, str]]


def _own(*kinds: int) -> dict[int, str]:
    """The labels that types have in every trace."""
    return {kind: extrae.TABLE[kind].label for kind in kinds}


def _fixed_labels() -> Iterator[_Group]:
    for kind in extrae.MPI_TYPES:
        values = {
            v: extrae.MPI_OPERATIONS[v]
            for family, v in extrae.MPI_EVENTS.values()
            if family == kind
        }
        yield _own(kind), _MPI, {0: "Outside MPI", **values}
    for kind, (gradient, values) in _FIXED.items():
        yield _own(kind), gradient, values


def _caller_labels(callers: Callers) -> Iterator[_Group]:
    yield _own(*extrae.CALLER_FUNCTIONS[1:]), _PLAIN, callers.functions
    yield _own(*extrae.CALLER_LINES[1:]), _PLAIN, callers.lines
    yield _own(*extrae.SAMPLED_FUNCTIONS), _PLAIN, callers.functions
    yield _own(*extrae.SAMPLED_LINES), _PLAIN, callers.lines
    yield _own(extrae.SAMPLE_PERIODS), _PLAIN, {}


def _region_labels(trace: Trace) -> Iterator[_Group]:
    kinds, values = region_events(trace)
    names = trace.table("region_defs")["name"].to_pylist()
    for kind in np.unique(kinds).tolist():
        labels = {int(values[row]): names[row] for row in np.flatnonzero(kinds == kind)}
        steps = _LOCK_LABELS if kind == extrae.LOCK_STATUS else {0: "End"}
        own = {kind: extrae.TABLE[kind].label or f"Region {kind}"}
        yield own, _PLAIN, steps | labels
    _, lines = function_lines(trace)
    yield {extrae.REGION_LINES[extrae.USER_FUNCTION]: _FUNCTION_LINE}, _PLAIN, lines
    _, frames = construct_frames(trace)
    yield _own(extrae.CONSTRUCT_PATH), _PLAIN, frames
    if extrae.LOCK_STATUS not in kinds:
        yield _own(extrae.LOCK_STATUS), _PLAIN, _LOCK_LABELS
    yield _own(extrae.LOCK_ADDRESS), _PLAIN, {}


def _counter_labels(trace: Trace) -> Iterator[_Group]:
    types = trace.arrays("counters", "source_type")[0].tolist()
    for kind, name in zip(types, trace.counter_names, strict=True):
        yield {kind: name}, _COUNTERS, {}


class Others:
    """Parameters and attributes of a trace as events, shape (events,)."""

    def __init__(self, trace: Trace) -> None:
        kinds = to_numpy(trace.other_events["kind"])
        chosen = np.flatnonzero(np.isin(kinds, list(_TYPES)))
        rows = trace.other_events.select(_COLUMNS).take(pa.array(chosen))
        numbers = ("location", "time_ns", "seq", "value")
        location, time, seq, value = (to_numpy(rows[name]).astype(np.int64) for name in numbers)
        # location, time and ordinal; event type; value: numbers of texts from 1, or 0
        self.place = location, time, seq
        name, names = _coded_words(rows["name"])
        named = kinds[chosen].astype(np.int64) * len(names) + name
        codes, place = np.unique(named, return_inverse=True)
        pairs = [(pair // len(names), names[pair % len(names)]) for pair in codes.tolist()]
        self._types = _types_of(pairs)
        self.kind = np.array([self._types[pair] for pair in pairs], np.int64)[place.reshape(-1)]
        self.value = np.where(value == NO_VALUE, 0, value)
        self._texts: dict[int, dict[int, str]] = {}
        self._set_texts(*_coded_words(rows["text"]))

    def _set_texts(self, text: Integers, texts: list[str | None]) -> None:
        """Set the values of texts, which are codes; the last code is none."""
        rows = np.flatnonzero(text < len(texts) - 1)
        first, which = distinct(self.kind[rows], text[rows])
        kinds, codes = self.kind[rows[first]].tolist(), text[rows[first]].tolist()
        pairs = [(kind, texts[code] or "") for kind, code in zip(kinds, codes, strict=True)]
        numbers = np.zeros(len(pairs), np.int64)
        for place in sorted(range(len(pairs)), key=pairs.__getitem__):
            kind, word = pairs[place]
            of_kind = self._texts.setdefault(kind, {})
            numbers[place] = len(of_kind) + 1
            of_kind[len(of_kind) + 1] = word
        self.value[rows] = numbers[which]

    def labels(self) -> Iterator[tuple[dict[int, str], int, dict[int, str]]]:
        """Yield labels of types, their colour, and labels of values."""
        for (_, name), kind in self._types.items():
            label = " ".join((name or "").split()) or f"{kind}"
            yield {kind: label}, _MISCELLANEOUS, self._texts.get(kind, {})


def _coded_words(column: pa.ChunkedArray) -> tuple[Integers, list[str | None]]:
    """Words as codes, and the word of each code; the last code is none."""
    codes, words = coded(column.dictionary_encode())
    return np.where(codes < 0, len(words), codes).astype(np.int64), [*words, None]


def _types_of(named: list[_Named]) -> dict[_Named, int]:
    types = {}
    for kind, numbers in _TYPES.items():
        names = sorted(
            (name is not None, name or "") for event_kind, name in named if event_kind == kind
        )
        for place, (is_named, name) in enumerate(names):
            types[kind, name if is_named else None] = numbers[place % len(numbers)]
    return types
