"""Sections 1.2 to 1.4 and 3.1: wait states, and the points at which locations synchronise.

Every rule is written as the text of the definitions has it, one wait state at a time.
Comments that begin with "Oracle:" say what the text leaves open and the reference decides;
"Scalasca:" what no case of the reference shows, but its analyser does.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import groupby

from oracles import event_lists as el

TEST = "MPI_Test", "MPI_Testany", "MPI_Testall", "MPI_Testsome"
WAIT_SINGLE = "MPI_Wait", "MPI_Waitany"
WAIT_MULTI = "MPI_Waitall", "MPI_Waitsome"
BLOCKING_SEND = "MPI_Send", "MPI_Ssend"

# OTF2's numbers of collective operations.
BARRIER = 0
ONE_TO_N = 1, 4, 5  # Bcast, Scatter, Scatterv
N_TO_1 = 2, 3, 12  # Gather, Gatherv, Reduce
N_TO_N = 6, 7, 8, 11, 13, 16  # Allgather(v), Alltoall, Allreduce, Reduce_scatter(_block)
SCAN = 14, 15  # Scan, Exscan

BUFFER = 100  # Late Senders of a location that are remembered for wrong order


@dataclass(eq=False)
class SyncPoint:
    """One side of a synchronisation: how long the call waited, lasted, and went on after it."""

    visit: el.Visit
    position: int
    kind: str  # message, collective, world or openmp
    total: int
    wait: int = 0
    compl: int = 0
    type: str | None = None  # the type of delay of its waiting time, if any
    peers: set[int] = field(default_factory=set)
    cause: SyncPoint | None = None

    @property
    def location(self):
        """Location of the synchronisation."""
        return self.visit.location


@dataclass
class Replay:
    """What is known of a program: severities, and the sync points of each location."""

    program: el.Program
    like_scalasca: bool
    values: dict[str, dict] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(int))
    )
    points: list[list[SyncPoint]] = field(default_factory=list)

    def add(self, metric, visit, value):
        """Add to a metric at the call path of a visit."""
        if metric and value:
            self.values[metric][visit.location, visit.path] += value

    def synchronise(self, *points):
        """Add sync points."""
        for point in points:
            self.points[point.location].append(point)


def wait_states(program, *, like_scalasca=False):
    """All measured wait states, and the sync points of each location in order."""
    replay = Replay(program, like_scalasca, points=[[] for _ in program.locations])
    add_point_to_point(replay)
    for collective in el.collectives(program):
        add_collective(replay, collective)
    add_init(replay)
    add_finalize(replay)
    add_openmp(replay)
    add_lock_contention(replay)
    for on_location in replay.points:
        on_location.sort(key=lambda p: p.position)
    return replay


# --- 1.2 point-to-point -------------------------------------------------------------------


def late_sender_wait(m):
    """How long the receiving call waited for the sending call to start."""
    return 0 if m.R.region.name in TEST else min(m.S.enter, m.R.leave) - m.R.enter


def late_receiver_wait(m):
    """How long the completion of a send waited for the receive to be posted."""
    return 0 if m.Sc.leave <= m.Rq.enter else m.Rq.enter - m.Sc.enter


def first_completed(m):
    """Order of the completions of receives."""
    return m.received.position


def last_sent_first(m):
    """Order of the sends, backwards."""
    return -m.sent.position


def counted(messages, visit_of, order, wait_of):
    """The messages whose wait counts: all with a wait, of a wait-multi call the largest only.

    Of equal waits the first in the order counts.
    """
    ordered = sorted(
        messages, key=lambda m: (visit_of(m).location, visit_of(m).first, order(m))
    )
    for visit, group in groupby(ordered, key=visit_of):
        waits = [m for m in group if wait_of(m) > 0]
        if waits and visit.region.name in WAIT_MULTI:
            waits = [max(waits, key=wait_of)]
        yield from waits


def add_point_to_point(replay):
    """Add Late Senders, wrong order and Late Receivers with both sides of their sync points."""
    messages = el.messages(replay.program)
    # Scalasca: of equal waits in a wait-multi call the first to complete counts as Late Sender
    # and the last to be sent as Late Receiver, for its analyser finds those backwards.
    # Oracle: a Late Sender that does not count makes no sync point, on neither side.
    late = list(counted(messages, lambda m: m.R, first_completed, late_sender_wait))
    for m in late:
        add_late_sender(replay, m)
    add_wrong_order(replay, messages, late)

    has_late_sender = {m.R for m in messages if late_sender_wait(m) > 0}
    eligible = [
        m
        for m in messages
        if m.Sc.region.name in BLOCKING_SEND + WAIT_SINGLE
        or (m.Sc.region.name in WAIT_MULTI and m.Sc not in has_late_sender)
    ]
    for m in counted(eligible, lambda m: m.Sc, last_sent_first, late_receiver_wait):
        add_late_receiver(replay, m)


def add_late_sender(replay, m):
    """Add a Late Sender that counts."""
    wait = late_sender_wait(m)
    replay.add("mpi_latesender", m.R, wait)
    replay.add(f"mpi_{size(m)}ls_count", m.R, 1)
    waiting = SyncPoint(m.R, m.received.position, "message", length(m.R), wait)
    waiting.type = "latesender"
    waiting.compl = max(0, m.R.leave - m.S.leave)
    causing = SyncPoint(m.S, m.sent.position, "message", length(m.S))
    causing.compl = max(0, m.S.leave - m.R.leave)
    replay.synchronise(*pair(waiting, causing))


def add_late_receiver(replay, m):
    """Add a Late Receiver that counts."""
    wait = late_receiver_wait(m)
    replay.add("mpi_latereceiver", m.Sc, wait)
    replay.add(f"mpi_{size(m)}lr_count", m.Sc, 1)
    waiting = SyncPoint(m.Sc, m.send_done.position, "message", length(m.Sc), wait)
    waiting.type = "latereceiver"
    waiting.compl = max(0, m.Sc.leave - m.Rq.leave)
    if replay.like_scalasca:  # quirk 1: the comparison is reversed
        waiting.compl = min(0, m.Sc.leave - m.Rq.leave)
    causing = SyncPoint(m.Rq, m.posted.position, "message", length(m.Rq))
    causing.compl = max(0, m.Rq.leave - m.Sc.leave)
    replay.synchronise(*pair(waiting, causing))


def add_wrong_order(replay, messages, late):
    """Add the Late Senders after which a message was received that had been sent before."""
    # Any receive triggers. Scalasca: a Late Sender enters the buffer before its own message
    # triggers, so that it may push out the oldest.
    steps = [(m.R.location, m.received.position, 1, m) for m in messages]
    steps += [
        (m.R.location, m.R.last if m.R.region.name in WAIT_MULTI else m.received.position, 0, m)
        for m in late
    ]
    for _, on_location in groupby(sorted(steps, key=lambda s: s[:3]), key=lambda s: s[0]):
        buffer = []
        for _, _, triggers, m in on_location:
            if not triggers:
                buffer = [*buffer, m][-BUFFER:]
                continue
            hit = [b for b in buffer if b.sent.stamp > m.sent.stamp]
            buffer = [b for b in buffer if b not in hit]
            for b in hit:
                # Quirk 3: the children of all are charged to the call and source of the first.
                judged = hit[0] if replay.like_scalasca else b
                same = judged.S.location == m.S.location
                wait = late_sender_wait(b)
                replay.add("mpi_latesender_wo", b.R, wait)
                replay.add(f"mpi_{size(b)}lswo_count", b.R, 1)
                replay.add("mpi_lswo_same" if same else "mpi_lswo_different", judged.R, wait)


def size(m):
    """Counts tell messages with a payload (c) from those without (s), as the sender has it."""
    return "c" if m.sent_bytes else "s"


def length(visit):
    """Duration of a call."""
    return visit.leave - visit.enter


def pair(waiting, causing):
    """Both halves of a sync point of a message, each the other's peer."""
    waiting.peers, causing.peers = {causing.location}, {waiting.location}
    waiting.cause = causing
    return waiting, causing


