"""Raw files, one per thread as the recorder writes them, become a trace.

::

    folder ─► files ─► processes, definitions ─► clocks ─► a timeline per location
    timelines ─► calls and their records ─► requests ─► messages, collectives
              ├─► readings · regions · gaps · user events
              └─► bursts

Files are read as they are: what a killed process left behind counts as far as it goes, and
what is odd is a row of `defects`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from burstline.formats.raw.assembly import Assembly
from burstline.formats.raw.call_paths import Frame, Resolver
from burstline.formats.raw.files import open_files, recognises
from burstline.formats.raw.numbers import operation_numbers
from burstline.formats.raw.oddities import Oddities
from burstline.progress import SILENCE, Progress
from burstline.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Frame", "Resolver", "read_raw", "recognises"]


def read_raw(
    folder: Path,
    *,
    raw: bool = True,
    progress: Progress = SILENCE,
    resolve: Resolver | None = None,
    operations: Mapping[int, str] | None = None,
) -> Trace:
    """Read the raw files of a run.

    Parameters
    ----------
    folder : Path
        The folder that the recorder filled.
    raw : bool
        Whether events that the program recorded itself are kept.
    progress : Progress
        Told of files and of locations.
    resolve : callable, optional
        Gives the frames of a return address by module and offset, innermost first; without
        it frames are named by their addresses.
    operations : mapping of int to str, optional
        Name of each operation by its number; by default those of this version's recorder.

    Returns
    -------
    Trace
        In memory. Times are those of rank 0's clock, from the first moment of all.

    Raises
    ------
    FormatError
        If the folder has no raw file that can be read.
    UnsupportedRecordError
        If a file is of another version.

    Notes
    -----
    O(records log records) time; the files are mapped, not loaded. Messages are matched by
    MPI's order, without clocks. Only definitions are gone through one by one.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as empty:
    ...     read_raw(Path(empty))
    Traceback (most recent call last):
    burstline.errors.FormatError: ...
    """
    odd = Oddities()
    files = open_files(folder, odd, progress)
    numbers = operation_numbers() if operations is None else operations
    assembly = Assembly(folder, files, numbers, resolve, odd)
    assembly.gather(progress)
    return Trace(assembly.tables(raw=raw))
