"""The arguments that choose a part of a trace: ``0,3-7``, ``1.5s`` and ``5:-1``."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from burstline.errors import ParameterError, printable

_RANKS = re.compile(r"([0-9]{1,10})(?:-([0-9]{1,10}))?")
_TIME = re.compile(r"([0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})\s*([a-zµ]*)")
_ITERATIONS = re.compile(r"(-?[0-9]{1,18})?(:)?(-?[0-9]{1,18})?")
_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "": 10**9,
    "m": 60 * 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
}
_LONGEST: Final = 2**63 - 1
_LARGEST_RANK: Final = 2**31 - 1


def parse_ranks(text: str) -> tuple[range, ...]:
    """The ranks that a list of numbers and ranges names.

    >>> parse_ranks("0,3-7")
    (range(0, 1), range(3, 8))
    """
    ranks = []
    for part in text.split(","):
        match = _RANKS.fullmatch(part.strip())
        if match is None:
            raise ParameterError(
                f"{printable(text)!r} is no list of ranks. Write numbers and ranges: 0,3-7"
            )
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise ParameterError(f"{first}-{last} runs backwards. Write {last}-{first}.")
        if last > _LARGEST_RANK:
            raise ParameterError(f"no rank is above {_LARGEST_RANK}, found {last}")
        ranks.append(range(first, last + 1))
    return tuple(ranks)


def parse_time(text: str) -> int:
    """A time or a duration in nanoseconds.

    >>> parse_time("1.5s"), parse_time("200ms"), parse_time("10us"), parse_time("123ns")
    (1500000000, 200000000, 10000, 123)
    >>> parse_time("5")
    5000000000
    """
    match = _TIME.fullmatch(text.strip())
    if match is None or match[2] not in _UNITS:
        raise ParameterError(
            f"{printable(text)!r} is no time. Write a number and one of ns, us, ms, s, m, h: "
            "1.5s"
        )
    time_ns = Fraction(match[1]) * _UNITS[match[2]]
    if time_ns.denominator != 1:
        raise ParameterError(f"{text} is finer than a nanosecond. Write fewer digits.")
    if time_ns > _LONGEST:
        raise ParameterError(f"{text} is longer than the 292 years a trace can hold")
    return int(time_ns)


def parse_iterations(text: str) -> tuple[int, int]:
    """The first and the last iteration; negative numbers count from the end.

    >>> [parse_iterations(text) for text in ("5", "3:7", ":7", "-5:", ":")]
    [(5, 5), (3, 7), (1, 7), (-5, -1), (1, -1)]
    """
    match = _ITERATIONS.fullmatch(text.strip())
    if match is None or not match[0] or (match[2] is None and match[3] is not None):
        raise ParameterError(
            f"{printable(text)!r} are no iterations. Write one or a range: 5, 3:7, :10, -5:"
        )
    first = int(match[1]) if match[1] else 1
    last = (int(match[3]) if match[3] else -1) if match[2] else first
    if not first or not last:
        raise ParameterError("iterations count from 1; there is no iteration 0")
    if last < first and (first > 0) == (last > 0):
        raise ParameterError(f"{first}:{last} runs backwards. Write {last}:{first}.")
    return first, last