# --- 1.3 collectives ------------------------------------------------------------------------


def first_of_latest(members):
    """The member with the latest begin, of equal ones that of the lowest rank; None of none."""
    return max(members, key=lambda m: m.begin, default=None)


def add_collective(replay, collective):
    """Add the wait states of one collective operation by its class."""
    members, operation = collective.members, collective.operation
    if len(members) == 1:
        return
    if operation == BARRIER:
        add_barrier(replay, members)
    elif operation in N_TO_N:
        add_n_to_n(replay, members)
    elif operation in ONE_TO_N:
        add_one_to_n(replay, members, members[collective.root])
    elif operation in N_TO_1:
        add_n_to_one(replay, members, members[collective.root])
    elif operation in SCAN:
        add_scan(replay, members)


def add_barrier(replay, members):
    """All wait for the latest."""
    made = synchronised(replay, members, first_of_latest(members), "barrier")
    for m, point in made.items():
        replay.add("mpi_barrier_wait", m.visit, point.wait)
        replay.add("mpi_barrier_completion", m.visit, point.compl)


def add_n_to_n(replay, members):
    """All synchronise if all overlap; else those that wait for the latest who has data."""
    # Who has no payload stays out of the instance altogether. Such a rank among others that
    # have some occurs in no case (Scalasca's own replay would hang).
    members = [m for m in members if m.sent or m.received]
    if not members:
        return
    if min(m.end for m in members) > max(m.begin for m in members):
        sync, latest = members, first_of_latest(members)
    else:
        latest = first_of_latest([m for m in members if m.sent])
        if latest is None:
            return
        sync = [m for m in members if m is latest or (m.received and m.begin < latest.begin)]
    for m, point in synchronised(replay, sync, latest, "n2n").items():
        replay.add("mpi_wait_nxn", m.visit, point.wait)
        replay.add("mpi_nxn_completion", m.visit, point.compl)


