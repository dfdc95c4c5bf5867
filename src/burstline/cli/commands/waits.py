"""``burstline waits``: where time is lost in waiting, and who causes it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import burstline
from burstline import show
from burstline.cli import usage
from burstline.cli.clock_options import clocks_asked, collectives_asked
from burstline.cli.inputs import detection, run_of
from burstline.cli.products import print_view, require_free
from burstline.errors import ParameterError, plural
from burstline.formats import atomic

DESCRIPTION: Final = """\
Say where the program of TRACE loses time by waiting, and who causes it: late senders and
receivers, collectives, barriers, OpenMP, idle threads; costs of delays, the critical path.
"""
EXAMPLES: Final = """\
examples:
  burstline waits run.prv
  burstline waits run.otf2 -o waits.cubex           for Cube, and for burstline info
  burstline waits run.prv --from 2s --to 3s         only this second
  burstline waits run.prv --by iteration            each iteration of the largest loop
  burstline waits run.prv --by loop                 each loop, with its efficiency
  burstline waits run.prv --by 500ms                each half of a second
  burstline waits run.otf2 --like scalasca-2.6      as Scalasca computes it, to compare
  burstline waits run.prv --metric comp             where it computes, not where it waits
  burstline waits run.prv --correct                 where clocks of nodes disagree
  burstline waits run.store --clock lt_stmt         without the noise of the machine
  burstline waits run.store --clock lt_stmt --call-cost 0
  burstline waits run.store --clock lt_hwctr --effort-model fitted.toml
  burstline waits run.store --intrinsic             what the machine added, and where
  burstline waits run.store --scheduler local:4     loops and sums by workers
  burstline waits run.prv --format json | python -m json.tool
  burstline waits run.prv --format csv > waits.csv  all values, by call path and rank
"""
_WAITS: Final = {
    "-o, --output FILE": "write the profile as FILE.cubex",
    **usage.FORCE,
    "--clock {physical,lt_1,lt_loop,lt_bb,lt_stmt,lt_hwctr}=physical": "the clock of the "
    "stamps: time, or ticks of what the program did: events, OpenMP iterations, basic blocks, "
    "statements, instructions (default: physical)",
    "--like {scalasca-2.6}": "keep the oddities of that tool, to compare with its reports",
    "--by PART": "also by iteration (of the loop that --loop names, else of the largest), "
    "loop, node, rank, or window of time: 500ms",
    "--correct": "move stamps that break cause and effect, where clocks disagree",
    "--intrinsic": "set waits beside those that the program alone makes, by its counted work: "
    "the machine added the rest",
    "--metric NAME": "the metric whose places are shown, by its name in JSON or in the table: "
    "comp, mpi, mpi_latesender, delay, critical_path, … (default: the largest wait, and what "
    "causes it)",
    "--top N=5": "call paths and ranks to show (5)",
}
OPTIONS: Final = (
    usage.ANALYSIS | usage.WORKERS | {"waits": _WAITS, "a logical clock": usage.EFFORT}
)


def run(arguments: usage.Arguments) -> None:
    """Find the waits of the trace and print them."""
    usage.require_at_least(arguments, top=1)
    if (metric := arguments.metric) is not None:
        metric = burstline.waits.metric_named(metric)
    path = None if arguments.output is None else Path(arguments.output)
    if path is not None:
        if path.suffix != ".cubex":
            raise ParameterError(f"{path}: the ending of a profile is .cubex")
        require_free(atomic.in_folder(path), force=arguments.force)
    loop = _loop(arguments)
    efforts = clocks_asked(arguments, [arguments.clock])
    collectives = collectives_asked(arguments, is_logical=bool(efforts))
    opened = run_of(arguments)
    waits = opened.waits(
        like=arguments.like,
        clock=efforts[0] if efforts else arguments.clock,
        collectives=collectives,
        by=arguments.by,
        loop=loop,
        correct=arguments.correct,
        intrinsic=arguments.intrinsic,
    )
    # Before anything is written: it may have to give up.
    checks = () if arguments.format == "csv" else opened.checks(waits, **detection(arguments))
    if path is not None:
        burstline.write(waits.profile, path, overwrite=arguments.force)
        show.note(f"{path}: {plural(len(waits.profile.stored), 'metric')}")
    print_view(arguments, show.WaitsView(waits, arguments.top, metric, checks))


def _loop(arguments: usage.Arguments) -> int | None:
    """The loop whose iterations are told: then it is no region of interest."""
    if arguments.by != "iteration":
        return None
    if arguments.iterations is not None:
        raise ParameterError("--by iteration tells all iterations: leave --iterations out")
    loop: int | None = arguments.loop
    arguments.loop = None
    return loop
