"""Files that commands write beside traces: tables and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from burstline import show
from burstline.errors import ParameterError
from burstline.formats import atomic

if TYPE_CHECKING:
    from burstline.show import Figure

TABLES: Final = (".parquet", ".csv", ".arrow")
_PICTURES: Final = (".svg", ".png")


def table_file(
    text: str | None, *, force: bool, endings: tuple[str, ...] = TABLES
) -> Path | None:
    """The file that somebody named for a table, once nothing is lost by writing there."""
    return _file(text, "table", endings, force=force)


def picture_file(text: str | None, *, force: bool) -> Path | None:
    """The file that somebody named for a picture that can be drawn, as :func:`table_file`."""
    path = _file(text, "picture", _PICTURES, force=force)
    if path is not None:
        show.require()
    return path


def _file(text: str | None, noun: str, endings: tuple[str, ...], *, force: bool) -> Path | None:
    if text is None:
        return None
    path = Path(text)
    if path.suffix not in endings:
        *others, last = endings
        said = f"{', '.join(others)} or {last}"
        raise ParameterError(f"{path}: the ending of a {noun} is {said}")
    return require_free(path, force=force)


def require_free(path: Path, *, force: bool, other: str = "output") -> Path:
    """The path, refused if a file would be replaced without being forced."""
    if path.exists() and not force:
        raise ParameterError(f"{path} exists. Choose another {other}, or pass --force")
    return path


def in_folder(path: Path) -> Path:
    """The path, refused if there is no folder to write it into."""
    if not path.parent.is_dir():
        raise ParameterError(f"there is no folder {path.parent} to write {path.name} into")
    return path


def write_figure(path: Path, figure: Figure) -> None:
    """Write a picture whole, or not at all; the ending of its name says its form."""
    picture = figure("svg" if path.suffix == ".svg" else "png")
    with atomic.output(path) as file:
        file.write(picture)
