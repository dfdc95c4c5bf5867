"""How fast the raw files of a recorded run become a trace, and in how much memory.

The run is a ring: every rank sends to its right neighbour and receives from its left, waits,
and reduces; two counters are read at every border of a call.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.child import measure
from benchmarks.figures import Figure
from benchmarks.inputs import Input

Task = Any

_RANKS: Final = 16
_THREADS: Final = 2
_MEGA: Final = 1e6
_MEMORY: Final = 500_000_000
_LITTLE: Final = 300_000_000
_COPY: Final = "copy of the raw files through NumPy"
_ENTER, _LEAVE, _COUNTERS, _COLLECTIVE, _SEND, _SENT, _POST, _RECEIVE = (
    1,
    2,
    3,
    10,
    12,
    13,
    14,
    15,
)
_RANK, _COMMUNICATOR, _MEMBERS, _COUNTER, _TEXT, _LEFT = 30, 31, 32, 37, 36, 74
_PERIOD_NS: Final = 400
_START_NS: Final = 1_000


def raw_files(trace: Input) -> Iterator[Figure]:
    """Read raw files whole, and convert them within a memory budget."""
    with tempfile.TemporaryDirectory(dir=trace.path.parent) as name:
        place = Path(name)
        folder, small = place / "run", place / "small"
        calls = write_run(folder, ranks=_RANKS, size=trace.bytes)
        write_run(small, ranks=2, size=20_000)
        size = sum(path.stat().st_size for path in folder.iterdir())
        copied = measure("copy_raw", repeats=2, path=str(folder), target=str(place / "copy"))
        bare = size / copied.wall_s / _MEGA
        yield Figure("raw", _COPY, bare, "MB/s")
        for task, label in (("read_raw", "read whole"), ("store_raw", "to a store in 500 MB")):
            done = measure(
                task,
                repeats=2,
                path=str(folder),
                warm_up=str(small),
                threads=_THREADS,
                memory=_MEMORY,
            )
            if done.result["calls"] != calls:
                sys.exit(f"{task}: {done.result['calls']} calls, expected {calls}")
            rate = size / done.wall_s / _MEGA
            yield Figure("raw", f"{label}: rate", rate, "MB/s", "", _COPY, rate / bare)
            records = size / 32 / done.wall_s / _MEGA
            yield Figure("raw", f"{label}: records", records, "M/s")
            share = done.peak_bytes / size
            yield Figure("raw", f"{label}: peak memory", share, "of the raw bytes")
        done = measure("least_raw", path=str(folder), warm_up=str(small))
        label, share = "read whole in the least memory: peak", done.peak_bytes
        yield Figure("raw", label, share / done.result["needed"], "of the estimate", "<= 1")
        yield from _in_slices(trace, place, small)


def _in_slices(trace: Input, place: Path, small: Path) -> Iterator[Figure]:
    """Convert processes that are larger than the budget."""
    calls = write_run(place / "few", ranks=2, size=2 * trace.bytes)
    done = measure(
        "store_raw",
        repeats=1,
        path=str(place / "few"),
        warm_up=str(small),
        threads=_THREADS,
        memory=_LITTLE,
    )
    if done.result["calls"] != calls:
        sys.exit(f"slices: {done.result['calls']} calls, expected {calls}")
    label, size = "two ranks to a store in 300 MB", 2 * trace.bytes
    yield Figure("raw", f"{label}: records", size / 32 / done.wall_s / _MEGA, "M/s")
    yield Figure("raw", f"{label}: peak memory", done.peak_bytes / _LITTLE, "of the budget")


def copy_raw(path: str, target: str) -> Task:
    """Copy raw files through NumPy: what any reading of them takes at least."""

    def run() -> dict[str, Any]:
        Path(target).mkdir()
        for file in sorted(Path(path).iterdir()):
            np.fromfile(file, np.uint8).tofile(Path(target) / file.name)
        shutil.rmtree(target)
        return {}

    return run


def read_raw(path: str, warm_up: str, threads: int, memory: int) -> Task:
    """Read raw files into memory."""
    from burstline.formats import raw  # noqa: PLC0415 -- in the child

    del memory
    raw.read(Path(warm_up), threads=threads)

    def run() -> dict[str, Any]:
        return {"calls": raw.read(Path(path), threads=threads).rows("calls")}

    return run


def least_raw(path: str, warm_up: str) -> Task:
    """Read raw files into the memory that a refusal asks for."""
    from burstline import MemoryBudgetError  # noqa: PLC0415 -- in the child
    from burstline.formats import raw  # noqa: PLC0415 -- in the child

    raw.read(Path(warm_up))
    try:
        raw.read(Path(path), memory=1)
    except MemoryBudgetError as refused:
        needed = refused.needed_bytes

    def run() -> dict[str, Any]:
        raw.read(Path(path), memory=needed)
        return {"needed": needed}

    return run


def store_raw(path: str, warm_up: str, threads: int, memory: int) -> Task:
    """Convert raw files to a store within a memory budget."""
    from burstline.formats import raw as raw_files  # noqa: PLC0415 -- in the child
    from burstline.formats import store  # noqa: PLC0415 -- in the child
    from burstline.progress import SILENCE  # noqa: PLC0415 -- in the child

    def convert(source: str) -> int:
        target = Path(f"{source}.store")
        raw_files.convert(
            Path(source), target, raw=True, memory=memory, threads=threads, progress=SILENCE
        )
        rows = store.read(target).rows("calls")
        shutil.rmtree(target)
        return rows

    convert(warm_up)
    return lambda: {"calls": convert(path)}


def write_run(folder: Path, *, ranks: int, size: int) -> int:
    """Write the raw files of a run, and say how many calls it has.

    Parameters
    ----------
    folder : Path
        Where; is made.
    ranks : int
        Ranks of the run.
    size : int
        Bytes of all files, about.

    Returns
    -------
    int
        Calls of all ranks.
    """
    from burstline.formats.raw.files.layout import HEADER, RECORD  # noqa: PLC0415 -- benchmarks only

    folder.mkdir()
    calls = 0
    for rank in range(ranks):
        step = _step(rank, ranks, RECORD)
        steps = max(1, size // ranks // step.nbytes)
        body = np.tile(step, steps).reshape(steps, len(step))
        later = (np.arange(steps) * _PERIOD_NS).astype(np.uint64)[:, np.newaxis]
        timed = np.isin(step["kind"], (_ENTER, _LEAVE))
        body["time"][:, timed] += later
        read = step["kind"] == _COUNTERS
        body["b"][:, read] += later
        body["c"][:, read] += 2 * later
        head = np.zeros(1, HEADER)
        head["magic"], head["version"], head["header_bytes"] = b"BURSTRAW", 1, 4096
        head["record_bytes"], head["pid"], head["start_ns"] = 32, 100 + rank, 1
        head["host"], head["program"] = b"node", b"/bin/app"
        end = np.zeros(1, RECORD)
        end["kind"], end["op"], end["time"] = _LEFT, 1, (steps + 1) * _PERIOD_NS + _START_NS
        content = (
            head.tobytes().ljust(4096, b"\0") + _definitions(rank, ranks, RECORD).tobytes()
        )
        path = folder / f"p-node-{100 + rank}.t-0.raw"
        path.write_bytes(content + body.tobytes() + end.tobytes())
        calls += 4 * steps
    return calls


def _step(rank: int, ranks: int, record: npt.DTypeLike) -> npt.NDArray[Any]:
    from burstline.formats.raw import operation_numbers  # noqa: PLC0415 -- as above

    number = {name: key for key, name in reversed(list(operation_numbers().items()))}
    left, right, place = (rank - 1) % ranks, (rank + 1) % ranks, 7 | 1 << 32
    calls = (
        ("MPI_Irecv", [(11, _POST, 0, left, place, 800)]),
        ("MPI_Isend", [(12, _SEND, 0, right, place, 800)]),
        ("MPI_Waitall", [(11, _RECEIVE, 0, left, place, 800), (12, _SENT, 0, 0, 0, 0)]),
        ("MPI_Allreduce", [(0, _COLLECTIVE, 0, 1, 8, 8)]),
    )
    rows: list[tuple[int, ...]] = []
    now = _START_NS + rank
    for name, details in calls:
        rows += [(now, _ENTER, number[name], 0, 0, 0), (0, _COUNTERS, 0, 0, now, 2 * now)]
        rows += details
        now += 30
        rows += [(now, _LEAVE, number[name], 0, 0, 0), (0, _COUNTERS, 0, 0, now, 2 * now)]
        now += 50
    return np.array(rows, record)


def _definitions(rank: int, ranks: int, record: npt.DTypeLike) -> npt.NDArray[Any]:
    rows: list[tuple[int, ...]] = [(0, _RANK, 0, rank, ranks, 0)]
    rows.append((0, _COMMUNICATOR, 1, 1, 0, ranks))
    listed = np.full(-(-ranks // 7) * 7, -3, np.int32)
    listed[:ranks] = np.arange(ranks)
    for row in listed.reshape(-1, 7).astype(np.uint32).astype(np.uint64).tolist():
        a, t0, t1, b0, b1, c0, c1 = row
        rows.append((t0 | t1 << 32, _MEMBERS, 0, a, b0 | b1 << 32, c0 | c1 << 32))
    for counter, name in enumerate((b"PAPI_TOT_INS", b"PAPI_TOT_CYC")):
        time, a, b, c = np.frombuffer(name.ljust(28, b"\0"), "<u8,<u4,<u8,<u8")[0].tolist()
        rows += [(0, _COUNTER, 0, counter, 0, len(name)), (time, _TEXT, len(name), a, b, c)]
    return np.array(rows, record)
