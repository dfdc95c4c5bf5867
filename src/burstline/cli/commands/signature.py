"""``burstline signature``: make the signature of a program, and run it on another machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import burstline
from burstline import show
from burstline.cli import usage
from burstline.cli.inputs import read_selected
from burstline.cli.products import print_view, require_free, write_whole
from burstline.cli.signatures import ESTIMATE, FOUND, RUN, measured, options_of, read_signature
from burstline.errors import ParameterError, plural
from burstline.formats import atomic
from burstline.quantities import format_share
from burstline.run import COPIES_REPLAYED, REPLAYED

DESCRIPTION: Final = """\
Predict on another machine how long a program takes there, without running it whole. build
makes the signature out of traces of one program: its phases, what to measure of them, and
where each process may stop. run starts the unchanged program with it: calls are counted,
early occurrences of phases are timed, and at the cut the program ends with code 0.
"""
EXAMPLES: Final = """\
examples:
  burstline signature build run.prv -o app.sig
  burstline signature build run1.prv run2.prv run3.prv -o app.sig    runs that tell the spread
  burstline signature build run.prv --method epas --phase-table table.txt -o app.sig
  burstline signature run app.sig -o measured.json -- mpirun -n 8 ./app input.txt
  burstline predict app.sig measured.json                            the same, from the file
"""
USAGE: Final = (
    "burstline signature build TRACE … -o APP.sig [OPTION …]\n"
    "       burstline signature run APP.sig [-o MEASURED.json] -- mpirun -n 8 ./app …"
)
OPTIONS: Final = {
    "action {build,run}": "what to do",
    "inputs FILE +": "build: traces of the same program and input, the first is the base; run: "
    "the signature",
    "-o, --output FILE": "build: X.sig; run: the measurement as X.json",
    **usage.FORCE,
    **usage.FORMAT,
    "build: how phases are found": {
        **FOUND,
        "--app N": "only this application, from 0",
        "--phase-table FILE": "the published five columns of each relevant phase: sends before "
        "it begins and ends, its number twice, its weight",
    },
    "run": RUN | ESTIMATE,
    **usage.RESOURCES,
}
TAKES_PROGRAM: Final = True


def run(arguments: usage.Arguments) -> None:
    """Build a signature, or run one."""
    if arguments.action == "build":
        _build(arguments)
    else:
        _run(arguments)


def _build(arguments: usage.Arguments) -> None:
    usage.require_at_least(arguments, windows=1)
    if arguments.program:
        raise ParameterError("build runs no program: give traces, and no -- COMMAND")
    if arguments.output is None:
        raise ParameterError("name the signature: -o APP.sig")
    output, table = Path(arguments.output), arguments.phase_table
    for file in [output] if table is None else [output, Path(table)]:
        require_free(file, force=arguments.force, other="output with -o")
        atomic.in_folder(file)
    traces = [
        read_selected(arguments, file, region={}, tables=REPLAYED, copies=COPIES_REPLAYED)
        for file in arguments.inputs
    ]
    signature = burstline.signature.signature_of(traces, **options_of(arguments))
    if table is not None:
        rows = burstline.signature.phase_table(traces[0], signature)
        text = "".join(" ".join(map(str, row)) + "\n" for row in rows)
        write_whole(Path(table), text.encode())
    write_whole(output, burstline.signature.to_toml(signature).encode())
    chosen = signature.of_rank(signature.representative)
    relevant = sum(phase.is_relevant for phase in chosen.phases)
    document = {
        "signature": str(output),
        "method": signature.method,
        "ranks": signature.ranks,
        "representative": signature.representative,
        "relevant": relevant,
        "coverage": chosen.coverage,
        "windows": len(chosen.phase),
        "cut": chosen.cut,
        "events": chosen.events,
        "early_ns": chosen.early_ns,
        "span_ns": chosen.span_ns,
        "spread": signature.spread,
        "crossing": signature.crossing,
    }
    share = format_share(chosen.early_ns / max(chosen.span_ns, 1)).strip()
    note = (
        f"{output}: {plural(signature.ranks, 'rank')}, {plural(relevant, 'phase')} "
        f"of rank {chosen.rank}; a run of it stops at {share} of the base run"
    )
    cells = list(document.items())
    print_view(arguments, show.Outcome(document, ("name", "value"), cells, notes=[note]))


def _run(arguments: usage.Arguments) -> None:
    if len(arguments.inputs) != 1:
        raise ParameterError(
            "run takes one signature: burstline signature run APP.sig -- COMMAND"
        )
    if not arguments.program:
        raise ParameterError("name the program to run behind --: -- mpirun -n 8 ./app")
    output = None if arguments.output is None else Path(arguments.output)
    if output is not None:
        require_free(output, force=arguments.force, other="output with -o")
        atomic.in_folder(output)
    signature = read_signature(arguments, arguments.inputs[0])
    measurement = measured(arguments, signature, arguments.program)
    if output is not None:
        write_whole(output, f"{json.dumps(measurement.as_dict())}\n".encode())
    prediction = burstline.signature.predict(
        signature, measurement, estimator=arguments.estimator
    )
    print_view(arguments, show.PredictionView(prediction))
