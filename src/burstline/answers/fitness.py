"""Whether a run may be judged by its trace: what has to hold, each with figure and bound."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from burstline.answers.values import Check
from burstline.model import is_processor_clock
from burstline.structure import Structure
from burstline.summary import Summary
from burstline.waits import Waits

(
    LONG_ENOUGH, REPEATED, PROCESSORS_ALONE, CALLERS_KNOWN, CHEAP, NOTHING_DROPPED,
    CLOCKS_IN_ORDER, OPENMP_SEEN,
) = (
    "long enough", "enough iterations", "processors not shared", "callers known",
    "recorded at little cost", "nothing dropped", "clocks in order", "OpenMP seen",
)  # fmt: skip
AT_MOST: Final = frozenset((CHEAP, NOTHING_DROPPED, CLOCKS_IN_ORDER, OPENMP_SEEN))
"""Checks whose bound is the most; of others, it is the least."""
SPOILS: Final = (
    PROCESSORS_ALONE, NOTHING_DROPPED, CLOCKS_IN_ORDER, OPENMP_SEEN, CHEAP, LONG_ENOUGH,
    REPEATED,
)  # fmt: skip
"""Checks without which numbers are doubtful, the worst first; without callers, only places
are missing."""
OF_TICKS: Final = frozenset((CALLERS_KNOWN, NOTHING_DROPPED, OPENMP_SEEN))
"""Checks of what a logical clock tells: nothing of it depends on the machine."""
_LEAST_NS: Final = 1_000_000_000
"""A hundred time slices of a usual scheduler: one that another program gets is little."""
_LEAST_ITERATIONS: Final = 20
_ALONE: Final = "run it again with a processor for each rank before changing code"
_LONGER: Final = "run more time steps"
_MUCH_OF_TIME: Final = 0.5
"""Of the time in the longest loop: what another one has to span whose iterations count."""
_MOST_EARLY_NS: Final = 1_000
"""Less than a message takes on one node: it makes no wait that is told."""
_LEAST_CALLERS: Final = 0.95
_LEAST_ON_PROCESSOR: Final = 0.95
_LEAST_COMPUTED: Final = 0.2
"""Of the time: less computing does not tell how the ranks fared in MPI."""
_MOST_COST: Final = 0.02
_OF_COUNTERS: Final = ("metric_", "counter_", "polls_")
_ARRIVES_EARLY: Final = "message_arrives_before_it_is_sent"
_OF_OTHER_THINGS: Final = frozenset(("several_processors", _ARRIVES_EARLY))
"""Defects that are losses, but of nothing that happened."""


def checks(
    summary: Summary, structure: Structure | None = None, waits: Waits | None = None
) -> tuple[Check, ...]:
    """What has to hold for a run to be judged by its trace.

    Parameters
    ----------
    summary : Summary
        Of the trace.
    structure : Structure, optional
        Of the same trace: iterations are counted there.
    waits : Waits, optional
        Of the same trace: clocks are compared there.

    Returns
    -------
    tuple of Check
        ``long enough`` (least ns from MPI_Init to MPI_Finalize), ``enough iterations`` (least
        of the longest loop, or of one that spans half as much), ``processors not shared``
        (least share of computing that ranks were on a processor), ``callers known`` (least
        share of calls), ``recorded at little cost`` (most share of the time), ``nothing
        dropped`` (most losses), ``clocks in order`` (most ns that an event is stamped before
        its cause), ``OpenMP seen`` (most call paths through threads that nobody recorded).

    Notes
    -----
    Time on a processor is that of the threads' own clocks. Where that is not counted, or does
    not tell, sharing is inferred from the processors that threads may use; how many a source
    says that there are is not used. Stretches that are long and hardly compute, as of a rank
    that sleeps or waits for files, are left out, unless ranks do little else: then they may as
    well wait for a processor. Of ranks that compute for less than a fifth of the time, it is
    not known whether they were alone.

    Examples
    --------
    >>> from burstline import Trace, summarise
    >>> [(check.name, check.passed) for check in checks(summarise(Trace({})))][:2]
    [('long enough', False), ('enough iterations', None)]
    """
    return (
        _long_enough(summary),
        _repeated(structure),
        _processors_alone(summary),
        _callers_known(summary),
        _cheap(summary),
        _nothing_dropped(summary),
        _clocks_in_order(summary, waits),
        _openmp_seen(summary),
    )


def failed_of(checked: tuple[Check, ...]) -> tuple[Check, ...]:
    """The checks that do not hold, those first that spoil most."""
    order = (*SPOILS, CALLERS_KNOWN)
    failed = (check for check in checked if check.passed is False)
    return tuple(sorted(failed, key=lambda check: order.index(check.name)))


def _long_enough(summary: Summary) -> Check:
    length_ns = summary.baseline.length_ns
    passed = length_ns >= _LEAST_NS
    return Check(LONG_ENOUGH, length_ns, "ns", _LEAST_NS, passed, _LONGER)


def _repeated(structure: Structure | None) -> Check:
    """Of nested loops that span much, the iterations of the one that has most."""
    if structure is None:
        remedy = "find the loops: iterations are counted there"
        return Check(REPEATED, None, "count", _LEAST_ITERATIONS, None, remedy)
    times = [float(loop.inside_ns.sum()) for loop in structure.loops]
    least = _MUCH_OF_TIME * max(times, default=0.0)
    loops = zip(structure.loops, times, strict=True)
    iterations = max((loop.total_iterations for loop, ns in loops if ns >= least), default=0)
    passed = iterations >= _LEAST_ITERATIONS
    return Check(REPEATED, iterations, "count", _LEAST_ITERATIONS, passed, _LONGER)


def _processors_alone(summary: Summary) -> Check:
    measured, crowd = _on_processors(summary), summary.crowding
    if crowd is None or measured.passed is not None:
        return measured
    figure = min(crowd.processors / crowd.threads, 1.0)
    passed, remedy = figure >= measured.bound, _ALONE
    return replace(measured, figure=figure, passed=passed, remedy=remedy, inferred=True, by="")


def _on_processors(summary: Summary) -> Check:
    """By the time that threads were on one, as they counted it."""
    name, bound, on = PROCESSORS_ALONE, _LEAST_ON_PROCESSOR, summary.processor
    if on is None:
        remedy = "record a counter of processor time, such as cpu"
        if any(map(is_processor_clock, summary.counters)):
            remedy = (
                "threads of a rank wait for each other, so their processor time does not tell"
            )
        return Check(name, None, "share", bound, None, remedy)
    counted_ns, elapsed_ns = on.counted_ns, on.elapsed_ns
    least_ns = _LEAST_COMPUTED * summary.baseline.whole_ns
    if elapsed_ns - on.off_elapsed_ns >= least_ns:
        counted_ns -= on.off_counted_ns
        elapsed_ns -= on.off_elapsed_ns
    figure = min(counted_ns / elapsed_ns, 1.0)
    passed: bool | None = figure >= bound
    remedy = _ALONE
    if passed and elapsed_ns < least_ns:
        # Who polls in MPI gives the processor away there, and then computes undisturbed.
        passed = None
        remedy = "ranks hardly compute, so look how many processors the machine has"
    return Check(name, figure, "share", bound, passed, remedy, by=on.counter)


def _callers_known(summary: Summary) -> Check:
    calls = sum(totals.count for totals in summary.calls.values())
    known = summary.calls_with_path / calls if calls else None
    passed = None if known is None else known >= _LEAST_CALLERS
    remedy = "compile with -g, and record with call stacks"
    return Check(CALLERS_KNOWN, known, "share", _LEAST_CALLERS, passed, remedy)


def _cheap(summary: Summary) -> Check:
    cost = summary.recording
    if cost is None:
        return Check(CHEAP, None, "share", _MOST_COST, None, "the recorder does not say")
    figure = cost.estimated_ns / cost.watched_ns
    passed = figure <= _MOST_COST
    remedy = "record less: without call stacks, or without functions"
    # A recorder estimates it by what a call costs alone.
    return Check(CHEAP, figure, "share", _MOST_COST, passed, remedy, inferred=True)


def _nothing_dropped(summary: Summary) -> Check:
    losses = sum(
        defect.count
        for defect in summary.defects
        if defect.severity != "info"
        and defect.kind not in _OF_OTHER_THINGS
        and not defect.kind.startswith(_OF_COUNTERS)
    )
    losses += sum(gap.count for gap in summary.gaps if gap.kind == "dropped")
    remedy = "record it again, up to MPI_Finalize and with larger buffers"
    return Check(NOTHING_DROPPED, losses, "count", 0, losses == 0, remedy)


def _clocks_in_order(summary: Summary, waits: Waits | None) -> Check:
    early = sum(defect.count for defect in summary.defects if defect.kind == _ARRIVES_EARLY)
    worst = None
    if waits is not None and waits.unit == "ns":
        worst = waits.corrected["worst_ns"]
        if waits.corrected["moved_ns"]:
            worst = 0  # stamps are no longer those that were recorded
        early = worst > _MOST_EARLY_NS
    passed = False if early else None if worst is None else True
    remedy = "correct the stamps, or record on nodes whose clocks agree"
    if passed is None:
        remedy = "find the waits: clocks are compared there"
    return Check(CLOCKS_IN_ORDER, worst, "ns", _MOST_EARLY_NS, passed, remedy)


def _openmp_seen(summary: Summary) -> Check:
    openmp = summary.openmp
    remedy = "record with a runtime of OpenMP that tells of its threads, as LLVM's does"
    unseen = openmp.unseen > 0
    passed: bool | None = not unseen
    if openmp.silent and not unseen:
        passed = None
        remedy = f"{openmp.silent} tells nothing, so look whether the program makes threads"
    return Check(OPENMP_SEEN, openmp.unseen, "count", 0, passed, remedy, inferred=unseen)
