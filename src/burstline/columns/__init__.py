"""Array verbs: what NumPy and Arrow lack for columns of integers.

Nothing here knows what a trace is: types of arrays, missing values, groups of equal rows,
rows found by what names them, intervals, and the step from arrays to Arrow.
"""

from burstline.columns.arrow import encoded, fractions, nullable, shifted, to_numpy
from burstline.columns.groups import (
    begins_run,
    codes,
    dense,
    distinct,
    ordinal_within,
    run_lengths,
    stable_order,
)
from burstline.columns.intervals import enclosing, match_borders
from burstline.columns.lookup import Ordinals, lookup, take
from burstline.columns.missing import NO_VALUE, UNKNOWN
from burstline.columns.types import AnyIntegers, Columns, Floats, Integers, Mask

__all__ = [
    "NO_VALUE",
    "UNKNOWN",
    "AnyIntegers",
    "Columns",
    "Floats",
    "Integers",
    "Mask",
    "Ordinals",
    "begins_run",
    "codes",
    "dense",
    "distinct",
    "enclosing",
    "encoded",
    "fractions",
    "lookup",
    "match_borders",
    "nullable",
    "ordinal_within",
    "run_lengths",
    "shifted",
    "stable_order",
    "take",
    "to_numpy",
]
