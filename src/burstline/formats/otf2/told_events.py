"""Other events of a trace become those of an archive."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline.formats.otf2.happened import Happened, Turn, Written
from burstline.formats.walking import Walk
from burstline.schema import NO_VALUE, VALUE_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from burstline.formats.otf2.defining import Defining
    from burstline.trace import Trace

    Integers = npt.NDArray[np.int64]
    Row = dict[str, Any]

_STRING: Final = VALUE_TYPES.index("string")
_PLAIN: Final = frozenset(VALUE_TYPES[:_STRING])
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
        self._references = defining.communicators.reference

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
        """
        rows = self._walk.of(location)
        if not rows.num_rows:
            return values
        added: list[int] = []
        events: dict[int, list[tuple[int, ...]]] = {}
        attributes: list[tuple[int, ...]] = []
        for row in rows.to_pylist():
            if row["kind"] == "attribute":
                attributes += self._attribute(row)
                continue
            for kind, *arguments in self._event(row, location, added, len(values)):
                stamp = row["time_ns"], row["seq"]
                events.setdefault(kind, []).append((*stamp, *arguments))
        for kind, told in events.items():
            columns = np.array(told, np.int64).T
            happened.add(kind, columns[0], columns[1], Turn.START, *columns[2:])
        happened.add_attributes(np.array(attributes, np.int64).reshape(-1, 4))
        return np.concatenate([values, np.array(added, np.int64)])

    def _event(
        self, row: Row, location: int, added: list[int], first: int
    ) -> Iterable[tuple[int, ...]]:
        """Give the kind and the arguments of an event, nothing where it cannot be written."""
        kind, value = row["kind"], row["value"] or 0
        text = self._defining.text
        if kind == "program_begin":
            given = [text(one) for one in _words(row["text"])]
            added += given
            where = first + len(added) - len(given)
            yield Written.PROGRAM_BEGIN, text(row["name"] or ""), where, len(given)
        elif kind == "program_end":
            yield Written.PROGRAM_END, NO_VALUE if row["value"] is None else value
        elif kind in _COMMUNICATORS and row["communicator"] is not None:
            yield _COMMUNICATORS[kind], int(self._references[row["communicator"]])
        elif kind in _THREADS:
            yield _THREADS[kind], _NOWHERE, value
        elif kind in _TASKS:
            team = int(self._defining.teams[location])
            reference = team if team >= 0 else _NOWHERE
            yield _TASKS[kind], reference, value >> 32 & _NOWHERE, value & _NOWHERE
        elif kind == "parameter" and row["type"] in _PARAMETERS:
            told = text(row["text"] or "") if row["type"] == "string" else value
            reference = self._defining.parameter(row["name"] or "", row["type"])
            yield _PARAMETERS[row["type"]], reference, told

    def _attribute(self, row: Row) -> Iterable[tuple[int, ...]]:
        """Give ordinal, attribute, type and value; nothing where it cannot be written."""
        form, value = row["type"], row["value"]
        if form == "string":
            value = self._defining.text(row["text"] or "")
        elif form == "communicator" and row["communicator"] is not None:
            value = int(self._references[row["communicator"]])
        elif form == "location" and value is not None:
            value = self._defining.references[value]
        elif form not in _PLAIN:
            return
        code = VALUE_TYPES.index(form)
        yield row["seq"], self._defining.attribute(row["name"] or "", code), code, value or 0


def _words(text: str | None) -> list[str]:
    """Split the arguments of a program."""
    try:
        return shlex.split(text or "")
    except ValueError:  # not told by a reader of ours
        return [text or ""]
