"""Sums and quotients of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from burstline.columns.types import Floats, Integers


def prefix_sums(values: npt.NDArray[Any]) -> Integers:
    """The sum of the integers before each position, and of all, shape (values + 1,).

    >>> prefix_sums(np.array([4, 1])).tolist()
    [0, 4, 5]
    """
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    return sums


def quotients(parts: npt.NDArray[Any], wholes: npt.NDArray[Any]) -> Floats:
    """Each part over its whole; NaN where that is not positive.

    >>> quotients(np.array([1, 1]), np.array([2, 0])).tolist()
    [0.5, nan]
    """
    nothing = np.full(len(wholes), np.nan)
    return np.divide(parts, wholes, out=nothing, where=wholes > 0)
