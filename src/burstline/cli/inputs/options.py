"""Options that several commands share, and how a trace is read by them."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict

import burstline
import burstline.formats.raw
from burstline import selection, show
from burstline.cli import usage
from burstline.cli.inputs.iterations import add_loop_region, iterations_asked, iterations_region
from burstline.cli.inputs.memory import ANALYSED, memory_budget, require
from burstline.errors import NotEnoughDataError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from burstline.show import Bar
    from burstline.trace import Trace

_COPIES: Final = 3  # of a table: as loaded, as selected, as an analysis sorts it
_REGION_HELP: Final = "all options of the region of interest combine"
_RESOURCES: Final = {
    "--memory SIZE": "most memory to use, as 2G or 512Mi (default: 60 %% of what is free)",
    "--threads N": "threads to use (default: all CPUs allowed)",
    "--quiet": "no progress bar",
    "--progress": "report progress without a terminal, too",
}


def add_trace_options(parser: argparse.ArgumentParser) -> None:
    """Add everything an analysis of one trace takes: trace, format, region, resources."""
    add_trace(parser)
    add_format(parser)
    add_region(parser)
    add_resources(parser)


def add_trace(parser: argparse.ArgumentParser) -> None:
    """Add the trace itself."""
    parser.add_argument(
        "trace",
        metavar="TRACE",
        help="a .prv, .prv.gz or .otf2 file, a store, or a folder of raw files or tables",
    )


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add how the result is printed."""
    printed = "how the result is printed (default: table)"
    usage.add(parser, {"--format {table,json,csv}=table": printed})


def add_region(parser: argparse.ArgumentParser) -> None:
    """Add the region of interest."""
    group = parser.add_argument_group("region of interest", _REGION_HELP)
    group.add_argument("--from", dest="start", metavar="TIME", help="from there: 1.5s, 300ms")
    group.add_argument("--to", dest="end", metavar="TIME", help="up to there, exclusive")
    usage.add(group, usage.SAME_PLACES)
    add_loop_region(parser, group)


def add_resources(parser: argparse.ArgumentParser) -> None:
    """Add what the command may use, and how much it says."""
    usage.add(parser.add_argument_group("resources"), _RESOURCES)


def read_selected(
    arguments: argparse.Namespace, *, raw: bool = False, streams: bool = False
) -> Trace:
    """Read the trace that the arguments name, and cut it to their region of interest.

    With `raw` its records are read, too; with `streams` the analysis goes through a whole
    trace in a store a part at a time, so that all of it need not fit.
    """
    return read_with_whole(arguments, raw=raw, streams=streams)[0]


def read_with_whole(
    arguments: argparse.Namespace, *, raw: bool = False, streams: bool = False
) -> tuple[Trace, Trace]:
    """Read a trace as :func:`read_selected` does, and give the whole of it, too."""
    limits = limits_of(arguments)
    region, asked = region_asked(arguments), iterations_asked(arguments)
    with progress_bar(arguments) as progress:
        whole = burstline.read(arguments.trace, raw=raw, **limits, progress=progress)
    _say_if_unnamed(arguments.trace)
    _require_inside(region, whole)
    trace = whole
    if region or asked or not streams:
        trace = require(trace, limits["memory"], tables=ANALYSED, copies=_COPIES, region=region)
    if asked:
        region = iterations_region(trace, region, asked, arguments)
    return (burstline.select(trace, **region) if region else trace), whole


def region_asked(arguments: argparse.Namespace) -> dict[str, Any]:
    """The region of interest as arguments of `select`; empty if the whole trace is wanted."""
    texts: dict[str, tuple[Callable[[Any], object], Any]] = {
        "start_ns": (selection.parse_time, arguments.start),
        "end_ns": (selection.parse_time, arguments.end),
        "ranks": (selection.parse_ranks, arguments.ranks),
        "application": (int, arguments.app),
    }
    return {name: parse(text) for name, (parse, text) in texts.items() if text is not None}


def _require_inside(region: dict[str, Any], whole: Trace) -> None:
    """Say that a window is beside the trace: an analysis of nothing would only puzzle."""
    start = region.get("start_ns", 0)
    end = max(whole.locations["died_ns"].to_pylist(), default=0)
    if start and start >= end:
        raise NotEnoughDataError(
            f"nothing is left: --from {show.format_ns(start)} is outside the trace, which "
            f"ends at {show.format_ns(end)}"
        )


def _say_if_unnamed(path: str) -> None:
    """Raw files name places by address: names want the machine that recorded them."""
    if is_recorded(Path(path)):
        show.note(
            "burstline: functions and lines are not resolved; where it was recorded, "
            f"burstline convert {shlex.quote(path)} X.prv gives a trace that has them"
        )


def is_recorded(path: Path) -> bool:
    """Whether a folder holds raw files of the recorder."""
    return path.is_dir() and burstline.formats.raw.recognises(path)


def progress_bar(arguments: argparse.Namespace) -> Bar:
    """The progress bar that suits stderr and the arguments; a context."""
    live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    shown = not arguments.quiet and (live or arguments.progress)
    return show.Bar(sys.stderr if shown else None, live=live)


class Limits(TypedDict):
    """What a command may use: bytes, and threads."""

    memory: int
    threads: int


def limits_of(arguments: argparse.Namespace) -> Limits:
    """What the arguments allow the command to use."""
    return {"memory": memory_budget(arguments), "threads": thread_count(arguments)}


def thread_count(arguments: argparse.Namespace) -> int:
    """The number of threads the command may use."""
    if arguments.threads is None:
        return len(os.sched_getaffinity(0))
    usage.require_at_least(arguments, threads=1)
    return int(arguments.threads)
