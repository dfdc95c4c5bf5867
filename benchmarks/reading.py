"""How fast a trace is scanned, read and converted, and in how much memory."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.child import Measured, measure
from benchmarks.figures import Figure
from benchmarks.inputs import Input
from benchmarks.supervise import size_on_disk, watch

LOOP_LINES: Final = 500_000
LOOP: Final = "Python loop that splits"
COLUMNS: Final = "Python loop into columns"
WHOLE: Final = "Python loop into calls, bursts and messages"
_TASKS: Final = {LOOP: "line_loop", COLUMNS: "column_loop", WHOLE: "trace_loop"}
_THREADS: Final = 2
_MEGA: Final = 1e6
_CFG: Final = "ConfigFile.Version: 3.4\nConfigFile.NumWindows: 0\n"


def baselines(trace: Input) -> Iterator[Figure]:
    """Measure the loops that the others are compared with, on the same file."""
    for baseline in _TASKS:
        yield Figure("baseline", baseline, _loop_rate(trace, baseline), "MB/s")


def scan(trace: Input) -> Iterator[Figure]:
    """Scan in blocks, warm cache, two threads."""
    loop = _loop_rate(trace)
    done = measure("scan", repeats=3, threads=_THREADS, **_paths(trace))
    _agree(trace, done.result)
    rate = trace.bytes / done.wall_s / _MEGA
    yield Figure("scan", "rate", rate, "MB/s", ">= 1200", LOOP, rate / loop)
    peak = done.peak_bytes / _MEGA
    yield Figure("scan", "peak resident memory", peak, "MB", "<= 200")


def read(trace: Input) -> Iterator[Figure]:
    """Read whole into memory, with and without raw tables, two threads."""
    loop = _loop_rate(trace)
    for raw, goal in ((False, ">= 200"), (True, ">= 120")):
        name = "with raw tables" if raw else "without raw tables"
        done = measure("read", repeats=2, threads=_THREADS, raw=raw, **_paths(trace))
        _agree(trace, _rows(done.result["rows"], raw=raw))
        rate = trace.bytes / done.wall_s / _MEGA
        yield Figure("read", f"rate {name}", rate, "MB/s", goal, LOOP, rate / loop)
        for baseline in (COLUMNS, WHOLE):
            times = rate / _loop_rate(trace, baseline)
            # The loop that does the same work keeps no raw tables.
            least = "" if raw or baseline == COLUMNS else ">= 40"
            yield Figure("read", f"against {baseline}, {name}", times, "times", least)
        yield from _memory(name, done)


def convert(trace: Input) -> Iterator[Figure]:
    """Convert to a store, as the command does it, start-up included."""
    loop = _loop_rate(trace)
    with tempfile.TemporaryDirectory(dir=trace.path.parent) as folder:
        store = Path(folder) / "run.store"
        done = watch(command("convert", trace.path, store))
        rate = trace.bytes / done.wall_s / _MEGA
        yield Figure("convert", "rate", rate, "MB/s", ">= 100", LOOP, rate / loop)
        share = size_on_disk(store) / trace.bytes
        yield Figure("convert", "size of the store", share, "of the .prv's")
        peak = done.peak_bytes / _MEGA
        yield Figure("convert", "peak resident memory", peak, "MB")


def paramedir(trace: Input) -> Iterator[Figure]:
    """Paraver's own loader on the same file, where it is at hand."""
    program = shutil.which("paramedir")
    if program is None:
        sys.stderr.write("paramedir is not on the PATH: not compared\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        # The trace is loaded only for a configuration; this one asks for nothing else.
        nothing = Path(folder) / "nothing.cfg"
        nothing.write_text(_CFG)
        theirs = watch([program, str(trace.path), str(nothing)])
    ours = measure("read", threads=_THREADS, raw=True, **_paths(trace))
    name, ratio = "load by paramedir", theirs.wall_s / ours.wall_s
    yield Figure("paramedir", name, theirs.wall_s, "s", "", "burstline.read", ratio)
    name, ratio = "its peak resident memory", theirs.peak_bytes / ours.peak_bytes
    peak = theirs.peak_bytes / _MEGA
    yield Figure("paramedir", name, peak, "MB", "", "burstline.read", ratio)


def command(*words: object) -> list[str]:
    """Words that run a command of burstline with this Python."""
    return [sys.executable, "-m", "burstline", *map(str, words)]


def _memory(name: str, done: Measured) -> Iterator[Figure]:
    arrow = done.result["arrow_bytes"]
    yield Figure("read", f"Arrow bytes {name}", arrow / _MEGA, "MB")
    over = (done.peak_bytes - done.before_bytes) / arrow
    yield Figure("read", f"memory above start {name}", over, "of Arrow's", "<= 1.5")
    whole = done.peak_bytes / arrow
    yield Figure("read", f"peak resident memory {name}", whole, "of Arrow's")


def _loop_rate(trace: Input, baseline: str = LOOP) -> float:
    """Give the rate of a baseline in MB/s; measured once for each trace.

    Over the first lines of the trace, as all lines are alike and the loops are slow.
    """
    if baseline not in trace.rates:
        done = measure(_TASKS[baseline], repeats=2, path=str(trace.path), lines=LOOP_LINES)
        trace.rates[baseline] = done.result["bytes"] / done.wall_s / _MEGA
    return trace.rates[baseline]


def _paths(trace: Input) -> dict[str, Any]:
    return {"path": str(trace.path), "warm_up": str(trace.small)}


def _rows(rows: dict[str, int], *, raw: bool) -> dict[str, int]:
    """Say in the generator's words how many rows there are."""
    found = {name: rows[name] for name in ("messages", "collectives", "bursts")}
    found["all calls"] = rows["calls"]
    if raw:
        found |= {"pairs": rows["events"], "states": rows["states"]}
    return found


def _agree(trace: Input, found: dict[str, Any]) -> None:
    """Refuse to quote the speed of a wrong answer."""
    expected = trace.expected | {"all calls": sum(trace.expected["calls"].values())}
    wrong = {
        name: (count, expected[name])
        for name, count in found.items()
        if name in expected and count != expected[name]
    }
    if wrong:
        raise SystemExit(f"{trace.path}: found and expected differ: {wrong}")
