"""Slow, obvious twins of the matching functions: if you doubt one, read its twin."""

from __future__ import annotations

from collections import Counter, defaultdict, deque


def match_messages(send_channel, receive_channel):
    waiting = defaultdict(deque)
    for send, channel in enumerate(send_channel):
        waiting[channel].append(send)
    return [waiting[c].popleft() if waiting[c] else -1 for c in receive_channel]


def collective_instances(communicator, location, comm_rank, operation, sizes):
    """Give {(communicator, sequence): (parts by rank, complete)}."""
    seen = Counter()
    parts = defaultdict(list)
    for part, where in enumerate(zip(communicator, location, strict=True)):
        parts[where[0], seen[where]].append(part)
        seen[where] += 1
    return {
        name: (
            sorted(members, key=lambda part: (comm_rank[part], location[part])),
            0 <= name[0] < len(sizes)
            and len({comm_rank[part] for part in members}) == sizes[name[0]]
            and all(comm_rank[part] >= 0 for part in members)
            and len({operation[part] for part in members}) == 1,
        )
        for name, members in sorted(parts.items())
    }
