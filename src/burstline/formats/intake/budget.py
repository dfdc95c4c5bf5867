"""The memory that a reading takes: what is refused, how much is read at a time.

The number of a refusal is what the reading needs, whatever was allowed.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from burstline.errors import MemoryBudgetError, NotEnoughDataError

BASE: Final = 160 << 20
"""What the process takes before it reads anything."""
SMALLEST_MEMORY: Final = 256 << 20
"""Less than this does not hold what a conversion needs whatever it converts."""
PARTS_AT_ONCE: Final = 1 << 18
"""Parts of collectives that are put together at a time, unless less memory is allowed."""

_BYTES_PER_PART: Final = 600  # of a part while its instances are put together
_SHARE_OF_PARTS: Final = 4
_SHARE_OF_SPOOL: Final = 24


class ReadingPlan(NamedTuple):
    """What is read at once."""

    at_once: int  # units
    longest: int | None  # units of the longest process that is not cut; None where none is
    threads: int  # groups that are read ahead
    beside: int  # bytes beside the tables


@dataclass(frozen=True, slots=True)
class ReadingCosts:
    """What reading takes, measured: bytes of memory or disk per unit of a source."""

    tables: float  # tables in memory
    made: float  # A group, beyond its tables, while they are made in memory
    ahead: float  # A group that was read ahead
    streamed: float  # A group of a conversion, until its rows are written
    disk: float  # spills and the store
    # units that are taken on at a time: not less without need, and not more
    least: int
    most: int
    base: int  # bytes that the process takes before it reads
    way_out: str  # what to do where a trace does not fit in memory

    def whole(self, total: int, group: int, threads: int) -> int:
        """Bytes that reading so many units whole takes, a group after the other."""
        return int(self.tables * total) + self.beside(total, group, threads)

    def beside(self, total: int, group: int, threads: int) -> int:
        """Bytes that reading whole takes beside the tables."""
        group = min(total, group)
        ahead = min(total - group, threads * group)
        return self.base + int(self.made * group + self.ahead * ahead)

    def whole_within(
        self,
        sizes: Sequence[int],
        uncut: Sequence[int],
        memory: int | None,
        at_once: int,
        threads: int,
    ) -> ReadingPlan:
        """How to read whole: ever less at once, until it fits; what is refused is the least.

        `uncut` are the units of each process that are read at once in any case.
        """
        total, largest, is_cut = sum(sizes), max(sizes, default=0), False
        least = max(uncut, default=0)
        while (
            memory is not None
            and (needed := self.whole(total, max(at_once, largest), threads)) > memory
        ):
            if at_once > self.least:
                at_once //= 2
            elif threads:
                threads = 0
            elif not is_cut and max(at_once, least) < largest:
                is_cut, largest = True, least
            else:
                require_bytes(needed, memory, way_out=self.way_out)
        beside = self.beside(total, max(at_once, largest), threads)
        return ReadingPlan(at_once, at_once if is_cut else None, threads, beside)

    def streamed_within(
        self, sizes: Sequence[int], uncut: Sequence[int], memory: int, threads: int
    ) -> tuple[int, int | None, int]:
        """Units at once, those of the longest process that is not cut, and groups read ahead.

        None is cut if all fit. `uncut` are the units of each process that are read at once in
        any case. One more group than is read ahead is being stored.
        """
        needed = BASE + int(max(uncut) * self.streamed)
        way_out = "Allow so much (`memory`): a process is read at once."
        require_bytes(needed, memory, way_out=way_out)
        room = int((memory - BASE) / self.streamed)
        threads = min(threads, room // max(*uncut, 1) - 1)
        largest = max(sizes)
        if largest > room:
            most = min(max(room // (threads + 3), 1), self.most)
            return most, most, threads
        threads = min(threads, room // max(largest, 1) - 1)
        return min(room // (threads + 1), self.most), None, threads


def way_by_store(noun: str, name: str) -> str:
    """What to do where a trace, called `name` on the command line, does not fit in memory."""
    return (
        f"Convert {noun} to a store (burstline convert {name} OUT.store) and take that "
        "instead: of a store, `start_ns`, `end_ns` and `ranks` load only what they name."
    )


def require_memory(memory: int) -> None:
    """Refuse a budget that is too small for any conversion."""
    require_bytes(SMALLEST_MEMORY, memory, way_out="Give `memory=256Mi` or more.")


def require_bytes(needed: int, memory: int | None, *, way_out: str) -> None:
    """Refuse what needs more bytes than are allowed; None allows all."""
    if memory is not None and needed > memory:
        raise MemoryBudgetError(needed, memory, way_out=way_out)


def require_disk(folder: Path, needed: int) -> None:
    """Refuse to begin what the disk cannot hold."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise NotEnoughDataError(
            f"{folder}: about {needed / 1e9:.1f} GB of disk are needed, {free / 1e9:.1f} GB "
            "are free. Choose an output on another disk, or cut the trace first."
        )


def memory_each(memory: int, traces: float) -> int:
    """Bytes that each of several traces may take: the process itself is there once."""
    return BASE + int(max(memory - BASE, 0) / traces)


def memory_of_all(each: int, traces: float) -> int:
    """Bytes that several traces take of which one takes so many: as if they were alike."""
    return BASE + int(max(each - BASE, 0) * traces)


def parts_within(memory: int, most: int = PARTS_AT_ONCE) -> int:
    """Parts of collectives to put together at a time, at most so many."""
    return min(memory // _SHARE_OF_PARTS // _BYTES_PER_PART, most)


def spool_within(memory: int) -> int:
    """Bytes that a spool keeps in memory."""
    return memory // _SHARE_OF_SPOOL
