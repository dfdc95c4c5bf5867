"""What is said of the modules whose functions or lines could not be named."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from burstline.record.symbols.resolution import Problem

_SHOWN: Final = 3
_INSTALLED: Final = re.compile(
    r"^(?:/usr)?/(?:lib\w*|s?bin|libexec)/|/(?:site|dist)-packages/|/lib-dynload/"
    r"|/(?:lib)?python[\d.]*(?:\.so[\d.]*)?$"
)


def unnamed(problems: Iterable[Problem]) -> str | None:
    """Say in one line which modules have places without names, and the way out.

    Libraries of the system and of Python packages, which users do not compile, are only named
    where there is nothing else to name.

    >>> from burstline.record.symbols.resolution import Problem
    >>> unnamed([Problem("/bin/app", "the file is not there any more")])
    'some calls have no source lines. app: the file is not there any more'
    """
    known = list(problems)
    own = [problem for problem in known if not _is_installed(problem.module)]
    reasons: dict[str, list[str]] = {}
    for module, reason in own or known:
        names = reasons.setdefault(reason, [])
        name = module.rpartition("/")[2]
        if name not in names:
            names.append(name)
    if not reasons:
        return None
    parts = [f"{_listed(names)}: {reason}" for reason, names in reasons.items()]
    return f"some calls have no source lines. {'; '.join(parts)}"


def _is_installed(module: str) -> bool:
    return _INSTALLED.search(module) is not None


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    more = len(names) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
