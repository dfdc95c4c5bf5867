"""``burstline table``: one row per computation burst, as a file for other programs."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from burstline import merge, selection, show
from burstline.cli import usage
from burstline.cli.inputs import poll_gap_asked, progress_bar, run_of, say_gap_of_recorder
from burstline.cli.products import print_view, table_file
from burstline.errors import MemoryBudgetError, plural
from burstline.run import Needs, bytes_held

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from burstline.progress import Progress
    from burstline.run import Run

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
  burstline table run.store -o bursts.parquet --scheduler local:4
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
OPTIONS: Final = usage.ANALYSIS | usage.WORKERS | {"the table": _TABLE}
_BYTES_TO_SORT: Final = 70  # of a burst, while its begin and end are sorted
_OF_CALLS: Final = Needs(("messages", "collective_members"), 1.0)
"""Tables that tell partners and roots: what a part has of them is in memory with it."""
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
    if (columns := arguments.columns) is not None:
        columns = [name.strip() for name in columns.split(",")]
    schema = merge.table_schema(trace.counter_names, columns)
    if "concurrency" in schema.names:
        _require_memory(opened)
    overview = merge.Overview(schema, arguments.top)
    say_gap_of_recorder(arguments, trace)
    options: dict[str, Any] = poll_gap_asked(arguments) | {"min_duration_ns": min_duration_ns}
    with progress_bar(arguments) as opened.progress:
        if opened.is_shared:
            _share(opened, overview, schema, arguments, path=path, columns=columns, **options)
        else:
            bursts = merge.burst_parts(trace, columns=columns, whole=whole, **options)
            counted = _counted(bursts, trace.rows("bursts"), opened.progress)
            _write(overview.through(counted), schema, path, arguments)
    if path is not None:
        show.note(f"{arguments.output}: {plural(overview.bursts, 'burst')}")
    if arguments.format == "json" or (arguments.format == "table" and path is None):
        print_view(arguments, show.OverviewView(overview, arguments.output))


def _write(
    parts: Iterable[pa.Table], schema: pa.Schema, path: Path | None, arguments: usage.Arguments
) -> None:
    """Write or print the parts of a table, or let them pass."""
    if path is not None:
        show.write_parts(parts, schema, path)
    elif arguments.format == "csv":
        show.print_parts(parts, schema)
    else:
        for _ in parts:
            pass


def _share(
    opened: Run,
    overview: merge.Overview,
    schema: pa.Schema,
    arguments: usage.Arguments,
    *,
    path: Path | None,
    **options: Any,  # noqa: ANN401 -- as burst_parts
) -> None:
    """Have workers make the table: each writes some of its rows beside the output."""
    ending = ".parquet" if path is not None and path.suffix == ".parquet" else ".arrow"
    is_kept = path is not None or arguments.format == "csv"
    beside = (Path() if path is None else path.parent).absolute()
    with ExitStack() as folders:
        folder = None
        if is_kept:
            made = TemporaryDirectory(prefix=".burstline-", dir=beside)
            folder = Path(folders.enter_context(made))
        fragments = opened.parts(
            show.write_fragment,
            with_whole=True,
            ranges=opened.divided(_OF_CALLS),
            folder=folder,
            ending=ending,
            longest=overview.most,
            **options,
        )
        done = _added(fragments, overview)
        if ending == ".parquet" and path is not None:
            show.join_parquet(done, path)
        else:
            _write(show.rows_of(done), schema, path, arguments)


def _added(
    fragments: Iterable[show.Fragment], overview: merge.Overview
) -> Iterator[show.Fragment]:
    for fragment in fragments:
        for part in fragment.parts:
            overview.add(part)
        yield fragment


def _require_memory(opened: Run) -> None:
    """Refuse to count who computes when, if the bursts of the nodes at hand would not fit."""
    trace, whole, allowed = opened.trace, opened.whole, opened.memory_each
    bursts, locations = whole.rows("bursts"), max(whole.locations.num_rows, 1)
    held = merge.locations_held(merge.node_numbers(whole, trace)[1])
    needed = bytes_held(whole) + bursts * held // locations * _BYTES_TO_SORT
    if not whole.is_stored:
        needed += min(bursts, _ROWS_AT_ONCE) * _BYTES_OF_ROW
    if allowed is not None and needed > allowed:
        more = "allow more memory (--memory)"
        if opened.is_shared:
            more = "give each worker more memory"
        way_out = f"Leave concurrency out (--columns), or {more}."
        raise MemoryBudgetError(needed, allowed, way_out=way_out)


def _counted(parts: Iterable[pa.Table], total: int, progress: Progress) -> Iterator[pa.Table]:
    progress.step("bursts", total, "bursts")
    for part in parts:
        yield part
        progress.advance(part.num_rows)
