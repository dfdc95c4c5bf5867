"""Non-negative least squares, literally: every set of columns is tried, the best one counts."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def least_squares(counts, times):
    """The least sum of squared differences that weights >= 0 leave."""
    columns = range(counts.shape[1])
    sets = [chosen for size in columns for chosen in combinations(columns, size + 1)]
    best = float((times**2).sum())
    for chosen in sets:
        weights, *_ = np.linalg.lstsq(counts[:, chosen], times, rcond=None)
        if (weights >= 0).all():
            left = float(((times - counts[:, chosen] @ weights) ** 2).sum())
            best = min(best, left)
    return best
