"""Memory that is free goes back to the system, so that what is read next does not add to it.

Allocators keep what was freed between arrays that stay. A reader that makes many tables, one
part after the other, would hold half as much again as its tables.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable


def give_back() -> None:
    """Return free memory to the system, where the C library can.

    >>> give_back()
    """
    pa.default_memory_pool().release_unused()
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    """The function of the GNU C library, None elsewhere."""
    try:
        found = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
    found.argtypes, found.restype = [ctypes.c_size_t], ctypes.c_int
    return found
