"""The MPI calls of all locations as columns, and the records that describe them.

A record of a call has its call as a row among all calls; what it names (communicator,
operation, stack) is already a row or code of the trace.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline.columns import lookup
from burstline.formats.intake import LARGEST, Calls, Details
from burstline.formats.raw.layout import OF_THE_CALL, Kind
from burstline.operations import CODES, NAMES
from burstline.schema import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from burstline.columns import Integers
    from burstline.formats.intake import Defects
    from burstline.formats.raw.timeline import Timeline


_PACKED: Final = np.array([Kind.SEND, Kind.POST, Kind.RECEIVE, Kind.PROBE, Kind.RMA], np.uint16)
_PLAIN: Final = np.array([Kind.COLLECTIVE, Kind.ROOT], np.uint16)
_SIZES: Final = {
    Kind.COLLECTIVE: ("b", "c"),
    Kind.SEND: ("c",),
    Kind.RECEIVE: ("c",),
    Kind.IO: ("b", "c"),
    Kind.RMA: ("c",),
}


class Gathering:
    """Gathers calls and their records, one location after the other.

    Parameters
    ----------
    numbers : mapping of int to str
        Name of each operation by its number in raw files.
    odd : Defects
        Told of what is odd.
    """

    def __init__(self, numbers: Mapping[int, str], odd: Defects) -> None:
        self._odd = odd
        self._numbers = numbers
        self._names = list(NAMES)
        self._codes = dict(CODES)
        self._calls: list[Integers] = []
        self._details: list[Integers] = []
        self._rows = 0

    def add(
        self, line: Timeline, communicators: Mapping[int, int], paths: Mapping[int, int]
    ) -> None:
        """Take in a location; ids of its process are given their rows."""
        self._add_calls(line, paths)
        self._add_details(line, communicators)
        self._rows += len(line.enter)

    def _add_calls(self, line: Timeline, paths: Mapping[int, int]) -> None:
        count = len(line.enter)
        leave_ns, leave_seq = line.leaves()
        open_calls = np.flatnonzero(line.leave < 0)
        if len(open_calls):
            text = f"{line.name}: call {open_calls[0]} of {count}"
            self._odd.note("call_never_left", "loss", text, len(open_calls))
        left = line.leave[line.leave >= 0]
        failed = left[line.records["a"][left] != 0]
        if len(failed):
            record = line.records[failed[0]]
            text = f"{line.name}: {self._name(int(record['op']))} returned {record['a']}"
            self._odd.note("call_failed", "info", text, len(failed))
        stack = line.records["a"][line.enter]
        path = lookup(stack, paths)
        lost = np.flatnonzero((path < 0) & (stack != 0))
        if len(lost):
            text = f"{line.name}: stack {stack[lost[0]]}"
            self._odd.note("stack_not_defined", "loss", text, len(lost))
        columns = [
            np.full(count, line.location),
            np.arange(count),
            self._operations(line.records["op"][line.enter]),
            line.time_ns[line.enter],
            leave_ns,
            line.seq[line.enter],
            leave_seq,
            path,
        ]
        self._calls.append(np.stack([np.asarray(column, np.int64) for column in columns]))

    def _name(self, number: int) -> str:
        return self._numbers.get(number) or f"MPI call {number}"

    def _operations(self, numbers: npt.NDArray[np.uint16]) -> npt.NDArray[np.int32]:
        rows = {}
        for number in np.unique(numbers).tolist():
            name = self._name(number)
            if name not in self._codes:
                self._codes[name] = len(self._names)
                self._names.append(name)
            if number not in self._numbers:
                count = int(np.count_nonzero(numbers == number))
                self._odd.note("unknown_mpi_call", "info", f"number {number}", count)
            rows[number] = self._codes[name]
        return lookup(numbers, rows)

    def _operations_told(
        self, kind: npt.NDArray[np.uint16], told: npt.NDArray[np.uint16]
    ) -> Integers:
        """Put code + 1 where a record of a collective names an operation: above a bit."""
        given = told.astype(np.int64)
        named = (kind == Kind.COLLECTIVE) & (given > 1)
        codes = self._operations(told[named] >> np.uint16(1)).astype(np.int64)
        given[named] = (codes + 1) << 1 | (given[named] & 1)
        return given

    def _add_details(self, line: Timeline, communicators: Mapping[int, int]) -> None:
        at = line.of(*OF_THE_CALL)
        homeless = at[line.call[at] < 0]
        if len(homeless):
            text = f"{line.name}: record {homeless[0]}"
            self._odd.note("record_without_call", "loss", text, len(homeless))
        at = at[line.call[at] >= 0]
        records, kind = line.records[at], line.kind[at]
        packed, plain = np.isin(kind, _PACKED), np.isin(kind, _PLAIN)
        place = np.where(packed, records["b"] >> np.uint64(32), records["a"]).astype(np.int64)
        named = packed | plain
        communicator = np.full(len(at), UNKNOWN, np.int64)
        communicator[named] = lookup(place[named], communicators)
        lost = np.flatnonzero(named & (communicator < 0))
        if len(lost):
            text = f"{line.name}: communicator {place[lost[0]]}"
            self._odd.note("communicator_not_defined", "loss", text, len(lost))
        sizes = {name: records[name].view(np.int64).copy() for name in ("b", "c")}
        self._check_sizes(line, kind, sizes)
        columns = [
            kind,
            line.call[at] + self._rows,
            np.full(len(at), line.location),
            at,
            records["time"].view(np.int64),
            communicator,
            records["a"].view(np.int32),
            (records["b"] & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.int32),
            self._operations_told(kind, records["op"]),
            sizes["b"],
            sizes["c"],
        ]
        self._details.append(np.stack([np.asarray(column, np.int64) for column in columns]))

    def _check_sizes(
        self, line: Timeline, kind: npt.NDArray[np.uint16], sizes: dict[str, Integers]
    ) -> None:
        for sized, names in _SIZES.items():
            for name in names:
                wrong = (kind == sized) & ((sizes[name] < 0) | (sizes[name] >= LARGEST))
                count = int(np.count_nonzero(wrong))
                if count:
                    text = f"{line.name}: {sizes[name][wrong][0]} bytes"
                    self._odd.note("size_absurd", "loss", text, count)
                    sizes[name][wrong] = 0

    def calls(self) -> Calls:
        """Give all calls."""
        columns = np.concatenate([np.zeros((8, 0), np.int64), *self._calls], axis=1)
        known = [column.name for column in fields(Calls)]
        given: dict[str, Any] = dict(zip(known, [*columns, tuple(self._names)], strict=True))
        return Calls(**given)

    def details(self) -> Details:
        """Give all records of calls."""
        return Details(*np.concatenate([np.zeros((11, 0), np.int64), *self._details], axis=1))


def join_names(numbers: Sequence[tuple[str, int]]) -> dict[int, str]:
    """Give the operation of each number; large-count calls are those they stand for.

    Examples
    --------
    >>> join_names([("MPI_Send", 1), ("MPI_Send_c", 2), ("Recv", 3)])
    {1: 'MPI_Send', 2: 'MPI_Send', 3: 'MPI_Recv'}
    """
    found = {}
    for name, number in numbers:
        full = name if name.startswith("MPI_") else f"MPI_{name}"
        plain = full.removesuffix("_c")
        found[number] = plain if plain in CODES else full
    return found
