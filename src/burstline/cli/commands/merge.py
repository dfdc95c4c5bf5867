"""``burstline merge``: one trace, and one table, with the counters of several runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import burstline
import burstline.run
from burstline import formats, merge, show
from burstline.cli import usage
from burstline.cli.inputs import progress_bar, read_runs, warn_of_twins
from burstline.cli.limits import memory_budget, thread_count
from burstline.cli.merging import require_rate, require_shared, shares_of, warn_of_strangers
from burstline.cli.products import (
    picture_file,
    print_view,
    require_outputs,
    table_file,
    write_figure,
)
from burstline.errors import ParameterError
from burstline.run import LEAST_WINDOW, bytes_to_merge

if TYPE_CHECKING:
    from burstline.merge import Alignment, Fusion, Matching, Published

DESCRIPTION: Final = """\
Put the counters of several runs of one program into one trace. A processor counts a few
things at a time: record the program once per set of counters, then merge. Bursts of
computation that are the same in several runs are found; the run of which the smallest share
stays without a match is the base, unless it was cut and another was not, and its bursts get
what the other runs counted in theirs.
"""
EXAMPLES: Final = """\
examples:
  burstline merge run1.prv run2.prv run3.prv -o all.prv
  burstline merge run*.prv -o all.prv.gz --dataset bursts.parquet --pairs pairs.parquet
  burstline merge run1.prv run2.prv                       how well they match, nothing written
  burstline merge run1.store run2.store --dataset bursts.csv --drop-unmatched
  burstline merge run1.prv run2.prv --plot matches.svg --rank 3
  burstline merge run1.prv run2.prv -o all.prv --method seed --assignment optimal

