"""The event types of loops: of the innermost, of each depth, and of its iterations."""

from __future__ import annotations

from typing import Final

from burstline.extrae import FOUND_ITERATION, RESERVED, STRUCTURE

__all__ = ["DEEPEST", "INNERMOST", "RESERVED", "STRUCTURE", "iteration_type", "loop_type"]

INNERMOST: Final = STRUCTURE.start
"""Its value is the number of the innermost loop; 0 outside of loops."""

DEEPEST: Final = 99
"""The depth below which loops have no type."""


def loop_type(depth: int) -> int:
    """The type whose value is the number of the loop at a nesting depth.

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
    """The type whose value is the iteration of the loop at a nesting depth.

    Parameters
    ----------
    depth : int
        1 for loops that are in no other loop.

    Returns
    -------
    int
        The event type.
    """
    return FOUND_ITERATION + depth - 1
