"""A few iterations as Paraver lines with blanks, filled in again and again.

::

    Schedule  ->  lines, every time and counter a blank  ->  Template
    Template + fresh times and counters  ->  bytes ready to be written

Writing a trace number by number is slow. Here the text is laid out once, with blanks
of fixed width; filling them is one table look-up and one scatter per four digits, and
the order of the lines never changes because times are only stretched.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from benchmarks.simulation import (
    ALLREDUCE_ENTRY,
    CALLS,
    IRECV_EXIT,
    ISEND_ENTRY,
    STAMPS,
    WAITALL_EXIT,
    Schedule,
    simulate,
)

COUNTERS: Final = (42000050, 42000059, 42000002)
TYPE: Final = {"Irecv": 50000001, "Isend": 50000001, "Waitall": 50000001, "Allreduce": 50000002}
VALUE: Final = {"Irecv": 4, "Isend": 3, "Waitall": 6, "Allreduce": 10}
STATE: Final = {"Irecv": 11, "Isend": 10, "Waitall": 8, "Allreduce": 13}
RUNNING: Final = 1
MESSAGE_BYTES: Final = 4096
REDUCED_BYTES: Final = 8

# Caller functions and lines, innermost first; their labels are in benchmarks.labels.
CALLERS: Final = {
    "Irecv": ((2, 2), (4, 6), (5, 8), (6, 9)),
    "Isend": ((2, 3), (4, 6), (5, 8), (6, 9)),
    "Waitall": ((2, 4), (4, 6), (5, 8)),
    "Allreduce": ((3, 5), (4, 7), (5, 8)),
}

_BLANK_TIME = "#"
_BLANK_COUNTER = "@@@@"
_FOUR_DIGITS = np.array([b"%04d" % n for n in range(10_000)], "S4").view(np.uint32)
_TWO_DIGITS = np.array([b"%02d" % n for n in range(100)], "S2").view(np.uint16)


@dataclass(frozen=True, slots=True)
class Template:
    """Some iterations of all ranks, as text with blanks.

    Attributes
    ----------
    text : ndarray of uint8, shape (bytes,)
        The lines; what the blanks hold is left from the last time.
    gaps_ns : ndarray of float64, shape (stamps,)
        Mean time from each stamp to the next, in nanoseconds.
    first : ndarray of int64, shape (ranks,)
        Each rank's first stamp.
    stamp_of_time : ndarray of int64, shape (times,)
        Which stamp stands at each blank for a time; ``stamps + rank`` is that rank's
        first stamp of the block that follows.
    times : list of ndarray of intp, shape (times * digits,)
        Where the digits of the times go, by groups of two or four, highest first.
    counters : ndarray of intp, shape (counters * 4,)
        Where the low four digits of each counter go.
    """

    text: npt.NDArray[np.uint8]
    gaps_ns: npt.NDArray[np.float64]
    first: npt.NDArray[np.int64]
    stamp_of_time: npt.NDArray[np.int64]
    times: list[npt.NDArray[np.intp]]
    counters: npt.NDArray[np.intp]

    def fill(
        self,
        stamps_ns: npt.NDArray[np.int64],
        following_ns: npt.NDArray[np.int64],
        low_digits: npt.NDArray[np.int64],
    ) -> memoryview:
        """Write times and counters into the blanks.

        Parameters
        ----------
        stamps_ns : ndarray of int64, shape (stamps,)
            The time of each stamp, increasing.
        following_ns : ndarray of int64, shape (ranks,)
            When each rank does something again after this block.
        low_digits : ndarray of int64, shape (counters,)
            The low four digits of each counter, 0 to 9999.

        Returns
        -------
        memoryview
            The text, valid until the next call.
        """
        rest = np.concatenate([stamps_ns, following_ns])[self.stamp_of_time]
        for places in reversed(self.times[1:]):
            rest, group = np.divmod(rest, 10_000)
            self.text[places] = _FOUR_DIGITS[group].view(np.uint8)
        highest = _TWO_DIGITS if len(self.times[0]) == 2 * len(rest) else _FOUR_DIGITS
        self.text[self.times[0]] = highest[rest].view(np.uint8)
        self.text[self.counters] = _FOUR_DIGITS[low_digits].view(np.uint8)
        return self.text.data


def lay_out(ranks: int, iterations: int, digits: int, rng: np.random.Generator) -> Template:
    """Simulate some iterations and lay their lines out.

    Parameters
    ----------
    ranks, iterations : int
        How many of each.
    digits : int
        Width of every time, an even number.
    rng : numpy.random.Generator
        Where the noise comes from.

    Returns
    -------
    Template
        The lines, blanks not yet filled.
    """
    schedule = simulate(ranks, iterations, rng)
    lines, stamps = _Lines(schedule, digits, rng).in_order()
    text = np.frombuffer("".join(lines).encode(), np.uint8).copy()
    blanks = np.flatnonzero(text == ord("#")).reshape(-1, digits)
    head = digits % 4
    edges = [0, *range(head or 4, digits + 1, 4)]
    return Template(
        text=text,
        gaps_ns=schedule.gaps_ns,
        first=schedule.order[0, :, 0].copy(),
        stamp_of_time=np.array(stamps, np.int64),
        times=[blanks[:, low:high].reshape(-1).copy() for low, high in pairwise(edges)],
        counters=np.flatnonzero(text == ord("@")),
    )


class _Lines:
    """Composes the lines of a schedule: every time a blank, its stamp noted beside it."""

    def __init__(self, schedule: Schedule, digits: int, rng: np.random.Generator) -> None:
        self.order = schedule.order.tolist()
        self.iterations, self.ranks, _ = schedule.order.shape
        self.blank = _BLANK_TIME * digits
        self.burst = rng.integers(100, 1000, size=(8, len(COUNTERS))).tolist()
        self.call = rng.integers(1, 10, size=(8, len(COUNTERS))).tolist()

    def in_order(self) -> tuple[list[str], list[int]]:
        """All lines as they stand in the file, and the stamp of every blank."""
        pieces: list[tuple[str, list[int]]] = [("", [])] * (
            self.iterations * self.ranks * STAMPS
        )
        for iteration in range(self.iterations):
            for rank in range(self.ranks):
                mine = self.order[iteration][rank]
                for stamp, place in enumerate(mine):
                    pieces[place] = self.at(iteration, rank, stamp)
        stamps = [stamp for _, noted in pieces for stamp in noted]
        return [text for text, _ in pieces], stamps

    def at(self, iteration: int, rank: int, stamp: int) -> tuple[str, list[int]]:
        """Lines of one stamp: the state that begins, the event, the message sent."""
        call = CALLS[stamp // 2]
        now, until = self.order[iteration][rank][stamp], self.after(iteration, rank, stamp)
        who, blank = f"{rank + 1}:1:{rank + 1}:1", self.blank
        state = RUNNING if stamp % 2 else STATE[call]
        text = f"1:{who}:{blank}:{blank}:{state}\n2:{who}:{blank}:"
        counters = self.counters(rank, stamp)
        if stamp % 2 == 0:
            return f"{text}{_entry(call)}{counters}{_callers(call)}\n", [now, until, now]
        if stamp - 1 not in ISEND_ENTRY:
            return f"{text}{TYPE[call]}:0{counters}\n", [now, until, now]
        message, its_stamps = self.message(iteration, rank, ISEND_ENTRY.index(stamp - 1))
        text += f"{TYPE[call]}:0\n{message}2:{who}:{blank}{counters}\n"
        return text, [now, until, now, *its_stamps, now]

    def after(self, iteration: int, rank: int, stamp: int) -> int:
        """Next stamp of the same rank, perhaps one of the block that follows."""
        if stamp + 1 < STAMPS:
            return self.order[iteration][rank][stamp + 1]
        if iteration + 1 < self.iterations:
            return self.order[iteration + 1][rank][0]
        return self.iterations * self.ranks * STAMPS + rank

    def counters(self, rank: int, stamp: int) -> str:
        """Counters of a stamp; those that end a long burst are larger."""
        ends_burst = stamp in (0, ALLREDUCE_ENTRY)
        highs = (self.burst if ends_burst else self.call)[(rank + stamp) % 8]
        return "".join(
            f":{counter}:{high}{_BLANK_COUNTER}"
            for counter, high in zip(COUNTERS, highs, strict=True)
        )

    def message(self, iteration: int, rank: int, direction: int) -> tuple[str, list[int]]:
        """Compose the message of one send: to the right (0) or to the left (1)."""
        receiver = (rank + (1, -1)[direction]) % self.ranks
        mine, theirs = self.order[iteration][rank], self.order[iteration][receiver]
        sent = ISEND_ENTRY[direction]
        stamps = [
            mine[sent],
            mine[sent + 1],
            theirs[IRECV_EXIT[direction]],
            theirs[WAITALL_EXIT],
        ]
        sender, receiver, blank = rank + 1, receiver + 1, self.blank
        text = (
            f"3:{sender}:1:{sender}:1:{blank}:{blank}:{receiver}:1:{receiver}:1:{blank}:{blank}"
            f":{MESSAGE_BYTES}:{direction + 1}\n"
        )
        return text, stamps


def _entry(call: str) -> str:
    sizes = f":50100001:{REDUCED_BYTES}:50100002:{REDUCED_BYTES}:50100004:1"
    return f"{TYPE[call]}:{VALUE[call]}{sizes if call == CALLS[ALLREDUCE_ENTRY // 2] else ''}"


def _callers(call: str) -> str:
    return "".join(
        f":{70000000 + level}:{function}:{80000000 + level}:{line}"
        for level, (function, line) in enumerate(CALLERS[call], start=1)
    )
