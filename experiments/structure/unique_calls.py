"""Unique MPI calls of NPB traces beside the published counts, call site by call site.

::

    python -m experiments.structure.unique_calls FOLDER

Reads every ``npb_PROGRAM_….prv`` or ``.prv.gz`` of the folder and prints Markdown: the
counts beside the published ones, the effect of the depth of the call stack, the
operations, and the call sites. The page ``docs/results/unique-calls.md`` explains them.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import burstline
from burstline import Trace
from burstline.errors import ParameterError, printable
from burstline.identity import Site, sites_of
from burstline.structure import Calls
from experiments.structure.published import LAWS, PUBLISHED

MOST_FRAMES: Final = 8
_CALLERS: Final = (70000001, 70000099)
_CALLER_LINES: Final = (80000001, 80000099)
_UNSEEN: Final = frozenset({"MPI_Init", "MPI_Init_thread"})

Unique = tuple[int, Site]
"""A lane, and what makes a call of it unique."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The unique calls of one trace.

    Attributes
    ----------
    program : str
        Of the benchmarks, in capitals.
    ranks : int
        Lanes: every rank has one thread that calls MPI.
    unique : tuple of (int, Site)
        Each unique call once, lane after lane.
    by_address : int
        How many there are if two places are the same only if their ids are.
    """

    program: str
    ranks: int
    unique: tuple[Unique, ...]
    by_address: int

    @property
    def unseen(self) -> int:
        """How many of them begin the tracing, so that nobody knows who called them."""
        return sum(site.operation in _UNSEEN for _, site in self.unique)

    def per_rank(self) -> list[int]:
        """Count those of each lane."""
        found = Counter(lane for lane, _ in self.unique)
        return [found[lane] for lane in range(self.ranks)]

    def at_depth(self, frames: int) -> int:
        """Count them as if only so many frames next to MPI had been recorded."""
        cut = {(lane, s.operation, s.path[-frames:]) for lane, s in self.unique}
        return len(cut)


def count(program: str, trace: Trace) -> Counted:
    """Count the unique calls of a trace.

    Parameters
    ----------
    program : str
        Its name.
    trace : Trace
        With raw tables, for the ids of call paths.

    Returns
    -------
    Counted
        The unique calls.
    """
    calls = Calls(trace, None)
    sites = sites_of(trace, calls.row, calls.world_size)
    pairs = sorted(set(zip(calls.lane.tolist(), sites.of_call.tolist(), strict=True)))
    unique = tuple((lane, sites.distinct[number]) for lane, number in pairs)
    return Counted(program, len(calls.ranks), unique, _count_by_address(trace))


def _count_by_address(trace: Trace) -> int:
    """Count by the source's ids of callers: its labels may give two places one name."""
    columns = trace.arrays("events", "location", "time_ns", "type", "value")
    types = columns[2]
    chosen = ((types >= _CALLERS[0]) & (types <= _CALLERS[1])) | (
        (types >= _CALLER_LINES[0]) & (types <= _CALLER_LINES[1])
    )
    ids: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for location, time_ns, *frame in zip(*(c[chosen].tolist() for c in columns), strict=True):
        ids[location, time_ns].append((frame[0], frame[1]))
    table = trace.calls.select(["location", "enter_ns", "operation"])
    rows = zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
    return len({(at, name, tuple(sorted(ids.get((at, ns), ())))) for at, ns, name in rows})


def report(found: Sequence[Counted]) -> Iterator[str]:
    """Give the lines of the report.

    Parameters
    ----------
    found : sequence of Counted
        A trace each.

    Yields
    ------
    str
        Lines of Markdown.
    """
    yield from _section("Unique calls of the traces", _counts(found))
    yield from _section("The laws at the published numbers of ranks", _laws())
    yield from _section("Frames kept next to MPI", _depths(found))
    yield from _section("Operations", _operations(found))
    for counted in found:
        title = f"Call sites of {counted.program} on {counted.ranks} ranks"
        yield from _section(title, _sites(counted))


