"""Records of the kernel: events that describe a call or stand alone, their values by name.

::

    kernel's columns ─► Records: records["tag"] ─► kinds of calls as the raw format has them

``core/otf2_records.hpp`` has the kinds, and the names of the values of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from burstline import _core
from burstline._core import RecordKind, Way
from burstline.formats.intake import Kind, Transfer
from burstline.schema import UNKNOWN

if TYPE_CHECKING:
    import numpy.typing as npt

    from burstline.columns import Columns, Integers

_COLUMN_OF: Final = _core.otf2_record_fields()
_RAW_KINDS: Final = {
    RecordKind.SEND: Kind.SEND,
    RecordKind.SEND_DONE: Kind.SEND_DONE,
    RecordKind.POST: Kind.POST,
    RecordKind.RECEIVE: Kind.RECEIVE,
    RecordKind.CANCELLED: Kind.CANCELLED,
    RecordKind.PROBE: Kind.PROBE,
    RecordKind.MATCHED_RECEIVE: Kind.RECEIVE,
    RecordKind.MATCHED_POST: Kind.POST,
    RecordKind.MATCHED_COMPLETE: Kind.RECEIVE,
    RecordKind.COLLECTIVE: Kind.COLLECTIVE,
    RecordKind.COLLECTIVE_START: Kind.COLLECTIVE,
    RecordKind.COLLECTIVE_DONE: Kind.COLLECTIVE_DONE,
    RecordKind.RMA: Kind.RMA,
    RecordKind.IO: Kind.IO,
}
_RAW_KIND: Final = np.array([_RAW_KINDS.get(kind, UNKNOWN) for kind in sorted(RecordKind)])
_RAW_TRANSFER: Final = np.zeros(max(Way) + 1, np.int64)
_RAW_TRANSFER[[Way.PUT, Way.GET]] = [Transfer.PUT, Transfer.GET]

OF_CALLS: Final = np.flatnonzero(_RAW_KIND != UNKNOWN)
"""Kinds of records that describe a call."""


class Records:
    """Some records of the kernel; ``records["tag"]`` are the tags of those that have one."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns["kind"])

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._columns[_COLUMN_OF.get(name, name)]

    def pick(self, rows: npt.NDArray[Any]) -> Records:
        """Some of the records."""
        return Records({name: column[rows] for name, column in self._columns.items()})

    def rows_of(self, *kinds: RecordKind) -> Integers:
        """The rows of some kinds, ascending."""
        if len(kinds) == 1:
            return np.flatnonzero(self["kind"] == int(kinds[0]))
        return np.flatnonzero(np.isin(self["kind"], np.array(kinds)))

    def of(self, *kinds: RecordKind) -> Records:
        """The records of some kinds, in order."""
        return self.pick(self.rows_of(*kinds))


def raw_kinds(records: Records) -> Integers:
    """The raw format's kind of each record of a call."""
    return _RAW_KIND[records["kind"]]


def raw_transfers(records: Records) -> Integers:
    """The raw format's number for how each record moves data, 0 for no transfer."""
    is_transfer = records["kind"] == RecordKind.RMA
    return _RAW_TRANSFER[np.where(is_transfer, records["way"], 0)]
