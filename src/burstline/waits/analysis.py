"""The face of the patterns: from a trace to its waits, and what it could not see."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, Final, NamedTuple

import numpy as np

from burstline.clocks import CLOCKS as LOGICAL_CLOCKS
from burstline.clocks import COLLECTIVES, Effort, constructs, corrected, retimings, violations
from burstline.efficiency import Ideal, ideal_of
from burstline.errors import MemoryBudgetError, NotEnoughDataError, ParameterError, plural
from burstline.model import CHOSEN_RANKS, GAP_KINDS, IO, RMA, SILENT_THREADS, Trace
from burstline.model import COLLECTIVES as CALLS_OF_ALL
from burstline.selection import parse_time
from burstline.structure import Structure, detect
from burstline.synchronisation import Graph, Sync, graph_of, rows_of
from burstline.waits.collectives import apart
from burstline.waits.computation import at_times_of, with_computation
from burstline.waits.factors import factors, ideal_in, why_not_split
from burstline.waits.intrinsic import divided, with_parts, without_noise, work_clock, work_of
from burstline.waits.openmp import LEAST_COMPARED
from burstline.waits.parts import Parts, iterations_of, loops_of, whole_of, windows_of
from burstline.waits.patterns import Patterns, patterns_of
from burstline.waits.result import WHOLE_LOCATIONS, Modelled, Waits, unexplained_ns, waits_of

_CELL_BYTES: Final = 8 * 28
"""Of a call path on a location: metrics with values there, and what is summed up."""
_MEETING_BYTES: Final = 8 * 30
"""Of a thread's part in a team or a barrier: points in time, and what is found of each."""
TOOLS: Final = ("scalasca-2.6",)
DETECTED: Final = ("iteration", "loop")
"""Parts of a run that are told by its structure."""
CLOCKS: Final = ("physical", *LOGICAL_CLOCKS)


def wait_states(
    trace: Trace,
    *,
    clock: str | Effort = "physical",
    collectives: str = "causal",
    like: str | None = None,
    by: str | int | None = None,
    loop: int | None = None,
    correct: bool = False,
    intrinsic: bool = False,
) -> Waits:
    """Where a program waits, and who causes it.

    Wait states are those of Scalasca [1]_: a receive waits for its sender, a send for its
    receiver, members of a collective for the last one or the root, threads for each other.
    Delays are what the causing side did more since both met last [2]_: short-term costs are
    the waits next in the chain, long-term costs those further on.

    Parameters
    ----------
    trace : Trace
        What happened. Stamps are taken as recorded, unless `correct` is true.
    clock : {'physical', 'lt_1', 'lt_loop', 'lt_bb', 'lt_stmt', 'lt_hwctr'} or Effort
        The clock of the stamps; of a logical one (:func:`retimed`) all times are ticks. An
        :class:`~burstline.Effort` also has the counters of ``lt_hwctr``, what a call of
        OpenMP costs, and whether work inside of MPI counts.
    collectives : {'causal', 'full'}
        Of a logical clock: whether a member of a collective waits for those that send it
        something, or for all.
    like : {'scalasca-2.6'}, optional
        Keep the oddities of that tool, to compare with its reports: completions of late
        receivers, costs of collectives that are lost, judgement of messages in the wrong
        order, impact of imbalance.
    by : {'iteration', 'loop', 'node', 'rank'}, str or int, optional
        Tell all metrics by iteration of a loop, by loop, by node, by rank, or by window of
        time of this length: ``"500ms"``, or a number of ns. Windows begin at multiples of it.
        Sums are those of the whole; a loop has what lies in the loops in it, too. What lasts
        is divided at the borders of parts: a wait lies from the enter of its call on. What is
        counted belongs to where its call was entered, costs of delays to where the waits lie
        that they cause. What is in no iteration or loop has the key ``outside``. The critical
        path, imbalance and impact belong to the whole run alone.
    loop : int, optional
        The number of the loop whose iterations are told; by default the one that spans most
        of the run. Each rank counts its iterations from 1.
    correct : bool
        Whether stamps that break cause and effect are moved by the controlled logical clock
        [3]_: each location's as little as that needs, and all of its events together.
    intrinsic : bool
        Whether waits are set beside those that the program alone makes: of the run replayed
        without noise, in which each stretch of computation takes its counted work times what
        a unit of that takes at that place, by the median over ranks and occurrences.

    Returns
    -------
    Waits
        A profile, single waits, who delays whom, and what could not be computed.

    Raises
    ------
    ParameterError
        If a clock or a tool has an unknown name, windows are too short, or there is no such
        loop.
    NotEnoughDataError
        If the trace has no calls of MPI and no teams of threads, or loops or iterations are
        asked for and no loop was found.

    Notes
    -----
    Linear in calls, messages and members of collectives, but for lookups; about 60 bytes an
    event, and 8 for each call path, location and metric that has values. Wrong where stamps
    of different nodes disagree by more than what is waited. Windows and iterations add a sort
    of the events, and finding the loops.

    References
    ----------
    .. [1] M. Geimer et al., A scalable tool architecture for diagnosing wait states in
       massively parallel applications, Parallel Computing 35(7), 2009,
       DOI 10.1016/j.parco.2009.02.003.
    .. [2] D. Böhme et al., Identifying the root causes of wait states in large-scale parallel
       applications, ACM TOPC 3(2), 2016, DOI 10.1145/2934661.
    .. [3] D. Becker et al., Scalable timestamp synchronization for event traces of
       message-passing applications, Parallel Computing 35(12), 2009,
       DOI 10.1016/j.parco.2008.12.012.

    Examples
    --------
    >>> from burstline.testing import trace_of
    >>> waits = wait_states(
    ...     trace_of(
    ...         "ranks 2 | 0 | 10 enter MPI_Send | 10 send to 1 bytes 8 | 11 leave "
    ...         "| 1 | 6 enter MPI_Recv | 12 receive from 0 bytes 8 | 12 leave"
    ...     )
    ... )
    >>> waits.profile.total("mpi_latesender")
    4
    """
    if isinstance(clock, str) and clock not in CLOCKS:
        raise ParameterError(f"no clock called {clock}: {', '.join(CLOCKS)}")
    if collectives not in COLLECTIVES:
        raise ParameterError(f"members of collectives wait {' or '.join(COLLECTIVES)}")
    if collectives != COLLECTIVES[0] and clock == CLOCKS[0]:
        raise ParameterError("who waits in collectives is of logical clocks: name one")
    if like is not None and like not in TOOLS:
        raise ParameterError(f"no tool called {like} to be like: {', '.join(TOOLS)}")
    graph = graph_of(trace)
    waits = states_of(
        trace, like, clock=clock, collectives=collectives, by=by, loop=loop, correct=correct,
        known=Known(graph),
    )  # fmt: skip
    return with_intrinsic(waits, graph) if intrinsic else waits