def add_one_to_n(replay, members, root):
    """Receivers that are earlier than the root wait for it."""
    if not root.sent:
        return
    waiting = [m for m in members if m is not root and m.received and m.begin < root.begin]
    if waiting:
        # Oracle: the root's completion counts from the earliest end of those who waited, not
        # from its own end: what the root does after it belongs to its next interval.
        made = synchronised(replay, [*waiting, root], root, "12n", ended=waiting)
        for m in waiting:  # they synchronise with the root, not with each other
            made[m].peers = {root.visit.location}
            replay.add("mpi_latebroadcast", m.visit, made[m].wait)


def add_n_to_one(replay, members, root):
    """The root waits for the latest rank that sends."""
    latest = first_of_latest([m for m in members if m.sent])
    if root.received and latest and root.begin < latest.begin:
        # Scalasca: the completion of the two counts from the earlier of their ends.
        made = synchronised(replay, [root, latest], latest, "n21")
        replay.add("mpi_earlyreduce", root.visit, made[root].wait)


def add_scan(replay, members):
    """Each rank waits for the latest among itself and the lower ranks; no sync point."""
    for i, m in enumerate(members):
        latest = first_of_latest([n for n in members[: i + 1] if n.sent])
        if latest and (m.sent or m.received):
            replay.add("mpi_earlyscan", m.visit, max(0, min(latest.begin, m.end) - m.begin))


def synchronised(replay, sync, latest, delay, *, ended=None):
    """Sync points of members that wait for the latest of them, each with wait and completion.

    The completion is the time after the wait and after the earliest end, of all of them or
    of those that are named.
    """
    earliest_end = min(m.end for m in ended or sync)
    everybody = {m.visit.location for m in sync}
    made = {}
    for m in sync:
        until = min(latest.begin, m.end)
        point = SyncPoint(m.visit, m.position, "collective", length(m.visit))
        point.wait = max(0, until - m.begin)
        point.compl = max(0, m.end - max(earliest_end, until))
        point.type = delay
        point.peers = everybody - {m.visit.location}
        made[m] = point
    for point in made.values():
        point.cause = made[latest]
    replay.synchronise(*made.values())
    return made


