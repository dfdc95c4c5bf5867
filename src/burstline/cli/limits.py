"""What a command may use: bytes of memory, by default a share of what is free, and threads."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypedDict

from burstline.cli import usage
from burstline.errors import ParameterError

_SHARE_OF_MEMORY: Final = 0.6
_PREFIXES: Final = "kmgtp"
_PROC: Final = Path("/proc")
_GROUPS: Final = Path("/sys/fs/cgroup")
_UNKNOWN_MACHINE: Final = 2_000_000_000
_UNLIMITED: Final = 1 << 60  # about what version 1 of control groups writes for no limit


class Limits(TypedDict):
    """What a command may use: bytes, and threads."""

    memory: int
    threads: int


def limits_of(arguments: usage.Arguments) -> Limits:
    """What the arguments allow the command to use."""
    return {"memory": memory_budget(arguments), "threads": thread_count(arguments)}


def thread_count(arguments: usage.Arguments) -> int:
    """The number of threads the command may use."""
    if arguments.threads is None:
        return len(os.sched_getaffinity(0))
    usage.require_at_least(arguments, threads=1)
    return int(arguments.threads)


def memory_budget(arguments: usage.Arguments) -> int:
    """The memory the command may use, in bytes."""
    if arguments.memory is not None:
        return parse_size(arguments.memory)
    return int(_SHARE_OF_MEMORY * available_memory())


def parse_size(text: str) -> int:
    """A size in bytes: ``2G`` is 2·10⁹, ``2Gi`` is 2·2³⁰.

    >>> [parse_size(text) for text in ("4096", "2G", "1.5GB", "512MiB")]
    [4096, 2000000000, 1500000000, 536870912]
    """
    unit = text.strip().lower().removesuffix("b")
    number = unit.rstrip("i" + _PREFIXES)
    prefix = unit[len(number) :]
    binary = len(prefix) == 2 and prefix[1] == "i"
    try:
        power = _PREFIXES.index(prefix[:1]) + 1 if prefix else 0
        size = int(float(number) * (1024 if binary else 1000) ** power)
    except (ValueError, OverflowError):
        size = 0
    if size <= 0 or len(prefix) > 1 + binary:
        raise ParameterError(f"{text!r} is no size; sizes are like 512M, 2G or 2GiB")
    return size


def available_memory(proc: Path = _PROC, groups: Path = _GROUPS) -> int:
    """The memory that is free for this process, in bytes."""
    return max(min(_bounds(proc, groups), default=_UNKNOWN_MACHINE), 0)


def _bounds(proc: Path, groups: Path) -> Iterator[int]:
    machine = _fields(proc / "meminfo").get("MemAvailable:")
    if machine is not None:
        yield machine * 1024
    for line in _read(proc / "self" / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield from _group_bounds(groups, path, ("memory.max", "memory.current"))
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
            yield from _group_bounds(groups / "memory", path, names)
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = _read(proc / "self" / "statm").split()
    if limit != resource.RLIM_INFINITY and pages:
        yield limit - int(pages[0]) * resource.getpagesize()


def _group_bounds(root: Path, path: str, names: tuple[str, str]) -> Iterator[int]:
    """What the group and each group around it have left."""
    group = root / path.lstrip("/")
    for place in (group, *group.parents):
        limit, used = (_read(place / name).strip() for name in names)
        if limit.isdigit() and used.isdigit() and int(limit) < _UNLIMITED:
            cached = _fields(place / "memory.stat").get("inactive_file", 0)
            yield int(limit) - int(used) + cached
        if place == root:
            return


def _fields(path: Path) -> dict[str, int]:
    words = (line.split() for line in _read(path).splitlines())
    return {row[0]: int(row[1]) for row in words if len(row) > 1 and row[1].isdigit()}


def _read(path: Path) -> str:
    """Read a file of the kernel; empty where there is none."""
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
