"""The analyses: their parameters, what they need, and how they are computed from each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Literal, Protocol, TypeVar

# Rooms are imported by their doors: an analysis loads its own when it is asked for.
from burstline import answers, signature, structure, synchronisation, timeline, waits
from burstline.collectives import collectives
from burstline.computing import bursts_summed, computing_of
from burstline.efficiency import SPANS, compared_with, ideal_of, is_defined
from burstline.errors import BurstlineError, MemoryBudgetError, WorkersError
from burstline.histogram import bursts_binned, histogram_of
from burstline.matrix import matrix_of, messages_summed
from burstline.model import POLL_GAP_NS, Trace
from burstline.progress import Progress
from burstline.quantities import format_bytes
from burstline.run.needs import CLOCKED, COPIES_REPLAYED, DETECTED, REPLAYED, Needs
from burstline.summary import Summary, require_span, summary_of, summed

Parameters = Mapping[str, Any]
_Folded = TypeVar("_Folded")


class AnalysedRun(Protocol):
    """What an analysis sees of a run."""

    progress: Progress

    @property
    def trace(self) -> Trace:
        """The part of the trace that is looked at."""
        ...

    def ask(self, name: str, **given: Any) -> Any:  # noqa: ANN401 -- what another analysis gives
        """The result of another analysis."""
        ...

    def parts(self, fold: Callable[..., _Folded], **options: Any) -> Iterable[_Folded]:  # noqa: ANN401 -- as fold
        """What a fold makes of each part of the trace, in order."""
        ...

    def divided(self, needs: Needs, beside: Needs | None = None) -> list[range] | None:
        """The locations of each part, where it is not looked at as a whole."""
        ...

    def require(self, needs: Needs | None) -> None:
        """Refuse what does not fit."""
        ...

    def room(self, needs: Needs) -> tuple[int, int]:
        """The bytes that an analysis takes beside its result, and those of all."""
        ...


@dataclass(frozen=True, slots=True)
class Analysis:
    """An analysis, as it is asked for by name."""

    compute: Callable[..., Any]  # of a run and the parameters; asks the run for others
    parameters: Mapping[str, Any] = field(default_factory=dict)  # with their defaults
    # what it needs by its parameters; nothing of what goes through a trace part by part
    needs: Callable[[Parameters], Needs | None] = lambda _: None
    asks: tuple[str, ...] = ()  # the analyses that it is computed from, and those of them
    scope: Literal["process", "whole"] = "whole"  # whether each process is looked at alone
    is_large: bool = False  # whether its result goes where memory is short and nobody holds it
    tells: bool = False  # whether it tells how far it is, and how its steps are called


_FOUND: Final = Needs(dict.fromkeys(DETECTED, 1.0), 1.6)
_TOLD: Final = Needs({"calls": 0.45, "messages": 1.4}, 1.0)
"""What parts tell of calls when loops are found in them, and of who gets their messages."""
_LOOKED_AT: Final = Needs(dict.fromkeys(DETECTED, 1.0), 2.2)
_REPLAYED: Final = Needs(REPLAYED, COPIES_REPLAYED)
_PIECES: Final = Needs(REPLAYED, 3.6)
"""Waits, and beside them the pieces of all threads."""
_LINES: Final = Needs(REPLAYED, 4.0)
"""The same, where waits and loops are held as well."""
_DETECTION: Final = {
    "method": "auto", "eps": 0.2, "scale": "log", "min_share": 0.1, "rank_merge": "late",
    "application": None,
}  # fmt: skip
_WAITS: Final = {
    "clock": "physical", "collectives": "causal", "like": None, "by": None, "loop": None,
    "correct": False, "intrinsic": False, "causes": True,
}  # fmt: skip
_VERDICT: Final = {"span": SPANS[0], "poll_gap_ns": POLL_GAP_NS, "most_s": None, **_DETECTION}
_EACH_S: Final = 5e-6
"""For each call, message and region: 2 to 3 us of a regular program, 40 of NPB's MG."""
_PHASES: Final = {
    "method": "loops", "similarity": None, "key": "operation", "min_share": 0.01,
    "within": 0.05, "windows": 200, "application": None,
}  # fmt: skip


