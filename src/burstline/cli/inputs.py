"""What commands read: traces, a region of them or several, within the memory allowed."""

from __future__ import annotations

import os
import resource
import shlex
import sys
from bisect import bisect_left
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict

import burstline
import burstline.formats.raw
from burstline import annotation, clocks, formats, selection, show
from burstline.cli import usage
from burstline.errors import (
    InconsistentTraceError,
    MemoryBudgetError,
    NotEnoughDataError,
    ParameterError,
    plural,
    printable,
)
from burstline.formats.documents import read_toml
from burstline.model import schema
from burstline.progress import SILENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from burstline.annotation import Marks
    from burstline.clocks import Effort, EffortModel
    from burstline.model import Trace
    from burstline.progress import Progress
    from burstline.show import Bar
    from burstline.structure import Structure

    Defects = list[dict[str, Any]]  # rows of the table

ANALYSED: Final = ("calls", "messages", "bursts", "regions", "gaps")
"""Tables that grow with the trace and that analyses ask for."""
DETECTED: Final = ("calls", "bursts")
"""Those of them that finding loops asks for."""
REPLAYED: Final = {
    "calls": 1.0, "messages": 1.85, "half_messages": 1.0, "collectives": 1.0,
    "collective_members": 2.0, "regions": 1.0, "teams": 4.0, "locks": 1.0, "gaps": 1.0,
    "bursts": 1.0,
}  # fmt: skip
"""Tables of what synchronises, which finding waits and replays ask for, and how often their
bytes count: a side of a message and a member of a collective are points in time, which have
more columns than they have."""
COPIES_REPLAYED: Final = 2.0
"""Copies of them: as read, and the columns and points that are made of them."""
CLOCKED: Final = REPLAYED | {"readings": 1.0}
"""The same where stamps of a logical clock take the place of those that were recorded."""
DETECTION: Final = ("method", "eps", "scale", "rank_merge", "min_share")
"""Options that :func:`burstline.detect` takes as they are."""
NAME_THE_LOOP: Final = "Name the loop, as `burstline structure` numbers it: --loop ID"

MODELLED: Final = "lt_hwctr"
"""The clock that an effort model is of."""
_WHOLE: Final = dict.fromkeys(("start", "end", "ranks", "app", "loop", "iterations"))
_COPIES: Final = 2  # of a table: as loaded, as an analysis sorts it; as selected is one more
# Copies while runs are matched and fused, of tables in a store and in memory.
_MERGED, _MERGED_HERE = 1.7, 2
_WAY_OUT: Final = (
    "Take a part of it (--from, --to, --ranks), a shorter one if you did, "
    "or allow more memory (--memory)."
)
LEAST_WINDOW: Final = 32 << 20
"""Bytes of records that are sorted at once, whatever is left of the memory."""
_SHARE_OF_MEMORY: Final = 0.6
_PREFIXES: Final = "kmgtp"
_PROC: Final = Path("/proc")
_GROUPS: Final = Path("/sys/fs/cgroup")
_UNKNOWN_MACHINE: Final = 2_000_000_000
_UNLIMITED: Final = 1 << 60  # about what version 1 of control groups writes for no limit


def read_selected(
    arguments: usage.Arguments,
    *,
    raw: bool = False,
    streams: bool = False,
    tables: Iterable[str] = ANALYSED,
    copies: float = _COPIES,
    names_cut: bool = False,
) -> Trace:
    """The region of interest of a trace, with its records if `raw`.

    Refused is what does not fit: `copies` of `tables`, and one more where a part is selected;
    if `names_cut`, with the cut that fits.
    """
    options: Any = {"raw": raw, "streams": streams, "tables": tables, "copies": copies}
    return read_with_whole(arguments, **options, names_cut=names_cut)[0]


