"""How well the counters of a fused table repeat, where several runs recorded them.

::

    columns of one counter from several runs  --reliability-->  its verdict
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstline.learning.columns import counter_of, counters_of, runs_of
from burstline.learning.matrix import column_values
from burstline.merge import DO_NOT_USE, TRUST, VERDICTS, compare

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa


def reliability(tables: Sequence[pa.Table]) -> dict[str, str]:
    """A verdict on each counter that several runs have counted.

    >>> import pyarrow as pa
    >>> field = pa.field("A", pa.int64(), metadata={"runs": "1,2"})
    >>> reliability([pa.table([[5, 6]], schema=pa.schema([field]))])
    {'A': 'trust'}
    """
    verdicts: dict[str, str] = {}
    for table in tables:
        columns: dict[str, list[pa.Field]] = {}
        for field in (field for fields in counters_of(table.schema) for field in fields):
            columns.setdefault(counter_of(field), []).append(field)
        for counter, fields in columns.items():
            verdict = _verdict(table, counter, fields)
            if verdict is not None:
                verdicts[counter] = worst((verdict, verdicts.get(counter, verdict)))
    return verdicts


def unreliable(
    schema: pa.Schema, names: Iterable[str], verdicts: Mapping[str, str]
) -> list[str]:
    """Those of some columns whose counter is not to be used."""
    return [
        name for name in names if verdicts.get(counter_of(schema.field(name))) == DO_NOT_USE
    ]


def worst(verdicts: Iterable[str]) -> str:
    """The worst of some verdicts."""
    return max(verdicts, key=VERDICTS.index)


def _verdict(table: pa.Table, counter: str, fields: list[pa.Field]) -> str | None:
    if len(fields) < 2:
        return TRUST if len(runs_of(fields[0])) > 1 else None
    values = np.column_stack([column_values([table], field.name) for field in fields])
    return compare(counter, values).verdict
