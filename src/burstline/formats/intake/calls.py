"""Calls of some processes, the records that describe them, and what is known of each.

A record of a call has its call as a row among all calls; what it names (communicator,
operation, stack) is already a row or code of the trace. Ids of requests are per process and
may be used again: what completes an id completes what was last started under it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import IntEnum
from operator import attrgetter
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.columns import Columns, Integers, Mask, concatenated, mask_at
from burstline.formats.intake.defects import Defects
from burstline.model import NO_VALUE, UNKNOWN, arrow_table

PROC_NULL: Final = -1
ANY_SOURCE: Final = -2
LARGEST: Final = 1 << 50
"""Sizes from here on, a petabyte, are damage."""


class DetailKind(IntEnum):
    """What a record says of its call; the numbers are those of the raw format."""

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
    LABEL = 56


class Transfer(IntEnum):
    """How a one-sided call moves data; the numbers are those of the raw format."""

    PUT = 1
    GET = 2
    ACCUMULATE = 3
    BOTH = 4


_SENDS: Final = np.array([Transfer.PUT, Transfer.ACCUMULATE, Transfer.BOTH])
_RECEIVES: Final = np.array([Transfer.GET, Transfer.BOTH])


@dataclass(frozen=True, slots=True, eq=False)
class Calls:
    """All calls, by location and ordinal."""

    # (calls,) where, and which one there
    location: Integers
    call: Integers
    operation: Integers  # (calls,) code of the operation
    # (calls,) when it was entered and left
    enter_ns: Integers
    leave_ns: Integers
    enter_seq: Integers
    leave_seq: Integers
    path: Integers  # (calls,) its row in `call_paths`, -1 if unknown
    names: tuple[str, ...]  # names behind the codes

    def __len__(self) -> int:
        return len(self.location)


@dataclass(frozen=True, slots=True, eq=False)
class Details:
    """Records that describe calls, in order of location and record."""

    kind: Integers  # (records,) what each is
    call: Integers  # (records,) its call, as a row of all calls
    # (records,) where it stands
    location: Integers
    index: Integers
    request: Integers  # (records,) what stands in its time: the request, 0 if none
    # (records,) row of the communicator, world rank, tag, as far as the kind has them
    communicator: Integers
    partner: Integers
    tag: Integers
    # (records,) what else is written; the properties name it, each for the kinds that have it
    variant: Integers
    first: Integers
    second: Integers
    # those that are read here; the others are of other slices, and start or end requests of
    # these. All by default.
    own: range | None = None

    def __len__(self) -> int:
        return len(self.kind)

    size = property(attrgetter("second"), doc="Bytes of a message or a one-sided transfer.")
    sent = property(attrgetter("first"), doc="Bytes that a collective sent, or into a file.")
    received = property(attrgetter("second"), doc="Bytes that either received.")
    root = property(attrgetter("first"), doc="World rank of a root that a call names.")
    transfer = property(attrgetter("variant"), doc="How a one-sided call moves data.")
    polls = property(attrgetter("first"), doc="Polls without success that are summed up.")
    polling_ns = property(attrgetter("second"), doc="Time spent in these polls.")
    waiting_ns = property(attrgetter("request"), doc="The same with what lies shortly between.")
    poll_gap_ns = property(attrgetter("partner"), doc="Up to where that is short; 0: unknown.")

    @property
    def is_root(self) -> Mask:
        """Whether the process is the root of the collective."""
        return (self.variant & 1).astype(bool)

    @property
    def operation(self) -> Integers:
        """Code of the collective's operation, -1 where it is that of the call."""
        return (self.variant >> 1) - 1

    def pick(self, rows: npt.NDArray[Any]) -> Details:
        """Some of the records."""
        names = [column.name for column in fields(self) if column.name != "own"]
        return replace(self, own=None, **{name: getattr(self, name)[rows] for name in names})

    def is_own(self, rows: Integers) -> Mask:
        """Whether each of some records is read here."""
        own = range(len(self)) if self.own is None else self.own
        inside: Mask = (rows >= own.start) & (rows < own.stop)
        return inside

    def where(self, mask: Mask) -> Integers:
        """The records read here for which something holds."""
        own = range(len(self)) if self.own is None else self.own
        return np.flatnonzero(mask[own.start : own.stop]) + own.start

    def of(self, *kinds: int) -> Details:
        """The records of some kinds, in order."""
        return self.pick(np.flatnonzero(np.isin(self.kind, np.array(kinds))))


_NEVER: Final = -(2**62)
_OF_CALLS: Final = (
    "location", "call", "operation", "enter_ns", "leave_ns", "enter_seq", "leave_seq"
)  # fmt: skip