def read_with_whole(
    arguments: usage.Arguments,
    *,
    raw: bool = False,
    streams: bool = False,
    tables: Iterable[str] = ANALYSED,
    copies: float = _COPIES,
    names_cut: bool = False,
) -> tuple[Trace, Trace]:
    """The region of interest of the trace that the arguments name, and the whole trace."""
    limits = limits_of(arguments)
    region, asked = region_asked(arguments), iterations_asked(arguments)
    with progress_bar(arguments) as progress:
        whole = read_trace(arguments, raw=raw, **limits, progress=progress)
    _say_if_unnamed(arguments.trace)
    _require_inside(region, whole)
    trace = whole  # if an analysis streams, a part at a time, all of it need not fit
    if region or asked or not streams:
        copies += bool(region or asked)
        trace = require(
            trace, limits["memory"], tables=tables, copies=copies, region=region,
            cut_of=arguments.trace if names_cut else None,
        )  # fmt: skip
    if not asked:
        return (burstline.select(trace, **region) if region else trace), whole
    region, loops = iterations_region(trace, region, asked, arguments)
    part = burstline.select(trace, **region)
    return annotation.with_loops(part, marks_within(loops, trace, part, region)), whole


def read_trace(
    arguments: usage.Arguments,
    path: Path | None = None,
    **options: Any,  # noqa: ANN401 -- as read
) -> Trace:
    """A trace, by default the one that the arguments name; its defects are remembered there."""
    trace = burstline.read(arguments.trace if path is None else path, **options)
    note_defects(arguments, trace.defects.to_pylist(), path)
    return trace


def note_defects(
    arguments: usage.Arguments, defects: Defects, path: Path | None = None
) -> None:
    """Remember the defects of what a command has read."""
    arguments.defects.append((str(arguments.trace if path is None else path), defects))


def warn_of_damage(arguments: usage.Arguments) -> None:
    """Say in one line each which traces were damaged, or interrupted, and lack something."""
    for path, rows in arguments.defects:
        lost = [row for row in rows if row["severity"] != "info"]
        if lost:
            told = ", ".join(f"{row['kind']} ({plural(row['count'], 'time')})" for row in lost)
            is_shown = arguments.command == "info" and len(arguments.defects) == 1
            see = "" if is_shown else f". See: burstline info {path}"
            show.note(f"warning: {path}: {printable(told)}{see}")


def clocks_asked(arguments: usage.Arguments, names: Sequence[str]) -> list[Effort]:
    """What clocks of some names count, by the options of a clock; `physical` counts nothing.

    Counters and an effort model are of one clock among them; all else is of each.
    """
    usage.require_at_least(arguments, call_cost=0)
    logical = [name for name in names if name in clocks.CLOCKS]
    given = arguments.counter, arguments.effort_model, arguments.call_cost
    if not logical and (any(each is not None for each in given) or arguments.without_mpi):
        raise ParameterError("what a clock counts is of logical ones: name one, as lt_stmt")
    for option, value in (("counters are", given[0]), ("an effort model is", given[1])):
        if value is not None and MODELLED not in logical:
            raise ParameterError(f"{option} of {MODELLED}, not of {', '.join(names)}")
    return [_effort(arguments, name) for name in logical]


def _effort(arguments: usage.Arguments, name: str) -> Effort:
    cost, mpi_work = arguments.call_cost, not arguments.without_mpi
    if name != MODELLED or arguments.effort_model is None:
        weights = _weights(arguments.counter) if name == MODELLED else {}
        return clocks.Effort(name, weights, cost, mpi_work)
    if arguments.counter is not None:
        raise ParameterError("an effort model names its counters: leave --counter out")
    return effort_model(arguments.effort_model).effort(cost, mpi_work=mpi_work)


def collectives_asked(arguments: usage.Arguments, *, is_logical: bool = True) -> str:
    """Who waits in collectives on a logical clock."""
    if arguments.collectives is not None and not is_logical:
        raise ParameterError("who waits in collectives is of logical clocks: name one")
    way: str = arguments.collectives or clocks.COLLECTIVES[0]
    return way


def _weights(text: str | None) -> dict[str, float]:
    """Counters and their weights, of ``A,B=2``."""
    weights = {}
    for part in (text or "").split(","):
        name, _, weight = part.strip().partition("=")
        if not name:
            continue
        try:
            weights[name] = float(weight or 1)
        except ValueError:
            raise ParameterError(
                f"{part}: a counter's weight is a number, as in PAPI_TOT_INS=2"
            ) from None
    return weights


