"""Reading of Cube's profiles: pycubexr's trees and values as tables and arrays."""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from burstline.columns import Integers
from burstline.errors import (
    BurstlineError,
    MemoryBudgetError,
    MissingExtraError,
    ParameterError,
    UnsupportedRecordError,
    printable,
)
from burstline.formats.cube.archive import CheckedArchive, broken, check, too_deep
from burstline.formats.files import require_plain
from burstline.model import CALL_PATHS, LOCATIONS, METRICS, Profile, Values

_COMBINED: Final = {"MINDOUBLE": "min", "MAXDOUBLE": "max"}
_COMPOUND: Final = ("TAU_ATOMIC", "RATE", "COMPLEX", "NDOUBLES", "HISTOGRAM", "SCALE_FUNC")
_WIDE: Final = {"i": np.int64, "u": np.uint64, "f": np.float64}
_Row = dict[str, Any]


@contextmanager
def opened(path: Path, archive: CheckedArchive) -> Iterator[OpenProfile]:
    """A checked archive, whose values are not read; any failure is an error about the file."""
    from burstline.formats.cube.parser import Parser  # noqa: PLC0415 -- needs an extra

    cube = Parser(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with cube:
                yield OpenProfile(path, cube, archive)
    except (BurstlineError, MemoryError):
        raise
    except RecursionError as error:  # whoever reads is deep in calls already
        raise too_deep(path) from error
    # The parser trusts its input: a damaged one may raise anything.
    except Exception as error:
        raise _error_about(path, error) from error
    finally:
        if (tar := getattr(cube, "_cubex_file", None)) is not None:
            tar.close()


def _error_about(path: Path, error: Exception) -> BurstlineError:
    if not isinstance(error, AssertionError):
        return broken(path, f"{type(error).__name__}: {error}")
    return UnsupportedRecordError(
        path,
        None,
        expected="a profile of one program whose metrics all have stored values",
        found=str(error) or "metrics that are computed, or several trees",
        way_out="cube_remap2 -d -o NEW.cubex computes and stores all metrics.",
    )


class OpenProfile:
    """An open profile."""

    def __init__(self, path: Path, cube: Any, archive: CheckedArchive) -> None:  # noqa: ANN401 -- no types
        self._path, self._cube, self._archive = path, cube, archive
        self._metrics = cube.all_metrics()
        self.metrics = {metric.name: metric for metric in self._metrics}  # parents first
        if None in self.metrics:
            raise broken(path, "a metric without a unique name")

    def profile(self, chosen: list[str]) -> Profile:
        """The profile with the values of some metrics."""
        paths, order = self._call_paths()
        locations, columns = self._locations()
        stored, left_out = {}, {}
        for name in chosen:
            metric = self.metrics[name]
            if str(metric.data_type).partition("(")[0].strip() in _COMPOUND:
                left_out[name] = f"its values are of type {metric.data_type}"
                continue
            stored[name] = self._values(metric, order, columns)
        metrics = pa.Table.from_pylist(list(self._metric_rows()), METRICS)
        attributes = self._cube._anchor_result.attrs.items()  # noqa: SLF001 -- no other way
        metadata = {str(key): str(value) for key, value in attributes}
        sources = (self._path.absolute(),)
        return Profile(metrics, paths, locations, stored, left_out, metadata, sources)

    def _metric_rows(self) -> Iterator[_Row]:
        rows = {id(metric): row for row, metric in enumerate(self._metrics)}
        waiting: list[tuple[int | None, Any]]
        waiting = [(None, metric) for metric in reversed(self._cube.get_metrics())]
        while waiting:
            above, metric = waiting.pop()
            row = rows[id(metric)]
            waiting += [(row, child) for child in reversed(metric.childs)]
            yield {
                "metric": row,
                "parent": above,
                "name": metric.name,
                "title": metric.display_name or metric.name,
                "unit": metric.units or "",
                "combined": _COMBINED.get(metric.data_type, "sum"),
                "description": metric.description or "",
            }

    def _call_paths(self) -> tuple[pa.Table, dict[int, int]]:
        order: dict[int, int] = {}
        rows = []
        waiting = list(reversed(self._cube.get_root_cnodes()))
        while waiting:
            node = waiting.pop()
            waiting += reversed(node.get_children())
            if node.id in order:
                raise broken(self._path, f"two call paths with the id {node.id}")
            parent = None if node.parent is None else order[node.parent.id]
            order[node.id] = len(order)
            rows.append(
                {"call_path": order[node.id], "parent": parent} | _region_row(node.region)
            )
        return pa.Table.from_pylist(rows, CALL_PATHS), order

    def _locations(self) -> tuple[pa.Table, Integers]:
        rows = [
            {
                "rank": _number_or_none(group.rank),
                "thread": _number_or_none(location.rank),
                "process": group.name or "",
                "name": location.name or "",
                "node": node,
                "id": location.id,
            }
            for node, group in self._groups()
            for location in group.all_locations()
        ]
        ids = sorted(row["id"] for row in rows)
        if ids != list(range(len(ids))):
            raise broken(self._path, "locations that are not numbered from 0")
        columns = np.array([row.pop("id") for row in rows], dtype=np.int64)
        numbered = [row | {"location": number} for number, row in enumerate(rows)]
        return pa.Table.from_pylist(numbered, LOCATIONS), columns

    def _groups(self) -> Iterator[tuple[str, Any]]:
        waiting = list(reversed(self._cube._anchor_result.system_tree_nodes))  # noqa: SLF001 -- no other way
        while waiting:
            node = waiting.pop()
            for group in node._location_group_children:  # noqa: SLF001 -- as above
                yield node.name or "", group
            waiting += reversed(node._system_tree_node_children)  # noqa: SLF001 -- as above

    def _values(
        self,
        metric: Any,  # noqa: ANN401 -- no types
        order: dict[int, int],
        columns: Integers,
    ) -> Values:
        inclusive = metric.metric_type == "INCLUSIVE"
        if int(metric.id) not in self._archive.indexed:
            kind = np.int64 if "INT" in str(metric.data_type) else np.float64
            return Values(np.empty(0, np.int32), np.empty((0, len(columns)), kind), inclusive)
        stored = self._cube.get_metric_values(
            metric, cache=False, allow_full_uint64_values=True
        )
        values = stored.values
        if not isinstance(values, np.ndarray):
            values = values.astype(np.float64)
        rows = np.array([order[node] for node in stored.cnode_indices], dtype=np.int32)
        if len(values) != len(rows) * len(columns):
            raise broken(self._path, f"{len(values):,} values of metric {metric.name}")
        wide = values.astype(_WIDE[values.dtype.kind]).reshape(len(rows), len(columns))
        return Values(rows, wide[:, columns], inclusive)


def _region_row(region: Any) -> _Row:  # noqa: ANN401 -- no types
    return {
        "function": region.name or "",
        "file": region.mod or None,
        "begin_line": region.begin if region.begin > 0 else None,
        "end_line": region.end if region.end > 0 else None,
        "paradigm": region.paradigm or "",
        "role": region.role or "",
    }


def _number_or_none(text: Any) -> int | None:  # noqa: ANN401 -- no types
    return None if text is None else int(text)


_MOST_BYTES: Final = 4_000_000_000


def read_profile(
    path: str | os.PathLike[str],
    *,
    metrics: Sequence[str] | None = None,
    memory: int | None = None,
) -> Profile:
    """Read a profile that Score-P, Scalasca or Cube wrote.

    Parameters
    ----------
    path : str or PathLike
        A ``.cubex`` file.
    metrics : sequence of str, optional
        Unique names of the metrics whose values are read, such as ``time`` or
        ``mpi_latesender``; all by default.
    memory : int, optional
        Bytes the trees and the values may take; 4 GB by default.

    Returns
    -------
    Profile
        The trees of metrics, call paths and locations, and the values. A metric without
        values, as Scalasca writes them, is zero everywhere.

    Raises
    ------
    MissingExtraError
        If pycubexr is not installed: ``pip install 'burstline[cube]'``.
    FormatError
        If the file is no such archive, is damaged, or holds what no profile has.
    UnsupportedRecordError
        If the profile has metrics that are computed when they are shown, several programs,
        or other trees than that of call paths that are deeper than 800 levels.
    MemoryBudgetError
        If the trees or the values would not fit into `memory`.
    ParameterError
        If there is no metric of a name that was asked for.
    FileNotFoundError
        If there is no such file.

    Notes
    -----
    O(bytes). Values of compound types, such as histograms, are in no array; `left_out` of
    the result names them.

    Examples
    --------
    >>> import burstline
    >>> burstline.read_profile("a.cubex")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    FileNotFoundError: ...
    """
    path = Path(path)
    require_plain(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    try:
        import pycubexr  # noqa: F401, PLC0415 -- an extra
    except ImportError:
        raise MissingExtraError("cube", "reading a .cubex") from None
    allowed = _MOST_BYTES if memory is None else memory
    archive = check(path, allowed)
    with opened(path, archive) as profile:
        chosen = _chosen_metrics(list(profile.metrics), metrics)
        needed = archive.needed(int(profile.metrics[name].id) for name in chosen)
        if needed > allowed:
            way_out = "Ask for fewer metrics at a time, or allow more."
            raise MemoryBudgetError(needed, allowed, way_out=way_out)
        return profile.profile(chosen)


def _chosen_metrics(names: list[str], wanted: Sequence[str] | None) -> list[str]:
    if wanted is None:
        return names
    for name in wanted:
        if name not in names:
            shown = printable(", ".join(names), limit=400)
            raise ParameterError(f"no metric {printable(name)!r}; there are {shown}")
    return list(dict.fromkeys(wanted))
