r"""Section 0 of the definitions: what happens in a program, read from its list of events.

A program is a dict with ``ranks``, ``threads``, ``regions`` (id, name, OTF2 role and
paradigm) and ``events``: lists of letters, location, stamp and what the letters need, in
order on each location. A location is ``rank * threads + thread``; MPI is called by the
first thread of a rank. The letters are

====== =============================================== ====== ==========================
E L    enter, leave: region                            AL RL  acquire, release: lock, order
S V    send, receive: peer, tag, bytes                 F J    fork: threads; join
IS IV  the same of a request: peer, tag, bytes, request TB TE  team begin, team end: team
IC IQ  a send is complete, a receive is posted: request B C    collective begin, end: *
====== =============================================== ====== ==========================

\* of the collective: OTF2's number of the operation, the root or -1, bytes sent and received.
Stamps are whole numbers of any unit; nothing here assumes that they are physical time.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field

# What OTF2 calls the roles and paradigms of regions.
PARALLEL, CRITICAL, CRITICAL_SBLOCK, ATOMIC = 5, 12, 13, 14
BARRIER, IMPLICIT_BARRIER, FLUSH, ORDERED, ORDERED_SBLOCK, TASKWAIT = 15, 16, 17, 18, 19, 22
ONE2ALL, ALL2ONE, ALL2ALL, OTHER_COLLECTIVE, FILE_IO, POINT2POINT, RMA = range(23, 30)
OPENMP, MPI = 3, 4

INITS = "MPI_Init", "MPI_Init_thread"


@dataclass(frozen=True)
class Region:
    """A region of the program, with OTF2's numbers for its role and its paradigm."""

    name: str
    role: int
    paradigm: int


@dataclass(eq=False)
class Visit:
    """An instance of a region: its call path, the stamps and positions of both events."""

    location: int
    region: Region
    path: tuple[Region, ...]
    enter: int
    first: int
    leave: int = -1
    last: int = -1
    team: Team | None = None


@dataclass(eq=False)
class Moment:
    """An event other than enter and leave: its position and stamp and the visit it lies in."""

    visit: Visit
    position: int
    stamp: int
    values: tuple = ()

    @property
    def location(self):
        """Location of the event."""
        return self.visit.location


@dataclass(eq=False)
class Message:
    """The four events of a message; those of a blocking call are the same event."""

    sent: Moment  # s, in S
    send_done: Moment  # the completion of the send request, in Sc
    posted: Moment | None = None  # the request of the receive, in Rq
    received: Moment | None = None  # r, in R

    S = property(lambda self: self.sent.visit)
    Sc = property(lambda self: self.send_done.visit)
    Rq = property(lambda self: self.posted.visit)
    R = property(lambda self: self.received.visit)
    sent_bytes = property(lambda self: self.sent.values[2])


@dataclass(eq=False)
class Member:
    """What one rank does in a collective: b, d, bytes sent and received, and the end event."""

    visit: Visit
    begin: int
    end: int
    position: int
    sent: int = 0
    received: int = 0


@dataclass(eq=False)
class Collective:
    """A collective operation over all ranks; the members are in order of the communicator."""

    operation: int
    root: int
    members: list[Member]


@dataclass(eq=False)
class Team:
    """A parallel region of one rank: fork, join and the visit of each thread."""

    forked: int
    fork_position: int
    threads: int
    path: tuple[Region, ...]
    joined: int = -1
    join_position: int = -1
    visits: list[Visit] = field(default_factory=list)


@dataclass
class Program:
    """All that happens, by location."""

    ranks: int
    threads: int
    visits: list[list[Visit]]
    times: list[list[tuple[int, tuple, int]]]  # position, call path, exclusive time
    moments: list[list[tuple[str, Moment]]]
    teams: list[Team]
    ends: list[int]  # the number of events of each location

    @property
    def locations(self):
        """All locations."""
        return range(self.ranks * self.threads)

    @property
    def masters(self):
        """The location of each rank that calls MPI."""
        return range(0, self.ranks * self.threads, self.threads)


def read(case):
    """Read a program from a list of events.

    The exclusive time of a call path comes in pieces. Each piece has the position of the
    record that ends it, so that the time between two events is a sum over positions (3.2).
    """
    regions = {
        row["id"]: Region(row["name"], row["otf2_role"], row["otf2_paradigm"])
        for row in case["regions"]
    }
    locations = range(case["ranks"] * case["threads"])
    events = [[e for e in case["events"] if e[1] == location] for location in locations]
    program = Program(
        case["ranks"],
        case["threads"],
        *([[] for _ in locations] for _ in range(3)),
        teams=[],
        ends=[len(rows) for rows in events],
    )
    for master in program.masters:
        teams = []  # the first thread makes them, the others join them
        for thread in range(case["threads"]):
            _Reading(program, master, thread, regions, teams).read(events[master + thread])
        program.teams += teams
    return program


