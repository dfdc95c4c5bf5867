"""Records in blocks, of which a mapped file keeps only one in memory."""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

BLOCK: Final = 1 << 18
"""Records of a block."""


def blocks(records: npt.NDArray[Any]) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Blocks of records and the number of the first of each; pages gone over are released."""
    for first in range(0, len(records), BLOCK):
        yield first, records[first : first + BLOCK]
        release(records)


def release(records: npt.NDArray[Any]) -> None:
    """Release the pages that were read of a mapped file; they come back when needed."""
    mapped = getattr(records, "_mmap", None)
    if isinstance(mapped, mmap.mmap):
        mapped.madvise(mmap.MADV_DONTNEED)
