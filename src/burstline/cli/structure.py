"""``burstline structure``: the loops of a program, as pseudo-code."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

import burstline
from burstline import selection, show
from burstline.cli import usage
from burstline.cli.features import (
    add_features_options,
    draw_factor_map,
    features_asked,
    study_view,
)
from burstline.cli.inputs.detection import DETECTION, add_detection, detected
from burstline.cli.inputs.iterations import WAY_OUT
from burstline.cli.inputs.options import add_trace_options, read_selected
from burstline.cli.products.files import table_file
from burstline.errors import ParameterError
from burstline.formats import paraver

if TYPE_CHECKING:
    import argparse

    from burstline.show import View
    from burstline.structure import Inside, LoopTable, Structure
    from burstline.trace import Trace

DESCRIPTION: Final = """\
Read the loops of a program off TRACE, without its source: which calls repeat together,
which loop is in which, where they are in the source, what they cost. The result says
how true it is: the share of MPI calls that it reproduces in order.
"""
EXAMPLES: Final = """\
examples:
  burstline structure run.prv
  burstline structure run.prv --show-ranks 0            what rank 0 executes
  burstline structure run.prv --bursts 1ms              with computation of 1 ms or more
  burstline structure run.prv --method exact            every call, every condition
  burstline structure run.prv --iterations 2            what each iteration of loop 2 cost
  burstline structure run.prv -o loops.parquet          all loops and ranks, as a table
  burstline structure run.prv --counter PAPI_TOT_INS
  burstline structure run.prv --min-share 0             short loops, too
  burstline structure run.prv --format json | python -m json.tool
  burstline structure run.prv --format csv > nodes.csv  loops and calls, one a row
"""
_REGION: Final = (("--from", "start"), ("--to", "end"), ("--ranks", "ranks"), ("--app", "app"))
_OF_ITERATIONS: Final = {
    "--slowest N=5": "slow iterations to list (5)",
    "-o, --output FILE": "write that table, or else one of all loops and ranks, as .parquet "
    "or .csv",
    **usage.FORCE,
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_trace_options(parser)
    add_detection(parser)
    about = "--iterations ID without --loop shows what each iteration of that loop cost"
    usage.add(parser.add_argument_group("table of iterations", about), _OF_ITERATIONS)
    parser.set_defaults(has_loop_table=True)
    add_features_options(parser)
    shown = parser.add_argument_group("what the table shows")
    usage.add(shown, usage.SHOWN | {"--depth N": "fold loops nested deeper than N"})


def run(arguments: argparse.Namespace) -> None:
    """Detect the structure of the trace and print it, or what the iterations of a loop cost."""
    path = table_file(arguments.output, force=arguments.force, endings=(".parquet", ".csv"))
    number = _loop_of_table(arguments)
    features = features_asked(arguments)
    in_bursts = arguments.format == "table" and arguments.bursts is not None
    trace = read_selected(arguments, raw=in_bursts or features)
    structure = detected(trace, arguments)
    table = None
    if number is not None and (path is not None or not features):
        table = burstline.structure.loop_table(trace, structure, number)
    if features:
        view = study_view(trace, structure, arguments)
        show.output(view, arguments.format)
        draw_factor_map(view, arguments)
    elif table is not None:
        show.output(_iterations_view(table, structure, arguments), arguments.format)
    else:
        show.output(_structure_view(trace, structure, arguments), arguments.format)
    if path is not None:
        rows = (
            burstline.structure.loops_table(trace, structure)
            if table is None
            else table.to_arrow()
        )
        show.write_parts([rows], rows.schema, path)
        show.note(f"{path}: {rows.num_rows:,} rows")


def _loop_of_table(arguments: argparse.Namespace) -> int | None:
    """The loop whose iterations are to be shown; None if they are not, or choose a region."""
    if arguments.loop is not None or arguments.iterations is None:
        return None
    try:
        return int(arguments.iterations)
    except ValueError:
        raise ParameterError(
            f"--iterations {arguments.iterations} of which loop? {WAY_OUT}"
        ) from None


def _iterations_view(
    table: LoopTable, structure: Structure, arguments: argparse.Namespace
) -> View:
    counter = None
    if arguments.format == "table":
        counter = show.chosen_counter(structure, arguments.counter)
    cut = _cut_command(arguments, table.loop)
    return show.LoopTableView(table, counter, arguments.slowest, cut)


def _cut_command(arguments: argparse.Namespace, number: int) -> str:
    """The command that cuts iterations of a loop out; empty if `cut` finds other loops."""
    usual = burstline.detect.__kwdefaults__ or {}
    if any(getattr(arguments, name, usual[name]) != usual[name] for name in DETECTION):
        return ""
    words = ["burstline", "cut", arguments.trace]
    for option, name in _REGION:
        value = getattr(arguments, name)
        if value is not None:
            words += [option, str(value)]
    return shlex.join([*words, "--loop", str(number), "--iterations"])


def _structure_view(trace: Trace, structure: Structure, arguments: argparse.Namespace) -> View:
    if arguments.format != "table":
        return show.StructureView(structure)
    ranks = None
    if arguments.show_ranks is not None:
        named = selection.parse_ranks(arguments.show_ranks)
        ranks = [rank for rank in structure.ranks if any(rank in some for some in named)]
    bursts_ns = None if arguments.bursts is None else selection.parse_time(arguments.bursts)
    return show.StructureView(
        structure,
        counter=arguments.counter,
        ranks=ranks,
        bursts_ns=bursts_ns,
        depth=arguments.depth,
        inside=None if bursts_ns is None else _inside(trace, structure),
    )


def _inside(trace: Trace, structure: Structure) -> Inside:
    """What the trace knows about loops in the computation."""
    return burstline.structure.inside(
        trace, structure, paraver.sampled(trace) if trace.has_raw else None
    )
