"""Sections 1.5, 3 and 4: what causes wait states, and the critical path.

All costs are fractions: they are conserved exactly. Comments that begin with "Oracle:" say
what the text leaves open and the reference decides.
"""

# ruff: noqa: N803, N806
# The names of one capital letter are those of the definitions.
from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction

from oracles import event_lists as el
from oracles.wait_states import SyncPoint

TYPES = "latesender", "latereceiver", "barrier", "n2n", "12n", "n21", "ompbarrier", "ompidle"
MESSAGES = "latesender", "latereceiver"
COLLECTIVES = "barrier", "n2n", "12n", "n21"


# --- 3.2 synchronisation intervals ----------------------------------------------------------


def previous(replay, point, peer):
    """The last sync point of the location before a point that involves the peer as well.

    The kinds mix: a Late Sender may begin the interval of an Allreduce. Init involves all.
    """
    for other in reversed(replay.points[point.location]):
        if other.position >= point.position:
            continue
        if point.kind == "openmp":
            if other.kind == "openmp":
                return other
        elif peer in other.peers:
            return other
    return None


def run_time(replay, location, start, end):
    """t(a, b): exclusive time by call path of the records from a position to before another.

    Oracle: a sync point at an ENTER or LEAVE lies before the time that this record ends.
    """
    total = defaultdict(int)
    for position, path, time in replay.program.times[location]:
        if start <= position < end:
            total[path] += time
    return total


def waits_between(replay, a, b):
    """W(a, b): the sync points with a wait strictly between two of a location.

    They are of all kinds, also a master's waits at the barriers of its team.
    """
    return [
        p
        for p in replay.points[b.location]
        if a.position < p.position < b.position and p.wait > 0
    ]


def without_waits(times, waits):
    """Run time less the waiting time at the same call path, never negative."""
    waiting = defaultdict(int)
    for p in waits:
        waiting[p.visit.path] += p.wait
    return {path: max(0, time - waiting[path]) for path, time in times.items()}


def pruned_map(replay, a, b):
    """T(a, b): run time without waiting and without the call of a, but for its completion."""
    times = run_time(replay, b.location, a.position, b.position)
    pruned = defaultdict(int, without_waits(times, waits_between(replay, a, b)))
    first = a.visit.path
    # The wait of a is no part of W, so that its call goes whole, after the waits of others.
    # With quirk 1 the completion part may be negative.
    pruned[first] = max(0, pruned[first] - a.total + a.compl)
    return {path: time for path, time in pruned.items() if time > 0}


# --- 3.3 delays -----------------------------------------------------------------------------


@dataclass(eq=False)
class Explanation:
    """A wait state with the delays D and the wait states W on the causing side."""

    state: SyncPoint
    since: SyncPoint  # a_k
    D: dict
    W: list[SyncPoint]

    @property
    def ds(self):
        """Sum of the delays."""
        return sum(self.D.values())

    @property
    def ws(self):
        """Sum of the wait states that explain the rest."""
        return sum(p.wait for p in self.W)

    @property
    def unclipped(self):
        """Waiting time per time of the causes."""
        return Fraction(self.state.wait, self.ds + self.ws)

    @property
    def gamma(self):
        """The same, clipped at 1 for messages."""
        is_message = self.state.type in MESSAGES
        return min(Fraction(1), self.unclipped) if is_message else self.unclipped


def explanations(replay):
    """All wait states that have a cause, without those that nothing explains."""
    explained = []
    for state in (p for on_location in replay.points for p in on_location):
        if state.type is None or state.wait <= 0:
            continue
        e = explain(replay, state)
        if e is not None and e.ds + e.ws > 0:
            explained.append(e)
    return explained


def explain(replay, state):
    """Compare what both sides did since they last synchronised."""
    cause = state.cause
    a_r = previous(replay, state, cause.location)
    a_k = previous(replay, cause, state.location)
    if a_r is None or a_k is None:
        return None
    ours = pruned_map(replay, a_r, state)
    theirs = pruned_map(replay, a_k, cause)
    excess = {path: time - ours.get(path, 0) for path, time in theirs.items()}
    D = {path: time for path, time in excess.items() if time > 0}
    return Explanation(state, a_k, D, waits_between(replay, a_k, cause))


# --- 3.4 costs ------------------------------------------------------------------------------


def add_delay_costs(replay, explained):
    """Add short-term costs, and long-term costs from the last wait state back to the first.

    The order by LEAVE is right where effects follow causes; skewed stamps need the order of
    the causes themselves (3.5).
    """
    G = defaultdict(lambda: defaultdict(Fraction))  # of a wait state, by type
    steps = [(e.state.visit.leave, 1, e) for e in explained]
    steps += [(phase.end, 0, phase) for phase in serial_phases(replay.program)]
    # At equal stamps the serial phases come first: they depend on nothing.
    for _, is_wait, step in sorted(steps, key=lambda s: (-s[0], s[1])):
        if is_wait:
            add_costs_of_wait(replay, step, G)
        else:
            add_costs_of_idling(replay, step, G)


