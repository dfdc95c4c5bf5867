"""Whether the call paths of a trace are the stacks that a program in Python wrote itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from burstline import Trace

Frames = list[tuple[str, str | None, int | None]]


def path_of(rows: list[dict[str, Any]], row: int | None) -> Frames:
    """The frames of a call path, innermost first."""
    frames = []
    while row is not None:
        frames.append((rows[row]["function"], rows[row]["file"], rows[row]["line"]))
        row = rows[row]["parent"]
    return frames


def stacks_of(trace: Trace, rank: int) -> list[list[Frames]]:
    """The call paths of the barriers of each thread of a rank."""
    rows = trace.table("call_paths").to_pylist()
    ranks = [row["rank"] for row in trace.table("locations").to_pylist()]
    threads: dict[int, list[Frames]] = {}
    for call in trace.table("calls").to_pylist():
        if call["operation"] == "MPI_Barrier" and ranks[call["location"]] == rank:
            path = path_of(rows, call["call_path"])
            threads.setdefault(call["location"], []).append(path)
    return list(threads.values())


def of_python(stacks: list[Frames], depth: int) -> list[Frames]:
    """Stacks as a trace has them: without machinery of imports, names without their scope."""
    return [
        [
            (name.rpartition(".")[2], file.rpartition("/")[2], line)
            for name, file, line in stack
            if file is not None and not file.startswith("<frozen ") and not file.endswith(".c")
        ][:depth]
        for stack in stacks
    ]


def same_stacks(trace: Trace, rank: int, written: Path, depth: int = 16) -> bool:
    """Whether the barriers of each thread of a rank have the frames that it wrote itself."""
    said = [of_python(stacks, depth) for stacks in json.loads(written.read_text())]
    found = [of_python(stacks, depth) for stacks in stacks_of(trace, rank)]
    most = max(map(len, said))  # behind them is the last barrier, which no rank wrote
    return sorted(said) == sorted(each[:most] for each in found)
