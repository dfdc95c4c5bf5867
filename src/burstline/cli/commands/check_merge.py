"""``burstline check-merge``: how far counters can be trusted after matching runs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import burstline
from burstline import formats, merge, show
from burstline.cli import usage
from burstline.cli.inputs import (
    progress_bar,
    read_selected,
    region_asked,
    require_as_many_ranks,
    warn_of_twins,
)
from burstline.cli.limits import memory_budget, thread_count
from burstline.cli.products import picture_file, print_view, write_figure
from burstline.errors import ParameterError, plural
from burstline.run import ANALYSED, Needs, bytes_needed, needs_of_all, require_bytes

DESCRIPTION: Final = """\
Match the bursts of runs that recorded the same counters, and say of each counter how well
it repeats: the correlation, the mean difference, the share of bursts that agree within
30 %, and a verdict: trust, with care, do not use, or no information of one that is always
0. What cannot be reproduced from run to run cannot be taken from one run into another.
"""
EXAMPLES: Final = """\
examples:
  burstline check-merge run1.prv run2.prv run3.prv        a verdict for each counter
  burstline check-merge run1.prv run2.prv --by phase      the loops where counters differ
  burstline check-merge run1.prv run2.prv --by call-path --top 3
  burstline check-merge run1.prv run2.prv --method seed   matched as published
  burstline check-merge run1.prv run2.prv --plot check.svg
  burstline check-merge run1.prv run2.prv --format json | python -m json.tool

pictures need an extra: pip install 'burstline[plot]'
"""
_RUNS: Final = "two or more runs of one program on as many ranks: .prv, .prv.gz, or stores"
_CHECK: Final = {
    "--method {align,seed}=align": "how bursts are matched: in the program's order (default), "
    "or as published",
    "--by {call-path,phase}": "also say where each counter differs: at which calls, or in "
    "which loops",
    "--top N=5": "places to list with --by (5)",
    "--plot FILE": "draw boxes, scatter plots, correlations: .svg or .png",
    **usage.FORCE,
}
OPTIONS: Final = {
    "traces TRACE +": _RUNS,
    **usage.FORMAT,
    "the check": _CHECK,
    "region of interest: of every run": usage.SAME_PLACES,
    **usage.RESOURCES,
}
_COPIES: Final = 3  # of tables, while bursts are matched and compared


def run(arguments: usage.Arguments) -> None:
    """Match the runs, compare their counters, and say how they agree."""
    paths = arguments.traces
    if len(paths) < 2:
        raise ParameterError("check-merge compares runs: name at least two traces")
    usage.require_at_least(arguments, top=0)
    picture = picture_file(arguments.plot, force=arguments.force)
    warn_of_twins([Path(path) for path in paths])
    traces = _read(arguments)
    with progress_bar(arguments) as progress:
        check = merge.check(
            traces,
            method=arguments.method,
            by=arguments.by or "",
            names=paths,
            threads=thread_count(arguments),
            progress=progress,
        )
    view = show.CheckView(check, paths, arguments.top)
    if picture is not None:
        write_figure(picture, view.figures()["quality"])
        quantities = plural(len(show.drawn_of(check)), "quantity", "quantities")
        show.note(f"{picture}: {quantities} of {check.matching.runs} runs")
    print_view(arguments, view)
    for doubt in show.doubts(check):
        show.note(doubt)


def _read(arguments: usage.Arguments) -> list[burstline.Trace]:
    """Read every run, each with its part of the memory and the same region of interest."""
    paths = arguments.traces
    memory = memory_budget(arguments)
    each = formats.memory_each(memory, len(paths))
    region = region_asked(arguments)
    traces = []
    for path in paths:
        with needs_of_all(memory, len(paths)):
            traces.append(
                read_selected(arguments, path, copies=_COPIES, memory=each, region=region)
            )
    needs = Needs(ANALYSED, _COPIES)
    require_bytes(sum(bytes_needed(run, needs) for run in traces), memory)
    aim = "compared; --ranks takes the same ones of each"
    require_as_many_ranks(paths, traces, aim)
    return traces