def _summary(run: AnalysedRun, *, span: str, full: bool, poll_gap_ns: int) -> Summary:
    """The summary; with factors of communication, it is that without them and a replay."""
    if not full or span != SPANS[0]:
        require_span(span, poll_gap_ns, full=full)
        parts = run.parts(summed, span=span, poll_gap_ns=poll_gap_ns)
        return summary_of(run.trace, parts, full=full, poll_gap_ns=poll_gap_ns)
    summary: Summary = run.ask("summary", poll_gap_ns=poll_gap_ns)
    efficiency, ideal = summary.efficiency, None
    if is_defined(efficiency):
        ideal = run.ask("ideal", poll_gap_ns=poll_gap_ns)
    return replace(summary, efficiency=compared_with(efficiency, ideal))


def _waits(run: AnalysedRun, *, intrinsic: bool, **options: Any) -> waits.Waits:  # noqa: ANN401 -- as states_of
    if intrinsic:
        found: waits.Waits = run.ask("waits", **options)
        return waits.with_intrinsic(found, run.ask("graph"))
    known = waits.Known(
        run.ask("graph"), partial(run.ask, "structure"), partial(run.ask, "ideal")
    )
    return waits.states_of(
        run.trace, room=run.room(_waits_need(options)), known=known, **options
    )


def _verdict(
    run: AnalysedRun,
    *,
    span: str,
    poll_gap_ns: int,
    most_s: float | None,
    **detection: Any,  # noqa: ANN401
) -> answers.Verdict:
    """The verdict, without what would take more than `most_s` of a processor, or not fit."""
    summary: Summary = run.ask("summary", span=span, poll_gap_ns=poll_gap_ns)
    found, missing = _found(run, summary, most_s, {"structure": detection, "waits": {}})
    waiting, loops = found.get("waits"), found.get("structure")
    reasons = {name: reason for name, (reason, _) in missing.items()}
    return answers.Verdict(
        answers.verdict_on_run(summary, loops, waiting, missing=reasons),
        answers.checks(summary, loops, waiting),
        answers.per_rank(summary, waiting),
        reasons,
        tuple(name for name, (_, is_left_out) in missing.items() if is_left_out),
    )


def checks_beside(
    run: AnalysedRun, found: waits.Waits, most_s: float, detection: Parameters
) -> tuple[answers.Check, ...]:
    """Whether a run may be judged, of which waits were found; loops for at most `most_s`."""
    summary: Summary = run.ask("summary")
    loops = _found(run, summary, most_s, {"structure": detection})[0].get("structure")
    return answers.checks(summary, loops, found)


def _found(
    run: AnalysedRun, summary: Summary, most_s: float | None, asked: Mapping[str, Parameters]
) -> tuple[dict[str, Any], dict[str, tuple[str, bool]]]:
    """Results of analyses by name, and why others are not known: whether they were left out."""
    found: dict[str, Any] = {}
    missing: dict[str, tuple[str, bool]] = {}
    cost_s = _cost_of_looking_s(summary)
    for name, options in asked.items():
        if most_s is not None and cost_s > most_s:
            missing[name] = f"finding loops and waits would take about {cost_s:.0f} s", True
            continue
        try:
            found[name] = run.ask(name, **options)
        except MemoryBudgetError as error:
            memory = format_bytes(error.needed_bytes)
            missing[name] = f"that needs about {memory} of memory", True
        except WorkersError:  # which says nothing of the run
            raise
        except BurstlineError as error:
            missing[name] = str(error), False
    return found, missing


def _lines(run: AnalysedRun, **detection: Any) -> timeline.LineTimes:  # noqa: ANN401 -- as detect
    """Times by line; of what has no structure by kind alone."""
    try:
        loops = run.ask("structure", **detection)
    except (MemoryBudgetError, WorkersError):
        raise
    except BurstlineError:
        loops = None
    return timeline.line_times(run.ask("timeline"), loops)


def _phases(run: AnalysedRun, **options: Any) -> signature.Phases:  # noqa: ANN401 -- as phases
    """The phases, of a large run part by part: all but those of all processes together."""
    ranges = None if options["method"] == "pas2p" else run.divided(_REPLAYED)
    if ranges is None:
        run.require(_REPLAYED)
        return signature.phases(run.trace, **options)
    parts = partial(run.parts, ranges=ranges, with_whole=True)
    return signature.phases_by_parts(run.trace, parts, **options)


