"""A trace becomes an OTF2 archive: ``X.otf2``, ``X.def`` and the folder ``X``.

::

    tables ─ location after location ─► events in order ─► the library of OTF2 ─► X/0.evt, …
           └─────────────────────────► definitions ──────────────────────────► X.def, X.otf2

What Scalasca's analyzers ask for is there where the trace has it. What the format cannot
say, or says otherwise, is listed in the guide to conversion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline import _core
from burstline._core import Written
from burstline.errors import FormatError, MissingExtraError, ParameterError
from burstline.formats import atomic
from burstline.formats.otf2.library import VARIABLE, find_library
from burstline.formats.otf2.writing.definitions import Defining
from burstline.formats.otf2.writing.events import Telling
from burstline.progress import SILENCE, Progress

if TYPE_CHECKING:
    from pathlib import Path

    from burstline.trace import Trace

_SMALLEST_CHUNK: Final = 1 << 18
_LARGEST_CHUNK: Final = 1 << 24
_BYTES_A_MEMBER: Final = 12
_FILES: Final = (".evt", ".def", ".snap", ".marker")


def archive_files(path: Path) -> list[Path]:
    """Give what an archive consists of.

    Parameters
    ----------
    path : Path
        Its anchor, ``X.otf2``.

    Returns
    -------
    list of Path
        The anchor, the definitions, and the folder of events.
    """
    return [path, path.with_suffix(".def"), path.with_suffix("")]


def write_otf2(trace: Trace, path: Path, *, progress: Progress = SILENCE) -> None:
    """Write a trace as an OTF2 archive; replaces one of that name.

    Parameters
    ----------
    trace : Trace
        The trace.
    path : Path
        The anchor, ``X.otf2``; definitions go into ``X.def`` and events into the folder
        ``X``. Tools that expect Score-P's layout want it to be called ``traces.otf2``, in a
        folder of its own.
    progress : Progress
        Told of locations.

    Raises
    ------
    ParameterError
        If there is no folder to put it in, or something that is no archive has the name of
        its folder.
    MissingExtraError
        If there is no library of OTF2.
    FormatError
        If the library refuses what it is given.

    Notes
    -----
    O(events log events) time; memory for the messages and collectives of the trace, and for
    the events of one location. Either the whole archive appears, or nothing does.

    Examples
    --------
    >>> from pathlib import Path
    >>> from burstline import Trace
    >>> write_otf2(Trace({}), Path("no such folder") / "run.otf2")
    Traceback (most recent call last):
    burstline.errors.ParameterError: there is no folder no such folder to write run.otf2 into
    """
    for file in archive_files(path)[:2]:
        if file.is_dir():
            raise ParameterError(f"{file} is a folder, and a file would take its place")
    _check_folder(path.with_suffix(""))
    library = find_library()
    with atomic.scratch(path) as part:
        try:
            _write(trace, library, part, path.stem, progress)
        except RuntimeError as error:
            raise _refused(path, library, error) from error
        _move(part, path)


def _refused(path: Path, library: str, error: RuntimeError) -> Exception:
    if "no function" in str(error) or "cannot open" in str(error):
        way_out = f"{library} is not a library of OTF2: {error}; set {VARIABLE} to one"
        return MissingExtraError("otf2", "writing an OTF2 archive", way_out=way_out)
    return FormatError(path, None, expected="what OTF2 can hold", found=str(error))


def _write(trace: Trace, library: str, folder: Path, name: str, progress: Progress) -> None:
    defining = Defining(trace)
    telling = Telling(trace, defining)
    locations = len(defining.references)
    chunk = min(max(_SMALLEST_CHUNK, locations * _BYTES_A_MEMBER), _LARGEST_CHUNK)
    writer = _core.Otf2Writer(library, str(folder), name, chunk)
    counts = []
    progress.step("Writing", locations, "locations")
    for location, reference in enumerate(defining.references):
        happened, values = telling.of(location)
        kind, time, arguments = happened.ordered()
        writer.write(reference, kind, time, arguments, values)
        counts.append(int(np.count_nonzero(kind != Written.ATTRIBUTE)))
        progress.advance(1)
    rows, text = defining.finish(counts, telling.length_ns)
    writer.finish(rows, text, np.array(defining.references, np.uint64))


def _check_folder(folder: Path) -> None:
    if not folder.exists():
        return
    if not folder.is_dir() or any(file.suffix not in _FILES for file in folder.iterdir()):
        raise ParameterError(
            f"{folder} is no folder of an archive, and that of {folder.name}.otf2 would take "
            "its place. Choose another name"
        )


def _move(part: Path, path: Path) -> None:
    """Put the files of an archive where they belong, the anchor last."""
    anchor, definitions, folder = archive_files(path)
    old = part / "old"
    if folder.exists():
        folder.rename(old)
    try:
        new = part / folder.name
        new.mkdir(exist_ok=True)
        new.rename(folder)
    except OSError:
        if old.exists():
            old.rename(folder)
        raise
    for place in (definitions, anchor):
        (part / place.name).replace(place)
