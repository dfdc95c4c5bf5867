"""Text of a trace as JSON, made once for each label and not for each event."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from burstline.trace import Trace

_DEEPEST: Final = 64
_WORLD: Final = "world"


def quoted(text: str) -> str:
    r"""A text as JSON; whatever it holds cannot end the string early.

    Letters of any script stand as they are, because Perfetto shows escapes as escapes.

    >>> quoted('a"b\n'), quoted("größe")
    ('"a\\"b\\n"', '"größe"')
    """
    if text.isprintable():
        return json.dumps(text, ensure_ascii=False)
    parts = (json.dumps(c, ensure_ascii=not c.isprintable())[1:-1] for c in text)
    return f'"{"".join(parts)}"'


class Labels:
    """The labels that events carry, by the id that rows have.

    `regions` has the name of each, and the members of an event that say what it is.
    """

    def __init__(self, trace: Trace) -> None:
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
        """A call path as JSON, the caller last; of long ones the last 64 frames."""
        if number not in self._paths:
            self._paths[number] = quoted(self._path(number))
        return self._paths[number]

    def _path(self, number: int) -> str:
        frames: list[str] = []
        at: int | None = number
        while at is not None and len(frames) < _DEEPEST:
            place = self._files[at]
            if place is not None and self._lines[at] is not None:
                place = f"{place}:{self._lines[at]}"
            frames.append(self._functions[at] + (f" ({place})" if place is not None else ""))
            at = self._parents[at]
        if at is not None:
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
