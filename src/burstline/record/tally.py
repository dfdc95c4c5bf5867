"""What a run that was only profiled did: how often each operation was called, and how long.

::

    folder  --records of counts and times, by thread-->  Tally by operation, the most time first
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from burstline.formats.intake import Defects
from burstline.formats.raw import COUNT_TYPE, TIME_TYPE, Kind, open_files, operation_numbers
from burstline.progress import SILENCE

if TYPE_CHECKING:
    from pathlib import Path


class Tally(NamedTuple):
    """All calls of one operation."""

    # how many there were, and the time in them over all threads
    calls: int
    time_ns: int


def tallies(folder: Path) -> dict[str, Tally]:
    """Sum up what the threads of a profiled run counted."""
    sums = np.zeros(3 * COUNT_TYPE, np.int64)
    for file in open_files(folder, Defects(), SILENCE):
        events = file.records[file.records["kind"] == Kind.EVENT]
        events = events[events["a"] < len(sums)]
        np.add.at(sums, events["a"].astype(np.int64), events["b"].astype(np.int64))
    found = {
        name: Tally(int(sums[COUNT_TYPE + number]), int(sums[TIME_TYPE + number]))
        for number, name in operation_numbers().items()
        if sums[COUNT_TYPE + number]
    }
    return dict(sorted(found.items(), key=lambda item: -item[1].time_ns))
