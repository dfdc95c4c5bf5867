"""From a trace and its waits to pieces that tile the time of each thread."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from burstline.columns import UNKNOWN, AnyIntegers, Integers, begins_run, take, to_numpy
from burstline.errors import ParameterError
from burstline.model import Trace, last_until
from burstline.synchronisation import Graph, Sync, graph_of
from burstline.timeline.kinds import KIND_OF_WAIT, Kind, kinds_of_calls, kinds_of_nodes
from burstline.timeline.result import Timeline
from burstline.timeline.sums import piece_at
from burstline.waits import (
    Nodes,
    Waits,
    by_times_seen,
    functions_on,
    time_line,
    with_computation,
)

_Kinds = AnyIntegers
_OF_MESSAGES: Final = (
    *("sender_location", "send_ns", "receiver_location", "receive_ns"),
    "sent_bytes",
)


def timeline(trace: Trace, waits: Waits) -> Timeline:
    """What each thread did at every moment, and why it waited.

    Parameters
    ----------
    trace : Trace
        What happened.
    waits : Waits
        The waits of the same trace, of physical stamps as they were recorded.

    Returns
    -------
    Timeline
        Pieces that tile the time of every location, each of one kind.

    Raises
    ------
    ParameterError
        If the waits are those of a logical clock, or of another trace.

    Notes
    -----
    A wait lies from where its call is entered. Where two waits of a call overlap, the one that
    began last counts from then on. Time before the first call of MPI and after the last one is
    computing, where the thread makes any; in the baseline, it counts to MPI_Init until the
    process has left that, and to MPI_Finalize from there on. That of a worker in no team is
    idle; that of a thread of which nothing is told is not recorded. O(n log n) for n calls,
    regions and waits.

    Examples
    --------
    >>> import burstline
    >>> from burstline.testing import trace_of
    >>> trace = trace_of(
    ...     "ranks 2 | 0 | 10 enter MPI_Send | 10 send to 1 bytes 8 | 11 leave "
    ...     "| 1 | 6 enter MPI_Recv | 12 receive from 0 bytes 8 | 12 leave"
    ... )
    >>> line = timeline(trace, burstline.wait_states(trace))
    >>> line.totals_ns()["late_sender"], line.totals_ns()["transfer"]
    (4, 3)
    """
    return timeline_of(graph_of(trace), waits)


def timeline_of(graph: Graph, waits: Waits) -> Timeline:
    """The timeline of a trace whose graph is known already."""
    if waits.unit != "ns":
        raise ParameterError(
            "a timeline is of physical time: these waits are of a logical clock"
        )
    graph = with_computation(graph)
    trace, sync, tree = graph.trace, graph.sync, graph.tree
    if tree.nodes.num_rows != waits.profile.call_paths.num_rows:
        raise ParameterError("these waits are of another trace: it has other call paths")
    nodes = Nodes(tree.nodes)
    first, last = _observed(trace)
    location, node, start, length = time_line(sync, len(nodes))
    line, order = _sorted_spans(location, start, start + length)
    first = min(first, int(line.start_ns.min(initial=first)))
    last = max(last, int(line.end_ns.max(initial=last)))
    pieces, row = _tiles(line, first, last, sync.locations)
    path = take(node[order].astype(np.int64), row)
    untold = _told(sync, line)[pieces.location]
    kind = np.where(row >= 0, take(kinds_of_nodes(nodes), path, 0), untold)
    pieces, path, kind, call = _in_calls(sync, nodes, pieces, path, kind)
    baseline = _baseline(sync, first, last)
    for over, value in (
        (_management(sync), Kind.OPENMP),
        (_outside(sync, baseline), Kind.ENDS),
        (_unwatched(trace), Kind.NOT_RECORDED),
    ):
        pieces, row, hit = _painted(pieces, over)
        path, call = path[row], call[row]
        kind = np.where(hit >= 0, value, kind[row])
    pieces, path, kind, call, wait = _with_waits(waits, pieces, path, kind, call)
    table = pa.table(
        {
            "location": pa.array(pieces.location.astype(np.int32)),
            "start_ns": pieces.start_ns,
            "end_ns": pieces.end_ns,
            "kind": pa.array(kind.astype(np.uint8)),
            "call_path": _nullable(path),
            "call": _nullable(call),
            "wait": _nullable(wait),
        }
    )
    messages = trace.table("messages").select(_OF_MESSAGES)
    made = Timeline(first, last, baseline, table, waits, trace.locations, messages)
    seen = _nullable(_functions_seen(trace, made))
    return replace(made, pieces=table.append_column("function", seen))


def _functions_seen(trace: Trace, line: Timeline) -> Integers:
    """By piece, the call path of the function that samples saw most in it; none without."""
    found = np.full(line.pieces.num_rows, UNKNOWN, np.int64)
    paths = line.waits.profile.call_paths.select(["function", "file"]).to_pylist()
    nodes = {
        (place, *paths[node].values()): node for node, place in line.waits.places.placed.items()
    }
    if not nodes or not trace.rows("samples"):
        return found
    location, time_ns, periods, path = trace.arrays(
        "samples", "location", "time_ns", "periods", "call_path"
    )
    frames = trace.call_paths.select(["parent", "function", "file"]).to_pylist()
    piece = piece_at(line, location, np.clip(time_ns, line.first_ns, line.last_ns))
    columns = piece, take(functions_on(frames), path)
    places = to_numpy(line.pieces["call_path"].fill_null(UNKNOWN))
    for row in by_times_seen(*columns, periods).tolist():
        where, frame = (int(column[row]) for column in columns)
        name = frames[frame]["function"], frames[frame]["file"]
        if frame >= 0 and (node := nodes.get((int(places[where]), *name))) is not None:
            found[where] = node
    return found


def _observed(trace: Trace) -> tuple[int, int]:
    """The first and the last moment at which any thread was observed."""
    born, died = trace.arrays("locations", "born_ns", "died_ns")
    return (int(born.min()), int(died.max())) if len(born) else (0, 0)


def _nullable(rows: Integers) -> pa.Array:
    return pa.array(rows, pa.int32(), mask=rows < 0)


def _baseline(sync: Sync, first: int, last: int) -> tuple[int, int]:
    """From the first end of MPI_Init to the last begin of MPI_Finalize."""
    begin = int(sync.calls.leave_ns[sync.inits].min()) if len(sync.inits) else first
    end = int(sync.calls.enter_ns[sync.finals].max()) if len(sync.finals) else last
    return (begin, end) if first <= begin < end <= last else (first, last)


def _outside(sync: Sync, baseline: tuple[int, int]) -> LocationSpans:
    """The baseline before processes have left MPI_Init, and from their MPI_Finalize on."""
    (first, last), calls = baseline, sync.calls
    spans = [np.zeros((3, 0), np.int64)]
    for row in (*sync.inits.tolist(), *sync.finals.tolist()):
        places = np.flatnonzero(sync.process == sync.process[calls.location[row]])
        is_init = row in sync.inits
        begin = first if is_init else max(int(calls.enter_ns[row]), first)
        until = min(int(calls.leave_ns[row]), last) if is_init else last
        spans.append(np.stack([places, *np.full((2, len(places)), [[begin], [until]])]))
    return _sorted_spans(*np.concatenate(spans, axis=1))[0]


def _told(sync: Sync, line: LocationSpans) -> _Kinds:
    """What each location does where nothing is told of it."""
    kind = np.full(sync.locations, Kind.NOT_RECORDED, np.uint8)
    kind[line.location] = Kind.COMPUTING
    calls = np.diff(sync.calls.begin) > 0
    forks = np.isin(sync.process, sync.process[sync.teams.fork_location])
    kind[forks & sync.is_cpu & (sync.thread > 0) & ~calls] = Kind.IDLE
    return kind


def _in_calls(
    sync: Sync, nodes: Nodes, pieces: LocationSpans, path: Integers, kind: _Kinds
) -> tuple[LocationSpans, Integers, _Kinds, Integers]:
    """The same with the call of MPI that each piece is in, -1 for none, and its kind."""
    calls = sync.calls
    over, order = _sorted_spans(calls.location, calls.enter_ns, calls.leave_ns)
    pieces, row, hit = _painted(pieces, over)
    path, kind = path[row], kind[row]
    in_mpi = np.array([category.startswith("mpi") for category in nodes.category] or [False])
    hit = np.where(take(in_mpi, path, missing=False), hit, UNKNOWN)
    call = take(order, hit)
    own = kinds_of_calls(sync)
    is_open = (hit >= 0) & (kind == Kind.OTHER_MPI)
    kind = np.where(is_open, take(own, call, 0), kind)
    ordinal = np.where(call >= 0, call - calls.begin[pieces.location], UNKNOWN)
    return pieces, path, kind, ordinal


def _management(sync: Sync) -> LocationSpans:
    """Where teams are started and ended: OpenMP's own time."""
    teams, regions = sync.teams, sync.regions
    region = teams.region
    location = regions.location[region]
    enter, leave = regions.enter_ns[region], regions.leave_ns[region]
    return _sorted_spans(
        np.concatenate([location, location]),
        np.concatenate([enter - teams.fork_ns, leave]),
        np.concatenate([enter, leave + teams.join_ns]),
    )[0]


