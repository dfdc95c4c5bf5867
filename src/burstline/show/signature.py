"""What ``phases``, ``signature`` and ``predict`` show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from burstline.errors import plural
from burstline.quantities import format_ns, format_share
from burstline.show.blocks import Block, Facts, Lines
from burstline.show.units import text_of
from burstline.show.views import Rows, View
from burstline.signature import Phase, Phases, Prediction, Process
from burstline.values import BYTES, COUNT, SHARE, TIME, Column, Table, ratio, table_of

_RANKS: Final = 10
_OF_COLUMNS: Final = (
    "  BASE is of all occurrences of a phase, HERE of those measured. RATIO is the median of",
    "  what each of these took here by what it took on the base machine: not HERE / BASE.",
)
_ERROR: Final = SHARE._replace(digits=1, signed=True, absent="n/a")
_OF_PROCESS: Final = {
    "rank": Column("RANK"),
    "phases": Column("PHASES", COUNT),
    "relevant": Column("RELEVANT", COUNT),
    "coverage": Column("COVERED", SHARE),
    "actual_ns": Column("RUN", TIME),
    "predicted_ns": Column("PREDICTED", TIME),
    "usable": Column("OF USE"),
    "error": Column("ERROR", _ERROR),
    "seed_predicted_ns": Column("PUBLISHED", TIME),
}
_COLUMNS: Final = ("id", "name", "weight", "mean_ns", "share", "events", "relevant", "function")


class AnalysisCost(NamedTuple):
    """What the analysis of a trace took: table 3 of the published method."""

    trace_bytes: int
    tfat_ns: int  # trace file analysis time: reading the trace and finding phases


@dataclass(frozen=True, slots=True, eq=False)
class PhasesView(View):
    """Phases of a run: of the process that stands for all, then how well each is predicted."""

    result: Phases
    top: int = 20
    analysis: AnalysisCost | None = None

    def document(self) -> dict[str, Any]:
        """The phases, and what finding them took."""
        document = self.result.as_dict()
        if self.analysis is not None:
            spans = [each["actual_ns"] for each in document["processes"]]
            events = [each["events"] for each in document["processes"]]
            document["analysis"] = {
                "processes": len(spans),
                "aet_ns": max(spans),
                "events": sum(events),
                "events_of_process": max(events),
                **self.analysis._asdict(),
            }
        return document

    def rows(self) -> Rows:
        """The phases of the representative."""
        rows = self.result.as_dict()["phases"]
        return _COLUMNS, ([row[name] for name in _COLUMNS] for row in rows)

    def blocks(self) -> Iterator[Block]:
        """The verdict, the phases of the representative, and all processes."""
        signature = self.result.signature
        chosen = signature.of_rank(signature.representative)
        yield Facts(self._facts(chosen))
        yield _phases_table(chosen, self.result.functions, self.top)
        yield from self._processes()
        if self.analysis is not None:
            yield from self._published()

    def _published(self) -> Iterator[Block]:
        """What the analysis took, as table 3 of the published method has it."""
        columns = {
            "processes": Column("PROCESSES", COUNT),
            "aet_ns": Column("AET", TIME),
            "trace_bytes": Column("TRACE SIZE", BYTES),
            "events": Column("EVENTS", COUNT),
            "events_of_process": Column("OF A PROCESS", COUNT),
            "tfat_ns": Column("TFAT", TIME),
        }
        analysis = self.document()["analysis"]
        yield Table(
            list(columns.values()),
            [[analysis[name] for name in columns]],
            title="As published: AET is the application's time, TFAT that of reading its trace "
            "and finding phases",
        )

    def _facts(self, chosen: Process) -> Iterator[tuple[str, str]]:
        signature, estimate = self.result.signature, self.result.prediction.estimate
        relevant = sum(phase.is_relevant for phase in chosen.phases)
        number = f"{relevant:,} relevant of {len(chosen.phases):,} on rank {chosen.rank}"
        share = format_share(chosen.coverage).strip()
        why = "best predicted" if signature.method != "loops" else "the median process"
        yield "phases", f"{number}, {why}; {share} of its time lies in them"
        once = sum(phase.weight == 1 for phase in chosen.phases)
        if signature.method != "loops":
            if once > len(chosen.phases) / 2:
                text = f"{plural(once, 'phase')} of {len(chosen.phases):,} occur once"
                yield "fragments", text
            what = "its time: nothing was counted"
            what = what if signature.work_counter == "time" else signature.work_counter
            least = signature.facts["similarity"]
            yield "computation", f"is compared by {what}; alike from a ratio of {least} on"
        predicted, low, high, span = map(
            format_ns, (estimate.predicted_ns, *estimate.interval_ns, chosen.span_ns)
        )
        error = text_of(estimate.error, _ERROR)
        text = f"{predicted} ({low} to {high}); the run took {span}: {error}"
        yield "predicted by its early part", text
        if not estimate.usable:
            yield "of no use", estimate.reason
        share = format_share(chosen.early_ns / max(chosen.span_ns, 1)).strip()
        calls = f"{chosen.cut:,} of {plural(chosen.events, 'call')}"
        text = f"would stop after {calls}, at {share} of the time"
        if signature.crossing:
            text += f"; {plural(signature.crossing, 'message')} in flight at the cut"
        yield "a signature run", text

    def _processes(self) -> Iterator[Block]:
        classes = self.result.classes
        if len(self.result.signature.processes) < 2:
            return
        rows = sorted(
            self.result.as_dict()["processes"], key=lambda row: -abs(row["error"] or 0)
        )
        shown = [row | {"usable": "yes" if row["usable"] else "no"} for row in rows[:_RANKS]]
        yield Table(
            list(_OF_PROCESS.values()),
            [[row[name] for name in _OF_PROCESS] for row in shown],
            title="Each process by its own early part, the largest error first; OF USE: the "
            "interval is no wider than half of it; PUBLISHED is the sum of mean times number "
            "of its relevant phases",
        )
        if len(rows) > _RANKS:
            yield Lines([f"  and {plural(len(rows) - _RANKS, 'rank')} with a smaller error"])
        if 1 < len(classes) <= _RANKS:
            yield Facts(
                (f"class {number}", f"rank{'s' * (len(ranks) > 1)} {_ranks(ranks)}")
                for number, ranks in enumerate(classes, 1)
            )
        elif len(classes) > 1:
            yield Lines([f"  {len(classes)} classes of processes by their phases"])


@dataclass(frozen=True, slots=True, eq=False)
class PredictionView(View):
    """A predicted run, and the actual one if it was made."""

    result: Prediction
    top: int = 20

    def rows(self) -> Rows:
        """The prediction of each process."""
        rows = [each.as_dict() for each in self.result.estimates]
        return list(rows[0]), (list(row.values()) for row in rows)

    def blocks(self) -> Iterator[Block]:
        """The prediction, what it rests on, and the phases."""
        prediction, estimate = self.result, self.result.estimate
        process = prediction.signature.of_rank(estimate.rank)
        yield Facts(self._facts(process))
        relevant = [
            (phase, measured)
            for phase, measured in zip(process.phases, estimate.phases, strict=True)
            if phase.is_relevant
        ]
        yield table_of(
            relevant[: self.top],
            {
                Column("PHASE"): lambda pair: pair[0].name,
                Column("OCCURS", COUNT): lambda pair: pair[0].weight,
                Column("MEASURED", COUNT): lambda pair: pair[1] and pair[1].windows,
                Column("BASE", TIME): lambda pair: pair[0].mean_ns,
                Column("HERE", TIME): lambda pair: pair[1] and pair[1].mean_ns,
                Column("RATIO", ratio(3)): lambda pair: pair[1] and pair[1].ratio,
            },
            f"Phases of rank {process.rank}: mean time on the base machine, and here",
        )
        yield Lines(_OF_COLUMNS)

    def _facts(self, process: Process) -> Iterator[tuple[str, str]]:
        prediction, estimate = self.result, self.result.estimate
        predicted, low, high, base, measured, early, wall = map(
            format_ns,
            (
                estimate.predicted_ns, *estimate.interval_ns, process.span_ns,
                estimate.measured_ns, estimate.early_ns, prediction.wall_ns,
            ),
        )  # fmt: skip
        yield "predicted", f"{predicted}, between {low} and {high} in 95 of 100 cases"
        if not estimate.usable:
            yield "of no use", estimate.reason
        if estimate.actual_ns is not None and estimate.error is not None:
            lowest, highest = estimate.interval_ns
            side = "inside" if lowest <= estimate.actual_ns <= highest else "outside"
            took = format_ns(estimate.actual_ns)
            yield "the full run", f"{took}: error {estimate.error:+.1%}, {side} the interval"
        yield "on the base machine", base
        yield "measured", f"{measured} in windows, up to {early} after MPI_Init"
        yield "the signature run", f"{wall} with its start and end"
        share = format_share(process.coverage).strip()
        rest = format_share(estimate.rest_ns / max(estimate.predicted_ns, 1)).strip()
        text = f"{share} of the base run lies in phases; {rest} of the prediction is in none"
        yield "covered", text
        if estimate.seed_predicted_ns is not None:
            sum_ns = format_ns(estimate.seed_predicted_ns)
            yield "as published", f"{sum_ns}, without what lies in no phase"


def _phases_table(process: Process, functions: Sequence[str | None], top: int) -> Table:
    phases = sorted(enumerate(process.phases, 1), key=lambda row: -row[1].total_ns)
    more = len(phases) - top

    def seen(row: tuple[int, Phase]) -> str:
        return functions[row[0] - 1] or ""

    return table_of(
        phases[:top],
        {
            Column("PHASE"): lambda row: row[1].name,
            Column("ID"): lambda row: row[0],
            Column("OCCURS", COUNT): lambda row: row[1].weight,
            Column("CALLS"): lambda row: f"{row[1].events:,.4g}",
            Column("MEAN", TIME): lambda row: row[1].mean_ns,
            Column("SHARE", SHARE): lambda row: row[1].total_ns / max(process.span_ns, 1),
            **({Column("MOST IN"): seen} if any(functions) else {}),
        },
        f"Phases of rank {process.rank}"
        + (f", the longest {top} of {len(phases):,}" if more > 0 else ""),
    )


def _ranks(ranks: Sequence[int]) -> str:
    shown = ", ".join(map(str, ranks[:_RANKS]))
    return shown if len(ranks) <= _RANKS else f"{shown}, … ({len(ranks)})"
