"""Recordings to read: those of the repository with their programs, and one too long for it."""

from __future__ import annotations

import hashlib
import importlib
import struct
from pathlib import Path
from typing import Any

PLACE = Path("/tmp/burstline-same")  # noqa: S108 -- where the recordings say their programs are
RANKS, STEPS = 2, 50_000
ENTER, LEAVE, COUNTERS, COLLECTIVE, SEND, SENT, POST, RECEIVE = 1, 2, 3, 10, 12, 13, 14, 15
RANK, COMMUNICATOR, TEXT, COUNTER, LEFT = 30, 31, 36, 37, 74
ISEND, IRECV, WAITALL, ALLREDUCE = 6, 10, 14, 43
HEADER = struct.Struct("<8s6I2Q256s1024s256s")
RECORD = [
    ("time", "<u8"),
    ("kind", "<u2"),
    ("op", "<u2"),
    ("a", "<u4"),
    ("b", "<u8"),
    ("c", "<u8"),
]
PERIOD_NS = 400


def place_programs(folder: Path) -> str:
    """Put programs where their recordings look for symbols, and return a hash of all."""
    PLACE.mkdir(exist_ok=True)
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        target = PLACE / path.name
        if not target.exists() or target.read_bytes() != path.read_bytes():
            part = target.with_name(f".{path.name}.part")
            part.write_bytes(path.read_bytes())
            part.chmod(0o755)
            part.replace(target)
        digest.update(path.read_bytes())
    return digest.hexdigest()


def write_long(folder: Path) -> None:
    """Write the raw files of a ring of many steps."""
    np = importlib.import_module("numpy")
    folder.mkdir(parents=True)
    for rank in range(RANKS):
        step = np.array(_step(rank), RECORD)
        body = np.tile(step, STEPS).reshape(STEPS, len(step))
        later = (np.arange(STEPS, dtype="<u8") * PERIOD_NS)[:, None]
        body["time"][:, np.isin(step["kind"], (ENTER, LEAVE))] += later
        counted = step["kind"] == COUNTERS
        body["b"][:, counted] += later
        body["c"][:, counted] += 2 * later
        head = HEADER.pack(
            b"BURSTRAW", 1, 4096, 32, 100 + rank, 0, 0, 1, 1, b"node1", b"/bin/ring", b"An MPI"
        ).ljust(4096, b"\0")
        end = np.array([((STEPS + 1) * PERIOD_NS + 1000, LEFT, 1, 0, 0, 0)], RECORD)
        parts = (np.array(_definitions(rank), RECORD), body, end)
        content = head + b"".join(part.tobytes() for part in parts)
        (folder / f"p-node1-{100 + rank}.t-0.raw").write_bytes(content)


def _step(rank: int) -> list[tuple[int, ...]]:
    """Return the records of one step: receive, send, wait, reduce."""
    left, right, place = (rank - 1) % RANKS, (rank + 1) % RANKS, 7 | 1 << 32
    calls: tuple[Any, ...] = (
        (IRECV, [(11, POST, 0, left, place, 800)]),
        (ISEND, [(12, SEND, 0, right, place, 800)]),
        (WAITALL, [(11, RECEIVE, 0, left, place, 800), (12, SENT, 0, 0, 0, 0)]),
        (ALLREDUCE, [(0, COLLECTIVE, 0, 1, 8, 8)]),
    )
    rows: list[tuple[int, ...]] = []
    now = 1000 + rank
    for operation, details in calls:
        rows += [(now, ENTER, operation, 0, 0, 0), (0, COUNTERS, 0, 0, now, 2 * now)]
        rows += details
        now += 30
        rows += [(now, LEAVE, operation, 0, 0, 0), (0, COUNTERS, 0, 0, now, 2 * now)]
        now += 50
    return rows


def _definitions(rank: int) -> list[tuple[int, ...]]:
    """Return the records of the rank, the world and two counters."""
    none = 0xFFFFFFFD
    rows: list[tuple[int, ...]] = [
        (0, RANK, 0, rank, RANKS, 0),
        (0, COMMUNICATOR, 1, 1, 0, RANKS),
    ]
    rows.append((1 | none << 32, 32, 0, 0, none | none << 32, none | none << 32))
    for number, name in enumerate((b"PAPI_TOT_INS", b"PAPI_TOT_CYC")):
        time, a, b, c = struct.unpack("<QIQQ", name.ljust(28, b"\0"))
        rows += [(0, COUNTER, 0, number, 0, len(name)), (time, TEXT, len(name), a, b, c)]
    return rows
