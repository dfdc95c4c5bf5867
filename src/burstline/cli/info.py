"""``burstline info``: what is in a trace, and how well the program used its ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import burstline
from burstline import show
from burstline.cli import profile
from burstline.cli.inputs.options import add_trace_options, read_selected
from burstline.errors import ParameterError

if TYPE_CHECKING:
    import argparse

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
  burstline info run.prv --format json | python -m json.tool
  burstline info run.prv --format csv > calls.csv      calls by operation
  burstline info scout.cubex                           what Scalasca found
"""
_CSV_COLUMNS: Final = ("operation", "count", "time_ns", "bytes_sent", "bytes_received")
_TOP: Final = 12


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_trace_options(parser)
    parser.add_argument(
        "--top", type=int, default=_TOP, metavar="N", help=f"operations to list ({_TOP})"
    )


def run(arguments: argparse.Namespace) -> None:
    """Summarise the trace and print the summary."""
    if arguments.top < 1:
        raise ParameterError(f"--top must be at least 1, got {arguments.top}")
    if profile.is_profile(arguments.trace):
        profile.run(arguments)
        return
    trace = read_selected(arguments, streams=True)
    summary = burstline.summarise(trace)
    if arguments.format == "table":
        show.print_summary(summary, top=arguments.top)
        return
    document = summary.as_dict()
    if arguments.format == "json":
        show.print_json(document)
    else:
        calls = document["calls"]
        show.print_csv(_CSV_COLUMNS, ((name, *calls[name].values()) for name in calls))
