"""Sites: which calls of one run are the same call of its program, whatever rank makes them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from burstline.columns import UNKNOWN, Integers, coded, dense
from burstline.identity.call_paths import Frame, Path, clean_paths
from burstline.identity.communicators import splits_of
from burstline.model import Trace


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """What makes a call the same call on any rank."""

    operation: str  # MPI name of the call
    path: Path  # where it is called, outermost frame first; empty if the trace does not say
    # where there is no path: the communicator, or the first of its split, and the rank of the
    # partner relative to the caller's
    communicator: int | None = None
    offset: int | None = None

    @property
    def caller(self) -> Frame | None:
        """The frame that calls MPI; None if the trace does not say."""
        return self.path[-1] if self.path else None


@dataclass(frozen=True, slots=True, eq=False)
class Sites:
    """The sites of some calls."""

    of_call: npt.NDArray[np.int32]  # (calls,) site of every call, as a position in `distinct`
    distinct: tuple[Site, ...]  # each once
    has_paths: bool  # whether call paths distinguish them

    def __len__(self) -> int:
        return len(self.distinct)


def sites_of(trace: Trace, rows: Integers, world_size: int) -> Sites:
    """The sites of some rows of `calls`: one for each operation and call path."""
    codes, operations = coded(trace.table("calls")["operation"])
    (call_path,) = trace.arrays("calls", "call_path")
    number, paths = clean_paths(trace)
    place = number[call_path[rows]]
    has_paths = bool(place.any())
    places: list[tuple[int | None, int | None]] = []
    count = len(paths)
    if not has_paths:  # these instead
        place, places = _places_without_paths(trace, rows, world_size)
        count = len(places)
    of_call, keys = dense(codes[rows].astype(np.int64) * count + place, len(operations) * count)
    named = [(operations[key // count], key % count) for key in keys.tolist()]
    distinct = tuple(
        Site(name, paths[at]) if has_paths else Site(name, (), *places[at])
        for name, at in named
    )
    return Sites(of_call.astype(np.int32), distinct, has_paths)


def _places_without_paths(
    trace: Trace, rows: Integers, world_size: int
) -> tuple[Integers, list[tuple[int | None, int | None]]]:
    (ranks,) = trace.arrays("locations", "rank")
    columns = trace.arrays("calls", "location", "peer", "communicator")
    location, peer, communicator = (column[rows].astype(np.int64) for column in columns)
    split = splits_of(trace)
    defined = (communicator >= 0) & (communicator < len(split))  # not in a part of calls alone
    communicator[defined] = split[communicator[defined]]
    # around the end, so that the neighbours of the first and the last rank are neighbours
    offset = np.where(peer >= 0, (peer - ranks[location]) % world_size, UNKNOWN)
    width = int(offset.max(initial=UNKNOWN)) + 2
    key = (communicator + 1) * width + offset + 1
    place, keys = dense(key, int(key.max(initial=0)) + 1)
    return place, [
        (key // width - 1 if key >= width else None, key % width - 1 if key % width else None)
        for key in keys.tolist()
    ]
