"""What a .prv says, read line by line: if you doubt the native reader, read its twin.

Written from the format, for files that fit on a screen. Knows MPI calls, messages,
counters, polls and gaps; not regions.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from burstline.extrae.mpi_calls import MPI_OPERATIONS

MPI_TYPES = range(50000001, 50000006)
COUNTERS = range(42000000, 42000010)
COUNTER_SET = 41999999
SENDS = {
    "MPI_Send", "MPI_Ssend", "MPI_Bsend", "MPI_Rsend", "MPI_Sendrecv", "MPI_Isend", "MPI_Start",
}  # fmt: skip
BLOCKING_SENDS = {"MPI_Send", "MPI_Ssend", "MPI_Bsend", "MPI_Rsend", "MPI_Sendrecv"}
BLOCKING_RECEIVES = {"MPI_Recv", "MPI_Sendrecv"}
COMPLETIONS = BLOCKING_RECEIVES | {"MPI_Wait", "MPI_Waitall", "MPI_Test"}


POLLS = (50000304, 50000305, 77200002)  # how many failed, the time in them, the waiting


@dataclass
class Call:
    operation: str
    enter: int
    leave: int = -1
    enter_seq: int = -1
    leave_seq: int = -1
    sent: int | None = None
    received: int | None = None
    communicator: int | None = None
    is_root: bool = False
    callers: dict = field(default_factory=dict)
    polls: int = 0
    polling: int = 0
    waiting: int | None = None


@dataclass
class Location:
    calls: list = field(default_factory=list)
    readings: list = field(default_factory=list)  # (seq, time, {counter: delta})
    gaps: list = field(default_factory=list)
    events: list = field(default_factory=list)  # (time, type, value)


def read(text: str, locations: dict[tuple[int, int, int], int]) -> tuple[dict, list]:
    """Read a body: what happened on each location, and the messages in file order."""
    lines = defaultdict(list)
    messages = []
    for line in text.splitlines():
        kind, *numbers = line.split(":")
        if kind == "2":
            _, application, task, thread, time, *pairs = map(int, numbers)
            place = locations[application, task, thread]
            lines[place].append((time, list(zip(pairs[::2], pairs[1::2], strict=True))))
        elif kind == "3":
            n = list(map(int, numbers))
            messages.append(
                (
                    locations[tuple(n[1:4])],
                    locations[tuple(n[7:10])],
                    n[4],
                    n[5],
                    n[10],
                    n[11],
                    *n[12:],
                )
            )
    result = {place: Location() for place in locations.values()}
    for place, found in lines.items():
        found.sort(key=lambda line: line[0])
        walk(result[place], found)
    return result, messages


def walk(location: Location, lines: list) -> None:
    if lines and lines[0][0] > 0:
        location.gaps.append((0, lines[0][0], "not_created"))
    steps = Walk(location)
    for time, pairs in lines:
        steps.begin(time)
        for kind, value in pairs:
            location.events.append((time, kind, value))
            steps.take(kind, value)
            steps.seq += 1
    location.gaps.sort(key=lambda gap: gap[0])


class Walk:
    def __init__(self, location: Location) -> None:
        self.location = location
        self.seq = self.time = 0
        self.call = self.row = None
        self.pending = [0, 0, None]
        self.since = {}
        self.introducing = False

    def begin(self, time: int) -> None:
        if self.row is not None and self.row[1] != time:
            self.row = None
        self.time, self.introducing = time, False

    def take(self, kind: int, value: int) -> None:
        if kind in MPI_TYPES:
            self.border(value)
        elif kind in COUNTERS:
            self.reading(kind, value)
        elif kind == COUNTER_SET:
            self.introducing = True
        elif kind in POLLS:
            self.poll(POLLS.index(kind), value)
        elif kind in {40000003, 40000012}:
            self.watch(kind, unwatched=(value != 0) == (kind == 40000003))
        elif self.fresh():
            self.attribute(kind, value)

    def fresh(self) -> bool:
        return self.call is not None and self.call.enter == self.time

    def border(self, value: int) -> None:
        self.row = None
        if not value:
            self.call.leave, self.call.leave_seq, self.call = self.time, self.seq, None
            return
        self.call = Call(MPI_OPERATIONS[value], self.time, enter_seq=self.seq)
        self.call.polls, self.call.polling, self.call.waiting = self.pending
        self.pending = [0, 0, None]
        self.location.calls.append(self.call)

    def reading(self, kind: int, value: int) -> None:
        if self.introducing and value == 0:
            return
        if self.row is None or kind in self.row[2]:
            self.row = (self.seq, self.time, {})
            self.location.readings.append(self.row)
        self.row[2][kind] = value

    def poll(self, which: int, value: int) -> None:
        if which == 2 and value == 0:
            return
        if not self.fresh():
            self.pending[which] = (self.pending[which] or 0) + value
        elif which == 0:
            self.call.polls += value
        elif which == 1:
            self.call.polling += value
        else:
            self.call.waiting = (self.call.waiting or 0) + value

    def watch(self, kind: int, *, unwatched: bool) -> None:
        if unwatched:
            self.since.setdefault(kind, self.time)
            return
        start = self.since.pop(kind, self.time)
        if start < self.time:
            name = "flush" if kind == 40000003 else "tracing_off"
            self.location.gaps.append((start, self.time, name))

    def attribute(self, kind: int, value: int) -> None:
        names = {50100001: "sent", 50100002: "received", 50100004: "communicator"}
        if kind in names:
            setattr(self.call, names[kind], value)
        elif kind == 50100003:
            self.call.is_root = value != 0
        elif 70000000 < kind < 70000100 or 80000000 < kind < 80000100:
            self.call.callers[kind] = value


def bursts(location: Location) -> list[dict]:
    """Derive the bursts between consecutive calls, with counters known at both borders.

    A counter that is never read where a burst begins is known where it is read at the end.
    """
    result = []
    pairs = list(zip(location.calls, location.calls[1:], strict=False))
    read_at_starts = {
        counter
        for before, after in pairs
        for seq, time, values in location.readings
        if before.leave_seq < seq < after.enter_seq and time == before.leave
        for counter in values
    }
    for before, after in pairs:
        at_start, at_end, total = set(), set(), defaultdict(int)
        for seq, time, values in location.readings:
            between = before.leave_seq < seq < after.enter_seq
            if between and time == before.leave:
                at_start |= set(values)
            elif between or (time == after.enter and after.enter_seq < seq < after.leave_seq):
                for counter, value in values.items():
                    total[counter] += value
                    at_end |= {counter} if time == after.enter else set()
        gap = sum(
            max(0, min(end, after.enter) - max(start, before.leave))
            for start, end, _ in location.gaps
        )
        result.append(
            {
                "start": before.leave,
                "end": after.enter,
                "polls": after.polls,
                "polling": after.polling,
                "waiting": after.waiting,
                "gap": gap,
                "counters": {
                    c: total[c] for c in at_end if c in at_start or c not in read_at_starts
                },
            }
        )
    return result


def message_calls(calls: dict[int, list[Call]], messages: list[tuple]) -> list[tuple]:
    """Find the calls that started, posted and completed each message: ordinals or None.

    A call starts one message and posts one receive at most, in the order of the file.
    """
    taken = set()

    def find(place, what, fits):
        hits = [
            k
            for k, call in enumerate(calls[place])
            if fits(call) and (place, k, what) not in taken
        ]
        return hits[0] if hits else None

    def take(place, k, what):
        taken.add((place, k, what)) if k is not None else None
        return k

    return [_message_calls(find, take, message) for message in messages]


def _message_calls(find, take, message: tuple) -> tuple:
    sender, receiver, log_send, phy_send, log_receive, phy_receive, _, _ = message
    send = find(
        sender,
        "send",
        lambda c: c.operation in SENDS and (c.enter, c.leave) == (log_send, phy_send),
    )
    if send is None:
        send = find(sender, "send", lambda c: c.operation in SENDS and c.enter == log_send)
    take(sender, send, "send")
    both = find(
        receiver,
        "post",
        lambda c: (
            c.operation in BLOCKING_RECEIVES
            and (c.enter, c.leave) == (log_receive, phy_receive)
        ),
    )
    if both is not None:
        return send, take(receiver, both, "post"), both
    post = find(
        receiver, "post", lambda c: c.operation == "MPI_Irecv" and c.leave == log_receive
    )
    take(receiver, post, "post")
    done = find(
        receiver, "done", lambda c: c.operation in COMPLETIONS and c.leave == phy_receive
    )
    return send, post, done
