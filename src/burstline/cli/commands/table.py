"""``burstline table``: one row per computation burst, as a file for other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from burstline import merge, selection, show
from burstline.cli import usage
from burstline.cli.inputs import (
    poll_gap_asked,
    progress_bar,
    run_of,
    say_gap_of_recorder,
)
from burstline.cli.limits import memory_budget
from burstline.cli.products import print_view, table_file
from burstline.errors import MemoryBudgetError, plural
from burstline.run import bytes_held

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from burstline.model import Trace
    from burstline.progress import Progress

DESCRIPTION: Final = """\
Make a table of the computation bursts of TRACE, one row per burst: where and when it
was, the counters over it, the MPI calls before and after it, how many computed on the
same node meanwhile, instructions per cycle, frequency. Without -o the columns and the
longest bursts are shown.
"""
EXAMPLES: Final = """\
examples:
  burstline table run.prv                                what the table would hold
  burstline table run.prv -o bursts.parquet              all of it: Polars, pandas, DuckDB
  burstline table run.store -o bursts.arrow              larger than memory, part by part
  burstline table run.prv -o long.csv --min-duration 10us --ranks 0-7
  burstline table run.prv --columns rank,burst,duration_ns,PAPI_TOT_INS --format csv
  burstline table run.prv --format json | python -m json.tool
"""
_TABLE: Final = {
    "-o, --output FILE": "write it as FILE.parquet, .csv or .arrow",
    **usage.FORCE,
    "--columns LIST": "only these columns, in this order: rank,duration_ns",
    "--min-duration TIME=0ns": "leave out shorter bursts: 10us",
    "--top N=10": "longest bursts to show (10)",
    **usage.POLL_GAP,
}
OPTIONS: Final = usage.ANALYSIS | {"the table": _TABLE}
_BYTES_TO_SORT: Final = 120  # of a burst, while its begin and end are sorted
# What a trace in memory hands out at once; parts of a store are as small as its row groups.
_ROWS_AT_ONCE, _BYTES_OF_ROW = 1 << 20, 220


def run(arguments: usage.Arguments) -> None:
    """Make the table, and write it or show what it holds."""
    usage.require_at_least(arguments, top=0)
    path = table_file(arguments.output, force=arguments.force)
    min_duration_ns = selection.parse_time(arguments.min_duration)
    opened = run_of(arguments)
    opened.require(None)
    trace, whole = opened.trace, opened.whole
    columns = None
    if arguments.columns is not None:
        columns = [name.strip() for name in arguments.columns.split(",")]
    schema = merge.table_schema(trace.counter_names, columns)
    if "concurrency" in schema.names:
        _require_memory(whole, arguments)
    overview = merge.Overview(schema, arguments.top)
    say_gap_of_recorder(arguments, trace)
    options = poll_gap_asked(arguments) | {"min_duration_ns": min_duration_ns}
    bursts = merge.burst_parts(trace, columns=columns, whole=whole, **options)
    with progress_bar(arguments) as progress:
        parts = overview.through(_counted(bursts, trace.rows("bursts"), progress))
        if path is not None:
            show.write_parts(parts, schema, path)
        elif arguments.format == "csv":
            show.print_parts(parts, schema)
        else:
            for _ in parts:
                pass
    if path is not None:
        show.note(f"{arguments.output}: {plural(overview.bursts, 'burst')}")
    if arguments.format == "json" or (arguments.format == "table" and path is None):
        print_view(arguments, show.OverviewView(overview, arguments.output))


def _require_memory(whole: Trace, arguments: usage.Arguments) -> None:
    """Refuse to count who computes when, if that would not fit."""
    bursts, allowed = whole.rows("bursts"), memory_budget(arguments)
    needed = bytes_held(whole) + bursts * _BYTES_TO_SORT
    if not whole.is_stored:
        needed += min(bursts, _ROWS_AT_ONCE) * _BYTES_OF_ROW
    if needed > allowed:
        way_out = "Leave concurrency out (--columns), or allow more memory (--memory)."
        raise MemoryBudgetError(needed, allowed, way_out=way_out)


def _counted(parts: Iterable[pa.Table], total: int, progress: Progress) -> Iterator[pa.Table]:
    progress.step("bursts", total, "bursts")
    for part in parts:
        yield part
        progress.advance(part.num_rows)