def _section(title: str, rows: Iterable[Sequence[object]]) -> Iterator[str]:
    head, *body = ([str(cell) for cell in row] for row in rows)
    yield from (f"## {title}", "", _row(head), _row(["---"] * len(head)))
    yield from map(_row, body)
    yield ""


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _counts(found: Sequence[Counted]) -> Iterator[Sequence[object]]:
    yield "program", "ranks", "unique calls", "of a rank", "without MPI_Init", "by law"
    for counted in found:
        per_rank = counted.per_rank()
        span = f"{min(per_rank)}"
        if min(per_rank) < max(per_rank):
            span += f" to {max(per_rank)}"
        law = LAWS[counted.program][1](counted.ranks)
        without = f"{len(counted.unique) - counted.unseen}"
        if counted.by_address != len(counted.unique):
            without += f" (by address {counted.by_address - counted.unseen})"
        yield (
            counted.program,
            counted.ranks,
            len(counted.unique),
            span,
            without,
            "" if law is None else law,
        )


def _laws() -> Iterator[Sequence[object]]:
    yield "program", "law, P ranks", "ranks", "by law", "published", "difference"
    for program, published in PUBLISHED.items():
        words, law = LAWS[program]
        counts = [law(ranks) or 0 for ranks in published]
        apart = [there - here for here, there in zip(counts, published.values(), strict=True)]
        shown = (", ".join(map(str, each)) for each in (published, counts, published.values()))
        yield program, words, *shown, ", ".join(map(str, apart)) if any(apart) else "none"


def _depths(found: Sequence[Counted]) -> Iterator[Sequence[object]]:
    yield "program", "ranks", *range(1, MOST_FRAMES + 1)
    for counted in found:
        depths = [counted.at_depth(frames) for frames in range(1, MOST_FRAMES + 1)]
        yield counted.program, counted.ranks, *depths


def _operations(found: Sequence[Counted]) -> Iterator[Sequence[object]]:
    yield "program", "ranks", "unique calls by operation, over all ranks"
    for counted in found:
        numbers = Counter(site.operation for _, site in counted.unique)
        said = ", ".join(f"{name} {number}" for name, number in sorted(numbers.items()))
        yield counted.program, counted.ranks, said


def _sites(counted: Counted) -> Iterator[Sequence[object]]:
    yield "function", "operation", "lines", "ways to it", "unique calls", "ranks"
    groups: dict[tuple[str, str], list[Unique]] = defaultdict(list)
    for lane, site in counted.unique:
        function = site.path[-1].function if site.path else "not known"
        groups[function, site.operation].append((lane, site))
    for (function, operation), members in sorted(groups.items()):
        last = {path[-1] for _, s in members if (path := s.path)}
        lines = sorted(frame.line for frame in last if frame.line is not None)
        ways = {s.path[:-1] for _, s in members}
        yield (
            printable(function),
            operation,
            ", ".join(map(str, lines)),
            len(ways),
            len(members),
            f"{len({lane for lane, _ in members})} of {counted.ranks}",
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Count in every trace of a folder, and print the report.

    Parameters
    ----------
    arguments : sequence of str, optional
        Of the command line.

    Raises
    ------
    ParameterError
        If the folder holds no trace of the benchmarks.
    """
    parser = argparse.ArgumentParser(
        prog="python -m experiments.structure.unique_calls",
        description="Count unique MPI calls of NPB traces beside the published counts.",
    )
    parser.add_argument("folder", type=Path, help="holds npb_PROGRAM_*.prv or .prv.gz")
    folder: Path = parser.parse_args(arguments).folder
    traces: dict[tuple[str, int], Counted] = {}
    for path in sorted([*folder.glob("npb_*.prv"), *folder.glob("npb_*.prv.gz")]):
        program = path.name.split("_")[1].split(".")[0].upper()
        if program in PUBLISHED:
            counted = count(program, burstline.read(path))
            traces.setdefault((program, counted.ranks), counted)
    if not traces:
        raise ParameterError(f"no npb_PROGRAM_*.prv in {folder}; it takes traces of NPB")
    for line in report(list(traces.values())):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
