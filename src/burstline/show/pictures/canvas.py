"""What all pictures have in common: colours, settings, and how they become bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Literal

from burstline.errors import printable, require_extra

if TYPE_CHECKING:  # an extra, whose types all pictures have from here
    from matplotlib.axes import Axes as Axes  # noqa: PLC0414 -- for other pictures
    from matplotlib.figure import Figure as Figure  # noqa: PLC0414 -- for other pictures
else:
    Axes = Figure = object

Form = Literal["svg", "png"]
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


_SETTINGS: Final = {
    "svg.fonttype": "none",
    "svg.hashsalt": "burstline",  # the same picture each time
    "text.parse_math": False,
    "font.size": 10,
    "text.color": DARK,
    "axes.labelcolor": DARK,
    "axes.edgecolor": PALE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": GREY,
    "ytick.color": GREY,
}


@contextmanager
def blank(
    size: tuple[float, float], settings: Mapping[str, str | float] | None = None
) -> Iterator[Figure]:
    """A white figure of a size in inches, to be drawn on, with settings of Matplotlib."""
    require()
    from matplotlib import figure, style  # noqa: PLC0415 -- an extra

    with style.context(["default", _SETTINGS | dict(settings or {})]):
        yield figure.Figure(figsize=size, facecolor="white")


def drawn(figure: Figure, *, form: Form, dots: int) -> bytes:
    """A figure as the bytes of a picture, without the time it was made."""
    metadata = {"Date": None, "Creator": "burstline"} if form == "svg" else {"Software": None}
    written = io.BytesIO()
    figure.savefig(written, format=form, dpi=dots, metadata=metadata)
    return written.getvalue()
