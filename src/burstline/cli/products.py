"""Where commands write: traces, tables and pictures; what they say of the traces."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import burstline
from burstline import formats, show
from burstline.cli import usage
from burstline.errors import ParameterError
from burstline.formats import atomic, otf2
from burstline.model import schema
from burstline.quantities import format_bytes, format_ns

TABLES: Final = (".parquet", ".csv", ".arrow")
_EVERYWHERE: Final = ("regions", "readings", "gaps")
_LOOPS: Final = ("loop_entries", "loop_iterations", "call_loops")
_DETAILS: Final = ("half_messages", "teams", "locks", "other_events")
_ROWS: Final = (
    *(*_EVERYWHERE, "collectives", *_LOOPS, *_DETAILS, "samples"),
    *("placements", "recordings", "events", "states", "links"),
)
"""Tables of what happened, beside calls, bursts and messages, which all formats hold."""
_CARRIED: Final = {
    ".prv": (*_EVERYWHERE, "collectives", "samples", "placements", "recordings"),
    ".otf2": (*_EVERYWHERE, "collectives", "loop_entries", *_DETAILS),
    ".perfetto.json": _EVERYWHERE,
}
"""Which of them are in formats that do not hold all; a ``.prv`` of records holds them."""
_PICTURES: Final = (".svg", ".png")

require_free = partial(formats.require_free, forced="--force")


def require_apart(arguments: argparse.Namespace, *outputs: Path) -> None:
    """Refuse outputs, by default all, that are or lie in what is read or a program gets."""
    words = [
        word for name in ("words", "program") for word in getattr(arguments, name, None) or ()
    ]
    read = [word for name in arguments.read_from for word in _texts(getattr(arguments, name))]
    inputs = [Path(text) for text in read + [word for word in words if Path(word).is_file()]]
    for path in outputs:
        _require_apart(formats.outputs_of(path), inputs)
    for name in () if outputs else usage.WRITTEN:
        if (text := getattr(arguments, name, None)) is not None:
            path, adds = Path(text), name in usage.FOLDERS
            _require_apart([path] if adds else formats.outputs_of(path), inputs, adds=adds)


def _require_apart(files: list[Path], inputs: list[Path], *, adds: bool = False) -> None:
    """Refuse files that are or lie in an input; a folder that is added to may hold one."""
    for path in inputs:
        formats.require_apart(files, formats.files_read(path), f"the input {path}", adds=adds)


def _texts(value: Any) -> list[str]:  # noqa: ANN401 -- as argparse nests them
    """The texts of an argument, however often it is given."""
    if isinstance(value, str):
        return [value]
    return [text for part in value or () for text in _texts(part)]


def output_path(arguments: argparse.Namespace) -> Path:
    """Where the result goes, once it is sure that nothing is lost by writing there."""
    given = [text for text in (arguments.place, arguments.output) if text is not None]
    if len(given) != 1:
        raise ParameterError(
            f"give one output: -o OUT and its ending, one of {', '.join(formats.ENDINGS)}"
        )
    source = Path(arguments.trace)
    return require_outputs(Path(given[0]), formats.files_read(source), force=arguments.force)


def written_rows(trace: burstline.Trace, path: Path) -> dict[str, Any]:
    """Rows of every table of a trace, counted by whether the output holds them; its defects."""
    kept = {"kept": kept_rows(trace), "defects": trace.defects.to_pylist()}
    rows = {name: trace.rows(name) for name in schema.TABLES if trace.rows(name)}
    kinds = [parts for ending, parts in _CARRIED.items() if ending in path.name]
    if (formats.is_prv(path) and trace.has_raw) or not kinds:
        return kept | {"tables": rows, "left_out": {}}
    # Records are what calls, readings and regions were read from: these are written.
    others = [name for name in rows if name in _ROWS and name not in kinds[0]]
    left = {name: rows[name] for name in others if name not in schema.RAW_TABLES}
    if ".otf2" in path.name and (count := otf2.collectives_left_out(trace)):
        left["collectives"] = count
    tables = {
        name: count - left.get(name, 0) for name, count in rows.items() if name not in others
    }
    return kept | {"tables": tables, "left_out": left}


def require_outputs(path: Path, inputs: Sequence[Path], *, force: bool) -> Path:
    """The path of a trace, refused if writing it would replace what exists, without force."""
    for file in formats.files_of(path):
        require_free(file, force=force)
        say_left(file, inputs)
    return path


def say_left(path: Path, inputs: Sequence[Path] = ()) -> None:
    """Name what writers of a path left that were killed, and how to be rid of it."""
    for left in atomic.leftovers(path):
        if not any(left.samefile(file) for file in inputs if file.exists()):
            word = shlex.quote(str(left))
            again = f" Its records become a trace: burstline convert {word} OUTPUT."
            show.note(
                f"burstline: {left} ({format_bytes(_size(left))}) is left of a run that "
                f"was killed.{again if left.suffix == '.raw' else ''} Delete it: rm -r {word}"
            )


def _size(path: Path) -> int:
    return sum(file.lstat().st_size for file in (path, *path.rglob("*")) if file.is_file())


def bytes_read(source: Path) -> int:
    """The size of the files of an input, each counted once."""
    tops = formats.files_read(source)
    below = (file for top in tops for file in (top, *top.rglob("*")) if file.is_file())
    return sum(file.stat().st_size for file in {file.resolve() for file in below})


def kept_rows(trace: burstline.Trace) -> dict[str, int]:
    """Count the calls, bursts and messages of a trace."""
    return {name: trace.rows(name) for name in ("calls", "bursts", "messages")}


def whole_bursts(trace: burstline.Trace) -> int:
    """Count the bursts that a border did not cut: those between two calls."""
    location, before, after = trace.arrays("bursts", "location", "call_before", "call_after")
    calls = trace.offsets("calls")
    has_calls = calls[1:] > calls[:-1]
    return int(((before >= 0) & (after >= 0) | ~has_calls[location]).sum())


def print_written(arguments: argparse.Namespace, path: Path, document: dict[str, Any]) -> None:
    """Say what was written: to people on stderr, to programs on stdout."""
    offset, rows, texts = document["time_offset_ns"], [], {}
    for part in ("kept", "lost"):
        rows += [(f"{part}.{name}", count) for name, count in document[part].items()]
        if any(document[part].values()):
            texts[part] = _counted(document[part])
    tables = document.get("tables", {})
    others = {name: rows for name, rows in tables.items() if name in _ROWS}
    said = [texts["kept"]] if "kept" in texts else []
    said += [_counted(others)] if others else []
    notes = [f"{path}: {'; '.join(said) or 'nothing is left'}"]
    if left := document.get("left_out"):
        notes.append(f"left out, as this format has no place for them: {_counted(left)}")
        rows += [(f"left_out.{name}", count) for name, count in left.items()]
    rows += [(f"tables.{name}", count) for name, count in tables.items()]
    if "lost" in texts:
        notes.append(f"lost at the borders: {texts['lost']}")
    if offset:
        notes.append(f"its time 0 is {format_ns(offset)} of the input")
    rows.append(("time_offset_ns", offset))
    shown = show.Outcome(document, ("name", "value"), rows, notes=notes)
    print_view(arguments, shown)


def _counted(rows: Mapping[str, int]) -> str:
    return ", ".join(_noun(count, name.replace("_", " ")) for name, count in rows.items())


def _noun(count: int, nouns: str) -> str:
    """A count and what it is of, as tables are called: ``loop entries``, ``calls clipped``."""
    if count == 1:
        nouns = re.sub(r"s\b", "", re.sub(r"ies\b", "y", nouns))
    return f"{count:,} {nouns}"


def print_view(arguments: argparse.Namespace, shown: show.View) -> None:
    """Print a view as the arguments say, with the defects of what was read."""
    several = len(arguments.defects) > 1
    defects = [
        {"trace": name} | row if several else row
        for name, rows in arguments.defects
        for row in rows
    ]
    show.output(shown, arguments.format, defects)


def table_file(
    text: str | None, *, force: bool, endings: tuple[str, ...] = TABLES
) -> Path | None:
    """The file that somebody named for a table, once nothing is lost by writing there."""
    return _file(text, "table", endings, force=force)


def picture_file(text: str | None, *, force: bool) -> Path | None:
    """The file that somebody named for a picture that can be drawn, as :func:`table_file`."""
    path = _file(text, "picture", _PICTURES, force=force)
    if path is not None:
        show.require()
    return path


def _file(text: str | None, noun: str, endings: tuple[str, ...], *, force: bool) -> Path | None:
    if text is None:
        return None
    path = Path(text)
    if path.suffix not in endings:
        *others, last = endings
        said = f"{', '.join(others)} or {last}"
        raise ParameterError(f"{path}: the ending of a {noun} is {said}")
    require_free(path, force=force)
    say_left(path)
    return path


def write_figure(path: Path, figure: show.Figure) -> None:
    """Write a picture whole, or not at all; the ending of its name says its form."""
    write_whole(path, figure("svg" if path.suffix == ".svg" else "png"))


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole, or not at all."""
    with atomic.output(path) as file:
        file.write(content)
