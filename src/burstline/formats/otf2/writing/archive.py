"""A trace becomes an OTF2 archive: ``X.otf2``, ``X.def`` and the folder ``X``.

The guide to conversion lists what the format cannot say, or says otherwise.
"""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import numpy as np

from burstline import _core
from burstline._core import Written
from burstline.errors import MissingExtraError, ParameterError, readable
from burstline.formats import atomic
from burstline.formats.otf2.library import VARIABLE, find_library
from burstline.formats.otf2.writing.definitions import WrittenDefinitions
from burstline.formats.otf2.writing.events import TraceEvents
from burstline.model import Trace
from burstline.progress import SILENCE, Progress

_SMALLEST_CHUNK: Final = 1 << 18
_LARGEST_CHUNK: Final = 1 << 24
_BYTES_A_MEMBER: Final = 12
_FILES: Final = (".evt", ".def", ".snap", ".marker")


def archive_files(path: Path) -> list[Path]:
    """The anchor, the file of definitions and the folder of events of an archive."""
    return [path, path.with_suffix(".def"), path.with_suffix("")]


def write(trace: Trace, path: Path, *, progress: Progress = SILENCE, **_: object) -> None:
    """Write a trace as the archive of the anchor ``X.otf2``, whole or not at all."""
    for file in archive_files(path)[:2]:
        if file.is_dir():
            raise ParameterError(f"{file} is a folder, and a file would take its place")
    _check_folder(path.with_suffix(""))
    if readable(path) != str(path):
        raise ParameterError(f"{path}: the library of OTF2 takes only names that are UTF-8")
    library = find_library()
    with atomic.scratch(path, "part") as part:
        try:
            _write_events(trace, library, part, path.stem, progress)
        except RuntimeError as error:
            raise _library_error(path, library, error) from error
        (part / path.stem).mkdir(exist_ok=True)
        with atomic.undisturbed(), atomic.writing(path):
            with atomic.renamed(part, "moving") as moving:
                _move_files(moving, path)
            atomic.remove(moving)


def _library_error(path: Path, library: str, error: RuntimeError) -> Exception:
    if "no function" in str(error) or "cannot open" in str(error):
        way_out = f"{library} is not a library of OTF2: {error}; set {VARIABLE} to one"
        return MissingExtraError("otf2", "writing an OTF2 archive", way_out=way_out)
    # The name of the error ends what the library says: that of the system, or of its own.
    name = str(error).rpartition("(")[2].rstrip(")").removeprefix("OTF2_ERROR_")
    number = getattr(errno, name, errno.EIO)
    return OSError(number, os.strerror(number), str(path))


def _write_events(
    trace: Trace, library: str, folder: Path, name: str, progress: Progress
) -> None:
    definitions = WrittenDefinitions(trace)
    trace_events = TraceEvents(trace, definitions)
    locations = len(definitions.references)
    chunk = min(max(_SMALLEST_CHUNK, locations * _BYTES_A_MEMBER), _LARGEST_CHUNK)
    writer = _core.Otf2Writer(library, str(folder), name, chunk)
    counts = []
    progress.step("Writing", locations, "locations")
    for location, reference in enumerate(definitions.references):
        events = trace_events.of(location)
        kind, time, arguments = events.ordered()
        writer.write(reference, kind, time, arguments, events.values)
        counts.append(int(np.count_nonzero(kind != Written.ATTRIBUTE)))
        progress.advance(1)
    rows, text = definitions.finish(counts, trace_events.length_ns)
    writer.finish(rows, text, np.array(definitions.references, np.uint64))


def _check_folder(folder: Path) -> None:
    if not folder.exists():
        return
    if not folder.is_dir() or any(file.suffix not in _FILES for file in folder.iterdir()):
        raise ParameterError(
            f"{folder} is no folder of an archive, and that of {folder.name}.otf2 would take "
            "its place. Choose another name"
        )


def _move_files(part: Path, path: Path) -> None:
    """Move the files of an archive to their places, the anchor last, or none of them."""
    anchor, definitions, folder = archive_files(path)
    old, new = part / atomic.OLD, part / folder.name
    with ExitStack() as undo:
        if folder.exists():
            folder.rename(old)
            undo.callback(old.rename, folder)
        new.rename(folder)
        undo.callback(folder.rename, new)
        atomic.put_in_place([(part / file.name, file) for file in (anchor, definitions)])
        undo.pop_all()
