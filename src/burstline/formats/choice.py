"""The choice of a format: by what a file begins with, or how its name ends."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from burstline.errors import FormatError, ParameterError, UnsupportedRecordError
from burstline.formats import otf2, paraver, perfetto, store, text
from burstline.formats import raw as raw_files
from burstline.progress import SILENCE, Progress

if TYPE_CHECKING:
    from burstline.trace import Trace

_HEAD = 4096
_GZIP = b"\x1f\x8b"
_OTF2 = b"OTF2"  # after two bytes: how long it is, and the order of bytes
_BY_HEADER = 31  # zlib's window bits for a gzip wrapper


def read(
    path: str | os.PathLike[str],
    *,
    raw: bool = True,
    memory: int | None = None,
    threads: int | None = None,
    strict: bool = False,
    progress: Progress = SILENCE,
) -> Trace:
    """Read a trace in any known format.

    Parameters
    ----------
    path : str or PathLike
        What names the trace: a ``.prv`` or ``.prv.gz``, the anchor of an OTF2 archive or its
        folder, a store, a folder of tables or of the recorder's raw files, or a text form.
    raw : bool
        Whether the records themselves are kept too (events, states, labels): they are
        what cutting and writing back need, and most of the memory.
    memory : int, optional
        Bytes that may be used; no limit by default.
    threads : int, optional
        Threads to use; by default as many as this process may run on.
    strict : bool
        Whether a defect of severity ``error`` is an exception.
    progress : Progress
        Told how far the reading is.

    Returns
    -------
    Trace
        The trace: in memory, or, of a store, loaded table by table when asked for.

    Raises
    ------
    FormatError
        If no reader recognises the file, or the one that does finds it broken.
    MemoryBudgetError
        If the tables would not fit into `memory`.
    FileNotFoundError
        If there is no such file.

    Notes
    -----
    O(bytes). What is merely odd is a row of the ``defects`` table.

    Examples
    --------
    The trace that ships with the package:

    >>> import burstline
    >>> from importlib.resources import files
    >>> trace = burstline.read(files("burstline") / "data" / "lulesh_8r.prv.gz")
    >>> trace.locations.num_rows
    8
    """
    path = Path(path)
    threads = threads or len(os.sched_getaffinity(0))
    if path.is_dir():
        trace = _read_folder(path, raw=raw, memory=memory, threads=threads, progress=progress)
    else:
        head = _head(path)
        if paraver.recognises(head):
            trace = paraver.read_whole(
                path, raw=raw, memory=memory, threads=threads, progress=progress
            )
        elif head[2:6] == _OTF2:
            trace = otf2.read_otf2(path, memory=memory, threads=threads, progress=progress)
        else:
            trace = _read_text(path, head)
    if strict:
        paraver.refuse_errors(trace)
    return trace


def _read_folder(
    path: Path, *, raw: bool, memory: int | None, threads: int, progress: Progress
) -> Trace:
    from burstline.formats import tables  # noqa: PLC0415

    if tables.recognises(path):
        return tables.read(path)
    if raw_files.recognises(path):
        return raw_files.read_raw(
            path, raw=raw, memory=memory, threads=threads, progress=progress
        )

    if not (path / store.MANIFEST).exists() and otf2.is_part_of_one(path):
        return otf2.read_otf2(path, memory=memory, threads=threads, progress=progress)
    return store.open_store(path)


def _read_text(path: Path, head: bytes) -> Trace:
    if otf2.is_part_of_one(path):
        otf2.require_anchor(path)
    if not text.recognises(head):
        raise _unknown(path, head)
    return text.read(path)


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(_HEAD)
    head = b"" if data.startswith(_GZIP) else data
    while data.startswith(_GZIP) and len(head) < _HEAD:
        inflater = zlib.decompressobj(_BY_HEADER)
        try:
            head += inflater.decompress(data, _HEAD)
        except zlib.error as error:
            raise FormatError(path, None, expected="a gzip stream", found=str(error)) from error
        data = inflater.unused_data  # the next member, where a member has ended
    return head


def _unknown(path: Path, head: bytes) -> FormatError:
    if path.suffix in (".mpits", ".mpit", ".sym"):
        return UnsupportedRecordError(
            path,
            None,
            expected="a merged trace",
            found=f"an intermediate file of Extrae ({path.suffix})",
            way_out="Merge it first: mpi2prv -f TRACE.mpits -o TRACE.prv",
        )
    if path.suffix == ".cubex":
        return UnsupportedRecordError(
            path,
            None,
            expected="a trace",
            found="a profile",
            way_out="burstline.read_profile and burstline info read profiles.",
        )
    shown = head[:24].decode("latin-1") if head else "an empty file"
    return FormatError(
        path,
        1,
        expected="the header of a known trace format",
        found=shown,
        way_out="Readable are .prv, .prv.gz, .otf2, stores, folders of tables or raw files, "
        "and text.",
    )


def write(trace: Trace, path: str | os.PathLike[str], *, progress: Progress = SILENCE) -> None:
    """Write a trace; the ending of the name says in which format.

    Parameters
    ----------
    trace : Trace
        The trace.
    path : str or PathLike
        ``.prv`` or ``.prv.gz`` (with ``.pcf`` and ``.row`` beside it), ``.store``, or
        ``.csv`` or ``.parquet`` for a folder with a file per table. ``.perfetto.json`` or
        ``.perfetto.json.gz`` is for looking at it in Perfetto; there is no way back from it.
        ``X.otf2`` is an archive, with ``X.def`` and the folder ``X`` beside it.
    progress : Progress
        Told how far the writing is.

    Raises
    ------
    ParameterError
        If the ending is none of these.

    Notes
    -----
    Either the whole output appears under its name, or nothing does.
    """
    path = Path(path)
    if path.name.endswith((".prv", ".prv.gz")):
        paraver.write(trace, path, progress=progress)
    elif path.suffix == ".store":
        store.write_store(trace, path, progress=progress)
    elif path.suffix in (".csv", ".parquet"):
        from burstline.formats import tables  # noqa: PLC0415 -- on demand

        tables.write(trace, path, progress=progress)
    elif path.name.endswith((".perfetto.json", ".perfetto.json.gz")):
        perfetto.write(trace, path, progress=progress)
    elif path.suffix == ".otf2":
        otf2.write_otf2(trace, path, progress=progress)
    else:
        raise ParameterError(
            f"{path.name}: expected an ending in .prv, .prv.gz, .otf2, .store, .csv, "
            ".parquet or .perfetto.json"
        )
