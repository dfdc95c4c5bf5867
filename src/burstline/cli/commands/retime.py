"""``burstline retime``: the trace on a logical clock."""

from __future__ import annotations

from typing import Final

from burstline import clocks, formats, show, synchronisation
from burstline.cli import usage
from burstline.cli.clock_options import clocks_asked, collectives_asked
from burstline.cli.inputs import progress_bar, read_selected
from burstline.cli.limits import memory_budget
from burstline.cli.products import output_path, print_view
from burstline.errors import MemoryBudgetError
from burstline.formats import derivation
from burstline.run import CLOCKED, COPIES_REPLAYED

DESCRIPTION: Final = """\
Write TRACE with stamps of a logical clock: ticks of what the program did, which no noise of
the machine moves. What waits for something is stamped behind it. Work is counted by programs
that burstline compiled (burstline cc, record --counters); lt_1 counts events and needs nothing.
"""
EXAMPLES: Final = """\
examples:
  burstline retime run.store --clock lt_stmt -o ticks.prv       for Paraver
  burstline retime run.otf2 --clock lt_1 -o ticks.store
  burstline retime run.store --clock lt_hwctr --counter PAPI_TOT_INS -o ticks.prv
  burstline retime run.store --clock lt_hwctr --counter IR_LD_INS=2,IR_TOT_INS -o ticks.prv
  burstline retime run.store --clock lt_hwctr --effort-model fitted.toml -o ns.prv
  burstline waits run.store --clock lt_stmt                     the waits on that clock
"""
_CLOCK: Final = {
    "--clock {lt_1,lt_loop,lt_bb,lt_stmt,lt_hwctr}=lt_stmt": "what is a tick, besides each "
    "event: nothing, an iteration of an OpenMP loop, a basic block, a statement, or what a "
    "counter counts (default: lt_stmt)",
    **usage.EFFORT,
}
_COPIES: Final = 2
"""Of a trace with its records, while Paraver's files are written."""
OPTIONS: Final = usage.ANALYSIS | usage.OUTPUT | {"the clock": _CLOCK}


def run(arguments: usage.Arguments) -> None:
    """Stamp the trace anew, write it, and say what the stamps rest on."""
    path = output_path(arguments)
    memory = memory_budget(arguments)
    [effort] = clocks_asked(arguments, [arguments.clock])
    trace = read_selected(arguments, tables=CLOCKED, copies=COPIES_REPLAYED)
    way = collectives_asked(arguments)
    [retiming] = clocks.retimings(synchronisation.graph_of(trace), [effort], collectives=way)
    document, trace = retiming.as_dict(), retiming.trace
    del retiming
    if formats.is_prv(path):
        needed = _COPIES * derivation.bytes_with_records(trace)
        if needed > memory:
            way_out = "Write a store (-o X.store), a part of the run, or allow more (--memory)."
            raise MemoryBudgetError(needed, memory, way_out=way_out)
    with progress_bar(arguments) as progress:
        formats.write(trace, path, overwrite=True, memory=memory, progress=progress)
    rows = [(name, value) for name, value in document.items() if not isinstance(value, list)]
    notes = [f"{path}: {note}" for note in show.clock_notes(document)]
    print_view(arguments, show.Outcome(document, ("name", "value"), rows, notes=notes))
