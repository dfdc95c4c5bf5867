"""Logical clocks, literally: one event after the other, each with the rule for what it is.

A program is a list of events as in :mod:`event_lists`; efforts are a number for each event of
each location. Lamport's algorithm: add the effort, take what the event waits for and one tick
more where that is later, and stamp.
"""

from __future__ import annotations

from collections import defaultdict

from oracles.event_lists import BARRIER, IMPLICIT_BARRIER, INITS, PARALLEL

ONE_TO_N, N_TO_ONE, SCAN, EXSCAN = {1, 4, 5}, {2, 3, 12}, {14}, {15}
"""OTF2's numbers of operations: of broadcasts and scatters, gathers and reductions, scans."""


def stamps(case, efforts, *, full=False):
    """The stamp of each event of each location, in order."""
    lists = [
        [event for event in case["events"] if event[1] == location]
        for location in range(case["ranks"] * case["threads"])
    ]
    waits = sources(case, lists, full=full)
    result = [[] for _ in lists]
    clock = [0] * len(lists)
    left = sum(map(len, lists))
    while left:
        before = left
        for location, events in enumerate(lists):
            while len(result[location]) < len(events):
                position = len(result[location])
                needed = waits.get((location, position), [])
                if any(len(result[where]) <= k for where, k in needed):
                    break
                clock[location] += efforts[location][position]
                for where, k in needed:
                    clock[location] = max(clock[location], result[where][k] + 1)
                result[location].append(clock[location])
                left -= 1
        assert left < before, "events wait for each other"
    return result


def sources(case, lists, *, full):
    """The events, as location and position, that each event waits for."""
    waits = {}
    waits |= of_messages(lists, case["threads"])
    waits |= of_collectives(case, lists, full=full)
    waits |= of_worlds(case, lists)
    waits |= of_teams(case, lists)
    waits |= of_locks(case, lists)
    return waits


def named(lists, *letters):
    """Location, position and event of all that have some letters, by location and order."""
    for location, events in enumerate(lists):
        for position, event in enumerate(events):
            if event[0] in letters:
                yield location, position, event


