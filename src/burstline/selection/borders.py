"""Where a window begins and ends: once for all locations, or on each location.

::

    start_ns, end_ns: numbers or arrays  ->  Borders  --at(location)-->  what rows compare with
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from burstline.errors import ParameterError

if TYPE_CHECKING:
    from burstline.columns import AnyIntegers, Mask

    Moments = int | AnyIntegers

_FIRST: Final = -(2**63) + 1
_LAST: Final = 2**63 - 1


class Borders(NamedTuple):
    """A window of time, or one for each location."""

    # (locations,) half-open, in nanoseconds; both are numbers, or both are arrays
    start: Moments
    end: Moments

    @classmethod
    def of(cls, start_ns: Moments | None, end_ns: Moments | None, locations: int) -> Borders:
        """The borders of a selection, checked."""
        start = _moments("start_ns", start_ns, _FIRST, locations)
        end = _moments("end_ns", end_ns, _LAST, locations)
        if isinstance(start, int) and isinstance(end, int):
            if not _FIRST <= start < end <= _LAST:
                raise ParameterError(
                    f"the window from {start} to {end} ns is empty. "
                    "Its end must be after its start."
                )
            return cls(start, end)
        return cls(
            np.maximum(np.broadcast_to(start, locations), _FIRST),
            np.broadcast_to(end, locations),
        )

    def at(self, location: AnyIntegers) -> Borders:
        """The window of each of some rows, by their locations."""
        if isinstance(self.start, int) or isinstance(self.end, int):
            return self
        return Borders(self.start[location], self.end[location])

    def reached(self, kept: Mask) -> Mask:
        """Which of the kept locations have a window that is not empty, shape (locations,)."""
        reached = kept & (self.start < self.end)
        if len(kept) and not reached.any():
            raise ParameterError("the window is empty on every location that was chosen")
        return reached

    def hull(self, kept: Mask) -> tuple[int, int]:
        """The first and the last moment of the windows of some locations."""
        if isinstance(self.start, int) or isinstance(self.end, int):
            return int(self.start), int(self.end)
        return (
            int(self.start[kept].min(initial=_LAST)),
            int(self.end[kept].max(initial=_FIRST)),
        )


def _moments(name: str, given: Moments | None, otherwise: int, locations: int) -> Moments:
    if given is None:
        return otherwise
    if isinstance(given, int):
        return given
    moments = np.asarray(given)
    if moments.dtype.kind not in "iu":
        raise ParameterError(f"{name} is whole nanoseconds, got {moments.dtype}")
    if not moments.ndim:
        return int(moments)
    if moments.shape != (locations,):
        raise ParameterError(
            f"{name} needs a moment for each of {locations} locations, got an array of shape "
            f"{moments.shape}"
        )
    return moments.astype(np.int64)
