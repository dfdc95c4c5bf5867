"""Random MPI programs, each from one integer, with the truth about what they did.

::

    seed ─ Program ─ run ─► Simulated: the text form of its trace, and true counts
                               └ stories.Story ─► every format, every command

Ranks go through the same statements, each at its own pace: nested loops, messages of all kinds,
from anybody too, collectives on the world and on a group, polls. A run may be cut, and one in
two has OpenMP: teams, loops that they share, barriers, critical sections, MPI inside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from burstline.extrae import RECORDED_REGIONS
from stories import Story

_WORLD = ("Barrier", "Bcast", "Allreduce", "Reduce", "Alltoall", "Allgather")
_ROOTED = ("Bcast", "Reduce")
_MOST_EVENTS = 1500
_OPENMP = ("parallel", "loop", "single", "master", "critical", "barrier", "implicit_barrier")
_IN_TEAMS = ("ring", "exchange", "pairs", "anybody", "gather", "collective")
_OF_TEAMS = {1: 2, 2: 4, 3: 6, 4: 8}
"""The number of a team, and of its event in Paraver, by its threads."""
_DECLARED = [
    f"region {role} paradigm openmp role {role} type {kind} value {value}"
    for role, kind, value in (
        *((role, *RECORDED_REGIONS[role]) for role in _OPENMP),
        *(("team", RECORDED_REGIONS["team"][0], number) for number in _OF_TEAMS.values()),
    )
]
_BEGINS, _ENDS = ("enter", "fork", "team begin"), ("leave", "join", "team end")


@dataclass(frozen=True)
class Simulated:
    """A run of a program: its trace as a story, and what is true of it."""

    seed: int
    text: str
    calls: Counter[tuple[int, str]]  # by rank and operation
    messages: list[tuple[int, int, int, int]]  # source, destination, tag, bytes; sorted
    collectives: Counter[str]  # instances by operation, complete ones
    regions: list[tuple]  # rank, thread, role, from, to, fork, ordinal of barrier, iterations
    teams: list[tuple]  # rank, fork, join, threads; sorted, as all of these
    locks: list[tuple]  # rank, thread, lock, order, from, to
    is_cut: bool

    @property
    def story(self) -> Story:
        return Story(f"program_{self.seed}", self.text)


@dataclass
class _Thread:
    """Where a thread is, and what it did."""

    now_ns: int = 0
    requests: int = 0
    events: list[tuple[int, str]] = field(default_factory=list)
    open: list[tuple] = field(default_factory=list)  # regions: role, from, and what is known

    def say(self, *events: str) -> int:
        """Let events happen, now; when that is."""
        self.events += [(self.now_ns, event) for event in events]
        return self.now_ns

    def kept(self, end_ns: int) -> int:
        """Events until the last by some time after which nothing is open."""
        depth = last = 0
        for place, (ns, event) in enumerate(self.events, start=1):
            depth += event.startswith(_BEGINS) - event.startswith(_ENDS)
            if depth == 0 and ns <= end_ns:
                last = place
        return last


@dataclass
class _Team:
    """A team of OpenMP while it works: its rank, its threads, and what was counted."""

    rank: int
    threads: list[_Thread]
    fork_ns: int
    barriers: int = 0


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
        self.ranks = [_Thread(self.dice.randint(0, 9)) for _ in range(self.size)]
        # of its own, so that a program without OpenMP is what it was before there was any
        self.team_dice = Random(f"{seed} teams")  # noqa: S311 -- reproducible
        most = self.team_dice.choice((0, 0, 0, 2, 3, 4))
        workers = range(max(most - 1, 0))
        self.threads = [[main, *(_Thread() for _ in workers)] for main in self.ranks]
        self.team_sizes = range(1, most + 1)
        self.acquired: Counter[tuple[int, int]] = Counter()  # by rank and lock
        self.free_ns: Counter[tuple[int, int]] = Counter()
        self.group = [rank for rank in range(self.size) if rank % 2 == 0]
        self.lines = 0
        # messages with the places of both their events, collectives with those of their ends
        self.messages: list[tuple[tuple[int, int, int, int], int, int]] = []
        self.collectives: list[tuple[str, dict[int, int]]] = []
        # rows of tables of OpenMP: rank and thread first, then the place of the last event
        self.openmp: dict[str, list[tuple]] = {"regions": [], "teams": [], "locks": []}
        self.events = 0

    # The program: statements as (kind, line, …), made once and executed in each iteration

    def body(self, depth: int) -> list[tuple]:
        made = [self.statement(depth) for _ in range(self.dice.randint(1, 4))]
        if self.team_sizes and self.team_dice.random() < 0.6:
            made.insert(self.team_dice.randint(0, len(made)), self.parallel())
        if self.team_sizes and self.team_dice.random() < 0.1:
            self.lines += 1
            made.append(("gather", self.lines, "", False, self.team_dice.randint(1, 9)))
        return made

    def parallel(self) -> tuple:
        self.lines += 1
        return ("team", self.lines, self.team_dice.choice(self.team_sizes), self.constructs(0))

    def constructs(self, depth: int) -> list[tuple]:
        """What the threads of a team do, as (kind, line, …)."""
        dice, made = self.team_dice, []
        for _ in range(dice.randint(0, 3)):
            kind = dice.choice(
                ("turns", "shared", "shared", "barrier", "critical", "single", "master", "each")
            )
            self.lines += 1
            if kind != "turns":
                mpi = dice.choice(_IN_TEAMS)
                rest = (mpi, dice.choice(_WORLD), dice.random() < 0.3, dice.randint(1, 9))
            elif depth < 2:
                rest = (dice.randint(1, 4), self.constructs(depth + 1))
            else:
                continue
            made.append((kind, self.lines, *rest))
        return made

    def statement(self, depth: int) -> tuple:
        self.lines += 1
        line, dice = self.lines, self.dice
        if depth < 3 and dice.random() < 0.4:
            return ("loop", line, dice.randint(1, 6), self.body(depth + 1))
        if dice.random() < 0.15:
            return ("every", line, dice.randint(2, 3), self.body(3))
        kinds = (
            "ring", "exchange", "pairs", "anybody", "collective", "background", "poll", "local",
        )  # fmt: skip
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

    def enter(self, rank: int, operation: str, line: int, thread: int = 0) -> None:
        where = self.threads[rank][thread]
        where.now_ns += self.dice.randint(1, 5)
        where.say(f"enter MPI_{operation} path {line}")

    def leave(self, rank: int, thread: int = 0) -> None:
        where = self.threads[rank][thread]
        where.now_ns += self.dice.randint(1, 5)
        where.say("leave")

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

    def gather(self, line: int, _: str, __: bool, size: int) -> None:  # noqa: FBT001
        """As `anybody`, but what is received was posted before, from anybody."""
        main, requests, sent = self.ranks[0], [], []
        for rank in range(1, self.size):
            main.requests += 1
            requests.append(main.requests)
            self.enter(0, "Irecv", line)
            main.say(f"post request {main.requests}")
            self.leave(0)
            self.enter(rank, "Send", line)
            sent.append(self.sends(rank, 0, line, size + rank))
            self.leave(rank)
        for request, message in zip(
            requests, sorted(sent, key=lambda one: one.ns), strict=True
        ):
            self.enter(0, "Waitany", line)
            self.receives(message, f" request {request}")
            main.say("leave")

    def collective(self, line: int, name: str, on_group: bool, size: int) -> None:  # noqa: FBT001
        members = self.group if on_group else range(self.size)
        begun = []
        for rank in members:
            self.enter(rank, name, line)
            begun.append(self.ranks[rank].say("begin"))
        root = f" root {members[0]}" if name in _ROOTED else ""
        comm = " comm 1" if on_group else ""
        size *= {"Barrier": 0, "Alltoall": len(members)}.get(name, 1)
        end = f"end sent {size} received {size}{root}{comm}"
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

    # OpenMP: what every thread of the teams of all ranks does in a construct

    def team(self, _: int, size: int, constructs: list[tuple]) -> None:
        number, teams = _OF_TEAMS[size], []
        for rank, main in enumerate(self.ranks):
            main.say(f"fork {size}", "enter parallel")
            team = _Team(rank, self.threads[rank][:size], main.now_ns)
            main.open.append(("parallel", main.now_ns, None, None, None))
            teams.append(team)
            for thread in team.threads:
                thread.now_ns = max(thread.now_ns, team.fork_ns) + self.team_dice.randint(1, 5)
                thread.say(f"team begin {number}")
                thread.open.append(("team", thread.now_ns, team.fork_ns, None, None))
        self.work(teams, constructs)
        for team in teams:
            self.synchronise(team, "implicit_barrier")
            for thread in team.threads:
                self.close(team, thread, f"team end {number}")
            main = team.threads[0]
            main.now_ns = max(thread.now_ns for thread in team.threads) + 1
            self.close(team, main, "leave", "join")
            row = (team.rank, team.fork_ns, main.now_ns, size)
            self.openmp["teams"].append((team.rank, 0, len(main.events), row))

    def work(self, teams: list[_Team], constructs: list[tuple]) -> None:
        for kind, line, *rest in constructs:
            if kind == "turns":
                for _ in range(rest[0]):
                    self.work(teams, rest[1])
                continue
            if self.events > _MOST_EVENTS:
                return
            self.events += 4 * sum(len(team.threads) for team in teams)
            if kind == "master":
                for team in teams:
                    self.open(team, team.threads[0], "master")
                getattr(self, rest[0])(line, *rest[1:])
                for team in teams:
                    self.close(team, team.threads[0])
                continue
            for team in teams:
                getattr(self, f"team_{kind}")(team, line, *rest[2:])

    def open(
        self, team: _Team, thread: _Thread, role: str, iterations: int | None = None
    ) -> None:
        thread.now_ns += self.team_dice.randint(1, 9)
        told = "" if iterations is None else f" iterations {iterations}"
        thread.say(f"enter {role}{told}")
        ordinal = team.barriers if role.endswith("barrier") else None
        thread.open.append((role, thread.now_ns, team.fork_ns, ordinal, iterations))

    def close(self, team: _Team, thread: _Thread, *events: str) -> None:
        thread.now_ns += self.team_dice.randint(1, 9)
        role, since, *rest = thread.open.pop()
        thread.say(*(events or ["leave"]))
        where = (
            team.rank,
            next(number for number, other in enumerate(team.threads) if other is thread),
        )
        row = (*where, role, since, thread.now_ns, *rest)
        self.openmp["regions"].append((*where, len(thread.events), row))

    def synchronise(self, team: _Team, role: str) -> None:
        for thread in team.threads:
            self.open(team, thread, role)
        last = max(thread.now_ns for thread in team.threads)
        for thread in team.threads:
            thread.now_ns = last
            self.close(team, thread)
        team.barriers += 1

    def team_shared(self, team: _Team, _: int, has_no_barrier: bool, size: int) -> None:  # noqa: FBT001
        for number, thread in enumerate(team.threads):
            share = len(range(number, size, len(team.threads)))
            self.open(team, thread, "loop", share)
            thread.now_ns += 10 * share
            self.close(team, thread)
        if not has_no_barrier:
            self.synchronise(team, "implicit_barrier")

    def team_barrier(self, team: _Team, *_: object) -> None:
        self.synchronise(team, "barrier")

    def team_critical(self, team: _Team, _: int, __: bool, size: int) -> None:  # noqa: FBT001
        """One after the other, in the order in which they ask."""
        lock = 1 + size % 2
        which = team.rank, lock
        for thread in team.threads:
            self.open(team, thread, "critical")
        for thread in sorted(team.threads, key=lambda one: one.now_ns):
            thread.now_ns = since = max(thread.now_ns, self.free_ns[which]) + 1
            thread.say(f"acquire {lock}")
            self.close(team, thread, f"release {lock}", "leave")
            self.free_ns[which] = thread.now_ns
            self.acquired[which] += 1
            rank, number, place, _row = self.openmp["regions"][-1]
            row = (rank, number, lock, self.acquired[which], since, thread.now_ns)
            self.openmp["locks"].append((rank, number, place, row))

    def team_single(self, team: _Team, line: int, *_: object) -> None:
        thread = team.threads[line % len(team.threads)]
        self.open(team, thread, "single")
        self.close(team, thread)
        self.synchronise(team, "implicit_barrier")

    def team_each(self, team: _Team, line: int, *_: object) -> None:
        """Every thread calls MPI."""
        for number in range(len(team.threads)):
            self.enter(team.rank, "Comm_rank", line, number)
            self.leave(team.rank, number)


def threads_of(kept: dict[tuple[int, int], int]) -> Iterator[int]:
    """Threads of each rank that did something, and the first, from events by place."""
    numbers = Counter(rank for (rank, number), place in kept.items() if place or not number)
    return (numbers[rank] for rank in sorted(numbers))


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
    kept: dict[tuple[int, int], int] = {}
    for rank, threads in enumerate(run.threads):
        kept[rank, 0] = place = threads[0].kept(end)
        # what the others did in a team that the first left is over by then
        left = threads[0].events[place - 1][0] if place else -1
        kept |= {(rank, k): one.kept(left) for k, one in enumerate(threads) if k}
    lines = [
        f"ranks {run.size} threads {' '.join(map(str, threads_of(kept)))}",
        f"communicator 1 members {' '.join(map(str, run.group))} kind group",
        *(_DECLARED if run.team_sizes else ()),
    ]
    calls: Counter[tuple[int, str]] = Counter()
    paths: dict[str, int] = {}  # numbers of lines, as they are met
    told = []
    for (rank, number), place in kept.items():
        if place or not number:
            told.append(f"{rank}.{number}")
        for now, event in run.threads[rank][number].events[:place]:
            if event.startswith("enter MPI_"):
                _, operation, _, line = event.split()
                calls[rank, operation] += 1
                path = paths.setdefault(line, len(paths))
                told.append(f"{now} enter {operation} path {path}")
            else:
                told.append(f"{now} {event}")
    lines += [f"path {path} main file a.c line {int(line) + 1}" for line, path in paths.items()]
    openmp = {
        name: sorted(
            (row for rank, thread, place, row in rows if place <= kept[rank, thread]),
            key=str,
        )
        for name, rows in run.openmp.items()
    }
    return Simulated(
        seed=seed,
        text="\n".join(lines + told),
        calls=calls,
        messages=sorted(
            message
            for message, sent, received in run.messages
            if sent <= kept[message[0], 0] and received <= kept[message[1], 0]
        ),
        collectives=Counter(
            f"MPI_{name}"
            for name, ends in run.collectives
            if all(place <= kept[rank, 0] for rank, place in ends.items())
        ),
        **openmp,
        is_cut=run.is_cut,
    )
