"""Iterations of a loop on the command line: as region of interest, and as a table.

::

    --loop ID --iterations A:B  ->  a window per location, for every command
    structure --iterations ID   ->  the loop table      structure -o FILE  ->  as a file
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import burstline
from burstline import selection, show
from burstline.errors import ParameterError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from burstline.structure import Structure
    from burstline.trace import Trace

_DETECTION: Final = ("method", "eps", "scale", "rank_merge", "min_share")
_REGION: Final = (("--from", "start"), ("--to", "end"), ("--ranks", "ranks"), ("--app", "app"))
_SLOWEST: Final = 5
_NEGATIVE: Final = re.compile(r"-\d+(:-?\d*)?$|-\d*\.\d+$")
_WAY_OUT: Final = "Name the loop, as `burstline structure` numbers it: --loop ID"


class Asked(NamedTuple):
    """Iterations somebody asked for, as they were written."""

    loop: int
    first: int
    last: int


def add_loop_region(parser: argparse.ArgumentParser, group: argparse._ArgumentGroup) -> None:
    """Add the iterations of a loop to the region of interest."""
    # argparse would take -5: for an option, as it once took -5
    parser._negative_number_matcher = _NEGATIVE  # noqa: SLF001 -- see above
    group.add_argument(
        "--loop", type=int, metavar="ID", help="only this loop, as structure numbers it"
    )
    group.add_argument(
        "--iterations", metavar="A:B", help="only these of its iterations: 1, 3:7, :10, -5:"
    )


def add_iterations_options(parser: argparse.ArgumentParser) -> None:
    """Add what the loop table needs to a parser that went through `add_trace_options`."""
    group = parser.add_argument_group(
        "table of iterations",
        "--iterations ID without --loop shows what each iteration of that loop cost",
    )
    group.add_argument(
        "--slowest",
        type=int,
        default=_SLOWEST,
        metavar="N",
        help=f"slow iterations to list ({_SLOWEST})",
    )
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write that table, or else one of all loops and ranks, as .parquet or .csv",
    )
    group.add_argument("--force", action="store_true", help="replace a FILE that exists")
    parser.set_defaults(has_loop_table=True)


def iterations_asked(arguments: argparse.Namespace) -> Asked | None:
    """The iterations that are the region of interest; None if no loop was chosen."""
    if arguments.loop is None:
        if arguments.iterations is None or getattr(arguments, "has_loop_table", False):
            return None
        raise ParameterError(f"--iterations of which loop? {_WAY_OUT}")
    return Asked(arguments.loop, *selection.parse_iterations(arguments.iterations or ":"))


def table_asked(arguments: argparse.Namespace) -> int | None:
    """The loop whose table was asked for; an output that cannot be is refused."""
    _output(arguments)
    if arguments.loop is not None or arguments.iterations is None:
        return None
    try:
        return int(arguments.iterations)
    except ValueError:
        raise ParameterError(
            f"--iterations {arguments.iterations} of which loop? {_WAY_OUT}"
        ) from None


def iterations_region(
    trace: Trace, region: Mapping[str, Any], asked: Asked, arguments: argparse.Namespace
) -> dict[str, Any]:
    """The region of some iterations; what it is, is said on standard error."""
    part = burstline.select(trace, **region) if region else trace
    chosen = {name: getattr(arguments, name) for name in _DETECTION if name in arguments}
    structure = burstline.detect(part, **chosen)
    begin, end = burstline.structure.iterations_window(part, structure, *asked)
    _explain(part, asked, structure.method, end - begin)
    start_ns, end_ns = selection.former_windows(trace, part, begin, end)
    return {"start_ns": start_ns, "end_ns": end_ns}


def _explain(trace: Trace, asked: Asked, method: str, length_ns: Any) -> None:  # noqa: ANN401 -- an array; NumPy is not loaded yet

    (rank,) = trace.arrays("locations", "rank")
    inside = set(rank[length_ns > 0].tolist())
    lengths = [
        show.format_ns(int(each)) for each in (length_ns[length_ns > 0].min(), length_ns.max())
    ]
    span = " to ".join(dict.fromkeys(lengths))
    show.note(
        f"iterations {asked.first}:{asked.last} of loop {asked.loop} ({method}): {span} a rank"
    )
    without = sorted(set(rank.tolist()) - inside)
    if without:
        ranks = burstline.structure.compact(without)
        show.note(f"left out, because they do not run these iterations: ranks {ranks}")


def print_iterations(
    trace: Trace, structure: Structure, number: int, arguments: argparse.Namespace
) -> None:
    """Print what each iteration of a loop cost, and write it if a file was named."""
    table = burstline.structure.loop_table(trace, structure, number)
    if arguments.format == "table":
        show.print_loop_table(
            table,
            counter=show.chosen_counter(structure, arguments.counter),
            most=arguments.slowest,
            cut=_cut_command(arguments, number),
        )
        return
    if arguments.format == "json":
        show.print_json(table.as_dict(most=arguments.slowest))
    else:
        show.print_csv(tuple(table.columns()), table.rows())


def write_loops(trace: Trace, structure: Structure, arguments: argparse.Namespace) -> None:
    """Write a table of iterations, or of all loops, where the arguments name a file."""
    path = _output(arguments)
    if path is None:
        return
    number = table_asked(arguments)
    if number is None:
        rows = burstline.structure.loops_table(trace, structure)
    else:
        rows = burstline.structure.loop_table(trace, structure, number).to_arrow()
    show.write_parts([rows], rows.schema, path)
    show.note(f"{path}: {rows.num_rows:,} rows")


def _output(arguments: argparse.Namespace) -> Path | None:
    if arguments.output is None:
        return None
    path = Path(arguments.output)
    if path.suffix not in {".parquet", ".csv"}:
        raise ParameterError(f"{path}: the ending of a table is .parquet or .csv")
    if path.exists() and not arguments.force:
        raise ParameterError(f"{path} exists. Choose another output, or pass --force")
    return path


def _cut_command(arguments: argparse.Namespace, number: int) -> str:
    """The command that cuts iterations of a loop out; empty if `cut` finds other loops."""
    usual = burstline.detect.__kwdefaults__ or {}
    if any(getattr(arguments, name, usual[name]) != usual[name] for name in _DETECTION):
        return ""
    words = ["burstline", "cut", arguments.trace]
    for option, name in _REGION:
        value = getattr(arguments, name)
        if value is not None:
            words += [option, str(value)]
    return shlex.join([*words, "--loop", str(number), "--iterations"])
