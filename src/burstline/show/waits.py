"""What ``burstline waits`` shows: what costs most and who causes it, then the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from burstline.answers import Check, path_text, titled, verdict_on_waits
from burstline.columns import Integers, Mask
from burstline.errors import plural
from burstline.quantities import format_share
from burstline.show.blocks import Block, Facts, Heading, Lines
from burstline.show.units import text_of, thread_text
from burstline.show.views import Rows, View
from burstline.values import AMOUNT, PATH, SHARE, TIME, Column, Notation, Table, Value, table_of
from burstline.waits import WAITS, Intrinsic, Waits, largest_cells, largest_wait, transfer_ns

_WHOLE = 0.9995  # share of events that is printed as 100.0 %
_LEAST_ALONE: Final = 0.01  # of the computation: what one rank alone does less of is not told
_LEAST: Final = 0.0005  # of the time: smaller metrics are not shown to people
_UNITS: Final = {"ns": "TIME", "occ": "COUNT"}
_ROOTS: Final = ("time", "delay", "critical_path")
_OF_PROCESSES: Final = (
    ("communication", "Communication", 1),
    ("serialisation", "Serialisation", 2),
    ("transfer", "Transfer", 2),
)
_SERIAL: Final = (
    ("parallel", "Parallel efficiency", 0),
    ("load_balance", "Load balance", 1),
    *_OF_PROCESSES,
)
_HYBRID: Final = (
    ("hybrid", "Parallel efficiency", 0),
    ("mpi", "MPI", 1),
    ("mpi_load_balance", "Load balance", 2),
    *((name, title, depth + 1) for name, title, depth in _OF_PROCESSES),
    ("openmp", "OpenMP", 1),
    ("openmp_load_balance", "Load balance", 2),
    ("openmp_communication", "Communication", 2),
)
_COLUMNS: Final = ("metric", "rank", "thread", "call_path", "value")
_PART_FACTORS: Final = {
    "parallel": "PAR. EFF.", "load_balance": "BALANCE", "communication": "COMM.",
    "serialisation": "SERIAL.", "transfer": "TRANSFER",
}  # fmt: skip
_WITHOUT_ENDS: Final = "without Init and Finalize"
_MOST_PARTS, _MOST_WAITS = 40, 1


@dataclass(frozen=True, slots=True, eq=False)
class WaitsView(View):
    """Where a program waits, with the `top` call paths and ranks; of a `metric`, if named."""

    result: Waits
    top: int = 5
    metric: str | None = None
    checks: tuple[Check, ...] = ()

    def document(self) -> dict[str, Any]:
        """The verdict, and all of the result; the longest lists are cut."""
        told = verdict_on_waits(self.result, self.checks)
        document = {
            "verdict": [each.as_dict() for each in told],
            "checks": [each.as_dict() for each in self.checks],
        } | self.result.as_dict()
        modelled = self.result.modelled
        if modelled is not None:
            without = modelled.without
            told = () if without is None else verdict_on_waits(without, self.checks)
            document["verdict_without"] = [each.as_dict() for each in told] or None
        return document

    def rows(self) -> Rows:
        """Values of every metric by part of the run, else by call path and location."""
        if self.result.by:
            return ("part", "metric", "value"), (
                (part.key, metric, value)
                for part in self.result.by
                for metric, value in part.metrics.items()
            )
        return _COLUMNS, self._cells()

    def _cells(self) -> Iterator[tuple[object, ...]]:
        profile = self.result.profile
        ranks, threads = (profile.locations[name].to_pylist() for name in ("rank", "thread"))
        path = profile.paths()
        paths = [" > ".join(path(row)) for row in range(profile.call_paths.num_rows)]
        for metric in profile.stored:
            table = profile.to_table(metric)
            for path, location, value in zip(
                *(column.to_pylist() for column in table), strict=True
            ):
                yield metric, ranks[location], threads[location], paths[path], value

    def blocks(self) -> Iterator[Block]:
        """The verdict, the tree of metrics, the worst call paths and ranks, what is unknown."""
        waits = self.result
        told = verdict_on_waits(waits, self.checks)
        yield Facts([(each.question, each.sentence) for each in told])
        if stamps := self.result.coverage.get("stamps"):
            yield Lines([f"  {note}" for note in clock_notes(stamps)])
        yield from self._clocks()
        yield from self._parts()
        yield self._tree()
        yield from self._factors()
        yield from self._places()
        yield from self._intrinsic()
        yield from self._unknown()

    def _clocks(self) -> Iterator[Block]:
        """What is wrong with the stamps, or was."""
        corrected = self.result.corrected
        worst, moved = (self._time(corrected[name]) for name in ("worst_ns", "moved_ns"))
        count = plural(corrected["violations"], "event")
        early = f"{count} stamped before the cause, by up to {worst}"
        if corrected["moved_ns"]:
            why = early if corrected["violations"] else "Collectives tell that clocks differ"
            yield Lines([f"{why}: stamps were moved by up to {moved}."])
        elif corrected["violations"]:
            yield Lines([f"{early}: clocks disagree. Try `correct`."])

    def _parts(self) -> Iterator[Block]:
        """Waits by part of the run: those with most, in the order of the result."""
        by = self.result.by
        if not by:
            return
        kind = self.result.coverage["by"]
        present = [name for name in WAITS if name in self.result.profile.stored]
        columns = sorted(present, key=self.result.profile.total, reverse=True)[:_MOST_WAITS]
        factors = ["parallel", "load_balance", "communication"]
        if kind == "loop" and any(part.efficiency["transfer"] for part in by):
            columns, factors = [], list(_PART_FACTORS)  # there is no room for both
        depth: dict[int | str | None, int] = {None: -1}
        for part in by:
            depth[part.key] = depth[part.parent] + 1
        least = sorted((part.waits_ns for part in by), reverse=True)[:_MOST_PARTS][-1]
        shown = [part for part in by if part.waits_ns >= least][:_MOST_PARTS]
        which = {
            "iteration": f" of loop {self.result.coverage.get('loop')}",
            "loop": ", numbered as by burstline structure",
        }.get(kind, "")
        time = self._notation
        yield Table(
            [
                Column(kind.upper()),
                Column(self._unit, time),
                Column("WAITS", time),
                Column("%", SHARE),
                *(Column(self._title(name), time) for name in columns),
                *(Column(_PART_FACTORS[name], SHARE) for name in factors),
            ],
            [
                [
                    Value(int(part.key), time) if kind == "window" else part.key,
                    part.metrics.get("time", 0),
                    part.waits_ns,
                    part.waits_ns / max(part.metrics.get("time", 0), 1),
                    *(part.metrics.get(name, 0) for name in columns),
                    *(part.efficiency[name] for name in factors),
                ]
                for part in shown
            ],
            title=f"Waits by {kind}{which}",
            depths=[depth[part.key] for part in shown],
        )
        if len(shown) < len(by):
            yield Lines([f"  the {len(shown)} with most of {len(by):,}; `format=csv` has all"])

    @property
    def _unit(self) -> str:
        return "TIME" if self.result.unit == "ns" else self.result.unit.upper()

    @property
    def _notation(self) -> Notation:
        """How times, or numbers of ticks, are told."""
        return TIME if self.result.unit == "ns" else AMOUNT

    def _time(self, value: int) -> str:
        """A time, or a number of ticks."""
        return text_of(value, self._notation)

    def _title(self, metric: str) -> str:
        return titled(self.result, metric)[0]

    def _tree(self) -> Table:
        profile, rows, depths = self.result.profile, [], []
        names: dict[int | None, str] = dict(enumerate(profile.metrics["name"].to_pylist()))
        depth: dict[int | None, int] = {}
        for metric in profile.metrics.to_pylist():
            if metric["parent"] is None and metric["name"] not in _ROOTS:
                continue
            if metric["parent"] is not None and metric["parent"] not in depth:
                continue
            depth[metric["metric"]] = depth.get(metric["parent"], -1) + 1
            name = metric["name"]
            share = self.result.share_of_time(name)
            # In JSON and CSV are costs of short and of long range, too.
            above = names.get(metric["parent"], "")
            is_told = not above.endswith("_aggregate") and share >= _LEAST
            if is_told and metric["unit"] == self.result.unit and name in profile.stored:
                rows.append([metric["title"], int(profile.total(name)), share])
                depths.append(depth[metric["metric"]])
        return Table(
            [Column("METRIC"), Column(self._unit, self._notation), Column("%T", SHARE)],
            rows,
            "What the time goes to, with its share of the time of all threads (%T)",
            depths=depths,
        )

    def _factors(self) -> Iterator[Block]:
        """Why the run is not as fast as its threads are many."""
        efficiency = self.result.efficiency
        factors = tree_of(efficiency)
        if efficiency.get(factors[0][0]) is not None:
            yield Table(
                [Column("FACTOR"), Column("%", SHARE)],
                [[title, efficiency[name]] for name, title, _ in factors],
                title="Efficiency: each is the product of the factors below it",
                depths=[depth for *_, depth in factors],
            )

    def _places(self) -> Iterator[Block]:
        """Where a metric is, by default the largest wait and what causes it, and on whom."""
        waits = self.result
        stored = waits.profile.stored
        largest = largest_wait(waits)
        if self.metric is not None:
            yield self._where(self.metric)
        else:
            if (transfer := transfer_ns(waits)) is not None:
                yield self._call_paths("transfer, time in MPI that is no wait", transfer, "")
            if largest is not None:
                left_out = largest.left_out
                yield self._where(largest.metric, left_out)
                if WAITS[largest.metric] in stored:
                    yield self._where(WAITS[largest.metric], left_out)
        if largest is not None:
            yield self._ranks([name for name in WAITS if name in stored], largest.left_out)

    def _where(self, metric: str, left_out: Mask | None = None) -> Block:
        """Where a metric is, but for some call paths, if it is elsewhere, too."""
        profile = self.result.profile
        if metric not in profile.stored:
            return Lines(["", f"Where: of {metric} the run has nothing"])
        title = self._title(metric)
        values, without = profile.exclusive(metric).sum(axis=1), ""
        if left_out is not None and values[left_out].any() and values[~left_out].any():
            values[left_out] = 0
            without = f", {_WITHOUT_ENDS}"
        what = f"what causes {title}" if metric.startswith("delay") else title
        row = profile.metrics["name"].to_pylist().index(metric)
        return self._call_paths(what, values, without, profile.metrics["unit"][row].as_py())

    def _call_paths(
        self, what: str, values: Integers, without: str, unit: str | None = None
    ) -> Table:
        """The call paths with most of something, each with its share of the whole."""
        unit = unit or self.result.unit
        head = _UNITS.get(unit, unit.upper())
        notation = TIME if unit == "ns" else AMOUNT
        whole = int(values.sum())
        order = np.argsort(-values, kind="stable")[: self.top].tolist()
        return table_of(
            [row for row in order if values[row] > 0],
            {
                Column(head, notation, 7): lambda row: int(values[row]),
                Column("%M", SHARE, 7): lambda row: values[row] / whole,
                Column("CALL PATH"): lambda row: path_text(self.result, row),
            },
            f"Where: {what} (%M of {text_of(whole, notation)}{without})",
            left=3,
        )

    def _ranks(self, metrics: list[str], left_out: Mask) -> Table:
        profile = self.result.profile
        kept = ~left_out
        wait = sum(profile.exclusive(name)[kept].sum(axis=0) for name in metrics)
        cost = np.zeros_like(wait)
        if "delay" in profile.stored:
            cost = profile.exclusive("delay")[kept].sum(axis=0)
        ranks, threads = (profile.locations[name].to_pylist() for name in ("rank", "thread"))
        order = np.argsort(-(wait + cost), kind="stable")[: self.top]
        without = f" ({_WITHOUT_ENDS})" if left_out.any() else ""
        return table_of(
            order.tolist(),
            {
                Column("RANK"): lambda k: thread_text(ranks[k], threads[k]),
                Column("WAITS", self._notation): lambda k: int(wait[k]),
                Column("CAUSES", self._notation): lambda k: int(cost[k]),
            },
            f"Who waits, and who causes waits{without}",
        )

    def _intrinsic(self) -> Iterator[Block]:
        """What of the waits the program makes itself, what the machine added, and where."""
        intrinsic = self.result.intrinsic
        if intrinsic is None:
            return
        totals = {name: each for name, each in intrinsic.totals().items() if any(each)}
        rows: list[tuple[str, list[int]]] = []
        for name, each in sorted(totals.items(), key=lambda row: -max(row[1])):
            excess = intrinsic.excess_ns[name]
            title = self._title(f"intrinsic_{name}")
            rows.append((title, [sum(each) - excess, *each, excess]))
        if len(rows) > 1:
            sums = [sum(column) for column in zip(*(times for _, times in rows), strict=True)]
            rows.append(("All waits", sums))
        heads = ("RECORDED", "INTRINSIC", "EXTRINSIC", "EXCESS")
        yield Table(
            [Column("WAIT"), *(Column(head, self._notation) for head in heads)],
            [[title, *times] for title, times in rows],
            title="Intrinsic (the program's own) + extrinsic (the machine's) - excess = "
            f"recorded; work by {intrinsic.clock}",
        )
        waits = [
            (self._title(f"intrinsic_{name}"), intrinsic.waits(name), values)
            for name, values in intrinsic.extrinsic.items()
        ]
        yield self._cells_of("WAIT", waits, "Who waits, and where")
        causes = [("", intrinsic.causes, intrinsic.extrinsic_causes)]
        yield self._cells_of("", causes, "Who causes waits, and where: costs of delays")
        yield from self._alone(intrinsic)

    def _cells_of(
        self, word: str, kinds: Sequence[tuple[str, Integers, Integers]], title: str
    ) -> Table:
        """The call paths and threads with most that is intrinsic or extrinsic."""
        ranks, threads = (
            self.result.profile.locations[name].to_pylist() for name in ("rank", "thread")
        )
        rows = [
            (int(ours[cell]), int(theirs[cell]), shown, *cell)
            for shown, ours, theirs in kinds
            for cell in largest_cells(ours, theirs, self.top)
        ]
        rows.sort(key=lambda row: -max(row[:2]))
        words = [word] if word else []
        return Table(
            [
                *(Column(head, self._notation, 9) for head in ("INTRINSIC", "EXTRINSIC")),
                *map(Column, words),
                *(Column("RANK"), Column("CALL PATH", PATH)),
            ],
            [
                [
                    *(ours, theirs),
                    *([shown] if words else []),
                    thread_text(ranks[at], threads[at]),
                    self.result.path(node),
                ]
                for ours, theirs, shown, node, at in rows[: self.top]
            ],
            title=title,
            left=4 + len(words),
        )

    def _alone(self, intrinsic: Intrinsic) -> Iterator[Block]:
        """Where one rank alone computes: noise there counts as the program's own."""
        whole = max(int(intrinsic.profile.total("comp")), 1)
        told = [row for row in intrinsic.alone if row[2] / whole >= _LEAST_ALONE][: self.top]
        yield Lines(
            [
                f"  Rank {rank} alone computes in {' > '.join(self.result.path(node)[-2:])}, "
                f"{self._time(time_ns)}: its rate cannot be told from noise."
                for node, rank, time_ns in told
            ]
        )

    def _unknown(self) -> Iterator[Block]:
        coverage = self.result.coverage
        reasons: dict[str, list[str]] = {}
        for row in coverage["not_computable"]:
            reasons.setdefault(row["reason"], []).append(row["metric"])
        facts = [(", ".join(metrics), reason) for reason, metrics in reasons.items()]
        facts += [
            ("left out", f"{plural(count, 'row')}, {what}")
            for what, count in coverage["left_out"].items()
        ]
        facts += [
            ("no cause", f"{self._time(missed)} of waits: {self._title(delay)}")
            for delay, missed in coverage.get("unexplained_ns", {}).items()
            if delay in self.result.profile.stored
        ]
        if coverage["half_messages"]:
            facts.append(("left out", f"{coverage['half_messages']:,} halves of messages"))
        if coverage["collectives_apart"]:
            apart = plural(coverage["collectives_apart"], "collective")
            facts.append(("contradiction", f"{apart} that members left before others came"))
        path = coverage.get("critical_path_share", 1.0)
        if path > 1 or (coverage["virtual_start"] and path < 1 / 2):
            facts.append(("critical path", f"as long as {path:.1%} of the run"))
        if facts:
            yield Heading("What could not be computed")
            yield Facts(facts)


