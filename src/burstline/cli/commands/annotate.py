"""``burstline annotate``: loops and iterations as events of the trace, for Paraver."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Final

import burstline
from burstline import annotation, extrae, formats, selection, show
from burstline.cli import usage
from burstline.cli.inputs import loop_asked, part_of, progress_bar, read_trace, region_asked
from burstline.cli.limits import limits_of
from burstline.cli.products import output_path, print_view, require_apart, require_free
from burstline.errors import MemoryBudgetError, NotEnoughDataError, ParameterError, plural
from burstline.formats import atomic, derivation
from burstline.run import ANALYSED, LEAST_WINDOW, REPLAYED, Needs, bytes_held

DESCRIPTION: Final = """\
Write a copy of TRACE in which every iteration of every loop is an event, so that Paraver
shows the structure of the program in its timeline; with --waits, every wait, too. Nothing
else of the trace changes.
With a region of interest, loops are looked for there; the copy is still whole.
"""
EXAMPLES: Final = """\
examples:
  burstline annotate run.prv -o loops.prv
  burstline annotate run.prv -o loops.prv --cfg-dir cfgs     with files for Paraver
  burstline annotate run.prv -o waits.prv --waits            and what threads wait for
  burstline annotate run.prv.gz -o loops.prv.gz --max-depth 2
  burstline annotate run.prv -o loops.prv --from 2s --to 30s
"""
OPTIONS: Final = {
    **usage.ANALYSIS,
    **usage.OUTPUT,
    "--method {auto,seed,exact}=auto": "how loops are found; seed: the published method; "
    "auto: the best there is",
    "--max-depth N": "leave out loops that are nested deeper",
    "--waits": "mark waits, too: what for, how long, and the rank that causes it",
    "--cfg-dir DIR": "write ready configurations of Paraver there, too",
}
_COPIES: Final = 4  # of a table: as loaded, as selected, as detection sorts it, as marks
_EVENT_BYTES: Final = 80
"""Of an event in memory, copied with marks among them."""
_CALL_BYTES: Final = 300
"""Of a call, for the loops around it and their marks."""


def run(arguments: usage.Arguments) -> None:
    """Find the loops of the trace, write it with them, and say what was added."""
    path = output_path(arguments)
    configurations = _configurations(arguments)
    usage.require_at_least(arguments, max_depth=1)
    limits = limits_of(arguments)
    memory = limits["memory"]
    with progress_bar(arguments) as progress:
        trace = read_trace(arguments, raw=True, **limits, progress=progress)
        marked = trace.rows("calls") * _CALL_BYTES
        _require_room(trace, memory, marked)
        marks = _found(trace, arguments, memory)
        if not marks.loops and not marks.waits:
            raise NotEnoughDataError(
                "no loop was found, so there is nothing to annotate; "
                "--from and --to can keep it from what comes before and after"
            )
        if not trace.has_raw:
            trace = derivation.with_records(trace)
        made = annotation.annotated(trace, marks)
        added = (made.rows("events") - trace.rows("events")) * _EVENT_BYTES
        window = max(memory - marked - added, LEAST_WINDOW)
        formats.write(made, path, overwrite=True, memory=window, progress=progress)
        for file in configurations:
            file.parent.mkdir(parents=True, exist_ok=True)
        with atomic.outputs(list(configurations)) as parts:
            for part, data in zip(parts, configurations.values(), strict=True):
                part.write(data)
    _print(arguments, path, marks)


def _require_room(trace: burstline.Trace, memory: int, marked: int) -> None:
    """Refuse what does not fit beside its copy; what a store holds is copied in parts."""
    way_out = "Convert it to a store, which is annotated in parts, or allow more (--memory)."
    if not trace.has_raw:
        needed = derivation.bytes_with_records(trace) + marked
        way_out = "Convert the original trace without --no-raw, or cut a part first."
    elif trace.is_stored:
        return
    else:
        needed = bytes_held(trace) + trace.rows("events") * _EVENT_BYTES + marked
    if needed > memory:
        raise MemoryBudgetError(needed, memory, way_out=way_out)


def _found(trace: burstline.Trace, arguments: usage.Arguments, memory: int) -> annotation.Marks:
    """Find the loops of the region of interest, and place them in the whole trace."""
    region, asked = region_asked(arguments), loop_asked(arguments)
    whole = burstline.Run(trace, memory=memory, path=arguments.trace)
    opened = part_of(whole, region, asked, arguments)
    tables = dict.fromkeys(ANALYSED, 1.0) | (REPLAYED if arguments.waits else {})
    opened.require(Needs(tables, _COPIES))
    structure = opened.structure(method=arguments.method)
    places = selection.former_locations(trace, opened.trace) if region or asked else None
    marks = annotation.marks_of(structure, max_depth=arguments.max_depth, locations=places)
    if not arguments.waits:
        return marks
    return annotation.with_waits(marks, opened.waits(), locations=places)


def _configurations(arguments: usage.Arguments) -> dict[Path, bytes]:
    """The configurations to write, once it is sure that nothing is lost by it."""
    if arguments.cfg_dir is None:
        return {}
    folder = Path(arguments.cfg_dir)
    if folder.exists() and not folder.is_dir():
        raise ParameterError(f"{folder} is a file. Give a folder as --cfg-dir")
    configurations = {folder / name: data for name, data in shipped_configurations()}
    require_apart(arguments, *configurations)
    for file in configurations:
        require_free(file, force=arguments.force, other="folder")
    return configurations


def shipped_configurations() -> Iterator[tuple[str, bytes]]:
    """Name and content of the configurations of Paraver that ship with the package."""
    folder = files("burstline") / "data" / "cfgs"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        yield file.name, file.read_bytes()


def _print(arguments: usage.Arguments, path: Path, marks: annotation.Marks) -> None:
    """Say what was added: to people on stderr, to programs on stdout."""
    iterations = {depth: marks.iterations(depth) for depth in range(1, marks.depth + 1)}
    document: dict[str, object] = {
        "loops": [loop.as_dict() for loop in marks.loops],
        "iterations": {str(depth): count for depth, count in iterations.items()},
        "types": {str(number): count for number, count in marks.types.items()},
    }
    count = plural(sum(iterations.values()), "iteration")
    if marks.waits:
        waits = int(((marks.type == extrae.WAIT_STATE) & (marks.value > 0)).sum())
        document["waits"] = waits
        count += f" and {plural(waits, 'wait')}"
    added = f"{path}: {count} as {plural(len(marks.time_ns), 'event')} added"
    notes = [*(loop.name for loop in marks.loops), added]
    shown = show.Outcome(document, ("type", "events"), marks.types.items(), notes=notes)
    print_view(arguments, shown)
