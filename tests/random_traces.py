"""Traces at random: small ones with a bit of everything, as text or parsed."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from burstline.formats.text import parse


def traces(*, most_ranks=3, most_steps=12):
    """Small traces with a bit of everything.

    Messages of every kind, some of which lack a half; collectives on the world and on a
    group, some without a member; nested regions, OpenMP teams, locks, counters, gaps.
    Nobody receives before the other has sent, and time never runs backwards.
    """
    return texts(most_ranks=most_ranks, most_steps=most_steps).map(parse)


@st.composite
def texts(draw, *, most_ranks=3, most_steps=12):
    """The same traces in the text form."""
    story = _Story(draw, draw(st.integers(1, most_ranks)), draw(st.integers(1, 2)))
    for step in draw(st.lists(st.sampled_from(_STEPS), max_size=most_steps)):
        step(story)
    return story.end()


@dataclass(slots=True)
class _Where:
    """One location: its lines, its clock, the regions it is in, and its open requests."""

    now_ns: int = 0
    depth: int = 0
    lines: list[str] = field(default_factory=list)


class _Story:
    """A random run of a parallel program, told step by step."""

    def __init__(self, draw, ranks, threads):
        self.draw, self.ranks, self.threads = draw, ranks, threads
        self.at = {(r, t): _Where() for r in range(ranks) for t in range(threads)}
        self.requests = 0
        for where in self.at.values():
            where.now_ns = self.number(0, 3)

    def number(self, lowest, highest):
        return int(self.draw(st.integers(lowest, highest)))

    def one_of(self, *values):
        return str(self.draw(st.sampled_from(values)))

    def request(self):
        self.requests += 1
        return f" request {self.requests}"

    def say(self, rank, *events, thread=0, not_before=0):
        """Let things happen one after the other; give the time of the last."""
        where = self.at[rank, thread]
        where.now_ns = max(where.now_ns, not_before)
        for event in events:
            where.now_ns += self.number(0, 4)
            read = self.number(0, 3)
            counters = (f" ins={where.now_ns}" * (read > 1)) + (" cyc=7" * (read == 3))
            where.lines.append(f"{where.now_ns} {event}{counters}")
        return where.now_ns

    def message(self):
        source, destination = self.number(0, self.ranks - 1), self.number(0, self.ranks - 1)
        what = f"tag {self.number(0, 1)} bytes {self.number(0, 9)}"
        send, comm = f"send to {destination} {what}", " comm 1" * self.number(0, 1)
        sent_ns = self._send(source, send + comm, self.number(0, 3))
        if self.number(0, 7):
            receive = f"receive from {source} {what}{comm}"
            self._receive(destination, receive, self.number(0, 1), sent_ns)

    def _send(self, rank, send, how):
        if how == 0:
            return self.say(rank, "enter MPI_Send", send, "leave")
        request = self.request()
        sent_ns = self.say(rank, "enter MPI_Isend", send + request, "leave")
        if how == 1:
            self.say(rank, "enter MPI_Wait", f"sent{request}", "leave")
        elif how == 2:
            self.say(rank, f"enter MPI_Test path {self.number(0, 1)}", "leave")
        return sent_ns

    def _receive(self, rank, receive, how, sent_ns):
        if how == 0:
            self.say(rank, "enter MPI_Recv")
            self.say(rank, receive, "leave", not_before=sent_ns)
            return
        request = self.request()
        self.say(rank, "enter MPI_Irecv", f"post{request}", "leave", "enter MPI_Waitall")
        self.say(rank, receive + request, "leave", not_before=sent_ns)

    def lone_receive(self):
        self.say(self.number(0, self.ranks - 1), "enter MPI_Recv", "receive from 0", "leave")

    def collective(self):
        operation = self.one_of("Barrier", "Bcast", "Allreduce", "Ibarrier")
        on_group = self.number(0, 1)
        members = [rank for rank in range(self.ranks) if not on_group or rank != 1]
        if self.number(0, 5) == 0:
            members = members[1:]
        comm = " comm 1" * on_group + " root 0" * (operation == "Bcast")
        end = f"end sent {self.number(0, 8)} received {self.number(0, 8)}{comm}"
        begun_ns = []
        request = self.request() if operation == "Ibarrier" else ""
        for rank in members:
            begun_ns.append(self.say(rank, f"enter MPI_{operation}", f"begin{request}"))
            if request:
                self.say(rank, "leave", "enter MPI_Wait")
        for rank in members:
            self.say(rank, end + request, "leave", not_before=max(begun_ns))

    def enter(self):
        rank = self.number(0, self.ranks - 1)
        name = self.one_of("main", '"a | b#\\"\\u001b"', "solve path 1", "solve iterations 3")
        self.say(rank, f"enter {name}")
        self.at[rank, 0].depth += 1

    def leave(self):
        rank = self.number(0, self.ranks - 1)
        if self.at[rank, 0].depth:
            self.say(rank, "leave")
            self.at[rank, 0].depth -= 1

    def team(self):
        rank = self.number(0, self.ranks - 1)
        forked_ns = self.say(rank, f"fork {self.threads}")
        loop = 'enter "!$omp for"', "leave", "enter barrier", "leave"
        events = f"team begin {rank}", *loop, f"team end {rank}"
        ends_ns = [
            self.say(rank, *events, thread=thread, not_before=forked_ns)
            for thread in range(self.threads)
        ]
        self.say(rank, "join", not_before=max(ends_ns))

    def lock(self):
        rank, thread = self.number(0, self.ranks - 1), self.number(0, self.threads - 1)
        self.say(rank, "acquire 5", thread=thread)
        if self.number(0, 3):
            self.say(rank, "release 5", thread=thread)

    def call(self):
        options = self.one_of("", " peer 7 sent 3", " received 0 comm 0", " path 0", " root 2")
        name = self.one_of("Comm_rank", "Finalize", "Only_here")
        self.say(self.number(0, self.ranks - 1), f"enter MPI_{name}{options}", "leave")

    def gap(self):
        rank = self.number(0, self.ranks - 1)
        where = self.at[rank, 0]
        start_ns = where.now_ns
        where.now_ns += self.number(0, 9)
        where.lines.append(f"{start_ns}..{where.now_ns} gap {self.one_of('flush', 'cut')}")

    def reading(self):
        rank, thread = self.number(0, self.ranks - 1), self.number(0, self.threads - 1)
        self.say(rank, "read cyc=1", thread=thread)
        self.at[rank, thread].lines.append("skip 2")

    def tell(self):
        rank, thread = self.number(0, self.ranks - 1), self.number(0, self.threads - 1)
        told = self.one_of(
            "program_begin name a.out text '-n 4'",
            "program_end value 3",
            "communicator_created comm 0",
            "thread_begun value 2",
            "parameter name size type uint64 value -1",
            "parameter name solver type string text multigrid",
            "attribute name id type int32 value 7",
        )
        where = self.at[rank, thread]
        where.lines.append(f"{where.now_ns} tell {told}".replace("'", '"'))
        where.lines.append(f"{where.now_ns} read cyc=1")

    def end(self):
        group = " ".join(str(rank) for rank in reversed(range(self.ranks)) if rank != 1)
        lines = [f"ranks {self.ranks} threads {self.threads}", _DECLARED]
        lines.append(f"communicator 1 members {group}")
        for (rank, thread), where in self.at.items():
            for _ in range(where.depth):
                self.say(rank, "leave", thread=thread)
            lines += [f"{rank}.{thread}", *where.lines]
        return "\n".join(lines)


_DECLARED = """\
counter ins
counter cyc unit cycles type 42000059
path 0 main file main.c line 3
path 1 solve under 0
region barrier paradigm openmp role barrier
location 0 node "a node" cpu 1"""
_STEPS = (
    _Story.message, _Story.message, _Story.message, _Story.lone_receive, _Story.collective,
    _Story.collective, _Story.enter, _Story.leave, _Story.team, _Story.lock, _Story.call,
    _Story.gap, _Story.reading, _Story.tell,
)  # fmt: skip
