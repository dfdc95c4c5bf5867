"""An OTF2 archive full of messages: half of the processes exchange some with the other half.

Processes of one half do the same, by name: one of each half is written with the format's
Python package, and the others are copies.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Final

Definitions = Any
Thread = Any

PROCESSES: Final = 20
"""Processes of the archive."""

_PARTNERS: Final = 10
_NAMES: Final = (
    "MPI_Irecv",
    "MPI_Isend",
    "MPI_Waitall",
    "MPI_Allreduce",
    "compute",
)
_EVENTS: Final = 8 * _PARTNERS + 8
_BYTES: Final = 4096


def write_messages(folder: Path, *, events: int) -> tuple[int, int]:
    """Write an archive of 20 processes that exchange messages with ten others, and reduce.

    Parameters
    ----------
    folder : Path
        Where; is made.
    events : int
        Events of each process, about.

    Returns
    -------
    events, messages : int
        Of all processes.
    """
    import otf2  # noqa: PLC0415 -- an extra

    rounds = max(events // _EVENTS, 1)
    with otf2.writer.open(str(folder), timer_resolution=1_000_000_000) as writer:
        made = writer.definitions
        locations = _locations(made)
        world = _world(made, locations)
        regions = _regions(made)
        halves = (range(0, PROCESSES, 2), range(1, PROCESSES, 2))
        for location in locations[2:]:
            writer.event_writer_from_location(location).enter(0, regions[-1])
        for mine, theirs in (halves, halves[::-1]):
            thread = writer.event_writer_from_location(locations[mine[0]])
            time = 0
            for _ in range(rounds):
                time = _round(thread, time, theirs, world, regions)
    traces = folder / "traces"
    for rank in range(2, PROCESSES):
        shutil.copyfile(traces / f"{rank % 2}.evt", traces / f"{rank}.evt")
    return rounds * _EVENTS * PROCESSES, rounds * _PARTNERS * PROCESSES


def _locations(made: Definitions) -> list[Any]:
    node = made.system_tree_node("node")
    groups = [
        made.location_group(f"MPI Rank {rank}", system_tree_parent=node)
        for rank in range(PROCESSES)
    ]
    return [made.location("thread", group=group) for group in groups]


def _world(made: Definitions, locations: list[Any]) -> Any:
    from otf2.enums import GroupType, Paradigm  # noqa: PLC0415 -- an extra

    made.group(
        "", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=locations
    )
    group = made.group(
        "world",
        group_type=GroupType.COMM_GROUP,
        paradigm=Paradigm.MPI,
        members=list(range(PROCESSES)),
    )
    return made.comm("MPI_COMM_WORLD", group=group)


def _regions(made: Definitions) -> list[Any]:
    from otf2.enums import Paradigm, RegionRole  # noqa: PLC0415 -- an extra

    return [
        made.region(
            name,
            region_role=RegionRole.FUNCTION,
            paradigm=Paradigm.MPI if name.startswith("MPI_") else Paradigm.USER,
        )
        for name in _NAMES
    ]


def _round(
    thread: Thread, time: int, partners: range, world: object, regions: list[Any]
) -> int:
    """Write one exchange with all partners; give the time behind it."""
    from otf2.enums import CollectiveOp  # noqa: PLC0415 -- an extra

    receive, send, wait, reduce, compute = regions
    thread.enter(time, compute)
    thread.leave(time + 50, compute)
    for number in range(_PARTNERS):
        time += 100
        thread.enter(time, receive)
        thread.mpi_irecv_request(time + 1, number)
        thread.leave(time + 2, receive)
    for number, partner in enumerate(partners):
        time += 100
        thread.enter(time, send)
        thread.mpi_isend(time + 1, partner, world, 7, _BYTES, _PARTNERS + number)
        thread.leave(time + 2, send)
    time += 1000
    thread.enter(time, wait)
    for number, partner in enumerate(partners):
        thread.mpi_isend_complete(time + 500, _PARTNERS + number)
        thread.mpi_irecv(time + 500, partner, world, 7, _BYTES, number)
    thread.leave(time + 501, wait)
    time += 600
    thread.enter(time, reduce)
    thread.mpi_collective_begin(time)
    thread.mpi_collective_end(time + 50, CollectiveOp.ALLREDUCE, world, 0, 8, 8)
    thread.leave(time + 51, reduce)
    return time + 100
