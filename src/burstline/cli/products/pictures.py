"""Pictures that commands write."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from burstline import show
from burstline.errors import ParameterError
from burstline.formats import atomic

_FORMS: Final[dict[str, Literal["svg", "png"]]] = {".svg": "svg", ".png": "png"}


def picture_path(text: str, *, force: bool) -> Path:
    """Give the file of a picture that can be drawn.

    Parameters
    ----------
    text : str
        Where the user wants it.
    force : bool
        Whether it may replace a file.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ParameterError
        If its ending means nothing, or there is such a file.
    MissingExtraError
        If Matplotlib is not installed.
    """
    path = Path(text)
    form_of(path)
    if path.exists() and not force:
        raise ParameterError(f"{path} exists. Choose another output, or pass --force")
    show.require()
    return path


def form_of(path: Path) -> Literal["svg", "png"]:
    """Give the kind of picture that a file's ending stands for.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    {"svg", "png"}
        The kind.

    Raises
    ------
    ParameterError
        If the ending is of neither.
    """
    if path.suffix not in _FORMS:
        raise ParameterError(f"{path}: the ending of a picture is .svg or .png")
    return _FORMS[path.suffix]


def write_picture(path: Path, picture: bytes) -> None:
    """Write a picture whole, or not at all.

    Parameters
    ----------
    path : Path
        The file.
    picture : bytes
        What is in it.
    """
    with atomic.output(path) as file:
        file.write(picture)