def add_init(replay):
    """MPI_Init synchronises all ranks; its completion counts, its waiting does not."""
    call = el.world_call(replay.program, el.INITS)
    if call is None:
        add_virtual_start(replay)
        return
    made = synchronised(replay, call.members, first_of_latest(call.members), None)
    for m, point in made.items():
        point.kind, point.wait = "world", 0
        replay.add("mpi_init_completion", m.visit, point.compl)


def add_finalize(replay):
    """MPI_Finalize synchronises all ranks; its waiting counts, without costs of delay."""
    call = el.world_call(replay.program, ("MPI_Finalize",))
    if call is not None:
        made = synchronised(replay, call.members, first_of_latest(call.members), None)
        for m, point in made.items():
            point.kind = "world"
            replay.add("mpi_finalize_wait", m.visit, point.wait)


def add_virtual_start(replay):
    """Without MPI_Init all ranks synchronise at the latest first event."""
    program = replay.program
    first = [program.visits[master][0] for master in program.masters if program.visits[master]]
    latest = max((v.enter for v in first), default=0)
    everybody = {v.location for v in first}
    for v in first:
        # The piece of time that the latest first event cuts counts whole.
        later = [w.first for w in program.visits[v.location] if w.enter >= latest]
        point = SyncPoint(v, min(later, default=program.ends[v.location]), "world", 0)
        point.peers = everybody - {v.location}
        replay.synchronise(point)


# --- 1.4 OpenMP -----------------------------------------------------------------------------


def add_openmp(replay):
    """Add fork and join, and for each barrier of a team the wait for its last thread."""
    for team in replay.program.teams:
        add_fork_and_join(replay, team)
    for visits in el.barriers(replay.program):
        latest = max(visits, key=lambda v: v.enter)
        made = {v: SyncPoint(v, v.last, "openmp", length(v)) for v in visits}
        for v, point in made.items():
            point.wait = latest.enter - v.enter
            point.type = "ompbarrier"
            point.cause = made[latest]
            letter = "e" if v.region.role == el.BARRIER else "i"
            replay.add(f"omp_{letter}barrier_wait", v, point.wait)
        replay.synchronise(*made.values())


def add_fork_and_join(replay, team):
    """Add what each thread of a team is late at the fork, and early at the join."""
    earliest = min((v.enter for v in team.visits), default=0)
    for v in team.visits:
        fork, join = max(0, v.enter - team.forked), max(0, team.joined - v.leave)
        replay.add("omp_fork", v, fork)
        replay.add("omp_management", v, fork + join)
        # Oracle: the sync point lies before the piece of time that ENTER ends, so that the
        # fork part is in the map of the interval; its completion keeps what is later than the
        # first thread.
        point = SyncPoint(v, v.first, "openmp", fork)
        point.compl = v.enter - earliest
        replay.synchronise(point)


def add_lock_contention(replay):
    """Add the wait of each acquisition for the release of the one before it."""
    acquired, released = {}, {}
    for location in replay.program.locations:
        rank, order = location // replay.program.threads, {}
        for letters, moment in replay.program.moments[location]:
            if letters == "AL":
                lock, order[lock] = moment.values
                acquired[rank, lock, order[lock]] = moment
            elif letters == "RL":
                lock = moment.values[0]
                released[rank, lock, order[lock]] = moment.stamp
    for (rank, lock, order), moment in acquired.items():
        before = released.get((rank, lock, order - 1))
        if before is not None:
            critical = moment.visit.region.role in (el.CRITICAL, el.CRITICAL_SBLOCK)
            metric = f"omp_lock_contention_{'critical' if critical else 'api'}"
            replay.add(metric, moment.visit, max(0, before - moment.visit.enter))
