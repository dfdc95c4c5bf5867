"""Detection: the loops of a program, by one method or the one with the better fidelity."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from typing import Any, Final, Literal

import numpy as np

from burstline.columns import Integers
from burstline.errors import ParameterError
from burstline.model import Trace
from burstline.progress import SILENCE, Progress
from burstline.structure.assembly import FoundProgram
from burstline.structure.exact.method import as_known, by_any_order, by_order
from burstline.structure.program.fidelity import Expander, similarity
from burstline.structure.program.length import description_length
from burstline.structure.program.model import Coverage, Structure
from burstline.structure.program.nodes import Call, Item, Loop, walk
from burstline.structure.published.clustering import RankMerge, Scale, SeedOptions
from burstline.structure.published.method import by_means
from burstline.structure.reduction import Reduced
from burstline.structure.source import Parts, Source

METHODS = ("auto", "seed", "exact")
"""How loops can be found; ``auto`` takes what the published method explains better."""

_TRUE: Final = 0.999


def detect(
    trace: Trace,
    *,
    method: Literal["auto", "seed", "exact"] = "auto",
    eps: float = 0.2,
    scale: Scale = "log",
    min_share: float = 0.1,
    rank_merge: RankMerge = "late",
    application: int | None = None,
    progress: Progress = SILENCE,
) -> Structure:
    """The loops of a program, from its trace.

    The published method [1]_: calls of one rank from one call path are one unique call;
    unique calls that are repeated equally often, equally far apart, are the body of a loop;
    loops that span the same share of the run are nested by when their iterations begin.

    The exact method, along [2]_: a loop is a cycle in the graph of which call follows which
    on any rank. Each call site stands in the program once; how often its loops iterate and
    when its conditions hold is kept beside it, so that nothing is lost.

    Parameters
    ----------
    trace : Trace
        Its calls, call paths and bursts are read.
    method : {"auto", "seed", "exact"}
        ``"seed"`` is the published method, of which the next four are choices. ``"auto"`` takes
        its result where the exact one leaves something open, if its fidelity is 0.999 or more,
        its loops print their calls in the order in which iterations make them, and it explains
        more, or as much and is shorter: fewer of its conditions, trip counts and calls that it
        left out follow no rule that it knows. Of a trace that tells of loops detected before,
        it takes these; the others find them anew.
    eps : float
        Largest distance of calls of one loop; on the ``"log"`` scale 0.2 is a
        difference of 22 %.
    scale : {"log", "minmax"}
        How repetitions and times are made comparable.
    min_share : float
        Calls whose repetitions span less of the run than this are left out, and counted.
    rank_merge : {"late", "early"}
        Whether calls are clustered rank by rank, and merged in the end, or those of all ranks
        from one call path are merged first, to their means.
    application : int, optional
        The application to look at; the one with MPI calls by default.
    progress : Progress, optional
        Told the stages: call sites, reduction, clustering, nesting, assembly, exact method and
        fidelity.

    Returns
    -------
    Structure
        The program, with its fidelity: the share of calls it reproduces in order.

    Raises
    ------
    ParameterError
        If an argument is outside its domain, or several applications call MPI and
        none is chosen.
    NotEnoughDataError
        If there is no MPI call.

    Notes
    -----
    About linear in the calls. The published method is wrong where loops repeat irregularly
    or share their features by chance: see the fidelity. The exact one reproduces every call,
    but shows conditions that are not in the source where a trace gives calls from different
    places one name, and no loop that makes no call of its own around a single other one.

    References
    ----------
    .. [1] A thesis on application structure detection by clustering MPI calls, chapters
       3 and 4. Performance Tools team, Barcelona Supercomputing Center.
    .. [2] D. D. Freydenberger, T. Kötzing, "Fast learning of restricted regular expressions
       and DTDs", Theory of Computing Systems 57 (2015), DOI 10.1007/s00224-014-9559-3.

    Examples
    --------
    >>> from burstline.testing import trace_of
    >>> steps = [f"{10 * k} enter MPI_Send path {k % 2} | {10 * k + 1} leave" for k in range(8)]
    >>> paths = "path 0 main file a.c line 3 | path 1 main file a.c line 4"
    >>> program = detect(trace_of(f"ranks 1 | {paths} | 0 | " + " | ".join(steps)))
    >>> [(loop.iterations, len(loop.calls)) for loop in program.loops], program.fidelity
    ([(4.0, 2)], 1.0)
    """
    limits = _limits(method, eps, scale, min_share, rank_merge)
    return _detected(Source.of(trace, application, progress=progress), method, limits, progress)


def _limits(
    method: str, eps: float, scale: Scale, min_share: float, rank_merge: RankMerge
) -> SeedOptions:
    """What the published method leaves to choose, refused where it is outside its domain."""
    if method not in METHODS:
        raise ParameterError(f"no method {method!r}; there are {', '.join(METHODS)}")
    if not 0 <= min_share <= 1:
        raise ParameterError(f"min_share is a share of the run, 0 to 1, got {min_share}")
    return SeedOptions(eps=eps, scale=scale, min_share=min_share, rank_merge=rank_merge)


def detect_by_parts(
    trace: Trace,
    parts: Parts,
    *,
    application: int | None = None,
    progress: Progress = SILENCE,
    **options: Any,  # noqa: ANN401 -- as detect
) -> Structure:
    """The structure of a trace as :func:`detect` finds it, by its parts, each whole processes.

    What iterations cost is asked of all calls: it is none of parts.
    """
    limits = _limits(**options)
    source = Source.of(trace, application, parts, progress)
    return _detected(source, options["method"], limits, progress)


def _detected(
    source: Source, method: str, limits: SeedOptions, progress: Progress
) -> Structure:
    if method == "seed":
        return _structure_of(by_means(source, limits, progress), source, progress)
    progress.step("exact method", 0, "")
    if method == "auto" and (known := as_known(source)) is not None:
        return _structure_of(known, source, progress)
    exact = _structure_of(by_order(source), source, progress)
    if method == "exact" or not _unexplained(exact):
        return exact  # nothing explains more
    seed = _structure_of(by_means(source, limits, progress), source, progress)
    is_better = seed.fidelity >= _TRUE and _left_open(seed) < _left_open(exact)
    return seed if is_better and _is_in_order(seed, exact) else exact


def other_readings(trace: Trace, found: Structure, *, most: int = 2) -> list[Structure]:
    """Other programs that make the calls of the trace as truly, in the order of ``"auto"``.

    At most `most`, by the published method and by each order that the exact one may take, all
    different. Those that leave least unexplained come first, of these the shortest.
    """
    source = Source.of(trace, found.application)
    outcome = by_means(source, SeedOptions(0.2, "log", 0.1))
    published = _structure_of(outcome, source, SILENCE)
    readings: dict[Hashable, Structure] = {_shape_key(published.items): published}
    for outcome in by_any_order(source):
        shape = _shape_key(outcome.items)
        if shape not in readings:
            readings[shape] = _structure_of(outcome, source, SILENCE)
    readings.pop(_shape_key(found.items), None)
    true = [each for each in readings.values() if each.fidelity >= _TRUE]
    return sorted(true, key=_left_open)[:most]


def _shape_key(items: Sequence[Item]) -> Hashable:
    """What is equal for equal programs: which calls, loops and conditions are where."""
    return tuple(
        (item.operation, item.path, item.offset, item.executions.tobytes())
        if isinstance(item, Call)
        else (type(item), item.executions.tobytes(), _shape_key(item.items))
        for item in items
    )


def _left_open(found: Structure) -> tuple[int, int]:
    """What is less for the better of two true programs: what it leaves open, and its length."""
    # The length of a program that does not know when a call is made, or how often a loop
    # iterates, lacks what it would take to say so.
    return _unexplained(found), description_length(found.items)


def _unexplained(found: Structure) -> int:
    """How many conditions, trip counts and calls that were left out follow no rule."""
    uneven = 0
    for loop in (loop for loop in found.loops if loop.trips is None):
        lanes = loop.executions > 0
        uneven += bool((loop.executions[lanes] % loop.entered[lanes]).any())
    return found.conditions.unexplained + uneven + len(found.left_out)


def _is_in_order(seed: Structure, exact: Structure) -> bool:
    """Whether loops print their calls in the order in which their iterations make them."""
    # Nothing that follows contradicts the order of the exact method. The published one cuts
    # an iteration anywhere: what comes first in all but one iteration may be printed last.
    place = {(call.operation, call.path): k for k, call in enumerate(_calls(exact.items))}
    orders = ([place[c.operation, c.path] for c in _calls(loop.items)] for loop in seed.loops)
    return all(places == sorted(places) for places in orders)


def _calls(items: Sequence[Item]) -> Iterator[Call]:
    return (item for item, _ in walk(items) if isinstance(item, Call))


def _structure_of(outcome: FoundProgram, source: Source, progress: Progress) -> Structure:
    """The structure of an outcome, with its fidelity and coverage."""
    progress.step("fidelity", 0, "")
    reduced, items = outcome.reduced, outcome.items
    expander = Expander.of(items, len(reduced.ranks))
    by_lane, fidelity = _fidelity_by_lane(reduced, expander)
    return Structure(
        method=outcome.method,
        parameters=outcome.parameters,
        application=source.calls.application,
        ranks=tuple(reduced.ranks.tolist()),
        world_size=reduced.world_size,
        items=items,
        counters=reduced.counters,
        left_out=outcome.left_out,
        fidelity=fidelity,
        fidelity_by_lane=tuple(by_lane),
        coverage=_coverage(outcome),
        classes=_classes_of_ranks(reduced.ranks, expander.executions > 0),
        calls=len(reduced.sequence),
        unique_calls=outcome.unique_calls,
        run_ns=reduced.run_ns,
        callpath="frames" if reduced.has_paths else "none",
        found_in=source.calls,
        reduced=reduced,
        steps=outcome.steps,
    )


def _fidelity_by_lane(reduced: Reduced, expander: Expander) -> tuple[list[float], float]:
    """Fidelity of each lane, and of all calls together; a kind of lane is expanded once."""
    kinds = expander.kinds()
    expanded = [expander.lane(lane) for lane in np.unique(kinds, return_index=True)[1].tolist()]

    @cache
    def compared(kind: int, of_calls: int) -> tuple[float, int]:
        made, actual = expanded[kind], reduced.kinds.sequences[of_calls]
        return similarity(made, actual), len(actual) + len(made)

    by_lane = [*map(compared, kinds.tolist(), reduced.kinds.of_lane.tolist())]
    alike = sum(share * length for share, length in by_lane)
    return [share for share, _ in by_lane], alike / sum(length for _, length in by_lane)


def _coverage(outcome: FoundProgram) -> Coverage:
    reduced, items = outcome.reduced, outcome.items
    included = sum(int(call.executions.sum()) for call in _calls(items))
    spans: dict[int, list[tuple[int, int]]] = {}
    for loop in (item for item, _ in walk(items) if isinstance(item, Loop)):
        if loop.parent is None:
            lanes = np.flatnonzero(loop.executions)
            times = outcome.times[loop.id]
            ends = times.start_ns[lanes].tolist(), times.end_ns[lanes].tolist()
            for lane, start_ns, end_ns in zip(lanes.tolist(), *ends, strict=True):
                spans.setdefault(lane, []).append((start_ns, end_ns))
    covered = sum(_covered_ns(sorted(intervals)) for intervals in spans.values())
    return Coverage(
        calls=included / len(reduced.sequence),
        time=min(covered / (reduced.run_ns * len(reduced.ranks)), 1.0),
    )


def _covered_ns(intervals: Sequence[tuple[int, int]]) -> int:
    total, reached = 0, intervals[0][0]
    for begin, end in intervals:
        total += max(end - max(begin, reached), 0)
        reached = max(reached, end)
    return total


def _classes_of_ranks(
    ranks: Integers, executes: np.ndarray[tuple[int, int], np.dtype[np.bool_]]
) -> tuple[tuple[int, ...], ...]:
    """The ranks in classes whose lanes execute the same nodes, however often."""
    of_rank: dict[int, list[bytes]] = {}
    for lane, rank in enumerate(ranks.tolist()):
        of_rank.setdefault(rank, []).append(executes[:, lane].tobytes())
    classes: dict[tuple[bytes, ...], list[int]] = {}
    for rank, executed in of_rank.items():
        classes.setdefault(tuple(sorted(executed)), []).append(rank)
    return tuple(tuple(members) for members in classes.values())
