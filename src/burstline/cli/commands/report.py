"""``burstline report``: everything about a run on one page."""

from __future__ import annotations

import hashlib
import shlex
import sys
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import burstline
import burstline.run
from burstline import show
from burstline.cli import usage
from burstline.cli.inputs import (
    detection,
    loop_asked,
    progress_bar,
    region_asked,
    region_text,
    run_of,
    warn_of_twins,
)
from burstline.cli.limits import limits_of
from burstline.cli.products import print_view, require_free, write_figure, write_whole
from burstline.cli.recordings import (
    RECORDING,
    recorded,
    recording_asked,
    say,
    settings_of,
    trace_name,
)
from burstline.cli.signatures import read_measurement, read_signature
from burstline.errors import MemoryBudgetError, NotEnoughDataError, ParameterError
from burstline.formats import atomic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstline.record import Recording
    from burstline.run import Run

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
  burstline report run.prv --signature app.sig there.json        and another machine
  burstline report run.store --scheduler local:4                 by workers, each some ranks
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
    "--pictures FOLDER": "write each picture by itself there, as SVG",
    "--signature FILE ++": "APP.sig and MEASURED.json of burstline signature: what its runs "
    "predict is a section of the page",
    "--force": "replace a page, pictures, or a trace of the program, that exist",
}
OPTIONS: Final = {
    "traces TRACE *": usage.TRACES,
    "--format {table,json}=table": "json prints what the page says, and writes it "
    "only where -o says",
    **usage.REGION,
    **usage.RESOURCES,
    **usage.WORKERS,
    "the page": _PAGE,
    "how a program behind -- is recorded": RECORDING,
}
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
    if arguments.program and arguments.scheduler is not None:
        raise ParameterError(
            "workers take a store apart, and a program that is recorded makes none: record it "
            "first, convert that, and give the store"
        )
    _pictures_folder(arguments)
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
    loop_asked(arguments)
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
    opened = run_of(arguments)
    source = _source(arguments, opened, of_recording)
    several = _compared(arguments, opened) | _predicted(arguments)
    with progress_bar(arguments) as progress:
        made = show.gathered(opened, source, detection(arguments), several, progress)
    page = show.report_page(made)
    if output is not None:
        write_whole(output, page.html)
        show.note(f"{output}: open it in a browser")
    _write_pictures(arguments, page)
    said = _cut(page.data) if arguments.format == "json" else page.data
    document = {"sections": said, "verdict": said["verdict"].get("verdict")}
    print_view(arguments, show.Outcome(document, shown=[show.Facts(page.titles.items())]))


def _pictures_folder(arguments: usage.Arguments) -> Path | None:
    """The folder of pictures; refused before anything is computed if it cannot be one."""
    if arguments.pictures is None:
        return None
    folder = Path(arguments.pictures)
    if folder.exists() and not folder.is_dir():
        raise ParameterError(f"{folder} is no folder to write pictures into")
    return atomic.in_folder(folder)


def _write_pictures(arguments: usage.Arguments, page: show.Page) -> None:
    """Write each picture as a file named after its section."""
    folder = _pictures_folder(arguments)
    if folder is None:
        return
    folder.mkdir(exist_ok=True)
    paths = {folder / f"{name}.svg": picture for name, picture in page.pictures.items()}
    for path in paths:
        require_free(path, force=arguments.force)
    for path, picture in paths.items():
        write_figure(path, picture.figures()["picture"])


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
    return atomic.in_folder(path)


def _compared(arguments: usage.Arguments, opened: Run) -> dict[str, Any]:
    """What is known of several runs beside the first."""
    paths = arguments.traces
    if len(paths) == 1:
        return {"runs": show.Missing("One run was given.")}
    warn_of_twins([Path(path) for path in paths])
    others = (run_of(arguments, path) for path in paths[1:])
    names = [f"run {number}" for number in range(1, len(paths) + 1)]
    try:
        made = burstline.run.compared(chain([opened], others), names)
    except (NotEnoughDataError, MemoryBudgetError) as error:
        return {"runs": show.Missing(str(error))}
    waits = [show.Missing(each) if isinstance(each, str) else each for each in made.waits]
    alike, same = made.comparison, made.bursts
    return {
        "runs": made.scaling,
        "others": tuple(waits[1:]),
        "comparison": show.Missing(alike) if isinstance(alike, str) else alike,
        "bursts": show.Missing(same) if isinstance(same, str) else same,
    }


def _predicted(arguments: usage.Arguments) -> dict[str, Any]:
    """What runs of a signature predict, if they were given."""
    names = [name for group in arguments.signature or () for name in group]
    if not names:
        return {}
    if len(names) < 2:
        raise ParameterError(
            "--signature takes a signature and what its runs measured: APP.sig MEASURED.json"
        )
    signature = read_signature(arguments, names[0])
    measured = [read_measurement(arguments, name) for name in names[1:]]
    return {"prediction": burstline.signature.predict(signature, *measured)}


def _source(
    arguments: usage.Arguments, opened: Run, of_recording: Sequence[str]
) -> show.Source:
    words = ["burstline", *sys.argv[1:]]
    files = [path for path in arguments.traces if Path(path).is_file()]
    return show.Source(
        paths=tuple(arguments.traces),
        command=shlex.join(words),
        version=burstline.__version__,
        made=show.today(),
        digests={path: _digest(Path(path)) for path in files},
        region=region_text(arguments, opened),
        recording=tuple(of_recording),
    )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
