"""Groups of rows with equal values: numbered, counted, and put beside each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from burstline.columns.types import AnyIntegers, Columns, Floats, Integers, Mask

_SMALL = 1 << 16
_PACKABLE = 1 << 62
_SLICE = 1 << 16


def concatenated(names: Sequence[str], parts: Sequence[Mapping[str, Integers]]) -> Columns:
    """The columns of some names of all parts, one part after the other.

    >>> concatenated(["tag"], [{"tag": np.array([3])}, {"tag": np.array([4])}])
    {'tag': array([3, 4])}
    """
    none = np.zeros(0, np.int64)
    return {name: np.concatenate([none, *(part[name] for part in parts)]) for name in names}


def slices(rows: int) -> Iterator[slice]:
    """Slices of a table, so short that what is made of one takes hardly any memory.

    >>> list(slices(3))
    [slice(0, 3, None)]
    """
    return (slice(k, min(k + _SLICE, rows)) for k in range(0, rows, _SLICE))


def begins_run(*columns: AnyIntegers | Mask) -> Mask:
    """Whether each row differs in any column from the row before; the first one does.

    >>> begins_run(np.array([3, 3, 4]), np.array([1, 1, 1])).tolist()
    [True, False, True]
    """
    first = np.ones(len(columns[0]), bool)
    if len(first) > 1:
        first[1:] = columns[0][1:] != columns[0][:-1]
        for column in columns[1:]:
            first[1:] |= column[1:] != column[:-1]
    return first


def run_lengths(starts: AnyIntegers, total: int) -> Integers:
    """The rows of each run, from the first row of each and the number of all rows.

    >>> run_lengths(np.array([0, 2]), 5).tolist()
    [2, 3]
    """
    return np.diff(starts, append=total)


def sums_by(
    group: AnyIntegers | tuple[AnyIntegers, ...],
    values: AnyIntegers | Sequence[int] | int,
    shape: int | tuple[int, ...],
) -> Integers:
    """The sum of the values of each group, exact, where :func:`numpy.bincount` sums floats.

    >>> sums_by(np.array([0, 2, 0]), np.array([5, 6, 7]), 3).tolist()
    [12, 0, 6]
    """
    sums = np.zeros(shape, np.int64)
    np.add.at(sums, group, values)
    return sums


def ordinal_within(*groups: AnyIntegers, order: AnyIntegers | None = None) -> Integers:
    """The ordinal of each row among the rows of its group, counted from 0.

    Rows count in the order in which they stand, or in `order`, which has the rows of each
    group beside each other.

    >>> ordinal_within(np.array([7, 8, 7]), np.array([1, 1, 1])).tolist()
    [0, 0, 1]
    """
    if order is None:
        order = np.lexsort(groups)
    rows = np.arange(len(order))
    starts = np.flatnonzero(begins_run(*(group[order] for group in groups)))
    ordinal = np.empty(len(order), np.int64)
    ordinal[order] = rows - np.repeat(starts, run_lengths(starts, len(order)))
    return ordinal


def codes(*sides: Sequence[AnyIntegers]) -> tuple[Integers, ...]:
    """One integer per row of each side: equal if and only if all columns of the rows agree.

    The values mean nothing. O(rows) where the ranges of the columns fit into 62 bits
    together, which is usual; else O(rows log rows).

    >>> codes([np.array([0, 0]), np.array([5, 6])], [np.array([0]), np.array([6])])
    (array([0, 1]), array([1]))
    """
    borders = np.cumsum([len(side[0]) if side else 0 for side in sides])
    total = int(borders[-1])
    name, names = np.zeros(total, np.int64), 1
    for parts in zip(*sides, strict=True):
        if not total:
            break
        column = np.concatenate(parts).astype(np.int64, copy=False)
        lowest, values = int(column.min()), int(column.max()) - int(column.min()) + 1
        if names * values < _PACKABLE:
            column = column - lowest
        else:
            # Too wide to sit side by side in 62 bits: only values that occur are numbered.
            name, names = _dense_positions(name)
            column, values = _dense_positions(column)
        name = name * values + column
        names *= values
    return tuple(np.split(name, borders[:-1]))


def _dense_positions(values: Integers) -> tuple[Integers, int]:
    """Values as positions among those that occur, and how many occur."""
    occurring, place = np.unique(values, return_inverse=True)
    return place.astype(np.int64, copy=False), len(occurring)


def distinct(*columns: AnyIntegers) -> tuple[Integers, Integers]:
    """The first of the rows that differ, in the order of their values, and which each row is.

    Several times as fast as sorting the rows of a matrix.

    >>> first, which = distinct(np.array([7, 5, 7]), np.array([1, 2, 1]))
    >>> first.tolist(), which.tolist()
    ([1, 0], [1, 0, 1])
    """
    (name,) = codes(columns)
    _, first, which = np.unique(name, return_index=True, return_inverse=True)
    return first.astype(np.int64), which.reshape(-1).astype(np.int64)


def mapped(function: Callable[..., Any], *columns: AnyIntegers) -> Integers:
    """What a function makes of each row, which is asked once for equal rows, the least first.

    >>> mapped(lambda tag: tag * tag, np.array([3, 2, 3])).tolist()
    [9, 4, 9]
    """
    first, which = distinct(*columns)
    keys = zip(*(column[first].tolist() for column in columns), strict=True)
    return np.array([function(*key) for key in keys], np.int64)[which]


def dense(codes: Integers, space: int) -> tuple[Integers, Integers]:
    """Codes numbered so that all numbers occur, and the code of each number, ascending."""
    if space > 4 * len(codes) + _SMALL:
        keys, numbers = np.unique(codes, return_inverse=True)
        return numbers, keys
    occurs = np.bincount(codes, minlength=space) > 0
    return (np.cumsum(occurs) - 1)[codes], np.flatnonzero(occurs)


def stable_order(codes: AnyIntegers, count: int) -> Integers:
    """The order that puts equal codes together; NumPy sorts 16 bits in linear time."""
    return np.argsort(codes.astype(np.uint16) if count <= _SMALL else codes, kind="stable")


def descending(values: Integers) -> Integers:
    """The order that puts the largest value first, and equal ones in the order they have.

    >>> descending(np.array([3, 7, 3])).tolist()
    [1, 0, 2]
    """
    count = len(values)
    if not count:
        return np.zeros(0, np.int64)
    highest = int(values.max())
    if (highest - int(values.min()) + 1) * count > _PACKABLE:
        return np.argsort(-values, kind="stable")
    # NumPy sorts numbers several times as fast as it tells in which order they are.
    keys = (highest - values) * count + np.arange(count)
    keys.sort()
    return keys % count


def prefix_sums(values: npt.NDArray[Any]) -> Integers:
    """The sum of the integers before each position, and of all, shape (values + 1,).

    >>> prefix_sums(np.array([4, 1])).tolist()
    [0, 4, 5]
    """
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    return sums


def ranges(first: AnyIntegers | int, count: AnyIntegers) -> Integers:
    """So many whole numbers from each first one on, one range behind the other.

    >>> ranges(np.array([7, 2]), np.array([2, 3])).tolist()
    [7, 8, 2, 3, 4]
    """
    begin = np.cumsum(count) - count
    return np.arange(count.sum()) + np.repeat(first - begin, count)


def quotients(parts: npt.NDArray[Any], wholes: npt.NDArray[Any]) -> Floats:
    """Each part over its whole; NaN where that is not positive.

    >>> quotients(np.array([1, 1]), np.array([2, 0])).tolist()
    [0.5, nan]
    """
    nothing = np.full(len(wholes), np.nan)
    return np.divide(parts, wholes, out=nothing, where=wholes > 0)
