"""Parts of collectives out of the calls.

The format has no id for instances: the k-th collective of each location on a communicator is
the k-th instance, unless tracing was disabled or duplicates of the communicator share its id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from burstline._core import CallKind
from burstline.columns import ordinal_within
from burstline.formats.paraver.reading.kernel_vocabulary import call_kinds
from burstline.operations import CODES, NON_BLOCKING_COLLECTIVES
from burstline.schema import NO_VALUE, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from burstline.columns import Integers

_CODES = [CODES[name] for name in NON_BLOCKING_COLLECTIVES]


def collective_parts(calls: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """The calls that are parts of collectives on a known communicator, by location."""
    kinds = np.append(call_kinds(), 0)
    code = calls["operation"]
    code_or_none = np.where((code >= 0) & (code < len(kinds) - 1), code, len(kinds) - 1)
    rows = np.flatnonzero(
        (kinds[code_or_none] & CallKind.COLLECTIVE != 0) & (calls["communicator"] >= 0)
    )
    operation, location, call = (
        calls[name][rows] for name in ("operation", "location", "call")
    )
    communicator = calls["communicator"][rows]
    # The completion of a non-blocking collective is not recorded.
    blocking = ~np.isin(operation, _CODES)
    return {
        "location": location,
        "call": call,
        "done_call": np.where(blocking, call, np.int32(UNKNOWN)),
        "begin_ns": calls["enter_ns"][rows],
        "end_ns": calls["leave_ns"][rows],
        "begin_seq": calls["enter_seq"][rows],
        "end_seq": np.where(blocking, calls["leave_seq"][rows], NO_VALUE),
        "sent_bytes": _or_zero(calls["sent_bytes"][rows]),
        "received_bytes": _or_zero(calls["received_bytes"][rows]),
        "communicator": communicator,
        "sequence": ordinal_within(communicator, location),
        "operation": operation,
        "own_root": calls["root"][rows],
        "named_root": np.full(len(rows), UNKNOWN, np.int32),
    }


def _or_zero(size: Integers) -> Integers:
    return np.where(size == NO_VALUE, 0, size)
