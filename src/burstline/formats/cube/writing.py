"""Writing of Cube's profiles: the tables and arrays of a profile as a ``.cubex``.

::

    metric after metric ─► N.data, N.index ─┐
    the three trees ──────► anchor.xml ─────┴─► P.cubex, a tar archive without times

What Cube's own reader cannot parse is avoided: elements that close themselves, references
to characters by number, negative ranks.
"""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from burstline import __version__
from burstline.columns import Integers
from burstline.errors import ParameterError, readable
from burstline.formats import atomic
from burstline.formats.cube.archive import ANCHOR
from burstline.model import COMBINERS, Profile, Values
from burstline.progress import SILENCE, Progress

_BLOCK: Final = 512
_MOST_BYTES: Final = 8 << 30
"""Bytes that no member may reach: its size has eleven octal digits."""

_INDEX: Final = b"CUBEX.INDEX" + np.array(1, "<u4").tobytes() + b"\0\0" + b"\1"
"""The head of an index: the byte order, version 0, and that not all call paths follow."""
_DATA: Final = b"CUBEX.DATA"

_VERSIONS: Final = {
    "CubePL Version": "1.1",
    "Cube Version": "4.8.2",
    "Cube anchor.xml syntax version": "4.4",
}
_TYPES: Final = {"i": ("INTEGER", "<i8"), "u": ("UINT64", "<u8")}
_MODULES: Final = {"mpi": "MPI", "openmp": "OMP"}
_REGION: Final = ("function", "file", "begin_line", "end_line", "paradigm", "role")
_PROGRAMS: Final = ("all programs", None, None, None, "measurement", "artificial")
"""The region above several roots: Cube's files have one root."""

