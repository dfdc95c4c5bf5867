"""Labels of a trace as JSON, each made once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from burstline.trace import Trace

_DEEPEST: Final = 64
_WORLD: Final = "world"


def quoted(text: str) -> str:
    """A text as a JSON string."""
    # Letters of any script stand as they are, because Perfetto shows escapes as escapes.
    if text.isprintable():
        return json.dumps(text, ensure_ascii=False)
    parts = (json.dumps(c, ensure_ascii=not c.isprintable())[1:-1] for c in text)
    return f'"{"".join(parts)}"'


class Labels:
    """The labels of operations, regions, communicators and call paths as JSON."""

    def __init__(self, trace: Trace) -> None:
        # the name and the arguments of each
        self.regions = [_region(row) for row in trace.region_defs.to_pylist()]
        self.communicators = [
            quoted(_WORLD if row["kind"] == "world" else f"{row['kind']} {row['communicator']}")
            for row in trace.communicators.to_pylist()
        ]
        paths = trace.call_paths
        self._parents = paths["parent"].to_pylist()
        self._functions = paths["function"].to_pylist()
        self._files = paths["file"].to_pylist()
        self._lines = paths["line"].to_pylist()
        self._paths: dict[int, str] = {}

    def operations(self, names: list[str]) -> list[str]:
        """The names of operations as JSON."""
        return [quoted(name) for name in names]

    def path(self, number: int) -> str:
        """A call path as JSON, the innermost function last, of at most 64 frames."""
        if number not in self._paths:
            self._paths[number] = quoted(self._path(number))
        return self._paths[number]

    def _path(self, number: int) -> str:
        frames: list[str] = []
        node: int | None = number
        while node is not None and len(frames) < _DEEPEST:
            place = self._files[node]
            if place is not None and self._lines[node] is not None:
                place = f"{place}:{self._lines[node]}"
            frames.append(self._functions[node] + (f" ({place})" if place is not None else ""))
            node = self._parents[node]
        if node is not None:
            frames.append("…")
        return " > ".join(reversed(frames))


def _region(row: dict[str, str | int | None]) -> tuple[str, str]:
    place = row["file"]
    if place is not None and row["begin_line"] is not None:
        place = f"{place}:{row['begin_line']}"
    arguments = f'"role":{quoted(str(row["role"]))}'
    if place is not None:
        arguments += f',"source":{quoted(str(place))}'
    return f'{quoted(str(row["name"]))},"cat":{quoted(str(row["paradigm"]))}', arguments
