"""Tiny OTF2 archives, written with the format's own Python package."""

from __future__ import annotations

from contextlib import contextmanager

import otf2
from otf2.enums import (
    GroupType,
    LocationType,
    MeasurementMode,
    MetricMode,
    Paradigm,
    RegionRole,
    Type,
)

import burstline
from burstline.model import schema


class Archive:
    """An archive that is being written: one world of ranks, each with some threads."""

    def __init__(self, writer, ranks, threads=1):
        self.definitions = made = writer.definitions
        node = made.system_tree_node("machine", class_name="machine")
        node = made.system_tree_node("n1", class_name="node", parent=node)
        self._writer, self._regions, self._threads = writer, {}, {}
        self.locations = []
        for rank in range(ranks):
            group = made.location_group(f"MPI Rank {rank}", system_tree_parent=node)
            self.locations.append(
                [
                    made.location(f"thread {number}", type=LocationType.CPU_THREAD, group=group)
                    for number in range(threads)
                ]
            )
        masters = [mine[0] for mine in self.locations]
        made.group(
            "", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=masters
        )
        self.world = self.communicator("MPI_COMM_WORLD", range(ranks))

    def communicator(self, name, ranks):
        group = self.definitions.group(
            name, group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=list(ranks)
        )
        return self.definitions.comm(name, group=group)

    def alone(self):
        group = self.definitions.group(
            "self", group_type=GroupType.COMM_SELF, paradigm=Paradigm.MPI, members=[]
        )
        return self.definitions.comm("MPI_COMM_SELF", group=group)

    def team(self, rank):
        """Give the team of all threads of a rank."""
        every = [thread for mine in self.locations for thread in mine]
        if "teams" not in self.__dict__:
            self.teams = self.definitions.group(
                "omp",
                group_type=GroupType.COMM_LOCATIONS,
                paradigm=Paradigm.OPENMP,
                members=every,
            )
        threads = len(self.locations[0])
        group = self.definitions.group(
            f"team {rank}",
            group_type=GroupType.COMM_GROUP,
            paradigm=Paradigm.OPENMP,
            members=range(rank * threads, (rank + 1) * threads),
        )
        return self.definitions.comm(f"team {rank}", group=group)

    def region(self, name, **about):
        if name not in self._regions:
            paradigm = Paradigm.MPI if name.startswith("MPI_") else Paradigm.USER
            about = {"region_role": RegionRole.FUNCTION, "paradigm": paradigm} | about
            self._regions[name] = self.definitions.region(name, **about)
        return self._regions[name]

    def metric(self, name, mode=MetricMode.ACCUMULATED_START, value=Type.UINT64):
        member = self.definitions.metric_member(name, metric_mode=mode, value_type=value)
        return self.definitions.metric_class([member])

    def thread(self, rank, number=0):
        if (rank, number) not in self._threads:
            location = self.locations[rank][number]
            writer = self._writer.event_writer_from_location(location)
            self._threads[rank, number] = Thread(self, writer)
        return self._threads[rank, number]

    def begin(self):
        """Let the trace begin at 0: its first event is its origin."""
        self.thread(0).writer.measurement_on_off(0, MeasurementMode.ON)
        return self


class Thread:
    """Writes the events of a location."""

    def __init__(self, archive, writer):
        self._archive, self.writer = archive, writer

    def region(self, name, enter, leave, *events, **about):
        """Write an enter, events, and the leave; an event is a name and its arguments."""
        region = self._archive.region(name, **about)
        self.writer.enter(enter, region)
        for event, *arguments in events:
            getattr(self.writer, event)(*arguments)
        if leave is not None:
            self.writer.leave(leave, region)
        return self


@contextmanager
def archive(folder, ranks=1, threads=1, *, resolution=1_000_000_000, name="traces"):
    """Write an archive into a folder that does not exist yet."""
    with otf2.writer.open(
        str(folder), archive_name=name, timer_resolution=resolution
    ) as writer:
        yield Archive(writer, ranks, threads)


def team_of_two(made, rank=0):
    """Write two parallel regions of a rank and its thread, with a lock and a barrier."""
    team = made.team(rank)
    about = {"region_role": RegionRole.PARALLEL, "paradigm": Paradigm.OPENMP}
    barrier = {"region_role": RegionRole.IMPLICIT_BARRIER, "paradigm": Paradigm.OPENMP}
    master, worker = made.thread(rank), made.thread(rank, 1)
    master.region(f"main {rank}" if rank else "main", 0, None)
    for base in (10, 50):
        master.writer.thread_fork(base, Paradigm.OPENMP, 2)
        for thread in (master, worker):
            thread.writer.thread_team_begin(base + 1, team)
            thread.region("parallel", base + 2, None, **about)
            thread.writer.thread_acquire_lock(base + 3, Paradigm.OPENMP, 4, 1)
            thread.writer.thread_release_lock(base + 4, Paradigm.OPENMP, 4, 1)
            thread.region("implicit barrier", base + 5, base + 9, **barrier)
            thread.writer.leave(base + 9, made.region("parallel"))
            thread.writer.thread_team_end(base + 10, team)
        master.writer.thread_join(base + 11, Paradigm.OPENMP)
    master.writer.leave(90, made.region(f"main {rank}" if rank else "main"))


def rows(table, *names):
    return list(zip(*(table[name].to_pylist() for name in names), strict=True))


def read(place):
    """Read an archive; every table keeps its schema."""
    trace = burstline.read(place)
    for name in schema.TABLES:
        schema.check(name, trace.table(name))
    return trace
