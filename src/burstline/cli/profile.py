"""``burstline info P.cubex``: the totals of a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import burstline
from burstline import show
from burstline.cli.inputs.iterations import iterations_asked
from burstline.cli.inputs.options import memory_budget
from burstline.errors import ParameterError

if TYPE_CHECKING:
    import argparse

_COLUMNS: Final = ("metric", "parent", "title", "unit", "total")


def is_profile(path: str) -> bool:
    """Whether a file is a profile and no trace, by its name."""
    return path.endswith(".cubex")


def run(arguments: argparse.Namespace) -> None:
    """Read a profile and print its totals."""
    region = (arguments.start, arguments.end, arguments.ranks, arguments.app)
    if any(option is not None for option in region) or iterations_asked(arguments):
        raise ParameterError(
            f"{arguments.trace} is a profile: it has no times, so no part of it can be chosen"
        )
    profile = burstline.read_profile(arguments.trace, memory=memory_budget(arguments))
    if arguments.format == "table":
        show.print_profile(arguments.trace, profile)
        return
    rows = show.totals(profile)
    if arguments.format == "json":
        show.print_json({"path": arguments.trace, "metrics": rows})
    else:
        show.print_csv(_COLUMNS, ([row[name] for name in _COLUMNS] for row in rows))
