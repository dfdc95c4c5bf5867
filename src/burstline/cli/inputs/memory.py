"""The memory that a command may use, and whether what it is asked for fits into that."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from burstline import selection
from burstline.errors import MemoryBudgetError, ParameterError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping

    from burstline.trace import Trace

ANALYSED: Final = ("calls", "messages", "bursts", "regions", "gaps")
"""Tables that grow with the trace and that analyses ask for."""

_WAY_OUT: Final = (
    "Take a part of it (--from, --to, --ranks), a shorter one if you did, "
    "or allow more memory (--memory)."
)
_SHARE_OF_MEMORY: Final = 0.6
_PREFIXES: Final = "kmgtp"
_PROC: Final = Path("/proc")
_GROUPS: Final = Path("/sys/fs/cgroup")
_UNKNOWN_MACHINE: Final = 2_000_000_000
_UNLIMITED: Final = 1 << 60
"""Version 1 of control groups writes a number about this large where there is no limit."""


def require(
    trace: Trace, memory: int, *, tables: Iterable[str], copies: int, region: Mapping[str, Any]
) -> Trace:
    """What `region` needs of a trace in a store; refused if `copies` of that do not fit."""
    if not trace.is_stored:
        return trace
    needed = copies * selection.estimate_bytes(trace, tables, **region)
    if needed > memory:
        raise MemoryBudgetError(needed, memory, way_out=_WAY_OUT)
    return selection.narrowed(trace, memory=memory // copies, **region) if region else trace


def memory_budget(arguments: argparse.Namespace) -> int:
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
