"""Numbers that count through all groups of processes: operations, regions, teams.

A group numbers what it has for itself. Groups are gone through in order, so that numbers
do not depend on how processes are grouped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from burstline import schema
from burstline.columns import shifted, with_column
from burstline.formats.intake import Group, with_operations
from burstline.formats.raw.events.calls import Operations

if TYPE_CHECKING:
    from burstline.formats.raw.group import Batch


class Numbering:
    """Numbers of all groups so far; `operations`, the names behind the codes, grow."""

    def __init__(self) -> None:
        self._operations = Operations({})
        self.operations = self._operations.names
        self._rows: dict[tuple[Any, ...], int] = {}
        self._definitions = [schema.arrow_schema("region_defs").empty_table()]
        self._teams = 0

    def number(self, batch: Batch) -> Group:
        """The group of a batch, in the numbers that follow on those before."""
        tables = dict(batch.tables)
        codes = np.array([self._operations.code(name) for name in batch.operations], np.int16)
        halves = batch.halves
        is_same = np.array_equal(codes, np.arange(len(codes)))
        recode = None if is_same else lambda numbers: codes[numbers]
        tables["calls"] = with_operations(tables["calls"], self.operations, recode)
        operation = codes[halves.parts["operation"]].astype(np.int64)
        places = pa.array(self._places(tables.pop("region_defs")), pa.int32())
        regions = shifted(tables["regions"], "team", self._teams)
        if regions.num_rows:
            regions = with_column(regions, "region", places.take(regions["region"]))
        tables["regions"] = regions
        for name in ("team", "parent"):
            tables["teams"] = shifted(tables["teams"], name, self._teams)
        self._teams += tables["teams"].num_rows
        parts = {**halves.parts, "operation": operation}
        sides = halves.sends, halves.receives, halves.waiting
        return Group(tables, *sides, parts, len(batch.lives))

    def definitions(self) -> pa.Table:
        """The table `region_defs` of all groups so far."""
        table = pa.concat_tables(self._definitions).combine_chunks()
        self._definitions = [table]
        return with_column(table, "region", pa.array(np.arange(table.num_rows, dtype=np.int32)))

    def _places(self, table: pa.Table) -> list[int]:
        names = [name for name in table.column_names if name != "region"]
        rows = zip(*(table[name].to_pylist() for name in names), strict=True)
        places, fresh = [], []
        for row, key in enumerate(rows):
            if key not in self._rows:
                self._rows[key] = len(self._rows)
                fresh.append(row)
            places.append(self._rows[key])
        if fresh:
            self._definitions.append(table.take(fresh))
        return places
