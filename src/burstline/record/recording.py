"""A program that is run and recorded: from its command line to a trace.

::

    words ──checks──► environment ──run──► raw files ──write_recorded──► trace, Recording

What is wrong with the command, its settings or the disk is refused before the program runs.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, TypeVar

from burstline import formats
from burstline.errors import ParameterError, plural, printable
from burstline.executor import Workers, threads_allowed
from burstline.formats import atomic, store
from burstline.formats import raw as raw_files
from burstline.model import Trace, schema
from burstline.progress import SILENCE, Progress
from burstline.record.building.fitting import recorder_for
from burstline.record.launching.checks import (
    checked_calls,
    launcher_abi,
    llvm_runtime,
    program_loading_mpi,
    program_with_gnu_runtime,
    read_filter,
    with_local_paths,
)
from burstline.record.launching.command_line import (
    Command,
    parse_command,
    program_name,
    with_environment,
)
from burstline.record.launching.session import (
    Ended,
    Survey,
    make_folder,
    nothing_recorded,
    program_environment,
    require_ranks,
    require_room,
    run_command,
    survey,
)
from burstline.record.symbols.resolution import Resolver, unnamed
from burstline.record.tally import Costly, Tally, costly_functions, tallies
from burstline.run import memory_allowed

T = TypeVar("T")

INTERRUPTED: Final = 130
"""The code of a run that Ctrl-C ended, as of a shell."""
_HIGHEST: Final = {"stack_depth": 64, "sample_hz": 10_000}
_MOST_NAMED: Final = 8
_MOST_MIB: Final = (1 << 32) - 2


@dataclass(frozen=True, slots=True)
class Settings:
    """What is recorded of a program; None leaves it to the recorder and its variables."""

    stack_depth: int | None = None  # frames of each call, 0 to 64; default 8
    # names with commas between: ``cpu``, ``perf:NAME``, ``PAPI_NAME``, ``work``, ``clocks`` or
    # ``none``; default ``cpu``
    counters: str | None = None
    # only these operations, ``MPI_Send,MPI_Recv``, or all but ``-MPI_Test``
    calls: str | None = None
    # a file of patterns: the functions that are recorded of a program which was compiled with
    # ``-finstrument-functions``
    functions: Path | None = None
    # Samples of the call stack of a thread in a second that it computes, 0 to 10,000; default
    # 250. Linux takes them at ticks of its clock, and a sample tells how many it stands for.
    sample_hz: int | None = None
    # failed polls less than that apart are waiting; default 5,000
    poll_gap_ns: int | None = None
    block: int | None = None  # bytes of memory of each thread for records; default 2**20
    # bytes of the disk that stay free; default 2**30, or 1 % of a small disk
    leave_free: int | None = None
    profile: bool = False  # whether calls are only counted
    # whether LLVM's runtime of OpenMP stands in for GNU's, which tells nothing of threads
    openmp: bool = False
    # The ranks that are recorded; default all. All run, and what they send to others, or meet
    # in, is in the trace from their side.
    ranks: Sequence[range] | None = None

    def variables(self) -> dict[str, str]:
        """What the recorder is told, as its variables; ParameterError if it cannot be."""
        for name, most in _HIGHEST.items():
            if not 0 <= (getattr(self, name) or 0) <= most:
                raise ParameterError(
                    f"`{name}` goes from 0 to {most}, got {getattr(self, name)}"
                )
        if self.sample_hz and self.stack_depth == 0:
            raise ParameterError("`sample_hz` needs call stacks, and `stack_depth` is 0")
        settings = {
            "BURSTLINE_STACK_DEPTH": self.stack_depth,
            "BURSTLINE_COUNTERS": self.counters,
            "BURSTLINE_CALLS": None if self.calls is None else checked_calls(self.calls),
            "BURSTLINE_FUNCTIONS": None
            if self.functions is None
            else read_filter(self.functions),
            "BURSTLINE_SAMPLE": self.sample_hz,
            "BURSTLINE_RANKS": self._chosen_ranks(),
            "BURSTLINE_MODE": "profile" if self.profile else None,
            "BURSTLINE_POLL_GAP": self.poll_gap_ns,
            "BURSTLINE_BLOCK": self.block,
        }
        free = self.bytes_left_free()
        if free is not None:
            settings["BURSTLINE_LEAVE_FREE"] = min(-(-free >> 20), _MOST_MIB)
        return {name: str(value) for name, value in settings.items() if value is not None}

    def _chosen_ranks(self) -> str | None:
        """The ranks as ``0,4-7``, in order and without overlaps."""
        joined: list[range] = []
        for span in sorted(self.ranks or (), key=lambda span: span.start):
            if joined and span.start <= joined[-1].stop:
                start, stop = joined[-1].start, max(joined.pop().stop, span.stop)
                joined.append(range(start, stop))
            else:
                joined.append(span)
        ends = ([one.start, one.stop - 1][: len(one)] for one in joined)
        return ",".join("-".join(map(str, pair)) for pair in ends) or None

    def bytes_left_free(self) -> int | None:
        """The bytes of the disk that are to stay free, None if the recorder decides."""
        if self.leave_free is not None:
            return self.leave_free
        of_recorder = os.environ.get("BURSTLINE_LEAVE_FREE", "")
        return int(of_recorder) << 20 if of_recorder.isdecimal() else None


_AS_USUAL: Final = Settings()


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """What came of a run under the recorder."""

    output: Path  # the trace, if anything was recorded
    code: int  # the program's exit code; 130 if it was interrupted
    said: tuple[str, ...]  # what a reader of the trace should know of the run, as sentences
    survey: Survey  # what the raw files hold
    defects: list[dict[str, Any]]  # what was odd in them, as in the trace
    counted: dict[str, Tally]  # calls of each operation, of a profile
    costly: list[Costly]  # functions of which recording took a good part
    settings: Settings

    @property
    def is_trace(self) -> bool:
        """Whether anything was recorded: without it there is no trace."""
        return bool(self.survey.ranks)

    def as_dict(self) -> dict[str, Any]:
        """The document that ``burstline record`` prints."""
        run = self.survey
        document: dict[str, Any] = {
            "trace": str(self.output),
            "ranks": len(run.ranks),
            "records": run.records,
            "dropped": run.dropped,
            "overhead_estimate_ns": run.overhead_ns + run.threads_ns + run.sampling_ns,
            "reading_estimate_ns": run.reading_ns,
            "threads_estimate_ns": run.threads_ns,
            "sampling_estimate_ns": run.sampling_ns,
            "recorded_calls": run.calls,
            "recorded_threads": run.threads,
            "defects": self.defects,
        }
        if run.borders:
            document |= {
                "function_events": run.borders,
                "function_event_ns": run.border_ns,
                "costly_functions": [one._asdict() for one in self.costly],
            }
        if self.settings.profile:
            document["calls"] = {
                name: {"count": tally.calls, "time_ns": tally.time_ns}
                for name, tally in self.counted.items()
            }
        return document

    def sentence(self) -> str:
        """How much was recorded, and what recording cost."""
        ranks = plural(len(self.survey.ranks), "rank")
        if self.settings.ranks is not None:
            ranks += f" of {self.survey.size:,}"
        records = plural(self.survey.records, "record")
        return f"{self.output}: {ranks}, {records}{''.join(self._costs())}"

    def _costs(self) -> Iterator[str]:
        """What recording took of each call, and of all threads."""
        run = self.survey
        if not run.calls:
            return
        a_call, reading = run.overhead_ns / run.calls, run.reading_ns / run.calls
        calls = plural(run.calls, "call")
        yield f"; recording took about {a_call:,.0f} ns of each of {calls}"
        if round(reading) > 0:
            yield f", {reading:,.0f} ns of it to read counters"
            if not (self.settings.counters or os.environ.get("BURSTLINE_COUNTERS")):
                yield " (`counters=none` leaves them out)"
        if run.signals:
            a_sample = run.sampling_ns / run.signals
            yield f", {a_sample:,.0f} ns of each of {plural(run.signals, 'sample')}"
        if run.threads > len(run.ranks):
            a_thread = run.threads_ns / run.threads / 1e3
            yield f", and {a_thread:,.0f} µs of each of {run.threads:,} threads"


def recorded(
    words: Sequence[str],
    output: str | os.PathLike[str] | None = None,
    settings: Settings = _AS_USUAL,
    *,
    mpi: str | None = None,
    keep_raw: Path | None = None,
    overwrite: bool = False,
    memory: int | None = None,
    threads: int | None = None,
    stdout: IO[Any] | None = None,
    progress: Progress = SILENCE,
) -> Recording:
    """Run an MPI program, and make a trace of what it did.

    Of a program that fails or is interrupted, too: its trace ends there. There is none if it
    failed before anything was recorded. What was recorded is kept where making the trace fails:
    in `keep_raw`, or where a note of the error tells.
    """
    command = command_of(words)
    path = Path(f"{trace_name(command)}.prv" if output is None else output)
    for file in formats.files_of(path):
        formats.require_free(file, force=overwrite, forced="`overwrite`")
    words, folder = _prepared(command, path, settings, mpi=mpi, keep_raw=keep_raw)
    memory = memory_allowed() if memory is None else memory
    threads = threads_allowed(threads)
    kept = True
    try:
        ended = run_command(words, stdout=stdout)
        code = INTERRUPTED if ended.interrupted else ended.exit_code()
        seen = survey(folder, progress)
        kept = seen.threads > 0
        unseen = None if seen.ranks else program_loading_mpi(command)
        if code and not seen.ranks:
            kept = kept and keep_raw is not None
            place = command.launcher
            launcher = None if place is None else command.words[place]
            why = nothing_recorded(seen, code, launcher, unseen)
            return Recording(path, code, (why,), seen, [], {}, [], settings)
        require_ranks(seen, unseen, chosen=settings.ranks is not None)
        resolver = Resolver()
        defects = write_recorded(
            folder,
            path,
            resolver,
            _defects,
            raw=True,
            memory=memory,
            threads=threads,
            progress=progress,
            name=str(path) if keep_raw is None else None,
        )
        counted = tallies(folder) if settings.profile else {}
        costly = []
        if seen.borders:
            costly = costly_functions(folder, resolver, seen.border_ns)
        kept = keep_raw is not None
    except BaseException as error:
        if kept:
            again = shlex.join(["burstline", "convert", str(folder), str(path)])
            error.add_note(f"what was recorded is kept; go on with: {again}")
        raise
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)
    said = (
        *missing_names(resolver, defects),
        *(_openmp_text(command) if settings.openmp else ()),
        *_troubles(ended, seen, settings.ranks),
        *_costly_text(costly),
    )
    return Recording(path, code, said, seen, defects, counted, costly, settings)


def command_of(words: Sequence[str]) -> Command:
    """The command that runs the program, of its words."""
    return with_local_paths(parse_command([*words]))


def trace_name(command: Command) -> str:
    """What a trace is called, without its ending, to which nobody gave a name."""
    programs = command.programs()
    return program_name(programs[0]) if programs else "run"


def write_recorded(
    folder: Path,
    path: Path,
    resolver: Resolver,
    told: Callable[[Trace], T],
    *,
    raw: bool,
    memory: int,
    threads: int,
    progress: Progress = SILENCE,
    name: str | None = None,
    workers: Workers | None = None,
) -> T:
    """Write the raw files of a run, of any size, as a trace; the answer is what is told of it.

    The trace says that it is made of `name`, by default of the folder. Workers load parts of
    what becomes a store.
    """
    records = formats.is_prv(path)
    read: dict[str, Any] = {"raw": raw, "progress": progress, "resolve": resolver, "name": name}
    limits: dict[str, Any] = {"memory": memory, "threads": threads}
    if path.suffix == ".store":
        raw_files.convert(folder, path, **limits, **read, workers=workers)
        return told(store.read(path))
    with ExitStack() as stack:
        if raw_files.fits(folder, memory, records=records):
            trace = raw_files.read(folder, threads=threads, **read)
        else:
            made = stack.enter_context(atomic.scratch(path)) / "run.store"
            raw_files.convert(folder, made, records=records, **limits, **read)
            trace = store.read(made)
        formats.write(trace, path, overwrite=True, memory=memory, progress=progress)
        return told(trace)


def missing_names(resolver: Resolver, defects: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Sentences on places without names, and on what keeps its threads or frames to itself."""
    for name in [row["first"] for row in defects if row["kind"] == schema.UNREAD_PYTHON]:
        yield (
            f"Python is {name}, whose frames cannot be read: its functions are not named. "
            "Those of CPython 3.11 to 3.13 are, but for free-threaded builds"
        )
    if said := unnamed(resolver.problems):
        yield said
    for name in [row["first"] for row in defects if row["kind"] == schema.SILENT_THREADS]:
        yield (
            f"OpenMP is that of {name}, which tells nothing of its threads: what "
            "they did, if it made any, is not in the trace. Record the program with `openmp`, "
            "which puts LLVM's library in its place"
        )


