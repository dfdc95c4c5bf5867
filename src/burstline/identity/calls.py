"""What the ids in the columns of calls stand for, in names that are the same in all runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import (
    NO_VALUE,
    UNKNOWN,
    AnyIntegers,
    Integers,
    Mask,
    Ordinals,
    begins_run,
    coded,
    encoded,
    nullable,
    take,
    to_numpy,
)
from burstline.identity.call_paths import path_labels
from burstline.identity.communicators import communicator_labels
from burstline.identity.vocabulary import Vocabulary
from burstline.model import COLLECTIVES, COMPLETIONS, NAMES, Trace

_SIZES: Final = ("bytes_sent", "bytes_received")
CONTEXT: Final = ("operation", "communicator", "partner", "root", "tag", *_SIZES, "call_path")
"""What is known of the call before and of the one after a burst."""

SITE: Final = ("operation", "call_path")
"""What of that says where in the program the call stands."""

SIDES: Final = ("before", "after")

SPAN_COLLECTIVES: Final = frozenset(name for name in COLLECTIVES if "eighbor" not in name)
"""Collectives that end a span of a rank and begin the next one. Those of neighbours do not:
some ranks may have none of them."""

_SOURCES: Final = {name: name for name in CONTEXT} | {
    "partner": "peer",
    "bytes_sent": "sent_bytes",
    "bytes_received": "received_bytes",
}
_TEXTS: Final = ("operation", "communicator", "call_path")


class Decoder:
    """What the ids in the calls of a trace stand for, the same for every part of it."""

    wanted: tuple[str, ...]  # of :data:`CONTEXT`; only what these need is read
    names: dict[str, pa.Array]  # operations, communicators and call paths by their numbers

    def __init__(
        self,
        trace: Trace,
        wanted: Iterable[str],
        *,
        locations: range | None = None,
        used_paths: Integers | None = None,
    ) -> None:
        """Of all calls, or of those of some locations; `used_paths` where they are known."""
        self.wanted = tuple(name for name in CONTEXT if name in set(wanted))
        self._operations = Vocabulary([*NAMES, *_operation_names(trace)])
        paths: list[str] = []
        if "call_path" in self.wanted:
            used = used_call_paths(trace) if used_paths is None else used_paths
            self._path, paths = path_labels(trace, used)
        # Communicators with one label, such as every rank's MPI_COMM_SELF, have one number.
        communicators: Vocabulary[str] = Vocabulary()
        if "communicator" in self.wanted:
            self._communicator = communicators.numbers(communicator_labels(trace))
        texts = (self._operations.names, communicators.names, paths)
        self.names = {
            name: pa.array(text, pa.string()) for name, text in zip(_TEXTS, texts, strict=True)
        }
        within = locations or range(trace.rows("locations"))
        has_root, has_partner = ("root" in self.wanted, "partner" in self.wanted)
        self._roots = _collective_roots(trace, within) if has_root else _NOTHING
        self._senders = _sole_senders(trace, within) if has_partner else _NOTHING

    @property
    def columns(self) -> list[str]:
        """Columns of the table `calls` that are needed."""
        return ["location", "call", "operation"] + [
            _SOURCES[name] for name in self.wanted if name not in {"operation", "root"}
        ]

    def decoded(self, calls: pa.Table) -> dict[str, npt.NDArray[Any]]:
        """The wanted columns of all calls of some locations, texts as positions in `names`."""
        location, call = (to_numpy(calls[name]) for name in ("location", "call"))
        place, operation = Ordinals(location, call), self.operation(calls)
        values: dict[str, npt.NDArray[Any]] = {}
        for name in self.wanted:
            if name == "operation":
                values[name] = operation
            elif name == "root":
                values[name] = self._roots.of(place, location)
            else:
                values[name] = to_numpy(calls[_SOURCES[name]])
        if "communicator" in values:
            values["communicator"] = take(self._communicator, values["communicator"])
        if "call_path" in values:
            values["call_path"] = self._path[values["call_path"]]
        if "partner" in values:
            sender = self._senders.of(place, location)
            completes = self._operations.among(operation, COMPLETIONS)
            peer = values["partner"]
            values["partner"] = np.where((peer == UNKNOWN) & completes, sender, peer)
        return values

    def operation(self, calls: pa.Table) -> npt.NDArray[np.int32]:
        """The operations of some calls as positions in `names`."""
        codes, names = coded(calls["operation"])
        return self._operations.numbers(names).astype(np.int32)[codes]

    def spanning(self, calls: pa.Table) -> Mask:
        """Which calls end a span."""
        return self._operations.among(self.operation(calls), SPAN_COLLECTIVES)

    def gathered(
        self, decoded: dict[str, npt.NDArray[Any]], row: Integers, side: str
    ) -> Iterator[tuple[str, pa.Array]]:
        """Names and columns of the decoded call of each burst, at a `row` or -1 for none."""
        for name, values in decoded.items():
            absent = NO_VALUE if name in _SIZES else UNKNOWN
            taken = take(values, row, absent)
            if name in _TEXTS:
                yield f"{name}_{side}", encoded(taken, self.names[name])
            else:
                kind = pa.int64() if name in _SIZES else pa.int32()
                yield f"{name}_{side}", nullable(taken, taken != absent, kind)


class _Facts:
    """Facts about calls from other tables, sorted by location and call."""

    def __init__(self, location: AnyIntegers, call: AnyIntegers, value: AnyIntegers) -> None:
        order = np.lexsort((call, location))
        self._location, self._call = location[order], call[order]
        self._value = value[order]

    def of(self, place: Ordinals, location: AnyIntegers) -> npt.NDArray[np.int32]:
        """The fact about each of the calls of some locations, -1 where there is none."""
        column = np.full(len(location), UNKNOWN, np.int32)
        if len(location):
            first, last = np.searchsorted(self._location, [location[0], location[-1] + 1])
            row = place.rows(self._location[first:last], self._call[first:last])
            column[row[row >= 0]] = self._value[first:last][row >= 0]
        return column


_NOTHING: Final = _Facts(*np.zeros((3, 0), np.int64))


def _operation_names(trace: Trace) -> list[str]:
    # every part of a store has the dictionary of the whole
    for part in _parts(trace, "calls", ["operation"]):
        return coded(part["operation"])[1]
    return []


def used_call_paths(trace: Trace) -> Integers:
    """The call paths that calls have, -1 among them if some have none."""
    parts = [
        np.unique(to_numpy(part["call_path"])) for part in _parts(trace, "calls", ["call_path"])
    ]
    return np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int64)


def _collective_roots(trace: Trace, within: range) -> _Facts:
    """The root of each call of some locations that has a part in a collective with one."""
    (root,) = trace.arrays("collectives", "root")
    names = ["location", "call", "collective"]
    location, call, collective = _gathered(
        _parts(trace, "collective_members", names),
        within,
        lambda _, collective: root[collective] != UNKNOWN,
    )
    return _Facts(location, call, root[collective])


def _sole_senders(trace: Trace, within: range) -> _Facts:
    """The sender of all messages that a call of some locations completes, where it is one."""
    (rank,) = trace.arrays("locations", "rank")
    names = ["receiver_location", "receive_call", "sender_location"]
    parts = _parts(trace, "messages", names)
    location, call, sender = _gathered(parts, within, lambda call, _: call != UNKNOWN)
    if not len(location):
        return _NOTHING
    sender = rank[sender]
    order = np.lexsort((sender, call, location))
    location, call, sender = location[order], call[order], sender[order]
    first = begins_run(location, call)
    last = np.append(first[1:], True)[: len(call)]
    # sorted by sender, too: equal at both ends is equal throughout
    single = sender[first] == sender[last]
    return _Facts(location[first][single], call[first][single], sender[first][single])


def _gathered(
    parts: Iterable[pa.Table], within: range, chosen: Callable[..., Mask]
) -> list[npt.NDArray[Any]]:
    """Location and two columns of rows that are chosen by these, as narrow as in the table."""
    gathered: list[list[npt.NDArray[Any]]] = [[np.zeros(0, np.int32)] for _ in range(3)]
    for part in parts:
        location, *_ = columns = [to_numpy(column) for column in part.columns]
        rows = (location >= within.start) & (location < within.stop) & chosen(*columns[1:])
        for pieces, column in zip(gathered, columns, strict=True):
            pieces.append(column[rows])
    return [np.concatenate(pieces) for pieces in gathered]


def _parts(trace: Trace, name: str, columns: list[str]) -> Iterator[pa.Table]:
    if trace.is_stored and name in trace:
        yield from (part.select(columns) for part in trace.batches(name, columns))
    else:
        yield trace.table(name).select(columns)
