"""Sections 5.1 and 5.2: cause and effect in an event list, and the replay, slow and obvious.

``causes(case)`` says of each event that receives which events it follows, by location and
position in the list; ``stamps`` is Algorithm 1 on that. ``replayed`` is the replay of rows
with its circles, one row at a time.
"""

from __future__ import annotations

from collections import defaultdict

from oracles import event_lists as el

BARRIER, ONE_TO_N, N_TO_ONE, SCAN, EXSCAN = 0, (1, 4), (2, 12), 14, 15


def causes(case, *, certain_only=False):
    """The events that each receiving event follows: {(location, position): [the same]}.

    Certain is what the standard of MPI says: not who nothing is sent to, not Init and Finalize.
    """
    program = el.read(case)
    followed = defaultdict(list)
    for message in el.messages(program):
        followed[place(message.received)].append(place(message.sent))
    collective_causes(program, followed, certain_only=certain_only)
    for message in el.messages(program) if certain_only else ():
        if message.S.region.name == "MPI_Ssend":
            followed[message.S.location, message.S.last].append(
                (message.Rq.location, message.Rq.first)
            )
    for names in () if certain_only else (el.INITS, ("MPI_Finalize",)):
        call = el.world_call(program, names)
        visits = [member.visit for member in call.members] if call else []
        for each in visits:
            followed[each.location, each.last] += [(v.location, v.first) for v in visits]
    for barrier in el.barriers(program):
        for each in barrier:
            followed[each.location, each.last] += [(v.location, v.first) for v in barrier]
    team_causes(case, followed)
    lock_causes(program, followed)
    return followed


def place(moment):
    """Where an event is."""
    return moment.location, moment.position


def collective_causes(program, followed, *, certain_only):
    """By class of operation: who needs whose begin."""
    per_rank = []
    for master in program.masters:
        moments = program.moments[master]
        begins = [place(moment) for letters, moment in moments if letters == "B"]
        ends = [moment for letters, moment in moments if letters == "C"]
        per_rank.append(list(zip(begins, ends, strict=True)))
    for instance in zip(*per_rank, strict=True):
        begins = [begin for begin, _ in instance]
        operation, root, *_ = instance[0][1].values
        by_payload = certain_only and operation not in (BARRIER, SCAN, EXSCAN)
        sends = [b for b, end in instance if end.values[2] or not by_payload]
        for rank, (_, end) in enumerate(instance):
            if by_payload and not end.values[3]:
                continue
            needed = sends
            if operation in ONE_TO_N:
                needed = (
                    [begin for begin in sends if begin == begins[root]] if rank != root else []
                )
            elif operation in N_TO_ONE:
                needed = sends if rank == root else []
            elif operation == SCAN:
                needed = begins[: rank + 1]
            elif operation == EXSCAN:
                needed = begins[:rank]
            followed[place(end)] += needed


def team_causes(case, followed):
    """A thread begins after the fork, and the join comes after all threads have ended."""
    by_location = defaultdict(list)
    for letters, location, *_ in case["events"]:
        by_location[location].append(letters)
    for rank in range(case["ranks"]):
        first = rank * case["threads"]
        marks = [
            [k for k, letters in enumerate(by_location[first]) if letters == wanted]
            for wanted in ("F", "J")
        ]
        for location in range(first, first + case["threads"]):
            own = by_location[location]
            begins = [k for k, letters in enumerate(own) if letters == "TB"]
            ends = [k for k, letters in enumerate(own) if letters == "TE"]
            for fork, join, begin, end in zip(*marks, begins, ends, strict=True):
                followed[location, begin].append((first, fork))
                followed[first, join].append((location, end))


def lock_causes(program, followed):
    """A lock is acquired after its release before."""
    released, acquired = {}, {}
    for location in program.locations:
        for letters, moment in program.moments[location]:
            if letters in ("AL", "RL"):
                key = location // program.threads, *moment.values
                (acquired if letters == "AL" else released)[key] = place(moment)
    for (rank, lock, order), event in acquired.items():
        if (rank, lock, order - 1) in released:
            followed[event].append(released[rank, lock, order - 1])


