"""The bytes of a raw file and of its tail: a header, then records of 32 bytes; see ``raw.h``.

``tests/repository/test_raw_format.py`` compares every number with those of the recorder.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Final

import numpy as np

from burstline.columns import Mask, mask_at
from burstline.formats import intake

MAGIC: Final = b"BURSTRAW"
VERSION: Final = 2
ONE_THREAD: Final = 1
"""Version whose files are of a thread each."""
HEADER_BYTES: Final = 4096
SUFFIX: Final = ".raw"
TAIL_MAGIC: Final = b"BURSTEND"
TAIL_SUFFIX: Final = ".tail"

HEADER: Final = np.dtype(
    [
        ("magic", "S8"),
        ("version", "<u4"),
        ("header_bytes", "<u4"),
        ("record_bytes", "<u4"),
        ("pid", "<u4"),
        ("thread", "<u4"),
        ("flags", "<u4"),
        ("start_ns", "<u8"),
        ("start_realtime_ns", "<u8"),
        ("host", "S256"),
        ("program", "S1024"),
        ("mpi", "S256"),
    ]
)
"""What a file begins with; records follow at ``header_bytes``."""

RECORD: Final = np.dtype(
    [("time", "<u8"), ("kind", "<u2"), ("op", "<u2"), ("a", "<u4"), ("b", "<u8"), ("c", "<u8")]
)
"""One record."""

TAIL: Final = np.dtype([("magic", "S8"), ("belongs", "<u8"), ("unused", "<u8", 2)])
"""What a tail of version 1 begins with; records follow."""


EXECUTED: Final = 1 << 47
"""In the place of a frame: it was executed, and is no return address."""
PYTHON_MODULE: Final = 0xFFFF
"""The module of frames of Python, whose place is a code object and an instruction of it."""


class Kind(IntEnum):
    """What a record says."""

    END_OF_FILE = 0
    ENTER = 1
    LEAVE = 2
    COUNTERS = 3
    THREAD = 4
    COLLECTIVE = 10
    ROOT = 11
    SEND = 12
    SEND_DONE = 13
    POST = 14
    RECEIVE = 15
    CANCELLED = 16
    FREED = 17
    COLLECTIVE_DONE = 18
    IO = 19
    RMA = 20
    PROBE = 21
    MISSES = 22
    RANK = 30
    COMMUNICATOR = 31
    MEMBERS = 32
    STACK = 33
    FRAMES = 34
    MODULE = 35
    TEXT = 36
    COUNTER = 37
    NAME = 38
    CODE = 39
    EVENT = 50
    REGION_ENTER = 51
    REGION_LEAVE = 52
    LOOP_ENTER = 53
    LOOP_LEAVE = 54
    LOOP_ITERATION = 55
    LABEL = 56
    OMP = 57
    SAMPLE = 58
    GAP = 70
    PAUSE = 71
    CLOCK = 72
    OVERHEAD = 73
    LEFT = 74
    SAMPLING = 75
    PROCESSORS = 76


class CommunicatorKind(IntEnum):
    """What communicator a record of kind ``COMMUNICATOR`` defines."""

    WORLD = 1
    SELF = 2
    INTRA = 3
    INTER = 4


class Named(IntEnum):
    """What a record of kind ``NAME`` names."""

    REGION = 0
    EVENT_TYPE = 1
    LOOP = 2
    COMPILER = 3
    FUNCTION = 4
    SILENT = 5
    STARTED = 6
    UNREAD = 7
    RANKS = 8


class CodePart(IntEnum):
    """What a record of kind ``CODE`` has of a code object of Python."""

    NAME = 0
    FILE = 1
    LINES = 2


class Processors(IntEnum):
    """What a record of kind ``PROCESSORS`` tells of processors."""

    MAY_USE = 1
    USED = 2
    ONLINE = 3
    CORE = 4
    SOCKET = 5
    NUMA = 6


class Ending(IntEnum):
    """How a thread or process ended, as a record of kind ``LEFT`` says."""

    FINALIZE = 1
    EXIT = 2
    ABORT = 3
    SIGNAL = 4


COUNT_TYPE: Final = 1000
"""Type of events in profile mode, less the number of an operation: how often it was called."""
TIME_TYPE: Final = 2000
"""The same for the nanoseconds in its calls."""

OF_THE_CALL: Final = tuple(Kind(kind) for kind in intake.DetailKind)
"""Records that describe the call entered last; their time is something else."""

EVENTS: Final = (
    Kind.ENTER, Kind.LEAVE, Kind.EVENT, Kind.REGION_ENTER, Kind.REGION_LEAVE, Kind.LOOP_ENTER,
    Kind.LOOP_LEAVE, Kind.LOOP_ITERATION, Kind.OMP,
)  # fmt: skip
"""Records that happen at a moment of their own, and are counted on their location."""

TIMED: Final = (*EVENTS, Kind.GAP, Kind.PAUSE, Kind.LEFT)
"""Records in the order of their time."""


def table_of(kinds: Iterable[int]) -> Mask:
    """Which numbers are some kinds, shape (65536,); looking them up costs little a thread."""
    return mask_at(list(kinds), 1 << 16)


LATEST: Final = 1 << 61
"""Times from here on, 73 years in nanoseconds, are damage."""
MOST_RANKS: Final = 1 << 24
"""Ranks a world may have; more is damage."""
