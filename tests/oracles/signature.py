"""Slow, obvious twins of the published methods: one event, one tick after another."""

from __future__ import annotations

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
    return types_of(one) == types_of(other) and all(
        alike(tick[process][1], twin[process][1], similarity)
        for tick, twin in zip(one, other, strict=True)
        for process in tick
    )


def types_of(phase):
    """Give the types of a phase by process, tick after tick."""
    return [{process: type_ for process, (type_, _) in tick.items()} for tick in phase]


def alike(one, other, similarity):
    """Whether amounts are the same, or the less is at least that share of the more."""
    return one == other or float(min(one, other)) / float(max(one, other)) >= similarity


def noise(types, work):
    """Give the similarity that noise alone leaves: a power of the middle ratio."""
    last, ratios = {}, []
    for _, begin, end in phases(types, [0] * len(types), 0):
        sequence = tuple(types[begin:end])
        for one, other in zip(last.get(sequence, ()), work[begin:end], strict=False):
            if max(one, other) > 0:
                ratios.append(min(one, other) / max(one, other))
        last[sequence] = work[begin:end]
    return median(ratios) ** 3.8 if ratios else 1.0