def _prepared(
    command: Command,
    output: Path,
    settings: Settings,
    *,
    mpi: str | None,
    keep_raw: Path | None,
) -> tuple[list[str], Path]:
    """What is run, and its folder: everything that can be wrong is looked at before."""
    variables = settings.variables()
    recorder = recorder_for(command, mpi)
    require_room((keep_raw or output).parent, settings.bytes_left_free())
    folder = make_folder(output, keep_raw)
    preloaded = [recorder, *([llvm_runtime()] if settings.openmp else [])]
    environment = program_environment(variables, folder, *preloaded)
    return with_environment(command, environment, launcher_abi(command)), folder


def _defects(trace: Trace) -> list[dict[str, Any]]:
    defects: list[dict[str, Any]] = trace.defects.to_pylist()
    return defects


def _openmp_text(command: Command) -> Iterator[str]:
    """What stays unseen of a program of GNU's compilers, whatever runtime it has."""
    if (program := program_with_gnu_runtime(command)) is not None:
        yield (
            f"{printable(program)} is built for GNU's OpenMP, in whose place LLVM's ran: its "
            "loops with a static schedule, which ask no runtime, are no regions of their own"
        )


def _troubles(ended: Ended, run: Survey, chosen: Sequence[range] | None) -> Iterator[str]:
    """Sentences on what went wrong with the program, and on what is not in the trace."""
    if ended.interrupted:
        yield "interrupted: the trace ends there"
    elif ended.code:
        yield f"the program ended with code {ended.exit_code()}; the trace ends there"
    for rank, how in sorted(run.ended.items())[:8]:
        yield f"rank {rank} {how}; what it recorded before is in the trace"
    if run.spawned:
        again = any(len(processes) > 1 for processes in run.ranks.values())
        yield (
            "MPI_Comm_spawn started processes that have the numbers of ranks again: the "
            "trace has their calls, but not messages to and from them"
            if again
            else "MPI_Comm_spawn started processes that are not recorded: the trace has "
            "neither their calls nor messages to and from them"
        )
    if run.failed:
        named = ", ".join(f"{name} {count:,}" for name, count in run.failed.most_common(4))
        more = len(run.failed) - 4
        yield (
            f"{plural(run.failed.total(), 'call')} of MPI returned an error ({named}"
            f"{f' and {more} more' * (more > 0)}); what they did not send or receive is not in "
            "the trace"
        )
    if run.strange:
        words = "send or receive has its", "sends and receives have their"
        yield (
            f"{plural(run.strange, *words)} other side in another job; such messages are "
            "not in the trace"
        )
    if missing := run.missing(chosen):
        yield f"{missing} of {plural(run.size, 'rank')} recorded nothing"
    if run.dropped:
        yield (
            f"{plural(run.dropped, 'record was', 'records were')} dropped, as there was no "
            "room for them on the disk or in memory, or no descriptor was left to write them; "
            "the recorder said which, and the gaps are marked. Make room, raise ulimit -n, or "
            "record less (`calls`, `stack_depth`, `leave_free`)"
        )


def _costly_text(costly: Sequence[Costly]) -> Iterator[str]:
    """Name the functions of which recording took a good part, for a filter."""
    if not costly:
        return
    named = ", ".join(
        f"{one.name} ({plural(one.calls, 'call')}, "
        f"{one.recording_ns / max(one.time_ns, 1):.0%})"
        for one in costly[:_MOST_NAMED]
    )
    rest = len(costly) - _MOST_NAMED
    yield (
        f"recording took more than 5 % of the time of these functions: {named}"
        f"{f' and {rest} more' * (rest > 0)}. Leave them out with `functions=FILE`, and a "
        f"line -{costly[0].name} in the file for each"
    )
