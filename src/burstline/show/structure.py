"""A structure on the terminal: how true it is, and its pseudo-code as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from burstline.show.blocks import Block, Facts, Table
from burstline.show.code_lines import STYLES, chosen_counter, pseudocode
from burstline.show.units import format_bytes, format_count, format_ns, format_share, plural
from burstline.show.views import Rows, View, columns_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from burstline.show.code_lines import Line
    from burstline.structure import Inside, Structure

_METHODS: Final = {"seed": "published", "exact": "exact"}
_INDENT: Final = "  "
_TRUE_ENOUGH: Final = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class StructureView(View):
    """A structure with the options of :func:`pseudocode`; instructions per cycle by default."""

    result: Structure
    counter: str | None = None
    ranks: Collection[int] | None = None
    bursts_ns: int | None = None
    depth: int | None = None
    inside: Inside | None = None

    def rows(self) -> Rows:
        """Its loops, conditions and calls."""
        return columns_of(self.result.rows())

    def blocks(self) -> Iterator[Block]:
        """How true it is, and its pseudo-code."""
        counter = chosen_counter(self.result, self.counter)
        lines = pseudocode(
            self.result,
            counter=counter,
            ranks=self.ranks,
            bursts_ns=self.bursts_ns,
            depth=self.depth,
            inside=self.inside,
        )
        doubtful = self.result.fidelity < _TRUE_ENOUGH
        yield Facts(_facts(self.result), ["", "yellow" if doubtful else ""])
        yield Table(
            line_columns(counter),
            [line_cells(line, counter) for line in lines],
            "Structure",
            left=3,
            styles=[STYLES.get(line.kind, "") for line in lines],
        )


def line_columns(counter: str | None) -> list[str]:
    """What is above pseudo-code: the first three columns are text."""
    columns = ["FILE", "LINE", "PSEUDOCODE", "E(time)", "E(size)"]
    return columns + ([f"E({counter})"] if counter else [])


def line_cells(line: Line, counter: str | None, mark: str = "") -> list[str]:
    """A line of pseudo-code, with a mark before its text."""
    cells = [
        line.file,
        line.line,
        _INDENT * line.depth + mark + line.text,
        "" if line.time_ns is None else format_ns(round(line.time_ns)),
        "" if line.size_bytes is None else format_bytes(round(line.size_bytes)),
    ]
    if counter:
        cells.append("" if line.counter is None else format_count(line.counter))
    return cells


def _facts(structure: Structure) -> list[tuple[str, str]]:
    loops, classes = len(structure.loops), len(structure.classes)
    coverage = structure.coverage
    doubt = "; the rest is misread" if structure.fidelity < _TRUE_ENOUGH else ""
    size = f"{plural(loops, 'loop')}, {plural(structure.nodes, 'node')}"
    calls = f"{plural(structure.calls, 'call')} ({structure.unique_calls:,} unique)"
    in_loops = f"{format_share(coverage.time)} of {format_ns(structure.run_ns)} in loops"
    ranks = plural(len(set(structure.ranks)), "rank")
    facts = [
        ("structure", f"{size} for {calls}, by the {_METHODS[structure.method]} method"),
        ("fidelity", f"{100 * structure.fidelity:.2f} % of the calls come out in order{doubt}"),
        ("coverage", f"{format_share(coverage.calls)} of the calls, {in_loops}"),
        ("ranks", f"{ranks} of {plural(classes, 'kind')}"),
    ]
    if structure.left_out:
        executed = sum(int(call.executions.sum()) for call in structure.left_out)
        least = format_share(float(str(structure.parameters.get("min_share", 0))))
        span = f"{plural(executed, 'call')} that repeat within less than {least} of the run"
        facts.append(("left out", f"{span} (--min-share 0 shows them)"))
    if structure.callpath == "none":
        facts.append(("call paths", "none in this trace, so that no source line can be given"))
    return facts
