"""Random hybrid programs (MPI and OpenMP) as event lists in which no effect precedes its cause.

The lists have the form of :mod:`oracles.event_lists`. All ranks run one plan of steps, each on
its own clock: whoever depends on another leaves a call after it, as real programs do.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from oracles import event_lists as el

ROLES = {
    "MPI_Send": (el.POINT2POINT, el.MPI), "MPI_Ssend": (el.POINT2POINT, el.MPI),
    "MPI_Recv": (el.POINT2POINT, el.MPI), "MPI_Isend": (el.POINT2POINT, el.MPI),
    "MPI_Irecv": (el.POINT2POINT, el.MPI), "MPI_Barrier": (el.BARRIER, el.MPI),
    "MPI_Bcast": (el.ONE2ALL, el.MPI), "MPI_Allreduce": (el.ALL2ALL, el.MPI),
    "MPI_Reduce": (el.ALL2ONE, el.MPI), "MPI_Scan": (el.OTHER_COLLECTIVE, el.MPI),
    "!$omp parallel": (el.PARALLEL, el.OPENMP), "!$omp for": (3, el.OPENMP),
    "!$omp barrier": (el.BARRIER, el.OPENMP),
    "!$omp implicit barrier": (el.IMPLICIT_BARRIER, el.OPENMP),
    "!$omp critical": (el.CRITICAL, el.OPENMP),
}  # fmt: skip
COLLECTIVES = {
    "MPI_Barrier": 0, "MPI_Bcast": 1, "MPI_Allreduce": 11, "MPI_Reduce": 12, "MPI_Scan": 14,
}  # fmt: skip


@st.composite
def hybrid_programs(draw, *, most_ranks=4, most_threads=3, most_steps=14):
    """Event lists of programs from MPI_Init to MPI_Finalize."""
    story = _Story(draw, draw(st.integers(1, most_ranks)), draw(st.integers(1, most_threads)))
    for step in draw(st.lists(st.sampled_from(_STEPS), max_size=most_steps)):
        step(story)
    return story.end()


@dataclass
class _Lane:
    """One location: its clock, and its events so far."""

    location: int
    now: int = 0
    events: list = field(default_factory=list)
    open_requests: list = field(default_factory=list)  # (letters, values, may end at)


class _Story:
    """A run of a program, step by step."""

    def __init__(self, draw, ranks, threads):
        self.draw, self.ranks, self.threads = draw, ranks, threads
        self.lanes = [_Lane(location) for location in range(ranks * threads)]
        self.regions, self.requests = [], 0
        self.acquired, self.free = [0] * ranks, [0] * ranks  # of the lock of each rank
        for rank in range(ranks):
            lane = self.master(rank)
            lane.now = self.number(0, 5)
            self.say(lane, "E", self.region("main"))
        self.together("MPI_Init")

    def number(self, lowest, highest):
        return self.draw(st.integers(lowest, highest))

    def rank(self):
        return self.number(0, self.ranks - 1)

    def master(self, rank):
        return self.lanes[rank * self.threads]

    def region(self, name):
        if name not in self.regions:
            self.regions.append(name)
        return self.regions.index(name)

    def say(self, lane, letters, *values):
        """Record an event now."""
        lane.events.append([letters, lane.location, lane.now, *values])

    def call(self, lane, name, *events, until=0, length=None):
        """Enter a region, stay at least until a time, record events and leave."""
        self.say(lane, "E", self.region(name))
        lane.now = max(lane.now, until) + (self.number(1, 5) if length is None else length)
        for letters, *values in events:
            self.say(lane, letters, *values)
        lane.now += self.number(0, 1)
        self.say(lane, "L", self.region(name))
        lane.now += self.number(0, 1)

    @staticmethod
    def sent(lane):
        """When a lane sent what it sent in its last call: the event before the leave."""
        return lane.events[-2][2]

    # --- steps ------------------------------------------------------------------------------

    def work(self):
        """Each rank computes for a time of its own."""
        for rank in range(self.ranks):
            name = self.draw(st.sampled_from("ABC"))
            self.call(self.master(rank), name, length=self.number(0, 30))

    def message(self):
        """A blocking message; a synchronous send waits for its receive."""
        source, target, tag, size = (
            self.rank(),
            self.rank(),
            self.number(0, 1),
            self.number(0, 2),
        )
        if source == target:
            return
        sender, receiver = self.master(source), self.master(target)
        posted = receiver.now
        if self.number(0, 1):
            self.call(sender, "MPI_Ssend", ("S", target, tag, size), until=posted)
        else:
            self.call(sender, "MPI_Send", ("S", target, tag, size))
        self.call(receiver, "MPI_Recv", ("V", source, tag, size), until=self.sent(sender))

    def request(self):
        """A message with requests, which end in a later call."""
        source, target, tag, size = (
            self.rank(),
            self.rank(),
            self.number(2, 3),
            self.number(0, 2),
        )
        if source == target:
            return
        sender, receiver = self.master(source), self.master(target)
        self.requests += 2
        sent, posted = self.requests - 1, self.requests
        ready = receiver.now
        self.call(sender, "MPI_Isend", ("IS", target, tag, size, sent))
        self.call(receiver, "MPI_Irecv", ("IQ", posted))
        ends = ready if self.number(0, 1) else 0  # with or without a rendezvous
        sender.open_requests.append((("IC", sent), ends))
        receiver.open_requests.append((("IV", source, tag, size, posted), self.sent(sender)))

    def wait(self):
        """A rank ends all its requests, one by one or together."""
        self.complete(self.rank())

    def complete(self, rank):
        lane = self.master(rank)
        requests, lane.open_requests = lane.open_requests, []
        if requests and self.number(0, 1):
            until = max(ends for _, ends in requests)
            self.call(lane, "MPI_Waitall", *[event for event, _ in requests], until=until)
            return
        for event, ends in requests:
            self.call(lane, "MPI_Wait", event, until=ends)

    def collective(self):
        """A collective operation over all ranks; each leaves after those it needs."""
        name = self.draw(st.sampled_from(sorted(COLLECTIVES)))
        root = -1 if name in ("MPI_Barrier", "MPI_Allreduce", "MPI_Scan") else self.rank()
        size = 0 if name == "MPI_Barrier" else self.number(0, 2)
        begins = [self.master(rank).now for rank in range(self.ranks)]
        for rank in range(self.ranks):
            needed = {
                "MPI_Bcast": [begins[root]],
                "MPI_Reduce": begins if rank == root else [0],
                "MPI_Scan": begins[: rank + 1],
            }.get(name, begins)
            sent = size if name != "MPI_Bcast" or rank == root else 0
            received = size if name != "MPI_Reduce" or rank == root else 0
            lane = self.master(rank)
            self.say(lane, "E", self.region(name))
            self.say(lane, "B")
            lane.now = max(lane.now, *needed) + self.number(1, 5)
            self.say(lane, "C", COLLECTIVES[name], root, sent, received)
            self.say(lane, "L", self.region(name))

    def together(self, name):
        """A call that all ranks leave after the last has entered it."""
        latest = max(self.master(rank).now for rank in range(self.ranks))
        for rank in range(self.ranks):
            self.call(self.master(rank), name, until=latest)

    def team(self):
        """A parallel region of one rank, with barriers and critical sections."""
        rank, kinds = self.rank(), self.draw(st.lists(st.sampled_from("fbc"), max_size=3))
        first = rank * self.threads
        lanes = self.lanes[first : first + self.threads]
        self.say(lanes[0], "F", self.threads)
        forked = lanes[0].now
        for lane in lanes:
            lane.now = forked + self.number(0, 3)
            self.say(lane, "TB", rank)
            self.say(lane, "E", self.region("!$omp parallel"))
        for kind in kinds:
            for lane in lanes:
                self.call(lane, "!$omp for", length=self.number(0, 20))
            if kind == "b":
                self.barrier(lanes, "!$omp barrier")
            elif kind == "c":
                self.critical(lanes)
        self.barrier(lanes, "!$omp implicit barrier")
        for lane in lanes:
            self.say(lane, "L", self.region("!$omp parallel"))
            self.say(lane, "TE", rank)
        lanes[0].now = max(lane.now for lane in lanes) + self.number(0, 2)
        self.say(lanes[0], "J")

    def barrier(self, lanes, name):
        latest = max(lane.now for lane in lanes)
        for lane in lanes:
            self.call(lane, name, until=latest, length=self.number(0, 2))

    def critical(self, lanes):
        """Threads take a lock in the order in which they come."""
        rank = lanes[0].location // self.threads
        for lane in sorted(lanes, key=lambda lane: lane.now):
            self.acquired[rank] += 1
            self.say(lane, "E", self.region("!$omp critical"))
            lane.now = max(lane.now, self.free[rank])
            self.say(lane, "AL", 0, self.acquired[rank])
            lane.now += self.number(1, 4)
            self.say(lane, "RL", 0, self.acquired[rank])
            self.free[rank] = lane.now
            self.say(lane, "L", self.region("!$omp critical"))

    def end(self):
        """Complete what is open, finalize, and return the event list."""
        for rank in range(self.ranks):
            self.complete(rank)
        self.together("MPI_Finalize")
        for rank in range(self.ranks):
            self.say(self.master(rank), "L", self.region("main"))
        names = enumerate(self.regions)
        roles = [(k, name, *ROLES.get(name, (1, el.MPI))) for k, name in names]
        regions = [
            {
                "id": k,
                "name": name,
                "otf2_role": role,
                "otf2_paradigm": paradigm if name[:3] in ("MPI", "!$o") else 2,
            }
            for k, name, role, paradigm in roles
        ]
        return {
            "ranks": self.ranks,
            "threads": self.threads,
            "regions": regions,
            "events": [event for lane in self.lanes for event in lane.events],
        }


_STEPS = (
    _Story.work, _Story.message, _Story.request, _Story.wait, _Story.collective, _Story.team,
)  # fmt: skip
