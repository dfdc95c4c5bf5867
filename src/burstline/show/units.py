"""Numbers for eyes: times, bytes, shares and counts with their units."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from burstline.extrae import SIZED_OTHERWISE
from burstline.show.blocks import Kind, Notation

_TIMES: Final = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"))
_SCALES: Final = ((10**15, "P"), (10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))
_MINUTE_NS: Final = 60_000_000_000
_DIGITS: Final = 3
_OTHERWISE: Final = re.compile(rf"\b({'|'.join(SIZED_OTHERWISE)})\b")


def format_ns(time_ns: int) -> str:
    """A time in the unit that suits it, with three digits.

    >>> [format_ns(t) for t in (950, 1_500_000, 2_000_000_000, 7_384_000_000_000)]
    ['950 ns', '1.50 ms', '2.00 s', '2 h 3 min']
    """
    if abs(time_ns) >= 10 * _MINUTE_NS:
        minutes = round(time_ns / _MINUTE_NS)
        hours, minutes = divmod(minutes, 60)
        return f"{hours} h {minutes} min" if hours else f"{minutes} min"
    for size, unit in _TIMES:
        if abs(time_ns) >= size:
            return f"{_three_digits(time_ns / size)} {unit}"
    return f"{time_ns} ns"


def format_bytes(size: int) -> str:
    """A size in decimal units, with three digits.

    >>> [format_bytes(n) for n in (0, 999, 1_000, 123_456_789)]
    ['0 B', '999 B', '1.00 kB', '123 MB']
    """
    return _scaled(size, f"{size} ") + "B"


def format_count(value: float) -> str:
    """A mean of counts with three digits and a decimal prefix.

    >>> [format_count(value) for value in (0, 7.25, 1234, 113_900)]
    ['0', '7.25', '1.23 k', '114 k']
    """
    return _scaled(value, f"{value:.3g}")


def _scaled(value: float, small: str) -> str:
    """A value with the prefix that suits it, `small` below the first."""
    for scale, prefix in _SCALES:
        if abs(value) >= scale:
            return f"{_three_digits(value / scale)} {prefix}"
    return small


def format_amount(amount: int, unit: str) -> str:
    """An amount of anything: bytes as such, the rest counted.

    >>> format_amount(1_234, "processes"), format_amount(1_234, "B")
    ('1,234 processes', '1.23 kB')
    """
    return format_bytes(amount) if unit == "B" else f"{amount:,} {unit}".rstrip()


def format_share(share: float | None) -> str:
    """A share of 0..1 in percent; a dash where there is none.

    >>> format_share(0.8734), format_share(None)
    ('87.3 %', '-')
    """
    return "-" if share is None else f"{100 * share:.1f} %"


def format_change(time_ns: float) -> str:
    """A difference of times, with its sign.

    >>> format_change(-1_500_000), format_change(0)
    ('-1.50 ms', '+0 ns')
    """
    return ("+" if time_ns >= 0 else "-") + format_ns(abs(round(time_ns)))


def text_of(value: Any, notation: Notation) -> str:  # noqa: ANN401 -- a value of any kind
    """A value as people read it.

    >>> from burstline.show.blocks import SHARE, TEXT, TIME
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


def _three_digits(value: float) -> str:
    whole = len(str(int(abs(value))))
    return f"{value:.{max(_DIGITS - whole, 0)}f}"


def notes_on_sizes(texts: Iterable[str]) -> list[str]:
    """What is to be said if texts name an operation whose sizes Paraver shows otherwise."""
    if not any(_OTHERWISE.search(text) for text in texts):
        return []
    return [
        "  sent by MPI_Alltoall are all its blocks, by MPI_Reduce the root's part, too;",
        "  Paraver shows one block, and nothing at the root",
    ]
