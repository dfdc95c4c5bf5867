"""Grouping without a loop: numbering keys that occur, and rows with equal keys together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

_SMALL = 1 << 16


def dense(codes: Integers, space: int) -> tuple[Integers, Integers]:
    """Renumber codes so that all numbers occur; give the codes in the order of the numbers."""
    if space > 4 * len(codes) + _SMALL:
        keys, numbers = np.unique(codes, return_inverse=True)
        return numbers, keys
    occurs = np.bincount(codes, minlength=space) > 0
    return (np.cumsum(occurs) - 1)[codes], np.flatnonzero(occurs)


def stable_order(codes: Integers, count: int) -> Integers:
    """Order that groups equal codes; NumPy sorts 16 bits in linear time."""
    return np.argsort(codes.astype(np.uint16) if count <= _SMALL else codes, kind="stable")
