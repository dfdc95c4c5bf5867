"""The table `other_events`, and parameters among raw events, as events of an archive."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa

from burstline._core import Defined, Written
from burstline.columns import Columns, Integers, Mask, coded, mapped
from burstline.extrae import PARAMETER_TYPES
from burstline.formats.otf2.numbers import NOWHERE
from burstline.formats.otf2.writing.definitions import WrittenDefinitions
from burstline.formats.otf2.writing.order import OrderedEvents, Turn, columns_of
from burstline.formats.walk import Walk
from burstline.model import NO_VALUE, OTHER_EVENT_KINDS, VALUE_TYPES, Trace

_TYPE: Final = {name: code for code, name in enumerate(VALUE_TYPES)}
_NUMBERS: Final = ("time_ns", "seq", "kind", "type", "value", "communicator")
_WORDS: Final = ("name", "text")
_RAW: Final = ("seq", "time_ns", "type", "value")
_THREADS: Final = ("thread_created", "thread_begun", "thread_awaited", "thread_ended")
_TASKS: Final = ("task_created", "task_switched", "task_completed")
_COMMUNICATORS: Final = ("communicator_created", "communicator_destroyed")
_PARAMETERS: Final = {
    "int64": (Written.PARAMETER, 1),
    "uint64": (Written.UNSIGNED_PARAMETER, 2),
    "string": (Written.TEXT_PARAMETER, 0),
}
"""Events of parameters, and the format's numbers of their types."""


class OtherEvents:
    """The table `other_events`, but for what an archive has no type or definition for."""

    def __init__(self, trace: Trace, definitions: WrittenDefinitions) -> None:
        self._walk = Walk(trace, "other_events")
        self._definitions = definitions
        self._communicators = definitions.communicators.reference
        self._locations = np.array(definitions.references, np.int64)

    def add(self, events: OrderedEvents, location: int) -> None:
        """Add those of a location, which is not before the last one asked for."""
        table = self._walk.of(location)
        if not table.num_rows:
            return
        rows = _OtherRows.of_table(table)
        self._add_threads(events, rows, location)
        for kind in _COMMUNICATORS:
            chosen = rows.of(kind)
            chosen = chosen.pick(_is_row_of(chosen["communicator"], self._communicators))
            reference = self._communicators[chosen["communicator"]]
            chosen.add_to(events, Written[kind.upper()], reference)
        self._add_parameters(events, rows.of("parameter"))
        self._add_attributes(events, rows.of("attribute"))
        self._add_programs(events, rows)

    def _add_threads(self, events: OrderedEvents, rows: _OtherRows, location: int) -> None:
        team = int(self._definitions.teams[location])
        team = team if team >= 0 else NOWHERE
        for kind in _THREADS:
            chosen = rows.of(kind)
            chosen.add_to(events, Written[kind.upper()], NOWHERE, chosen.values())
        for kind in _TASKS:
            chosen = rows.of(kind)
            thread, task = chosen.values() >> 32 & NOWHERE, chosen.values() & NOWHERE
            chosen.add_to(events, Written[kind.upper()], team, thread, task)

    def _add_programs(self, events: OrderedEvents, rows: _OtherRows) -> None:
        begins = rows.of("program_begin")
        text = self._definitions.text
        arguments = [
            [text(word) for word in _split_arguments(line)] for line in begins.words("text")
        ]
        places = [(events.add_values(texts), len(texts)) for texts in arguments]
        first, count = np.array(places, np.int64).reshape(-1, 2).T
        begins.add_to(events, Written.PROGRAM_BEGIN, begins.defined("name", text), first, count)
        ends = rows.of("program_end")
        ends.add_to(events, Written.PROGRAM_END, ends["value"])

    def _add_parameters(self, events: OrderedEvents, rows: _OtherRows) -> None:
        define, text = self._definitions.named, self._definitions.text
        for form, (written, code) in _PARAMETERS.items():
            chosen = rows.pick(rows["type"] == _TYPE[form])
            reference = chosen.defined("name", define, Defined.PARAMETER, code)
            value = chosen.defined("text", text) if form == "string" else chosen.values()
            chosen.add_to(events, written, reference, value)

    def _add_attributes(self, events: OrderedEvents, rows: _OtherRows) -> None:
        form = rows["type"]
        is_written = (form >= 0) & (form <= _TYPE["string"])
        named = form == _TYPE["communicator"]
        is_written |= named & _is_row_of(rows["communicator"], self._communicators)
        placed = form == _TYPE["location"]
        is_written |= placed & _is_row_of(rows["value"], self._locations)
        rows, named, placed = rows.pick(is_written), named[is_written], placed[is_written]
        form, value = rows["type"], rows.values()
        is_text = form == _TYPE["string"]
        value[is_text] = rows.pick(is_text).defined("text", self._definitions.text)
        value[named] = self._communicators[rows["communicator"][named]]
        value[placed] = self._locations[value[placed]]
        reference = np.zeros(len(form), np.int64)
        for code in np.unique(form).tolist():
            define, chosen = self._definitions.named, form == code
            reference[chosen] = rows.pick(chosen).defined(
                "name", define, Defined.ATTRIBUTE, code
            )
        # An event has one attribute of a name: the last that was told.
        named = np.stack([rows["seq"], reference])[:, ::-1]
        last = len(form) - 1 - np.unique(named, axis=1, return_index=True)[1]
        columns = (rows["seq"], reference, form, value)
        events.add_attributes(*(column[np.sort(last)] for column in columns))


