"""``burstline record``: run an MPI program and make a trace of what it did."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from burstline import formats, record, selection, show
from burstline.cli import usage
from burstline.cli.commands.convert import say_silent_threads, say_unnamed, write_recorded
from burstline.cli.inputs import progress_bar
from burstline.cli.limits import limits_of, parse_size
from burstline.cli.products import in_folder, require_apart, require_free, say_left
from burstline.errors import ParameterError, plural, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from burstline.record import Abi, Command, Costly, Ended, Survey, Tally

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
  burstline record --calls MPI_Send,MPI_Recv --stack-depth 4 -- mpirun -n 8 ./app
  burstline record -o ring.prv -- mpiexec -n 4 python ring.py
"""
USAGE: Final = "burstline record [OPTION …] -- mpirun -n 8 ./app …"
_MPI: Final = {
    "--mpi {openmpi,mpich,abi}": "the MPI of the program, where it cannot be found out"
}
_OPTIONS: Final = {
    "words COMMAND ...": "what to run, with its launcher",
    "-o, --output OUTPUT": "X.prv or X.prv.gz (with .pcf and .row), X.store, X.csv, X.parquet, "
    "X.otf2 or X.perfetto.json (default: PROGRAM.prv)",
    "--force": "replace an output that exists",
    **_MPI,
    "--format {table,json}=table": "json: a document on stdout, and the program's output on "
    "stderr",
}
_WANTED: Final = {
    "--stack-depth N": "frames of each call (default: 8; 0: none)",
    "--counters LIST": "cpu, perf:NAME, PAPI_NAME, work, clocks: of work what logical clocks "
    "need (default: cpu)",
    "--calls LIST": "only these operations: MPI_Send,…; --calls=-MPI_Test,…: all but these",
    "--poll-gap TIME": "failed polls less than that apart are waiting (default: 5us)",
    "--functions FILE": "only the functions that FILE names, a pattern on each line; -PATTERN: "
    "all but these (of a program compiled with -finstrument-functions)",
}
RECORDING: Final = _MPI | _WANTED
"""Options of any command that records a program."""
_RECORDED: Final = {
    **_WANTED,
    "--counters-set FILE": "a .toml file with sets of counters",
    "--each-set": "run once for each set of --counters-set",
    "--profile": "only count calls and their time, and say so at the end",
    "--keep-raw FOLDER": "keep the raw files there",
    "--block SIZE": "memory of each thread for records (default: 1Mi)",
    "--leave-free SIZE": "drop records where less of the disk would stay free (default: 1Gi, "
    "or 1 %% of a small disk; 0: fill it)",
}
OPTIONS: Final = _OPTIONS | {"what is recorded": _RECORDED} | usage.RESOURCES
_INTERRUPTED: Final = 130
_DEEPEST: Final = 64
_MOST_NAMED: Final = 8
_MOST_MIB: Final = (1 << 32) - 2


class _Plan(NamedTuple):
    """A run that can begin."""

    words: list[str]
    output: Path
    folder: Path
    command: Command  # as given

    def launcher(self) -> str | None:
        """The launcher, before whose programs env is put, so that it may name it."""
        place = self.command.launcher
        return None if place is None else self.command.words[place]


class Recording(NamedTuple):
    """What came of a run, said on standard error as far as it went wrong."""

    output: Path
    code: int  # of the program
    said: tuple[str, ...]  # what a reader of the trace should know of the run
    survey: Survey
    counted: dict[str, Tally]
    document: dict[str, Any]

    @property
    def is_trace(self) -> bool:
        """Whether anything was recorded: without it there is no trace."""
        return bool(self.survey.ranks)


def run(arguments: usage.Arguments) -> None:
    """Record the program, once or for each set of counters."""
    limits_of(arguments)  # wrong ones are refused before the run
    code = 0
    for name, counters in _runs(arguments):
        made = recorded(arguments, name, counters)
        if made.is_trace:
            _print_result(arguments, made)
        code = made.code or code
        if code == _INTERRUPTED:
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