class Known(NamedTuple):
    """What is known of a trace as it was recorded, or who knows it."""

    graph: Graph | None = None
    program: Callable[[], Structure] | None = None
    ideal: Callable[[], Ideal] | None = None


_NOTHING: Final = Known()


def states_of(
    trace: Trace,
    like: str | None,
    *,
    clock: str | Effort = "physical",
    by: str | int | None = None,
    loop: int | None = None,
    correct: bool = False,
    causes: bool = True,
    collectives: str = "causal",
    room: tuple[int, int] | None = None,
    known: Known = _NOTHING,
) -> Waits:
    """The waits of a trace; without `causes` wait states alone: no costs, paths and factors.

    Where calls of OpenMP have much of the ticks, waits are found without them, too, which
    takes as long again. Refused is a profile for which there is no `room`: the bytes of all
    else, and of all.
    """
    if not trace.rows("calls") and not trace.rows("teams"):
        raise NotEnoughDataError(
            "nothing synchronises in this trace: it has no calls of MPI and no teams of threads"
        )
    width = None if by in (None, *DETECTED, *WHOLE_LOCATIONS) else _window_width(by)
    if loop is not None and by != "iteration":
        raise ParameterError("a loop is named for its iterations alone: by iteration")
    recorded = known.graph or graph_of(trace)
    graph, stamps = _on_clock(recorded, clock, collectives, correct=correct)
    if graph is not recorded:
        known = _NOTHING
    _require_room(graph, room)
    clocks: dict[str, int] = {}
    graph = with_computation(graph)
    if causes:
        graph, clocks = _with_clocks(graph, correct=correct)
        known = known._replace(ideal=None) if correct else known
    _require_room(graph, room)
    parts = _parts_by(graph, by, width, loop, known.program)
    ideal = known.ideal or cache(partial(ideal_of, graph))
    trace, tree, sync = graph.trace, graph.tree, graph.sync
    ideal_parts_ns, not_split = None, why_not_split(sync)
    if causes and by is not None and not not_split:
        ideal_parts_ns = ideal_in(sync, parts or whole_of(sync), ideal())
    patterns = patterns_of(
        sync, tree.nodes, tree.region_enters,
        like_scalasca=like == "scalasca-2.6", has_causes=causes, parts=parts,
        modelled=(constructs(trace), stamps["stamps"]["call_cost"]) if stamps else None,
    )  # fmt: skip
    waits = waits_of(trace, sync, tree, patterns, like=like, by=by, ideal_ns=ideal_parts_ns)
    waits.corrected.update(clocks)
    waits.coverage.update(_coverage(trace, sync, patterns))
    waits.coverage.update(stamps)
    if causes:
        waits.coverage["unexplained_ns"] = unexplained_ns(waits.profile)
        waits.coverage["critical_path_share"] = _share_of_path(sync, waits)
    waits.coverage["by"] = by if width is None else "window"
    if causes and by is not None and not_split:
        missing = [
            {"metric": name, "reason": not_split} for name in ("serialisation", "transfer")
        ]
        waits.coverage["not_computable"] += missing
    if parts is not None:
        waits.coverage.update(window_ns=width, loop=parts.loop)
        waits.coverage["not_divided"] = [
            name for name in waits.profile.stored if name not in patterns.severities.by_part
        ]
    del patterns  # its points and the rows of a replay need not fit together
    if causes:
        waits.efficiency.update(factors(trace, sync, tree.nodes, ideal))
    return _told_without_model(waits, recorded, clock, collectives, room, has_causes=causes)