def stamps(case, step, latency=1, *, certain_only=False):
    """Algorithm 1: count on, then be later than what was received, then stamp."""
    followed = causes(case, certain_only=certain_only)
    counts = defaultdict(int)
    for event in case["events"]:
        counts[event[1]] += 1
    clock, stamped = dict.fromkeys(counts, 0), {}
    done = dict.fromkeys(counts, 0)
    while True:
        runnable = [
            location
            for location, position in done.items()
            if position < counts[location]
            and all(cause in stamped for cause in followed[location, position])
        ]
        if not runnable:
            return stamped
        for location in runnable:
            event = location, done[location]
            received = [stamped[cause] + latency for cause in followed[event]]
            clock[location] = max(clock[location] + step(*event), *received, 0)
            stamped[event] = clock[location]
            done[location] += 1


def replayed(lanes, before, latency):
    """Stamps of rows, and the circles that were broken.

    Lanes are lists of (step, gives, takes) by location; -1 gives or takes nothing. Sources
    go on from the one before. Who waits in a circle goes on without its source.
    """
    givers = defaultdict(list)
    for location, lane in enumerate(lanes):
        for position, (_, gives, _) in enumerate(lane):
            givers[gives].append((location, position))
    state = _Rows(lanes, before, givers, latency)
    circles = []
    while True:
        while any(state.step(location) for location in range(len(lanes))):
            pass
        waiting = {
            k: state.missing(k) for k, lane in enumerate(lanes) if state.done[k] < len(lane)
        }
        if not waiting:
            return state.stamped, circles
        for location in waiting:
            circle = [location]
            while waiting[circle[-1]] not in circle:
                circle.append(waiting[circle[-1]])
            if waiting[circle[-1]] == location == min(circle):
                circles.append([(each, state.done[each]) for each in circle])
        state.absent.update(event for circle in circles for event in circle)


class _Rows:
    """How far a replay is."""

    def __init__(self, lanes, before, givers, latency):
        self.lanes, self.before, self.givers, self.latency = lanes, before, givers, latency
        self.stamped, self.absent = {}, set()
        self.done, self.clock = [0] * len(lanes), [0] * len(lanes)

    def needed(self, location):
        """The events that the next row of a location waits for."""
        source = self.lanes[location][self.done[location]][2]
        while source >= 0 and (location, self.done[location]) not in self.absent:
            yield from self.givers[source]
            source = self.before[source]

    def missing(self, location):
        """The location of the first of these that is not stamped, or None."""
        return next((e[0] for e in self.needed(location) if e not in self.stamped), None)

    def step(self, location):
        """Stamp the next row of a location, if there is one that can be."""
        if self.done[location] == len(self.lanes[location]):
            return False
        if self.missing(location) is not None:
            return False
        received = [self.stamped[event] + self.latency for event in self.needed(location)]
        step = self.lanes[location][self.done[location]][0]
        self.clock[location] = max([self.clock[location] + step, *received])
        self.stamped[location, self.done[location]] = self.clock[location]
        self.done[location] += 1
        return True


def amortised(rows, time, stamp, latency, bits):
    """Stamps with jumps spread over what came before; rows are location, gives, takes, before.

    A row follows the next one of its location but for 2**-bits of the time between, and comes
    before all that wait for it, which have moved first; in chains of sources, have not.
    """
    location, gives, takes, before = rows
    chained = {s for s, above in enumerate(before) if above >= 0} | set(before)

    def waits_for(source, other):
        while other > source:
            other = before[other]
        return other == source >= 0

    out = {}

    def moved(row):
        if row in out:
            return out[row]
        out[row] = stamp[row]
        if row + 1 < len(location) and location[row + 1] == location[row]:
            after = moved(row + 1)
            ramp = max((time[row + 1] >> bits) - (time[row] >> bits), 0)
            limits = [after, after - time[row + 1] + time[row] - ramp]
            for other, source in enumerate(takes):
                if waits_for(gives[row], source):
                    is_moved = gives[row] not in chained
                    limits.append((moved(other) if is_moved else stamp[other]) - latency)
            out[row] = max(stamp[row], min(limits))
        return out[row]

    return [moved(row) for row in range(len(location))]
