"""The most memory that a command and its child processes had at any time.

::

    python benchmarks/peak.py COMMAND …    the last line on stderr is the peak in bytes

A process that starts a command hands its own peak on to it: this one is small.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from typing import Final

_LOOK_EVERY_S: Final = 0.003
_OWN: Final = re.compile(r"^Pss_(?:Anon|Shmem): +(\d+) kB", re.MULTILINE)
_OF_FILES: Final = re.compile(r"^RssFile:\s+(\d+) kB", re.MULTILINE)


def peak_of(process: subprocess.Popen[str]) -> int:
    """The most bytes that a process, and those it starts, have until it ends."""
    status, peak = watch(process.pid)
    process.returncode = os.waitstatus_to_exitcode(status)
    return peak


def watch(process: int) -> tuple[int, int]:
    """Wait for a child process; give its status, and the most bytes it and its children had.

    Of a process alone the kernel knows the peak; beside its children it is looked at every
    3 ms: what they share counts once, and the pages of files once.
    """
    peak = 0
    while not (ended := os.wait4(process, os.WNOHANG))[0]:
        peak = max(peak, _with_children(process))
        time.sleep(_LOOK_EVERY_S)
    return ended[1], max(peak, 1024 * ended[2].ru_maxrss)


def _with_children(process: int) -> int:
    """The bytes of a process and its children, 0 if it has none."""
    children = _children(process)
    if not children:
        return 0
    total = sum(map(int, _OF_FILES.findall(_text(process, "status"))))
    for each in (process, *children):
        total += sum(map(int, _OWN.findall(_text(each, "smaps_rollup"))))
    return 1024 * total


def _children(process: int) -> list[int]:
    """The processes that a process and its children have started and not waited for."""
    try:
        threads = os.listdir(f"/proc/{process}/task")  # noqa: PTH208 -- asked every 3 ms
    except OSError:  # it ended meanwhile
        return []
    texts = (_text(process, f"task/{thread}/children") for thread in threads)
    near = [int(word) for text in texts for word in text.split()]
    return near + [child for each in near for child in _children(each)]


def _text(process: int, name: str) -> str:
    """The text of a file of the kernel, empty once its process is gone."""
    try:
        with open(f"/proc/{process}/{name}", "rb") as file:  # noqa: PTH123 -- a path takes as long
            return file.read().decode("ascii")
    except OSError:
        return ""


if __name__ == "__main__":
    command = subprocess.Popen(sys.argv[1:], text=True)
    print(peak_of(command), file=sys.stderr)
    sys.exit(command.returncode)