def _told_without_model(
    waits: Waits,
    recorded: Graph,
    clock: str | Effort,
    collectives: str,
    room: tuple[int, int] | None,
    *,
    has_causes: bool,
) -> Waits:
    """Waits on a logical clock with its modelled ticks, and what is found without these."""
    if "stamps" not in waits.coverage:
        return waits
    ticks, share, cost = (
        waits.coverage["stamps"][name]
        for name in ("modelled_ticks", "modelled_share", "call_cost")
    )
    without = None
    if has_causes and share >= LEAST_COMPARED:
        effort = replace(_as_effort(clock), call_cost=0)
        free = states_of(
            recorded.trace, waits.like, clock=effort, collectives=collectives, room=room,
            known=Known(recorded),
        )  # fmt: skip
        without = replace(free, instances=free.instances.schema.empty_table())
    facts = {"modelled_ticks": str(ticks), "modelled_share": str(share)}
    profile = replace(waits.profile, attributes={**waits.profile.attributes, **facts})
    return replace(waits, profile=profile, modelled=Modelled(ticks, share, cost, without))


def _as_effort(clock: str | Effort) -> Effort:
    return Effort(clock) if isinstance(clock, str) else clock


def with_intrinsic(waits: Waits, graph: Graph) -> Waits:
    """The waits of a trace beside those that its program alone makes."""
    if waits.clock != CLOCKS[0]:
        raise ParameterError(
            "waits of a logical clock are the program's own: intrinsic waits need the "
            "physical clock"
        )
    clock = work_clock(graph.trace)
    graph = with_computation(graph)
    work = work_of(graph.trace, graph.sync, graph.tree.nodes, clock)
    graph = at_times_of(graph, without_noise(graph.trace, graph.sync, work))
    alone = states_of(graph.trace, waits.like, known=Known(graph))
    intrinsic = divided(waits.profile, alone.profile, work)
    return replace(waits, profile=with_parts(waits.profile, intrinsic), intrinsic=intrinsic)


def _parts_by(
    graph: Graph,
    by: str | int | None,
    width: int | None,
    loop: int | None,
    program: Callable[[], Structure] | None,
) -> Parts | None:
    """The parts of the run that are told; None if they hold whole locations."""
    if width is not None:
        return windows_of(graph.sync, width)
    if by not in DETECTED:
        return None
    found = detect(graph.trace) if program is None else program()
    if by == "iteration":
        return iterations_of(found, graph.sync, loop)
    return loops_of(found, graph.sync)


def _on_clock(
    graph: Graph, clock: str | Effort, collectives: str, *, correct: bool
) -> tuple[Graph, dict[str, Any]]:
    """The trace with stamps of a clock, and what these rest on."""
    if clock == CLOCKS[0]:
        return graph, {}
    if correct:
        raise ParameterError(
            "stamps of a logical clock break no cause and effect: physical ones are corrected"
        )
    [retiming] = retimings(
        graph, [_as_effort(clock)], collectives=collectives, left_out=("readings",)
    )
    return graph_of(retiming.trace), {"stamps": retiming.as_dict()}


def _require_room(graph: Graph, room: tuple[int, int] | None) -> None:
    """Refuse a profile, and meetings of threads, that are too large beside all else."""
    sync, tree = graph.sync, graph.tree
    beside, memory = (0, sys.maxsize) if room is None else room
    nodes = tree.nodes.num_rows
    meetings = len(sync.teams.region) + len(sync.barriers.region)
    needed = beside + _CELL_BYTES * nodes * sync.locations + _MEETING_BYTES * meetings
    if needed > memory:
        meet = f", which meet {plural(meetings, 'time')} in their teams" if meetings else ""
        way_out = (
            f"The profile has {plural(nodes, 'call path')} on "
            f"{plural(sync.locations, 'thread')}{meet}. Take fewer ranks "
            "(`ranks`), or allow more memory (`memory`)."
        )
        raise MemoryBudgetError(needed, memory, way_out=way_out)


