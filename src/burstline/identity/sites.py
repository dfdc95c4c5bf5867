"""Sites: which calls of one run are the same call of its program, whatever rank makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

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


class SiteKeys(NamedTuple):
    """The sites of some calls as numbers, the same for calls of all parts of a trace."""

    of_call: npt.NDArray[np.int32]  # (calls,) site of every call, as a row of `keys`
    # (sites, 3) ascending: operation, and the path, or the communicator and the offset
    keys: Integers
    operations: tuple[str, ...]  # the names of these
    has_paths: bool

    def named(self, trace: Trace) -> tuple[Site, ...]:
        """What the sites are called."""
        _, paths = clean_paths(trace)
        return tuple(
            Site(self.operations[operation], paths[place])
            if self.has_paths
            else Site(
                self.operations[operation],
                (),
                None if place == UNKNOWN else place,
                None if offset == UNKNOWN else offset,
            )
            for operation, place, offset in self.keys.tolist()
        )


def sites_of(trace: Trace, rows: Integers, world_size: int) -> Sites:
    """The sites of some rows of `calls`: one for each operation and call path."""
    found = site_keys(trace, rows, world_size)
    return Sites(found.of_call, found.named(trace), found.has_paths)


def site_keys(
    trace: Trace, rows: Integers, world_size: int, *, has_paths: bool | None = None
) -> SiteKeys:
    """The same as numbers. Whether there are paths is known of a part of a trace."""
    codes, operations = coded(trace.table("calls")["operation"])
    (call_path,) = trace.arrays("calls", "call_path")
    number, paths = clean_paths(trace)
    place = number[call_path[rows]]
    if has_paths is None:
        has_paths = bool(place.any())
    count = len(paths)
    if has_paths:
        places = np.stack([np.arange(count), np.full(count, UNKNOWN)], axis=1)
    else:  # these instead
        place, places = _places_without_paths(trace, rows, world_size)
        count = len(places)
    of_call, keys = dense(codes[rows].astype(np.int64) * count + place, len(operations) * count)
    named = np.column_stack([keys // max(count, 1), places[keys % max(count, 1)]])
    return SiteKeys(of_call.astype(np.int32), named, tuple(operations), has_paths)


def _places_without_paths(
    trace: Trace, rows: Integers, world_size: int
) -> tuple[Integers, Integers]:
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
    return place, np.stack([keys // width - 1, keys % width - 1], axis=1)
