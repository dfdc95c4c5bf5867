"""What a command may use: bytes of memory, by default a share of what is free, and threads."""

from __future__ import annotations

from typing import Final, TypedDict

from burstline import run
from burstline.cli import usage
from burstline.errors import ParameterError
from burstline.executor import threads_allowed

_PREFIXES: Final = "kmgtp"


class ResourceLimits(TypedDict):
    """What a command may use: bytes, and threads."""

    memory: int
    threads: int


def limits_of(arguments: usage.Arguments) -> ResourceLimits:
    """What the arguments allow the command to use."""
    return {"memory": memory_budget(arguments), "threads": thread_count(arguments)}


def thread_count(arguments: usage.Arguments) -> int:
    """The number of threads the command may use."""
    usage.require_at_least(arguments, threads=1)
    return threads_allowed(arguments.threads)


def memory_budget(arguments: usage.Arguments) -> int:
    """The memory the command may use, in bytes."""
    if arguments.memory is not None:
        return parse_size(arguments.memory)
    return run.memory_allowed()


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
