"""Processes and threads of Perfetto for the locations of a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burstline.formats.perfetto.labels import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from burstline.trace import Trace


class Places:
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
                yield _named("process_name", process, f'"name":{quoted(self._process(row))}')
                yield _named("process_sort_index", process, f'"sort_index":{row["process"]}')
                if row["node"] is not None:
                    yield _named("process_labels", process, f'"labels":{quoted(row["node"])}')
            name = row["name"] or f"thread {row['thread']}"
            yield _named("thread_name", where, f'"name":{quoted(name)}')
            yield _named("thread_sort_index", where, f'"sort_index":{row["thread"]}')

    def _process(self, row: dict[str, int]) -> str:
        rank = f"rank {row['rank']}"
        return f"application {row['application']}, {rank}" if self._several else rank


def microseconds(span_ns: int) -> str:
    """Nanoseconds as a decimal number of microseconds, without rounding."""
    whole, rest = divmod(abs(span_ns), 1000)
    return f"{'-' if span_ns < 0 else ''}{whole}.{rest:03d}"


def _named(kind: str, where: str, arguments: str) -> str:
    return f'{{"ph":"M","name":"{kind}",{where},"args":{{{arguments}}}}}'
