"""Where the numbers of loops stand in the clustering plot.

Loops that lie on each other share a label. A label goes where it covers neither a point nor
another label, near its loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.structure import compact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstline.columns import Floats, Integers, Mask

_TOGETHER: Final = 12.0
_CHARACTER: Final = 8.0
_HEIGHT: Final = 14.0
_DISTANCE: Final = 11.0
_POINT: Final = 5.0
_SPOT: Final = 20.0


@dataclass(frozen=True, slots=True)
class Label:
    """A text with the position of its left end and middle, in the units of the points."""

    text: str
    """Numbers of loops, as in ``2, 7..9``."""
    x: float
    y: float
    """Where it begins, and its middle."""

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, lower, right and upper edge, as wide as digits usually are."""
        width = _CHARACTER * len(self.text)
        return self.x, self.y - _HEIGHT / 2, self.x + width, self.y + _HEIGHT / 2


def stacked(positions: Floats, loops: Integers) -> list[tuple[int, ...]]:
    """Group loops whose largest spots lie on each other.

    >>> stacked(np.array([[0.0, 0], [50, 0], [3, 4]]), np.array([1, 2, 3]))
    [(1, 3), (2,)]
    """
    groups: list[list[int]] = []
    centres: list[Floats] = []
    for loop in np.unique(loops).tolist():
        centre = _spot(positions[loops == loop]).mean(axis=0)
        near = (k for k, c in enumerate(centres) if np.hypot(*(c - centre)) < _TOGETHER)
        group = next(near, None)
        if group is None:
            groups.append([loop])
            centres.append(centre)
        else:
            groups[group].append(loop)
    return [tuple(group) for group in groups]


def _spot(points: Floats) -> Floats:
    """The points of a loop that lie together, where most of them do."""
    cells = np.floor(points / _SPOT)
    cell, count = np.unique(cells, axis=0, return_counts=True)
    middle = (cell[count.argmax()] + 0.5) * _SPOT
    return points[np.abs(points - middle).max(axis=1) <= _SPOT]


def placed_labels(
    positions: Floats, loops: Integers, size: tuple[float, float]
) -> tuple[Label, ...]:
    """Labels of loops that cover nothing: positions and size in hundredths of an inch."""
    inside = loops > 0
    placed: list[Label] = []
    for group in stacked(positions[inside], loops[inside]):
        of_group = _spot(positions[np.isin(loops, group)])
        text = compact(group)
        candidates = _candidates(text, of_group)
        free = (
            label for label in candidates if _is_free(label, placed, positions, limits=size)
        )
        label = next(free, None)
        if label is not None:
            placed.append(label)
    return tuple(placed)


def _candidates(text: str, points: Floats) -> Sequence[Label]:
    """Places right of, left of, above and below a group, the nearest first."""
    (left, low), (right, high) = points.min(axis=0), points.max(axis=0)
    middle, width = (low + high) / 2, _CHARACTER * len(text)
    before, behind = left - _DISTANCE - width, right + _DISTANCE
    rise = _DISTANCE + _HEIGHT / 2
    centred = (left + right - width) / 2
    near = [(behind, middle), (before, middle), (centred, high + rise), (centred, low - rise)]
    corners = [(x, y) for x in (behind, before) for y in (high + rise, low - rise)]
    far = [(x, y + way * rise) for way in (1, -1) for x, y in corners]
    return [Label(text, float(x), float(y)) for x, y in (*near, *corners, *far)]


def _is_free(
    label: Label, placed: Sequence[Label], points: Floats, *, limits: tuple[float, float]
) -> bool:
    left, low, right, high = label.box
    if left < 0 or low < 0 or right > limits[0] or high > limits[1]:
        return False
    for other in placed:
        o_left, o_low, o_right, o_high = other.box
        if left < o_right and o_left < right and low < o_high and o_low < high:
            return False
    x, y = points[:, 0], points[:, 1]
    covered: Mask = (
        (x > left - _POINT) & (x < right + _POINT) & (y > low - _POINT) & (y < high + _POINT)
    )
    return not covered.any()
