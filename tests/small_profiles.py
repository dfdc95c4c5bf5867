"""Profiles by hand and at random: trees of metrics and call paths with whole numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from burstline.model import CALL_PATHS, LOCATIONS, METRICS, Profile, Values

TREE = {
    "time": None, "comp": "time", "mpi": "time", "mpi_latesender": "mpi", "mpi_wait_nxn": "mpi",
    "omp_idle_threads": "time", "delay": None, "visits": None,
}  # fmt: skip
UNITS = {"visits": "occ"}


def profile_of(values, *, unit="sec", tree=TREE, locations=1, combined=None):
    """A profile with values by metric and call path, a text with its names between slashes.

    A value counts the metric alone, and what is above it has it, too; on each location it is
    the same.
    """
    paths = sorted({"/".join(path.split("/")[: depth + 1])
                    for _, path in values for depth in range(path.count("/") + 1)})  # fmt: skip
    number = {path: row for row, path in enumerate(paths)}
    metrics = list(tree)
    dense = {name: np.zeros((len(paths), locations)) for name in metrics}
    for (metric, path), value in values.items():
        name = metric
        while name is not None:
            dense[name][number[path]] += value
            name = tree[name]
    rows = np.arange(len(paths), dtype=np.int32)
    empty = dict.fromkeys(CALL_PATHS.names)
    return Profile(
        pa.Table.from_pylist(
            [
                {
                    "metric": row,
                    "parent": None if tree[name] is None else metrics.index(tree[name]),
                    "name": name,
                    "title": name.replace("_", " "),
                    "unit": UNITS.get(name, unit),
                    "combined": (combined or {}).get(name, "sum"),
                }
                for row, name in enumerate(metrics)
            ],
            METRICS,
        ),
        pa.Table.from_pylist(
            [
                empty
                | {
                    "call_path": row,
                    "parent": number.get(path.rpartition("/")[0]),
                    "function": path.rpartition("/")[2],
                }
                for row, path in enumerate(paths)
            ],
            CALL_PATHS,
        ),
        pa.Table.from_pylist(
            [{"location": rank, "rank": rank, "thread": 0} for rank in range(locations)],
            LOCATIONS,
        ),
        {name: Values(rows, dense[name], inclusive=False) for name in metrics},
        {},
        {},
    )


PATHS = ("main", "main/solve", "main/solve/dot", "main/io", "other")

profiles = st.builds(
    profile_of,
    st.dictionaries(
        st.tuples(st.sampled_from(list(TREE)), st.sampled_from(PATHS)),
        st.integers(0, 1_000),
        min_size=1,
        max_size=12,
    ),
    unit=st.sampled_from(["sec", "ns", "ticks"]),
    locations=st.integers(1, 3),
)
