"""What all pictures have in common: colours, settings, and how they become bytes."""

from __future__ import annotations

import io
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Literal

from burstline.errors import printable, require_extra

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

DARK: Final = "#1A1A1A"
GREY: Final = "#595959"
PALE: Final = "#C8C8C8"
_NO_CHARACTERS: Final = re.compile("[\ufffe\uffff]")


def safe(text: str, *, limit: int) -> str:
    """Make text from a trace safe to print, also in XML."""
    return _NO_CHARACTERS.sub("\ufffd", printable(text.strip(), limit=limit))


def require() -> None:
    """Make sure that pictures can be drawn."""
    require_extra("matplotlib", "plot", "drawing a picture")


def settings(font_size: float = 10, **more: str | float) -> dict[str, Any]:
    """Matplotlib's settings for a picture that is the same each time.

    >>> settings(9, axes__edgecolor="red")["axes.edgecolor"]
    'red'
    """
    return {
        "svg.fonttype": "none",
        "svg.hashsalt": "burstline",
        "text.parse_math": False,
        "font.size": font_size,
        "text.color": DARK,
        "axes.labelcolor": DARK,
        "axes.edgecolor": PALE,
        "xtick.color": GREY,
        "ytick.color": GREY,
        **{name.replace("__", "."): value for name, value in more.items()},
    }


@contextmanager
def blank(
    size: tuple[float, float], font_size: float = 10, **more: str | float
) -> Iterator[Figure]:
    """A white figure of a size in inches, to be drawn on with :func:`settings` in force."""
    require()
    from matplotlib import style  # noqa: PLC0415 -- an extra
    from matplotlib.figure import Figure  # noqa: PLC0415 -- an extra

    with style.context(["default", settings(font_size, **more)]):
        yield Figure(figsize=size, facecolor="white")


def drawn(figure: Figure, *, form: Literal["svg", "png"], dots: int) -> bytes:
    """A figure as the bytes of a picture, without the time it was made."""
    told = {"Date": None, "Creator": "burstline"} if form == "svg" else {"Software": None}
    written = io.BytesIO()
    figure.savefig(written, format=form, dpi=dots, metadata=told)
    return written.getvalue()
