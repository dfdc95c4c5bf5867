"""Features as numbers: the columns of fused tables, with texts as numbers of their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burstline.columns import Floats, Integers, coded, take
from burstline.learning.columns import BY_ACCIDENT, PARTNER

_UNKNOWN: Final = np.nan


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """Features of bursts."""

    names: tuple[str, ...]  # of the features
    # (rows, features) NaN where unknown; partners are distances from the rank of the burst
    values: Floats
    # features whose numbers stand for names: which is larger means nothing
    is_name: tuple[bool, ...]

    def of(self, names: Sequence[str]) -> Matrix:
        """Some of the features."""
        places = [self.names.index(name) for name in names]
        flags = tuple(self.is_name[place] for place in places)
        return Matrix(tuple(names), self.values[:, places], flags)

    def rows(self, rows: Integers) -> Matrix:
        """Some of the bursts."""
        return self.holding(self.values[rows])

    def holding(self, values: Floats) -> Matrix:
        """The same features of other bursts."""
        return Matrix(self.names, values, self.is_name)

    def shuffled(self, names: Sequence[str], generator: np.random.Generator) -> Matrix:
        """The features, with the values of some dealt out at random, each row's together."""
        places = [self.names.index(name) for name in names]
        values = self.values.copy()
        order = generator.permutation(len(values))
        values[:, places] = values[order][:, places]
        return self.holding(values)

    def known_to(self, learnt: Matrix) -> Matrix:
        """The features, NaN for each name that is not among those learnt from."""
        values = self.values.copy()
        for place, is_name in enumerate(self.is_name):
            if is_name:
                is_new = ~np.isin(values[:, place], learnt.values[:, place])
                values[is_new, place] = _UNKNOWN
        return self.holding(values)

    def kinds(self) -> Integers:
        """A number per burst, shared by those equal in all but position and concurrency."""
        places = [place for place, name in enumerate(self.names) if name not in BY_ACCIDENT]
        if not places:
            return np.zeros(len(self.values), np.int64)
        plain = np.nan_to_num(self.values[:, places], nan=-np.inf)
        return np.asarray(np.unique(plain, axis=0, return_inverse=True)[1]).ravel()


def matrix(tables: Sequence[pa.Table], names: Sequence[str]) -> Matrix:
    """Columns of tables as features, the rows of one table after another."""
    columns = [column_values(tables, name) for name in names]
    size = sum(table.num_rows for table in tables)
    values = np.column_stack(columns) if columns else np.zeros((size, 0))
    return Matrix(
        tuple(names), values, tuple(_is_text(tables[0].schema.field(name)) for name in names)
    )


def column_values(tables: Sequence[pa.Table], name: str) -> Floats:
    """One column as numbers, NaN where nothing is known; see :func:`matrix`, shape (rows,)."""
    if _is_text(tables[0].schema.field(name)):
        columns = [table[name] for table in tables]
        names = {name for column in columns for name in pc.unique(column).to_pylist()}
        numbers = {name: number for number, name in enumerate(sorted(names - {None}))}
        return np.concatenate([_coded(column, numbers) for column in columns])
    values = np.concatenate([_plain(table[name]) for table in tables])
    if name.startswith(f"{PARTNER}_"):
        values -= np.concatenate([_plain(table["rank"]) for table in tables])
    return values


def _coded(column: pa.ChunkedArray, numbers: Mapping[str | None, int]) -> Floats:
    is_coded = pa.types.is_dictionary(column.type)
    codes, names = coded(column if is_coded else column.dictionary_encode())
    values = np.array([numbers.get(name, _UNKNOWN) for name in names], np.float64)
    return take(values, codes, _UNKNOWN)


def _plain(column: pa.ChunkedArray) -> Floats:
    values = column.cast(pa.float64(), safe=False).to_numpy()
    return np.asarray(values, np.float64)


def _is_text(field: pa.Field) -> bool:
    return bool(
        pa.types.is_dictionary(field.type)
        or pa.types.is_string(field.type)
        or pa.types.is_large_string(field.type)
    )
