"""How loops are found: options that commands share, and the structure they ask for.

::

    add_detection(parser)  ->  arguments  ->  detected(trace, arguments)  ->  Structure
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import burstline

if TYPE_CHECKING:
    import argparse

    from burstline.structure import Structure
    from burstline.trace import Trace

_METHODS: Final = ("auto", "seed", "exact")
DETECTION: Final = ("method", "eps", "scale", "rank_merge", "min_share")
"""What :func:`add_detection` adds, as :func:`burstline.detect` calls it."""


def add_detection(parser: argparse.ArgumentParser) -> None:
    """Add how loops are found."""
    group = parser.add_argument_group("how loops are found")
    group.add_argument(
        "--method",
        choices=_METHODS,
        default="auto",
        help="seed: as published; exact: lossless; auto: seed where it is true to 0.999",
    )
    group.add_argument(
        "--eps", type=float, default=0.2, metavar="X", help="distance within a loop (0.2)"
    )
    group.add_argument(
        "--scale",
        choices=("log", "minmax"),
        default="log",
        help="how repetitions and times are compared: as ratios, or within their range",
    )
    group.add_argument(
        "--rank-merge",
        choices=("late", "early"),
        default="late",
        help="seed: merge equal calls of ranks after their loops are found, or before",
    )
    group.add_argument(
        "--min-share",
        type=float,
        default=0.1,
        metavar="X",
        help="leave out calls that span less of the run than this (0.1)",
    )


def detected(trace: Trace, arguments: argparse.Namespace) -> Structure:
    """Find the loops of a trace."""
    return burstline.detect(trace, **{name: getattr(arguments, name) for name in DETECTION})
