"""What commands read: traces, a region of them or several, within the memory allowed."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import burstline
import burstline.formats.raw
from burstline import distribution, formats, selection, show
from burstline.cli import usage
from burstline.cli.limits import limits_of, memory_budget, thread_count
from burstline.errors import (
    InconsistentTraceError,
    NotEnoughDataError,
    ParameterError,
    plural,
    printable,
)
from burstline.model import CHOSEN_RANKS, SILENT_THREADS
from burstline.progress import Progress
from burstline.quantities import format_bytes, format_ns
from burstline.run import (
    ANALYSED,
    RUNS_MERGED,
    Needs,
    bytes_to_merge,
    needs_of_all,
    require_bytes,
)

DETECTION: Final = ("method", "eps", "scale", "rank_merge", "min_share")
"""Options that :func:`burstline.detect` takes as they are."""
_JUDGING: Final = {"info", "waits", "report"}
"""Commands that say of a trace how far it may be judged."""
NAME_THE_LOOP: Final = "Name the loop, as `burstline structure` numbers it: --loop ID"


def run_of(
    arguments: usage.Arguments,
    path: str | None = None,
    *,
    raw: bool = False,
    memory: int | None = None,
    region: Mapping[str, Any] | None = None,
) -> burstline.Run:
    """The region of interest of a trace, by default the one that the arguments name.

    It has its records if `raw`, takes `memory` bytes instead of those allowed, and is `region`
    instead of what the arguments ask for. Which iterations were chosen is said on standard
    error.
    """
    path = arguments.trace if path is None else path
    asked = loop_asked(arguments) if region is None else None
    region = region_asked(arguments) if region is None else region
    limits = limits_of(arguments)
    if memory is not None:
        limits["memory"] = memory
    with progress_bar(arguments) as progress:
        whole = read_trace(arguments, path, raw=raw, **limits, progress=progress)
    _say_if_unnamed(path)
    _require_inside(region, whole)
    workers = None
    if not region and asked is None:
        workers = workers_asked(arguments, limits["memory"])
    elif getattr(arguments, "scheduler", None) is not None:
        show.note("a region of interest is looked at in this process, without workers")
    opened = burstline.Run(whole, **limits, path=path, workers=workers)
    return part_of(opened, region, asked, arguments)


def workers_asked(arguments: usage.Arguments, memory: int) -> distribution.DaskWorkers | None:
    """The workers that the arguments name, for as long as the command runs."""
    if getattr(arguments, "scheduler", None) is None:
        return None
    if "workers" in arguments:  # of another trace of the same command
        return arguments.workers
    with progress_bar(arguments) as progress:
        progress.step("Starting workers", 0, "")
        workers: distribution.DaskWorkers = arguments.closing.enter_context(
            distribution.workers_of(arguments.scheduler, memory=memory)
        )
    if workers.dashboard:
        show.note(f"what workers do: {workers.dashboard}")
    arguments.closing.callback(_say_peaks, workers, arguments)
    arguments.workers = workers
    return workers


def _say_peaks(workers: distribution.DaskWorkers, arguments: usage.Arguments) -> None:
    """Say how much memory workers had, if they worked."""
    if workers.peaks and not arguments.quiet:
        most = format_bytes(max(workers.peaks.values()))
        busy = ", ".join(f"{seconds:.1f}" for seconds in sorted(workers.busy_s.values()))
        count = plural(len(workers.peaks), "worker")
        show.note(f"{count}, busy for {busy} s, at most {most} of memory each")


def part_of(
    opened: burstline.Run,
    region: Mapping[str, Any],
    asked: tuple[int, int, int] | None,
    arguments: usage.Arguments,
) -> burstline.Run:
    """A region of a run, and iterations of a loop there, which are said on standard error."""
    part = opened.part(**region, iterations=asked, **detection(arguments))
    if chosen := part.chosen:
        ends = dict.fromkeys(map(format_ns, (chosen.shortest_ns, chosen.longest_ns)))
        which = f"iterations {chosen.first}:{chosen.last} of loop {chosen.loop}"
        show.note(f"{which} ({chosen.method}): {' to '.join(ends)} a rank")
        if chosen.without:
            ranks = burstline.structure.compact(chosen.without)
            show.note(f"left out, because they do not run these iterations: ranks {ranks}")
    return part


def read_selected(
    arguments: usage.Arguments,
    path: str | None = None,
    *,
    tables: Iterable[str] = ANALYSED,
    copies: float = 2,
    **options: Any,  # noqa: ANN401 -- as of run_of
) -> burstline.Trace:
    """The region of interest of a trace; refused if `copies` of `tables` do not fit."""
    opened = run_of(arguments, path, **options)
    weights = tables if isinstance(tables, Mapping) else dict.fromkeys(tables, 1.0)
    opened.require(Needs(weights, copies))
    return opened.trace


def read_trace(
    arguments: usage.Arguments,
    path: str | Path | None = None,
    **options: Any,  # noqa: ANN401 -- as read
) -> burstline.Trace:
    """A trace, by default the one that the arguments name; its defects are remembered there."""
    trace = burstline.read(arguments.trace if path is None else path, **options)
    rows = trace.defects.to_pylist()
    note_defects(arguments, rows, path)
    silent = [row["first"] for row in rows if row["kind"] == SILENT_THREADS]
    if silent and arguments.command not in _JUDGING:
        show.note(
            f"OpenMP is that of {printable(silent[0])}, which tells nothing of its threads: "
            "what they did, if it made any, is not in the trace"
        )
    return trace


def note_defects(
    arguments: usage.Arguments, defects: list[dict[str, Any]], path: str | Path | None = None
) -> None:
    """Remember the defects of what a command has read."""
    arguments.defects.append((str(arguments.trace if path is None else path), defects))


def warn_of_damage(arguments: usage.Arguments) -> None:
    """Say in one line each which traces were damaged, or interrupted, and lack something."""
    for path, rows in arguments.defects:
        chosen = next((row["first"] for row in rows if row["kind"] == CHOSEN_RANKS), None)
        if chosen is not None and arguments.command not in _JUDGING:
            show.note(
                f"{path}: only ranks {printable(chosen)} were recorded: what the others did, "
                "and how long these wait for them, is not known"
            )
        lost = [row for row in rows if row["severity"] != "info"]
        if lost:
            told = ", ".join(f"{row['kind']} ({plural(row['count'], 'time')})" for row in lost)
            is_shown = arguments.command == "info" and len(arguments.defects) == 1
            see = "" if is_shown else f". See: burstline info {path}"
            show.note(f"warning: {path}: {printable(told)}{see}")


def region_asked(arguments: usage.Arguments) -> dict[str, Any]:
    """The region of interest as arguments of `select`; empty if the whole trace is wanted."""
    parsers: dict[str, tuple[str, Callable[[Any], object]]] = {
        "start": ("start_ns", selection.parse_time),
        "end": ("end_ns", selection.parse_time),
        "ranks": ("ranks", selection.parse_ranks),
        "app": ("application", int),
    }
    given = {option: getattr(arguments, option, None) for option in parsers}
    return {
        name: parse(given[option])
        for option, (name, parse) in parsers.items()
        if given[option] is not None
    }


def region_text(arguments: usage.Arguments, part: burstline.Run) -> str:
    """The part of a run that was asked for, in words; empty if that is all of it."""
    asked, said = region_asked(arguments), []
    if "start_ns" in asked or "end_ns" in asked:
        begin = format_ns(asked["start_ns"]) if "start_ns" in asked else "the begin"
        end = format_ns(asked["end_ns"]) if "end_ns" in asked else "the end"
        said.append(f"from {begin} to {end}")
    if "ranks" in asked:
        (ranks,) = part.trace.arrays("locations", "rank")
        said.append(f"ranks {burstline.structure.compact(set(ranks.tolist()))}")
    if "application" in asked:
        said.append(f"application {asked['application']}")
    if chosen := part.chosen:
        many = chosen.first != chosen.last
        which = f"{chosen.first} to {chosen.last}" if many else str(chosen.first)
        said.append(f"iteration{'s' * many} {which} of loop {chosen.loop}")
    return ", ".join(said)


def poll_gap_asked(arguments: usage.Arguments) -> dict[str, int]:
    """How far failed polls may be apart to be waiting, as an argument of analyses, if said."""
    text = arguments.poll_gap
    return {} if text is None else {"poll_gap_ns": selection.parse_time(text)}


def say_gap_of_recorder(arguments: usage.Arguments, trace: burstline.Trace) -> None:
    """Say where a gap is asked for that the recorder has chosen: it keeps sums, not polls."""
    if arguments.poll_gap is None:
        return
    parts = trace.batches("bursts", ("waiting_ns",))
    measured = sum(part.num_rows - part["waiting_ns"].null_count for part in parts)
    if measured:
        bursts = plural(measured, "burst")
        show.note(
            f"burstline: --poll-gap does not change {bursts}: the recorder judged their polls "
            "while the program ran, by the gap of burstline record --poll-gap"
        )


def _require_inside(region: Mapping[str, Any], whole: burstline.Trace) -> None:
    """Say that a window is beside the trace: an analysis of nothing would only puzzle."""
    start = region.get("start_ns", 0)
    end = max(whole.locations["died_ns"].to_pylist(), default=0)
    if start and start >= end:
        raise NotEnoughDataError(
            f"nothing is left: --from {format_ns(start)} is outside the trace, which "
            f"ends at {format_ns(end)}"
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


def progress_bar(arguments: usage.Arguments) -> show.Bar:
    """The progress bar that suits stderr and the arguments; a context."""
    live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    shown = not arguments.quiet and (live or arguments.progress)
    return show.Bar(sys.stderr if shown else None, live=live)


def loop_asked(arguments: usage.Arguments) -> tuple[int, int, int] | None:
    """The loop, first and last iteration that are the region of interest, if there are any."""
    if arguments.loop is None:
        if arguments.iterations is None or arguments.command == "structure":
            return None
        raise ParameterError(f"--iterations of which loop? {NAME_THE_LOOP}")
    return (arguments.loop, *selection.parse_iterations(arguments.iterations or ":"))


def detection(arguments: usage.Arguments) -> dict[str, Any]:
    """How loops are found, as the arguments say."""
    return {name: getattr(arguments, name) for name in DETECTION if name in arguments}


def warn_of_twins(paths: Sequence[Path]) -> None:
    """Say which run is given twice: it agrees with itself in everything."""
    for number, path in enumerate(paths):
        for other in paths[:number]:
            if path.exists() and other.exists() and path.samefile(other):
                show.note(f"warning: {path} is given twice; nothing is learned from that")


def read_runs(
    paths: Sequence[Path], arguments: usage.Arguments, progress: Progress, *, beside: int = 0
) -> list[burstline.Trace]:
    """Read runs, with bytes `beside` them left free; refuse different numbers of ranks."""
    memory, threads = memory_budget(arguments), thread_count(arguments)
    copies = len(paths) * RUNS_MERGED
    each = formats.memory_each(memory - beside, copies)
    traces, has_loops = [], True
    for path in paths:
        with needs_of_all(memory, copies, beside):
            trace = read_trace(
                arguments, path, raw=False, memory=each, threads=threads, progress=progress
            )
        if has_loops and "loops_left_out" in trace.defects["kind"].to_pylist():
            show.note(
                f"warning: {path} is read without its loops: allow more memory (--memory)"
            )
            has_loops = False
        traces.append(trace)
    require_bytes(bytes_to_merge(traces) + beside, memory)
    for path, trace in zip(paths, traces, strict=True):
        if not trace.rows("bursts"):
            raise NotEnoughDataError(f"{path} has no bursts: no thread of it makes two calls")
    require_as_many_ranks(paths, traces, "merged")
    return traces


def require_as_many_ranks(
    paths: Sequence[Path | str], traces: Sequence[burstline.Trace], aim: str
) -> None:
    """Refuse runs of different numbers of ranks by name; `aim` is what they cannot be."""
    places = [trace.locations.select(["application", "rank"]) for trace in traces]
    ranks = [len({tuple(row.values()) for row in place.to_pylist()}) for place in places]
    if len(set(ranks)) > 1:
        told = ", ".join(f"{path}: {count}" for path, count in zip(paths, ranks, strict=True))
        raise InconsistentTraceError(
            f"the runs have different numbers of ranks ({told}). Only runs of one program on "
            f"as many ranks can be {aim}"
        )
