"""One measurement in a process of its own, so that none inherits another's memory.

::

    measure("read", path=…, raw=True)  ->  python -m benchmarks.child read {…}  ->  Measured
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Measured:
    """What one task took.

    Attributes
    ----------
    wall_s, cpu_s : float
        Time of the task itself; imports and start-up are outside.
    before_bytes, peak_bytes : int
        Resident memory when the task began, and the most while it ran.
    result : dict
        What the task returned.
    """

    wall_s: float
    cpu_s: float
    before_bytes: int
    peak_bytes: int
    result: dict[str, Any]


def measure(task: str, *, repeats: int = 1, **arguments: object) -> Measured:
    """Run a function of :mod:`benchmarks.tasks` in child processes.

    Parameters
    ----------
    task : str
        Its name; it returns a function without parameters, which is what is measured.
    repeats : int
        How many children, one after the other; times are the least of all, memory
        is the most.
    **arguments : object
        Its arguments, as JSON.

    Returns
    -------
    Measured
        What it took.
    """
    runs = [_run(task, arguments) for _ in range(repeats)]
    return Measured(
        min(run.wall_s for run in runs),
        min(run.cpu_s for run in runs),
        max(run.before_bytes for run in runs),
        max(run.peak_bytes for run in runs),
        runs[-1].result,
    )


def _run(task: str, arguments: dict[str, object]) -> Measured:
    command = [sys.executable, "-m", "benchmarks.child", task, json.dumps(arguments)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"the task {task} failed: {shlex.join(command)}")
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


def memory_bytes(key: str, process: int | str = "self") -> int:
    """Read ``VmRSS``, ``VmHWM``, … of a process, in bytes; 0 if it is gone."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    found = re.search(rf"^{key}:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def main() -> None:
    """Be the child: prepare the task, forget the peak so far, run it, report."""
    from benchmarks import tasks  # noqa: PLC0415 -- loads what is measured

    task, arguments = sys.argv[1], json.loads(sys.argv[2])
    run = getattr(tasks, task)(**arguments)
    Path("/proc/self/clear_refs").write_text("5")
    before = memory_bytes("VmRSS")
    wall, cpu = time.perf_counter(), time.process_time()
    result = run()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = memory_bytes("VmHWM")
    print(
        json.dumps(
            dict(zip(Measured.__slots__, (wall, cpu, before, peak, result), strict=True))
        )
    )


if __name__ == "__main__":
    main()