class _Reading:
    """The reading of one location: its stack of regions and the stamp of the last record."""

    def __init__(self, program, master, thread, regions, teams):
        self.program, self.location, self.is_master = program, master + thread, thread == 0
        self.regions, self.teams, self.stack, self.since = regions, teams, [], 0
        # The thread's teams in order of the forks: smaller ones do without it.
        self.joins = deque(team for team in teams if thread < team.threads)

    def read(self, events):
        """Read all events of the location."""
        actions = {"E": self.enter, "L": self.leave, "F": self.fork, "J": self.join}
        for position, (letters, _, stamp, *values) in enumerate(events):
            if letters in actions:
                actions[letters](position, stamp, *values)
                self.since = stamp
            elif letters not in ("TB", "TE"):
                moment = Moment(self.stack[-1], position, stamp, tuple(values))
                self.program.moments[self.location].append((letters, moment))

    def add_time(self, position, stamp):
        """End a piece of time of the innermost region."""
        if self.stack:
            piece = position, self.stack[-1].path, stamp - self.since
            self.program.times[self.location].append(piece)

    def enter(self, position, stamp, number):
        """Open a region; the first of a thread in a team hangs below the path of the fork."""
        region, team = self.regions[number], None
        path = self.stack[-1].path if self.stack else ()
        if region.role == PARALLEL and self.joins:
            team = self.joins.popleft()
            path = team.path
            fork = position, (*path, region), max(0, stamp - team.forked)
            self.program.times[self.location].append(fork)
        else:
            self.add_time(position, stamp)
        visit = Visit(self.location, region, (*path, region), stamp, position, team=team)
        if team:
            team.visits.append(visit)
        self.stack.append(visit)
        self.program.visits[self.location].append(visit)

    def leave(self, position, stamp, _):
        """Close a region; a worker's parallel region lasts until the join."""
        self.add_time(position, stamp)
        visit = self.stack.pop()
        visit.leave, visit.last = stamp, position
        if visit.team and not self.is_master:
            rest = position, visit.path, max(0, visit.team.joined - stamp)
            self.program.times[self.location].append(rest)

    def fork(self, position, stamp, threads):
        """End the piece of the calling region: it lies before the sync point of the fork."""
        self.add_time(position, stamp)
        path = self.stack[-1].path if self.stack else ()
        self.teams.append(Team(stamp, position, threads, path))
        self.joins.append(self.teams[-1])

    def join(self, position, stamp):
        """End the piece between the parallel region and the join: it is that region's."""
        team = self.teams[-1]
        team.joined, team.join_position = stamp, position
        piece = position, team.visits[0].path, max(0, stamp - self.since)
        self.program.times[self.location].append(piece)


def messages(program):
    """Match the messages: sends in order, receives in order of the posting (2.2)."""
    sends, receives = defaultdict(list), defaultdict(list)
    for master in program.masters:
        rank, requests = master // program.threads, {}
        for letters, moment in program.moments[master]:
            values = moment.values
            if letters in ("S", "IS"):
                message = Message(moment, moment)  # an unfinished Isend ends in itself
                sends[rank, values[0], values[1]].append(message)
                if letters == "IS":
                    requests[values[3]] = message
            elif letters == "IC":
                requests.pop(values[0]).send_done = moment
            elif letters == "IQ":
                requests[values[0]] = moment
            elif letters in ("V", "IV"):
                posted = moment if letters == "V" else requests.pop(values[3])
                receives[values[0], rank, values[1]].append((posted, moment))
    matched = []
    for key, halves in receives.items():
        halves.sort(key=lambda half: half[0].position)
        for message, half in zip(sends[key], halves, strict=False):
            message.posted, message.received = half
            matched.append(message)
    return matched


def collectives(program):
    """The k-th collective of all ranks is one operation."""
    per_rank = []
    for master in program.masters:
        begin, rows = None, []
        for letters, moment in program.moments[master]:
            if letters == "B":
                begin = moment.stamp
            elif letters == "C":
                *what, sent, received = moment.values
                visit, position = moment.visit, moment.position
                rows.append(
                    (what, Member(visit, begin, moment.stamp, position, sent, received))
                )
        per_rank.append(rows)
    return [
        Collective(*rows[0][0], [member for _, member in rows])
        for rows in zip(*per_rank, strict=False)
    ]


def world_call(program, names):
    """The calls of one name on every rank as a collective from ENTER to LEAVE, or None."""
    members = [
        Member(v, v.enter, v.leave, v.last)
        for master in program.masters
        for v in program.visits[master]
        if v.region.name in names
    ]
    return Collective(-1, -1, members) if len(members) == program.ranks else None


def barriers(program):
    """The barriers of all teams: for each ordinal in a team the visits of its threads."""
    instances = []
    for team in program.teams:
        by_thread = [
            [
                v
                for v in program.visits[parallel.location]
                if v.region.paradigm == OPENMP
                and v.region.role in (BARRIER, IMPLICIT_BARRIER)
                and parallel.first < v.first < parallel.last
            ]
            for parallel in team.visits
        ]
        instances += map(list, zip(*by_thread, strict=False))
    return instances
