"""The memory that is free for a process, by what the kernel says."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_SHARE_OF_MEMORY: Final = 0.6
_PROC: Final = Path("/proc")
_GROUPS: Final = Path("/sys/fs/cgroup")
_UNKNOWN_MACHINE: Final = 2_000_000_000
_UNLIMITED: Final = 1 << 60  # about what version 1 of control groups writes for no limit


def memory_allowed() -> int:
    """The bytes that are used at most where nobody says how many: a share of what is free."""
    return int(_SHARE_OF_MEMORY * available_memory())


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
