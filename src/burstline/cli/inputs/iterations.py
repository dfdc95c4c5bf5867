"""Iterations of a loop as region of interest of every command: ``--loop``, ``--iterations``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import burstline
from burstline import selection, show
from burstline.cli import usage
from burstline.cli.inputs.detection import DETECTION
from burstline.errors import ParameterError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from burstline.trace import Trace

_OPTIONS: Final = {
    "--loop ID": "only this loop, as structure numbers it",
    "--iterations A:B": "only these of its iterations: 1, 3:7, :10, -5:",
}
_NEGATIVE: Final = re.compile(r"-\d+(:-?\d*)?$|-\d*\.\d+$")
WAY_OUT: Final = "Name the loop, as `burstline structure` numbers it: --loop ID"


class Asked(NamedTuple):
    """Iterations somebody asked for, as they were written."""

    loop: int
    first: int
    last: int


def add_loop_region(parser: argparse.ArgumentParser, group: argparse._ArgumentGroup) -> None:
    """Add the iterations of a loop to the region of interest."""
    # argparse would take -5: for an option, as it once took -5
    parser._negative_number_matcher = _NEGATIVE  # noqa: SLF001 -- see above
    usage.add(group, _OPTIONS)


def iterations_asked(arguments: argparse.Namespace) -> Asked | None:
    """The iterations that are the region of interest; None if no loop was chosen."""
    if arguments.loop is None:
        if arguments.iterations is None or getattr(arguments, "has_loop_table", False):
            return None
        raise ParameterError(f"--iterations of which loop? {WAY_OUT}")
    return Asked(arguments.loop, *selection.parse_iterations(arguments.iterations or ":"))


def iterations_region(
    trace: Trace, region: Mapping[str, Any], asked: Asked, arguments: argparse.Namespace
) -> dict[str, Any]:
    """The region of some iterations; what it is, is said on standard error."""
    part = burstline.select(trace, **region) if region else trace
    chosen = {name: getattr(arguments, name) for name in DETECTION if name in arguments}
    structure = burstline.detect(part, **chosen)
    begin, end = burstline.structure.iterations_window(part, structure, *asked)
    _explain(part, asked, structure.method, end - begin)
    start_ns, end_ns = selection.former_windows(trace, part, begin, end)
    return {"start_ns": start_ns, "end_ns": end_ns}


def _explain(trace: Trace, asked: Asked, method: str, length_ns: Any) -> None:  # noqa: ANN401 -- an array; NumPy is not loaded yet
    (rank,) = trace.arrays("locations", "rank")
    inside = set(rank[length_ns > 0].tolist())
    lengths = [
        show.format_ns(int(each)) for each in (length_ns[length_ns > 0].min(), length_ns.max())
    ]
    span = " to ".join(dict.fromkeys(lengths))
    show.note(
        f"iterations {asked.first}:{asked.last} of loop {asked.loop} ({method}): {span} a rank"
    )
    without = sorted(set(rank.tolist()) - inside)
    if without:
        ranks = burstline.structure.compact(without)
        show.note(f"left out, because they do not run these iterations: ranks {ranks}")
