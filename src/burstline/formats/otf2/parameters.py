"""Parameters and attributes of events: kept as events, beside those that calls make.

A trace has raw tables only if the program told parameters: its calls as events, and these
among them. Attributes alone are what measurement systems say of themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from burstline.formats.columns import arrow_table
from burstline.formats.paraver.derived import with_records
from burstline.formats.raw.user_events import merged
from burstline.schema import UNKNOWN
from burstline.trace import Trace, to_numpy

if TYPE_CHECKING:
    import numpy.typing as npt

    from burstline.formats.otf2.definitions import Definitions

    Table = dict[str, npt.NDArray[Any]]

PARAMETER_TYPES: Final = range(78_000_000, 78_500_000)
"""Event types of parameters, in the order of their references."""

ATTRIBUTE_TYPES: Final = range(78_500_000, 79_000_000)
"""Event types of attributes, in the order of their references."""

_PARAMETER, _TEXT_PARAMETER, _ATTRIBUTE = 104, 105, 106
_STRING: Final = 11
_KINDS: Final = np.array([_PARAMETER, _TEXT_PARAMETER, _ATTRIBUTE])


def own_events(records: Table) -> npt.NDArray[np.int64]:
    """Take parameters and attributes out of the kernel's records.

    Parameters
    ----------
    records : dict of str to ndarray
        The kernel's table.

    Returns
    -------
    ndarray of int64, shape (5, events)
        Location, time, ordinal, event type and value.
    """
    at = np.flatnonzero(np.isin(records["kind"], _KINDS))
    attribute = records["kind"][at] == _ATTRIBUTE
    reference = records["a"][at]
    spans = np.where(attribute, len(ATTRIBUTE_TYPES), len(PARAMETER_TYPES))
    first = np.where(attribute, ATTRIBUTE_TYPES.start, PARAMETER_TYPES.start)
    return np.stack(
        [
            records["location"][at].astype(np.int64),
            records["time_ns"][at],
            records["seq"][at],
            first + reference % spans,
            np.where(attribute, records["c"][at], records["b"][at]),
        ]
    )


def are_parameters(events: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Tell which of some events are parameters."""
    return events[3] < ATTRIBUTE_TYPES.start


def has_parameters(events: npt.NDArray[np.int64]) -> bool:
    """Tell whether there are parameters among some events."""
    return bool(are_parameters(events).any())


def with_own_events(
    tables: dict[str, pa.Table], events: npt.NDArray[np.int64], defined: Definitions
) -> dict[str, pa.Table]:
    """Give tables with raw ones, and these events in them.

    Parameters
    ----------
    tables : dict of str to pyarrow.Table
        All tables of a trace.
    events : ndarray of int64, shape (5, events)
        What :func:`own_events` gave of all locations.
    defined : Definitions
        What the archive defines.

    Returns
    -------
    dict of str to pyarrow.Table
        The tables, and events, states, links and labels.
    """
    whole = with_records(Trace(tables))
    names = ("states", "links", "event_types", "event_values")
    raw = {name: whole.table(name) for name in names}
    raw["events"] = merged(whole, events)
    types, values = _labels(raw, events, defined)
    raw["event_types"] = _extended(raw["event_types"], "event_types", types)
    raw["event_values"] = _extended(raw["event_values"], "event_values", values)
    return tables | raw


def _labels(
    raw: dict[str, pa.Table], events: npt.NDArray[np.int64], defined: Definitions
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    group = 1 + max(
        (int(to_numpy(raw[name]["group"]).max(initial=UNKNOWN)))
        for name in ("event_types", "event_values")
    )
    types: list[tuple[Any, ...]] = []
    values: list[tuple[Any, ...]] = []
    for kind in np.unique(events[3]).tolist():
        is_parameter = kind in PARAMETER_TYPES
        first = (PARAMETER_TYPES if is_parameter else ATTRIBUTE_TYPES).start
        known = defined.parameters if is_parameter else defined.attributes
        name, form = known.get(kind - first, (UNKNOWN, 0))
        label = " ".join(defined.text(name).split()) or f"{kind - first}"
        types.append((kind, label, 6, group))
        if form == _STRING or (is_parameter and form == 0):
            used = np.unique(events[4][events[3] == kind]).tolist()
            values += [(group, one, defined.texts[one]) for one in used if one in defined.texts]
        group += 1
    return types, values


def _extended(table: pa.Table, name: str, rows: list[tuple[Any, ...]]) -> pa.Table:
    if not rows:
        return table
    columns = [list(column) for column in zip(*rows, strict=True)]
    fresh = arrow_table(name, dict(zip(table.column_names, columns, strict=True)))
    return pa.concat_tables([table, fresh]).combine_chunks()
