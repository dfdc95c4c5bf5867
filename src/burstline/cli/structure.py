"""``burstline structure``: the loops of a program, as pseudo-code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import burstline
from burstline import selection, show
from burstline.cli.features import add_features_options, features_asked, print_features
from burstline.cli.inputs.detection import add_detection, detected
from burstline.cli.inputs.iterations import (
    add_iterations_options,
    print_iterations,
    table_asked,
    write_loops,
)
from burstline.cli.inputs.options import add_trace_options, read_selected
from burstline.formats import paraver

if TYPE_CHECKING:
    import argparse

    from burstline.structure import Inside, Structure
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


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_trace_options(parser)
    add_detection(parser)
    add_iterations_options(parser)
    add_features_options(parser)
    shown = parser.add_argument_group("what the table shows")
    shown.add_argument("--counter", metavar="NAME", help="a counter of the trace, or IPC")
    shown.add_argument("--show-ranks", metavar="LIST", help="what these ranks execute: 0-7,12")
    shown.add_argument(
        "--bursts", metavar="TIME", help="computation before calls from this mean on: 1ms"
    )
    shown.add_argument("--depth", type=int, metavar="N", help="fold loops nested deeper than N")


def run(arguments: argparse.Namespace) -> None:
    """Detect the structure of the trace and print it, or what the iterations of a loop cost."""
    number = table_asked(arguments)
    features = features_asked(arguments)
    in_bursts = arguments.format == "table" and arguments.bursts is not None
    trace = read_selected(arguments, raw=in_bursts or features)
    structure = detected(trace, arguments)
    if features:
        print_features(trace, structure, arguments)
    elif number is not None:
        print_iterations(trace, structure, number, arguments)
    else:
        _print(trace, structure, arguments)
    write_loops(trace, structure, arguments)


def _print(trace: Trace, structure: Structure, arguments: argparse.Namespace) -> None:
    if arguments.format == "table":
        _print_table(trace, structure, arguments)
        return
    if arguments.format == "json":
        show.print_json(structure.as_dict())
    else:
        rows = structure.rows()
        show.print_csv(tuple(rows[0]), (tuple(row.values()) for row in rows))


def _print_table(trace: Trace, structure: Structure, arguments: argparse.Namespace) -> None:

    ranks = None
    if arguments.show_ranks is not None:
        named = selection.parse_ranks(arguments.show_ranks)
        ranks = [rank for rank in structure.ranks if any(rank in some for some in named)]
    bursts_ns = None if arguments.bursts is None else selection.parse_time(arguments.bursts)
    show.print_structure(
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
