"""The window of a recorder that did not come to its end, beside the file it belongs to.

::

    p-node-17.t-0.raw   header, records ............ | half a window, perhaps
    p-node-17.t-0.tail  its place in the file ───────► records, zeros
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from burstline.formats.raw.files.layout import RECORD, TAIL, TAIL_MAGIC, TAIL_SUFFIX, Kind

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from burstline.formats.intake import Defects


def stored(path: Path, begin: int, defects: Defects) -> npt.NDArray[Any]:
    """The records of a file as far as they go, with those of its tail."""
    count, rest = divmod(max(path.stat().st_size - begin, 0), RECORD.itemsize)
    records: npt.NDArray[Any] = np.zeros(0, RECORD)
    if count:
        records = np.memmap(path, RECORD, "r", begin, (count,))
    place, tail = _tail(path.with_suffix(TAIL_SUFFIX), begin)
    if place is None:
        if rest and count and records[-1]["kind"] != Kind.END_OF_FILE:
            defects.note("truncated_record", "loss", f"{path.name}: {rest} bytes at the end")
        return records
    if place > count:
        defects.note("missing_record", "loss", f"{path.name}: {place - count}", place - count)
    return np.concatenate([records[:place], tail])


def settle(folder: Path, begin: int) -> None:
    """Put tails where they belong, so that files can be mapped as they are.

    A tail is removed last: whatever happens before, the two are read as before. One that
    cannot be put in its place stays where it is.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as empty:
    ...     settle(Path(empty), 4096)
    """
    for path in sorted(folder.glob(f"*{TAIL_SUFFIX}")):
        with contextlib.suppress(OSError):
            _put(path, begin)


def _put(path: Path, begin: int) -> None:
    place, records = _tail(path, begin)
    if place is None:
        return
    with path.with_suffix(".raw").open("r+b") as file:
        end = begin + place * RECORD.itemsize
        if file.seek(0, os.SEEK_END) < end:
            return
        file.seek(end)
        file.write(records.tobytes())
        file.truncate()
    path.unlink()


def _tail(path: Path, begin: int) -> tuple[int | None, npt.NDArray[Any]]:
    """Behind how many records a tail belongs, None if it does not count, and its own."""
    none: npt.NDArray[Any] = np.zeros(0, RECORD)
    try:
        content = path.read_bytes()
    except OSError:
        return None, none
    if len(content) < TAIL.itemsize or not content.startswith(TAIL_MAGIC):
        return None, none
    belongs = int(np.frombuffer(content, TAIL, 1)["belongs"][0])
    count, rest = divmod(belongs - begin, RECORD.itemsize)
    if rest or count < 0:  # written already, or damage
        return None, none
    records = np.frombuffer(
        content, RECORD, (len(content) - TAIL.itemsize) // RECORD.itemsize, TAIL.itemsize
    )
    written = np.flatnonzero(records["kind"] != Kind.END_OF_FILE)
    return count, records[: written[-1] + 1] if len(written) else none
