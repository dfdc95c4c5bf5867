"""Sets of ranks as a person would write them: `0, 4..7`, `0..6 by 2`, `all but 3`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

_WORTH_A_STRIDE: Final = 3


def compact(ranks: Collection[int], everybody: Collection[int] = ()) -> str:
    """A set of ranks in a few characters."""
    chosen = sorted(set(ranks))
    missing = sorted(set(everybody) - set(chosen))
    if everybody and not missing:
        return "all"
    plain = ", ".join(_stretches(chosen))
    if not missing or not chosen:
        return plain
    without = "all but " + ", ".join(_stretches(missing))
    return without if len(without) < len(plain) + len(" but") else plain


def _stretches(ranks: Sequence[int]) -> list[str]:
    """Sorted ranks as stretches of one stride, greedily from the left."""
    written: list[str] = []
    begin = 0
    while begin < len(ranks):
        end = begin + 1
        stride = ranks[end] - ranks[begin] if end < len(ranks) else 1
        while end < len(ranks) and ranks[end] - ranks[end - 1] == stride:
            end += 1
        if end - begin < (2 if stride == 1 else _WORTH_A_STRIDE):
            end = begin + 1
        written.append(_stretch(ranks[begin], ranks[end - 1], stride))
        begin = end
    return written


def _stretch(first: int, last: int, stride: int) -> str:
    if first == last:
        return f"{first}"
    if stride == 1:
        return f"{first}, {last}" if last == first + 1 else f"{first}..{last}"
    return f"{first}..{last} by {stride}"