def _with_clocks(graph: Graph, *, correct: bool) -> tuple[Graph, dict[str, int]]:
    """The trace with clocks corrected if wanted, and how its stamps were wrong."""
    count, worst_ns, moved_ns, sync = 0, 0, 0, graph.sync
    if graph.trace.metadata.get("unit", "ns") == "ns":  # a logical clock defines what causes
        early = violations(rows_of(sync, "recorded", in_order=False))
        count, worst_ns = early.count, early.worst_ns
    if correct:
        trace, moved_ns = corrected(graph.trace, rows_of(sync, "corrected"))
        graph = at_times_of(graph, trace)
    return graph, {"violations": count, "worst_ns": worst_ns, "moved_ns": moved_ns}


def _window_width(by: str | int) -> int:
    if isinstance(by, int):
        return by
    try:
        return parse_time(by)
    except ParameterError as error:
        raise ParameterError(
            f"waits are told by iteration, loop, node, rank or window of time (500ms): {error}"
        ) from None


def _coverage(trace: Trace, sync: Sync, patterns: Patterns) -> dict[str, Any]:
    """What of a trace was used, what was left out, and what it cannot tell."""
    messages, halves = trace.rows("messages"), trace.rows("half_messages")
    collectives = trace.rows("collectives")
    born, died = trace.arrays("locations", "born_ns", "died_ns")
    location, start, end, kind = trace.arrays("gaps", "location", "start_ns", "end_ns", "kind")
    length = np.minimum(end, died[location]) - np.maximum(start, born[location])
    length = np.maximum(length, 0)
    is_absent = kind == GAP_KINDS.index("not_created")  # nobody was there to be watched
    unwatched = int(length[~is_absent].sum())
    whole = int((died - born).sum() - length[is_absent].sum())
    of_collectives, *others = sync.counts_of(CALLS_OF_ALL, RMA, IO)
    are_apart = apart(sync)
    whole_calls = len(sync.collectives.call) - int(are_apart.sum())
    explained = patterns.explained
    return {
        "calls": trace.rows("calls"),
        "messages": messages,
        "messages_share": len(sync.messages.send) / max(messages + halves, 1)
        if messages + halves
        else 1.0,
        "half_messages": halves,
        "collectives": collectives,
        "collectives_share": min(1.0, whole_calls / of_collectives) if of_collectives else 1.0,
        "collectives_apart": len(are_apart),
        "unwatched_ns": unwatched,
        "time_share": 1 - unwatched / whole if whole > 0 else 1.0,
        "left_out": sync.left_out,
        "virtual_start": not patterns.has_start,
        "clipped_intervals": patterns.clipped,
        "unexplained_waits": 0 if explained is None else explained.unexplained,
        "waits_out_of_order": 0 if explained is None else explained.out_of_order,
        "critical_path_is_circular": patterns.is_circular,
        "not_computable": [
            {"metric": metric, "reason": reason}
            for metric, reason in _unknown(trace, sync, others)
        ],
    }


def _share_of_path(sync: Sync, waits: Waits) -> float:
    """The critical path by the length of the run; above 1, or 0, where stamps contradict it."""
    tables = [rows for rows in (sync.calls, sync.regions) if len(rows.node)]
    run = max(int(rows.leave_ns.max()) for rows in tables)
    run -= min(int(rows.enter_ns.min()) for rows in tables)
    stored = "critical_path" in waits.profile.stored
    if not stored or run <= 0:
        return 0.0
    # Stamps may lead it back in time by more than it takes.
    return max(int(waits.profile.total("critical_path")), 0) / run


def _unknown(trace: Trace, sync: Sync, others: Sequence[int]) -> Iterator[tuple[str, str]]:
    """Metrics that are not known, or of calls of RMA and of IO counted alone, and why."""
    for row in trace.defects.select(["kind", "first"]).to_pylist():
        if row["kind"] == CHOSEN_RANKS:
            told = (
                f"only ranks {row['first']} were recorded: what the others did, and how long "
            )
            yield "mpi", told + "these wait for them, is not known"
        elif row["kind"] == SILENT_THREADS:
            told = f"OpenMP is that of {row['first']}, which tells nothing of its threads: "
            yield "omp_time", told + "what they did, if it made any, is not in the trace"
    if unknown := int((~sync.messages.done_known).sum()):
        sends = plural(unknown, "send was", "sends were")
        told = (
            f"the source does not tell when {sends} complete: waits of MPI_Wait and its like "
        )
        yield "mpi_latereceiver", told + "for a receiver are not known"
    nouns = {"mpi_rma_communication": "one-sided communication", "mpi_io": "access to files"}
    for (metric, noun), calls in zip(nouns.items(), others, strict=True):
        if calls:
            counted = f"{'is' if calls == 1 else 'are'} counted, without wait states"
            yield metric, f"{plural(calls, 'call')} of {noun} {counted}"
