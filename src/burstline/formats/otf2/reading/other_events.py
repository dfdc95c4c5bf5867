"""Events of an archive that no other table tells: programs, parameters, attributes, tasks.

::

    kernel's records ─► names and texts looked up, communicators by row ─► `other_events`

What attributes refer to is told where a trace has it: texts, locations and communicators.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from burstline.schema import NO_VALUE, OTHER_EVENT_KINDS, UNKNOWN, VALUE_TYPES
from burstline.schema.arrays import arrow_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from burstline.columns import Columns, Integers, Mask
    from burstline.formats.otf2.reading.communicators import Communicators
    from burstline.formats.otf2.reading.definitions import Definitions
    from burstline.formats.otf2.reading.places import Standing


_PARAMETER, _TEXT_PARAMETER, _ATTRIBUTE, _PROGRAM, _ARGUMENT = 104, 105, 106, 107, 108
_KINDS: Final = {
    _PARAMETER: "parameter",
    _TEXT_PARAMETER: "parameter",
    _ATTRIBUTE: "attribute",
    _PROGRAM: "program_begin",
    109: "program_end",
    110: "communicator_created",
    111: "communicator_destroyed",
    112: "thread_created",
    113: "thread_begun",
    114: "thread_awaited",
    115: "thread_ended",
    116: "task_created",
    117: "task_switched",
    118: "task_completed",
}
_FIRST: Final = min(_KINDS)
_CODES: Final = np.array(
    [
        OTHER_EVENT_KINDS.index(_KINDS[one]) if one in _KINDS else UNKNOWN
        for one in range(_FIRST, max(_KINDS) + 1)
    ],
    np.int8,
)
_COMMUNICATORS: Final = (110, 111)
_TASKS: Final = (116, 117, 118)
_TYPE: Final = {name: code for code, name in enumerate(VALUE_TYPES)}
_LARGEST: Final = 0xFFFFFFFF


def other_event_table(
    records: Columns, defined: Definitions, standing: Standing, communicators: Communicators
) -> pa.Columns:
    """Give the table `other_events` of the records that belong there.

    Parameters
    ----------
    records : dict of str to ndarray
        The kernel's table.
    defined : Definitions
        What the archive defines.
    standing : Standing
        Where locations stand.
    communicators : Communicators
        Those of MPI.

    Returns
    -------
    pyarrow.Columns
        By location and ordinal; an attribute has the ordinal of its event. A task is told by
        its number, with that of the thread that created it in the upper half.
    """
    at = np.flatnonzero(np.isin(records["kind"], list(_KINDS)))
    told = {name: column[at].astype(np.int64) for name, column in records.items()}
    kind, value = told["kind"], told["a"].copy()
    attribute, parameter = kind == _ATTRIBUTE, np.isin(kind, (_PARAMETER, _TEXT_PARAMETER))
    task = np.isin(kind, _TASKS)
    value[parameter], value[attribute] = told["b"][parameter], told["c"][attribute]
    value[task] = told["a"][task] << 32 | told["b"][task]
    form = np.full(len(at), UNKNOWN)
    form[attribute] = np.where(
        told["b"][attribute] < len(VALUE_TYPES), told["b"][attribute], UNKNOWN
    )
    number = np.where(told["c"] > 0, _TYPE["uint64"], _TYPE["int64"])
    form[kind == _PARAMETER] = number[kind == _PARAMETER]
    form[kind == _TEXT_PARAMETER] = _TYPE["string"]
    words = form == _TYPE["string"]
    communicator = np.full(len(at), UNKNOWN)
    named = np.isin(kind, _COMMUNICATORS) | (attribute & (form == _TYPE["communicator"]))
    process = standing.places.process[told["location"]]
    communicator[named] = communicators.rows(value[named], process[named])
    of_location = attribute & (form == _TYPE["location"])
    value[of_location] = _places(value[of_location], standing)
    value[words | (communicator >= 0) | (kind == _PROGRAM)] = NO_VALUE
    return arrow_table(
        "other_events",
        {
            "location": told["location"],
            "seq": told["seq"],
            "time_ns": told["time_ns"],
            "kind": _CODES[kind - _FIRST],
            "name": _names(told, defined),
            "type": form,
            "value": value,
            "text": _texts(records, told, words, defined),
            "communicator": communicator,
        },
    )


def _places(references: Integers, standing: Standing) -> Integers:
    """Give the rows of locations that are named by their references."""
    wanted, known = references.view(np.uint64), standing.references
    order = np.argsort(known)
    row = order[np.minimum(np.searchsorted(known, wanted, sorter=order), len(known) - 1)]
    return np.where(known[row] == wanted, row, NO_VALUE)


def _looked_up(keys: Integers, give: Callable[[int], str | None]) -> pa.Array:
    """Give the text of each key; each key is looked up once."""
    used, place = np.unique(keys, return_inverse=True)
    words = pa.array([give(one) for one in used.tolist()], pa.string())
    return words.take(pa.array(place.reshape(-1)))


def _names(told: Columns, defined: Definitions) -> pa.Array:
    """Give the names of programs, parameters and attributes."""
    tables = {
        _PARAMETER: defined.parameters,
        _TEXT_PARAMETER: defined.parameters,
        _ATTRIBUTE: defined.attributes,
    }

    def name(key: int) -> str | None:
        kind, reference = divmod(key, _LARGEST + 1)
        if kind == _PROGRAM:
            return defined.text(reference)
        if kind not in tables:
            return None
        known = tables[kind].get(reference)
        return f"{reference}" if known is None else defined.text(known[0])

    return _looked_up(told["kind"] << 32 | told["a"] & _LARGEST, name)


def _texts(records: Columns, told: Columns, words: Mask, defined: Definitions) -> pa.Array:
    """Give values that are texts, and the arguments of programs."""
    reference = np.where(told["kind"] == _ATTRIBUTE, told["c"], told["b"])
    texts = _looked_up(
        np.where(words, reference & _LARGEST, -1),
        lambda one: None if one < 0 else defined.text(one),
    )
    given: dict[tuple[int, int], list[str]] = {}
    at = np.flatnonzero(records["kind"] == _ARGUMENT)
    columns = [records[name][at].tolist() for name in ("location", "seq", "a")]
    for location, seq, argument in zip(*columns, strict=True):
        given.setdefault((location, seq), []).append(defined.text(argument & _LARGEST))
    if not given:
        return texts
    listed = texts.to_pylist()
    for row in np.flatnonzero(told["kind"] == _PROGRAM).tolist():
        event = int(told["location"][row]), int(told["seq"][row])
        if event in given:
            listed[row] = shlex.join(given[event])
    return pa.array(listed, pa.string())