The base's records stay as they are, byte by byte; counters of other runs come behind them
at the ends of bursts, under their own event types. A counter that several runs have with
different values keeps the base's, and run2.NAME has the others': runs count from 1.
"""
_RUNS: Final = "two runs or more of one program on as many ranks: .prv, .prv.gz or stores"
_OUTPUT: Final = {
    "-o, --output X.prv": "the trace: X.prv or X.prv.gz",
    "--dataset FILE": "the bursts of the base, as .parquet, .csv or .arrow",
    "--drop-unmatched": "leave bursts that no other run has out of the dataset",
    "--min-match-rate X=0.1": "write neither trace nor dataset if a run shares less of its "
    "bursts with the base (0.1)",
    "--pairs FILE": "which bursts are the same, as .parquet, .csv, .arrow",
    "--plot FILE": "the matches of a rank: X.svg or X.png",
    "--rank R": "of --plot (0)",
    "--force": "replace files that exist",
}
_MATCHING: Final = {
    "--method {align,seed}=align": "align: in the program's order; seed: the published method "
    "(default: align)",
    "--base N": "the run to add to, from 1 (the best matched; align: not one that was cut)",
    "--place-weight W": "of different places, in S (0.6)",
    "--size-weight W": "of different sizes, in S (0.2)",
    "--partner-weight W": "seed: of different partners (0.2)",
    "--limit S": "seed: bursts with an S as large do not match (0.3)",
    "--window N": "align: bursts of each run compared at a time (128)",
    "--block N": "seed: most bursts compared at a time (256)",
    "--both-sizes": "seed: compare sizes after bursts, too",
    "--aligned-spans": "seed: align collectives between which bursts are compared, do not "
    "count them",
    "--assignment {greedy,optimal}": "seed: the most alike first, or the least sum of S "
    "(greedy)",
}
OPTIONS: Final = {
    "traces TRACE +": _RUNS,
    "output": _OUTPUT,
    "matching: defaults are those of the published method": _MATCHING,
    **usage.FORMAT,
    **usage.RESOURCES,
}
_WEIGHTS: Final = ("place_weight", "size_weight", "partner_weight", "limit")
_ALIGN_ONLY: Final = ("window",)
_SEED_ONLY: Final = (
    *("block", "both_sizes", "aligned_spans", "assignment"),
    *("partner_weight", "limit"),
)


def run(arguments: usage.Arguments) -> None:
    """Match, fuse, write what was asked for, and report."""
    wanted = _Outputs.of(arguments)
    paths = [Path(text) for text in arguments.traces]
    if len(paths) < 2:
        raise ParameterError("merging wants at least two runs: burstline merge A.prv B.prv")
    warn_of_twins(paths)
    options = _options(arguments)
    with progress_bar(arguments) as progress:
        traces = read_runs(paths, arguments, progress)
        if arguments.base is not None and not 1 <= arguments.base <= len(traces):
            raise ParameterError(f"--base {arguments.base}: there are runs 1 to {len(traces)}")
        matching = burstline.match(
            traces,
            method=arguments.method,
            options=options,
            base=None if arguments.base is None else arguments.base - 1,
            threads=thread_count(arguments),
            progress=progress,
        )
        shares = shares_of(matching, paths)
        if wanted.trace or wanted.dataset:
            require_shared(shares, arguments.min_match_rate)
        whole = None if wanted.dataset is None else matching.base
        needed = [
            [*merge.PLACE, *merge.counter_columns(trace.counter_names)] for trace in traces
        ]
        tables = [
            burstline.burst_table(trace, columns=None if run == whole else needed[run])
            for run, trace in enumerate(traces)
        ]
        fused = burstline.fuse(tables, matching)
        if wanted.trace is not None:
            runs = list(zip(paths, traces, strict=True))
            memory = max(memory_budget(arguments) - bytes_to_merge(traces), LEAST_WINDOW)
            burstline.run.write_merged(
                runs, fused, wanted.trace, memory=memory, progress=progress
            )
        wanted.write_tables(fused, matching)
        rank = arguments.rank or 0
        view = show.MergeView.of(
            paths, traces, tables, matching, fused, least=arguments.min_match_rate, rank=rank
        )
        if wanted.plot is not None:
            write_figure(wanted.plot, view.figures()["matches"])
    print_view(arguments, view)
    warn_of_strangers(shares)
    wanted.say(fused)


class _Outputs(NamedTuple):
    trace: Path | None
    dataset: Path | None
    pairs: Path | None
    plot: Path | None
    drop: bool

    @classmethod
    def of(cls, arguments: usage.Arguments) -> _Outputs:
        """Check names before anything is read."""
        force = arguments.force
        dataset, pairs = (
            table_file(text, force=force) for text in (arguments.dataset, arguments.pairs)
        )
        if dataset is not None and pairs is not None and dataset.resolve() == pairs.resolve():
            raise ParameterError(f"--dataset and --pairs both name {pairs}: give two files")
        if arguments.rank is not None and arguments.plot is None:
            raise ParameterError("--rank is about the picture: give --plot FILE")
        if arguments.drop_unmatched and dataset is None:
            raise ParameterError("--drop-unmatched is about the dataset: give --dataset FILE")
        plot = picture_file(arguments.plot, force=force)
        trace = None if arguments.output is None else _trace(arguments)
        return cls(trace, dataset, pairs, plot, arguments.drop_unmatched)

    def write_tables(self, fused: Fusion, matching: Matching) -> None:
        """Write the dataset and the pairs."""
        if self.dataset is not None:
            table = fused.matched_only() if self.drop else fused.table
            show.write_parts([table], table.schema, self.dataset)
        if self.pairs is not None:
            show.write_parts([matching.pairs], matching.pairs.schema, self.pairs)

    def say(self, fused: Fusion) -> None:
        """Say in one line each what was written."""
        added = len(fused.added)
        if self.trace is not None:
            said = f"{added} more" if added else "no more"
            show.note(f"{self.trace}: the base with {said} counter{'s' * (added != 1)}")
        for path in (self.dataset, self.pairs, self.plot):
            if path is not None:
                show.note(f"{path}: written")


def _trace(arguments: usage.Arguments) -> Path:
    path = Path(arguments.output)
    if not formats.is_prv(path):
        raise ParameterError(
            f"{path}: a merged trace is a .prv or .prv.gz; --dataset FILE writes a table"
        )
    inputs = [file for text in arguments.traces for file in formats.files_read(Path(text))]
    return require_outputs(path, inputs, force=arguments.force)


def _options(arguments: usage.Arguments) -> Alignment | Published:
    """The options of the method; those of the other one are refused."""
    others = _SEED_ONLY if arguments.method == "align" else _ALIGN_ONLY
    for name in others:
        if getattr(arguments, name) not in {None, False}:
            shown = f"--{name.replace('_', '-')}"
            raise ParameterError(f"{shown} does not belong to --method {arguments.method}")
    given: dict[str, float] = {}
    for option in _WEIGHTS:
        name, value = option.removesuffix("_weight"), getattr(arguments, option)
        if value is not None:
            if not 0 <= value <= 1:
                raise ParameterError(f"the {name} of S is between 0 and 1, got {value}")
            given[name] = value
    weights = merge.Weights(**given)
    usage.require_at_least(arguments, window=1, block=1)
    require_rate(arguments.min_match_rate)
    if arguments.method == "align":
        return merge.Alignment(
            window=arguments.window or merge.Alignment().window, weights=weights
        )
    return merge.Published(
        weights=weights,
        block=arguments.block or merge.Published().block,
        both_sizes=arguments.both_sizes,
        aligned_spans=arguments.aligned_spans,
        assignment=arguments.assignment or "greedy",
    )
