"""Tables that are made when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import pyarrow as pa

from burstline.model import TABLES, Trace


class Lazy(Mapping[str, "pa.Table"]):
    """Tables that `make` makes by name, each once."""

    def __init__(self, names: Iterable[str], make: Callable[[str], pa.Table]) -> None:
        self._made: dict[str, pa.Table | None] = dict.fromkeys(names)
        self._make = make

    def __getitem__(self, name: str) -> pa.Table:
        table = self._made[name]
        if table is None:
            table = self._made[name] = self._make(name)
        return table

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


def loaded(trace: Trace) -> Trace:
    """The trace with each table loaded once, of a store: they are asked for several times."""
    if not trace.is_stored:
        return trace
    names = [name for name in TABLES if name in trace]
    return Trace(Lazy(names, trace.table), sources=trace.sources)