def add_costs_of_wait(replay, e, G):
    """Add the costs of one wait state and pass on what its causing side waited itself."""
    type_, location = e.state.type, e.state.cause.location
    rate = {T: cost / (e.ds + e.ws) for T, cost in G[e.state].items()}
    for path, delay in e.D.items():
        replay.values[f"delay_{type_}"][location, path] += e.gamma * delay
        for T, per_time in rate.items():
            replay.values[f"delay_{T}_longterm"][location, path] += per_time * delay
    for i in e.W:
        if replay.like_scalasca and not passed_on(replay, e, i):
            continue
        G[i][type_] += e.gamma * i.wait
        for T, per_time in rate.items():
            G[i][T] += per_time * i.wait


def passed_on(replay, e, i):
    """Quirk 2: whether Scalasca 2.6 passes a collective's costs on to a wait state.

    Oracle: the members are all ranks of the communicator, waiting or not; a wait state that
    is itself the sync point e_j counts e_j as passed.
    """
    if e.state.type not in COLLECTIVES:
        return True
    if replay.program.ranks == 2 and e.since.kind == "message":
        return False
    cause = e.state.cause
    others = (master for master in replay.program.masters if master != cause.location)
    since = [previous(replay, cause, r) for r in others]
    starts = sorted({p.position for p in since if p})
    passed = [s for s in starts[1:] if s <= i.position]
    return e.since.position == starts[0] or (bool(passed) and e.since.position < passed[-1])


@dataclass
class SerialPhase:
    """Where only the first thread of a rank works: its events from one position to another."""

    location: int
    first: int
    last: int
    end: int
    workers: int


def serial_phases(program):
    """The phases outside of the teams of each rank with more than one thread."""
    phases = []
    for master in program.masters:
        teams = [t for t in program.teams if t.visits[0].location == master]
        if program.threads == 1 or not program.visits[master] or not program.teams:
            continue
        start, last = 0, program.visits[master][0]
        for team in teams:
            phases.append(
                SerialPhase(
                    master, start, team.fork_position + 1, team.forked, program.threads - 1
                )
            )
            start = team.join_position + 1
        phases.append(
            SerialPhase(master, start, program.ends[master], last.leave, program.threads - 1)
        )
    return phases


def add_costs_of_idling(replay, phase, G):
    """Add what the idle workers of a serial phase cost.

    Oracle: the wait at MPI_Finalize is taken off as well, and has no cause: nobody is blamed
    for workers that are idle meanwhile.
    """
    times = run_time(replay, phase.location, phase.first, phase.last)
    waits = [
        p
        for p in replay.points[phase.location]
        if phase.first <= p.position < phase.last and p.wait > 0
    ]
    for path, time in without_waits(times, waits).items():
        replay.values["delay_ompidle"][phase.location, path] += phase.workers * time
    for p in waits:
        G[p]["ompidle"] += phase.workers * p.wait


# --- 1.5 direct and indirect, propagating and terminal --------------------------------------


def add_propagation(replay, explained):
    """Add the indirect part of waits for messages, and the part that causes others.

    Oracle: the waits W that make a wait indirect are of all kinds; a wait for a message
    propagates into other waits for messages only.
    """
    propagated = defaultdict(Fraction)
    for e in explained:
        if e.state.type not in MESSAGES:
            continue
        replay.values[f"mpi_wait_indirect_{e.state.type}"][key(e.state)] += e.gamma * e.ws
        for i in e.W:
            if i.type in MESSAGES:
                propagated[i] = max(propagated[i], e.gamma * i.wait)
    for i, wait in propagated.items():
        short = {"latesender": "ls", "latereceiver": "lr"}[i.type]
        replay.values[f"mpi_wait_propagating_{short}"][key(i)] += wait


def key(point):
    """Location and call path of a sync point."""
    return point.location, point.visit.path


# --- 4 critical path ------------------------------------------------------------------------


def critical_path(replay):
    """Time on the critical path by (location, call path), walked backwards from the end.

    Each jump is to an earlier stamp where effects follow causes. Where a receiver leaves
    before its sender enters, the path goes on in its future: it is longer than the run.
    """
    credited, passed = defaultdict(int), set()
    location, end = last_finalize(replay.program)
    while True:
        stop = next(
            (
                p
                for p in reversed(replay.points[location])
                if p.position < end and is_stop(replay, p)
            ),
            None,
        )
        start = stop.position if stop else 0
        for path, time in run_time(replay, location, start, end).items():
            credited[location, path] += time
        if stop is None or stop.kind == "world":
            return {k: v for k, v in credited.items() if v}
        if stop in passed:
            raise ValueError("stamps break the clock condition: the critical path is a circle")
        passed.add(stop)
        credited[location, stop.visit.path] -= stop.wait
        if stop.wait > 0:
            location, end = stop.cause.location, stop.cause.position
        else:  # a worker's fork: go on with the thread that forked
            team = stop.visit.team
            location, end = team.visits[0].location, team.fork_position + 1


