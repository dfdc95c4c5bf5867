"""``burstline report``: everything about a run on one page."""

from __future__ import annotations

import hashlib
import shlex
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import burstline
from burstline import show
from burstline.answers import longest_loop
from burstline.cli import usage
from burstline.cli.inputs import (
    detection,
    iterations_asked,
    region_asked,
    region_text,
    run_of,
    warn_of_twins,
)
from burstline.cli.limits import limits_of
from burstline.cli.products import in_folder, print_view, require_free
from burstline.cli.recordings import (
    RECORDING,
    recorded,
    recording_asked,
    say,
    settings_of,
    trace_name,
)
from burstline.errors import (
    BurstlineError,
    MemoryBudgetError,
    NotEnoughDataError,
    ParameterError,
)
from burstline.formats import atomic
from burstline.model import INSTRUCTIONS
from burstline.run import compared

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from burstline.computing import Computing
    from burstline.histogram import Histogram
    from burstline.record import Recording
    from burstline.run import Run
    from burstline.structure import LoopTable

DESCRIPTION: Final = """\
Put everything about the run of TRACE on one page: what costs most and who causes it, the
time of each rank, a timeline, the program as pseudo-code, waits, messages, computing, and
what all that rests on. The page is one HTML file that needs no network. Of several traces,
the first is told in detail and the others are compared with it. With a program behind --,
record it first: its trace stays beside the page, and the exit code is the program's.
"""
EXAMPLES: Final = """\
examples:
  burstline report -- mpirun -n 8 ./app input.txt                gives app.html and app.prv
  burstline report run.prv -o report.html
  burstline report run.prv -o step.html --loop 1 --iterations 5
  burstline report run.prv -o second.html --from 2s --to 3s      in full detail
  burstline report 4ranks.prv 8ranks.prv -o scaling.html         how the runs compare
  burstline report run.prv --format json | python -m json.tool   what the page says
"""
USAGE: Final = (
    "burstline report TRACE … [-o X.html] [OPTION …]\n"
    "       burstline report [-o X.html] [OPTION …] -- mpirun -n 8 ./app …"
)
TAKES_PROGRAM: Final = True
_PAGE: Final = {
    "-o, --output FILE": "the page: X.html (default: named after the first trace, or the "
    "program)",
    "--force": "replace a page, or a trace of the program, that exists",
}
OPTIONS: Final = {
    "traces TRACE *": "a .prv, .prv.gz or .otf2 file, a store, or a folder of raw files or "
    "tables; several are compared with the first",
    "--format {table,json}=table": "json prints what the page says, and writes it "
    "only where -o says",
    **usage.REGION,
    **usage.RESOURCES,
    "the page": _PAGE,
    "how a program behind -- is recorded": RECORDING,
}
_FINE, _COARSE = 100, 4
"""Bins of durations within a factor of ten: about as many as a picture has pixels, or few."""
_ENDINGS: Final = (".html", ".htm")
_LONGEST: Final = 10_000


def run(arguments: usage.Arguments) -> None:
    """Record the program if there is one, gather what is known of the run, write the page."""
    if bool(arguments.traces) == bool(arguments.program):
        raise ParameterError(
            "give a TRACE, or a program to record: burstline report -- mpirun -n 8 ./app"
        )
    if arguments.traces and (given := recording_asked(arguments)):
        raise ParameterError(f"{given} is about a program to record, behind --")
    if arguments.program:
        made = _recorded(arguments)
        if made.is_trace:
            _write(arguments, _page_path(arguments, made.output), made.said)
        if made.code:
            raise SystemExit(made.code)
    else:
        output = _page_path(arguments, Path(arguments.traces[0]))
        if output is not None:
            require_free(output, force=arguments.force)
        _write(arguments, output)


def _recorded(arguments: usage.Arguments) -> Recording:
    """Record the program into a trace beside the page, named after the program."""
    name = Path(f"{trace_name(arguments.program)}.prv")
    output = _page_path(arguments, name)
    if output is not None:
        require_free(output, force=arguments.force)
        name = output.with_name(name.name)
    limits_of(arguments)  # wrong ones are refused before the run
    region_asked(arguments)
    iterations_asked(arguments)
    made = recorded(arguments, arguments.program, name, settings_of(arguments))
    if made.is_trace:
        say(made.sentence())
        arguments.traces = [str(made.output)]
    return made


def _write(
    arguments: usage.Arguments, output: Path | None, of_recording: Sequence[str] = ()
) -> None:
    """Write the page of the traces, and print what it says."""
    arguments.trace = arguments.traces[0]
    page = show.report_page(_report(arguments, run_of(arguments), of_recording))
    if output is not None:
        with atomic.output(output) as file:
            file.write(page.html)
        show.note(f"{output}: open it in a browser")
    said = _cut(page.data) if arguments.format == "json" else page.data
    document = {"sections": said, "verdict": said["verdict"].get("verdict")}
    print_view(arguments, show.Outcome(document, shown=[show.Facts(page.titles.items())]))


