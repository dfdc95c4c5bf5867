"""Slow twins of the search for change points, and of what explains them."""

from __future__ import annotations

from itertools import combinations, pairwise
from statistics import NormalDist, median


def normal_scores(values):
    """Give each value the mean normal quantile of the ranks that its equals have."""
    count = len(values)
    quantiles = [NormalDist().inv_cdf((k + 0.5) / count) for k in range(count)]
    deviation = (sum(each**2 for each in quantiles) / count) ** 0.5
    ordered = sorted(values)
    return [
        sum(q for q, other in zip(quantiles, ordered, strict=True) if other == value)
        / ordered.count(value)
        / deviation
        for value in values
    ]


def cost(scores, places, price):
    """Give the squares around the means of levels, and the price of their changes."""
    total = price * len(places)
    for begin, end in pairwise([0, *places, len(scores)]):
        mean = sum(scores[begin:end]) / (end - begin)
        total += sum((score - mean) ** 2 for score in scores[begin:end])
    return total


def least_cost(scores, price):
    """Give the least cost of all ways to choose change points, with two values a level."""
    places = range(2, len(scores) - 1)
    return min(
        cost(scores, chosen, price)
        for number in range(len(scores) // 2)
        for chosen in combinations(places, number)
        if all(end - begin > 1 for begin, end in pairwise([0, *chosen, len(scores)]))
    )


def usual(trace, structure, table, first, end):
    """Give the median time of some iterations by rank, kind, and call that it is in or before.

    The structure is of threads that are ranks, and its iterations have no poll.
    """
    rows = trace.calls.to_pylist()
    steps = structure.iterations(table.loop)
    found = structure.found_in
    site = dict(zip(found.row.tolist(), structure.steps.sequence.tolist(), strict=True))
    spent = {}
    for k in range(len(steps)):
        if not (table.counted[k] and first <= table.iteration[k] < end):
            continue
        sums = {}
        spent.setdefault(int(steps.rank[k]), []).append(sums)
        begin = int(steps.first[k])
        for row in range(begin, begin + int(table.calls[k])):
            call = rows[row]
            key = "MPI", site[row]
            sums[key] = sums.get(key, 0) + call["leave_ns"] - call["enter_ns"]
            is_last = row == begin + int(table.calls[k]) - 1
            if is_last and not table.whole[k]:
                continue
            key = "computing", site[row + 1]
            sums[key] = sums.get(key, 0) + rows[row + 1]["enter_ns"] - call["leave_ns"]
    return {
        (rank, *key): median(each.get(key, 0) for each in iterations)
        for rank, iterations in spent.items()
        for key in {key for each in iterations for key in each}
    }
