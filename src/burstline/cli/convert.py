"""``burstline convert``: the same trace in another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from burstline.cli.options import (
    add_format,
    add_resources,
    add_trace,
    memory_budget,
    progress_bar,
    thread_count,
)
from burstline.cli.outputs import add_output, kept_rows, output_path, print_written

if TYPE_CHECKING:
    import argparse

    from burstline.progress import Progress
    from burstline.trace import Trace

_DESCRIPTION: Final = """\
Write TRACE in another format; the ending of OUTPUT says in which. A store opens at once
and holds traces larger than memory; CSV and Parquet folders have one file per table, for
other programs.
"""
_EXAMPLES: Final = """\
examples:
  burstline convert run.prv run.store
  burstline convert big.prv.gz big.store --no-raw --memory 2G
  burstline convert run.store -o run.prv
  burstline convert run.prv run.parquet
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "convert",
        help="the same trace in another format",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
    )
    add_trace(parser)
    add_output(parser)
    parser.add_argument(
        "--no-raw",
        action="store_true",
        help="leave out the records themselves: smaller, but no way back to the same .prv",
    )
    add_format(parser)
    add_resources(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Convert the trace and say what was written."""
    path = output_path(arguments)
    memory, threads = memory_budget(arguments), thread_count(arguments)
    with progress_bar(arguments) as progress:
        if path.suffix == ".store" and is_paraver(Path(arguments.trace)):
            from burstline.formats import store  # noqa: PLC0415 -- `--help` stays fast

            to_store(
                arguments.trace,
                path,
                raw=not arguments.no_raw,
                memory=memory,
                threads=threads,
                progress=progress,
            )
            trace = store.open_store(path)
        else:
            trace = _read(arguments, memory=memory, threads=threads, progress=progress)
            if arguments.no_raw:
                from burstline.formats.overlay import overlaid  # noqa: PLC0415 -- as above
                from burstline.schema import RAW_TABLES  # noqa: PLC0415 -- as above

                trace = overlaid(trace, {}, without=RAW_TABLES)
            write_trace(trace, path, memory=memory, progress=progress)
    lost = {"messages": 0, "collectives": 0, "calls_clipped": 0}
    document = {"kept": kept_rows(trace), "lost": lost, "time_offset_ns": 0}
    print_written(arguments, path, document)


def _read(
    arguments: argparse.Namespace, *, memory: int, threads: int, progress: Progress
) -> Trace:
    import burstline  # noqa: PLC0415 -- `--help` stays fast
    from burstline.formats.raw import recognises  # noqa: PLC0415 -- as above
    from burstline.record.merging import read_recorded  # noqa: PLC0415 -- as above

    path, raw = Path(arguments.trace), not arguments.no_raw
    if recognises(path):
        return read_recorded(path, raw=raw, progress=progress)
    return burstline.read(path, raw=raw, memory=memory, threads=threads, progress=progress)


def is_paraver(path: Path) -> bool:
    """Tell whether a file is a Paraver trace, by its name."""
    return path.name.endswith((".prv", ".prv.gz")) and path.is_file()


def to_store(
    source: str, path: Path, *, raw: bool, memory: int, threads: int, progress: Progress
) -> None:
    """Convert a Paraver trace of any size to a store."""
    from burstline.formats import atomic  # noqa: PLC0415 -- `--help` stays fast
    from burstline.formats.paraver.converting import convert  # noqa: PLC0415 -- as above

    with atomic.replacement(path) as part:
        convert(Path(source), part, raw=raw, memory=memory, threads=threads, progress=progress)


def write_trace(trace: Trace, path: Path, *, memory: int, progress: Progress) -> None:
    """Write a trace in the format that the ending of the name says; replaces what is there."""
    from burstline.formats import atomic, store, tables  # noqa: PLC0415 -- `--help` stays fast
    from burstline.formats.paraver import writer  # noqa: PLC0415 -- as above

    if path.suffix == ".store":
        with atomic.replacement(path) as part:
            store.write_store(trace, part, progress=progress)
    elif path.suffix in {".csv", ".parquet"}:
        tables.write(trace, path, progress=progress)
    else:
        writer.write(trace, path, memory=memory, progress=progress)
