"""The names of loops, as labels of the values of events.

::

    Loop  -->  "loop 2: cg.f:491-503, 15 iterations"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from burstline.errors import printable
from burstline.structure import Call, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstline.identity import Frame, Path
    from burstline.structure import Loop

_NAME: Final = 60
_NEARLY: Final = 0.005


def loop_name(loop: Loop) -> str:
    """The number, the place and the iterations of a loop in one line."""
    calls = [item for item, _ in walk(loop.items) if isinstance(item, Call)]
    paths = [call.path for call in calls if call.path]
    where = _place(paths) if paths else printable(calls[0].operation, limit=_NAME)
    whole = abs(loop.iterations - round(loop.iterations)) < _NEARLY
    often = f"{loop.iterations:.0f}" if whole else f"{loop.iterations:.2f}"
    plural = "" if often == "1" else "s"
    return f"loop {loop.id}: {where}, {often} iteration{plural}"


def _place(paths: Sequence[Path]) -> str:
    """File and lines where the paths part, or where the first one ends."""
    first = paths[0]
    shared = 0
    for frames in zip(*paths, strict=False):
        if any(frame != frames[0] for frame in frames):
            break
        shared += 1
    depth = min(shared, len(first) - 1)
    place = first[depth]
    lines = [
        path[depth].line
        for path in paths
        if len(path) > depth
        and (path[depth].function, path[depth].file) == (place.function, place.file)
    ]
    return _file_and_lines(place, sorted({line for line in lines if line is not None}))


def _file_and_lines(place: Frame, lines: Sequence[int]) -> str:
    file = printable((place.file or place.function).strip(), limit=_NAME)
    if not lines:
        return file
    first, last = lines[0], lines[-1]
    return f"{file}:{first}" if first == last else f"{file}:{first}-{last}"
