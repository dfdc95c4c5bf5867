"""Which files belong to one process, and where the processes stand in the run.

::

    files --(host, pid)--> processes --rank--> (application, rank) --> locations
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

import numpy as np

from burstline.formats.intake import Places
from burstline.formats.raw.files.layout import Ending, Kind, Named
from burstline.formats.raw.processes.definitions import Definitions, read_definitions
from burstline.schema import row_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

    from burstline.formats.intake import Defects
    from burstline.formats.raw.files.folder import RawFile

_MOST_THREADS: Final = 1 << 20


@dataclass(slots=True, eq=False)
class Process:
    """A process of the run."""

    files: list[RawFile]  # what its threads wrote, by thread
    threads: list[int]  # their numbers
    defined: Definitions  # what its ids mean
    # its place in the run
    application: int = 0
    rank: int = -1

    @property
    def host(self) -> str:
        """Name of the node it ran on."""
        return self.files[0].host

    @property
    def start_ns(self) -> int:
        """When its first file was opened, by its clock."""
        return min(file.start_ns for file in self.files)


def find_processes(files: Sequence[RawFile], defects: Defects) -> list[Process]:
    """Put files together to processes, in the order of application and rank."""

    def key(file: RawFile) -> tuple[str, int]:
        return file.host, file.pid

    processes = []
    for _, group in groupby(sorted(files, key=key), key=key):
        own = sorted(group, key=lambda file: (file.thread, file.start_ns, file.path.name))
        process = Process(own, _numbers(own), read_definitions(own, defects))
        if process.defined.rank < 0 and not any(f.outline.has_events for f in own):
            defects.note("process_without_mpi", "info", own[0].path.name)
            continue
        processes.append(process)
    _place(processes, defects)
    processes.sort(key=lambda process: (process.application, process.rank))
    _note_ends(processes, defects)
    _note_compilers(processes, defects)
    return processes


def compilers_of(processes: Iterable[Process]) -> list[str]:
    """Name the compilers that made counted code, each once."""
    names = [item for process in processes for item in process.defined.names.items()]
    return list(dict.fromkeys(n.text for (space, _), n in names if space == Named.COMPILER))


def _numbers(files: Sequence[RawFile]) -> list[int]:
    claimed = [file.thread for file in files]
    sane = len(set(claimed)) == len(claimed) and max(claimed) < _MOST_THREADS
    return claimed if sane else list(range(len(claimed)))


def _place(processes: list[Process], defects: Defects) -> None:
    taken: set[tuple[int, int]] = set()
    nameless = []
    for process in sorted(processes, key=lambda process: (process.start_ns, process.host)):
        rank = process.defined.rank
        if rank < 0:
            nameless.append(process)
            continue
        while (process.application, rank) in taken:
            process.application += 1
        process.rank = rank
        taken.add((process.application, rank))
        if process.application:
            name = process.files[0].path.name
            defects.note("rank_claimed_again", "info", f"{name}: rank {rank}")
    free = 0
    for process in nameless:
        while (0, free) in taken:
            free += 1
        process.rank = free
        taken.add((0, free))
        name = process.files[0].path.name
        defects.note("process_without_rank", "loss", f"{name}: taken for rank {free}")
    sizes: dict[int, int] = {}
    for process in processes:
        size = max(sizes.get(process.application, 0), process.defined.size)
        sizes[process.application] = size
    for application, size in sizes.items():
        present = sorted(rank for of, rank in taken if of == application and rank < size)
        holes = (k for k, rank in enumerate(present) if k != rank)
        first = next(holes, len(present))
        place = f"rank {first} of {size}" + (f", application {application}" * (application > 0))
        defects.note("rank_missing", "loss", place, size - len(present))


def _note_compilers(processes: Sequence[Process], defects: Defects) -> None:
    """Note code that different compilers made: its counts cannot be compared."""
    names = compilers_of(processes)
    if len(names) > 1:
        defects.note("several_compilers", "info", "; ".join(names), len(names))


def _note_ends(processes: Sequence[Process], defects: Defects) -> None:
    for process in processes:
        name = process.files[0].path.name
        ends = [
            file.records[at]
            for file in process.files
            for at in file.outline.of(Kind.LEFT)[-1:].tolist()
        ]
        if not ends:
            defects.note("process_without_end", "loss", f"rank {process.rank}, {name}")
        for end in ends:
            if end["op"] == Ending.ABORT:
                defects.note("process_aborted", "info", f"rank {process.rank}, {name}")
            elif end["op"] == Ending.SIGNAL:
                text = f"rank {process.rank}, {name}: signal {end['a']}"
                defects.note("process_killed", "info", text)


def places_of(processes: Sequence[Process], accuracy_ns: int) -> Places:
    """The places of processes in their order."""
    threads = [len(process.files) for process in processes]
    return Places(
        np.repeat(np.arange(len(processes)), threads).astype(np.int64),
        np.array([process.application for process in processes], np.int64),
        np.array([process.rank for process in processes], np.int64),
        accuracy_ns,
    )


def location_table(processes: Sequence[Process], lives: Sequence[tuple[int, int]]) -> pa.Table:
    """The table `locations`."""
    threads = [
        (process.application, number, process.rank, thread, "cpu", process.host or None)
        for number, process in enumerate(processes)
        for thread in process.threads
    ]
    rows = []
    for row, (ids, life) in enumerate(zip(threads, lives, strict=True)):
        name = f"THREAD {ids[0] + 1}.{ids[2] + 1}.{ids[3] + 1}"
        rows.append((row, *ids, *life, name, None))
    return row_table("locations", rows)