def _cut(value: Any) -> Any:  # noqa: ANN401 -- a document of any form
    """The same with no text longer than a page shows: many places name a long label."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
    if isinstance(value, Mapping):
        return {_cut(name): _cut(each) for name, each in value.items()}
    return [_cut(each) for each in value] if isinstance(value, list | tuple) else value


def _page_path(arguments: usage.Arguments, trace: Path) -> Path | None:
    """Where the page goes; nowhere if only its data are wanted."""
    if arguments.output is None and arguments.format == "json":
        return None
    name = trace.name.removesuffix(".gz")
    path = Path(arguments.output or f"{Path(name).stem or 'run'}.html")
    if path.suffix not in _ENDINGS:
        raise ParameterError(f"{path}: the ending of a page is .html")
    return in_folder(path)


def _report(
    arguments: usage.Arguments, opened: Run, of_recording: Sequence[str]
) -> show.Report:
    """Every result the page shows."""
    several = _compared(arguments, opened)
    asked = detection(arguments)
    return show.Report(
        source=_source(arguments, opened, of_recording),
        summary=opened.summary(),
        verdict=opened.verdict(**asked),
        waits=_result(opened.waits),
        structure=_result(lambda: opened.structure(**asked)),
        steps=_result(lambda: _steps(opened, arguments)),
        line=_result(lambda: opened.ask("timeline")),
        lines=_result(lambda: opened.ask("lines", **asked)),
        matrix=_result(lambda: opened.ask("matrix")),
        collectives=_result(lambda: opened.ask("collectives")),
        computing=_result(lambda: opened.ask("computing")),
        histogram=_result(lambda: _bursts(opened)),
        **several,
    )


def _compared(arguments: usage.Arguments, opened: Run) -> dict[str, Any]:
    """What is known of several runs beside the first."""
    paths = arguments.traces
    if len(paths) == 1:
        return {"runs": show.Missing("One run was given.")}
    warn_of_twins([Path(path) for path in paths])
    each = (usage.Arguments(**vars(arguments) | {"trace": path}) for path in paths[1:])
    names = [f"run {number}" for number in range(1, len(paths) + 1)]
    try:
        made = compared(chain([opened], map(run_of, each)), names)
    except (NotEnoughDataError, MemoryBudgetError) as error:
        return {"runs": show.Missing(str(error))}
    waits = [show.Missing(each) if isinstance(each, str) else each for each in made.waits]
    alike = made.comparison
    return {
        "runs": made.scaling,
        "others": tuple(waits[1:]),
        "comparison": show.Missing(alike) if isinstance(alike, str) else alike,
    }


def _result(compute: Callable[[], Any]) -> Any:  # noqa: ANN401 -- a result of any analysis
    """What an analysis returns, or why it has no answer."""
    try:
        return compute()
    except BurstlineError as error:
        return show.Missing(_sentence(show.in_options(str(error))))


def _sentence(text: str) -> str:
    """A message as a sentence: with a capital, unless it begins with a name, and its end."""
    first, _, rest = text.partition(" ")
    first = first.capitalize() if first.isalpha() and first.islower() else first
    whole = f"{first} {rest}" if rest else first
    return whole if whole.endswith((".", "!", "?")) else f"{whole}."


def _bursts(opened: Run) -> Histogram:
    """A histogram for a picture: of ranks, whose cells are seen one by one, a coarse one."""
    made: Computing = opened.ask("computing")
    is_counted = made.processor or made.cycles or set(made.counters) & set(INSTRUCTIONS)
    cells: Histogram = opened.ask("histogram", bins=_FINE if is_counted else _COARSE)
    return cells


def _steps(opened: Run, arguments: usage.Arguments) -> LoopTable | show.Missing:
    """The iterations of the outermost loop that takes most time."""
    asked = detection(arguments)
    longest = longest_loop(opened.structure(**asked))
    if longest is None:
        return show.Missing("The program has no loop.")
    return opened.iterations(longest.id, **asked)


def _source(
    arguments: usage.Arguments, opened: Run, of_recording: Sequence[str]
) -> show.Source:
    words = ["burstline", *sys.argv[1:]]
    files = [path for path in arguments.traces if Path(path).is_file()]
    return show.Source(
        paths=tuple(arguments.traces),
        command=shlex.join(words),
        version=burstline.__version__,
        made=datetime.now(UTC).strftime("%Y-%m-%d"),
        digests={path: _digest(Path(path)) for path in files},
        region=region_text(arguments, opened),
        recording=tuple(of_recording),
    )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
