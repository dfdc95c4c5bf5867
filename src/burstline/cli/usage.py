"""Options declared as help prints them.

::

    "-o, --output FILE"   a text            "--quiet"              a flag
    "--top N=5"           a whole number    "--method {a,b}=a"     one of several words
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from burstline.errors import ParameterError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

_KINDS: Final[dict[str, type]] = {
    "N": int,
    "ID": int,
    "R": int,
    "X": float,
    "W": float,
    "S": float,
}
FORCE: Final = {"--force": "replace a FILE that exists"}
SHOWN: Final = {
    "--counter NAME": "a counter of the trace, or IPC",
    "--show-ranks LIST": "what these ranks execute: 0-7,12",
    "--bursts TIME": "computation before calls from this mean on: 1ms",
}
"""What of pseudo-code is shown."""
SAME_PLACES: Final = {
    "--ranks LIST": "only these ranks: 0-7,12",
    "--app N": "only this application, from 0",
}
"""The region of interest, as far as it means the same in several runs."""


def add(group: argparse._ActionsContainer, options: Mapping[str, str]) -> None:
    """Add options, given as usage and help; a value behind ``=`` is the default."""
    for usage, text in options.items():
        words = usage.split()
        names = [word.rstrip(",") for word in words if word.startswith("-")]
        if len(names) == len(words):
            group.add_argument(*names, action="store_true", help=text)
            continue
        value, has_default, default = words[-1].partition("=")
        if value.startswith("{"):
            choices = value.strip("{}").split(",")
            group.add_argument(*names, choices=choices, default=default or None, help=text)
            continue
        kind = _KINDS.get(value, str)
        usual = kind(default) if has_default else None
        group.add_argument(*names, type=kind, metavar=value, default=usual, help=text)


def require_at_least(arguments: argparse.Namespace, **least: int) -> None:
    """Refuse numbers of options that are less than the least that makes sense."""
    for name, number in least.items():
        given = getattr(arguments, name)
        if given is not None and given < number:
            bound = f"be at least {number}" if number else "not be negative"
            raise ParameterError(f"--{name.replace('_', '-')} must {bound}, got {given}")
