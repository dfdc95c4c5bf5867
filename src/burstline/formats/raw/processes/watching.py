"""Where threads ran, what recording them took, and how they were started.

::

    PROCESSORS ──► sets of processors ──► placements: which part of the node a thread has
    OVERHEAD, SAMPLING ──► recordings: the recorder's own time, samples that came and did not
    NAME of variables ──► launcher, binding

All of it stands in a few records of each thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from burstline.formats.raw.files.folder import RawFile
from burstline.formats.raw.files.layout import LATEST, Kind, Named, Processors
from burstline.formats.raw.processes.processes import RecordedProcess
from burstline.model import row_table

_MOST: Final = 1 << 16
"""Processors of a machine; numbers from here on are damage."""
_HALF: Final = (1 << 32) - 1
_LAUNCHERS: Final = (
    ("OMPI_COMM_WORLD_LOCAL_SIZE", "Open MPI"),
    ("I_MPI_PIN", "Intel MPI"),
    ("HYDI_CONTROL_FD", "Hydra"),
    ("MPI_LOCALNRANKS", "Hydra"),
    ("PALS_LOCAL_SIZE", "PALS"),
    ("SLURM_STEP_ID", "Slurm"),
)
"""Variables that only programs of a launcher have, and the launcher; the first counts."""
_NOT_BINDING: Final = frozenset(
    ["OMPI_COMM_WORLD_LOCAL_SIZE", "HYDI_CONTROL_FD", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE"]
)

Numbers = frozenset[int]


class _Machine(NamedTuple):
    """The processors of a node, as a process of it saw them."""

    online: Numbers
    core: Numbers  # that of the first processor which the process may use
    sockets: dict[int, Numbers]
    numa: dict[int, Numbers]


def placement_table(processes: Sequence[RecordedProcess]) -> pa.Table:
    """The table `placements`: of threads that say where they may run."""
    rows: list[tuple[Any, ...]] = []
    location = 0
    for process in processes:
        machine = _machine(process)
        for file in process.files:
            sets = _sets_of(file)
            allowed, used = _latest(sets), _united(sets, Processors.USED)
            if allowed or used:
                parts = (_within(used, machine.sockets), _within(used, machine.numa))
                bound = _bound_to(allowed, machine)
                rows.append(
                    (location, number_ranges(allowed), number_ranges(used), *parts, bound)
                )
            location += 1
    return row_table("placements", rows)


def recording_table(processes: Sequence[RecordedProcess]) -> pa.Table:
    """The table `recordings`: of threads that ended with a word about themselves."""
    files = [file for process in processes for file in process.files]
    rows = [
        (location, *costs) for location, file in enumerate(files) if (costs := _costs_of(file))
    ]
    return row_table("recordings", rows)


def launcher_of(processes: Sequence[RecordedProcess]) -> str | None:
    """Which launcher started the run, as its variables tell."""
    variables = _variables(processes)
    return next((name for variable, name in _LAUNCHERS if variable in variables), None)


def binding_of(processes: Sequence[RecordedProcess]) -> str | None:
    """The variables by which the launcher and the user placed processes and threads."""
    variables = _variables(processes)
    said = [f"{n}={text}" for n, text in variables.items() if n not in _NOT_BINDING]
    return " ".join(said) or None


def number_ranges(numbers: Numbers) -> str | None:
    """Numbers as ranges, ``0-3,8``; None without any."""
    ordered = np.array(sorted(numbers), np.int64)
    breaks = np.flatnonzero(np.diff(ordered) != 1) + 1
    runs = [(int(run[0]), int(run[-1])) for run in np.split(ordered, breaks) if len(run)]
    words = [str(first) if first == last else f"{first}-{last}" for first, last in runs]
    return ",".join(words) or None


def _variables(processes: Sequence[RecordedProcess]) -> dict[str, str]:
    """The variables of the first process that tells any."""
    for process in processes:
        told = [n.text.partition("=") for n in process.defined.names[Named.STARTED].values()]
        if told:
            return {name: value for name, _, value in told}
    return {}


def _sets_of(file: RawFile) -> list[tuple[int, int, int, Numbers]]:
    """What, number, time and processors of each record."""
    records = file.records[file.outline.of(Kind.PROCESSORS)]
    return [
        (what, number, time, frozenset(first + k for k in range(64) if bits >> k & 1))
        for time, _, what, first, bits, number in records.tolist()
        if first < _MOST
    ]


def _united(sets: Sequence[tuple[int, int, int, Numbers]], what: Processors) -> Numbers:
    return frozenset[int]().union(*(each for kind, _, _, each in sets if kind == what))


def _latest(sets: Sequence[tuple[int, int, int, Numbers]]) -> Numbers:
    """The processors that the thread may use in the end."""
    own = [row for row in sets if row[0] == Processors.MAY_USE]
    last = max((time for _, _, time, _ in own), default=0)
    return frozenset[int]().union(*(each for _, _, time, each in own if time == last))


def _machine(process: RecordedProcess) -> _Machine:
    sets = [row for file in process.files for row in _sets_of(file)]
    parts: dict[int, dict[int, Numbers]] = {Processors.SOCKET: {}, Processors.NUMA: {}}
    for what, number, _, processors in sets:
        if what in parts:
            parts[what][number] = parts[what].get(number, frozenset()) | processors
    return _Machine(
        _united(sets, Processors.ONLINE),
        _united(sets, Processors.CORE),
        parts[Processors.SOCKET],
        parts[Processors.NUMA],
    )


def _within(used: Numbers, parts: dict[int, Numbers]) -> str | None:
    """The numbers of the parts that have some of the processors."""
    return number_ranges(frozenset(number for number, part in parts.items() if part & used))


def _bound_to(allowed: Numbers, machine: _Machine) -> str | None:
    """The smallest part of the node that has all of some processors; None if unknown."""
    if not allowed or not machine.online:
        return None
    if len(allowed) == 1 and len(machine.core) > 1:
        return "processor"
    if len(allowed) == 1 or allowed == machine.core:
        return "node" if allowed == machine.online else "core"
    for name, parts in (("numa", machine.numa), ("socket", machine.sockets)):
        if any(allowed <= part != machine.online for part in parts.values()):
            return name
    return "node"


def _costs_of(file: RawFile) -> tuple[int | None, ...] | None:
    """The columns of `recordings`; None of a thread that did not come to its end."""
    costs = {int(op): (b, min(a, b), c) for op, a, b, c in _last_words(file, Kind.OVERHEAD)}
    if not costs:
        return None
    calls, borders, threads = (costs.get(op, (0, 0, 0)) for op in range(3))
    sampling: tuple[int | None, ...] = (None,) * 5
    for asked_hz, lost, counts, own_ns in _last_words(file, Kind.SAMPLING):
        sampling = (own_ns, asked_hz, counts >> 32, counts & _HALF, lost)
    spent = (calls[0] * calls[2], calls[1] * calls[2], borders[0] * borders[2], threads[0])
    return tuple(None if value is None else min(value, LATEST) for value in (*spent, *sampling))


def _last_words(file: RawFile, kind: Kind) -> Iterator[tuple[int, int, int, int]]:
    for record in file.records[file.outline.of(kind)].tolist():
        _, _, op, a, b, c = record
        yield op, a, b, c
