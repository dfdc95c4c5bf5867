"""How well a counter repeats, as one would explain it: burst by burst, in fractions."""

from __future__ import annotations

from fractions import Fraction
from math import floor, sqrt


def quantile(values, share):
    """Value below which a share of some values lies, between two of them in proportion."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def within_fence(scores):
    if not scores:
        return scores
    low, high = quantile(scores, Fraction(5, 100)), quantile(scores, Fraction(95, 100))
    return [score for score in scores if score <= high + Fraction(3, 2) * (high - low)]


def mean(values):
    return sum(values) / len(values) if values else None


def pearson(pairs):
    ours, theirs = [one for one, _ in pairs], [other for _, other in pairs]
    if len(set(ours)) < 2 or len(set(theirs)) < 2:
        return None
    middle, other_middle = mean(ours), mean(theirs)
    together = sum((one - middle) * (other - other_middle) for one, other in pairs)
    lengths = sum((one - middle) ** 2 for one in ours) * sum(
        (other - other_middle) ** 2 for other in theirs
    )
    return float(together) / sqrt(float(lengths))


def compared(rows, base):
    """Pair what the base counted with what each other run did; None is no value."""
    for row in rows:
        others = [value for run, value in enumerate(row) if run != base and value is not None]
        if row[base] is not None and others:
            yield Fraction(row[base]), [Fraction(value) for value in others]


def figures(rows, base):
    """Give the figures of a table: a row per burst, a value or None per run."""
    bursts = list(compared(rows, base))
    away = [abs(mine - mean(others)) for mine, others in bursts]
    relative = [abs(mine - mean(others)) / mine for mine, others in bursts if mine > 0]
    runs = range(len(rows[0])) if rows else []
    return {
        "bursts": len(bursts),
        "mae": mean(within_fence(away)),
        "relative_difference": mean(within_fence(relative)),
        "below_30": mean([Fraction(each < Fraction(3, 10)) for each in relative]),
        "appearing": sum(mine <= 0 and mean(others) != mine for mine, others in bursts),
        "correlations": [
            pearson(
                [
                    (Fraction(row[base]), Fraction(row[run]))
                    for row in rows
                    if row[base] is not None and row[run] is not None
                ]
            )
            for run in runs
            if run != base
        ],
    }
