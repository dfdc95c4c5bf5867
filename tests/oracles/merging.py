"""Matching the bursts of several runs, as one would explain it."""

from __future__ import annotations

from collections import defaultdict


def longest_common(one, other):
    """Length of a longest common subsequence, by the textbook."""
    row = [0] * (len(other) + 1)
    for mine in one:
        before = row[:]
        for k, theirs in enumerate(other):
            row[k + 1] = before[k] + 1 if mine == theirs else max(before[k + 1], row[k])
    return row[-1]


def least_cost(ours, theirs, *, gap, turn, ahead=0):
    """Find what it costs to align two lists of (label, turn), by the textbook."""
    row = [gap * k for k in range(len(theirs) + 1)]
    for label, mine in ours:
        before, row = row, [row[0] + gap]
        for k, (other, their) in enumerate(theirs):
            matched = before[k] + (0 if their - mine in {0, ahead} else turn)
            ways = [before[k + 1] + gap, row[k] + gap]
            row.append(min([*ways, matched] if label == other else ways))
    return row[-1]


def difference(one, other):
    return abs(one - other) / max(one, other, 1)


def pair_near(ours, theirs, tolerance):
    """Pair things (key, ordinal, reach, size) of equal keys: the first that fits, in order."""
    same = [-1] * len(ours)
    for key in {thing[0] for thing in ours}:
        mine = sorted((o, k) for k, (own, o, _, _) in enumerate(ours) if own == key)
        others = sorted((o, k) for k, (own, o, _, _) in enumerate(theirs) if own == key)
        while mine and others:
            (here, k), (there, m) = mine[0], others[0]
            far = abs(here - there) > max(ours[k][2], theirs[m][2])
            unlike = difference(ours[k][3], theirs[m][3]) > tolerance
            if far or unlike:
                (mine if here < there or (here == there and not far) else others).pop(0)
                continue
            same[k] = m
            mine.pop(0)
            others.pop(0)
    return same


def unlikeness(one, other, *, both_sizes=False):
    """S of two bursts (place, size before, size after, partner before, partner after)."""
    size = difference(one[1], other[1])
    if both_sizes:
        size = (size + difference(one[2], other[2])) / 2
    partner = ((one[3] != other[3]) + (one[4] != other[4])) / 2
    return 0.6 * abs(one[0] - other[0]) + 0.2 * size + 0.2 * partner


def pair_alike(ours, theirs, *, limit=0.3, both_sizes=False):
    """Pair two lists of bursts, the most alike first."""
    pairs = sorted(
        (unlikeness(one, other, both_sizes=both_sizes), k, m)
        for k, one in enumerate(ours)
        for m, other in enumerate(theirs)
    )
    same, taken = [-1] * len(ours), set()
    for cost, k, m in pairs:
        if cost < limit and same[k] < 0 and m not in taken:
            same[k] = m
            taken.add(m)
    return same


def match_published(runs):
    """Match runs as published; a run is a list of threads, each a list of bursts.

    A burst is (pattern, span, place, size before, size after, partner before, partner after).
    Gives sets of matched bursts, each a tuple of (run, thread, ordinal), with their stage.
    """
    found, left = [], [defaultdict(list) for _ in runs]
    for thread in range(len(runs[0])):
        bursts = [run[thread] for run in runs]
        patterns = [[burst[0] for burst in own] for own in bursts]
        if all(own == patterns[0] for own in patterns):
            found += [
                (tuple((run, thread, k) for run in range(len(runs))), "direct")
                for k in range(len(patterns[0]))
            ]
            continue
        for pattern in sorted({pattern for own in patterns for pattern in own}):
            where = [[k for k, name in enumerate(own) if name == pattern] for own in patterns]
            if len({len(own) for own in where}) == 1:
                found += [
                    (tuple((run, thread, k) for run, k in enumerate(row)), "pattern")
                    for row in zip(*where, strict=True)
                ]
                continue
            for run, own in enumerate(where):
                for k in own:
                    left[run][thread, bursts[run][k][1], pattern].append(k)
    return found + _regions(runs, left)


def _regions(runs, left):
    reference = min(range(len(runs)), key=lambda run: sum(map(len, left[run].values())))
    found = []
    for group in sorted({group for own in left for group in own}):
        have = [run for run in range(len(runs)) if group in left[run]]
        leader = reference if reference in have else have[0]
        by_place = [
            sorted(own.get(group, ()), key=lambda k: (runs[run][group[0]][k][2], k))
            for run, own in enumerate(left)
        ]
        rows = [[(leader, group[0], k)] for k in by_place[leader]]
        for run in have:
            if run == leader:
                continue
            ours = [runs[leader][group[0]][k][2:] for k in by_place[leader]]
            theirs = [runs[run][group[0]][k][2:] for k in by_place[run]]
            for row, other in zip(rows, pair_alike(ours, theirs), strict=True):
                if other >= 0:
                    row.append((run, group[0], by_place[run][other]))
        found += [(tuple(sorted(row)), "region") for row in rows if len(row) > 1]
    return found