def effort_model(name: str) -> EffortModel:
    """The effort model in a file."""
    path = Path(name)
    return clocks.model_in(read_toml(path, clocks.MOST_BYTES), path)


def whole(arguments: usage.Arguments, file: str) -> usage.Arguments:
    """The arguments of one of several traces, none of which is cut."""
    return usage.Arguments(**{**vars(arguments), **_WHOLE, "trace": file})


def region_asked(arguments: usage.Arguments) -> dict[str, Any]:
    """The region of interest as arguments of `select`; empty if the whole trace is wanted."""
    texts: dict[str, tuple[Callable[[Any], object], Any]] = {
        "start_ns": (selection.parse_time, arguments.start),
        "end_ns": (selection.parse_time, arguments.end),
        "ranks": (selection.parse_ranks, arguments.ranks),
        "application": (int, arguments.app),
    }
    return {name: parse(text) for name, (parse, text) in texts.items() if text is not None}


def poll_gap_asked(arguments: usage.Arguments) -> dict[str, int]:
    """How far failed polls may be apart to be waiting, as an argument of analyses, if said."""
    text = arguments.poll_gap
    return {} if text is None else {"poll_gap_ns": selection.parse_time(text)}


def say_gap_of_recorder(arguments: usage.Arguments, trace: Trace) -> None:
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


def progress_bar(arguments: usage.Arguments) -> Bar:
    """The progress bar that suits stderr and the arguments; a context."""
    live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    shown = not arguments.quiet and (live or arguments.progress)
    return show.Bar(sys.stderr if shown else None, live=live)


class Limits(TypedDict):
    """What a command may use: bytes, and threads."""

    memory: int
    threads: int


def limits_of(arguments: usage.Arguments) -> Limits:
    """What the arguments allow the command to use."""
    return {"memory": memory_budget(arguments), "threads": thread_count(arguments)}


def thread_count(arguments: usage.Arguments) -> int:
    """The number of threads the command may use."""
    if arguments.threads is None:
        return len(os.sched_getaffinity(0))
    usage.require_at_least(arguments, threads=1)
    return int(arguments.threads)


def iterations_asked(arguments: usage.Arguments) -> tuple[int, int, int] | None:
    """The loop, first and last iteration that are the region of interest, if there are any."""
    if arguments.loop is None:
        if arguments.iterations is None or arguments.command == "structure":
            return None
        raise ParameterError(f"--iterations of which loop? {NAME_THE_LOOP}")
    return (arguments.loop, *selection.parse_iterations(arguments.iterations or ":"))


def iterations_region(
    trace: Trace,
    region: Mapping[str, Any],
    asked: tuple[int, int, int],
    arguments: usage.Arguments,
) -> tuple[dict[str, Any], Marks]:
    """The region of some iterations, and all loops; what it is, is said on standard error."""
    part = burstline.select(trace, **region) if region else trace
    structure = detected(part, arguments)
    begin, end = burstline.structure.iterations_window(part, structure, *asked)
    (rank,), length_ns = part.arrays("locations", "rank"), end - begin
    runs = length_ns > 0
    ends = (length_ns[runs].min(), length_ns.max())
    span = " to ".join(dict.fromkeys(show.format_ns(int(length)) for length in ends))
    loop, first, last = asked
    show.note(f"iterations {first}:{last} of loop {loop} ({structure.method}): {span} a rank")
    if without := sorted(set(rank.tolist()) - set(rank[runs].tolist())):
        ranks = burstline.structure.compact(without)
        show.note(f"left out, because they do not run these iterations: ranks {ranks}")
    start_ns, end_ns = selection.former_windows(trace, part, begin, end)
    places = selection.former_locations(trace, part) if region else None
    loops = annotation.marks_of(structure, locations=places)
    return {"start_ns": start_ns, "end_ns": end_ns}, loops


