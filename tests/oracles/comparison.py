"""The twin of the comparison of profiles: dictionaries, one value at a time."""

from __future__ import annotations

from collections import defaultdict


def values_of(profile):
    """Values by (metric, call path), of the call path alone, summed over locations."""
    rows = profile.call_paths.to_pylist()
    values = defaultdict(float)
    for metric in profile.stored:
        for path, of_locations in zip(rows, profile.exclusive(metric).tolist(), strict=True):
            values[metric, names_of(rows, path)] += sum(of_locations)
    return values


def names_of(rows, row):
    """Names of a call path from the root."""
    above = () if row["parent"] is None else names_of(rows, rows[row["parent"]])
    return (*above, row["function"])


def parents_of(profile):
    """The parent of each metric."""
    names = profile.metrics["name"].to_pylist()
    parents = profile.metrics["parent"].to_pylist()
    return {
        name: None if above is None else names[above]
        for name, above in zip(names, parents, strict=True)
    }


def in_tree(parents, metric):
    """Whether a metric is the time, or below it."""
    return metric == "time" or (metric is not None and in_tree(parents, parents[metric]))


def shares_of_time(profile):
    """What metrics of the tree of time take in call paths, without those below them."""
    values, parents = values_of(profile), parents_of(profile)
    whole = sum(value for (metric, _), value in values.items() if metric == "time")
    alone = defaultdict(float)
    for (metric, path), value in values.items():
        if in_tree(parents, metric):
            alone[metric, path] += value
            if metric != "time":
                alone[parents[metric], path] -= value
    return {key: max(value, 0) / whole for key, value in alone.items() if whole > 0}


def shares_of_metric(profile, metric):
    """What call paths have of a metric."""
    values = {
        path: value for (name, path), value in values_of(profile).items() if name == metric
    }
    whole = sum(values.values())
    return {path: value / whole for path, value in values.items() if whole > 0}


def score(first, second):
    """The generalised Jaccard score of two functions, 0 where they are not defined."""
    keys = first.keys() | second.keys()
    union = sum(max(first.get(key, 0), second.get(key, 0)) for key in keys)
    common = sum(min(first.get(key, 0), second.get(key, 0)) for key in keys)
    return common / union if union > 0 else 1.0
