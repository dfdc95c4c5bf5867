"""The event types that results are written as: a range that no recorder uses.

::

    77700000            the innermost loop
    77700001 … 099      the loop at a nesting depth
    77700101 … 199      its iteration
"""

from __future__ import annotations

from typing import Final

from burstline.extrae.loops import FOUND_ITERATION_TYPE, FOUND_TYPES

RESERVED: Final = range(77_700_000, 77_800_000)
"""All types that results may be written as, now or later."""

STRUCTURE: Final = FOUND_TYPES
"""The types of loops and their iterations."""

INNERMOST: Final = STRUCTURE.start
"""Its value is the number of the innermost loop; 0 outside of loops."""

DEEPEST: Final = 99
"""Loops that are nested deeper have no type."""

_ITERATIONS: Final = FOUND_ITERATION_TYPE - 1


def loop_type(depth: int) -> int:
    """Give the type whose value is the number of the loop at a nesting depth.

    Parameters
    ----------
    depth : int
        1 for loops that are in no other loop.

    Returns
    -------
    int
        The event type.

    Examples
    --------
    >>> loop_type(1), iteration_type(1)
    (77700001, 77700101)
    """
    return INNERMOST + depth


def iteration_type(depth: int) -> int:
    """Give the type whose value is the iteration of the loop at a nesting depth.

    Parameters
    ----------
    depth : int
        1 for loops that are in no other loop.

    Returns
    -------
    int
        The event type.
    """
    return _ITERATIONS + depth
