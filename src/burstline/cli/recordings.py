"""Programs that commands record: the options of recording, and what is said of a run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from burstline import formats, record, selection, show
from burstline.cli import usage
from burstline.cli.inputs import progress_bar
from burstline.cli.limits import limits_of
from burstline.cli.products import require_apart, require_free, say_left
from burstline.errors import printable
from burstline.formats import atomic

MPI: Final = {
    "--mpi {openmpi,mpich,abi}": "the MPI of the program, where it cannot be found out"
}
WANTED: Final = {
    "--stack-depth N": "frames of each call (default: 8; 0: none)",
    "--counters LIST": "cpu, perf:NAME, PAPI_NAME, work, clocks: of work what logical clocks "
    "need (default: cpu)",
    "--calls LIST": "only these operations: MPI_Send,…; --calls=-MPI_Test,…: all but these",
    "--poll-gap TIME": "failed polls less than that apart are waiting (default: 5us)",
    "--functions FILE": "only the functions that FILE names, a pattern on each line; -PATTERN: "
    "all but these (of a program compiled with -finstrument-functions)",
    "--sample N": "call stacks of each thread, N in a second that it computes: they name the "
    "functions between calls (default: 250, which costs next to nothing; 0: none)",
    "--openmp": "with LLVM's runtime of OpenMP in the place of GNU's, which tells nothing of "
    "its threads: for programs of gcc and gfortran",
}
RECORDING: Final = MPI | WANTED
"""Options of any command that records a program."""


def recording_asked(arguments: usage.Arguments) -> str | None:
    """An option that was given and is about recording."""
    options = [option.split()[0] for option in RECORDING]
    names = {option: option.lstrip("-").replace("-", "_") for option in options}
    given = (
        one for one, name in names.items() if getattr(arguments, name) not in {None, False}
    )
    return next(given, None)


def settings_of(arguments: usage.Arguments) -> record.Settings:
    """What is recorded, as far as any command that records has options for it."""
    gap, functions = arguments.poll_gap, arguments.functions
    return record.Settings(
        stack_depth=arguments.stack_depth,
        counters=arguments.counters,
        calls=arguments.calls,
        functions=None if functions is None else Path(functions),
        sample_hz=arguments.sample,
        openmp=arguments.openmp,
        poll_gap_ns=None if gap is None else selection.parse_time(gap),
    )


def trace_name(words: Sequence[str]) -> str:
    """What the trace of a program is called, without its ending, if nobody says."""
    return record.trace_name(record.command_of(words))


def recorded(
    arguments: usage.Arguments,
    words: Sequence[str],
    output: Path,
    settings: record.Settings,
    *,
    keep_raw: str | None = None,
) -> record.Recording:
    """Run a program, write its trace, and say what went wrong."""
    settings.variables()  # what cannot be recorded is refused first
    require_apart(arguments, output)
    for file in formats.files_of(output):
        require_free(file, force=arguments.force, other="output with -o")
        say_left(file)
    atomic.in_folder(output)
    try:
        with progress_bar(arguments) as progress:
            made = record.recorded(
                words,
                output,
                settings,
                mpi=arguments.mpi,
                keep_raw=None if keep_raw is None else Path(keep_raw),
                overwrite=True,
                **limits_of(arguments),
                stdout=sys.stderr if arguments.format == "json" else None,
                progress=progress,
            )
    except BaseException as error:
        for text in getattr(error, "__notes__", ()):
            say(text)
        raise
    for text in made.said:
        say(text)
    return made


def say(text: str) -> None:
    """Say something of a recording on standard error."""
    show.note(named(text))


def named(text: str) -> str:
    """A text that stands among what the program prints: it names us."""
    return printable(f"burstline: {text}", limit=1_000)
