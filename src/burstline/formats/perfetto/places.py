"""Where events stand: processes and threads of Perfetto for the locations of a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burstline.formats.perfetto.labels import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from burstline.trace import Trace


class Places:
    """The processes and threads that stand for ranks and locations.

    Processes and threads count from 1, because some viewers give 0 a meaning of its own; no
    two threads have one number, not even in different processes. `start_ns` is shown as 0;
    `where` has the members of an event that say on which location it stands, `processes` the
    same without the thread, and `threads` the thread of each location in its process.
    """

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
        """A moment of the trace in microseconds, exactly; 0 for what was before it."""
        return microseconds(max(moment_ns - self.start_ns, 0))

    def names(self) -> Iterator[str]:
        """The events that name processes and threads, and put them in order."""
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
    """Nanoseconds as a decimal number of microseconds, without rounding.

    >>> microseconds(1_234_567), microseconds(-1)
    ('1234.567', '-0.001')
    """
    whole, rest = divmod(abs(span_ns), 1000)
    return f"{'-' if span_ns < 0 else ''}{whole}.{rest:03d}"


def _named(kind: str, where: str, arguments: str) -> str:
    return f'{{"ph":"M","name":"{kind}",{where},"args":{{{arguments}}}}}'
