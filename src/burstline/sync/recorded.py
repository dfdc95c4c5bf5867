"""Columns of a table as the trace has them: what synchronises has rows, and looks up there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import AnyIntegers, to_numpy

_NARROW = 1 << 31


def narrow(rows: AnyIntegers) -> AnyIntegers:
    """Rows of a table, or -1, in 4 bytes each if there are less than 2**31."""
    return rows.astype(np.int32 if rows.max(initial=0) < _NARROW else np.int64, copy=False)


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """Some rows of a table of the trace."""

    table: pa.Table
    rows: AnyIntegers | None  # None: all of them, which are not copied

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        column = to_numpy(self.table[name])
        return column if self.rows is None else column[self.rows]
