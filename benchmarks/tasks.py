"""What children measure: each function prepares, and returns what is to be timed."""

from __future__ import annotations

import contextlib
import io
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Task = Callable[[], dict[str, Any]]


def scan(path: str, warm_up: str, threads: int) -> Task:
    """Go over the bytes in blocks, all fields parsed, nothing kept."""
    from burstline.formats import paraver  # noqa: PLC0415 -- in the child

    paraver.scan(Path(warm_up), threads=threads)
    return lambda: dict(paraver.scan(Path(path), threads=threads))


def read(path: str, warm_up: str, threads: int, raw: bool) -> Task:  # noqa: FBT001 -- from JSON
    """Read a trace whole."""
    import burstline  # noqa: PLC0415 -- in the child
    from burstline import schema  # noqa: PLC0415 -- in the child

    burstline.read(Path(warm_up), raw=raw, threads=threads)

    def run() -> dict[str, Any]:
        trace = burstline.read(Path(path), raw=raw, threads=threads)
        names = [name for name in schema.TABLES if name in trace]
        return {
            "arrow_bytes": sum(trace.table(name).nbytes for name in names),
            "rows": {name: trace.table(name).num_rows for name in names},
        }

    return run


def line_loop(path: str, lines: int) -> Task:
    """Split the first lines of a trace and convert every field, in plain Python."""

    def run() -> dict[str, Any]:
        fields = length = 0
        with Path(path).open() as file:
            for line in islice(file, lines):
                length += len(line)
                if line[0] in "123":
                    fields += len([int(field) for field in line.split(":")])
        return {"bytes": length, "fields": fields}

    return run


def column_loop(path: str, lines: int) -> Task:
    """Read the first lines of a trace into one list per column, in plain Python."""

    def run() -> dict[str, Any]:
        length = 0
        states, events, links = _columns(7), _columns(6), _columns(14)
        with Path(path).open() as file:
            for line in islice(file, lines):
                length += len(line)
                if line[0] not in "123":
                    continue
                kind, *fields = map(int, line.split(":"))
                if kind == 2:
                    _, application, task, thread, time, *pairs = fields
                    for pair in range(0, len(pairs), 2):
                        row = (application, task, thread, time, pairs[pair], pairs[pair + 1])
                        for column, value in zip(events, row, strict=True):
                            column.append(value)
                    continue
                for column, value in zip(states if kind == 1 else links, fields, strict=True):
                    column.append(value)
        return {"bytes": length, "rows": len(states[0]) + len(events[0]) + len(links[0])}

    return run


def _columns(count: int) -> list[list[int]]:
    return [[] for _ in range(count)]


def command(warm_up: list[str], words: list[str]) -> Task:
    """Run a command of burstline a second time: the first has imported everything."""
    from burstline.cli import main  # noqa: PLC0415 -- in the child

    def run_quietly(words: list[str]) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            main(words)

    run_quietly(warm_up)

    def run() -> dict[str, Any]:
        run_quietly(words)
        return {"modules": sorted({name.partition(".")[0] for name in sys.modules})}

    return run
