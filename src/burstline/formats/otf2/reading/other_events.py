"""Events of an archive that no other table has: programs, parameters, attributes, tasks.

::

    kernel's records ─► names and texts looked up, communicators by row ─► `other_events`
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from burstline._core import RecordKind
from burstline.schema import NO_VALUE, OTHER_EVENT_KINDS, UNKNOWN, VALUE_TYPES, arrow_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from burstline.columns import Integers, Mask
    from burstline.formats.otf2.reading.communicators import Communicators
    from burstline.formats.otf2.reading.definitions import Definitions
    from burstline.formats.otf2.reading.places import Standing
    from burstline.formats.otf2.reading.records import Records


_KINDS: Final = [getattr(RecordKind, kind.upper()) for kind in OTHER_EVENT_KINDS]
_CODES: Final = np.full(max(RecordKind) + 1, UNKNOWN, np.int8)
_CODES[_KINDS] = np.arange(len(_KINDS))
_COMMUNICATORS: Final = (
    RecordKind.COMMUNICATOR_CREATED,
    RecordKind.COMMUNICATOR_DESTROYED,
)
_TYPE: Final = {name: code for code, name in enumerate(VALUE_TYPES)}
_LARGEST: Final = 0xFFFFFFFF


def other_event_table(
    records: Records, defined: Definitions, standing: Standing, communicators: Communicators
) -> pa.Table:
    """The table `other_events`, by location and ordinal; an attribute has that of its event."""
    events = records.of(*_KINDS)
    kind, value = events["kind"], events["value"].copy()
    attribute = kind == RecordKind.ATTRIBUTE
    form = np.where(events["type"] < len(VALUE_TYPES), events["type"], UNKNOWN)
    words = form == _TYPE["string"]
    communicator = np.full(len(events), UNKNOWN)
    named = np.isin(kind, _COMMUNICATORS) | (attribute & (form == _TYPE["communicator"]))
    process = standing.places.process[events["location"]]
    communicator[named] = communicators.rows(value[named], process[named])
    of_location = attribute & (form == _TYPE["location"])
    value[of_location] = _places(value[of_location], standing)
    value[words | (communicator >= 0) | (kind == RecordKind.PROGRAM_BEGIN)] = NO_VALUE
    return arrow_table(
        "other_events",
        {
            "location": events["location"],
            "seq": events["seq"],
            "time_ns": events["time_ns"],
            "kind": _CODES[kind],
            "name": _names(events, defined),
            "type": form,
            "value": value,
            "text": _texts(records, events, words, defined),
            "communicator": communicator,
        },
    )


def _places(references: Integers, standing: Standing) -> Integers:
    """The rows of locations by their references."""
    wanted, defined = references.view(np.uint64), standing.references
    order = np.argsort(defined)
    row = order[np.minimum(np.searchsorted(defined, wanted, sorter=order), len(defined) - 1)]
    return np.where(defined[row] == wanted, row, NO_VALUE)


def _looked_up(keys: Integers, text_of: Callable[[int], str | None]) -> pa.Array:
    """The text of each key; each key is looked up once."""
    distinct, place = np.unique(keys, return_inverse=True)
    words = pa.array([text_of(key) for key in distinct.tolist()], pa.string())
    return words.take(pa.array(place.reshape(-1)))


def _names(events: Records, defined: Definitions) -> pa.Array:
    """The names of programs, parameters and attributes."""
    tables = {
        int(RecordKind.PARAMETER): defined.parameters,
        int(RecordKind.ATTRIBUTE): defined.attributes,
    }

    def name(key: int) -> str | None:
        kind, reference = divmod(key, _LARGEST + 1)
        if kind == RecordKind.PROGRAM_BEGIN:
            return defined.text(reference)
        if kind not in tables:
            return None
        definition = tables[kind].get(reference)
        return f"{reference}" if definition is None else defined.text(definition[0])

    return _looked_up(events["kind"].astype(np.int64) << 32 | events["name"] & _LARGEST, name)


def _texts(records: Records, events: Records, words: Mask, defined: Definitions) -> pa.Array:
    """Values that are texts, and the arguments of programs."""
    texts = _looked_up(
        np.where(words, events["value"] & _LARGEST, -1),
        lambda reference: None if reference < 0 else defined.text(reference),
    )
    given: dict[tuple[int, int], list[str]] = {}
    arguments = records.of(RecordKind.PROGRAM_ARGUMENT)
    columns = [arguments[name].tolist() for name in ("location", "seq", "value")]
    for location, seq, argument in zip(*columns, strict=True):
        given.setdefault((location, seq), []).append(defined.text(argument & _LARGEST))
    if not given:
        return texts
    listed = texts.to_pylist()
    for row in events.rows_of(RecordKind.PROGRAM_BEGIN).tolist():
        event = int(events["location"][row]), int(events["seq"][row])
        if event in given:
            listed[row] = shlex.join(given[event])
    return pa.array(listed, pa.string())
