"""Where a command writes a trace, and what it says about what it wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from burstline import show
from burstline.cli import usage
from burstline.cli.products.files import require_free
from burstline.errors import ParameterError
from burstline.formats import otf2

if TYPE_CHECKING:
    import argparse

    from burstline.trace import Trace

_OPTIONS: Final = {
    "-o, --output OUTPUT": "X.prv or X.prv.gz (with .pcf and .row), X.store, X.csv or "
    "X.parquet (folders), X.otf2 (with X.def and the folder X), X.perfetto.json or "
    "X.perfetto.json.gz",
    "--force": "replace an output that exists",
}
_JSON: Final = (".perfetto.json", ".perfetto.json.gz")
ENDINGS: Final = (".prv", ".prv.gz", ".store", ".csv", ".parquet", ".otf2", *_JSON)
"""What the name of a trace that is written may end in."""


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add where the result goes."""
    both = "the same as -o OUTPUT; one of them is needed"
    parser.add_argument("place", nargs="?", metavar="OUTPUT", help=both)
    usage.add(parser, _OPTIONS)


def output_path(arguments: argparse.Namespace) -> Path:
    """Where the result goes, once it is sure that nothing is lost by writing there."""
    given = [text for text in (arguments.place, arguments.output) if text is not None]
    if len(given) != 1:
        raise ParameterError(
            f"give one output: -o OUT and its ending, one of {', '.join(ENDINGS)}"
        )
    path, source = Path(given[0]), Path(arguments.trace)
    files = files_of(path)
    inputs = _files_read(source)
    for file in files:
        if any(_is_same(file, other) for other in inputs):
            raise ParameterError(f"{file} belongs to the input. Choose another output")
        require_free(file, force=arguments.force)
    return path


def files_of(path: Path) -> list[Path]:
    """The files that an output consists of."""
    if is_prv(path):
        stem = path.name.removesuffix(".gz").removesuffix(".prv")
        return [path, path.with_name(f"{stem}.pcf"), path.with_name(f"{stem}.row")]
    if path.suffix == ".otf2":
        return [path, path.with_suffix(".def"), path.with_suffix("")]
    if path.name.endswith((".store", ".csv", ".parquet", *_JSON)):
        return [path]
    raise ParameterError(
        f"{path}: the ending of an output is .prv, .prv.gz, .otf2, .store, .csv, "
        ".parquet or .perfetto.json"
    )


def _files_read(source: Path) -> list[Path]:
    """The files of an input; those of an archive, too, if its folder is named."""
    if source.is_dir() and any(source.glob("*.otf2")):
        anchor = otf2.find_anchor(source)
        return [source, *([] if anchor is None else files_of(anchor))]
    of_files = source.name.endswith((".prv", ".prv.gz", ".otf2"))
    return files_of(source) if of_files else [source]


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def is_prv(path: Path) -> bool:
    """Whether a file is a Paraver trace, by its name."""
    return path.name.endswith((".prv", ".prv.gz"))


def kept_rows(trace: Trace) -> dict[str, int]:
    """Count the calls, bursts and messages of a trace."""
    return {name: trace.rows(name) for name in ("calls", "bursts", "messages")}


def whole_bursts(trace: Trace) -> int:
    """Count the bursts that a border did not cut: those between two calls."""
    location, before, after = trace.arrays("bursts", "location", "call_before", "call_after")
    calls = trace.offsets("calls")
    has_calls = calls[1:] > calls[:-1]
    return int(((before >= 0) & (after >= 0) | ~has_calls[location]).sum())


def print_written(arguments: argparse.Namespace, path: Path, document: dict[str, Any]) -> None:
    """Say what was written: to people on stderr, to programs on stdout."""
    offset = document["time_offset_ns"]
    parts = {name: document[name] for name in ("kept", "lost")}
    rows = [
        (f"{name}.{key}", value) for name, part in parts.items() for key, value in part.items()
    ]
    said = {
        name: ", ".join(f"{value:,} {key.replace('_', ' ')}" for key, value in part.items())
        for name, part in parts.items()
        if any(part.values())
    }
    notes = [f"{path}: {said.get('kept', 'nothing is left')}"]
    if "lost" in said:
        notes.append(f"lost at the borders: {said['lost']}")
    if offset:
        notes.append(f"its time 0 is {show.format_ns(offset)} of the input")
    rows.append(("time_offset_ns", offset))
    shown = show.Outcome(document, ("name", "value"), rows, notes=notes)
    show.output(shown, arguments.format)
