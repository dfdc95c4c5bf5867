"""The raw files of the recorder, read as ``raw.h`` describes them and no more."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

RECORD = np.dtype(
    [("time", "<u8"), ("kind", "<u2"), ("op", "<u2"), ("a", "<u4"), ("b", "<u8"), ("c", "<u8")]
)
KINDS = {
    number: name
    for name, number in {
        "END": 0, "ENTER": 1, "LEAVE": 2, "COUNTERS": 3, "THREAD": 4, "SEND": 12, "RANK": 30,
        "STACK": 33, "FRAMES": 34, "MODULE": 35, "TEXT": 36, "COUNTER": 37, "NAME": 38,
        "EVENT": 50, "REGION_ENTER": 51, "REGION_LEAVE": 52, "LOOP_ENTER": 53, "LOOP_LEAVE": 54,
        "LOOP_ITERATION": 55, "LABEL": 56, "SAMPLE": 58, "GAP": 70, "PAUSE": 71, "OVERHEAD": 73,
        "LEFT": 74, "SAMPLING": 75, "PROCESSORS": 76,
    }.items()
}  # fmt: skip
HEADER_BYTES = 4096
THREAD, GAP, PROCESSORS = 4, 70, 76
LOW_48 = (1 << 48) - 1


class Thread(NamedTuple):
    """A thread in the files of its process."""

    path: Path  # the raw file
    number: int


def header(thread):
    """Return number of thread, program and MPI library of a raw file."""
    start = thread.path.read_bytes()[:HEADER_BYTES]
    assert start[:8] == b"BURSTRAW"
    version, header_bytes, record_bytes, pid, first = np.frombuffer(start, "<u4", 5, 8).tolist()
    assert (version, header_bytes, record_bytes) == (2, HEADER_BYTES, RECORD.itemsize)
    host = start[48:304].rstrip(b"\0").decode()
    name = re.sub("[^A-Za-z0-9]", "_", host[:64])
    assert thread.path.name == f"p-{name}-{pid}{f'.{first}' if first else ''}.raw"
    program, mpi = start[304:1328], start[1328:1584]
    return thread.number, program.rstrip(b"\0").decode(), mpi.rstrip(b"\0").decode()


def _pieces(content):
    """Yield thread, place in it and records of each piece, which ends with an empty record."""
    found = np.frombuffer(content[: len(content) // 32 * 32], RECORD)
    borders = np.flatnonzero((found["kind"] == THREAD) | (found["kind"] == 0)).tolist()
    for begin, end in itertools.pairwise([*borders, len(found)]):
        if found["kind"][begin] == THREAD:
            yield int(found["a"][begin]), int(found["b"][begin]), found[begin + 1 : end]


def _all_pieces(path):
    content = path.read_bytes()[HEADER_BYTES:]
    tail = path.with_suffix(".tail")
    return [*_pieces(content), *_pieces(tail.read_bytes() if tail.exists() else b"")]


def records(thread, *, placed=False):
    """Return the records of a thread in the raw file, and in the tail if that is left.

    Those of processors, of which the machine decides how many there are, only if asked for.
    """
    found = np.zeros(0, RECORD)
    for number, before, piece in sorted(_all_pieces(thread.path), key=lambda piece: piece[:2]):
        if number == thread.number:
            assert before <= len(found), "a piece is missing"
            found = np.concatenate([found, piece[len(found) - before :]])
    return found if placed else found[found["kind"] != PROCESSORS]


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
    """Return the threads of the raw files of a folder, in order."""
    paths = sorted(folder.glob("*.raw"))
    threads = {Thread(path, piece[0]) for path in paths for piece in _all_pieces(path)}
    return sorted(threads, key=lambda thread: thread.number)
