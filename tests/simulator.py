"""Random MPI programs, each from one integer, with the truth about what they did.

::

    seed ─ Program ─ run ─► Simulated: the text form of its trace, and true counts
                               └ stories.Story ─► every format, every command

Ranks go through the same statements, each at its own pace: nested loops, messages of all kinds,
from anybody too, collectives on the world and on a group, polls, threads. A run may be cut.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from stories import Story

_WORLD = ("Barrier", "Bcast", "Allreduce", "Reduce", "Alltoall", "Allgather")
_ROOTED = ("Bcast", "Reduce")
_MOST_EVENTS = 1500


@dataclass(frozen=True)
class Simulated:
    """A run of a program: its trace as a story, and what is true of it."""

    seed: int
    text: str
    calls: Counter[tuple[int, str]]  # by rank and operation
    messages: list[tuple[int, int, int, int]]  # source, destination, tag, bytes; sorted
    collectives: Counter[str]  # instances by operation, complete ones
    is_cut: bool

    @property
    def story(self) -> Story:
        return Story(f"program_{self.seed}", self.text)


@dataclass
class _Rank:
    """Where a rank is, and what it did."""

    now_ns: int = 0
    requests: int = 0
    events: list[tuple[int, str]] = field(default_factory=list)

    def say(self, *events: str) -> int:
        """Let events happen, now; when that is."""
        self.events += [(self.now_ns, event) for event in events]
        return self.now_ns

    def kept(self, end_ns: int) -> int:
        """Events until the last call that was left by some time."""
        lefts = (
            k for k, (ns, event) in enumerate(self.events) if event == "leave" and ns <= end_ns
        )
        return max(lefts, default=-1) + 1


class _Sent(NamedTuple):
    """A message on its way: source, destination, tag, bytes; when and where it was sent."""

    message: tuple[int, int, int, int]
    ns: int
    place: int


class _Run:
    """The run of one program."""

    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)  # noqa: S311 -- reproducible
        self.is_cut = self.dice.random() < 0.2
        self.size = self.dice.randint(1, 5)
        self.ranks = [_Rank(self.dice.randint(0, 9)) for _ in range(self.size)]
        self.group = [rank for rank in range(self.size) if rank % 2 == 0]
        self.lines = 0
        # messages with the places of both their events, collectives with those of their ends
        self.messages: list[tuple[tuple[int, int, int, int], int, int]] = []
        self.collectives: list[tuple[str, dict[int, int]]] = []
        self.events = 0

    # The program: statements as (kind, line, …), made once and executed in each iteration

    def body(self, depth: int) -> list[tuple]:
        return [self.statement(depth) for _ in range(self.dice.randint(1, 4))]

    def statement(self, depth: int) -> tuple:
        self.lines += 1
        line, dice = self.lines, self.dice
        if depth < 3 and dice.random() < 0.4:
            return ("loop", line, dice.randint(1, 6), self.body(depth + 1))
        if dice.random() < 0.15:
            return ("every", line, dice.randint(2, 3), self.body(3))
        kinds = (
            "ring",
            "exchange",
            "pairs",
            "anybody",
            "collective",
            "background",
            "poll",
            "local",
        )
        # the text form has no collective that is begun and never ends
        kind = dice.choice([kind for kind in kinds if kind != "background" or not self.is_cut])
        return (kind, line, dice.choice(_WORLD), dice.random() < 0.3, dice.randint(1, 9))

    def execute(self, statements: list[tuple], iteration: int = 0) -> None:
        for kind, line, *rest in statements:
            if self.events > _MOST_EVENTS:
                return
            if kind == "loop":
                for k in range(rest[0]):
                    self.execute(rest[1], k)
            elif kind == "every":
                if iteration % rest[0] == 0:
                    self.execute(rest[1], iteration)
            else:
                for rank in self.ranks:
                    rank.now_ns += self.dice.randint(1, 60)
                getattr(self, kind)(line, *rest)
                self.events += 4 * self.size

    def enter(self, rank: int, operation: str, line: int) -> None:
        where = self.ranks[rank]
        where.now_ns += self.dice.randint(1, 5)
        where.say(f"enter MPI_{operation} path {line}")

    def leave(self, rank: int) -> None:
        self.ranks[rank].now_ns += self.dice.randint(1, 5)
        self.ranks[rank].say("leave")

    def place(self, rank: int) -> int:
        """Events of a rank until now."""
        return len(self.ranks[rank].events)

    def sends(self, source: int, rank: int, tag: int, size: int, request: str = "") -> _Sent:
        """A message is sent from the call that was entered last."""
        where = self.ranks[source]
        where.say(f"send to {rank} tag {tag} bytes {size}{request}")
        message = (source, rank, tag, size)
        return _Sent(message, where.now_ns, len(where.events))

    def receives(self, sent: _Sent, request: str = "") -> None:
        """A message arrives, when the call that waits for it is about to be left."""
        source, rank, tag, size = sent.message
        where = self.ranks[rank]
        where.now_ns = max(where.now_ns + self.dice.randint(1, 5), sent.ns + 1)
        where.say(f"receive from {source} tag {tag} bytes {size}{request}")
        self.messages.append((sent.message, sent.place, len(where.events)))

    # The statements: what every rank does in one

    def ring(self, line: int, _: str, backwards: bool, size: int) -> None:  # noqa: FBT001
        step = -1 if backwards else 1
        sent = []
        for rank in range(self.size):
            self.enter(rank, "Sendrecv", line)
            sent.append(self.sends(rank, (rank + step) % self.size, line, size))
        for rank in range(self.size):
            self.receives(sent[(rank - step) % self.size])
            self.ranks[rank].say("leave")

    def exchange(self, line: int, _: str, backwards: bool, size: int) -> None:  # noqa: FBT001
        step = -1 if backwards else 1
        sent, requests = [], []
        for rank, where in enumerate(self.ranks):
            where.requests += 2
            requests.append(where.requests)
            self.enter(rank, "Irecv", line)
            where.say(f"post request {where.requests}")
            self.leave(rank)
            self.enter(rank, "Isend", line)
            to, request = (rank + step) % self.size, f" request {where.requests - 1}"
            sent.append(self.sends(rank, to, line, size, request))
            self.leave(rank)
        for rank, where in enumerate(self.ranks):
            self.enter(rank, "Waitall", line)
            self.receives(sent[(rank - step) % self.size], f" request {requests[rank]}")
            where.say(f"sent request {requests[rank] - 1}", "leave")

    def pairs(self, line: int, _: str, backwards: bool, size: int) -> None:  # noqa: FBT001
        for even in range(0, self.size - 1, 2):
            source, to = (even + 1, even) if backwards else (even, even + 1)
            self.enter(source, "Send", line)
            sent = self.sends(source, to, line, size)
            self.leave(source)
            self.enter(to, "Recv", line)
            self.receives(sent)
            self.ranks[to].say("leave")

    def anybody(self, line: int, _: str, __: bool, size: int) -> None:  # noqa: FBT001
        """Rank 0 receives from all, in the order in which messages happen to arrive."""
        sent = []
        for rank in range(1, self.size):
            self.enter(rank, "Send", line)
            sent.append(self.sends(rank, 0, line, size + rank))
            self.leave(rank)
        for message in sorted(sent, key=lambda one: one.ns):
            self.enter(0, "Recv", line)
            self.receives(message)
            self.ranks[0].say("leave")

    def collective(self, line: int, name: str, on_group: bool, size: int) -> None:  # noqa: FBT001
        members = self.group if on_group else range(self.size)
        begun = []
        for rank in members:
            self.enter(rank, name, line)
            begun.append(self.ranks[rank].say("begin"))
        root = f" root {members[0]}" if name in _ROOTED else ""
        comm = " comm 1" if on_group else ""
        sizes = (0, 0) if name == "Barrier" else (size, size)
        end = f"end sent {sizes[0]} received {sizes[1]}{root}{comm}"
        for rank in members:
            self.ranks[rank].now_ns = max(self.ranks[rank].now_ns, *begun) + 1
            self.ranks[rank].say(end, "leave")
        self.collectives.append((name, {rank: self.place(rank) for rank in members}))

    def background(self, line: int, _: str, __: bool, size: int) -> None:  # noqa: FBT001
        begun = []
        for rank, where in enumerate(self.ranks):
            where.requests += 1
            self.enter(rank, "Iallreduce", line)
            begun.append(where.say(f"begin request {where.requests}"))
            self.leave(rank)
        for rank, where in enumerate(self.ranks):
            self.enter(rank, "Wait", line)
            where.now_ns = max(where.now_ns, *begun) + 1
            where.say(f"end request {where.requests} sent {size} received {size}", "leave")
        ends = {rank: self.place(rank) for rank in range(self.size)}
        self.collectives.append(("Iallreduce", ends))

    def poll(self, line: int, _: str, __: bool, times: int) -> None:  # noqa: FBT001
        rank = line % self.size
        for _k in range(times):
            self.enter(rank, "Test", line)
            self.leave(rank)

    def local(self, line: int, *_: object) -> None:
        for rank in range(self.size):
            self.enter(rank, "Comm_rank", line)
            self.leave(rank)


def simulate(seed: int) -> Simulated:
    """The run of the program that an integer stands for."""
    run = _Run(seed)
    program = run.body(0)
    for rank in range(run.size):
        run.enter(rank, "Init", 0)
        run.leave(rank)
    run.execute(program)
    for rank in range(run.size):
        run.enter(rank, "Finalize", run.lines + 1)
        run.leave(rank)
    last = max(rank.now_ns for rank in run.ranks)
    end = run.dice.randint(last // 2, last) if run.is_cut else last
    lines = [f"ranks {run.size}"]
    members = " ".join(map(str, run.group))
    lines.append(f"communicator 1 members {members} kind group")
    lines += [f"path {k} main file a.c line {k + 1}" for k in range(run.lines + 2)]
    kept = [rank.kept(end) for rank in run.ranks]
    calls: Counter[tuple[int, str]] = Counter()
    for number, rank in enumerate(run.ranks):
        lines.append(str(number))
        events = rank.events[: kept[number]]
        lines += [f"{now} {event}" for now, event in events]
        entered = (event.split()[1] for _, event in events if event.startswith("enter"))
        calls.update((number, operation) for operation in entered)
    return Simulated(
        seed=seed,
        text="\n".join(lines),
        calls=calls,
        messages=sorted(
            message
            for message, sent, received in run.messages
            if sent <= kept[message[0]] and received <= kept[message[1]]
        ),
        collectives=Counter(
            f"MPI_{name}"
            for name, ends in run.collectives
            if all(place <= kept[rank] for rank, place in ends.items())
        ),
        is_cut=run.is_cut,
    )
