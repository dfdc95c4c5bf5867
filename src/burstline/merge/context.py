"""The MPI calls around bursts, with what their ids stand for.

::

    calls of some locations  --Decoder-->  operation, communicator, partner, root, bytes, path
    bursts                   --gather-->   operation_before, operation_after, …
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from burstline.columns import Ordinals, begins_run, coded, encoded, nullable, to_numpy
from burstline.merge.labels import communicator_labels, path_labels
from burstline.operations import COLLECTIVES, COMPLETIONS, NAMES
from burstline.schema import NO_VALUE, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy.typing as npt

    from burstline.columns import AnyIntegers, Integers, Mask
    from burstline.trace import Trace


CONTEXT: Final = (
    "operation",
    "communicator",
    "partner",
    "root",
    "tag",
    "bytes_sent",
    "bytes_received",
    "call_path",
)
"""What is told of the call before and of the one after a burst."""

SIDES: Final = ("before", "after")

SPAN_COLLECTIVES: Final = frozenset(name for name in COLLECTIVES if "eighbor" not in name)
"""Collectives that end a span of a rank and begin the next one. Those of neighbours do not:
some ranks may have none of them."""

_SOURCES: Final = {
    "operation": "operation",
    "communicator": "communicator",
    "partner": "peer",
    "tag": "tag",
    "bytes_sent": "sent_bytes",
    "bytes_received": "received_bytes",
    "call_path": "call_path",
}
_TEXTS: Final = frozenset({"operation", "communicator", "call_path"})
_SIZES: Final = frozenset({"bytes_sent", "bytes_received"})


class Decoder:
    """What the ids in the calls of a trace stand for, the same for every part of it.

    Parameters
    ----------
    trace : Trace
        The whole trace.
    wanted : collection of str
        Of :data:`CONTEXT`; only what these need is read.
    """

    def __init__(self, trace: Trace, wanted: Iterable[str]) -> None:
        self.wanted = tuple(name for name in CONTEXT if name in set(wanted))
        self.operations = dict.fromkeys([*NAMES, *_operations(trace)])
        self._codes = {name: code for code, name in enumerate(self.operations)}
        self._path, paths = path_labels(trace)
        names = communicator_labels(trace) if "communicator" in self.wanted else []
        # Communicators with one label, as everybody's own, are one to whoever compares runs.
        labels = list(dict.fromkeys(names))
        self._communicator = np.array([*map(labels.index, names), UNKNOWN])
        self.names = {
            "operation": pa.array(list(self.operations), pa.string()),
            "communicator": pa.array(labels, pa.string()),
            "call_path": pa.array(paths, pa.string()),
        }
        self._roots = _roots(trace) if "root" in self.wanted else _NOTHING
        self._senders = _senders(trace) if "partner" in self.wanted else _NOTHING

    @property
    def columns(self) -> list[str]:
        """Columns of the table `calls` that are needed."""
        return ["location", "call", "operation"] + [
            _SOURCES[name] for name in self.wanted if name not in {"operation", "root"}
        ]

    def decoded(self, calls: pa.Table) -> dict[str, npt.NDArray[Any]]:
        """Give what is wanted of some calls, all of some locations.

        Parameters
        ----------
        calls : pyarrow.Table
            With the columns :attr:`columns`, sorted by location and call.

        Returns
        -------
        dict of str to ndarray, shape (calls,)
            Texts by their position in `names`; the schema's sentinels where not known.
        """
        location, call = (to_numpy(calls[name]) for name in ("location", "call"))
        operation = self.operation(calls)
        found: dict[str, npt.NDArray[Any]] = {}
        for name in self.wanted:
            if name == "operation":
                found[name] = operation
            elif name == "root":
                found[name] = np.full(len(call), UNKNOWN, np.int32)
            else:
                found[name] = to_numpy(calls[_SOURCES[name]])
        if "communicator" in found:
            found["communicator"] = self._communicator[found["communicator"]]
        if "call_path" in found:
            found["call_path"] = self._path[found["call_path"]]
        at = Ordinals(location, call)
        if "root" in found:
            self._roots.fill(found["root"], at, location)
        if "partner" in found:
            completes = np.isin(operation, [self._codes[name] for name in COMPLETIONS])
            found["partner"] = self._with_senders(found["partner"], at, location, completes)
        return found

    def operation(self, calls: pa.Table) -> npt.NDArray[np.int32]:
        """Give the operations of some calls as positions in `names`."""
        codes, names = coded(calls["operation"])
        return np.array([self._codes[name] for name in names] or [0], np.int32)[codes]

    def spanning(self, operation: AnyIntegers) -> Mask:
        """Tell which operations end a span."""
        ends = np.array([name in SPAN_COLLECTIVES for name in self.operations])
        return ends[operation]

    def _with_senders(
        self, peer: AnyIntegers, at: Ordinals, location: AnyIntegers, completes: Mask
    ) -> AnyIntegers:
        sender = np.full(len(peer), UNKNOWN, np.int32)
        self._senders.fill(sender, at, location)
        return np.where((peer == UNKNOWN) & completes, sender, peer)

    def gathered(
        self, known: dict[str, npt.NDArray[Any]], row: Integers, side: str
    ) -> Iterator[tuple[str, pa.Array]]:
        """Give what is known of the calls of bursts, as columns.

        Parameters
        ----------
        known : dict of str to ndarray
            As from :meth:`decoded`.
        row : ndarray of int64, shape (bursts,)
            The call of each burst among those, -1 if it has none.
        side : str
            ``before`` or ``after``.

        Yields
        ------
        (str, pyarrow.Array)
            Name of a column and its values, nulls where not known.
        """
        for name, values in known.items():
            absent = NO_VALUE if name in _SIZES else UNKNOWN
            taken = np.append(values, values.dtype.type(absent))[row]
            if name in _TEXTS:
                yield f"{name}_{side}", encoded(taken, self.names[name])
            else:
                kind = pa.int64() if name in _SIZES else pa.int32()
                yield f"{name}_{side}", nullable(taken, taken != absent, kind)


class _Told:
    """Facts about calls that stand in other tables, sorted by location and call."""

    def __init__(self, location: AnyIntegers, call: AnyIntegers, value: AnyIntegers) -> None:
        order = np.lexsort((call, location))
        self._location, self._call = location[order], call[order]
        self._value = value[order]

    def fill(self, column: AnyIntegers, at: Ordinals, location: AnyIntegers) -> None:
        """Put the facts about the calls of some locations into their column."""
        if not len(location):
            return
        first, last = np.searchsorted(self._location, [location[0], location[-1] + 1])
        row = at.rows(self._location[first:last], self._call[first:last])
        found = row >= 0
        column[row[found]] = self._value[first:last][found]


_NOTHING: Final = _Told(*np.zeros((3, 0), np.int64))


def _operations(trace: Trace) -> list[str]:
    """Give the names of the operations of a trace."""
    if trace.is_stored:
        # Every part of a store has the dictionary of the whole.
        parts = trace.batches("calls", ["operation"]) if "calls" in trace else iter(())
        part = next(parts, None)
        return coded(part["operation"])[1] if part is not None else []
    return coded(trace.calls["operation"])[1]


def _roots(trace: Trace) -> _Told:
    """Give the root of each call that has a part in a collective with a known root."""
    (root,) = trace.arrays("collectives", "root")
    parts = []
    for part in _read(trace, "collective_members", ["collective", "location", "call"]):
        collective, location, call = map(to_numpy, part.columns)
        known = (root[collective] != UNKNOWN) & (call != UNKNOWN)
        parts.append(np.stack([location[known], call[known], root[collective][known]]))
    return _Told(*np.concatenate(parts, axis=1)) if parts else _NOTHING


def _senders(trace: Trace) -> _Told:
    """Give who sent what a call completes, where it is one rank."""
    (rank,) = trace.arrays("locations", "rank")
    parts = []
    names = ["receiver_location", "receive_call", "sender_location"]
    for part in _read(trace, "messages", names):
        location, call, sender = map(to_numpy, part.columns)
        known = call != UNKNOWN
        parts.append(np.stack([location[known], call[known], rank[sender[known]]]))
    if not parts:
        return _NOTHING
    location, call, sender = np.concatenate(parts, axis=1)
    order = np.lexsort((sender, call, location))
    location, call, sender = location[order], call[order], sender[order]
    first = begins_run(location, call)
    last = np.append(first[1:], True)[: len(call)]
    # sorted by sender, too: equal at both ends is equal throughout
    one = sender[first] == sender[last]
    return _Told(location[first][one], call[first][one], sender[first][one])


def _read(trace: Trace, name: str, columns: list[str]) -> Iterator[pa.Table]:
    if trace.is_stored and name in trace:
        yield from (part.select(columns) for part in trace.batches(name, columns))
    else:
        yield trace.table(name).select(columns)
