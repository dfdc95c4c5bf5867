"""How long each kind lasts: within spans of time, and at each line of a program."""

from __future__ import annotations

import numpy as np

from burstline.columns import UNKNOWN, AnyIntegers, Integers, prefix_sums, take, to_numpy
from burstline.structure import Structure
from burstline.timeline.kinds import KINDS, Kind
from burstline.timeline.result import Timeline


def times_within(
    line: Timeline, location: AnyIntegers, start_ns: Integers, end_ns: Integers
) -> Integers:
    """How long each kind lasts in spans of locations, ns, shape (spans, kinds).

    What of a span is outside of the time that is tiled is of no kind. O(kinds x pieces).
    """
    start, end, kind = (to_numpy(line.pieces[name]) for name in ("start_ns", "end_ns", "kind"))
    times = np.zeros((len(location), len(KINDS)), np.int64)
    if not len(start):
        return times
    begin, until = (np.clip(each, line.first_ns, line.last_ns) for each in (start_ns, end_ns))
    first, last = (piece_at(line, location, each) for each in (begin, until))
    for code in range(len(KINDS)):
        of_kind = kind == code
        before = prefix_sums(np.where(of_kind, end - start, 0))
        sums = (
            before[piece] + of_kind[piece] * (time - start[piece])
            for piece, time in ((last, until), (first, begin))
        )
        times[:, code] = np.subtract(*sums)
    return times


def piece_at(line: Timeline, location: AnyIntegers, time_ns: Integers) -> Integers:
    """The piece of a location that holds a moment, or ends with it."""
    pieces, length = line.pieces, line.last_ns - line.first_ns + 1
    place = to_numpy(pieces["location"]).astype(np.int64) * length
    key = place + (to_numpy(pieces["start_ns"]) - line.first_ns)
    wanted = np.asarray(location, np.int64) * length + (time_ns - line.first_ns)
    piece = np.searchsorted(key, wanted, side="right") - 1
    return np.maximum(piece, line.begin[location])


def times_by_rank(line: Timeline) -> dict[tuple[int, int], Integers]:
    """How long the threads of each rank are in each kind in the run, by application and rank.

    The run is :attr:`Timeline.baseline_ns`; streams of accelerators are left out.
    """
    names = "application", "rank", "kind"
    rows = list(zip(*(line.locations[name].to_pylist() for name in names), strict=True))
    every = np.arange(len(rows))
    begin, end = (np.full(len(rows), time) for time in line.baseline_ns)
    sums: dict[tuple[int, int], Integers] = {}
    for (application, rank, what), times in zip(
        rows, times_within(line, every, begin, end), strict=True
    ):
        if what == "cpu":
            place = application, rank
            sums[place] = sums.get(place, np.zeros(len(KINDS), np.int64)) + times
    return sums


def times_by_site(line: Timeline, structure: Structure) -> tuple[Integers, Integers]:
    """How long each kind lasts in the calls of each site in the run, and before them, ns.

    Shape (sites, kinds) both; sites are numbered as the calls of the structure. What lies
    between two calls is before the second; what no call follows is left out.
    """
    site, following, length = _sites_of(line, structure)
    kind = to_numpy(line.pieces["kind"])
    sites = _sites(structure)
    within, before = (np.zeros((sites, len(KINDS)), np.int64) for _ in range(2))
    inside, between = site >= 0, following >= 0
    np.add.at(within, (site[inside], kind[inside]), length[inside])
    np.add.at(before, (following[between], kind[between]), length[between])
    return within, before


def paths_before(line: Timeline, structure: Structure) -> Integers:
    """The call path, or -1, that most computing before calls of each site is in, (sites,)."""
    _, following, length = _sites_of(line, structure)
    path = line.pieces["call_path"].fill_null(UNKNOWN).to_numpy().astype(np.int64)
    computing = (to_numpy(line.pieces["kind"]) == Kind.COMPUTING) & (following >= 0)
    computing &= path >= 0
    paths = line.waits.profile.call_paths.num_rows
    pair, row = np.unique(following[computing] * paths + path[computing], return_inverse=True)
    times = np.zeros(len(pair), np.int64)
    np.add.at(times, row, length[computing])
    most = np.full(_sites(structure), UNKNOWN, np.int64)
    order = np.argsort(times, kind="stable")  # the longest is written last
    most[pair[order] // max(paths, 1)] = pair[order] % max(paths, 1)
    return most


def _sites(structure: Structure) -> int:
    return int(structure.steps.sequence.max(initial=-1)) + 1


def _sites_of(line: Timeline, structure: Structure) -> tuple[Integers, Integers, Integers]:
    """The site each piece is in, -1 for none, that of the call behind it, and its length."""
    calls, sequence = structure.found_in, structure.steps.sequence.astype(np.int64)
    pieces = line.pieces
    location = to_numpy(pieces["location"])
    begin, until = line.baseline_ns
    start, end = (
        np.clip(to_numpy(pieces[name]), begin, until) for name in ("start_ns", "end_ns")
    )
    lane = np.full(line.locations.num_rows, UNKNOWN)
    lane[calls.locations] = np.arange(len(calls.locations))
    lane = lane[location]
    call = pieces["call"].fill_null(UNKNOWN).to_numpy().astype(np.int64)
    place = np.where((call >= 0) & (lane >= 0), calls.lane_begin[lane] + call, UNKNOWN)
    following = np.where(call < 0, _following(place, location), UNKNOWN)
    return take(sequence, place), take(sequence, following), end - start


def _following(place: Integers, location: AnyIntegers) -> Integers:
    """For each piece, the next call from there on at its location; -1 without."""
    count = len(place)
    at = np.where(place >= 0, np.arange(count), count)
    later = np.minimum.accumulate(at[::-1])[::-1]
    there = np.flatnonzero(later < count)
    found = np.full(count, UNKNOWN)
    same = location[later[there]] == location[there]
    found[there[same]] = place[later[there[same]]]
    return found
