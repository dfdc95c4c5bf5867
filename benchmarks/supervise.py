"""A command under a limit of memory, watched while it runs.

The limit is a control group's where this process may make one (version 1 or 2). Else a
watcher looks every few milliseconds and ends the command once its own memory is over.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.child import memory_bytes

_LOOK_EVERY_S: Final = 0.02
_LOOKS_PER_SIZE: Final = 25
_GROUPS: Final = (
    (Path("/sys/fs/cgroup"), "memory.max"),
    (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
)


@dataclass(frozen=True, slots=True)
class Watched:
    """What a command did.

    Attributes
    ----------
    wall_s, cpu_s : float
        Time it took.
    peak_bytes : int
        Most memory resident, as the kernel saw it.
    open_files : int
        Most files open at any look, every 20 ms.
    folder_bytes : int
        Most bytes below `folder` at any look, every half second.
    limited_by : str
        What enforced the limit: ``cgroup``, ``watcher`` or ``nothing``.
    output : str
        What it printed on stdout.
    """

    wall_s: float
    cpu_s: float
    peak_bytes: int
    open_files: int
    folder_bytes: int
    limited_by: str
    output: str


def watch(
    command: list[str], *, memory: int | None = None, folder: Path | None = None
) -> Watched:
    """Run a command and watch it.

    Parameters
    ----------
    command : list of str
        What to run.
    memory : int, optional
        Bytes it may use.
    folder : Path, optional
        Where its size on disk is followed.

    Returns
    -------
    Watched
        What it did.

    Raises
    ------
    SystemExit
        If the command fails: a figure of a failure is none.
    """
    by, entered = _limit(memory)
    with tempfile.TemporaryFile("w+") as printed, entered as join:
        start = time.perf_counter()
        process = subprocess.Popen([*join, *command], stdout=printed)
        files = stored = looks = 0
        while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
            files = max(files, _open_files(process.pid))
            if folder is not None and looks % _LOOKS_PER_SIZE == 0:
                stored = max(stored, size_on_disk(folder))
            if memory is not None and by == "watcher" and _own(process.pid) > memory:
                process.kill()
            looks += 1
            time.sleep(_LOOK_EVERY_S)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(ended[1])
        printed.seek(0)
        output = printed.read()
    used = ended[2]
    peak = used.ru_maxrss * 1024
    cpu = used.ru_utime + used.ru_stime
    if process.returncode != 0:
        what = shlex.join(command[:6])
        raise SystemExit(f"{what} … ended with {process.returncode}; memory limited by {by}")
    return Watched(wall, cpu, peak, files, stored, by, output)


def size_on_disk(path: Path) -> int:
    """Sum the sizes of the files below a folder that are there right now."""
    total = 0
    for entry in [path, *path.rglob("*")]:
        with contextlib.suppress(OSError):
            total += entry.stat().st_size if entry.is_file() else 0
    return total


def _own(process: int) -> int:
    return memory_bytes("RssAnon", process) + memory_bytes("RssShmem", process)


def _open_files(process: int) -> int:
    try:
        return sum(1 for _ in Path(f"/proc/{process}/fd").iterdir())
    except OSError:
        return 0


def _limit(memory: int | None) -> tuple[str, AbstractContextManager[list[str]]]:
    """Choose what enforces the limit; the context gives the words to put before a command."""
    if memory is None:
        return "nothing", contextlib.nullcontext([])
    for root, limit in _GROUPS:
        group = root / f"burstline-{os.getpid()}"
        try:
            group.mkdir()
            # A group has this file from birth; in any other folder it must not be created.
            with (group / limit).open("r+") as file:
                file.write(str(memory))
        except OSError:
            with contextlib.suppress(OSError):
                group.rmdir()
            continue
        return "cgroup", _member(group)
    return "watcher", contextlib.nullcontext([])


@contextlib.contextmanager
def _member(group: Path) -> Iterator[list[str]]:
    """Start a command inside a control group, and remove the group afterwards."""
    try:
        yield ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]
    finally:
        group.rmdir()
