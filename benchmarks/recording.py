"""What recording costs: an MPI call, its stack, its counters, and counted work.

Of every call the CPU time is taken, not the wall time, and recorded and plain calls take
turns within a process: other programs on the machine hardly change the difference.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.child import ROOT
from benchmarks.counting import counting
from benchmarks.figures import Figure
from benchmarks.inputs import Input
from burstline.errors import NotEnoughDataError
from burstline.record import MPICH, OPEN_MPI, Plan, abi_of_program, shared_object
from burstline.record.launching.mpi import abi_of_python

_NATIVE: Final = ROOT / "src" / "burstline" / "record" / "native"
_SOURCES: Final = (ROOT / "benchmarks" / "recording" / "loop.c", _NATIVE / "work.c")
_DEEP: Final = ROOT / "benchmarks" / "recording" / "deep.py"
_FLAGS: Final = ("-std=gnu11", "-O2", "-rdynamic", "-DBURST_OF_PROGRAM", f"-I{_NATIVE}")
_FRAMES: Final = "8"
_TURNS: Final = "4"
_CALLS: Final = "20000"
_QUICK_ROUNDS: Final = 1
_ROUNDS: Final = 8
_QUICK_BYTES: Final = 100_000_000
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 -- only where it is
_ROOM: Final = 1 << 25
"""Bytes of a window that the records of all turns do not fill."""
_BARE: Final = {
    "BURSTLINE_COUNTERS": "none",
    "BURSTLINE_STACK_DEPTH": "0",
    "BURSTLINE_SAMPLE": "0",
}
_COUNTED: Final = {"a counted call": False, "a counted call and its partner": True}
_COUNTERS: Final = {
    "cpu": "thread CPU time",
    "perf:task-clock": "a perf event",
    "perf:task-clock,perf:page-faults": "two perf events",
    "papi:perf::PAGE-FAULTS": "an event by PAPI",
    "clocks": "the three work counters of clocks",
    "work": "16 work counters",
}


@dataclass(slots=True)
class _Setting:
    """A way to record, and what it was measured to cost, turn after turn."""

    name: str
    environment: Mapping[str, str]
    folder: Path
    words: tuple[str, ...] = ("0",)
    cpu: list[float] = field(default_factory=list)
    clocks: list[float] = field(default_factory=list)
    refused: bool = False


def record(trace: Input) -> Iterator[Figure]:
    """Cost of a recorded call over a plain one in CPU time, and of counted work."""
    rounds = _QUICK_ROUNDS if trace.bytes < _QUICK_BYTES else _ROUNDS
    with tempfile.TemporaryDirectory(dir=trace.path.parent) as name:
        folder = Path(name)
        found = _loop(folder)
        if found is None:
            sys.stderr.write("no MPI with a compiler: what recording costs is left out\n")
        else:
            settings = _settings(folder)
            for _ in range(rounds):
                for setting in settings:
                    _measure(setting, *found)
            yield from _figures(settings)
        yield from _python(folder, rounds)
        yield from counting(folder, rounds, every_compiler=rounds > _QUICK_ROUNDS)


def _loop(folder: Path) -> tuple[Path, Path] | None:
    """Build the loop with an MPI that is installed; give it and the recorder."""
    target = folder / "loop"
    for abi in (OPEN_MPI, MPICH):
        for wrapper in filter(None, map(shutil.which, abi.compilers)):
            words = [wrapper, *_FLAGS, *map(str, _SOURCES), "-o", str(target), "-ldl"]
            done = subprocess.run(words, capture_output=True, check=False)
            if done.returncode or abi_of_program(target) is not abi:
                continue
            try:
                return target, shared_object(abi)
            except NotEnoughDataError:
                break
    return None


def _settings(folder: Path) -> list[_Setting]:
    deep = {**_BARE, "BURSTLINE_STACK_DEPTH": _FRAMES}
    found = [_Setting("bare", _BARE, folder), _Setting("stack", deep, folder, words=(_FRAMES,))]
    if _MEMORY.is_dir():
        found.append(_Setting("memory", _BARE, _MEMORY))
    found.append(_Setting("roomy", {**_BARE, "BURSTLINE_BLOCK": str(_ROOM)}, folder))
    for name, full in _COUNTED.items():
        (plan := folder / f"plan-{full:d}").write_bytes(Plan((), full=full).to_bytes())
        counting = {"BURSTLINE_MODE": "signature", "BURSTLINE_PLAN": str(plan)}
        found.append(_Setting(name, counting, folder, words=("0", "wait")))
    counted = ({**_BARE, "BURSTLINE_COUNTERS": counters} for counters in _COUNTERS)
    found.extend(map(_Setting, _COUNTERS, counted, repeat(folder)))
    return found


def _python(folder: Path, rounds: int) -> Iterator[Figure]:
    """What the frames of a program in Python add to a call, where there is mpi4py."""
    if (abi := abi_of_python([sys.executable])) is None:
        sys.stderr.write("no mpi4py: what frames of Python cost is left out\n")
        return
    recorder = shared_object(abi)
    costs = []
    for _ in range(rounds):
        bare, deep = (_deep(folder, recorder, depth) for depth in ("0", _FRAMES))
        costs.append(deep - bare)
    name = f"{_FRAMES} frames of Python"
    yield Figure("record", name, median(costs), "ns", "<= 200")


def _deep(folder: Path, recorder: Path, depth: str) -> float:
    with tempfile.TemporaryDirectory(dir=folder) as raw:
        settings = {**_BARE, "BURSTLINE_STACK_DEPTH": depth, "BURSTLINE_DIR": raw}
        done = subprocess.run(
            [sys.executable, _DEEP],
            env=os.environ | settings | {"LD_PRELOAD": str(recorder)},
            capture_output=True,
            text=True,
            check=True,
        )
    return float(done.stdout)


def _measure(setting: _Setting, loop: Path, recorder: Path) -> None:
    """Run the loop once; a counter that is not to be had is noted."""
    if setting.refused:
        return
    with tempfile.TemporaryDirectory(dir=setting.folder) as raw:
        environment = {
            **os.environ,
            **setting.environment,
            "BURSTLINE_DIR": raw,
            "LD_PRELOAD": str(recorder),
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }
        words = [str(loop), _TURNS, _CALLS, *setting.words]
        done = subprocess.run(
            words, env=environment, cwd=raw, capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise SystemExit(f"the recorded loop failed ({done.returncode}): {done.stderr}")
    setting.refused = "no counter" in done.stderr or "no work" in done.stderr
    setting.refused |= "no PAPI" in done.stderr
    turns = [line.split() for line in done.stdout.splitlines()]
    for plain, recorded, clocks in zip(turns[::3], turns[1::3], turns[2::3], strict=True):
        setting.cpu.append(float(recorded[1]) - float(plain[1]))
        setting.clocks.append(float(clocks[1]))


def _figures(settings: list[_Setting]) -> Iterator[Figure]:
    by_name = {setting.name: setting for setting in settings if not setting.refused}
    bare = by_name["bare"]
    clocks, call = median(bare.clocks), median(bare.cpu)
    unit, baseline = "ns", "two clock readings"
    yield Figure("record", "a call", call, unit, "<= 150", baseline, call / clocks)
    yield Figure("record", "a call, at best", min(bare.cpu), unit)
    if "memory" in by_name:
        cost = median(by_name["memory"].cpu)
        yield Figure("record", "a call, files in memory", cost, unit, "", "disk", cost / call)
    roomy = median(by_name["roomy"].cpu)
    yield Figure("record", "a call, no window full", roomy, unit, "", baseline, roomy / clocks)
    stack = median(by_name["stack"].cpu)
    name = f"a call with {_FRAMES} frames"
    yield Figure("record", name, stack, unit, "<= 1500", baseline, stack / clocks)
    for name in _COUNTED:
        yield Figure("record", name, median(by_name[name].cpu), unit, "<= 30")
    for counters, name in _COUNTERS.items():
        if counters in by_name:
            reading = (median(by_name[counters].cpu) - call) / 2
            yield Figure("record", f"reading {name}", reading, unit)
