"""Numbers for eyes: times, bytes, shares and counts with their units."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from burstline.extrae import SIZED_OTHERWISE
from burstline.quantities import format_bytes, format_count, format_ns, format_share
from burstline.values import Kind, Notation

_OTHERWISE: Final = re.compile(rf"\b({'|'.join(SIZED_OTHERWISE)})\b")


def format_amount(amount: int, unit: str) -> str:
    """An amount of anything: bytes as such, the rest counted.

    >>> format_amount(1_234, "processes"), format_amount(1_234, "B")
    ('1,234 processes', '1.23 kB')
    """
    return format_bytes(amount) if unit == "B" else f"{amount:,} {unit}".rstrip()


def format_change(time_ns: float) -> str:
    """A difference of times, with its sign.

    >>> format_change(-1_500_000), format_change(0)
    ('-1.50 ms', '+0 ns')
    """
    return ("+" if time_ns >= 0 else "-") + format_ns(abs(round(time_ns)))


def thread_text(rank: int, thread: int) -> str:
    """A thread as a table names it: by its rank, and by its number but for the first.

    >>> thread_text(3, 0), thread_text(3, 2)
    ('3', '3.2')
    """
    return f"{rank}.{thread}" if thread else str(rank)


def short_time(time_ns: float) -> str:
    """A power of ten of ns on an axis.

    >>> short_time(1000), short_time(1e7)
    ('1 µs', '10 ms')
    """
    size, unit = next((each for each in UNITS_OF_TIME if time_ns >= each[0]), UNITS_OF_TIME[-1])
    return f"{time_ns / size:g} {unit}"


UNITS_OF_TIME: Final = ((10**9, "s"), (10**6, "ms"), (10**3, "µs"), (1, "ns"))


def text_of(value: Any, notation: Notation) -> str:  # noqa: ANN401 -- a value of any kind
    """A value as people read it.

    >>> from burstline.values import SHARE, TEXT, TIME
    >>> text_of(1_500_000, TIME), text_of(0.25, SHARE), text_of(None, SHARE), text_of(7, TEXT)
    ('1.50 ms', '25.0 %', '-', '7')
    """
    if value is None:
        return notation.absent
    kind, digits, signed, _, unit = notation
    if kind is Kind.TIME and signed:
        return format_change(value)
    if kind is Kind.SHARE and digits is not None:
        return f"{value:+.{digits}%}" if signed else f"{100 * value:.{digits}f} %"
    if kind is Kind.RATIO:
        return f"{value:{'+' if signed else ''}.{digits or 0}f} {unit}".rstrip()
    return _PLAIN[kind](value)


_PLAIN: Final[Mapping[Kind, Callable[[Any], str]]] = {
    Kind.TEXT: str,
    Kind.PATH: " > ".join,
    Kind.TIME: lambda time_ns: format_ns(round(time_ns)),
    Kind.BYTES: lambda size: format_bytes(round(size)),
    Kind.SHARE: format_share,
    Kind.COUNT: lambda count: f"{round(count):,}",
    Kind.AMOUNT: format_count,
}


def notes_on_sizes(texts: Iterable[str]) -> list[str]:
    """What is to be said if texts name an operation whose sizes Paraver shows otherwise."""
    if not any(_OTHERWISE.search(text) for text in texts):
        return []
    return [
        "  sent by MPI_Alltoall are all its blocks, by MPI_Reduce the root's part, too;",
        "  Paraver shows one block, and nothing at the root",
    ]


def range_text(low_ns: float, high_ns: float) -> str:
    """Two times with their unit once, if it is the same; one, if they look alike.

    >>> range_text(2_670_000, 6_970_000), range_text(900, 1_100), range_text(5, 5)
    ('2.67 to 6.97 ms', '900 ns to 1.10 µs', '5 ns')
    """
    low, high = format_ns(round(low_ns)), format_ns(round(high_ns))
    if low == high:
        return low
    number, _, unit = low.rpartition(" ")
    return f"{number if high.endswith(f' {unit}') else low} to {high}"