_NS_PER_S: Final = 1e9
_ESCAPES: Final = str.maketrans(
    {chr(code): f"\\x{code:02x}" for code in range(32) if chr(code) not in "\t\n"}
    | {"\ufffe": "\\ufffe", "\uffff": "\\uffff"}
    | {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
)


def write(profile: Profile, path: Path, *, progress: Progress = SILENCE) -> None:
    """Write the metrics of a profile that have values, whole or not at all."""
    metrics = [
        _Metric(row, profile.stored[row["name"]])
        for row in profile.metrics.to_pylist()
        if row["name"] in profile.stored
    ]
    if not metrics:
        raise ParameterError(f"{path}: a profile without any values cannot be written")
    tree, threads = _CallTree(profile), _Threads(profile)
    progress.step("Writing", len(metrics), "metrics")
    with atomic.output(path) as file:
        for metric in metrics:
            _add_values(file, metric, tree, threads.columns)
            progress.advance(1)
        lines = _anchor_lines(profile, metrics, tree, threads)
        anchor = "".join(f"{line}\n" for line in lines).encode()
        # Cube's reader expects a block too many behind a member that fills its last block.
        anchor += b"\n" * (len(anchor) % _BLOCK == 0)
        _add_member(file, ANCHOR, len(anchor), [anchor])
        file.write(bytes(2 * _BLOCK))


class _Metric:
    """A metric, and how its values are stored: times in seconds, the others as they are."""

    def __init__(self, row: dict[str, Any], values: Values) -> None:
        self.row, self.values = row, values
        self.is_time = row["unit"] == "ns"
        self.is_sum = row["combined"] == "sum"
        if not self.is_sum:
            self.type, self._dtype = f"{row['combined'].upper()}DOUBLE", "<f8"
        elif self.is_time:
            self.type, self._dtype = "DOUBLE", "<f8"
        else:
            self.type, self._dtype = _TYPES.get(values.values.dtype.kind, ("DOUBLE", "<f8"))

    def stored(self, row: np.ndarray[Any, Any]) -> bytes:
        """The values of a call path as they are in the file."""
        return (row / _NS_PER_S if self.is_time else row).astype(self._dtype).tobytes()

    def rows(self, tree: _CallTree) -> tuple[Integers, Integers]:
        """The positions of call paths that have a value, ascending, and their rows."""
        values, paths = self.values.values, self.values.call_paths
        keys = (tree.wide if self.values.inclusive else tree.deep)[paths]
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        # Of several rows of one call path the last one counts, as in a profile.
        is_last = np.append(ordered[1:] != ordered[:-1], True)[: len(ordered)]
        has_any = (values != 0 if self.is_sum else ~np.isnan(values)).any(axis=1)
        chosen = is_last & has_any[order]
        return ordered[chosen], order[chosen]

    def above(self, tree: _CallTree, rows: Integers) -> list[np.ndarray[Any, Any]]:
        """The values of the root, where they are in none of these rows."""
        values = self.values.values
        tops = rows[np.isin(self.values.call_paths[rows], tree.roots)]
        if tree.is_joined and self.values.inclusive and len(tops):
            return [COMBINERS[self.row["combined"]].reduce(values[tops], axis=0)]
        # Parsers refuse a metric without a row; that of a minimum would have to be one.
        is_zero = self.is_sum and not len(rows)
        return [np.zeros(values.shape[1], values.dtype)] if is_zero else []


class _CallTree:
    """The tree of call paths below one root, which is added where there are several.

    `deep` and `wide` are positions of call paths in the orders of Cube, by row: depth first;
    and a node's children together before what is below them.
    """

    def __init__(self, profile: Profile) -> None:
        paths = profile.call_paths
        parents = paths["parent"].to_pylist()
        added = len(parents)
        self.children: list[list[int]] = [[] for _ in range(added + 1)]
        for row, parent in enumerate(parents):
            self.children[added if parent is None else parent].append(row)
        self.roots = self.children[added]
        self.is_joined = len(self.roots) != 1
        self.root = added if self.is_joined else self.roots[0]
        columns = (paths[name].to_pylist() for name in _REGION)
        self.regions = [*zip(*columns, strict=True), _PROGRAMS]
        deep, wide, waiting = [], [self.root], [self.root]
        while waiting:
            node = waiting.pop()
            deep.append(node)
            wide += self.children[node]
            waiting += reversed(self.children[node])
        self.deep, self.wide = np.zeros((2, added + 1), np.int64)
        self.deep[deep] = self.wide[wide] = np.arange(len(deep))

    def lines(self) -> Iterator[str]:
        """Yield the regions, and the call paths that lead to them."""
        numbers: dict[tuple[Any, ...], int] = {}
        for row in [self.root, *range(len(self.deep) - 1)]:
            region = self.regions[row]
            if region not in numbers:
                numbers[region] = len(numbers)
                yield _region_element(numbers[region], dict(zip(_REGION, region, strict=True)))

        def opening(row: int) -> str:
            return f'<cnode id="{self.deep[row]}" calleeId="{numbers[self.regions[row]]}">'

        yield from _nested_elements([self.root], self.children, opening, "</cnode>")


class _Threads:
    """The threads by node and process; `columns` are their rows in this order."""

    def __init__(self, profile: Profile) -> None:
        self._nodes: dict[str, dict[tuple[Any, ...], list[dict[str, Any]]]] = {}
        for number, row in enumerate(profile.locations.to_pylist()):
            processes = self._nodes.setdefault(row["node"] or "node", {})
            threads = processes.setdefault((max(row["rank"] or 0, 0), row["process"]), [])
            threads.append(row | {"location": number})
        rows = (
            thread["location"]
            for processes in self._nodes.values()
            for threads in processes.values()
            for thread in threads
        )
        self.columns = np.fromiter(rows, np.int64)

    def lines(self) -> Iterator[str]:
        """Yield the machine with its nodes, processes and threads."""
        groups, locations = count(), count()
        machine = _text_elements(**{"name": "machine", "class": "machine"})
        yield f'<systemtreenode Id="0">\n{machine}'
        for number, (node, processes) in enumerate(self._nodes.items(), 1):
            texts = _text_elements(**{"name": node, "class": "node"})
            yield f'<systemtreenode Id="{number}">\n{texts}'
            for (rank, process), threads in processes.items():
                texts = _text_elements(
                    name=process or f"rank {rank}", rank=str(rank), type="process"
                )
                yield f'<locationgroup Id="{next(groups)}">\n{texts}'
                for row in threads:
                    thread = max(row["thread"] or 0, 0)
                    name = row["name"] or f"thread {thread}"
                    texts = _text_elements(name=name, rank=str(thread), type="thread")
                    yield f'<location Id="{next(locations)}">\n{texts}\n</location>'
                yield "</locationgroup>"
            yield "</systemtreenode>"
        yield "</systemtreenode>"


def _add_values(file: IO[bytes], metric: _Metric, tree: _CallTree, columns: Integers) -> None:
    """Write the values of a metric, row after row, and then which call paths they are of."""
    keys, rows = metric.rows(tree)
    above, values = metric.above(tree, rows), metric.values.values
    keys = np.concatenate([np.zeros(len(above), np.int64), keys])
    if not len(keys):
        return
    name, size = metric.row["metric"], len(_DATA) + 8 * len(keys) * len(columns)
    stored = (
        metric.stored(row[columns]) for row in chain(above, map(values.__getitem__, rows))
    )
    _add_member(file, f"{name}.data", size, chain([_DATA], stored))
    index = _INDEX + np.append(len(keys), keys).astype("<u4").tobytes()
    _add_member(file, f"{name}.index", len(index), [index])


def _add_member(file: IO[bytes], name: str, size: int, parts: Iterable[bytes]) -> None:
    """Write a file of the archive, padded to whole blocks."""
    if size >= _MOST_BYTES:
        raise ParameterError(f"{name} would have {size:,} bytes: a .cubex holds 8 GiB a metric")
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o600
    file.write(member.tobuf(tarfile.USTAR_FORMAT))
    file.writelines(parts)
    file.write(bytes(-size % _BLOCK))


def _anchor_lines(
    profile: Profile, metrics: Sequence[_Metric], tree: _CallTree, threads: _Threads
) -> Iterator[str]:
    yield from ('<?xml version="1.0" encoding="UTF-8"?>', '<cube version="4.4">')
    creator = {"Creator": f"burstline {__version__}"}
    for key, value in (_VERSIONS | creator | dict(profile.attributes) | _VERSIONS).items():
        yield f'<attr key="{_xml_text(key)}" value="{_xml_text(value)}"/>'
    yield from ("<doc>", "<mirrors>", "</mirrors>", "</doc>", "<metrics>")
    yield from _metric_lines(profile, metrics)
    yield from ("</metrics>", "<program>")
    yield from tree.lines()
    yield from ("</program>", "<system>")
    yield from threads.lines()
    yield from ("<topologies>", "</topologies>", "</system>", "</cube>")


def _metric_lines(profile: Profile, metrics: Sequence[_Metric]) -> Iterator[str]:
    written = {metric.row["metric"]: metric for metric in metrics}
    parents = profile.metrics["parent"].to_pylist()
    children: dict[int | None, list[int]] = {row: [] for row in [None, *written]}
    for row in written:
        parent = parents[row]
        while parent is not None and parent not in written:
            parent = parents[parent]
        children[parent].append(row)

    def opening(row: int) -> str:
        metric = written[row]
        kind = "INCLUSIVE" if metric.values.inclusive else "EXCLUSIVE"
        elements = _text_elements(
            disp_name=metric.row["title"] or metric.row["name"],
            uniq_name=metric.row["name"],
            dtype=metric.type,
            uom="sec" if metric.is_time else metric.row["unit"],
            url="",
            descr=metric.row["description"],
        )
        return f'<metric id="{row}" type="{kind}">\n{elements}'

    yield from _nested_elements(children[None], children, opening, "</metric>")


def _nested_elements(
    tops: Sequence[int],
    children: Mapping[int | None, list[int]] | Sequence[list[int]],
    opening: Callable[[int], str],
    closing: str,
) -> Iterator[str]:
    """Yield the elements of a tree, however deep, depth first."""
    waiting: list[int | None] = [*reversed(tops)]
    while waiting:
        node = waiting.pop()
        if node is None:
            yield closing
        else:
            yield opening(node)
            waiting += [None, *reversed(children[node])]


def _region_element(number: int, row: dict[str, Any]) -> str:
    name, paradigm = row["function"], row["paradigm"]
    module = _xml_text(row["file"] or _MODULES.get(paradigm, ""))
    span = f'begin="{row["begin_line"] or -1}" end="{row["end_line"] or -1}"'
    texts = {"name": name, "mangled_name": name, "paradigm": paradigm, "role": row["role"]}
    elements = _text_elements(**texts, url="", descr="")
    return f'<region id="{number}" mod="{module}" {span}>\n{elements}\n</region>'


def _text_elements(**texts: str | None) -> str:
    return "\n".join(
        f"<{name}>{_xml_text(text or '')}</{name}>" for name, text in texts.items()
    )


def _xml_text(text: str) -> str:
    r"""A text as XML may hold it: characters that it forbids as ``\x1b``."""
    return readable(text).translate(_ESCAPES)
