"""``burstline convert``: the same trace in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import burstline
from burstline import formats, record, show
from burstline.cli import usage
from burstline.cli.inputs import is_recorded, note_defects, progress_bar, workers_asked
from burstline.cli.limits import limits_of
from burstline.cli.products import output_path, print_written, written_rows
from burstline.errors import ParameterError
from burstline.formats import otf2, paraver, store
from burstline.model import schema

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
  burstline convert run-raw run.store --scheduler local:4   by workers, each some ranks
  burstline convert run.prv run.store --scheduler slurm.toml   each some of the text
"""
_WITHOUT: Final = "leave out the records themselves: smaller, but no way back to the same .prv"
OPTIONS: Final = (
    usage.TRACE
    | usage.OUTPUT
    | {"--no-raw": _WITHOUT}
    | usage.FORMAT
    | usage.WORKERS
    | usage.RESOURCES
)


def run(arguments: usage.Arguments) -> None:
    """Convert the trace and say what was written."""
    path = output_path(arguments)
    raw, limits = not arguments.no_raw, limits_of(arguments)
    source = Path(arguments.trace)
    resolver = record.Resolver() if is_recorded(source) else None
    is_archive = path.suffix == ".store" and source.exists() and otf2.find_anchor(source)
    shared: dict[str, Any] = {}
    is_text = path.suffix == ".store" and source.is_file() and formats.is_prv(source)
    if (workers := workers_asked(arguments, limits["memory"])) is not None:
        shared["workers"] = workers
        if not (is_archive or is_text or (resolver is not None and path.suffix == ".store")):
            raise ParameterError(
                "workers make stores of recordings, OTF2 archives and Paraver text, not "
                f"{path} of {source}"
            )
    with progress_bar(arguments) as progress:
        if resolver is not None:
            written = record.write_recorded(
                source,
                path,
                resolver,
                lambda trace: written_rows(trace, path),
                raw=raw,
                **limits,
                **shared,
                progress=progress,
            )
        elif is_text:
            paraver.convert(source, path, raw=raw, **limits, **shared, progress=progress)
            written = written_rows(store.read(path), path)
        elif is_archive:
            otf2.convert(source, path, **limits, **shared, progress=progress)
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
        for text in record.missing_names(resolver, written["defects"]):
            show.note(f"burstline: {text}")
    lost = {"messages": 0, "collectives": 0, "calls_clipped": 0}
    document = written | {"lost": lost, "time_offset_ns": 0}
    print_written(arguments, path, document)
