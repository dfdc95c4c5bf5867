"""What events of Perfetto name: processes and threads, calls, regions and call paths."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from burstline.model import Trace

_DEEPEST: Final = 64
_LONGEST: Final = 64 << 10  # letters after which no frame is added to a path
_REMEMBERED: Final = 16 << 20  # letters of paths
_WORLD: Final = "world"


def quoted(text: str) -> str:
    """A text as a JSON string."""
    # Letters of any script stand as they are, because Perfetto shows escapes as escapes.
    if text.isprintable():
        return json.dumps(text, ensure_ascii=False)
    parts = (json.dumps(c, ensure_ascii=not c.isprintable())[1:-1] for c in text)
    return f'"{"".join(parts)}"'


class SliceLabels:
    """The labels of operations, regions, communicators and call paths as JSON."""

    def __init__(self, trace: Trace) -> None:
        # the name and the arguments of each
        self.regions = [_region(row) for row in trace.region_defs.to_pylist()]
        self.communicators = [
            quoted(_WORLD if row["kind"] == "world" else f"{row['kind']} {row['communicator']}")
            for row in trace.communicators.to_pylist()
        ]
        names = ("parent", "function", "file", "line")
        self._nodes = [trace.call_paths[name].to_pylist() for name in names]
        self._paths: dict[int, str] = {}
        self._letters = 0  # of these

    def path(self, number: int) -> str:
        """A call path as JSON, the innermost function last, of at most 64 frames."""
        if number not in self._paths:
            if self._letters > _REMEMBERED:
                self._paths.clear()
                self._letters = 0
            self._paths[number] = quoted(self._path(number))
            self._letters += len(self._paths[number])
        return self._paths[number]

    def _path(self, number: int) -> str:
        frames: list[str] = []
        node: int | None = number
        letters = 0
        while node is not None and len(frames) < _DEEPEST and letters < _LONGEST:
            node, function, file, line = (column[node] for column in self._nodes)
            place = "" if file is None else f" ({_place(file, line)})"
            frames.append(function + place)
            letters += len(frames[-1])
        if node is not None:
            frames.append("…")
        return " > ".join(reversed(frames))


def _region(row: dict[str, Any]) -> tuple[str, str]:
    arguments = f'"role":{quoted(row["role"])}'
    if row["file"] is not None:
        arguments += f',"source":{quoted(_place(row["file"], row["begin_line"]))}'
    return f'{quoted(row["name"])},"cat":{quoted(row["paradigm"])}', arguments


def _place(file: str, line: int | None) -> str:
    return file if line is None else f"{file}:{line}"


class TrackPlaces:
    """The processes and threads that stand for ranks and locations, as members of events."""

    # Both count from 1, because some viewers give 0 a meaning of its own.

    def __init__(self, trace: Trace) -> None:
        self._rows = trace.locations.to_pylist()
        self._several = len({row["application"] for row in self._rows}) > 1
        self.start_ns = min((row["born_ns"] for row in self._rows), default=0)
        self.processes = [f'"pid":{row["process"] + 1}' for row in self._rows]
        self.where = [
            f'{process},"tid":{row["location"] + 1}'
            for process, row in zip(self.processes, self._rows, strict=True)
        ]
        self.threads = [row["thread"] for row in self._rows]

    def time(self, moment_ns: int) -> str:
        """A moment of the trace in microseconds, exactly; not below 0."""
        return microseconds(max(moment_ns - self.start_ns, 0))

    def names(self) -> Iterator[str]:
        """Yield the events that name and order processes and threads."""
        named = set()
        for row, process, where in zip(self._rows, self.processes, self.where, strict=True):
            if row["process"] not in named:
                named.add(row["process"])
                yield _name_event(
                    "process_name", process, f'"name":{quoted(self._process(row))}'
                )
                yield _name_event(
                    "process_sort_index", process, f'"sort_index":{row["process"]}'
                )
                if row["node"] is not None:
                    yield _name_event(
                        "process_labels", process, f'"labels":{quoted(row["node"])}'
                    )
            name = row["name"] or f"thread {row['thread']}"
            yield _name_event("thread_name", where, f'"name":{quoted(name)}')
            yield _name_event("thread_sort_index", where, f'"sort_index":{row["thread"]}')

    def _process(self, row: dict[str, int]) -> str:
        rank = f"rank {row['rank']}"
        return f"application {row['application']}, {rank}" if self._several else rank


def microseconds(span_ns: int) -> str:
    """Nanoseconds as a decimal number of microseconds, without rounding."""
    whole, rest = divmod(abs(span_ns), 1000)
    return f"{'-' if span_ns < 0 else ''}{whole}.{rest:03d}"


def _name_event(kind: str, where: str, arguments: str) -> str:
    return f'{{"ph":"M","name":"{kind}",{where},"args":{{{arguments}}}}}'
