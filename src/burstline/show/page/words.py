"""Words that sections share: ranges, shares of the run, lists of ranks."""

from __future__ import annotations

from burstline.quantities import format_ns


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
