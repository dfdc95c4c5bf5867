"""Slow, obvious twins of how a structure is found and checked."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np


def components(points, eps):
    """Cluster by scikit-learn's DBSCAN in which a single point is a cluster."""
    from sklearn.cluster import DBSCAN

    if not len(points):
        return []
    return DBSCAN(eps=eps, min_samples=1).fit(np.asarray(points)).labels_.tolist()


def longest_common(a, b):
    """Length of a longest common subsequence, from the textbook."""
    above = [0] * (len(b) + 1)
    for x in a:
        row = [0]
        for k, y in enumerate(b):
            row.append(above[k] + 1 if x == y else max(above[k + 1], row[k]))
        above = row
    return above[-1]


def expand(items, lane):
    """Give the calls of a program on one lane, loop by loop, iteration by iteration."""
    from burstline.structure import Call, Loop

    def due(node, entries, k):
        executed = int(node.executions[lane])
        if node.when is None:
            return (k + 1) * executed // entries - k * executed // entries
        when = numbers(node.when, lane)
        if k not in when:
            return 0
        trips = numbers(node.trips, lane) if isinstance(node, Loop) else [1] * len(when)
        return trips[when.index(k)]

    def body(nodes, entries, k, seen):
        for node in nodes:
            for _ in range(due(node, entries, k)):
                if isinstance(node, Call):
                    yield node.site
                else:
                    turn = seen[id(node)]
                    seen[id(node)] += 1
                    yield from body(node.items, int(node.executions[lane]), turn, seen)

    return list(body(items, 1, 0, defaultdict(int)))


def numbers(runs, lane):
    """Give the numbers of a lane, one by one."""
    found = []
    for k in range(runs.begin[lane], runs.begin[lane + 1]):
        first, step = int(runs.first[k]), int(runs.step[k])
        found += [first + step * i for i in range(runs.count[k])]
    return found


def progressions(sequence):
    """Find arithmetic progressions greedily; two numbers in steps are two single ones."""
    found = []
    begin = 0
    while begin < len(sequence):
        end = begin + 1
        step = sequence[end] - sequence[begin] if end < len(sequence) else 0
        while end < len(sequence) and sequence[end] - sequence[end - 1] == step:
            end += 1
        if end - begin < 3 and step:
            end, step = begin + 1, 0
        found.append((sequence[begin], step, end - begin))
        begin = end
    return found


def read_nest(nest, sequence, *, most=None, rise=None, apart=None, cuts=None):
    """Read one lane as a nest: (when of symbols and loops, trips of loops), by name.

    `nest` is a nested list of symbols and lists; the name of an element is its position in
    each list. An iteration ends where the next element stands not behind the one before, or is
    `apart` from it: pairs of positions, by the loop's name, or at one of its `cuts`, places in
    the sequence. It is entered anew where the loop around has a cut, too, and after as many
    iterations as `most` tells of a loop by its name; with each iteration of the loop around
    these are `rise` more.
    """
    reader = _Reader(most or {}, rise or {}, apart or {}, cuts or {})
    for place, symbol in enumerate(sequence):
        reader.read(_path_to(symbol, nest), place)
    reader.close(0)
    return reader.when, reader.trips


def _path_to(symbol, body):
    for at, element in enumerate(body):
        inner = _path_to(symbol, element) if isinstance(element, list) else []
        if element == symbol or inner:
            return [at, *inner]
    return []


class _Reader:
    def __init__(self, most, rise, apart, cuts):
        self.most, self.rise, self.apart, self.cuts = most, rise, apart, cuts
        self.when, self.trips = defaultdict(list), defaultdict(list)
        self.iterations = defaultdict(int)  # so far, of each body
        self.open = []  # (name, position, iterations of this entry), outermost first

    def close(self, depth):
        while len(self.open) > depth:
            name, _, iterations = self.open.pop()
            self.trips[name].append(iterations)

    def read(self, path, place):
        names = [tuple(path[:depth]) for depth in range(len(path))]
        shared = 0
        for (name, _, _), own in zip(self.open, names, strict=False):
            shared += name == own
        self.close(shared)
        for depth in range(max(shared - 1, 0), len(path)):
            self.step(names[depth], path[depth], depth, place)

    def step(self, name, at, depth, place):
        if depth == len(self.open):
            self.open.append((name, -1, 1))
            self.iterations[name] += 1
        _, position, iterations = self.open[depth]
        is_cut = position >= 0 and place in self.cuts.get(name, ())
        if at <= position or (position, at) in self.apart.get(name, ()) or is_cut:
            most = self.most.get(name, 0)
            is_over = most and iterations == most + self.rise.get(name, 0) * (
                self.open[depth - 1][2] - 1
            )
            if is_over or (depth and place in self.cuts.get(name[:-1], ())):
                self.close(depth)
                self.step(name[:-1], name[-1], depth - 1, place)
                self.step(name, at, depth, place)
                return
            iterations += 1
            self.iterations[name] += 1
        self.open[depth] = (name, at, iterations)
        self.when[(*name, at)].append(self.iterations[name] - 1)


def follows(lanes):
    """Count neighbours, lane by lane."""
    return Counter(pair for lane in lanes for pair in pairwise(lane))


def length_of_sites(lanes):
    """Tell how long the program seems of which these are the sites, lane by lane."""
    behind = defaultdict(list)
    for number, lane in enumerate(lanes):
        for site, following in pairwise([*lane, None]):
            behind[site].append((number, following))
    others = {site: len({what for _, what in visits}) - 1 for site, visits in behind.items()}
    return sum(
        1 + 3 * count + (_surprises(behind[site]) if count else 0)
        for site, count in others.items()
    )


def _surprises(visits):
    """Count what does not go on as the longest stretch before that is alike, or lane before."""
    count, alike, lane_before = 0, None, None
    for k, (lane, what) in enumerate(visits):
        if k == 0 or visits[k - 1][0] != lane:
            alike, lane_before = lane_before, k
        if alike is not None and visits[alike][1] == what:
            alike += 1
            continue
        count += 1
        ends = [(_common_end(visits, j, k), j) for j in range(k)]
        longest, end = max(ends, default=(0, None))
        alike = end + 1 if longest else None
    return count


def _common_end(visits, j, k):
    """Count how many visits up to two are followed by the same."""
    length = 0
    while length <= j and visits[j - length][1] == visits[k - length][1]:
        length += 1
    return length
