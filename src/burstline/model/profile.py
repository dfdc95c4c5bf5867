"""A profile: values per metric, call path and location, as analysers report them.

A value of a call path counts that path alone; :meth:`Profile.inclusive` adds what lies
below it. What a metric's parent holds includes the metric.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from burstline.errors import ParameterError, printable

_ID, _TEXT = pa.int32(), pa.string()

METRICS: Final = pa.schema(
    {"metric": _ID, "parent": _ID, "name": _TEXT, "title": _TEXT, "unit": _TEXT}
    | {"combined": _TEXT, "description": _TEXT}
)
"""A row is a metric: its row, its parent's, its names, its unit, and whether values
of several call paths are combined by ``sum``, ``min`` or ``max``."""

CALL_PATHS: Final = pa.schema(
    {"call_path": _ID, "parent": _ID, "function": _TEXT, "file": _TEXT}
    | {"begin_line": _ID, "end_line": _ID, "paradigm": _TEXT, "role": _TEXT}
)
"""A row is a call path; parents come before their children."""

LOCATIONS: Final = pa.schema(
    {
        "location": _ID,
        "rank": _ID,
        "thread": _ID,
        "process": _TEXT,
        "name": _TEXT,
        "node": _TEXT,
    }
)
"""A row is a thread; its order is that of the columns of values."""

COMBINERS: Final[dict[str, np.ufunc]] = {"sum": np.add, "min": np.fmin, "max": np.fmax}
"""How values of several call paths become one, by :data:`METRICS`' column `combined`."""


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a metric: those of call paths that have any.

    Attributes
    ----------
    call_paths : ndarray of int32, shape (n,)
        Rows of the call paths.
    values : ndarray of int64, uint64 or float64, shape (n, locations)
        One row per call path.
    inclusive : bool
        Whether a row includes the call paths below its own.
    """

    call_paths: npt.NDArray[np.int32]
    values: npt.NDArray[Any]
    inclusive: bool


@dataclass(frozen=True, slots=True)
class Profile:
    """Values per metric, call path and location.

    Methods take the name of a metric, and raise ``ParameterError`` if no values of it
    were read.

    Attributes
    ----------
    metrics, call_paths, locations : pyarrow.Table
        What the axes are: columns as in ``METRICS``, ``CALL_PATHS``, ``LOCATIONS``.
    stored : dict of str to Values
        Values by name of the metric. Metrics without a single value have no rows.
    left_out : dict of str to str
        Metrics that were asked for and whose values have no meaning here, and why.
    attributes : dict of str to str
        Facts of the file, such as who made it.
    sources : tuple of Path
        The files that it was read from; :func:`burstline.write` never replaces them.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> def table(schema, *rows):
    ...     named = [dict(zip(schema.names, row)) for row in rows]
    ...     return pa.Table.from_pylist(named, schema=schema)
    >>> paths = table(CALL_PATHS, (0, None, "main"), (1, 0, "solve"))
    >>> time = Values(np.array([0, 1]), np.array([[5.0, 4.0], [3.0, 4.0]]), inclusive=True)
    >>> profile = Profile(
    ...     table(METRICS, (0, None, "time", "Time", "sec", "sum", "")),
    ...     paths,
    ...     table(LOCATIONS, (0, 0, 0), (1, 1, 0)),
    ...     {"time": time},
    ...     {},
    ...     {},
    ... )
    >>> profile.exclusive("time")
    array([[2., 0.],
           [3., 4.]])
    >>> profile.total("time")
    9.0
    """

    metrics: pa.Table
    call_paths: pa.Table
    locations: pa.Table
    stored: Mapping[str, Values]
    left_out: Mapping[str, str]
    attributes: Mapping[str, str]
    sources: tuple[Path, ...] = ()

    def exclusive(self, metric: str) -> npt.NDArray[Any]:
        """A metric's values of every call path alone, shape (call paths, locations).

        A copy, in the metric's unit; 0, or nan of a minimum or maximum, where there is no
        value. A minimum or maximum that was stored inclusive stays so: that of a path alone
        is unknown.
        """
        dense, inclusive, combined = self._dense(metric)
        if inclusive and combined == "sum":
            parents = self._parents()
            below = np.flatnonzero(parents >= 0)
            alone = dense.copy()
            np.subtract.at(alone, parents[below], dense[below])
            return alone
        return dense

    def inclusive(self, metric: str) -> npt.NDArray[Any]:
        """A metric's values of every call path with all below it, as :meth:`exclusive`."""
        dense, inclusive, combined = self._dense(metric)
        if not inclusive:
            parents, combine = self._parents(), COMBINERS[combined]
            for row in range(len(parents) - 1, 0, -1):
                if parents[row] >= 0:
                    combine(dense[parents[row]], dense[row], out=dense[parents[row]])
        return dense

    def total(self, metric: str) -> float | int:
        """The sum, least or greatest value of a metric over all call paths and locations.

        Nan where a minimum or maximum has no value.
        """
        stored = self.stored.get(metric)
        if stored and not stored.inclusive and self._combined(metric) == "sum":
            total: float | int = stored.values.sum().item()
            return total
        roots = self.inclusive(metric)[self._parents() < 0]
        combined = self._combined(metric)
        if combined == "sum":
            return roots.sum().item()
        values = roots[~np.isnan(roots)]
        return float(COMBINERS[combined].reduce(values)) if len(values) else float("nan")

    def path(self, call_path: int) -> tuple[str, ...]:
        """The names of a call path, from the root; frames with the line that they call from."""
        names = []
        node: int | None = call_path
        while node is not None:
            [row] = self.call_paths.slice(node, 1).to_pylist()
            names.append(_path_name(row))
            node = row["parent"]
        return tuple(names[::-1])

    def paths(self) -> Callable[[int], tuple[str, ...]]:
        """What :meth:`path` tells, for many call paths: their names are read once."""
        names, parents = self.names(), self._parents().tolist()

        def path(node: int) -> tuple[str, ...]:
            found = []
            while node >= 0:
                found.append(names[node])
                node = parents[node]
            return tuple(found[::-1])

        return path

    def names(self) -> list[str]:
        """The last name of every call path, as in :meth:`path`."""
        return [_path_name(row) for row in self.call_paths.to_pylist()]

    def to_table(self, metric: str) -> pa.Table:
        """A metric's values of call paths alone but for zeros: `call_path, location, value`."""
        dense = self.exclusive(metric)
        paths, locations = np.nonzero(np.nan_to_num(dense))
        columns = [paths.astype(np.int32), locations.astype(np.int32), dense[paths, locations]]
        return pa.table(columns, names=["call_path", "location", "value"])

    def _parents(self) -> npt.NDArray[np.int32]:
        parents: npt.NDArray[np.int32] = self.call_paths["parent"].fill_null(-1).to_numpy()
        return parents

    def _combined(self, metric: str) -> str:
        row = self.metrics["name"].to_pylist().index(metric)
        return str(self.metrics["combined"][row].as_py())

    def _dense(self, metric: str) -> tuple[npt.NDArray[Any], bool, str]:
        if metric not in self.stored:
            absent = "the profile has no such metric, or it was not read"
            why = self.left_out.get(metric, absent)
            raise ParameterError(f"no values of metric {printable(metric)}: {why}")
        stored, combined = self.stored[metric], self._combined(metric)
        empty = 0 if combined == "sum" else np.nan
        shape = (self.call_paths.num_rows, self.locations.num_rows)
        dense = np.full(shape, empty, dtype=stored.values.dtype)
        dense[stored.call_paths] = stored.values
        return dense, stored.inclusive, combined


def _path_name(row: dict[str, Any]) -> str:
    """What a call path is called, of its row."""
    place = f"@{row['file']}:{row['begin_line']}"
    # A frame has the line that it calls from; constructs are named by their place.
    is_frame = bool(row["file"]) and row["begin_line"] is not None
    is_told = row["end_line"] is not None or place in row["function"]
    return str(row["function"]) + place * (is_frame and not is_told)
