"""Other events of a trace become those of an archive."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline._core import Written
from burstline.columns import to_numpy
from burstline.formats.otf2.writing.order import Happened, Turn
from burstline.formats.walking import Walk
from burstline.schema import NO_VALUE, OTHER_EVENT_KINDS, VALUE_TYPES

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from burstline.columns import Integers, Mask
    from burstline.formats.otf2.writing.definitions import Defining
    from burstline.trace import Trace


_KIND: Final = {name: code for code, name in enumerate(OTHER_EVENT_KINDS)}
_TYPE: Final = {name: code for code, name in enumerate(VALUE_TYPES)}
_NUMBERS: Final = ("time_ns", "seq", "kind", "type", "value", "communicator")
_WORDS: Final = ("name", "text")
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
    """Events that no other table tells, of a trace on its way into an archive.

    Parameters
    ----------
    trace : Trace
        The trace.
    defining : Defining
        Takes definitions of parameters and attributes.
    """

    def __init__(self, trace: Trace, defining: Defining) -> None:
        self._walk = Walk(trace, "other_events")
        self._defining = defining
        self._communicators = defining.communicators.reference
        self._locations = np.array(defining.references, np.int64)

    def tell(self, happened: Happened, location: int, values: Integers) -> Integers:
        """Add what a location told.

        Parameters
        ----------
        happened : Happened
            Takes the events.
        location : int
            Not before one that was asked for already.
        values : ndarray of int64
            What events refer to.

        Returns
        -------
        ndarray of int64
            The values, and what these events refer to behind them.

        Notes
        -----
        O(events log events). Left out is what an archive cannot say: parameters of other
        types than it has, and what refers to something that it does not define.
        """
        rows = self._walk.of(location)
        if not rows.num_rows:
            return values
        told = _Told.of_rows(rows)
        self._threads(happened, told, location)
        for kind, written in _COMMUNICATORS.items():
            mine = told.of(kind)
            mine = mine.pick(_inside(mine["communicator"], self._communicators))
            mine.tell(happened, written, self._communicators[mine["communicator"]])
        self._parameters(happened, told.of("parameter"))
        self._attributes(happened, told.of("attribute"))
        given = self._programs(happened, told, len(values))
        return np.concatenate([values, np.array(given, np.int64)])

    def _threads(self, happened: Happened, told: _Told, location: int) -> None:
        """Add what threads and tasks did."""
        team = int(self._defining.teams[location])
        team = team if team >= 0 else _NOWHERE
        for kind, written in _THREADS.items():
            mine = told.of(kind)
            mine.tell(happened, written, _NOWHERE, mine.values())
        for kind, written in _TASKS.items():
            mine = told.of(kind)
            task = mine.values()
            mine.tell(happened, written, team, task >> 32 & _NOWHERE, task & _NOWHERE)

    def _programs(self, happened: Happened, told: _Told, first: int) -> list[int]:
        """Add begins and ends of programs; give their arguments, numbered from `first`."""
        mine = told.of("program_begin")
        added: list[int] = []
        where, count = [], []
        for words in mine.words_of("text"):
            given = [self._defining.text(one) for one in _split(words)]
            where.append(first + len(added))
            count.append(len(given))
            added += given
        name = mine.looked_up("name", self._defining.text)
        places = np.array(where, np.int64), np.array(count, np.int64)
        mine.tell(happened, Written.PROGRAM_BEGIN, name, *places)
        mine = told.of("program_end")
        mine.tell(happened, Written.PROGRAM_END, mine["value"])
        return added

    def _parameters(self, happened: Happened, told: _Told) -> None:
        for form, written in _PARAMETERS.items():
            mine = told.pick(told["type"] == _TYPE[form])
            reference = mine.looked_up("name", partial(self._defining.parameter, form=form))
            is_text = form == "string"
            value = mine.looked_up("text", self._defining.text) if is_text else mine.values()
            mine.tell(happened, written, reference, value)

    def _attributes(self, happened: Happened, told: _Told) -> None:
        form = told["type"]
        word, named = form == _TYPE["string"], form == _TYPE["communicator"]
        placed = form == _TYPE["location"]
        known = word | ((form >= 0) & (form < _TYPE["string"]))
        known |= named & _inside(told["communicator"], self._communicators)
        known |= placed & _inside(told["value"], self._locations)
        told, word, named, placed = (
            told.pick(known),
            word[known],
            named[known],
            placed[known],
        )
        form, value = told["type"], told.values()
        value[word] = told.pick(word).looked_up("text", self._defining.text)
        value[named] = self._communicators[told["communicator"][named]]
        value[placed] = self._locations[value[placed]]
        reference = np.zeros(len(form), np.int64)
        for code in np.unique(form).tolist():
            mine = form == code
            give = partial(self._defining.attribute, code=code)
            reference[mine] = told.pick(mine).looked_up("name", give)
        happened.add_attributes(np.stack([told["seq"], reference, form, value], axis=1))


class _Told:
    """Some rows of `other_events`: columns of integers, and the words that some number.

    Parameters
    ----------
    columns : dict of str to ndarray of int64
        The columns.
    words : dict of str to list of str
        Of columns whose values are places in it, -1 for none.
    """

    def __init__(self, columns: dict[str, Integers], words: dict[str, list[str]]) -> None:
        self._columns, self._words = columns, words

    @classmethod
    def of_rows(cls, rows: pa.Table) -> _Told:
        columns = {name: to_numpy(rows[name]).astype(np.int64) for name in _NUMBERS}
        words: dict[str, list[str]] = {}
        for name in _WORDS:
            coded = rows[name].combine_chunks().dictionary_encode()
            columns[name] = coded.indices.fill_null(-1).to_numpy().astype(np.int64)
            words[name] = coded.dictionary.to_pylist()
        return cls(columns, words)

    def __getitem__(self, name: str) -> Integers:
        return self._columns[name]

    def pick(self, chosen: Mask) -> _Told:
        picked = {name: column[chosen] for name, column in self._columns.items()}
        return _Told(picked, self._words)

    def of(self, kind: str) -> _Told:
        return self.pick(self["kind"] == _KIND[kind])

    def values(self) -> Integers:
        """Give the values, 0 where there is none."""
        return np.where(self["value"] == NO_VALUE, 0, self["value"])

    def words_of(self, name: str) -> list[str]:
        """Give the words of a column, empty where there are none."""
        words = [*self._words[name], ""]
        return [words[one] for one in self[name].tolist()]

    def looked_up(self, name: str, give: Callable[[str], int]) -> Integers:
        """Give what each word of a column becomes; each is looked up once."""
        used, place = np.unique(self[name], return_inverse=True)
        words = [*self._words[name], ""]
        return np.array([give(words[one]) for one in used.tolist()], np.int64)[
            place.reshape(-1)
        ]

    def tell(self, happened: Happened, written: Written, *arguments: int | Integers) -> None:
        happened.add(written, self["time_ns"], self["seq"], Turn.START, *arguments)


def _inside(rows: Integers, table: Integers) -> Mask:
    """Tell which numbers are rows of a table."""
    return (rows >= 0) & (rows < len(table))


def _split(text: str) -> list[str]:
    """Split the arguments of a program."""
    try:
        return shlex.split(text)
    except ValueError:  # not told by a reader of ours
        return [text]
