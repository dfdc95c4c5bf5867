"""Whether a run may be judged by its trace: what has to hold, each with figure and bound."""

from __future__ import annotations

from typing import Final

from burstline.answers.values import Check
from burstline.model import is_processor_clock
from burstline.summary import Summary
from burstline.waits import Waits

LONG_ENOUGH, NOTHING_DROPPED, CLOCKS_IN_ORDER, CALLERS_KNOWN, PROCESSORS_ALONE = (
    "long enough", "nothing dropped", "clocks in order", "callers known",
    "processors not shared",
)  # fmt: skip
SPOILS: Final = (LONG_ENOUGH, NOTHING_DROPPED, CLOCKS_IN_ORDER, PROCESSORS_ALONE)
"""Checks without which numbers are doubtful; without callers, places alone are missing."""
_LEAST_NS: Final = 100_000_000
"""Ten time slices of a usual scheduler, so one that another program gets is a tenth at most."""
_MOST_EARLY_NS: Final = 1_000
"""Less than a message takes on one node: it makes no wait that is told."""
_LEAST_CALLERS: Final = 0.9
_LEAST_ON_PROCESSOR: Final = 0.8
_LEAST_COMPUTED: Final = 0.2
"""Of the time: less computing does not tell how the ranks fared in MPI."""
_OF_COUNTERS: Final = ("metric_", "counter_", "polls_")
_ARRIVES_EARLY: Final = "message_arrives_before_it_is_sent"
_OF_OTHER_THINGS: Final = frozenset(("several_processors", _ARRIVES_EARLY))
"""Defects that are losses, but of nothing that happened."""


def checks(summary: Summary, waits: Waits | None = None) -> tuple[Check, ...]:
    """What has to hold for a run to be judged by its trace.

    Parameters
    ----------
    summary : Summary
        Of the trace.
    waits : Waits, optional
        Of the same trace: clocks are compared there.

    Returns
    -------
    tuple of Check
        ``long enough`` (least ns from MPI_Init to MPI_Finalize), ``nothing dropped`` (most
        losses), ``clocks in order`` (most ns that an event is stamped before its cause),
        ``callers known`` (least share of calls), ``processors not shared`` (least share of
        computing that ranks were on a processor; inferred).

    Notes
    -----
    Time off a processor is inferred to be that of others. A rank that sleeps, or waits for
    files between calls of MPI, is off its processor, too. Of ranks that compute for less than
    a fifth of the time, it is not known whether they were alone.

    Examples
    --------
    >>> from burstline import Trace, summarise
    >>> [(check.name, check.passed) for check in checks(summarise(Trace({})))][:2]
    [('long enough', False), ('nothing dropped', True)]
    """
    return (
        _long_enough(summary),
        _nothing_dropped(summary),
        _clocks_in_order(summary, waits),
        _callers_known(summary),
        _processors_alone(summary),
    )


def _long_enough(summary: Summary) -> Check:
    length_ns = summary.baseline.length_ns
    remedy = "run more time steps, or a larger problem"
    return Check(LONG_ENOUGH, length_ns, "ns", _LEAST_NS, length_ns >= _LEAST_NS, remedy)


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
        early = worst > _MOST_EARLY_NS
    passed = False if early else None if worst is None else True
    remedy = "correct the stamps, or record on nodes whose clocks agree"
    if passed is None:
        remedy = "find the waits: clocks are compared there"
    return Check(CLOCKS_IN_ORDER, worst, "ns", _MOST_EARLY_NS, passed, remedy)


def _callers_known(summary: Summary) -> Check:
    calls = sum(totals.count for totals in summary.calls.values())
    known = summary.calls_with_path / calls if calls else None
    passed = None if known is None else known >= _LEAST_CALLERS
    remedy = "compile with -g, and record with call stacks"
    return Check(CALLERS_KNOWN, known, "share", _LEAST_CALLERS, passed, remedy)


def _processors_alone(summary: Summary) -> Check:
    figure = None
    remedy = "record a counter of processor time, such as cpu"
    if any(map(is_processor_clock, summary.counters)):
        remedy = "threads of a rank wait for each other, so their processor time does not tell"
    if (on := summary.processor) is not None:
        figure = min(on.counted_ns / on.elapsed_ns, 1.0)
        remedy = "run it again with a processor for each rank before changing code"
    passed = None if figure is None else figure >= _LEAST_ON_PROCESSOR
    if (
        passed
        and on is not None
        and on.elapsed_ns < _LEAST_COMPUTED * summary.baseline.whole_ns
    ):
        # Who polls in MPI gives the processor away there, and then computes undisturbed.
        passed, remedy = (
            None,
            "ranks hardly compute, so look how many processors the machine has",
        )
    bound = _LEAST_ON_PROCESSOR
    return Check(PROCESSORS_ALONE, figure, "share", bound, passed, remedy, inferred=True)