def _structure(run: AnalysedRun, **options: Any) -> structure.Structure:  # noqa: ANN401 -- as detect
    """The loops, of a large run part by part, if it does not tell them."""
    ranges = None if structure.tells_loops(run.trace) else run.divided(_FOUND, _TOLD)
    if ranges is None:
        run.require(_FOUND)
        return structure.detect(run.trace, **options, progress=run.progress)
    run.require(_TOLD)
    parts = partial(run.parts, ranges=ranges, with_whole=True)
    return structure.detect_by_parts(run.trace, parts, **options, progress=run.progress)


def _cost_of_looking_s(summary: Summary) -> float:
    """About how long finding loops and waits keeps a processor busy, s."""
    calls = sum(totals.count for totals in summary.calls.values())
    return _EACH_S * (calls + summary.messages + summary.regions)


def _waits_need(asked: Parameters) -> Needs:
    is_recorded = asked["clock"] == waits.CLOCKS[0] and not asked.get("intrinsic")
    return Needs(REPLAYED if is_recorded else CLOCKED, COPIES_REPLAYED)


ANALYSES: Final[Mapping[str, Analysis]] = {
    "graph": Analysis(
        lambda run: synchronisation.graph_of(run.trace),
        needs=lambda _: _REPLAYED,
        is_large=True,
    ),
    "ideal": Analysis(
        lambda run, *, poll_gap_ns: ideal_of(run.ask("graph"), poll_gap_ns),
        {"poll_gap_ns": POLL_GAP_NS},
        lambda _: _REPLAYED,
        asks=("graph",),
        is_large=True,
    ),
    "summary": Analysis(
        _summary,
        {"span": "init-finalize", "full": False, "poll_gap_ns": POLL_GAP_NS},
        lambda asked: _REPLAYED if asked["full"] else None,
        asks=("summary", "ideal", "graph"),
        scope="process",
    ),
    "structure": Analysis(_structure, _DETECTION, tells=True),
    "iterations": Analysis(
        lambda run, *, loop, **options: structure.loop_table(
            run.trace, run.ask("structure", **options), loop
        ),
        {"loop": None, **_DETECTION},
        lambda _: _LOOKED_AT,
        asks=("structure",),
    ),
    "verdict": Analysis(_verdict, _VERDICT, asks=("summary", "structure", "waits", "graph")),
    "matrix": Analysis(
        lambda run, **asked: matrix_of(run.trace, run.parts(messages_summed, **asked), **asked),
        {"application": None},
        scope="process",
    ),
    "histogram": Analysis(
        lambda run, *, poll_gap_ns, **asked: histogram_of(
            run.trace, run.parts(bursts_binned, poll_gap_ns=poll_gap_ns, **asked), **asked
        ),
        {"counter": None, "bins": 2, "poll_gap_ns": POLL_GAP_NS},
        scope="process",
    ),
    "computing": Analysis(
        lambda run, *, most, poll_gap_ns: computing_of(
            run.trace, run.parts(bursts_summed, most=most, poll_gap_ns=poll_gap_ns), most=most
        ),
        {"most": 20, "poll_gap_ns": POLL_GAP_NS},
        scope="process",
    ),
    "collectives": Analysis(
        lambda run: collectives(run.trace),
        needs=lambda _: Needs({"collectives": 1.0, "collective_members": 1.0}, 2.0),
    ),
    "waits": Analysis(
        _waits,
        _WAITS,
        _waits_need,
        asks=("graph", "ideal", "structure"),
    ),
    "timeline": Analysis(
        lambda run: timeline.timeline_of(run.ask("graph"), run.ask("waits")),
        needs=lambda _: _PIECES,
        asks=("graph", "waits"),
        is_large=True,
    ),
    "lines": Analysis(
        _lines,
        _DETECTION,
        lambda _: _LINES,
        asks=("timeline", "structure", "graph", "waits"),
    ),
    "flame": Analysis(
        lambda run: timeline.flame_of(run.trace, run.ask("timeline")),
        needs=lambda _: _PIECES,
        asks=("timeline", "graph", "waits"),
    ),
    "phases": Analysis(_phases, _PHASES),
}
"""Everything that can be asked of a run, by name."""
