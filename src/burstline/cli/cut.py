"""``burstline cut``: a part of a trace, as a trace of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from burstline.cli.convert import write_trace
from burstline.cli.inputs.iterations import iterations_asked, iterations_region
from burstline.cli.inputs.options import (
    add_trace_options,
    memory_budget,
    progress_bar,
    thread_count,
)
from burstline.cli.products.traces import (
    add_output,
    kept_rows,
    output_path,
    print_written,
    whole_bursts,
)
from burstline.errors import NotEnoughDataError, ParameterError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from burstline.trace import Trace

_DESCRIPTION: Final = """\
Write a part of TRACE as a trace of its own: a window of time, some ranks, some iterations of
a loop, or what all of them have in common. Its times begin at 0. Calls that lie on a border
are clipped to it; messages and collectives that a border cuts through are lost, and counted.
"""
_COPIES: Final = 4  # of a table: as loaded, as selected, as shifted, as written
_EXAMPLES: Final = """\
examples:
  burstline cut run.prv -o part.prv --from 2s --to 3s
  burstline cut run.prv -o start.prv.gz --first 500ms
  burstline cut run.prv -o end.prv --last 1s --ranks 0-7
  burstline cut run.prv -o steps.prv --loop 1 --iterations 10:12
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "cut",
        help="a part of a trace, as a trace of its own",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
    )
    add_trace_options(parser)
    add_output(parser)
    ends = parser.add_mutually_exclusive_group()
    ends.add_argument("--first", metavar="TIME", help="only so much from the begin")
    ends.add_argument("--last", metavar="TIME", help="only so much before the end")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Cut the trace and say what was kept and what was lost."""
    path = output_path(arguments)
    window, asked = _window(arguments), iterations_asked(arguments)
    memory, threads = memory_budget(arguments), thread_count(arguments)
    import burstline  # noqa: PLC0415 -- `burstline --help` stays fast
    from burstline import schema  # noqa: PLC0415 -- as above
    from burstline.cli.inputs.budget import ANALYSED, require  # noqa: PLC0415 -- as above
    from burstline.formats.paraver import completed  # noqa: PLC0415 -- as above
    from burstline.selection import losses, shift  # noqa: PLC0415 -- as above

    with progress_bar(arguments) as progress:
        before = burstline.read(
            arguments.trace, raw=True, memory=memory, threads=threads, progress=progress
        )
        window = _placed(window, before)
        if asked:
            known = require(before, memory, tables=ANALYSED, copies=_COPIES, region=window)
            window = iterations_region(known, window, asked, arguments)
        near = require(before, memory, tables=schema.TABLES, copies=_COPIES, region=window)
        selected = burstline.select(near, **window)
        start, end = window.get("start_ns"), window.get("end_ns")
        if not _reaches(selected):
            raise NotEnoughDataError("nothing is left: the window is outside the trace")
        offset = _first_moment(selected) if asked else start or 0
        whole = completed(before, selected, start_ns=start, end_ns=end, near=near)
        part = shift(whole, -offset)
        write_trace(part, path, memory=memory, progress=progress)
    lost = losses(near, selected)
    document: dict[str, Any] = {
        "kept": kept_rows(selected) | {"bursts": whole_bursts(selected)},
        "lost": {
            "messages": lost.messages,
            "collectives": lost.collectives,
            "calls_clipped": lost.calls_clipped,
        },
        "time_offset_ns": offset,
    }
    print_written(arguments, path, document)


def _window(arguments: argparse.Namespace) -> dict[str, Any]:
    """Give the arguments as those of `select`, and perhaps a length `first` or `last`."""
    edge = arguments.first or arguments.last
    if edge is not None and (arguments.start is not None or arguments.end is not None):
        raise ParameterError("--first and --last exclude --from and --to")
    from burstline.selection import parse_ranks, parse_time  # noqa: PLC0415 -- NumPy

    texts: dict[str, tuple[Callable[[Any], object], Any]] = {
        "start_ns": (parse_time, arguments.start),
        "end_ns": (parse_time, arguments.end),
        "first": (parse_time, arguments.first),
        "last": (parse_time, arguments.last),
        "ranks": (parse_ranks, arguments.ranks),
        "application": (int, arguments.app),
    }
    window = {name: parse(text) for name, (parse, text) in texts.items() if text is not None}
    if not window and arguments.loop is None:
        raise ParameterError(
            "say which part: --from, --to, --first, --last, --ranks, --app or --loop"
        )
    return window


def _placed(window: dict[str, Any], trace: Trace) -> dict[str, Any]:
    """Turn the length of the first or last part into a window."""
    placed = {name: value for name, value in window.items() if name not in {"first", "last"}}
    born, died = trace.arrays("locations", "born_ns", "died_ns")
    if "first" in window:
        placed["end_ns"] = int(born.min(initial=died.max(initial=0))) + window["first"]
    if "last" in window:
        placed["start_ns"] = max(int(died.max(initial=0)) - window["last"], 0)
    return placed


def _first_moment(selected: Trace) -> int:
    """Give when the first location enters its window; ranks stay as far apart as they are."""
    return int(selected.locations["born_ns"].to_numpy().min())


def _reaches(selected: Trace) -> bool:
    """Tell whether anybody was observed in the window."""
    born, died = selected.arrays("locations", "born_ns", "died_ns")
    return bool((died > born).any())