def marks_within(marks: Marks, trace: Trace, part: Trace, region: Mapping[str, Any]) -> Marks:
    """The marks of a trace that are in the part which a region of iterations selects."""
    former = selection.former_locations(trace, part)
    return marks.within(former, region["start_ns"], region["end_ns"])


def detected(
    trace: Trace, arguments: usage.Arguments, progress: Progress = SILENCE
) -> Structure:
    """Find the loops of a trace, as the arguments say."""
    chosen = {name: getattr(arguments, name) for name in DETECTION if name in arguments}
    return burstline.detect(trace, **chosen, progress=progress)


def warn_of_twins(paths: Sequence[Path]) -> None:
    """Say which run is given twice: it agrees with itself in everything."""
    for number, path in enumerate(paths):
        for other in paths[:number]:
            if path.exists() and other.exists() and path.samefile(other):
                show.note(f"warning: {path} is given twice; nothing is learned from that")


def read_runs(
    paths: Sequence[Path], arguments: usage.Arguments, progress: Progress, *, beside: int = 0
) -> list[Trace]:
    """Read the runs, and refuse those of different numbers of ranks by name.

    Beside them the command takes some bytes more.
    """
    memory, threads = memory_budget(arguments), thread_count(arguments)
    copies = len(paths) * _MERGED
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


@contextmanager
def needs_of_all(memory: int, traces: float, beside: int = 0) -> Iterator[None]:
    """A block that reads one of several traces; a refusal says what all of them need."""
    try:
        yield
    except MemoryBudgetError as error:
        needed = formats.memory_of_all(error.needed_bytes, traces) + beside
        raise MemoryBudgetError(needed, memory, way_out=error.way_out) from None


def require_bytes(needed: int, memory: int) -> None:
    """Refuse runs that together need more than is allowed."""
    if needed > memory:
        raise MemoryBudgetError(needed, memory, way_out="Allow more memory (--memory).")


def bytes_to_merge(traces: Sequence[Trace]) -> int:
    """What matching and fusing runs takes, of those in memory with their tables."""
    tables = ("calls", "messages", "bursts")
    return sum(
        bytes_needed(trace, tables, _MERGED if trace.is_stored else _MERGED_HERE, {})
        for trace in traces
    )


