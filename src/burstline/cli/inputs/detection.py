"""How loops are found: options that commands share, and the structure they ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import burstline
from burstline.cli import usage

if TYPE_CHECKING:
    import argparse

    from burstline.structure import Structure
    from burstline.trace import Trace

_OPTIONS: Final = {
    "--method {auto,seed,exact}=auto": "seed: as published; exact: lossless; auto: seed where "
    "it is true to 0.999",
    "--eps X=0.2": "distance within a loop (0.2)",
    "--scale {log,minmax}=log": "how repetitions and times are compared: as ratios, or within "
    "their range",
    "--rank-merge {late,early}=late": "seed: merge equal calls of ranks after their loops are "
    "found, or before",
    "--min-share X=0.1": "leave out calls that span less of the run than this (0.1)",
}
DETECTION: Final = ("method", "eps", "scale", "rank_merge", "min_share")
"""What :func:`add_detection` adds, as :func:`burstline.detect` calls it."""


def add_detection(parser: argparse.ArgumentParser) -> None:
    """Add how loops are found."""
    usage.add(parser.add_argument_group("how loops are found"), _OPTIONS)


def detected(trace: Trace, arguments: argparse.Namespace) -> Structure:
    """Find the loops of a trace."""
    return burstline.detect(trace, **{name: getattr(arguments, name) for name in DETECTION})
