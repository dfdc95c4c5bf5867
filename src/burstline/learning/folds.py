"""Folds: which bursts are left out together, so that none is predicted from its like.

::

    fused tables  --groups-->  a number per burst  --folds-->  (learnt from, tested) in turn
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.errors import NotEnoughDataError, ParameterError
from burstline.identity import SIDES, SITE
from burstline.learning.matrix import column_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from burstline.columns import Integers

WAYS: Final = ("rank", "application", "code")
"""What is left out together: the bursts of a rank; of a table, or of an application in it;
or of a place in the program, known by the calls before and after."""

_FOLDS: Final = 5
_OTHER: Final = {
    "rank": "--by code leaves out bursts by their calls",
    "application": "Give further data sets, of other programs or sizes, or choose --by rank",
    "code": "--by rank leaves out ranks",
}


def groups(tables: Sequence[pa.Table], by: str) -> Integers:
    """What each burst is left out together with, shape (rows,).

    >>> import pyarrow as pa
    >>> groups([pa.table({"rank": [0, 0, 1]}), pa.table({"rank": [0]})], "rank").tolist()
    [0, 0, 1, 2]
    """
    if by not in WAYS:
        raise ParameterError(f"bursts are grouped by {', '.join(WAYS)}, not by {by}")
    table = np.repeat(np.arange(len(tables)), [part.num_rows for part in tables]).astype(float)
    names = ["application"]
    if by == "rank":
        names.append("rank")
    elif by == "code":
        names = [f"{name}_{side}" for name in SITE for side in SIDES]
    shared = [name for name in names if all(name in part.column_names for part in tables)]
    needed = {"rank": "rank", "code": "operation_before", "application": None}[by]
    if needed is not None and needed not in shared:
        raise ParameterError(f"no column {needed}: bursts cannot be grouped by {by}")
    columns = [column_values(tables, name) for name in shared]
    keys = np.column_stack([*([] if by == "code" else [table]), *columns])
    plain = np.nan_to_num(keys, nan=-1.0)
    return np.asarray(np.unique(plain, axis=0, return_inverse=True)[1]).reshape(-1)


def folds(group: Integers, by: str) -> list[tuple[Integers, Integers]]:
    """The rows to learn from and those to test, for each fold.

    >>> import numpy as np
    >>> [test.tolist() for _, test in folds(np.array([0, 0, 1]), "rank")]
    [[0, 1], [2]]
    """
    numbers, number, sizes = np.unique(group, return_inverse=True, return_counts=True)
    if len(numbers) < 2:
        raise NotEnoughDataError(
            f"all bursts are of one {by}: nothing is left to test on. {_OTHER[by]}"
        )
    count = len(numbers) if by == "application" else min(_FOLDS, len(numbers))
    filled = np.zeros(count, np.int64)
    fold_of = np.zeros(len(numbers), np.int64)
    # the largest group first, each to the fold with the fewest bursts
    for row in np.argsort(-sizes, kind="stable").tolist():
        fold_of[row] = int(np.argmin(filled))
        filled[fold_of[row]] += sizes[row]
    fold = fold_of[number.reshape(-1)]
    return [
        (np.flatnonzero(fold != each), np.flatnonzero(fold == each)) for each in range(count)
    ]
