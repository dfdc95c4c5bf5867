"""Other events of a trace, and parameters among its raw events, as those of an archive."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline._core import Written
from burstline.extrae import PARAMETER_TYPES
from burstline.formats.otf2.writing.order import Turn, columns_of
from burstline.formats.walk import Walk
from burstline.schema import NO_VALUE, OTHER_EVENT_KINDS, VALUE_TYPES

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from burstline.columns import Columns, Integers, Mask
    from burstline.formats.otf2.writing.definitions import Definitions
    from burstline.formats.otf2.writing.order import Events
    from burstline.trace import Trace


_TYPE: Final = {name: code for code, name in enumerate(VALUE_TYPES)}
_NUMBERS: Final = ("time_ns", "seq", "kind", "type", "value", "communicator")
_WORDS: Final = ("name", "text")
_RAW: Final = ("seq", "time_ns", "type", "value")
_NOWHERE: Final = 0xFFFFFFFF
_THREADS: Final = {
    "thread_created": Written.THREAD_CREATED,
    "thread_begun": Written.THREAD_BEGUN,
    "thread_awaited": Written.THREAD_AWAITED,
    "thread_ended": Written.THREAD_ENDED,
}
_TASKS: Final = {
    "task_created": Written.TASK_CREATED,
    "task_switched": Written.TASK_SWITCHED,
    "task_completed": Written.TASK_COMPLETED,
}
_COMMUNICATORS: Final = {
    "communicator_created": Written.COMMUNICATOR_CREATED,
    "communicator_destroyed": Written.COMMUNICATOR_DESTROYED,
}
_PARAMETERS: Final = {
    "int64": Written.PARAMETER,
    "uint64": Written.UNSIGNED_PARAMETER,
    "string": Written.TEXT_PARAMETER,
}


class OtherEvents:
    """The events of a trace that are in no other table.

    Left out is what an archive cannot say: parameters of other types than it has, and what
    refers to something that it does not define.
    """

    def __init__(self, trace: Trace, definitions: Definitions) -> None:
        self._walk = Walk(trace, "other_events")
        self._definitions = definitions
        self._communicators = definitions.communicators.reference
        self._locations = np.array(definitions.references, np.int64)

    def add(self, events: Events, location: int) -> None:
        """Add those of a location, which is not before one that was asked for already."""
        table = self._walk.of(location)
        if not table.num_rows:
            return
        rows = _Rows.of_table(table)
        self._add_threads(events, rows, location)
        for kind, written in _COMMUNICATORS.items():
            some = rows.of(kind)
            some = some.pick(_inside(some["communicator"], self._communicators))
            some.add_to(events, written, self._communicators[some["communicator"]])
        self._add_parameters(events, rows.of("parameter"))
        self._add_attributes(events, rows.of("attribute"))
        self._add_programs(events, rows)

    def _add_threads(self, events: Events, rows: _Rows, location: int) -> None:
        """Add what threads and tasks did."""
        team = int(self._definitions.teams[location])
        team = team if team >= 0 else _NOWHERE
        for kind, written in _THREADS.items():
            some = rows.of(kind)
            some.add_to(events, written, _NOWHERE, some.values())
        for kind, written in _TASKS.items():
            some = rows.of(kind)
            task = some.values()
            some.add_to(events, written, team, task >> 32 & _NOWHERE, task & _NOWHERE)

    def _add_programs(self, events: Events, rows: _Rows) -> None:
        """Add begins and ends of programs; texts of their arguments are values."""
        begins = rows.of("program_begin")
        text = self._definitions.text
        arguments = [[text(word) for word in _split(line)] for line in begins.words("text")]
        places = [(events.add_values(some), len(some)) for some in arguments]
        first, count = np.array(places, np.int64).reshape(-1, 2).T
        begins.add_to(events, Written.PROGRAM_BEGIN, begins.defined("name", text), first, count)
        ends = rows.of("program_end")
        ends.add_to(events, Written.PROGRAM_END, ends["value"])

    def _add_parameters(self, events: Events, rows: _Rows) -> None:
        for form, written in _PARAMETERS.items():
            some = rows.pick(rows["type"] == _TYPE[form])
            reference = some.defined("name", partial(self._definitions.parameter, form=form))
            is_text = form == "string"
            value = some.defined("text", self._definitions.text) if is_text else some.values()
            some.add_to(events, written, reference, value)

    def _add_attributes(self, events: Events, rows: _Rows) -> None:
        form = rows["type"]
        known = (form >= 0) & (form <= _TYPE["string"])
        named = form == _TYPE["communicator"]
        known |= named & _inside(rows["communicator"], self._communicators)
        placed = form == _TYPE["location"]
        known |= placed & _inside(rows["value"], self._locations)
        rows, named, placed = rows.pick(known), named[known], placed[known]
        form, value = rows["type"], rows.values()
        is_text = form == _TYPE["string"]
        value[is_text] = rows.pick(is_text).defined("text", self._definitions.text)
        value[named] = self._communicators[rows["communicator"][named]]
        value[placed] = self._locations[value[placed]]
        reference = np.zeros(len(form), np.int64)
        for code in np.unique(form).tolist():
            define = partial(self._definitions.attribute, code=code)
            reference[form == code] = rows.pick(form == code).defined("name", define)
        events.add_attributes(rows["seq"], reference, form, value)


class _Rows:
    """Some rows of `other_events`: columns of integers, and the words that some number."""

    def __init__(self, columns: Columns, words: dict[str, list[str]]) -> None:
        self._columns, self._words = columns, words

    @classmethod
    def of_table(cls, table: pa.Table) -> _Rows:
        columns = columns_of(table, _NUMBERS)
        words: dict[str, list[str]] = {}
        for name in _WORDS:
            coded = table[name].combine_chunks().dictionary_encode()
            columns[name] = coded.indices.fill_null(-1).to_numpy().astype(np.int64)
            words[name] = [*coded.dictionary.to_pylist(), ""]
        return cls(columns, words)

    def __getitem__(self, name: str) -> Integers:
        return self._columns[name]

    def pick(self, chosen: Mask) -> _Rows:
        picked = {name: column[chosen] for name, column in self._columns.items()}
        return _Rows(picked, self._words)

    def of(self, kind: str) -> _Rows:
        return self.pick(self["kind"] == OTHER_EVENT_KINDS.index(kind))

    def values(self) -> Integers:
        """The values, 0 where there is none."""
        return np.where(self["value"] == NO_VALUE, 0, self["value"])

    def words(self, name: str) -> list[str]:
        """The words of a column, empty where there are none."""
        return [self._words[name][code] for code in self[name].tolist()]

    def defined(self, name: str, define: Callable[[str], int]) -> Integers:
        """What each word of a column is defined as; each is looked up once."""
        used, which = np.unique(self[name], return_inverse=True)
        references = [define(self._words[name][code]) for code in used.tolist()]
        return np.array(references, np.int64)[which.reshape(-1)]

    def add_to(self, events: Events, kind: Written, *arguments: int | Integers) -> None:
        events.add(kind, Turn.START, (self["time_ns"], self["seq"]), *arguments)


class Parameters:
    """The parameters among the raw events of a trace, as one has that was a Paraver file."""

    def __init__(self, trace: Trace, definitions: Definitions) -> None:
        self._walk = Walk(trace, "events", ("location", *_RAW)) if trace.has_raw else None
        self._texts: dict[int, dict[int, int]] = {}
        self._references: dict[int, int] = {}
        labels: dict[int, dict[int, str]] = {}
        for row in trace.event_values.to_pylist():
            labels.setdefault(row["group"], {})[row["value"]] = row["label"]
        for row in trace.event_types.to_pylist():
            if row["type"] in PARAMETER_TYPES:
                texts = labels.get(row["group"], {})
                form = "string" if texts else "int64"
                self._references[row["type"]] = definitions.parameter(row["label"], form)
                self._texts[row["type"]] = {
                    value: definitions.text(label) for value, label in texts.items()
                }

    def add(self, events: Events, location: int) -> None:
        """Add those of a location, which is not before one that was asked for already."""
        if self._walk is None or not self._texts:
            return
        seq, time_ns, kinds, values = columns_of(self._walk.of(location), _RAW).values()
        for kind in np.intersect1d(kinds, list(self._texts)).tolist():
            some = np.flatnonzero(kinds == kind)
            texts, value = self._texts[kind], values[some]
            if texts:
                value = np.array([texts.get(number, 0) for number in value.tolist()], np.int64)
            written = Written.TEXT_PARAMETER if texts else Written.PARAMETER
            moment = time_ns[some], seq[some]
            events.add(written, Turn.START, moment, self._references[kind], value)


def _inside(rows: Integers, table: Integers) -> Mask:
    """Which numbers are rows of a table."""
    return (rows >= 0) & (rows < len(table))


def _split(line: str) -> list[str]:
    """The arguments of a program."""
    try:
        return shlex.split(line)
    except ValueError:  # quotes without an end, in a file that another reader wrote
        return [line]