def require_as_many_ranks(
    paths: Sequence[Path | str], traces: Sequence[Trace], aim: str
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


def require(
    trace: Trace,
    memory: int,
    *,
    tables: Iterable[str],
    copies: float,
    region: Mapping[str, Any],
    cut_of: str | None = None,
) -> Trace:
    """What `region` needs of a trace; refused if `copies` of that do not fit.

    The refusal names the cut of `cut_of`, a path, that fits.
    """
    if (needed := bytes_needed(trace, tables, copies, region)) > memory:
        cut = ""
        if cut_of is not None:
            cut = _cut_that_fits(
                trace, memory, tables, copies=copies, region=region, path=cut_of
            )
        raise MemoryBudgetError(needed, memory, way_out=cut or _WAY_OUT)
    if region and trace.is_stored:
        return selection.narrowed(trace, memory=int(memory / copies), **region)
    return trace


def _cut_that_fits(
    trace: Trace,
    memory: int,
    tables: Iterable[str],
    *,
    copies: float,
    region: Mapping[str, Any],
    path: str,
) -> str:
    """The cut of a trace whose first part fits, as a sentence; empty where hardly any does."""
    every = [name for name in schema.TABLES if name in trace and name not in schema.RAW_TABLES]
    died = max(trace.locations["died_ns"].to_pylist(), default=0)
    start, end = region.get("start_ns", 0), region.get("end_ns", died)
    lengths = [end - start]
    while lengths[-1] > (end - start) >> 10:
        lengths.append(lengths[-1] - -(-lengths[-1] // 8))

    def fits(length: int) -> bool:
        part = {**region, "start_ns": start, "end_ns": start + length}
        held = selection.estimate_bytes(trace, every, **part)
        used, counted = _sizes(trace, tables, part)
        return max(held, used) + copies * counted - used <= memory

    # Each question reads times of a store: the first that fits of those that get shorter.
    length = lengths[min(bisect_left(lengths, x=True, key=fits), len(lengths) - 1)]
    if length <= (end - start) >> 10:
        return ""
    window = f"--from {start}ns --to {start + length}ns"
    return f"A part that fits: burstline cut {shlex.quote(path)} -o part.store {window}"


def bytes_needed(
    trace: Trace, tables: Iterable[str], copies: float, region: Mapping[str, Any]
) -> int:
    """The bytes of `copies` of tables; the first is what is loaded, in memory all tables."""
    used, counted = _sizes(trace, tables, region)
    if trace.is_stored:
        return int(copies * counted)
    return bytes_held(trace) + int(copies * counted - used)


def _sizes(trace: Trace, tables: Iterable[str], region: Mapping[str, Any]) -> tuple[int, float]:
    """The bytes of tables, and those of each as often as it counts: once but of a mapping."""
    sizes = [(name, selection.estimate_bytes(trace, [name], **region)) for name in tables]
    weights = tables if isinstance(tables, Mapping) else {}
    return (
        sum(size for _, size in sizes),
        sum(size * weights.get(name, 1.0) for name, size in sizes),
    )


def bytes_held(trace: Trace) -> int:
    """The bytes of all tables of a trace in memory; none of one in a store."""
    if trace.is_stored:
        return 0
    return sum(trace.estimate_bytes(name) for name in schema.TABLES if name in trace)


def memory_budget(arguments: usage.Arguments) -> int:
    """The memory the command may use, in bytes."""
    if arguments.memory is not None:
        return parse_size(arguments.memory)
    return int(_SHARE_OF_MEMORY * available_memory())


def parse_size(text: str) -> int:
    """A size in bytes: ``2G`` is 2·10⁹, ``2Gi`` is 2·2³⁰.

    >>> [parse_size(text) for text in ("4096", "2G", "1.5GB", "512MiB")]
    [4096, 2000000000, 1500000000, 536870912]
    """
    unit = text.strip().lower().removesuffix("b")
    number = unit.rstrip("i" + _PREFIXES)
    prefix = unit[len(number) :]
    binary = len(prefix) == 2 and prefix[1] == "i"
    try:
        power = _PREFIXES.index(prefix[:1]) + 1 if prefix else 0
        size = int(float(number) * (1024 if binary else 1000) ** power)
    except (ValueError, OverflowError):
        size = 0
    if size <= 0 or len(prefix) > 1 + binary:
        raise ParameterError(f"{text!r} is no size; sizes are like 512M, 2G or 2GiB")
    return size


def available_memory(proc: Path = _PROC, groups: Path = _GROUPS) -> int:
    """The memory that is free for this process, in bytes."""
    return max(min(_bounds(proc, groups), default=_UNKNOWN_MACHINE), 0)


def _bounds(proc: Path, groups: Path) -> Iterator[int]:
    machine = _fields(proc / "meminfo").get("MemAvailable:")
    if machine is not None:
        yield machine * 1024
    for line in _read(proc / "self" / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield from _group_bounds(groups, path, ("memory.max", "memory.current"))
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
            yield from _group_bounds(groups / "memory", path, names)
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = _read(proc / "self" / "statm").split()
    if limit != resource.RLIM_INFINITY and pages:
        yield limit - int(pages[0]) * resource.getpagesize()


def _group_bounds(root: Path, path: str, names: tuple[str, str]) -> Iterator[int]:
    """What the group and each group around it have left."""
    group = root / path.lstrip("/")
    for place in (group, *group.parents):
        limit, used = (_read(place / name).strip() for name in names)
        if limit.isdigit() and used.isdigit() and int(limit) < _UNLIMITED:
            cached = _fields(place / "memory.stat").get("inactive_file", 0)
            yield int(limit) - int(used) + cached
        if place == root:
            return


def _fields(path: Path) -> dict[str, int]:
    words = (line.split() for line in _read(path).splitlines())
    return {row[0]: int(row[1]) for row in words if len(row) > 1 and row[1].isdigit()}


def _read(path: Path) -> str:
    """Read a file of the kernel; empty where there is none."""
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