def recorded(arguments: usage.Arguments, name: str, counters: str | None) -> Recording:
    """Run the program of the arguments, and write its trace if anything was recorded."""
    plan = _plan(arguments, name, counters)
    kept = True
    try:
        ended = record.run_command(
            plan.words, stdout=sys.stderr if arguments.format == "json" else None
        )
        code = _INTERRUPTED if ended.interrupted else ended.exit_code()
        with progress_bar(arguments) as progress:
            survey = record.survey(plan.folder, progress)
        kept = survey.threads > 0
        unseen = None if survey.ranks else record.finds_mpi_itself(plan.command)
        if code and not survey.ranks:
            _say(record.nothing_recorded(survey, code, plan.launcher(), unseen))
            kept = kept and arguments.keep_raw is not None
            return Recording(plan.output, code, (), survey, {}, {})
        record.require_ranks(survey, unseen)
        resolver = record.Resolver()
        made_of = None if arguments.keep_raw else str(plan.output)
        paths = plan.folder, plan.output, resolver
        with progress_bar(arguments) as progress:
            limits = limits_of(arguments)
            written = write_recorded(
                *paths, raw=True, **limits, progress=progress, name=made_of
            )
        say_unnamed(resolver)
        say_silent_threads(written)
        counted = record.tallies(plan.folder) if arguments.profile else {}
        costly = []
        if survey.borders:
            costly = record.costly_functions(plan.folder, resolver, survey.border_ns)
        kept = arguments.keep_raw is not None
    except BaseException:
        if kept:
            words = shlex.join(["burstline", "convert", str(plan.folder), str(plan.output)])
            _say(f"what was recorded is kept; go on with: {words}")
        raise
    finally:
        if not kept:
            shutil.rmtree(plan.folder, ignore_errors=True)
    said = tuple(_troubles(ended, survey))
    for text in said:
        _say(text)
    document = {"defects": written["defects"]}
    if survey.borders:
        document |= _functions(survey, costly)
    return Recording(plan.output, code, said, survey, counted, document)


def command_of(words: list[str]) -> Command:
    """The command line that runs the program, of the words behind ``--``."""
    return record.with_paths(record.parse_command(words))


def trace_name(command: Command) -> str:
    """What a trace is called, without its ending, to which nobody gave a name."""
    programs = command.programs()
    return record.program_name(programs[0]) if programs else "run"


def _plan(arguments: usage.Arguments, name: str, counters: str | None) -> _Plan:
    """Look at everything that can be wrong before the program runs."""
    words = arguments.words[1:] if arguments.words[:1] == ["--"] else arguments.words
    command = command_of(words)
    settings = _settings(arguments, counters)
    output = Path(arguments.output or f"{trace_name(command)}.prv")
    ending = next((end for end in formats.ENDINGS if output.name.endswith(end)), "")
    if name:
        output = output.with_name(f"{output.name.removesuffix(ending)}{name}{ending}")
    require_apart(arguments, output)
    for file in formats.files_of(output):
        require_free(file, force=arguments.force, other="output with -o")
        say_left(file)
    in_folder(output)
    record.check_programs(command)
    abi = record.choose_abi(command, arguments.mpi)
    recorder = record.shared_object(abi)
    keep = None if arguments.keep_raw is None else Path(arguments.keep_raw)
    record.require_room((keep or output).parent, _leave_free(arguments))
    folder = record.make_folder(output, keep)
    environment = record.program_environment(settings, folder, recorder)
    launcher: Abi | None = record.launcher_abi(command)
    started = record.with_environment(command, environment, launcher)
    return _Plan(started, output, folder, command)


def _settings(arguments: usage.Arguments, counters: str | None) -> dict[str, str]:
    """What the recorder is told, as its variables."""
    depth, calls, block = arguments.stack_depth, arguments.calls, arguments.block
    gap = arguments.poll_gap
    if depth is not None and not 0 <= depth <= _DEEPEST:
        raise ParameterError(f"--stack-depth goes from 0 to {_DEEPEST}, got {depth}")
    settings = {
        "BURSTLINE_STACK_DEPTH": depth,
        "BURSTLINE_COUNTERS": counters,
        "BURSTLINE_CALLS": None if calls is None else record.checked_calls(calls),
        "BURSTLINE_FUNCTIONS": None
        if arguments.functions is None
        else record.read_filter(Path(arguments.functions)),
        "BURSTLINE_MODE": "profile" if arguments.profile else None,
        "BURSTLINE_POLL_GAP": None if gap is None else selection.parse_time(gap),
        "BURSTLINE_BLOCK": None if block is None else parse_size(block),
    }
    free = _leave_free(arguments)
    if free is not None:
        settings["BURSTLINE_LEAVE_FREE"] = min(-(-free >> 20), _MOST_MIB)
    return {name: str(value) for name, value in settings.items() if value is not None}


def _leave_free(arguments: usage.Arguments) -> int | None:
    """The bytes of the disk that are to stay free, None if that is left to the recorder."""
    text, of_recorder = arguments.leave_free, os.environ.get("BURSTLINE_LEAVE_FREE", "")
    if text is None:
        return int(of_recorder) << 20 if of_recorder.isdecimal() else None
    return 0 if text == "0" else parse_size(text)