def _unwatched(trace: Trace) -> LocationSpans:
    location, start, end = trace.arrays("gaps", "location", "start_ns", "end_ns")
    born, died = trace.arrays("locations", "born_ns", "died_ns")
    first, last = _observed(trace)
    where = np.arange(len(born))
    return _sorted_spans(
        np.concatenate([location, where, where]),
        np.concatenate([start, np.full(len(born), first), died]),
        np.concatenate([end, born, np.full(len(born), last)]),
    )[0]


def _with_waits(
    waits: Waits, pieces: LocationSpans, path: Integers, kind: _Kinds, call: Integers
) -> tuple[LocationSpans, Integers, _Kinds, Integers, Integers]:
    """The same with the single wait that each piece is of, -1 for none, and its kind."""
    table = waits.instances
    location, start, wait = (
        to_numpy(table[name]).astype(np.int64) for name in ("location", "start_ns", "wait_ns")
    )
    over, order = _sorted_spans(location, start, start + wait)
    pieces, row, hit = _painted(pieces, over)
    path, kind, call = path[row], kind[row], call[row]
    hit = np.where(kind == Kind.NOT_RECORDED, UNKNOWN, hit)
    of_wait = take(order, hit)
    own = np.array(
        [KIND_OF_WAIT[name] for name in table["metric"].to_pylist()] or [Kind.COMPUTING]
    )
    return pieces, path, np.where(hit >= 0, take(own, of_wait, 0), kind), call, of_wait


