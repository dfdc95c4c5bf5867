"""``burstline cut``: a part of a trace, as a trace of its own."""

from __future__ import annotations

from typing import Any, Final

import burstline
from burstline import annotation, formats, selection
from burstline.cli import usage
from burstline.cli.inputs import loop_asked, part_of, progress_bar, read_trace, region_asked
from burstline.cli.limits import limits_of
from burstline.cli.products import kept_rows, output_path, print_written, whole_bursts
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.formats import paraver
from burstline.model import schema
from burstline.run import CUT_FROM_STORE, CUT_HERE, Needs, require

DESCRIPTION: Final = """\
Write a part of TRACE as a trace of its own: a window of time, some ranks, some iterations of
a loop, or what all of them have in common. Its times begin at 0. Calls that lie on a border
are clipped to it; messages and collectives that a border cuts through are lost, and counted.
"""
EXAMPLES: Final = """\
examples:
  burstline cut run.prv -o part.prv --from 2s --to 3s
  burstline cut run.prv -o start.prv.gz --first 500ms
  burstline cut run.prv -o end.prv --last 1s --ranks 0-7
  burstline cut run.prv -o steps.prv --loop 1 --iterations 10:12
"""
_ENDS: Final = {
    "--first TIME": "only so much from the begin",
    "--last TIME": "only so much before the end",
}
OPTIONS: Final = usage.ANALYSIS | usage.OUTPUT | {usage.ONE_OF: _ENDS}


def run(arguments: usage.Arguments) -> None:
    """Cut the trace and say what was kept and what was lost."""
    path = output_path(arguments)
    window, asked = _window(arguments), loop_asked(arguments)
    limits = limits_of(arguments)
    memory = limits["memory"]
    loops = None
    with progress_bar(arguments) as progress:
        before = read_trace(arguments, raw=True, **limits, progress=progress)
        window = _placed(window, before)
        copies = CUT_FROM_STORE if before.is_stored else CUT_HERE
        if asked:
            opened = burstline.Run(before, memory=memory, path=arguments.trace)
            if chosen := part_of(opened, window, asked, arguments).chosen:
                window = {"start_ns": chosen.start_ns, "end_ns": chosen.end_ns}
                loops = chosen.marks
        near = require(before, memory, Needs(tuple(schema.TABLES), copies), window)
        selected = burstline.select(near, **window)
        start, end = window.get("start_ns"), window.get("end_ns")
        born, died = selected.arrays("locations", "born_ns", "died_ns")
        if not (died > born).any():
            raise NotEnoughDataError("nothing is left: the window is outside the trace")
        # The first location enters its window at 0; ranks stay as far apart as they are.
        offset = int(born.min()) if asked else start or 0
        whole = paraver.completed(before, selected, start_ns=start, end_ns=end, near=near)
        if loops is not None and whole.has_raw:
            whole = annotation.annotated(whole, loops)
        part = burstline.shift(whole, -offset)
        formats.write(part, path, overwrite=True, memory=memory, progress=progress)
    lost = selection.losses(near, selected)
    kinds = ("messages", "collectives", "calls_clipped")
    document: dict[str, Any] = {
        "kept": kept_rows(selected) | {"bursts": whole_bursts(selected)},
        "lost": {kind: getattr(lost, kind) for kind in kinds},
        "time_offset_ns": offset,
    }
    print_written(arguments, path, document)


def _window(arguments: usage.Arguments) -> dict[str, Any]:
    """The arguments as those of `select`, and perhaps a length `first` or `last`."""
    edge = arguments.first or arguments.last
    if edge is not None and (arguments.start is not None or arguments.end is not None):
        raise ParameterError("--first and --last exclude --from and --to")
    window = region_asked(arguments)
    for name, text in (("first", arguments.first), ("last", arguments.last)):
        if text is not None:
            window[name] = selection.parse_time(text)
    if not window and arguments.loop is None:
        raise ParameterError(
            "say which part: --from, --to, --first, --last, --ranks, --app or --loop"
        )
    return window


def _placed(window: dict[str, Any], trace: burstline.Trace) -> dict[str, Any]:
    """Turn the length of the first or last part into a window."""
    placed = {name: value for name, value in window.items() if name not in {"first", "last"}}
    born, died = trace.arrays("locations", "born_ns", "died_ns")
    if "first" in window:
        placed["end_ns"] = int(born.min(initial=died.max(initial=0))) + window["first"]
    if "last" in window:
        placed["start_ns"] = max(int(died.max(initial=0)) - window["last"], 0)
    return placed
