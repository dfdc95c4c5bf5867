"""The choice of a format: by what a file begins with, or how its name ends."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Final, Protocol

from burstline.errors import (
    FormatError,
    InconsistentTraceError,
    ParameterError,
    UnsupportedRecordError,
    plural,
)
from burstline.executor import threads_allowed
from burstline.formats import cube, otf2, paraver, perfetto, store, tables, text
from burstline.formats import raw as raw_files
from burstline.formats.files import require_plain
from burstline.formats.outputs import files_read, require_apart, require_free, require_outputs
from burstline.model import SEVERITIES, Profile, Trace
from burstline.progress import SILENCE, Progress


class Readable(Protocol):
    """The door of a format that is read; `head` are the first bytes of a file, inflated."""

    def recognises(self, path: Path, head: bytes, /) -> bool:
        """Whether a file, or a folder without a head, is of this format."""

    def read(
        self, path: Path, /, *, raw: bool, memory: int | None, threads: int, progress: Progress
    ) -> Trace:
        """Read it."""


class Writable(Protocol):
    """The door of a format that is written."""

    def write(
        self, trace: Trace, path: Path, /, *, memory: int | None, progress: Progress
    ) -> None:
        """Write a trace; replaces what is there."""


READABLE: Final[tuple[Readable, ...]] = (paraver, store, tables, raw_files, otf2, text)
"""In the order in which they are asked: a store that holds other files is a store."""

WRITABLE: Final[dict[str, Writable]] = {
    "*.prv": paraver,
    "*.prv.gz": paraver,
    "?*.otf2": otf2,
    "?*.store": store,
    "?*.csv": tables,
    "?*.parquet": tables,
    "*.perfetto.json": perfetto,
    "*.perfetto.json.gz": perfetto,
}
"""By the pattern of the name."""

_HEAD: Final = 4096
_GZIP: Final = b"\x1f\x8b"
_BY_HEADER: Final = 31  # zlib's window bits for a gzip wrapper


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
    threads = threads_allowed(threads)
    head = b"" if path.is_dir() else _first_bytes(path)
    trace = _format_of(path, head).read(
        path, raw=raw, memory=memory, threads=threads, progress=progress
    )
    if strict:
        _refuse_errors(trace)
    return trace.with_sources(file.absolute() for file in files_read(path))


def _format_of(path: Path, head: bytes) -> Readable:
    for readable in READABLE:
        if readable.recognises(path, head):
            return readable
    if path.is_dir():
        return store  # whose error says what is missing in the folder
    raise _unknown_format(path, head)


def _refuse_errors(trace: Trace) -> None:
    for row in trace.defects.to_pylist():
        if row["severity"] == SEVERITIES[2]:
            raise InconsistentTraceError(
                f"{row['kind']} ({plural(row['count'], 'time')}, first at {row['first']}); "
                "pass strict=False to read what is left"
            )


def _first_bytes(path: Path) -> bytes:
    require_plain(path)
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


def _unknown_format(path: Path, head: bytes) -> FormatError:
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


def write(
    trace: Trace | Profile,
    path: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    memory: int | None = None,
    progress: Progress = SILENCE,
) -> None:
    """Write a trace or a profile; the ending of the name says in which format.

    Parameters
    ----------
    trace : Trace or Profile
        The trace, or the profile.
    path : str or PathLike
        ``.prv`` or ``.prv.gz`` (with ``.pcf`` and ``.row`` beside it), ``.store``, or
        ``.csv`` or ``.parquet`` for a folder with a file per table. ``.perfetto.json`` or
        ``.perfetto.json.gz`` is for looking at it in Perfetto; there is no way back from it.
        ``X.otf2`` is an archive, with ``X.def`` and the folder ``X`` beside it.
        Of a profile, ``.cubex``; metrics without values in it are left out.
    overwrite : bool
        Whether what has that name is replaced. What `trace` was read from never is.
    memory : int, optional
        Bytes in which records of a store are sorted for a ``.prv``; a gigabyte by default.
    progress : Progress
        Told how far the writing is.

    Raises
    ------
    ParameterError
        If the ending is none of these, if a file of the output exists and `overwrite` is
        false, or if it belongs to what `trace` was read from; if a profile has no values.

    Notes
    -----
    Either the whole output appears under its name, or nothing does.

    Examples
    --------
    >>> import burstline
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> trace = burstline.testing.trace_of("ranks 1 | 0 | 5 enter MPI_Barrier | 9 leave")
    >>> with TemporaryDirectory() as folder:
    ...     burstline.write(trace, Path(folder) / "run.store")
    ...     burstline.read(Path(folder) / "run.store").calls.num_rows
    1
    """
    path = Path(path)
    if isinstance(trace, Profile):
        if not path.match("?*.cubex"):
            raise ParameterError(f"{path.name}: a profile is written as .cubex")
        for source in trace.sources:
            require_apart([path], [source], f"the profile's source {source}")
        require_free(path, force=overwrite)
        cube.write(trace, path, progress=progress)
        return
    for pattern, writable in WRITABLE.items():
        if path.match(pattern):
            require_outputs(path, trace.sources, "the trace's source", force=overwrite)
            writable.write(trace, path, memory=memory, progress=progress)
            return
    raise ParameterError(
        f"{path.name}: expected an ending in .prv, .prv.gz, .otf2, .store, .csv, "
        ".parquet or .perfetto.json"
    )
