"""Columns of rows that are made in parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from burstline.columns.types import AnyIntegers


class ColumnParts:
    """Columns that grow by parts; each part is dropped as its column is put together."""

    def __init__(self, types: Mapping[str, npt.DTypeLike]) -> None:
        self._types = {name: np.dtype(each) for name, each in types.items()}
        self._parts: dict[str, list[npt.NDArray[Any]]] = {
            name: [np.zeros(0, each)] for name, each in self._types.items()
        }
        self.count = 0

    def add(self, count: int, *columns: AnyIntegers | int) -> None:
        """Add rows: for each column their values, or one for all."""
        for (name, parts), column in zip(self._parts.items(), columns, strict=True):
            values = np.asarray(column)
            if values.dtype.itemsize > self._types[name].itemsize:
                values = values.astype(self._types[name])
            parts.append(np.broadcast_to(values, count))
        self.count += count

    def take(self, name: str) -> npt.NDArray[Any]:
        """A column, which is here no more."""
        parts = self._parts.pop(name)
        return np.concatenate(parts, dtype=self._types[name], casting="unsafe")

    def take_rest(self, order: AnyIntegers | slice) -> dict[str, npt.NDArray[Any]]:
        """All columns that are left, in an order of their rows."""
        return {name: self.take(name)[order] for name in [*self._parts]}