def of_messages(lists, threads):
    """A receive waits for its send; messages of a pair and a tag do not overtake each other."""
    sends = defaultdict(list)
    for location, position, (_, _, _, peer, tag, *_) in named(lists, "S", "IS"):
        sends[location // threads, peer, tag].append((location, position))
    waits, taken = {}, defaultdict(int)
    for location, position, (_, _, _, peer, tag, *_) in by_post(lists):
        pair = peer, location // threads, tag
        waits[location, position] = [sends[pair][taken[pair]]]
        taken[pair] += 1
    return waits


def by_post(lists):
    """Receives in the order in which they were posted."""
    for location, events in enumerate(lists):
        posted, receives = {}, []
        for position, event in enumerate(events):
            if event[0] == "IQ":
                posted[event[3]] = position
            elif event[0] == "V":
                receives.append((position, position, event))
            elif event[0] == "IV":
                receives.append((posted[event[6]], position, event))
        yield from ((location, position, event) for _, position, event in sorted(receives))


def of_collectives(case, lists, *, full):
    """The end of a member waits for those that send it something, or for all."""
    begins, ends = defaultdict(list), defaultdict(list)
    for letter, found in (("B", begins), ("C", ends)):
        count = defaultdict(int)
        for location, position, event in named(lists, letter):
            found[count[location]].append((location, position, event))
            count[location] += 1
    waits = {}
    for instance, members in ends.items():
        given = {where: (where, k) for where, k, _ in begins[instance]}
        for location, position, (_, _, _, operation, root, *_) in members:
            rank = location // case["threads"]
            root_location = root * case["threads"]
            if full or operation not in ONE_TO_N | N_TO_ONE | SCAN | EXSCAN:
                needed = list(given.values())
            elif operation in ONE_TO_N:
                needed = [given[root_location]] if location != root_location else []
            elif operation in N_TO_ONE:
                needed = list(given.values()) if location == root_location else []
            else:
                last = rank if operation in SCAN else rank - 1
                needed = [at for where, at in given.items() if where // case["threads"] <= last]
            waits[location, position] = needed
    return waits


def of_worlds(case, lists):
    """The leaves of MPI_Init and MPI_Finalize wait for the enters of all ranks."""
    waits = {}
    for names in (INITS, ("MPI_Finalize",)):
        numbers = {row["id"] for row in case["regions"] if row["name"] in names}
        enters, leaves = (
            [(where, k) for where, k, event in named(lists, letter) if event[3] in numbers]
            for letter in "EL"
        )
        if len(enters) == case["ranks"]:
            waits |= dict.fromkeys(leaves, enters)
    return waits


def of_teams(case, lists):
    """Forks and joins of each process, and barriers of each team."""
    barriers = {
        row["id"] for row in case["regions"] if row["otf2_role"] in (BARRIER, IMPLICIT_BARRIER)
    }
    waits = {}
    for rank in range(case["ranks"]):
        threads = range(rank * case["threads"], (rank + 1) * case["threads"])
        waits |= of_process(lists, threads, barriers)
    return waits


def of_process(lists, threads, barriers):
    """The same of one process, whose first thread forks."""
    master = threads[0]
    forks = [(k, event[3]) for k, event in enumerate(lists[master]) if event[0] == "F"]
    joins = [k for k, event in enumerate(lists[master]) if event[0] == "J"]
    ends, enters, leaves = defaultdict(list), defaultdict(list), defaultdict(list)
    waits = {}
    for thread, location in enumerate(threads):
        teams = iter([k for k, (_, size) in enumerate(forks) if thread < size])
        team, ordinal = None, 0
        for k, event in enumerate(lists[location]):
            if event[0] == "TB":
                team, ordinal = next(teams), 0
                waits[location, k] = [(master, forks[team][0])]
            elif event[0] == "TE":
                ends[team].append((location, k))
            elif event[0] in "EL" and event[3] in barriers:
                (enters if event[0] == "E" else leaves)[team, ordinal].append((location, k))
                ordinal += event[0] == "L"
    for team, k in enumerate(joins):
        waits[master, k] = ends[team]
    for barrier, members in leaves.items():
        waits |= dict.fromkeys(members, enters[barrier])
    return waits


def of_locks(case, lists):
    """An acquisition waits for the release of the one before it, of the same process."""
    released, waits = {}, {}
    for location, position, (_, _, _, lock, number) in named(lists, "RL"):
        released[location // case["threads"], lock, number] = location, position
    for location, position, (_, _, _, lock, number) in named(lists, "AL"):
        key = location // case["threads"], lock, number - 1
        if key in released:
            waits[location, position] = [released[key]]
    return waits


def efforts(case, work, clock, call_cost=0):
    """The effort of each event, from what was counted at some: `work` by location and position.

    An event is 1. What was counted comes on top, where it was read, less the events since the
    last reading; `lt_hwctr` counts nothing else. A call into the OpenMP runtime costs more, on
    the event behind it: each thread pays for the fork behind the enter of its parallel region.
    """
    roles = {row["id"]: row["otf2_role"] for row in case["regions"]}
    result = []
    for location in range(case["ranks"] * case["threads"]):
        ticks, unread, due = [], 0, 0
        events = [event for event in case["events"] if event[1] == location]
        for position, event in enumerate(events):
            tick = 1
            if clock != "lt_1" and (location, position) in work:
                counted = work[location, position] + (clock != "lt_hwctr")
                tick, unread = max(1, counted - unread), -1
            unread += 1
            tick, due = tick + due, 0
            if event[0] == "J":
                tick += call_cost
            elif event[0] == "E" and roles[event[3]] == 3:
                due = call_cost
            elif event[0] == "E" and roles[event[3]] == PARALLEL:
                due = 2 * call_cost  # its own enter, and the fork
            ticks.append(tick)
        result.append(ticks)
    return result