class LocationSpans(NamedTuple):
    """Intervals of locations, sorted by location and start."""

    location: Integers
    start_ns: Integers
    end_ns: Integers


def _tiles(
    spans: LocationSpans, first_ns: int, last_ns: int, locations: int
) -> tuple[LocationSpans, Integers]:
    """The time of all locations in pieces, and the span that each lies in, -1 for none.

    Of spans that overlap, the one that begins last holds until its end.
    """
    where = np.arange(locations)
    edge = np.full(locations, first_ns), np.full(locations, last_ns)
    location = np.concatenate([where, where, spans.location, spans.location])
    time_ns = np.concatenate([*edge, spans.start_ns, spans.end_ns]).clip(first_ns, last_ns)
    order = np.lexsort((time_ns, location))
    location, time_ns = location[order], time_ns[order]
    chosen = begins_run(location, time_ns)
    location, time_ns = location[chosen], time_ns[chosen]
    inside = np.flatnonzero(location[:-1] == location[1:])
    pieces = LocationSpans(location[inside], time_ns[inside], time_ns[inside + 1])
    return pieces, _rows_around(spans, pieces)


def _painted(
    pieces: LocationSpans, over: LocationSpans
) -> tuple[LocationSpans, Integers, Integers]:
    """The same time in smaller pieces: the piece and the interval over it, or -1, of each."""
    location = np.concatenate([pieces.location, over.location, over.location])
    time_ns = np.concatenate([pieces.start_ns, over.start_ns, over.end_ns])
    order = np.lexsort((time_ns, location))
    location, time_ns = location[order], time_ns[order]
    chosen = begins_run(location, time_ns)
    location, time_ns = location[chosen], time_ns[chosen]
    row = last_until((pieces.location, pieces.start_ns), (location, time_ns))
    within = (row >= 0) & (time_ns < take(pieces.end_ns, row))
    location, time_ns, row = location[within], time_ns[within], row[within]
    same = np.append(row[1:] == row[:-1], False)[: len(row)]
    until = np.where(same, np.append(time_ns[1:], 0)[: len(row)], pieces.end_ns[row])
    finer = LocationSpans(location, time_ns, until)
    return finer, row, _rows_around(over, finer)


def _sorted_spans(
    location: AnyIntegers, start: Integers, end: Integers
) -> tuple[LocationSpans, Integers]:
    """Spans in order, those of no length left out, and which of the given each is."""
    some = np.flatnonzero(start < end)
    order = some[np.lexsort((start[some], location[some]))]
    return LocationSpans(location[order].astype(np.int64), start[order], end[order]), order


def _rows_around(spans: LocationSpans, pieces: LocationSpans) -> Integers:
    row = last_until((spans.location, spans.start_ns), (pieces.location, pieces.start_ns))
    return np.where(pieces.start_ns < take(spans.end_ns, row), row, UNKNOWN)
