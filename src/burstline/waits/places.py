"""Where call paths are: the lines that calls are made from, and what computing lies between.

A call path of a program whose functions report themselves has no line of its calls, and one of
computing has the call that ends it alone. Both are here, most time first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from burstline.columns import AnyIntegers
from burstline.identity import CallTree, Frame, last_frames
from burstline.model import Trace
from burstline.synchronisation import Sync
from burstline.waits.absence import absence_in_regions, time_on_processor
from burstline.waits.computing_shares import functions_of_places
from burstline.waits.sampled import Sampled, functions_by_place, functions_in_constructs
from burstline.waits.stops import computing

_MOST_TOLD: Final = 3
EXTENSION: Final = "__pyx_"
"""What functions begin with that Cython makes: a call from there is Python's."""


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """What of the call paths of a profile is in none of its columns."""

    # by call path of a call: the places ``file:line`` that it is made from
    sites: dict[int, tuple[str, ...]] = field(default_factory=dict)
    # by call path of computing: that of the call that ends it, and those of the calls before it
    ends: dict[int, int] = field(default_factory=dict)
    begins: dict[int, tuple[int, ...]] = field(default_factory=dict)
    # by call path of computing: the functions that samples found there, most first
    functions: dict[int, tuple[Sampled, ...]] = field(default_factory=dict)
    # by call path of a construct of OpenMP, and rank: the function of its slow thread in it
    in_constructs: dict[int, dict[int, Sampled]] = field(default_factory=dict)
    # by call path of a region: how long each rank was off its processor there, ns
    absent: dict[int, dict[int, int]] = field(default_factory=dict)
    # by call path of computing, and below -1 of all of it: how long each rank was on a
    # processor, ns; empty where nobody counted that
    processor: dict[int, dict[int, int]] = field(default_factory=dict)
    # by call path of a function that samples saw: that of the computing that it is in
    placed: dict[int, int] = field(default_factory=dict)
    regions: frozenset[int] = frozenset()  # call paths of regions: they have their first line
    # by rank: the one socket of its node that its threads were seen on
    sockets: dict[int, str] = field(default_factory=dict)

    def call(self, call_path: int, operation: str) -> str:
        """A call with where it is made: ``MPI_Send, a.c:3``."""
        return ", ".join([operation.replace(" @", " at "), *self.place_text(call_path)])

    def place_text(self, call_path: int) -> list[str]:
        """The places that a call is made from as text: none or one."""
        sites = self.sites.get(call_path, ())
        return [one_of(sites)] if sites else []


def one_of(names: Sequence[str], comma: str = "") -> str:
    """Names with `or` between them, and a comma before it if they have some; the first ones."""
    shown = [*names[:_MOST_TOLD]]
    if len(names) > _MOST_TOLD:
        shown.append(f"{len(names) - _MOST_TOLD} others")
    return f"{comma} or ".join(shown)


def places_of(trace: Trace, sync: Sync, tree: CallTree) -> Places:
    """The places of a trace, whose computing has its call paths."""
    stops, rows, follows = computing(sync)
    gap = stops.enter_ns[rows + 1] - stops.leave_ns[rows]
    by_time = _by_time(follows, stops.node[rows], gap)
    in_places = functions_of_places(tree)
    return Places(
        sites=_call_sites(trace, sync, tree),
        ends=dict(zip(follows.tolist(), stops.node[rows + 1].tolist(), strict=True)),
        begins={place: tuple(calls) for place, calls in by_time.items()},
        functions=functions_by_place(trace, stops, rows, follows),
        in_constructs=functions_in_constructs(trace, sync),
        absent=absence_in_regions(trace, sync),
        processor=time_on_processor(trace, sync),
        placed={node: place for place, nodes in in_places.items() for node in nodes},
        regions=frozenset(np.unique(tree.region_node).tolist()),
        sockets=_sockets(trace),
    )


def _sockets(trace: Trace) -> dict[int, str]:
    """The socket of each rank that was seen on no other."""
    ranks = trace.table("locations")["rank"].to_pylist()
    seen: dict[int, set[str]] = {}
    for row in trace.table("placements").select(["location", "sockets"]).to_pylist():
        seen.setdefault(ranks[row["location"]], set()).add(row["sockets"] or "")
    one = {rank: "".join(sockets) for rank, sockets in seen.items() if len(sockets) == 1}
    return {rank: socket for rank, socket in one.items() if socket.isdecimal()}


def _call_sites(trace: Trace, sync: Sync, tree: CallTree) -> dict[int, tuple[str, ...]]:
    """The places that the calls of each call path are made from."""
    number, frames = last_frames(trace)
    (call_path,) = trace.arrays("calls", "call_path")
    last = [*map(_line_of, frames)]
    names = [*dict.fromkeys(last)]
    numbers = {name: number for number, name in enumerate(names)}
    place = np.array([numbers[each] for each in last], np.int64)[number[call_path]]
    length = sync.calls.leave_ns - sync.calls.enter_ns
    by_time = _by_time(tree.call_node, place, length)
    shown = {node: tuple(names[k] for k in each if names[k]) for node, each in by_time.items()}
    return {node: each for node, each in shown.items() if each}


def _line_of(frame: Frame | None) -> str:
    """Where a frame is; nothing without a line, or of what Cython made of Python."""
    if (
        frame is None
        or frame.file is None
        or frame.line is None
        or frame.function.startswith(EXTENSION)
    ):
        return ""
    return f"{frame.file}:{frame.line}"


def _by_time(
    key: AnyIntegers, value: AnyIntegers, time_ns: AnyIntegers
) -> dict[int, list[int]]:
    """The values of each key, those first that most time is spent with."""
    width = int(value.max(initial=0)) + 1
    pairs, pair = np.unique(key.astype(np.int64) * width + value, return_inverse=True)
    time = np.bincount(pair.reshape(-1), time_ns, minlength=len(pairs))
    found: dict[int, list[int]] = {}
    for k in np.argsort(-time, kind="stable").tolist():
        node, each = divmod(int(pairs[k]), width)
        found.setdefault(node, []).append(each)
    return found
