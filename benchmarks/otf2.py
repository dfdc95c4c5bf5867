"""How fast OTF2 archives are read: by the kernel into columns, whole, and by Python's loop.

One archive is a program of eight nested functions on every location; one location is written
with the format's Python package and copied. Another one is full of messages. Without that
package there is nothing to measure. Where pipit can be imported, it reads a part of the first
program in the same run.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from benchmarks.child import Measured, measure
from benchmarks.figures import Figure
from benchmarks.inputs import Input
from benchmarks.otf2_messages import write_messages

Task = Any

_LOCATIONS: Final = 20
_DEPTH: Final = 8
_BYTES_PER_EVENT: Final = 12
_LEAST, _MOST = 16_000, 1_000_000
_MEGA: Final = 1e6
_LOOP: Final = "loop over the Python bindings"
_PEER_MOST: Final = 50_000


def otf2_reading(trace: Input) -> Iterator[Figure]:
    """Read an archive of about the size of the input."""
    if find_spec("otf2") is None:
        sys.stderr.write("otf2: left out, the package otf2 is not installed\n")
        return
    with tempfile.TemporaryDirectory(dir=trace.path.parent) as name:
        place = Path(name)
        wanted = trace.bytes // _BYTES_PER_EVENT // _LOCATIONS
        each = write_archive(place / "run", events=min(max(wanted, _LEAST), _MOST))
        few = write_archive(place / "few", events=_LEAST)
        loop = measure("otf2_loop", path=str(place / "few"))
        bare = few * _LOCATIONS / loop.cpu_s / _MEGA
        yield Figure("otf2", _LOOP, bare, "M events/s/core")
        for task, label, goal in (
            ("otf2_columns", "kernel, into columns", ">= 10"),
            ("otf2_read", "read whole, all tables", ""),
        ):
            done = measure(task, repeats=2, path=str(place / "run"), warm_up=str(place / "few"))
            if done.result["events"] not in (0, each * _LOCATIONS):
                sys.exit(
                    f"{task}: {done.result['events']} events, expected {each * _LOCATIONS}"
                )
            rate = each * _LOCATIONS / done.result["cpu_s"] / _MEGA
            yield Figure("otf2", label, rate, "M events/s/core", goal, _LOOP, rate / bare)
            wall = each * _LOCATIONS / done.wall_s / _MEGA
            yield Figure("otf2", f"{label}: by the clock", wall, "M events/s")
            if done.result["bytes"]:
                yield _memory(label, done)
        yield from _messages(place, each)
        if find_spec("pipit") is None:
            sys.stderr.write("otf2: pipit is not installed, so it is not compared with\n")
            return
        yield from _beside_pipit(place, min(each, _PEER_MOST))


def _memory(label: str, done: Measured) -> Figure:
    share = (done.peak_bytes - done.before_bytes) / done.result["bytes"]
    return Figure("otf2", f"{label}: memory", share, "of the Arrow bytes", "<= 1.5")


def _messages(place: Path, events: int) -> Iterator[Figure]:
    """Read an archive that is full of messages."""
    total, messages = write_messages(place / "messages", events=events)
    write_messages(place / "few messages", events=_LEAST)
    warm_up = str(place / "few messages")
    done = measure("otf2_read", repeats=2, path=str(place / "messages"), warm_up=warm_up)
    if done.result["messages"] != messages:
        sys.exit(f"otf2: {done.result['messages']} messages of {messages}")
    label = "read whole, messages"
    yield Figure("otf2", label, total / done.result["cpu_s"] / _MEGA, "M events/s/core")
    yield Figure("otf2", f"{label}: by the clock", total / done.wall_s / _MEGA, "M events/s")
    yield _memory(label, done)


def _beside_pipit(place: Path, events: int) -> Iterator[Figure]:
    """Read one archive both ways, all tables of both."""
    path = place / "part"
    total = write_archive(path, events=events) * _LOCATIONS
    peer = measure("otf2_pipit", path=str(path))
    ours = measure("otf2_read", repeats=3, path=str(path), warm_up=str(place / "few"))
    if peer.result["events"] != total or ours.result["events"] != total:
        sys.exit(f"otf2: {peer.result['events']} and {ours.result['events']} events of {total}")
    rate = total / peer.result["cpu_s"] / _MEGA
    yield Figure("otf2", "pipit, all tables", rate, "M events/s/core")
    faster = peer.result["cpu_s"] / ours.result["cpu_s"]
    yield Figure("otf2", "read whole, against pipit", faster, "times", ">= 50", "pipit")


def write_archive(folder: Path, *, events: int) -> int:
    """Write an archive of 20 locations; give the events of each.

    Parameters
    ----------
    folder : Path
        Where; is made.
    events : int
        Events of each location, about.

    Returns
    -------
    int
        Events of each location.
    """
    import otf2  # noqa: PLC0415 -- an extra

    with otf2.writer.open(str(folder), timer_resolution=1_000_000_000) as writer:
        made = writer.definitions
        node = made.system_tree_node("node")
        regions = [made.region(f"function {depth}") for depth in range(_DEPTH)]
        locations = []
        for rank in range(_LOCATIONS):
            group = made.location_group(f"MPI Rank {rank}", system_tree_parent=node)
            locations.append(made.location("thread", group=group))
        for location in locations[1:]:
            writer.event_writer_from_location(location).enter(0, regions[0])
        thread, time = writer.event_writer_from_location(locations[0]), 0
        for _ in range(events // (2 * _DEPTH)):
            for region in regions:
                thread.enter(time, region)
                time += 3
            for region in reversed(regions):
                thread.leave(time, region)
                time += 3
    first = folder / "traces" / "0.evt"
    for rank in range(1, _LOCATIONS):
        shutil.copyfile(first, folder / "traces" / f"{rank}.evt")
    return events // (2 * _DEPTH) * 2 * _DEPTH


def otf2_loop(path: str) -> Task:
    """Go through all events with the Python bindings."""
    import otf2  # noqa: PLC0415 -- an extra

    def run() -> dict[str, Any]:
        with otf2.reader.open(str(Path(path) / "traces.otf2")) as reader:
            return {"events": sum(1 for _ in reader.events)}

    return run


def otf2_pipit(path: str) -> Task:
    """Read an archive whole with pipit, in one process."""
    pipit = import_module("pipit")

    def run() -> dict[str, Any]:
        before = _used()
        trace = pipit.Trace.from_otf2(path, num_processes=1)
        return {"events": len(trace.events), "cpu_s": _used() - before}

    return run


def otf2_columns(path: str, warm_up: str) -> Task:
    """Read all events into the kernel's columns."""
    from burstline.formats.otf2.reading.events import read_events  # noqa: PLC0415 -- in the child
    from burstline.formats.otf2.reading.trace import ArchiveSource  # noqa: PLC0415 -- in the child

    def read(folder: str) -> dict[str, Any]:
        basis = ArchiveSource(Path(folder) / "traces.otf2").basis
        before = _used()
        found = read_events(basis, range(_LOCATIONS))
        cpu = _used() - before
        return {"events": sum(found.kinds.values()), "cpu_s": cpu, "bytes": 0}

    read(warm_up)
    return lambda: read(path)


def otf2_read(path: str, warm_up: str) -> Task:
    """Read an archive whole."""
    import burstline  # noqa: PLC0415 -- in the child
    from burstline.model import schema  # noqa: PLC0415 -- in the child

    burstline.read(warm_up)

    def run() -> dict[str, Any]:
        before = _used()
        trace = burstline.read(path)
        cpu = _used() - before
        size = sum(trace.table(name).nbytes for name in schema.TABLES if name in trace)
        return {
            "events": 2 * trace.rows("regions"),
            "messages": trace.rows("messages"),
            "cpu_s": cpu,
            "bytes": size,
        }

    return run


def _used() -> float:
    """Give the processor time of this process and of the children it had."""
    import resource  # noqa: PLC0415 -- in the child

    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)
