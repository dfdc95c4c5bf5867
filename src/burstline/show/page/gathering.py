"""What a page shows of a run: each analysis asked once, or why it has no answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import burstline
from burstline.answers import longest_loop
from burstline.computing import Computing
from burstline.errors import BurstlineError, WorkersError
from burstline.histogram import Histogram
from burstline.model import INSTRUCTIONS
from burstline.progress import SILENCE, Progress
from burstline.run import Run
from burstline.show.options import in_options
from burstline.show.page.page import Page, report_page
from burstline.show.page.report import Missing, Report, Source
from burstline.structure import LoopTable

_FINE, _COARSE = 100, 4
"""Bins of durations within a factor of ten: about as many as a picture has pixels, or few."""


def report(run: Run, **detection: Any) -> Page:  # noqa: ANN401 -- as detect
    """Everything about a run on one page, as ``burstline report`` writes it.

    Parameters
    ----------
    run : Run
        What :func:`burstline.open` gives, or a part of it.
    **detection
        How loops are found, as of :func:`burstline.detect`.

    Returns
    -------
    Page
        `html`, the bytes of a file; `data` of each section, for programs; `titles`; and
        `pictures`, each a view by itself. A notebook shows titles and pictures.

    Examples
    --------
    >>> import burstline
    >>> from burstline import show
    >>> from burstline.testing import trace_of
    >>> run = burstline.open(trace_of("ranks 1 | 0 | 2 enter MPI_Init | 9 leave"))
    >>> show.report(run).titles["Runs"]
    'One run was given'
    """
    paths = (run.path,) if run.path else ()
    made = f"burstline.show.report(burstline.open({run.path!r}))" if run.path else "Python"
    source = Source(paths, made, burstline.__version__, today())
    return report_page(gathered(run, source, detection))


def today() -> str:
    """The day on which a page is made."""
    return datetime.now(UTC).strftime("%Y-%m-%d")


def gathered(
    run: Run,
    source: Source,
    detection: Mapping[str, Any],
    several: Mapping[str, Any] | None = None,
    progress: Progress = SILENCE,
) -> Report:
    """Every result the page shows; `several` is what is known of other runs beside it."""
    asked: dict[str, Callable[[], Any]] = {
        "waits": run.waits,
        "structure": lambda: run.structure(**detection),
        "steps": lambda: _steps(run, detection),
        "line": lambda: run.ask("timeline"),
        "lines": lambda: run.ask("lines", **detection),
        "flame": lambda: run.ask("flame"),
        "matrix": lambda: run.ask("matrix"),
        "collectives": lambda: run.ask("collectives"),
        "computing": lambda: run.ask("computing"),
        "histogram": lambda: _bursts(run),
    }
    progress.step("Analysing", len(asked) + 1, "results")
    summary, verdict = run.summary(), run.verdict(**detection)
    progress.advance(1)
    made: dict[str, Any] = {}
    for name, compute in asked.items():
        made[name] = _result(compute)
        progress.advance(1)
    several = several or {"runs": Missing("One run was given.")}
    return Report(source=source, summary=summary, verdict=verdict, **made, **several)


def _result(compute: Callable[[], Any]) -> Any:  # noqa: ANN401 -- a result of any analysis
    """What an analysis returns, or why it has no answer."""
    try:
        return compute()
    except WorkersError:  # which says nothing of the run
        raise
    except BurstlineError as error:
        return Missing(_sentence(in_options(str(error))))


def _sentence(text: str) -> str:
    """A message as a sentence: with a capital, unless it begins with a name, and its end."""
    first, _, rest = text.partition(" ")
    first = first.capitalize() if first.isalpha() and first.islower() else first
    whole = f"{first} {rest}" if rest else first
    return whole if whole.endswith((".", "!", "?")) else f"{whole}."


def _bursts(run: Run) -> Histogram:
    """A histogram for a picture: of ranks, whose cells are seen one by one, a coarse one."""
    made: Computing = run.ask("computing")
    is_counted = made.processor or made.cycles or set(made.counters) & set(INSTRUCTIONS)
    cells: Histogram = run.ask("histogram", bins=_FINE if is_counted else _COARSE)
    return cells


def _steps(run: Run, detection: Mapping[str, Any]) -> LoopTable | Missing:
    """The iterations of the outermost loop that takes most time."""
    longest = longest_loop(run.structure(**detection))
    if longest is None:
        return Missing("The program has no loop.")
    return run.iterations(longest.id, **detection)
