"""``burstline browse``: the loops of a program on the whole terminal, to be looked into."""

from __future__ import annotations

import os
import sys
from typing import Final

from burstline import browser, selection
from burstline.cli import usage
from burstline.cli.inputs import detection, run_of
from burstline.errors import ParameterError, require_extra

DESCRIPTION: Final = """\
Show the pseudo-code of TRACE on the whole terminal: fold loops, hide what is short, show
what some ranks execute, search, and see of each line who executes it, how long it takes,
and how its loop went over time.
"""
EXAMPLES: Final = """\
keys:
  arrows, enter   move, fold and unfold      - + 0..9   fold all, unfold all, to a depth
  t b r c         time, computation, ranks, counter to show
  / n N           search, next, previous     p          the clustering plot
  ?               all keys                   q          quit

examples:
  burstline browse run.prv
  burstline browse run.prv --show-ranks 0 --bursts 1ms

needs an extra: pip install 'burstline[tui]'
"""
_SHOWN: Final = usage.PSEUDOCODE | {"--least TIME": "only what takes this long: 1ms"}
OPTIONS: Final = (
    usage.TRACE
    | usage.REGION
    | usage.RESOURCES
    | usage.DETECTION
    | {"what is shown first": _SHOWN}
)


def run(arguments: usage.Arguments) -> None:
    """Detect the structure of the trace and show it until somebody leaves it."""
    require_extra("textual", "tui", "browsing a structure")
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if not all(stream.isatty() for stream in streams) or os.environ.get("TERM") == "dumb":
        raise ParameterError(
            "browse needs a terminal to show things on. "
            "`burstline structure` prints the same to anywhere"
        )
    opened = run_of(arguments)
    structure = opened.structure(**detection(arguments))
    ranks, bursts = arguments.show_ranks, arguments.bursts
    view = browser.OutlineView(
        counter=arguments.counter,
        ranks=None if ranks is None else browser.chosen_ranks(ranks, structure),
        bursts_ns=None if bursts is None else selection.parse_time(bursts),
        least_ns=0 if arguments.least is None else selection.parse_time(arguments.least),
    )
    name = os.path.basename(arguments.trace)  # noqa: PTH119 -- a store may end with a slash
    browser.Browser(opened.trace, structure, view, name=name).run()
