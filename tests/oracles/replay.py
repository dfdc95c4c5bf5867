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

    Certain is what the standard of MPI says: not what nothing is sent to, nor Init and Finalize.
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
        if certain_only and operation not in (BARRIER, SCAN, EXSCAN):
            sends = [begin for begin, end in instance if end.values[2]]
            instance = [(begin, end) if end.values[3] else None for begin, end in instance]
        else:
            sends = begins
        for rank, member in enumerate(instance):
            if member is None:
                continue
            needed, end = sends, member[1]
            if operation in ONE_TO_N:
                needed = [begin for begin in sends if begin == begins[root]] if rank != root else []
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
            if gives >= 0:
                givers[gives].append((location, position))
    stamped, circles = {}, []
    done, clock, absent = [0] * len(lanes), [0] * len(lanes), set()

    def needed(source):
        while source >= 0:
            yield from givers[source]
            source = before[source]

    def first_missing(location):
        missing = (g for g in needed(lanes[location][done[location]][2]) if g not in stamped)
        return next(missing, (None, None))[0]

    while True:
        waiting = {}
        for location, lane in enumerate(lanes):
            while done[location] < len(lane):
                event = location, done[location]
                step, _, takes = lane[done[location]]
                if event in absent:
                    takes = -1
                elif (cause := first_missing(location)) is not None:
                    waiting[location] = cause
                    break
                received = [stamped[giver] + latency for giver in needed(takes)]
                clock[location] = max([clock[location] + step, *received])
                stamped[event] = clock[location]
                done[location] += 1
        if not waiting:
            return stamped, circles
        # Somebody may have gone on since.
        if any(first_missing(location) is None for location in waiting):
            continue
        waiting = {location: first_missing(location) for location in waiting}
        for location in sorted(waiting):
            circle = [location]
            while waiting[circle[-1]] not in circle:
                circle.append(waiting[circle[-1]])
            if waiting[circle[-1]] == location and location == min(circle):
                circles.append([(each, done[each]) for each in circle])
        absent.update(event for circle in circles for event in circle)