def _troubles(ended: Ended, survey: Survey) -> Iterator[str]:
    """Sentences on what went wrong with the program, and on what is not in the trace."""
    if ended.interrupted:
        yield "interrupted: the trace ends there"
    elif ended.code:
        yield f"the program ended with code {ended.exit_code()}; the trace ends there"
    for rank, how in sorted(survey.ended.items())[:8]:
        yield f"rank {rank} {how}; what it recorded before is in the trace"
    if survey.spawned:
        again = any(len(processes) > 1 for processes in survey.ranks.values())
        yield (
            "MPI_Comm_spawn started processes that have the numbers of ranks again: the "
            "trace has their calls, but not messages to and from them"
            if again
            else "MPI_Comm_spawn started processes that are not recorded: the trace has "
            "neither their calls nor messages to and from them"
        )
    if survey.failed:
        named = ", ".join(f"{name} {count:,}" for name, count in survey.failed.most_common(4))
        more = len(survey.failed) - 4
        yield (
            f"{plural(survey.failed.total(), 'call')} of MPI returned an error ({named}"
            f"{f' and {more} more' * (more > 0)}); what they did not send or receive is not in "
            "the trace"
        )
    if survey.strange:
        words = "send or receive has its", "sends and receives have their"
        yield (
            f"{plural(survey.strange, *words)} other side in another job; such messages are "
            "not in the trace"
        )
    if missing := survey.missing():
        yield f"{missing} of {plural(survey.size, 'rank')} recorded nothing"
    if survey.dropped:
        yield (
            f"{plural(survey.dropped, 'record was', 'records were')} dropped, as there was no "
            "room for them on the disk or in memory, or no descriptor was left to write them; "
            "the recorder said which, and the gaps are marked. Make room, raise ulimit -n, or "
            "pass --calls, a smaller --stack-depth or --leave-free"
        )


def _functions(survey: Survey, costly: list[Costly]) -> dict[str, Any]:
    """Name the functions of which recording took a good part, for a filter."""
    if costly:
        named = ", ".join(
            f"{one.name} ({plural(one.calls, 'call')}, "
            f"{one.recording_ns / max(one.time_ns, 1):.0%})"
            for one in costly[:_MOST_NAMED]
        )
        rest = len(costly) - _MOST_NAMED
        _say(
            f"recording took more than 5 % of the time of these functions: {named}"
            f"{f' and {rest} more' * (rest > 0)}. Leave them out with --functions FILE, and a "
            f"line -{costly[0].name} in the file for each"
        )
    return {
        "function_events": survey.borders,
        "function_event_ns": survey.border_ns,
        "costly_functions": [one._asdict() for one in costly],
    }


def _print_result(arguments: usage.Arguments, made: Recording) -> None:
    survey = made.survey
    document: dict[str, Any] = {
        "trace": str(made.output),
        "ranks": len(survey.ranks),
        "records": survey.records,
        "dropped": survey.dropped,
        "overhead_estimate_ns": survey.overhead_ns + survey.threads_ns,
        "reading_estimate_ns": survey.reading_ns,
        "threads_estimate_ns": survey.threads_ns,
        "recorded_calls": survey.calls,
        "recorded_threads": survey.threads,
        **made.document,
    }
    if arguments.profile:
        document["calls"] = {
            name: {"count": tally.calls, "time_ns": tally.time_ns}
            for name, tally in made.counted.items()
        }
    notes = [_text(sum_of(arguments, made))]
    shown = [show.calls_table(made.counted)] if made.counted else []
    show.output(show.Outcome(document, shown=shown, notes=notes), arguments.format)


def sum_of(arguments: usage.Arguments, made: Recording) -> str:
    """How much was recorded, and what recording cost, as a sentence."""
    survey = made.survey
    ranks, records = plural(len(survey.ranks), "rank"), plural(survey.records, "record")
    return f"{made.output}: {ranks}, {records}{_cost(arguments, survey)}"


def _cost(arguments: usage.Arguments, survey: Survey) -> str:
    """What recording took of each call, and of all threads, as the end of a sentence."""
    if not survey.calls:
        return ""
    a_call, reading = survey.overhead_ns / survey.calls, survey.reading_ns / survey.calls
    calls = plural(survey.calls, "call")
    text = f"; recording took about {a_call:,.0f} ns of each of {calls}"
    if round(reading) > 0:
        text += f", {reading:,.0f} ns of it to read counters"
        chosen = (
            arguments.counters or arguments.counters_set or os.environ.get("BURSTLINE_COUNTERS")
        )
        text += "" if chosen else " (--counters none leaves them out)"
    if survey.threads > len(survey.ranks):
        a_thread = survey.threads_ns / survey.threads / 1e3
        text += f", and {a_thread:,.0f} µs of each of {survey.threads:,} threads"
    return text


def _say(text: str) -> None:
    show.note(_text(text))


def _text(text: str) -> str:
    return printable(f"burstline: {text}", limit=1_000)
