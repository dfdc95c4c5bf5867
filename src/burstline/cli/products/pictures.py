"""Pictures that commands write."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from burstline import show
from burstline.errors import ParameterError
from burstline.formats import atomic

_FORMS: Final[dict[str, Literal["svg", "png"]]] = {".svg": "svg", ".png": "png"}


def picture_path(text: str, *, force: bool) -> Path:
    """The file of a picture that can be drawn."""
    path = Path(text)
    form_of(path)
    if path.exists() and not force:
        raise ParameterError(f"{path} exists. Choose another output, or pass --force")
    show.require()
    return path


def form_of(path: Path) -> Literal["svg", "png"]:
    """The kind of picture that a file's ending stands for."""
    if path.suffix not in _FORMS:
        raise ParameterError(f"{path}: the ending of a picture is .svg or .png")
    return _FORMS[path.suffix]


def write_picture(path: Path, picture: bytes) -> None:
    """Write a picture whole, or not at all."""
    with atomic.output(path) as file:
        file.write(picture)
