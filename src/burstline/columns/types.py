"""Types of arrays, each with its one name, and what stands in them where a table has null."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

Integers: TypeAlias = npt.NDArray[np.int64]
AnyIntegers: TypeAlias = npt.NDArray[np.integer[Any]]
Floats: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[np.bool_]
Columns: TypeAlias = dict[str, npt.NDArray[Any]]

UNKNOWN: Final = -1
"""An absent id (rank, call, communicator, call path, source of a tag)."""

NO_VALUE: Final = -(2**63)
"""An absent time, size or counter."""
