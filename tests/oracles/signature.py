"""Slow, obvious twins of the published methods: one event, one tick after another."""

from __future__ import annotations

from functools import cache
from statistics import median


def phases(types, work, similarity):
    """Give (phase, first event, event behind the last) of each occurrence in a process."""
    return tick_phases([{0: each} for each in zip(types, work, strict=True)], similarity)


def tick_phases(ticks, similarity):
    """Give (phase, first tick, tick behind the last); a tick has (type, work) by process."""
    known, found, begin = [], [], 0
    for end in range(1, len(ticks) + 1):
        if end < len(ticks) and not repeats(ticks[begin:end], ticks[end]):
            continue
        phase = ticks[begin:end]
        same = [k for k, other in enumerate(known) if similar(other, phase, similarity)]
        if not same:
            known.append(phase)
        found.append((min(same, default=len(known) - 1), begin, end))
        begin = end
    return found


def repeats(phase, tick):
    """Whether any process has a type in a tick that it has in a phase."""
    return any(
        process in other and other[process][0] == type_
        for process, (type_, _) in tick.items()
        for other in phase
    )


def similar(one, other, similarity):
    """Whether two phases have the same types, and similar work before each."""
    return len(one) == len(other) and all(
        tick.keys() == twin.keys()
        and all(tick[process][0] == twin[process][0] for process in tick)
        and all(alike(tick[process][1], twin[process][1], similarity) for process in tick)
        for tick, twin in zip(one, other, strict=True)
    )


def alike(one, other, similarity):
    """Whether amounts are the same, or the less is at least that share of the more."""
    return one == other or float(min(one, other)) / float(max(one, other)) >= similarity


def noise(types, work):
    """Give the similarity that noise alone leaves: a power of the highest middle ratio."""
    by_types = {}
    for _, begin, end in phases(types, [0] * len(types), 0):
        by_types.setdefault(tuple(types[begin:end]), []).append(work[begin:end])
    highest = []
    for apart in range(1, 13):
        pairs = [
            pair for same in by_types.values() for pair in zip(same[apart:], same, strict=False)
        ]
        if apart == 1:
            enough = len(pairs) // 2
        if len(pairs) <= (0 if apart == 1 else enough):
            break
        amounts = [both for pair in pairs for both in zip(*pair, strict=True)]
        ratios = [min(both) / max(both) for both in amounts if max(both) > 0]
        highest.append(median(ratios) if ratios else 1.0)
    return max(highest, default=1.0) ** 3.8


class CircularError(Exception):
    """An event waits for itself."""


class LogicalTimes:
    """The logical time of each event, by asking for what comes before it."""

    def __init__(self, trace, events):
        self.processes = trace.locations["process"].to_pylist()
        self.entered = trace.calls["enter_ns"].to_pylist()
        self.row = {
            (row["location"], row["call"]): k for k, row in enumerate(trace.calls.to_pylist())
        }
        self.event_of = {row: event for event, row in enumerate(events.row.tolist())}
        locations = trace.calls["location"].to_pylist()
        self.process_of = [self.processes[locations[row]] for row in self.event_of]
        self.enter_ns = events.enter_ns.tolist()
        self.polled, self.received, self.meeting, self.asked = {}, {}, {}, set()
        self.add_messages(trace)
        self.add_collectives(trace)
        self.begin, self.time = cache(self.begin), cache(self.time)

    def add_messages(self, trace):
        for message in trace.messages.to_pylist():
            send = self.event(message["sender_location"], message["send_call"])
            done = self.completion(message["receiver_location"], message["receive_call"])
            if send is not None:
                self.wait(done, [send])

    def add_collectives(self, trace):
        ambiguous = trace.communicators["ambiguous"].to_pylist()
        members = trace.table("collective_members").to_pylist()
        for number, collective in enumerate(trace.collectives.to_pylist()):
            communicator = collective["communicator"]
            is_ambiguous = communicator is not None and ambiguous[communicator]
            if collective["complete"] and not is_ambiguous:
                self.add_collective([m for m in members if m["collective"] == number])

    def add_collective(self, members):
        blocking, others = [], []
        for member in members:
            location, call, done_call = (member[k] for k in ("location", "call", "done_call"))
            start = self.event(location, call)
            if start is None:
                continue
            done = self.completion(location, call if done_call is None else done_call)
            if done[0] == start:
                blocking.append(start)
            else:
                others.append((start, done))
        for start in blocking:
            self.meeting[start] = blocking
        for _, done in others:
            self.wait(done, [start for start, _ in others])

    def event(self, location, call):
        return self.event_of.get(self.row.get((location, call)))

    def completion(self, location, call):
        """Give the event that completes something, and whether a poll did before it."""
        row = self.row.get((location, call))
        if row is None or row in self.event_of:
            return self.event_of.get(row), False
        later = (
            k
            for k, ns in enumerate(self.enter_ns)
            if self.process_of[k] == self.processes[location] and ns > self.entered[row]
        )
        return next(later, None), True

    def wait(self, done, starts):
        event, by_poll = done
        (self.polled if by_poll else self.received).setdefault(event, []).extend(starts)

    def begin(self, event):
        """When an event begins, and what it sends is sent."""
        if event in self.asked:
            raise CircularError
        self.asked.add(event)
        is_first = event == 0 or self.process_of[event - 1] != self.process_of[event]
        before = [0 if is_first else self.time(event - 1)]
        return 1 + max(before + [self.begin(send) for send in self.polled.get(event, ())])

    def arrival(self, event):
        sends = self.received.get(event, ())
        return max([self.begin(event), *(1 + self.begin(send) for send in sends)])

    def time(self, event):
        return max(self.arrival(member) for member in self.meeting.get(event, [event]))


def logical_times(trace, events):
    """Give the logical time of each event, none if any waits for itself."""
    asked = LogicalTimes(trace, events)
    try:
        return [asked.time(event) for event in range(len(asked.enter_ns))]
    except CircularError:
        return None


def global_phases(events, times, types, similarity):
    """Give the (phase, begin, end) of each process, and how many ticks there are."""
    begin, work = events.begin.tolist(), events.work.tolist()
    by_time = {}
    for process in range(len(begin) - 1):
        for event in range(begin[process], begin[process + 1]):
            tick = by_time.setdefault(times[event], {})
            tick[process] = types[event], work[event]
    ticks = [tick for _, tick in sorted(by_time.items())]
    found = []
    for process in range(len(begin) - 1):
        place, own = 0, []
        for phase, first, last in tick_phases(ticks, similarity):
            count = sum(process in tick for tick in ticks[first:last])
            if count:
                own.append((phase, place, place + count))
            place += count
        found.append(own)
    return found, len(ticks)
