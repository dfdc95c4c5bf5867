"""From the caller ids of a trace to the calling-context tree.

Address randomisation gives each rank ids of its own, so paths differ by labels, not by ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from burstline.extrae import (
    CALLER_FUNCTIONS,
    CALLER_LINES,
    UNRESOLVED,
    read_function,
    read_line,
)
from burstline.schema import arrow_table

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    from burstline import _core
    from burstline.formats.paraver.files.pcf import Pcf

Frame: TypeAlias = "tuple[str, str | None, int | None]"

_NO_LINE = -1


class CallPathTree:
    """The tree of call paths; nodes are numbered as paths first occur, by location and call."""

    def __init__(self, pcf: Pcf) -> None:
        self._pcf = pcf
        self._node: dict[tuple[int, Frame], int] = {}
        self._frames: dict[tuple[int, int, int], Frame] = {}
        self._parents: list[int] = []
        self._nodes: list[int] = []

    def extend(self, paths: _core.PathTable) -> npt.NDArray[np.int32]:
        """Add new paths; the node of every path, shape (paths + 1,)."""
        fresh = [
            (*paths.path(number), number) for number in range(len(self._nodes), len(paths))
        ]
        self._nodes.extend(0 for _ in fresh)
        for _, raw, number in sorted(fresh, key=lambda path: path[0]):
            self._nodes[number] = self._insert(raw)
        return np.array([*self._nodes, -1], np.int32)

    def _insert(self, raw: list[int]) -> int:
        node = -1
        for level, function, line in reversed(
            list(zip(raw[::3], raw[1::3], raw[2::3], strict=True))
        ):
            frame = self._frame(level, function, line)
            key = (node, frame)
            if key not in self._node:
                self._node[key] = len(self._parents)
                self._parents.append(node)
            node = self._node[key]
        return node

    def _frame(self, level: int, function: int, line: int) -> Frame:
        key = (level, function, line)
        if key not in self._frames:
            name = self._pcf.value_label(CALLER_FUNCTIONS[level], function)
            place = self._pcf.value_label(CALLER_LINES[level], line)
            source = read_line(place) if place else None
            resolved = read_function(name) if name else f"function {function}"
            self._frames[key] = (
                resolved or UNRESOLVED,
                source.file if source else None,
                source.line if source else None,
            )
        return self._frames[key]

    def table(self) -> pa.Table:
        """The tree as the table of call paths, parents before their children."""
        frames = [frame for _, frame in self._node]
        return arrow_table(
            "call_paths",
            {
                "call_path": np.arange(len(frames), dtype=np.int32),
                "parent": np.array(self._parents, np.int32),
                "function": [frame[0] for frame in frames],
                "file": [frame[1] for frame in frames],
                "line": np.array(
                    [_NO_LINE if frame[2] is None else frame[2] for frame in frames], np.int32
                ),
            },
        )
