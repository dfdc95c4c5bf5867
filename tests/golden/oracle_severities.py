"""The severities that the reference tools report for the event lists in ``oracle``.

One file per case: {tool: {metric: {call path: {location: value}}}}, times in seconds of
10^6 units of the event lists' stamps. ``scout26`` is the analyser of Scalasca 2.6,
``remapped`` what its report has after remapping (some metrics, six decimals).
"""

from __future__ import annotations

import json
from pathlib import Path

FOLDER = Path(__file__).parent / "oracle"
CASES = sorted(file.stem for file in FOLDER.glob("*.json"))
STAMPS_PER_SECOND = 1_000_000


COUNTS = "visits", "bytes", "comms", "syncs"


def is_time(metric):
    """Whether a metric has the unit of the stamps: neither a count nor bytes."""
    return not metric.startswith(COUNTS) and not metric.endswith("_count")


def reported(case, tool):
    """What a tool reports of a case: {metric: {(location, call path): value}} in stamps."""
    table = json.loads((FOLDER / f"{case}.json").read_text())[tool]
    return {
        metric: {
            (int(location), path): value * (STAMPS_PER_SECOND if is_time(metric) else 1)
            for path, row in paths.items()
            for location, value in row.items()
        }
        for metric, paths in table.items()
    }


METRICS = {
    tool: sorted({m for c in CASES for m in reported(c, tool)})
    for tool in ("scout26", "remapped")
}


def differences(ours, theirs, metrics, allowed):
    """The rows (metric, place, ours, theirs) that differ by more than allowed; none is 0."""
    return [
        (metric, place, float(mine), value)
        for metric in metrics
        for place in sorted(set(ours.get(metric, {})) | set(theirs.get(metric, {})))
        for mine, value in [
            (ours.get(metric, {}).get(place, 0), theirs.get(metric, {}).get(place, 0))
        ]
        if abs(mine - value) > allowed
    ]
