"""Loops without MPI in words: what the computation before a call is made of.

::

    loop of 500 iterations: relax (grid.c:5..9), 50.0 % of the time
    loop: stencil (grid.c:120..131), 63.0 % of 120 samples
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from burstline.show.units import format_share, plural
from burstline.show.wording import name_text

if TYPE_CHECKING:
    from burstline.structure import Inside, InsideLoop, Item, Place

_MOST_LINES: Final = 3
_LEAST_SHARE: Final = 0.05


def inside_text(
    inside: Inside,
    node: Item,
    *,
    most: int = _MOST_LINES,
    least_share: float = _LEAST_SHARE,
) -> list[str]:
    """Write down the loops in the computation of a node, one line each."""
    samples = inside.samples_in(node)
    told = [loop for loop in inside.loops(node) if loop.share >= least_share]
    if told:
        return [_loop_text(loop, samples) for loop in told[:most]]
    return [_place_text(place, samples) for place in inside.places(node)[:1]]


def _loop_text(loop: InsideLoop, samples: int) -> str:
    where = _where(loop.function, loop.file, loop.first_line, loop.last_line)
    if loop.entries is None:
        return f"loop: {where}, {format_share(loop.share)} of {plural(samples, 'sample')}"
    trips = "loop"
    if loop.iterations is not None:
        trips += f" of {loop.iterations:.10g} iterations"
        trips += " (mean)" * (loop.iterations != round(loop.iterations))
    return f"{trips}: {where}, {format_share(loop.share)} of the time"


def _place_text(place: Place, samples: int) -> str:
    where = _where(place.function, place.file, place.line, place.line)
    share = format_share(place.samples / samples)
    return f"{where}, {share} of {plural(samples, 'sample')}"


def _where(function: str, file: str | None, first: int | None, last: int | None) -> str:
    if file is None:
        return name_text(function)
    lines = "" if first is None else f":{first}"
    if last not in {None, first}:
        lines += f"..{last}"
    return f"{name_text(function)} ({name_text(file)}{lines})"
