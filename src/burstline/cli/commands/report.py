"""``burstline report``: everything about a run on one page."""

from __future__ import annotations

import hashlib
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import burstline
from burstline import show
from burstline.cli import usage
from burstline.cli.inputs import detection, run_of
from burstline.cli.products import in_folder, print_view, require_free
from burstline.errors import BurstlineError, ParameterError
from burstline.formats import atomic

if TYPE_CHECKING:
    from collections.abc import Callable

    from burstline.run import Run
    from burstline.structure import LoopTable

DESCRIPTION: Final = """\
Put everything about the run of TRACE on one page: what costs most and who causes it, the
time of each rank, a timeline, the program as pseudo-code, waits, messages, computing, and
what all that rests on. The page is one HTML file that needs no network. Of several traces,
the first is told in detail and the others are compared with it.
"""
EXAMPLES: Final = """\
examples:
  burstline report run.prv -o report.html
  burstline report run.prv -o step.html --loop 1 --iterations 5
  burstline report run.prv -o second.html --from 2s --to 3s      in full detail
  burstline report 4ranks.prv 8ranks.prv -o scaling.html         how the runs compare
  burstline report run.prv --format json | python -m json.tool   what the page says
"""
_PAGE: Final = {
    "-o, --output FILE": "the page: X.html (default: named after the first trace)",
    **usage.FORCE,
}
OPTIONS: Final = {
    "traces TRACE +": "a .prv, .prv.gz or .otf2 file, a store, or a folder of raw files or "
    "tables; several are compared with the first",
    "--format {table,json}=table": "json prints what the page says, and writes it "
    "only where -o says",
    **usage.REGION,
    **usage.RESOURCES,
    "the page": _PAGE,
}
_ENDINGS: Final = (".html", ".htm")


def run(arguments: usage.Arguments) -> None:
    """Gather what is known of the run, and write the page."""
    arguments.trace = arguments.traces[0]
    output = _output(arguments)
    page = show.report_page(_report(arguments, run_of(arguments)))
    if output is not None:
        with atomic.output(output) as file:
            file.write(page.html)
        show.note(f"{output}: open it in a browser")
    document = {"sections": page.data, "verdict": page.data["verdict"]}
    print_view(arguments, show.Outcome(document, shown=[show.Facts(page.titles.items())]))


def _output(arguments: usage.Arguments) -> Path | None:
    """Where the page goes; nowhere if only its data are wanted."""
    if arguments.output is None and arguments.format == "json":
        return None
    name = Path(arguments.trace).name.removesuffix(".gz")
    path = Path(arguments.output or f"{Path(name).stem or 'run'}.html")
    if path.suffix not in _ENDINGS:
        raise ParameterError(f"{path}: the ending of a page is .html")
    require_free(in_folder(path), force=arguments.force)
    return path


def _report(arguments: usage.Arguments, opened: Run) -> show.Report:
    """Every result the page shows."""
    return show.Report(
        source=_source(arguments),
        summary=opened.summary(),
        waits=_result(opened.waits),
        structure=_result(lambda: opened.structure(**detection(arguments))),
        steps=_result(lambda: _steps(opened, arguments)),
        line=_result(lambda: opened.ask("timeline")),
        matrix=_result(lambda: opened.ask("matrix")),
        collectives=_result(lambda: opened.ask("collectives")),
        runs=show.Missing("One run was given."),
    )


def _result(compute: Callable[[], Any]) -> Any:  # noqa: ANN401 -- a result of any analysis
    """What an analysis returns, or why it has no answer."""
    try:
        return compute()
    except BurstlineError as error:
        return show.Missing(str(error))


def _steps(opened: Run, arguments: usage.Arguments) -> LoopTable | show.Missing:
    """The iterations of the outermost loop that takes most time."""
    asked = detection(arguments)
    loops = opened.structure(**asked).loops
    if not loops:
        return show.Missing("The program has no loop.")
    longest = max(loops, key=lambda loop: (loop.parent is None, loop.share))
    return opened.iterations(longest.id, **asked)


def _source(arguments: usage.Arguments) -> show.Source:
    words = ["burstline", *sys.argv[1:]]
    files = [path for path in arguments.traces if Path(path).is_file()]
    return show.Source(
        paths=tuple(arguments.traces),
        command=shlex.join(words),
        version=burstline.__version__,
        made=datetime.now(UTC).strftime("%Y-%m-%d"),
        digests={path: _digest(Path(path)) for path in files},
        region="",
    )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
