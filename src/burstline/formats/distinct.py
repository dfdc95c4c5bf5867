"""Rows of several columns of integers that differ: sorted once, however many the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstline.matching import channels

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.integer]


def distinct(
    *columns: Integers,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Find the rows that differ.

    Parameters
    ----------
    *columns : ndarray of integers, shape (rows,)
        The columns, at least one.

    Returns
    -------
    first : ndarray of int64, shape (distinct,)
        The first of each of these rows, in the order of their values.
    which : ndarray of int64, shape (rows,)
        Which of them each row is.

    Notes
    -----
    O(rows log rows) on one column of integers: several times as fast as sorting the rows
    of a matrix.

    Examples
    --------
    >>> import numpy as np
    >>> first, which = distinct(np.array([7, 5, 7]), np.array([1, 2, 1]))
    >>> first.tolist(), which.tolist()
    ([1, 0], [1, 0, 1])
    """
    name, _ = channels(columns, [column[:0] for column in columns])
    _, first, which = np.unique(name, return_index=True, return_inverse=True)
    return first.astype(np.int64), which.reshape(-1).astype(np.int64)
