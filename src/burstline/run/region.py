"""Iterations of a loop as the region of interest: where each rank ran them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from burstline import annotation, structure
from burstline.columns import Integers
from burstline.model import Trace
from burstline.selection import former_locations, former_windows, select


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """Iterations of a loop that were chosen, where they are, and how long."""

    trace: Trace  # of them alone, which tells of all loops that were found
    start_ns: Integers  # (locations,) of the whole trace
    end_ns: Integers
    marks: annotation.Marks  # of these loops
    loop: int
    first: int
    last: int
    method: str  # that found the loop
    # of the ranks that run them, ns
    shortest_ns: int
    longest_ns: int
    without: tuple[int, ...]  # ranks that do not


def iterations_part(
    whole: Trace,
    part: Trace,
    found: structure.Structure,
    region: Mapping[str, Any],
    iterations: tuple[int, int, int],
) -> Chosen:
    """Some iterations of a loop that was found in a part of a trace."""
    begin, end = structure.iterations_window(part, found, *iterations)
    (rank,), length_ns = part.arrays("locations", "rank"), end - begin
    runs = length_ns > 0
    start_ns, end_ns = former_windows(whole, part, begin, end)
    places = former_locations(whole, part) if region else None
    made = select(whole, start_ns=start_ns, end_ns=end_ns)
    marks = annotation.marks_of(found, locations=places)
    marks = marks.within(former_locations(whole, made), start_ns, end_ns)
    return Chosen(
        annotation.with_loops(made, marks),
        start_ns,
        end_ns,
        marks,
        *iterations,
        method=found.method,
        shortest_ns=int(length_ns[runs].min()),
        longest_ns=int(length_ns.max()),
        without=tuple(sorted(set(rank.tolist()) - set(rank[runs].tolist()))),
    )