def tree_of(efficiency: Mapping[str, float | None]) -> Sequence[tuple[str, str, int]]:
    """The factors of the efficiency of processes, or of threads, too: name, title and depth."""
    return _SERIAL if efficiency.get("hybrid") is None else _HYBRID


def clock_notes(stamps: Mapping[str, Any]) -> Iterator[str]:
    """Sentences on the stamps that :meth:`burstline.Retiming.as_dict` tells of."""
    counters = ", ".join(stamps["counters"])
    counted = f", work is {counters}" if counters else ""
    yield f"{stamps['clock']}: {stamps['end_ticks']:,} ticks{counted}"
    if stamps["sampled"] < _WHOLE:
        share = format_share(stamps["sampled"]).strip()
        yield (
            f"{counters or 'iterations'} were read at {share} of the events: work between two "
            "readings counts at the second one"
        )
    if unread := stamps["unread_locations"]:
        yield (
            f"nothing was counted on {plural(len(unread), 'thread')}, of location {unread[0]} "
            "first: work there is not seen"
        )
    if negative := stamps["negative_readings"]:
        yield f"{plural(negative, 'reading')} fell and count nothing"
    if stamps["equals"] != stamps["clock"]:
        lacks = {"lt_loop": "no iterations of OpenMP loops were counted"}
        why = lacks.get(stamps["clock"], "no work was counted")
        yield f"{why}, so each event is a tick: this is {stamps['equals']}"
    if modelled := stamps["modelled_ticks"]:
        share = format_share(stamps["modelled_share"]).strip()
        yield (
            f"{share} of the ticks of all threads were not counted: {modelled:,}, which are "
            f"{stamps['call_cost']:,} for each call of OpenMP, in its construct (`call_cost`)"
        )
    yield from _order_notes(stamps["machine_order"])
    if cycles := stamps["inconsistent"]:
        (location, seq), *_ = stamps["cycles"][0]
        yield (
            f"the trace contradicts itself: {plural(cycles, 'circle')} of events that wait for "
            f"each other went on without waiting, first event {seq} of location {location}"
        )


def _order_notes(order: Mapping[str, Any]) -> Iterator[str]:
    """Sentences on what the machine decides: with it stamps differ from run to run."""
    if order["calls_share"]:
        calls = ", ".join(
            f"{count:,} {name}"
            for kind in ("polls", "first_comes")
            for name, count in order[kind].items()
        )
        share = format_share(order["calls_share"]).strip()
        yield (
            f"what is there first, the machine decides: stamps may differ from run to run by "
            f"{share} of the calls of MPI ({calls})"
        )
    if order["locks"]:
        share = format_share(order["locks_share"]).strip()
        yield (
            f"who gets a lock first, the machine decides: {plural(order['locks'], 'time')}, "
            f"at {share} of the regions of threads"
        )
    if order["rivals"]:
        share = format_share(order["rivals_share"]).strip()
        yield (
            f"if receives are of any source (a trace does not tell), the machine decides what "
            f"they take: at most {share} of the messages"
        )
