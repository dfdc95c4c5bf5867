"""Quantities as people read them: times, bytes, counts and shares, with three digits."""

from __future__ import annotations

from typing import Final

_TIMES: Final = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"))
_SCALES: Final = ((10**15, "P"), (10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))
_MINUTE_NS: Final = 60_000_000_000
_DIGITS: Final = 3


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


def format_share(share: float | None) -> str:
    """A share of 0..1 in percent; a dash where there is none.

    >>> format_share(0.8734), format_share(None)
    ('87.3 %', '-')
    """
    return "-" if share is None else f"{100 * share:.1f} %"


def _three_digits(value: float) -> str:
    whole = len(str(int(abs(value))))
    return f"{value:.{max(_DIGITS - whole, 0)}f}"
