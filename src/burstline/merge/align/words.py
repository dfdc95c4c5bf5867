"""Operations, call paths and communicators under numbers that all runs share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstline.columns import to_numpy
from burstline.merge.align.loops import loops_of
from burstline.merge.labels import communicator_labels
from burstline.structure import clean_paths

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable

    import numpy.typing as npt

    from burstline.columns import Integers, Mask
    from burstline.trace import Trace

    Turns = npt.NDArray[np.int32]
    Codes = Integers

NOTHING = 0
"""Operation where there is none: its name is empty."""


class Words:
    """What several runs call the same, numbered as it is met.

    Attributes
    ----------
    operations : list of str
        Names of the operations, by number.
    """

    def __init__(self) -> None:
        self.operations = [""]
        self._operation: dict[str, int] = {"": NOTHING}
        self._path: dict[Hashable, int] = {}
        self._communicator: dict[Hashable, int] = {}
        self._loop: dict[str, int] = {}

    def operations_of(self, trace: Trace) -> Codes:
        """Give the operation of each call of a trace as a number."""
        column = trace.table("calls")["operation"]
        names = column.chunk(0).dictionary.to_pylist() if column.num_chunks else []
        return self._codes_of(names)[to_numpy(column)]

    def _codes_of(self, names: list[str]) -> Codes:
        for name in names:
            if self._operation.setdefault(name, len(self.operations)) == len(self.operations):
                self.operations.append(name)
        return np.array([self._operation[name] for name in names] or [NOTHING], np.int64)

    def are(self, operations: Codes, names: Collection[str]) -> Mask:
        """Tell which operations, given by their numbers, are among those named."""
        return np.array([name in names for name in self.operations])[operations]

    def paths_of(self, trace: Trace) -> Codes:
        """Give the place in the source of each call of a trace as a number."""
        numbers, paths = clean_paths(trace)
        codes = [self._path.setdefault(path, len(self._path)) for path in paths]
        (path,) = trace.arrays("calls", "call_path")
        return np.array(codes, np.int64)[numbers][path]

    def loops_of(self, trace: Trace) -> tuple[Codes, Turns] | None:
        """Give the loop around each call as a number or -1, and its turn, if anybody knows."""
        found = loops_of(trace)
        if found is None:
            return None
        codes = [self._loop.setdefault(name, len(self._loop)) for name in found.names]
        return np.array([*codes, -1], np.int64)[found.number], found.turn

    def communicators_of(self, trace: Trace) -> Codes:
        """Give the communicator of each call of a trace as a number, or -1."""
        known = self._communicator
        codes = [known.setdefault(label, len(known)) for label in communicator_labels(trace)]
        (communicator,) = trace.arrays("calls", "communicator")
        return np.array([*codes, -1], np.int64)[communicator]