def is_stop(replay, point):
    """Whether the path leaves the location here: a wait, a worker's fork, or MPI_Init."""
    is_fork = point.kind == "openmp" and point.visit.team is not None
    is_init = point.kind == "world" and point.visit.region.name != "MPI_Finalize"
    is_worker = point.location % replay.program.threads != 0
    return point.wait > 0 or is_init or (is_fork and is_worker)


def last_finalize(program):
    """Where the path ends: location and position of the last ENTER of MPI_Finalize."""
    call = el.world_call(program, ("MPI_Finalize",))
    if call is not None:
        last = max(call.members, key=lambda m: m.begin)
        return last.visit.location, last.visit.first + 1
    last = max(
        program.masters, key=lambda m: max((v.leave for v in program.visits[m]), default=-1)
    )
    return last, program.ends[last]


def add_critical_path(replay, busy):
    """Add the critical path and the profile that compares every location with it."""
    program, values = replay.program, replay.values
    on_path = critical_path(replay)
    values["critical_path"].update(on_path)
    cp = defaultdict(int)
    for (_, path), time in on_path.items():
        cp[path] += time
    L = sum(cp.values())
    u = useful_time(replay)
    for place in u:
        path = place[1]
        if cp[path] > 0:
            values["critical_path_activities"][place] = min(cp[path], u[place])
        values["non_critical_path_activities"][place] = max(0, u[place] - cp[path])
    add_imbalance(replay, on_path, cp, busy)

    by_location = [
        {path: time for (where, path), time in u.items() if where == location}
        for location in program.locations
    ]
    excess = [{c: max(0, cp[c] - v.get(c, 0)) for c in cp} for v in by_location]
    absent = [{c: cp[c] if not v.get(c, 0) else 0 for c in cp} for v in by_location]
    short = [L - sum(v.values()) for v in by_location]
    outside = [L - sum(max(t, cp[c]) for c, t in v.items() if t > 0) for v in by_location]
    for metric, x, a in (
        ("critical_imbalance_impact", excess, short),
        ("inter_partition_imbalance", absent, outside),
    ):
        for place, value in impact(replay, on_path, cp, zip(x, a, strict=True)).items():
            values[metric][place] += value
    impacts, inters = (
        values[name] for name in ("critical_imbalance_impact", "inter_partition_imbalance")
    )
    if not replay.like_scalasca:  # no more between partitions than in all
        for place, value in inters.items():
            inters[place] = min(value, impacts.get(place, 0))
    for place, value in impacts.items():
        values["intra_partition_imbalance"][place] = value - inters.get(place, 0)


def useful_time(replay):
    """u: exclusive time without wait states by (location, call path).

    A worker counts up to its last synchronisation in each parallel region: the fork part
    counts, the closing barrier and its wait do not. Scalasca takes that wait off as well, of
    what other barriers of the same call path took: no case has two in a region.
    """
    program, points = replay.program, replay.points
    u = defaultdict(int)
    for location in program.locations:
        spans = [(0, program.ends[location])]
        if location % program.threads:
            spans = []
            for v in program.visits[location]:
                if v.team is not None:
                    inside = [
                        p.position
                        for p in points[location]
                        if p.kind == "openmp" and v.first <= p.position < v.last
                    ]
                    spans.append((v.first, max(inside)))
        for start, end in spans:
            for path, time in run_time(replay, location, start, end).items():
                u[location, path] += time
            for p in points[location]:
                if start <= p.position < end:
                    u[key(p)] -= p.wait
    return u


def impact(replay, on_path, cp, shares_and_lacks):
    """Spread what each location lacks (a) by its shares (x) over the critical path."""
    X = defaultdict(Fraction)
    for shares, lacks in shares_and_lacks:
        total = sum(shares.values())
        if not total and replay.like_scalasca:  # quirk 4: every value is lost
            return {}
        for path, share in shares.items():
            X[path] += Fraction(share * lacks, total or 1)
    return {
        (location, path): Fraction(time, cp[path]) * X[path]
        for (location, path), time in on_path.items()
        if X[path] > 0
    }


def add_imbalance(replay, on_path, cp, busy):
    """Add what the critical path spends in a call path above the mean of all locations."""
    length, mean = cp, defaultdict(Fraction)
    for (_, path), time in busy.items():
        mean[path] += Fraction(time, len(replay.program.locations))
    if replay.like_scalasca:
        # Oracle: the report compares each call path with all that is below it, and shows the
        # call path's own share. A leaf has the same number; a region such as `main` has not.
        length, mean = inclusive(length), inclusive(mean)
    for (location, path), time in on_path.items():
        above = length[path] - mean[path]
        if above > 0:
            replay.values["critical_path_imbalance"][location, path] = (
                Fraction(time, length[path]) * above
            )


def inclusive(times):
    """Sums over each call path and all below it."""
    total = defaultdict(Fraction)
    for path, time in times.items():
        for depth in range(1, len(path) + 1):
            total[path[:depth]] += time
    return total
