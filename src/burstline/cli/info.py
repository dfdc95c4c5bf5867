"""``burstline info``: what is in a trace, and how well the program used its ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import burstline
from burstline import show
from burstline.cli import usage
from burstline.cli.inputs import (
    COPIES_REPLAYED,
    REPLAYED,
    iterations_asked,
    memory_budget,
    poll_gap_asked,
    read_selected,
    say_gap_of_recorder,
)
from burstline.cli.products import print_view
from burstline.errors import ParameterError

if TYPE_CHECKING:
    from burstline.show import View
    from burstline.trace import Trace

DESCRIPTION: Final = """\
Show what is in TRACE: ranks, nodes and duration, MPI calls by operation with their
time and bytes, messages, counters, call paths; the parallel efficiency; and what was
odd or could not be seen. Of a profile (.cubex), show the totals of its metrics.
"""
EXAMPLES: Final = """\
examples:
  burstline info run.prv
  burstline info run.prv --from 2s --to 3s --ranks 0-7
  burstline info run.prv --loop 1 --iterations 5:      without the first four iterations
  burstline info run.prv --span trace                  comparable with BasicAnalysis
  burstline info run.prv --full                        also why communication costs time
  burstline info run.prv --format json | python -m json.tool
  burstline info run.prv --format csv > calls.csv      calls by operation
  burstline info scout.cubex                           what Scalasca found
"""
_SUMMARY: Final = {
    "--top N=12": "operations to list (12)",
    "--span {init-finalize,trace}=init-finalize": "the time whose efficiency is shown: from "
    "MPI_Init to MPI_Finalize (default), or the whole trace, as BasicAnalysis takes it",
    "--full": "split the communication efficiency into serialisation (ranks wait for each "
    "other in turn) and transfer (messages take time)",
    **usage.POLL_GAP,
}
OPTIONS: Final = usage.ANALYSIS | {"the summary": _SUMMARY}


def run(arguments: usage.Arguments) -> None:
    """Print a summary of the trace, or the totals of a profile."""
    usage.require_at_least(arguments, top=1)
    if arguments.trace.endswith(".cubex"):
        view: View = _profile(arguments)
    else:
        options: Any = poll_gap_asked(arguments)
        options |= {"span": arguments.span, "full": arguments.full}
        trace = _read(arguments, raw=arguments.span == "trace")
        say_gap_of_recorder(arguments, trace)
        summary = burstline.summarise(trace, **options)
        view = show.SummaryView(summary, arguments.top)
    print_view(arguments, view)


def _read(arguments: usage.Arguments, *, raw: bool) -> Trace:
    if arguments.full:  # a replay needs all of the trace at once
        return read_selected(
            arguments, raw=raw, tables=REPLAYED, copies=COPIES_REPLAYED, names_cut=True
        )
    return read_selected(arguments, raw=raw, streams=True)


def _profile(arguments: usage.Arguments) -> View:
    region = (arguments.start, arguments.end, arguments.ranks, arguments.app)
    if any(option is not None for option in region) or iterations_asked(arguments):
        raise ParameterError(
            f"{arguments.trace} is a profile: it has no times, so no part of it can be chosen"
        )
    profile = burstline.read_profile(arguments.trace, memory=memory_budget(arguments))
    return show.ProfileView(profile, arguments.trace)
