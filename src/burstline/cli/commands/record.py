"""``burstline record``: run an MPI program and make a trace of what it did."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from burstline import formats, record, selection, show
from burstline.cli import usage
from burstline.cli.limits import limits_of, parse_size
from burstline.cli.recordings import MPI, WANTED, named, recorded, settings_of, trace_name
from burstline.errors import ParameterError

DESCRIPTION: Final = """\
Run an MPI program and make a trace of it: its MPI calls, messages, call stacks and
counters. The program is neither changed nor compiled again; C, C++, Fortran and Python
under Open MPI or MPICH are all the same. The exit code is the program's.
"""
EXAMPLES: Final = """\
examples:
  burstline record -- mpirun -n 8 ./app input.txt        gives app.prv, app.pcf, app.row
  burstline record -o run.store -- srun -n 64 ./app
  burstline record --counters cpu,PAPI_TOT_INS -- mpirun -n 8 ./app
  burstline record --ranks 0-7 -- srun -n 4096 ./app
  burstline record --calls MPI_Send,MPI_Recv --stack-depth 4 -- mpirun -n 8 ./app
  burstline record -o ring.prv -- mpiexec -n 4 python ring.py
"""
USAGE: Final = "burstline record [OPTION …] -- mpirun -n 8 ./app …"
_OPTIONS: Final = {
    "words COMMAND ...": "what to run, with its launcher",
    "-o, --output OUTPUT": "X.prv or X.prv.gz (with .pcf and .row), X.store, X.csv, X.parquet, "
    "X.otf2 or X.perfetto.json (default: PROGRAM.prv)",
    "--force": "replace an output that exists",
    **MPI,
    "--format {table,json}=table": "json: a document on stdout, and the program's output on "
    "stderr",
}
_RECORDED: Final = {
    **WANTED,
    "--counters-set FILE": "a .toml file with sets of counters",
    "--each-set": "run once for each set of --counters-set",
    "--ranks LIST": "only these ranks, as 0,4-7: all run, and theirs is recorded",
    "--profile": "only count calls and their time, and say so at the end",
    "--keep-raw FOLDER": "keep the raw files there",
    "--block SIZE": "memory of each thread for records (default: 1Mi)",
    "--leave-free SIZE": "drop records where less of the disk would stay free (default: 1Gi, "
    "or 1 %% of a small disk; 0: fill it)",
}
OPTIONS: Final = _OPTIONS | {"what is recorded": _RECORDED} | usage.RESOURCES


def run(arguments: usage.Arguments) -> None:
    """Record the program, once or for each set of counters."""
    limits_of(arguments)  # wrong ones are refused before the run
    code = 0
    for name, counters in _runs(arguments):
        made = _recorded(arguments, name, _settings(arguments, counters))
        if made.is_trace:
            shown = [show.calls_table(made.counted)] if made.counted else []
            notes = [named(made.sentence())]
            outcome = show.Outcome(made.as_dict(), shown=shown, notes=notes)
            show.output(outcome, arguments.format)
        code = made.code or code
        if code == record.INTERRUPTED:
            break
    if code:
        raise SystemExit(code)


def _runs(arguments: usage.Arguments) -> list[tuple[str, str | None]]:
    """The runs that are wanted: what is added to the output's name, and the counters."""
    if arguments.counters_set is None:
        if arguments.each_set:
            raise ParameterError("--each-set needs --counters-set FILE.toml")
        return [("", arguments.counters)]
    if arguments.counters is not None:
        raise ParameterError("--counters and --counters-set exclude each other")
    sets = record.read_sets(Path(arguments.counters_set))
    if arguments.each_set:
        if arguments.keep_raw is not None and len(sets) > 1:
            raise ParameterError("--keep-raw has room for one run, --each-set makes several")
        return [(f".{name}", ",".join(counters)) for name, counters in sets.items()]
    if len(sets) > 1:
        raise ParameterError(
            f"{arguments.counters_set} has {len(sets)} sets of counters, and a run has room "
            "for one. Pass --each-set for a run each"
        )
    return [("", ",".join(counters)) for counters in sets.values()]


def _recorded(
    arguments: usage.Arguments, name: str, settings: record.Settings
) -> record.Recording:
    """Run the program of the arguments, and make a trace of the output's name and this one."""
    words = usage.command_in(arguments)
    output = Path(arguments.output or f"{trace_name(words)}.prv")
    ending = next((end for end in formats.ENDINGS if output.name.endswith(end)), "")
    if name:
        output = output.with_name(f"{output.name.removesuffix(ending)}{name}{ending}")
    return recorded(arguments, words, output, settings, keep_raw=arguments.keep_raw)


def _settings(arguments: usage.Arguments, counters: str | None) -> record.Settings:
    """What is recorded, as the arguments say."""
    block, free = arguments.block, arguments.leave_free
    return replace(
        settings_of(arguments),
        counters=counters,
        block=None if block is None else parse_size(block),
        leave_free=None if free is None else 0 if free == "0" else parse_size(free),
        profile=arguments.profile,
        ranks=None if arguments.ranks is None else selection.parse_ranks(arguments.ranks),
    )