class _OtherRows:
    """Rows of `other_events`: columns of integers, and the words that codes stand for."""

    def __init__(self, columns: Columns, words: dict[str, list[str]]) -> None:
        self._columns, self._words = columns, words

    @classmethod
    def of_table(cls, table: pa.Table) -> _OtherRows:
        columns = columns_of(table, _NUMBERS)
        words: dict[str, list[str]] = {}
        for name in _WORDS:
            codes, texts = coded(table[name].dictionary_encode())
            columns[name], words[name] = codes.astype(np.int64), [*texts, ""]
        return cls(columns, words)

    def __getitem__(self, name: str) -> Integers:
        return self._columns[name]

    def pick(self, chosen: Mask) -> _OtherRows:
        picked = {name: column[chosen] for name, column in self._columns.items()}
        return _OtherRows(picked, self._words)

    def of(self, kind: str) -> _OtherRows:
        return self.pick(self["kind"] == OTHER_EVENT_KINDS.index(kind))

    def values(self) -> Integers:
        """The values, 0 where there is none."""
        return np.where(self["value"] == NO_VALUE, 0, self["value"])

    def words(self, name: str) -> list[str]:
        """The words of a column, empty where there are none."""
        return [self._words[name][code] for code in self[name].tolist()]

    def defined(self, name: str, define: Callable[..., int], *how: int) -> Integers:
        """The reference of each word of a column, which is defined once."""
        words = self._words[name]
        return mapped(lambda code: define(words[code], *how), self[name])

    def add_to(self, events: OrderedEvents, kind: Written, *arguments: int | Integers) -> None:
        events.add(kind, Turn.START, (self["time_ns"], self["seq"]), *arguments)


class Parameters:
    """The parameters among the raw events of a trace that was a Paraver file."""

    def __init__(self, trace: Trace, definitions: WrittenDefinitions) -> None:
        self._walk = Walk(trace, "events", ("location", *_RAW)) if trace.has_raw else None
        self._texts: dict[int, dict[int, int]] = {}
        self._references: dict[int, int] = {}
        labels: dict[int, dict[int, str]] = {}
        for row in trace.event_values.to_pylist():
            labels.setdefault(row["group"], {})[row["value"]] = row["label"]
        for row in trace.event_types.to_pylist():
            if row["type"] in PARAMETER_TYPES:
                texts = labels.get(row["group"], {})
                _, code = _PARAMETERS["string" if texts else "int64"]
                reference = definitions.named(row["label"], Defined.PARAMETER, code)
                self._references[row["type"]] = reference
                self._texts[row["type"]] = {
                    value: definitions.text(label) for value, label in texts.items()
                }

    def add(self, events: OrderedEvents, location: int) -> None:
        """Add those of a location, which is not before the last one asked for."""
        if self._walk is None or not self._texts:
            return
        seq, time_ns, kinds, values = columns_of(self._walk.of(location), _RAW).values()
        for kind in np.intersect1d(kinds, list(self._texts)).tolist():
            rows = np.flatnonzero(kinds == kind)
            texts, value = self._texts[kind], values[rows]
            if texts:
                value = np.array([texts.get(number, 0) for number in value.tolist()], np.int64)
            written = Written.TEXT_PARAMETER if texts else Written.PARAMETER
            moment = time_ns[rows], seq[rows]
            events.add(written, Turn.START, moment, self._references[kind], value)


def _is_row_of(rows: Integers, table: Integers) -> Mask:
    return (rows >= 0) & (rows < len(table))


def _split_arguments(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # quotes without an end, in a file that another reader wrote
        return [line]
