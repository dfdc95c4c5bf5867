"""The MPI calls of all locations as columns, and the records that describe them.

A record of a call has its call as a row among all calls; what it names (communicator,
operation, stack) is already a row or code of the trace.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from functools import cache, partial
from importlib.resources import files
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from burstline.columns import Columns, Integers, Mask, concatenated, lookup, placed
from burstline.formats.intake import LARGEST, Calls, Defects, Details
from burstline.formats.raw.events.timeline import ThreadTimeline
from burstline.formats.raw.files.layout import OF_THE_CALL, RECORD, Kind, table_of
from burstline.model import CODES, NAMES, UNKNOWN

_PACKED: Final = table_of([Kind.SEND, Kind.POST, Kind.RECEIVE, Kind.PROBE, Kind.RMA])
_BEGUN: Final = table_of([Kind.SEND, Kind.POST])
_PLAIN: Final = table_of([Kind.COLLECTIVE, Kind.ROOT])
_SIZES: Final = {
    Kind.COLLECTIVE: ("b", "c"),
    Kind.SEND: ("c",),
    Kind.RECEIVE: ("c",),
    Kind.IO: ("b", "c"),
    Kind.RMA: ("c",),
}
_MOMENTS: Final = ("enter_ns", "leave_ns", "enter_seq", "leave_seq")

ENTRY: Final = np.dtype(
    [("record", RECORD), *((name, "<i8") for name in ("number", "call", *_MOMENTS))]
)
"""A record of a call that another slice needs: which one of the file, and its call."""


class Operations:
    """Codes of operations, numbered as they come: those that every trace has come first."""

    def __init__(self, numbers: Mapping[int, str]) -> None:
        self._numbers = numbers
        self._codes = dict(CODES)
        self.names = list(NAMES)

    def name(self, number: int) -> str:
        """What an operation is called."""
        return self._numbers.get(number) or f"MPI call {number}"

    def code(self, name: str) -> int:
        """The code of a name; a new one where it has none."""
        code = self._codes.setdefault(name, len(self.names))
        if code == len(self.names):
            self.names.append(name)
        return code

    def add(self, used: Integers, counts: Integers, defects: Defects) -> None:
        """Take in numbers that occur, each once, and how often."""
        for number, count in zip(used.tolist(), counts.tolist(), strict=True):
            self.code(self.name(number))
            if number not in self._numbers:
                defects.note("unknown_mpi_call", "info", f"number {number}", count)

    def codes(self, numbers: npt.NDArray[np.uint16]) -> npt.NDArray[np.int32]:
        """The code of each number; all of them have been added."""
        used, _ = occurring(numbers)
        rows = {number: self._codes[self.name(number)] for number in used.tolist()}
        return lookup(numbers, rows)


class CallBuilder:
    """Gathers calls and their records, one location after the other."""

    def __init__(
        self, numbers: Mapping[int, str], defects: Defects, operations: Operations | None
    ) -> None:
        self._defects = defects
        # those that are given, of a slice, hold all that occur, and are counted already
        self._operations = operations or Operations(numbers)
        self._is_counted = operations is not None
        self._calls: list[Columns] = []
        self._details: list[Columns] = []
        self._rows = 0

    def add(
        self, line: ThreadTimeline, communicators: Mapping[int, int], paths: Mapping[int, int]
    ) -> None:
        """Take in a location; ids of its process are given their rows."""
        self._add_calls(line, paths)
        self._add_details(line, communicators)
        self._rows += len(line.enter)

    @property
    def records(self) -> int:
        """Records of calls so far."""
        return sum(len(columns["kind"]) for columns in self._details)

    def add_foreign_records(
        self, entries: npt.NDArray[Any], location: int, communicators: Mapping[int, int]
    ) -> None:
        """Take in records of other slices, each with a call of its own."""
        none = np.zeros(len(entries), np.int64)
        columns = {name: entries[name] for name in ("call", *_MOMENTS)}
        columns |= {"location": none + location, "operation": none, "path": none + UNKNOWN}
        self._calls.append(columns)
        records = entries["record"]
        kind = np.ascontiguousarray(records["kind"])
        _, communicator = _named_communicators(records, kind, communicators)
        sizes = _sizes_of(records)
        _clear_absurd(kind, sizes)
        self._append_details(
            records,
            sizes,
            kind=kind,
            call=np.arange(self._rows, self._rows + len(entries)),
            location=none + location,
            index=entries["number"],
            communicator=communicator,
            variant=records["op"],
        )
        self._rows += len(entries)

    def _add_calls(self, line: ThreadTimeline, paths: Mapping[int, int]) -> None:
        count = len(line.enter)
        leave_ns, leave_seq = line.leaves()
        open_calls = np.flatnonzero(line.leave < 0)
        note = partial(self._defects.note_rows, place=f"{line.name}: ")
        text = f"call {{}} of {line.calls}"
        note("call_never_left", "loss", text, line.first_call + open_calls)
        left = line.leave[line.leave >= 0]
        failed = left[line.records["a"][left] != 0]
        if len(failed):
            record = line.records[failed[0]]
            name = self._operations.name(int(record["op"]))
            text = f"{line.name}: {name} returned {record['a']}"
            self._defects.note("call_failed", "info", text, len(failed))
        stack = line.records["a"][line.enter]
        path = lookup(stack, paths)
        note("stack_not_defined", "loss", "stack {}", stack[(path < 0) & (stack != 0)])
        self._calls.append(
            {
                "location": np.full(count, line.location),
                "call": np.arange(line.first_call, line.first_call + count),
                "operation": self._codes(line.records["op"][line.enter]),
                "enter_ns": line.time_ns[line.enter],
                "leave_ns": leave_ns,
                "enter_seq": line.seq[line.enter],
                "leave_seq": leave_seq,
                "path": path,
            }
        )

    def _codes(self, numbers: npt.NDArray[np.uint16]) -> npt.NDArray[np.int32]:
        if not self._is_counted:
            self._operations.add(*occurring(numbers), self._defects)
        return self._operations.codes(numbers)

    def _named(self, kind: npt.NDArray[np.uint16], given: npt.NDArray[np.uint16]) -> Integers:
        """What stands in `op`; above a bit code + 1 where a collective names an operation."""
        variant = given.astype(np.int64)
        named = names_operation(kind, given)
        codes = self._codes(given[named] >> np.uint16(1)).astype(np.int64)
        variant[named] = (codes + 1) << 1 | (variant[named] & 1)
        return variant

    def _add_details(self, line: ThreadTimeline, communicators: Mapping[int, int]) -> None:
        rows = line.of(*OF_THE_CALL)
        line.note(self._defects, "record_without_call", "loss", rows[line.call[rows] < 0])
        rows = rows[line.call[rows] >= 0]
        rows = rows[~_refused_messages(line, rows)]
        records, kind = line.records[rows], line.kind[rows]
        place, communicator = _named_communicators(records, kind, communicators)
        note = partial(self._defects.note_rows, place=f"{line.name}: ")
        lost = place[(place >= 0) & (communicator < 0)]
        note("communicator_not_defined", "loss", "communicator {}", lost)
        sizes = _sizes_of(records)
        note("size_absurd", "loss", "{} bytes", _clear_absurd(kind, sizes))
        self._append_details(
            records,
            sizes,
            kind=kind,
            call=line.call[rows] + self._rows,
            location=np.full(len(rows), line.location),
            index=line.number[rows],
            communicator=communicator,
            variant=self._named(kind, records["op"]),
        )

    def _append_details(
        self, records: npt.NDArray[Any], sizes: dict[str, Integers], **columns: npt.NDArray[Any]
    ) -> None:
        columns |= {
            "request": records["time"].view(np.int64),
            "partner": records["a"].view(np.int32),
            "tag": (records["b"] & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.int32),
            "first": sizes["b"],
            "second": sizes["c"],
        }
        # Copies: a view would keep the records in memory.
        self._details.append({name: np.array(columns[name], np.int64) for name in columns})

    def calls(self) -> Calls:
        """All calls."""
        columns = concatenated([column.name for column in fields(Calls)][:-1], self._calls)
        return Calls(**columns, names=tuple(self._operations.names))

    def details(self, own: range | None = None) -> Details:
        """All records of calls, of which some are read here."""
        columns = concatenated([column.name for column in fields(Details)][:-1], self._details)
        return Details(**columns, own=own)


def _refused_messages(line: ThreadTimeline, rows: Integers) -> npt.NDArray[np.bool_]:
    """Which records of calls are of messages that MPI refused: neither sent nor waited for."""
    left = line.leave
    done = (left < 0) | (line.records["a"][left] == 0)
    call, kind = line.call[rows], line.kind[rows]
    done[call[kind == Kind.RECEIVE]] = True
    return ~done[call] & _BEGUN[kind]


def _clear_absurd(kind: npt.NDArray[np.uint16], sizes: dict[str, Integers]) -> Integers:
    """Make sizes that cannot be 0; what they were, in the order of their records."""
    rows, absurd = [], []
    for sized, names in _SIZES.items():
        for name in names:
            size = sizes[name]
            rows.append(np.flatnonzero((kind == sized) & ((size < 0) | (size >= LARGEST))))
            absurd.append(size[rows[-1]])
            size[rows[-1]] = 0
    return np.concatenate(absurd)[np.argsort(np.concatenate(rows), kind="stable")]


def occurring(numbers: npt.NDArray[np.uint16]) -> tuple[Integers, Integers]:
    """The numbers that occur, ascending, and how often each does."""
    counts = np.bincount(numbers)
    used = np.flatnonzero(counts)
    return used, counts[used]


def names_operation(kind: npt.NDArray[np.uint16], op: npt.NDArray[np.uint16]) -> Mask:
    """Whether each record is of a collective that names another operation than its call."""
    named: Mask = (kind == Kind.COLLECTIVE) & (op > 1)
    return named


def _named_communicators(
    records: npt.NDArray[Any], kind: npt.NDArray[np.uint16], communicators: Mapping[int, int]
) -> tuple[Integers, Integers]:
    """The communicator that each record names, -1 where it names none, and its row."""
    packed, plain = _PACKED[kind], _PLAIN[kind]
    place = np.where(packed, records["b"] >> np.uint64(32), records["a"]).astype(np.int64)
    named = packed | plain
    place[~named] = UNKNOWN
    row = placed(lookup(place[named], communicators), named, len(kind), UNKNOWN)
    return place, row


def _sizes_of(records: npt.NDArray[Any]) -> dict[str, Integers]:
    return {name: records[name].view(np.int64).copy() for name in "bc"}


@cache
def operation_numbers() -> Mapping[int, str]:
    """The operation of each number, from the recorder's own table of calls."""
    text = files("burstline").joinpath("record", "calls.toml").read_text(encoding="utf-8")
    parts = (part for parts in tomllib.loads(text).values() for part in parts)
    rows = (row for part in parts for row in part.items() if row[0].isdecimal())
    names = {int(number): re.split(r"\W", row, maxsplit=1)[0] for number, row in rows}
    return {number: f"MPI_{name}" for number, name in sorted(names.items())}
