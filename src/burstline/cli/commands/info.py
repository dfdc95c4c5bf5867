"""``burstline info``: what is in a trace, and how well the program used its ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import burstline
from burstline import answers, show
from burstline.cli import usage
from burstline.cli.inputs import (
    detection,
    loop_asked,
    poll_gap_asked,
    region_asked,
    run_of,
    say_gap_of_recorder,
    warn_of_twins,
)
from burstline.cli.limits import memory_budget
from burstline.cli.products import print_view
from burstline.errors import ParameterError
from burstline.run import COPIES_REPLAYED, REPLAYED, Needs

DESCRIPTION: Final = """\
Tell first, in at most five sentences, whether the run of TRACE may be judged, what its
time step costs, which factor of the efficiency hurts most, who waits for whom, and what
was not recorded. Then show what is in TRACE: ranks, nodes and duration, MPI calls by
operation with their time and bytes, messages, counters, call paths; the parallel
efficiency; and what was odd or could not be seen.
Of a profile (.cubex), show the totals of its metrics.
Of two traces or more, compare runs of a program with the first: global efficiency,
computation scalability, and their factors.
"""
EXAMPLES: Final = """\
examples:
  burstline info run.prv
  burstline info run.prv --quick                       without loops and waits
  burstline info run.prv --from 2s --to 3s --ranks 0-7
  burstline info run.prv --loop 1 --iterations 5:      without the first four iterations
  burstline info run.prv --span trace                  comparable with BasicAnalysis
  burstline info run.prv --full                        also why communication costs time
  burstline info run.prv --format json | python -m json.tool
  burstline info run.prv --format csv > calls.csv      calls by operation
  burstline info 4ranks.prv 8ranks.prv 16ranks.prv     the same problem on more ranks
  burstline info 4ranks.prv 8ranks.prv --scaling weak  a problem that grows with the ranks
  burstline info scout.cubex                           what Scalasca found
"""
_MOST_S: Final = 5
"""Of a processor, for loops and waits: more is not spent unasked."""
_SUMMARY: Final = {
    "--quick": "only what one pass over the trace tells: no loops, no waits, no verdict",
    "--top N=12": "operations to list (12)",
    "--span {init-finalize,trace}=init-finalize": "the time whose efficiency is shown: from "
    "MPI_Init to MPI_Finalize (default), or the whole trace, as BasicAnalysis takes it",
    "--scaling {strong,weak}": "of several traces: whether all solve the same problem (strong, "
    "the default), or one that grows with the ranks",
    "--full": "split the communication efficiency into serialisation (ranks wait for each "
    "other in turn) and transfer (messages take time)",
    **usage.POLL_GAP,
}
OPTIONS: Final = {
    "traces TRACE +": usage.TRACES,
    **usage.FORMAT,
    **usage.REGION,
    **usage.RESOURCES,
    **usage.WORKERS,
    "the summary": _SUMMARY,
}


def run(arguments: usage.Arguments) -> None:
    """Print a summary of a trace or the totals of a profile, or compare runs."""
    usage.require_at_least(arguments, top=1)
    if arguments.full and arguments.span == "trace":
        raise ParameterError(
            "--full is of the time from MPI_Init to MPI_Finalize: leave --span trace out"
        )
    arguments.trace = arguments.traces[0]
    if len(arguments.traces) > 1:
        view: show.View = _compared(arguments)
    elif arguments.scaling is not None:
        raise ParameterError("--scaling is of runs that are compared: name at least two traces")
    elif arguments.trace.endswith(".cubex"):
        view = _profile(arguments)
    else:
        options: Any = poll_gap_asked(arguments)
        options |= {"span": arguments.span, "full": arguments.full}
        opened = _opened(arguments, arguments.trace)
        summary = opened.summary(**options)
        is_part = bool(region_asked(arguments)) or loop_asked(arguments) is not None
        view = show.SummaryView(summary, arguments.top, is_part, _verdict(arguments, opened))
    print_view(arguments, view)


def _verdict(arguments: usage.Arguments, opened: burstline.Run) -> answers.Verdict | None:
    """The verdict on the run, unless nobody would see it; what costs much is left out."""
    if arguments.quick or arguments.format == "csv":
        return None
    asked: Any = poll_gap_asked(arguments) | {"span": arguments.span}
    return opened.verdict(**asked, **detection(arguments), most_s=_MOST_S)


def _opened(arguments: usage.Arguments, path: str) -> burstline.Run:
    opened = run_of(arguments, path, raw=arguments.span == "trace")
    say_gap_of_recorder(arguments, opened.trace)
    return opened


def _part(arguments: usage.Arguments, path: str) -> burstline.Trace:
    """One of several runs; a replay needs all of it at once."""
    opened = _opened(arguments, path)
    opened.require(Needs(REPLAYED, COPIES_REPLAYED) if arguments.full else None)
    return opened.trace


def _compared(arguments: usage.Arguments) -> show.View:
    """The runs beside the first; each is read when the one before was measured."""
    paths = arguments.traces
    for path in paths:
        if path.endswith(".cubex"):
            raise ParameterError(f"{path} is a profile: runs are compared by their traces")
    if arguments.span == "trace":
        raise ParameterError(
            "runs are compared from MPI_Init to MPI_Finalize: leave --span trace out"
        )
    warn_of_twins([Path(path) for path in paths])
    parts = (_part(arguments, path) for path in paths)
    options: Any = poll_gap_asked(arguments) | {"full": arguments.full}
    if arguments.scaling is not None:
        options["scaling"] = arguments.scaling
    return show.ScalabilityView(burstline.scalability(parts, **options))


def _profile(arguments: usage.Arguments) -> show.View:
    region = (arguments.start, arguments.end, arguments.ranks, arguments.app)
    if any(option is not None for option in region) or loop_asked(arguments):
        raise ParameterError(
            f"{arguments.trace} is a profile: it has no times, so no part of it can be chosen"
        )
    profile = burstline.read_profile(arguments.trace, memory=memory_budget(arguments))
    return show.ProfileView(profile, arguments.trace)
