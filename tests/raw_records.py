"""The raw files of the recorder, read as ``raw.h`` describes them and no more."""

from __future__ import annotations

import itertools
import re

import numpy as np

RECORD = np.dtype(
    [("time", "<u8"), ("kind", "<u2"), ("op", "<u2"), ("a", "<u4"), ("b", "<u8"), ("c", "<u8")]
)
KINDS = {
    number: name
    for name, number in {
        "END": 0, "ENTER": 1, "LEAVE": 2, "COUNTERS": 3, "SEND": 12, "RANK": 30, "STACK": 33,
        "FRAMES": 34, "MODULE": 35, "TEXT": 36, "COUNTER": 37, "NAME": 38, "EVENT": 50,
        "REGION_ENTER": 51, "REGION_LEAVE": 52, "LOOP_ENTER": 53, "LOOP_LEAVE": 54,
        "LOOP_ITERATION": 55, "LABEL": 56, "GAP": 70, "PAUSE": 71, "OVERHEAD": 73,
        "LEFT": 74,
    }.items()
}  # fmt: skip
HEADER_BYTES = 4096
LOW_48 = (1 << 48) - 1


def header(path):
    """Return number of thread, program and MPI library of a raw file."""
    start = path.read_bytes()[:HEADER_BYTES]
    assert start[:8] == b"BURSTRAW"
    version, header_bytes, record_bytes, pid, thread = np.frombuffer(start, "<u4", 5, 8)
    assert (version, header_bytes, record_bytes) == (1, HEADER_BYTES, RECORD.itemsize)
    host = start[48:304].rstrip(b"\0").decode()
    name = re.sub("[^A-Za-z0-9]", "_", host[:64])
    assert path.name == f"p-{name}-{pid}.t-{thread}.raw"
    program, mpi = start[304:1328], start[1328:1584]
    return int(thread), program.rstrip(b"\0").decode(), mpi.rstrip(b"\0").decode()


def records(path):
    """Return the records of a raw file up to its end mark, and of its tail if that is left."""
    content = path.read_bytes()
    tail = path.with_suffix(".tail")
    if tail.exists():
        left = tail.read_bytes()
        assert left[:8] == b"BURSTEND"
        belongs = int.from_bytes(left[8:16], "little")
        if belongs % RECORD.itemsize == 0:
            content = content[:belongs] + left[RECORD.itemsize :]
    found = np.frombuffer(content[HEADER_BYTES:], RECORD)
    ends = np.flatnonzero(found["kind"] == 0)
    return found[: ends[0]] if len(ends) else found


def kinds(path, *only):
    """Return the names of the kinds of the records, in order."""
    names = [KINDS[int(kind)] for kind in records(path)["kind"]]
    return [name for name in names if not only or name in only]


def of_kind(path, name):
    """Return the records of one kind."""
    found = records(path)
    return found[[KINDS[int(kind)] == name for kind in found["kind"]]]


def texts(path, name):
    """Return the text of every definition of a kind, by its id."""
    found = {}
    rows = list(records(path))
    for place, row in enumerate(rows):
        if KINDS[int(row["kind"])] == name:
            pieces = itertools.takewhile(lambda r: r["kind"] == 36, rows[place + 1 :])
            text = b"".join(_piece(piece) for piece in pieces)
            assert len(text) == row["c"]
            found[int(row["a"])] = text.decode()
    return found


def _piece(row):
    fields = (row["time"], row["a"], row["b"], row["c"])
    return b"".join(field.tobytes() for field in fields)[: int(row["op"])]


def stacks(path):
    """Return, by id, the frames of every stack as (module, offset)."""
    found = {}
    rows = list(records(path))
    for place, row in enumerate(rows):
        if KINDS[int(row["kind"])] == "STACK":
            count = int(row["c"])
            frames = rows[place + 1 : place + 1 + (count + 1) // 2]
            assert all(KINDS[int(frame["kind"])] == "FRAMES" for frame in frames)
            words = [int(frame[field]) for frame in frames for field in "bc"][:count]
            found[int(row["a"])] = [(word >> 48, word & LOW_48) for word in words]
    return found


def files(folder):
    """Return the raw files of a folder, thread after thread."""
    return sorted(folder.glob("*.raw"), key=lambda path: int(re.findall(r"\d+", path.name)[-1]))
