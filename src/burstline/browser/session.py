"""A session of the browser: whether there can be one, and from its begin to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burstline.errors import MissingExtraError

if TYPE_CHECKING:
    from burstline.browser.outline import View
    from burstline.structure import Structure
    from burstline.trace import Trace


def require() -> None:
    """Make sure that the browser can be shown."""
    try:
        import textual  # noqa: F401, PLC0415 -- an extra
    except ImportError:
        raise MissingExtraError("tui", "browsing a structure") from None


def browse(trace: Trace, structure: Structure, view: View, *, name: str = "") -> None:
    """Show a structure on the whole terminal until somebody leaves it."""
    require()
    from burstline.browser.app import Browser  # noqa: PLC0415 -- an extra

    Browser(trace, structure, view, name=name).run()
