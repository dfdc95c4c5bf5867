"""Event types that mean loops, in any trace: a range that no recorder uses.

::

    77200000            label of a call: the loop of the source around it
    77200001            iteration of a labelled loop
    77700000 … 199      loops that were found in a trace
    77700101            iteration of those that are in no other
"""

from __future__ import annotations

from typing import Final

OWN_TYPES: Final = range(77_200_000, 77_800_000)
"""All types that have a meaning of ours, now or later."""

LABEL_TYPE: Final = 77_200_000
"""Label of a call: its value is the innermost loop around the MPI call, 0 for none."""

ITERATION_TYPE: Final = 77_200_001
"""Iteration of a labelled loop that was seen: its value is which."""

FOUND_TYPES: Final = range(77_700_000, 77_700_200)
"""Loops that were found, and their iterations."""

FOUND_ITERATION_TYPE: Final = 77_700_101
"""Iteration of the loops that were found and are in no other; deeper ones follow."""