class CallFacts:
    """What is known of each call: partner, tag, communicator, root, bytes."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        count = len(calls)
        self._bytes = {name: np.zeros(count, np.int64) for name in ("sent", "received")}
        self._counted = {name: np.zeros(count, bool) for name in self._bytes}
        self._own_root = np.full(count, UNKNOWN, np.int64)
        self._communicators: list[Columns] = []
        self._sends: list[Columns] = []
        self._posts: list[Columns] = []

    def add_partners(
        self, call: Integers, partner: Integers, tag: Integers, *, received: bool
    ) -> None:
        """Note partners of calls; destinations go before sources."""
        partners = self._posts if received else self._sends
        partners.append({"call": call, "partner": partner, "tag": tag})

    def add_communicators(self, call: Integers, communicator: Integers) -> None:
        """Note communicators of calls."""
        is_one = communicator >= 0
        self._communicators.append({"call": call[is_one], "of": communicator[is_one]})

    def add_roots(self, call: Integers, rank: Integers) -> None:
        """Note calls that are those of a root, and its rank."""
        self._own_root[call] = rank

    def add_bytes(self, name: str, call: Integers, size: Integers) -> None:
        """Add to the bytes ``sent`` or ``received``."""
        np.add.at(self._bytes[name], call, size)
        self._counted[name][call] = True

    def table(self) -> pa.Table:
        """The table `calls`."""
        calls = self.calls
        names = ("call", "partner", "tag")
        sends, posts = (concatenated(names, parts) for parts in (self._sends, self._posts))
        sending = mask_at(sends["call"], len(calls))
        answers = ~sending[posts["call"]]
        call, partner, tag = (
            np.concatenate([sends[name], posts[name][answers]]) for name in names
        )
        communicators = concatenated(("call", "of"), self._communicators)
        peer = _common_value(call[partner >= 0], partner[partner >= 0], len(calls))
        has_tag = (partner >= 0) & (tag >= 0)
        return arrow_table(
            "calls",
            {
                **{name: getattr(calls, name) for name in _OF_CALLS},
                "communicator": _common_value(
                    communicators["call"], communicators["of"], len(calls)
                ),
                "peer": peer,
                "tag": _common_value(call[has_tag], tag[has_tag], len(calls)),
                "root": self._own_root,
                "sent_bytes": self._sum("sent"),
                "received_bytes": self._sum("received"),
                "call_path": calls.path,
            },
            operations=calls.names,
        )

    def _sum(self, name: str) -> Integers:
        return np.where(self._counted[name], self._bytes[name], NO_VALUE)


def _common_value(call: Integers, value: Integers, count: int) -> Integers:
    """The value of each call if all it has are equal, else -1."""
    lowest, highest = np.full(count, -_NEVER), np.full(count, _NEVER)
    np.minimum.at(lowest, call, value)
    np.maximum.at(highest, call, value)
    return np.where(lowest == highest, lowest, UNKNOWN)


def describe_transfers(details: Details, facts: CallFacts) -> None:
    """Add what calls moved to and from memory of others and files."""
    remote = details.of(DetailKind.RMA)
    facts.add_partners(remote.call, remote.partner, np.full(len(remote), -1), received=False)
    facts.add_communicators(remote.call, remote.communicator)
    for name, ops in (("sent", _SENDS), ("received", _RECEIVES)):
        moving = remote.pick(np.isin(remote.transfer, ops))
        facts.add_bytes(name, moving.call, moving.size)
    files = details.of(DetailKind.IO)
    for name, size in (("sent", files.sent), ("received", files.received)):
        facts.add_bytes(name, files.call[size > 0], size[size > 0])
    probes = details.of(DetailKind.PROBE)
    facts.add_partners(probes.call, probes.partner, probes.tag, received=True)
    facts.add_communicators(probes.call, probes.communicator)


_COMPLETED_BY: Final[dict[int, tuple[DetailKind, ...]]] = {
    DetailKind.SEND: (DetailKind.SEND_DONE, DetailKind.CANCELLED, DetailKind.FREED),
    DetailKind.POST: (DetailKind.RECEIVE, DetailKind.CANCELLED, DetailKind.FREED),
    DetailKind.COLLECTIVE: (DetailKind.COLLECTIVE_DONE, DetailKind.CANCELLED, DetailKind.FREED),
}
_SIZE: Final = max(DetailKind) + 1
FITS: Final[Mask] = np.array(
    [[end in _COMPLETED_BY.get(start, ()) for end in range(_SIZE)] for start in range(_SIZE)]
)
"""Whether a kind of record, by row, starts what another, by column, completes."""

PROBED: Final[Mask] = np.zeros_like(FITS)
"""Whether a kind of record, by row, decides which message another, by column, takes."""
PROBED[DetailKind.PROBE, DetailKind.RECEIVE] = True


def follow(
    details: Details, calls: Calls, process: Integers, defects: Defects, *, mark: int = 0
) -> Integers:
    """What completed each request and what started it, as records; -1 without, (records,)."""
    partner = np.full(len(details), UNKNOWN, np.int64)
    start, end = _successive_records(details, calls, process, FITS)
    partner[start], partner[end] = end, start
    completes = np.any(FITS, axis=0)[details.kind] & (details.kind != DetailKind.FREED)
    alone = details.where(completes & (details.request != 0) & (partner < 0))
    place = details.location[alone], (details.request[alone] ^ mark).astype(np.uint64)
    defects.note_rows("completion_without_start", "loss", "location {}, request {}", *place)
    return partner


def decided(details: Details, calls: Calls, process: Integers) -> Integers:
    """The probe that decided which message each receive takes, -1 where none did."""
    probe = np.full(len(details), UNKNOWN, np.int64)
    if ((details.kind == DetailKind.PROBE) & (details.request != 0)).any():
        before, receive = _successive_records(details, calls, process, PROBED)
        probe[receive] = before
    return probe


def _successive_records(
    details: Details, calls: Calls, process: Integers, fits: Mask
) -> tuple[Integers, Integers]:
    """Records that follow each other under one request, where the second fits the first."""
    # Another thread than the one that started a request may complete it: the time of the calls
    # tells the order, then the order of the records.
    starts, ends = np.any(fits, axis=1), np.any(fits, axis=0)
    rows = np.flatnonzero((details.request != 0) & (starts | ends)[details.kind])
    kind, call, request = details.kind[rows], details.call[rows], details.request[rows]
    owner = process[details.location[rows]]
    time = np.where(ends[kind], calls.leave_ns[call], calls.enter_ns[call])
    order = np.lexsort((time, request, owner))
    before, after = order[:-1], order[1:]
    joined = fits[kind[before], kind[after]]
    for column in (owner, request):
        joined &= column[before] == column[after]
    return rows[before[joined]], rows[after[joined]]
