"""``burstline convert``: the same trace in another format."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack

import burstline
from burstline import formats, record, show
from burstline.cli import usage
from burstline.cli.inputs import is_recorded, note_defects, progress_bar
from burstline.cli.limits import limits_of
from burstline.cli.products import output_path, print_written, written_rows
from burstline.formats import atomic, otf2, paraver, store
from burstline.formats import raw as raw_files
from burstline.model import schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from burstline.cli.limits import Limits
    from burstline.progress import Progress
    from burstline.record import Resolver

DESCRIPTION: Final = """\
Write TRACE in another format; the ending of OUTPUT says in which. A store opens at once
and holds traces larger than memory; CSV and Parquet folders have one file per table, for
other programs; ui.perfetto.dev and chrome://tracing show a .perfetto.json.
"""
EXAMPLES: Final = """\
examples:
  burstline convert run.prv run.store
  burstline convert big.prv.gz big.store --no-raw --memory 2G
  burstline convert run.store -o run.prv
  burstline convert run.prv run.parquet
  burstline convert run.prv run.perfetto.json.gz
  burstline convert run.prv run.otf2                   for Scalasca and Vampir
"""
_WITHOUT: Final = "leave out the records themselves: smaller, but no way back to the same .prv"
OPTIONS: Final = (
    usage.TRACE | usage.OUTPUT | {"--no-raw": _WITHOUT} | usage.FORMAT | usage.RESOURCES
)


def run(arguments: usage.Arguments) -> None:
    """Convert the trace and say what was written."""
    path = output_path(arguments)
    raw, limits = not arguments.no_raw, limits_of(arguments)
    source = Path(arguments.trace)
    resolver = record.Resolver() if is_recorded(source) else None
    with progress_bar(arguments) as progress:
        if resolver is not None:
            written = write_recorded(
                source, path, resolver, raw=raw, **limits, progress=progress
            )
        elif path.suffix == ".store" and is_paraver(source):
            paraver.convert(source, path, raw=raw, **limits, progress=progress)
            written = written_rows(store.read(path), path)
        elif path.suffix == ".store" and source.exists() and otf2.find_anchor(source):
            otf2.convert(source, path, **limits, progress=progress)
            written = written_rows(store.read(path), path)
        else:
            trace = burstline.read(arguments.trace, raw=raw, **limits, progress=progress)
            if not raw:
                from burstline.model import overlaid  # noqa: PLC0415 -- loads NumPy

                trace = overlaid(trace, {}, without=schema.RAW_TABLES)
            memory = limits["memory"]
            formats.write(trace, path, overwrite=True, memory=memory, progress=progress)
            written = written_rows(trace, path)
    note_defects(arguments, written["defects"])
    if resolver is not None:
        say_unnamed(resolver)
        say_silent_threads(written)
    lost = {"messages": 0, "collectives": 0, "calls_clipped": 0}
    document = written | {"lost": lost, "time_offset_ns": 0}
    print_written(arguments, path, document)


def write_recorded(
    folder: Path,
    path: Path,
    resolver: Resolver,
    *,
    raw: bool,
    progress: Progress,
    name: str | None = None,
    **limits: Unpack[Limits],
) -> dict[str, Any]:
    """Write the raw files of a run, of any size, as a trace; count its rows.

    The trace says that it is made of `name`, by default of the folder.
    """
    memory, threads, records = limits["memory"], limits["threads"], formats.is_prv(path)
    read: dict[str, Any] = {"raw": raw, "progress": progress, "resolve": resolver, "name": name}
    if path.suffix == ".store":
        raw_files.convert(folder, path, **limits, **read)
        return written_rows(store.read(path), path)
    with ExitStack() as stack:
        if raw_files.fits(folder, memory, records=records):
            trace = raw_files.read(folder, threads=threads, **read)
        else:
            made = stack.enter_context(atomic.scratch(path)) / "run.store"
            raw_files.convert(folder, made, records=records, **limits, **read)
            trace = store.read(made)
        formats.write(trace, path, overwrite=True, memory=memory, progress=progress)
        return written_rows(trace, path)


def say_unnamed(resolver: Resolver) -> None:
    """Say in one line which modules have places without names, if any."""
    if said := record.unnamed(resolver.problems):
        show.note(f"burstline: {said}")


def say_silent_threads(written: Mapping[str, Any]) -> None:
    """Say which library of OpenMP told nothing of its threads, if one did, and the way out."""
    names = [row["first"] for row in written["defects"] if row["kind"] == schema.SILENT_THREADS]
    for name in names:
        show.note(
            f"burstline: OpenMP is that of {name}, which tells nothing of its threads: what "
            "they did, if it made any, is not in the trace. LLVM's library can stand in for "
            "it: put LD_PRELOAD=libomp.so (on Debian libomp.so.5) before burstline record"
        )


def is_paraver(path: Path) -> bool:
    """Whether there is a file that is a Paraver trace by its name."""
    return formats.is_prv(path) and path.is_file()
