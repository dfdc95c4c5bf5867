"""What an output consists of, and the guard that no file is lost by writing it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from burstline.errors import ParameterError
from burstline.formats import atomic, otf2

_JSON: Final = (".perfetto.json", ".perfetto.json.gz")
ENDINGS: Final = (".prv", ".prv.gz", ".store", ".csv", ".parquet", ".otf2", *_JSON)
"""Of the names of traces that are written."""
_FORCED: Final = "overwrite=True"


def is_prv(path: Path) -> bool:
    """Whether a file is a Paraver trace, by its name."""
    return path.name.endswith((".prv", ".prv.gz"))


def files_of(path: Path) -> list[Path]:
    """The files that an output consists of."""
    if is_prv(path):
        stem = path.name.removesuffix(".gz").removesuffix(".prv")
        return [path, path.with_name(f"{stem}.pcf"), path.with_name(f"{stem}.row")]
    if path.suffix == ".otf2":
        return [path, path.with_suffix(".def"), path.with_suffix("")]
    if path.name.endswith((".store", ".csv", ".parquet", *_JSON)):
        return [path]
    raise ParameterError(
        f"{path}: the ending of an output is .prv, .prv.gz, .otf2, .store, .csv, "
        ".parquet or .perfetto.json"
    )


def outputs_of(path: Path) -> list[Path]:
    """The files that a path becomes when it is written; itself where its name is no trace's."""
    return files_of(path) if path.name.endswith(ENDINGS) else [path]


def files_read(source: Path) -> list[Path]:
    """The files of an input; those of an archive, too, if its folder is named."""
    if source.is_dir() and any(source.glob("*.otf2")):
        anchor = otf2.find_anchor(source)
        return [source, *([] if anchor is None else files_of(anchor))]
    names = [source, _end_of(source)] if source.is_symlink() else [source]
    return [file for name in names for file in outputs_of(name)]


def _end_of(path: Path) -> Path:
    """What a path leads to; of links in a circle, one of them."""
    return Path(os.path.realpath(path))


def require_outputs(
    path: Path, inputs: Iterable[Path], noun: str, *, force: bool, forced: str = _FORCED
) -> Path:
    """The path of a trace, refused if writing it would lose a file, above all an input."""
    files = files_of(path)
    for source in inputs:
        require_apart(files, [source], f"{noun} {source}")
    for file in files:
        require_free(file, force=force, forced=forced)
    return path


def require_apart(
    outputs: Iterable[Path], sources: Iterable[Path], noun: str, *, adds: bool = False
) -> None:
    """Raise ParameterError if an output is a source, lies in one, or holds one.

    Files are the same by device and inode, whatever they are called: what a link of either
    kind leads to is not replaced, and no file is added to a folder that is a source. A folder
    that is added to (`adds`), not replaced, may hold a source.
    """
    places = [place for place in sources if place.exists()]
    inside = {file for place in places for file in _all_identities(place)}
    around = {_file_identity(part) for place in places for part in place.resolve().parents}
    for output in outputs:
        place = _end_of(output)
        if output.exists() and _file_identity(output) in inside:
            how = "belongs to"
        elif any(part.exists() and _file_identity(part) in inside for part in place.parents):
            how = "lies in"
        elif not adds and output.exists() and _file_identity(output) in around:
            how = "holds"
        else:
            continue
        raise ParameterError(f"{output} {how} {noun}. Choose another output")


def _all_identities(place: Path) -> Iterator[tuple[int, int]]:
    """What tells files of the system apart: of a file, or of a folder and everything in it."""
    yield _file_identity(place)
    folders = [place] if place.is_dir() else []
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                with suppress(OSError):  # a link may lead nowhere
                    yield _file_identity(entry)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry.path))


def _file_identity(file: Path | os.DirEntry[str]) -> tuple[int, int]:
    found = file.stat()
    return found.st_dev, found.st_ino


def require_free(
    path: Path, *, force: bool, other: str = "output", forced: str = _FORCED
) -> Path:
    """The path; refused if a file would be replaced unforced."""
    atomic.finish(path)
    if path.exists() and not force:
        raise ParameterError(f"{path} exists. Choose another {other}, or pass {forced}")
    return path
