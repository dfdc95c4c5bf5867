"""What is said of the modules whose functions or lines could not be named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from burstline.record.symbols import Problem

_SHOWN: Final = 3


def unnamed(problems: Iterable[Problem]) -> str | None:
    """Say in one line which modules have places without names, and the way out.

    Parameters
    ----------
    problems : iterable of Problem
        What a resolver could not read.

    Returns
    -------
    str or None
        None if there is nothing to say.

    Examples
    --------
    >>> from burstline.record.symbols import Problem
    >>> unnamed([Problem("/bin/app", "the file is not there any more")])
    'some calls have no source lines. app: the file is not there any more'
    """
    reasons: dict[str, list[str]] = {}
    for module, reason in problems:
        names = reasons.setdefault(reason, [])
        name = module.rpartition("/")[2]
        if name not in names:
            names.append(name)
    if not reasons:
        return None
    parts = [f"{_listed(names)}: {reason}" for reason, names in reasons.items()]
    return f"some calls have no source lines. {'; '.join(parts)}"


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    more = len(names) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
