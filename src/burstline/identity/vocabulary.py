"""Names as numbers: equal names of several runs, or rows, have the same number."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Generic, TypeVar

import numpy as np

from burstline.columns import AnyIntegers, Integers, Mask

Name = TypeVar("Name")


class Vocabulary(Generic[Name]):
    """Names, numbered as they are met."""

    def __init__(self, names: Iterable[Name] = ()) -> None:
        self._number: dict[Name, int] = {}
        self.numbers(names)

    @property
    def names(self) -> list[Name]:
        """The names by their numbers."""
        return list(self._number)

    def numbers(self, names: Iterable[Name]) -> Integers:
        """The number of each name, shape (names,); a name that is new gets the next one."""
        number = self._number
        return np.array([number.setdefault(name, len(number)) for name in names], np.int64)

    def among(self, numbers: AnyIntegers, names: Collection[Name]) -> Mask:
        """Which of the names, given by their numbers, are among some others."""
        return np.array([name in names for name in self._number], bool)[numbers]
