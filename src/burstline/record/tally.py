"""The number of calls and the time of each operation in a profiled run."""

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

    calls: int
    time_ns: int  # over all threads


def tallies(folder: Path) -> dict[str, Tally]:
    """The sums over all threads of a profiled run, the longest operation first."""
    sums = np.zeros(3 * COUNT_TYPE, np.int64)
    for file in open_files(folder, Defects(), SILENCE):
        events = file.records[file.records["kind"] == Kind.EVENT]
        events = events[events["a"] < len(sums)]
        np.add.at(sums, events["a"].astype(np.int64), events["b"].astype(np.int64))
    by_name = {
        name: Tally(int(sums[COUNT_TYPE + number]), int(sums[TIME_TYPE + number]))
        for number, name in operation_numbers().items()
        if sums[COUNT_TYPE + number]
    }
    return dict(sorted(by_name.items(), key=lambda item: -item[1].time_ns))
