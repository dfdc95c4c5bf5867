"""Functions of a run by samples and by their own events: how far they agree, as Markdown.

::

    python -m experiments.sampling.agreement TRACE [--least 1000]

The trace is of a program compiled with ``-finstrument-functions`` and recorded with samples.
A sample is of the innermost function on its stack that has events; the time of an event is what
lies in no other function with events, and in no call of MPI.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import numpy as np

import burstline
from burstline.columns import numpy_columns


def by_events(trace: burstline.Trace) -> Counter[str]:
    """The time that each function computes itself, ns."""
    location, region, enter, leave, parent = numpy_columns(
        trace.table("regions"), "location", "region", "enter_ns", "leave_ns", "parent"
    )
    names = trace.table("region_defs")["name"].to_pylist()
    first = np.searchsorted(location, location)
    own = leave - enter
    nested = np.flatnonzero(parent >= 0)
    np.subtract.at(own, first[nested] + parent[nested], (leave - enter)[nested])
    where, begin, end = numpy_columns(trace.table("calls"), "location", "enter_ns", "leave_ns")
    for place in np.unique(location):
        low, high = np.searchsorted(location, [place, place + 1])
        for at, until in zip(begin[where == place], end[where == place], strict=True):
            row = low + np.searchsorted(enter[low:high], at, "right") - 1
            while row >= low and leave[row] < until:
                row = low + parent[row] if parent[row] >= 0 else -1
            if row >= low:
                own[row] -= until - at
    found: Counter[str] = Counter()
    for each, time in zip(region.tolist(), own.tolist(), strict=True):
        found[names[each]] += time
    return found


def by_samples(trace: burstline.Trace, known: set[str]) -> tuple[Counter[str], Counter[str]]:
    """The samples of each function with events, and the periods that they stand for."""
    paths = trace.table("call_paths").to_pylist()
    samples, periods = Counter[str](), Counter[str]()
    for row in trace.table("samples").to_pylist():
        path = row["call_path"]
        while path is not None and paths[path]["function"] not in known:
            path = paths[path]["parent"]
        name = "elsewhere" if path is None else paths[path]["function"]
        samples[name] += 1
        periods[name] += row["periods"]
    return samples, periods


def main() -> None:
    """Print a line for each function with many samples."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--least", type=int, default=1000, help="samples of a function")
    given = parser.parse_args()
    trace = burstline.read(given.trace)
    times = by_events(trace)
    samples, periods = by_samples(trace, set(times))
    whole_ns, every = sum(times.values()), sum(periods.values())
    print("| function | samples | of all samples | of all time | points |")
    print("|---|---|---|---|---|")
    worst = 0.0
    for name, count in samples.most_common():
        if count < given.least:
            break
        sampled_share, share = 100 * periods[name] / every, 100 * times[name] / whole_ns
        worst = max(worst, abs(sampled_share - share))
        print(
            f"| `{name}` | {count:,} | {sampled_share:.1f} % | {share:.1f} % "
            f"| {sampled_share - share:+.1f} |"
        )
    print(f"\nAt most {worst:.1f} points apart; {sum(samples.values()):,} samples.")


if __name__ == "__main__":
    main()
