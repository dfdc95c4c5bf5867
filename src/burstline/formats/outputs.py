"""What an output consists of, and the guard that no file is lost by writing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from burstline.errors import ParameterError
from burstline.formats import otf2

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

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


def files_read(source: Path) -> list[Path]:
    """The files of an input; those of an archive, too, if its folder is named."""
    if source.is_dir() and any(source.glob("*.otf2")):
        anchor = otf2.find_anchor(source)
        return [source, *([] if anchor is None else files_of(anchor))]
    of_files = source.name.endswith((".prv", ".prv.gz", ".otf2"))
    return files_of(source) if of_files else [source]


def require_outputs(
    path: Path, inputs: Iterable[Path], noun: str, *, force: bool, forced: str = _FORCED
) -> Path:
    """The path of a trace, refused if writing it would lose a file, above all an input."""
    sources = list(inputs)
    for file in files_of(path):
        require_output(file, sources, noun, force=force, forced=forced)
    return path


def require_output(
    file: Path, inputs: Iterable[Path], noun: str, *, force: bool, forced: str = _FORCED
) -> Path:
    """The path of one file, refused if writing it would lose a file, above all an input."""
    if file.exists():
        place = file.resolve()
        for source in (read.resolve() for read in inputs if read.exists()):
            if file.samefile(source) or (file.is_dir() and place in source.parents):
                raise ParameterError(f"{file} belongs to {noun}. Choose another output")
    return require_free(file, force=force, forced=forced)


def require_free(
    path: Path, *, force: bool, other: str = "output", forced: str = _FORCED
) -> Path:
    """The path, refused if a file would be replaced without being forced."""
    if path.exists() and not force:
        raise ParameterError(f"{path} exists. Choose another {other}, or pass {forced}")
    return path
