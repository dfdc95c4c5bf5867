"""``burstline phases``: what each process does again and again, and how well it predicts."""

from __future__ import annotations

from pathlib import Path
from time import monotonic_ns
from typing import Final

from burstline import show
from burstline.cli import usage
from burstline.cli.inputs import run_of
from burstline.cli.products import bytes_read, print_view
from burstline.cli.signatures import FOUND, options_of

DESCRIPTION: Final = """\
Find the phases of a run: what each process does again and again. They make a signature, a
short run that predicts the long one on another machine (burstline signature build). The error
printed here is that of predicting this run by its own early part: it tells whether that part
stands for the whole.
"""
EXAMPLES: Final = """\
examples:
  burstline phases run.prv                           bodies of loops, by name and line
  burstline phases run.prv --method epas             the published phases of each process
  burstline phases run.store --method pas2p          over all processes together
  burstline phases run.prv --method epas --similarity 0.95 --key full
  burstline phases run.prv --format json | python -m json.tool
  burstline phases run.store --scheduler local:4     by workers, each some ranks
"""
OPTIONS: Final = (
    usage.TRACE
    | usage.FORMAT
    | usage.WORKERS
    | {
        "--app N": "only this application, from 0",
        "--top N=20": "phases to show (20)",
        "how phases are found": FOUND,
        **usage.RESOURCES,
    }
)


def run(arguments: usage.Arguments) -> None:
    """Find the phases and print them."""
    usage.require_at_least(arguments, top=0, windows=1)
    begin_ns = monotonic_ns()
    found = run_of(arguments, region={}).phases(**options_of(arguments))
    analysis = show.AnalysisCost(bytes_read(Path(arguments.trace)), monotonic_ns() - begin_ns)
    print_view(arguments, show.PhasesView(found, arguments.top, analysis))
