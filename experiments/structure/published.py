"""Unique MPI calls of the NAS Parallel Benchmarks: the published counts, and their laws.

A law gives the count of all ranks without ``MPI_Init``, from the call sites in the source
of NPB 3.3 and the ways that lead to them. None of them knows the class of the problem.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

PUBLISHED: Final[dict[str, dict[int, int]]] = {
    "BT": {9: 945, 16: 1680, 36: 3780},
    "CG": {8: 480, 16: 960, 32: 1920},
    "EP": {8: 72, 16: 144, 32: 288},
    "FT": {8: 121, 16: 241, 32: 481},
    "IS": {8: 117, 16: 237, 32: 477},
    "LU": {8: 635, 16: 1421, 32: 2993},
    "MG": {8: 1794, 16: 3344, 32: 6656},
    "SP": {9: 819, 16: 1456, 36: 3276},
}
"""Table C.1 of the thesis, by program and ranks; equal for classes A, B and C."""

_MG_CLASSES: Final[dict[int, dict[int, int]]] = {
    8: {213: 8},
    16: {201: 8, 217: 8},
    32: {201: 8, 205: 16, 221: 8},
}
"""Unique calls of a rank, and how many ranks have as many, by the ranks there are."""


def _lu(ranks: int) -> int:
    """Interior ranks have 107; each row and column of the grid has two borders."""
    columns = 1 << (ranks.bit_length() - 1) // 2
    return 107 * ranks - 35 * (columns + ranks // columns) - 11


def _mg(ranks: int) -> int | None:
    classes = _MG_CLASSES.get(ranks)
    if classes is None:
        return None
    return sum(unique * members for unique, members in classes.items())


LAWS: Final[dict[str, tuple[str, Callable[[int], int | None]]]] = {
    "BT": ("105 P", lambda ranks: 105 * ranks),
    "CG": ("60 P", lambda ranks: 60 * ranks),
    "EP": ("9 P", lambda ranks: 9 * ranks),
    "FT": ("15 P + 1", lambda ranks: 15 * ranks + 1),
    "IS": ("15 P - 3", lambda ranks: 15 * ranks - 3),
    "LU": ("107 P - 35 (x + y) - 11 on x by y ranks", _lu),
    "MG": ("213 P; with idle ranks 201, 205, 217 or 221 each", _mg),
    "SP": ("91 P", lambda ranks: 91 * ranks),
}
"""How many unique calls P ranks have without MPI_Init: in words, and as a function."""
