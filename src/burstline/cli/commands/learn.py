"""``burstline learn``: how well bursts can be predicted, and whether more counters help."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import burstline
from burstline import merge, show, studies
from burstline.cli import usage
from burstline.cli.inputs import progress_bar, read_runs, warn_of_twins
from burstline.cli.limits import thread_count
from burstline.cli.merging import require_rate, require_shared, shares_of, warn_of_strangers
from burstline.cli.products import picture_file, print_view, write_figure
from burstline.errors import FormatError, ParameterError, plural, printable
from burstline.formats.documents import read_json
from burstline.formats.files import require_plain
from burstline.progress import Progress

if TYPE_CHECKING:
    import pyarrow as pa

DESCRIPTION: Final = """\
Predict how long bursts of computation last, or their instructions per cycle, from what the
base run alone recorded, and from the counters of all merged runs. Ranks, or programs, that
are predicted are never learnt from. What says the target itself is no feature: cycles do
not predict a duration here.
"""
EXAMPLES: Final = """\
examples:
  burstline merge run1.prv run2.prv --dataset bursts.parquet
  burstline learn bursts.parquet                        duration, other ranks left out
  burstline learn run1.prv run2.prv                     the same without a file between
  burstline learn bursts.parquet --target ipc --model boosting
  burstline learn cg.parquet stencil.parquet sort.parquet --by application
  burstline learn bursts.parquet --control --plot learned.svg
  burstline check-merge a.prv b.prv --format json > check.json
  burstline learn bursts.parquet --drop-unreliable --quality check.json

Errors are |predicted - measured| / max(predicted, measured), the mean over bursts: 0.1 is
10 % off, 0.5 a factor of two. Needs scikit-learn: pip install 'burstline[ml]'.
"""
_INPUTS: Final = (
    "datasets of burstline merge (.parquet, .arrow), or two runs or more of a program"
)
_QUESTIONS: Final = {
    "--target T=duration": "duration (default), ipc or a column",
    "--features {both,base,merged}=both": "what to predict from: base, merged (other runs' "
    "counters, too), or both in turn",
    "--by {rank,application,code}": "predict unseen ranks, datasets and applications, or calls "
    "around bursts (default: rank; application for several datasets)",
    "--model {forest,boosting}=forest": "(default: forest)",
    "--without LIST=": "columns that shall be no features",
    "--drop-unreliable": "try merged without the counters that do not repeat, too",
    "--quality FILE": "what check-merge --format json says of counters",
    "--control": "try merged with other runs' counters dealt out at random, too",
    "--repeats": "allow what other runs measured of the target, such as their cycles",
    "--most N=50000": "draw N of more bursts (50,000)",
    "--min-match-rate X=0.1": "refuse runs that share less of their bursts with the base (0.1)",
}
OPTIONS: Final = {
    "inputs INPUT +": _INPUTS,
    "what is learnt": _QUESTIONS,
    "output": {"--plot FILE": "draw it: X.svg or X.png", **usage.FORCE},
    **usage.FORMAT,
    **usage.RESOURCES,
}
_AS_GIVEN: Final = (
    *("target", "features", "by", "model", "drop_unreliable", "control", "repeats", "most"),
)
_MOST_OF_QUALITY: Final = 1 << 24
_TABLES: Final = (".parquet", ".arrow")
_LIBRARIES: Final = 128 << 20
"""Bytes that scikit-learn takes, and what is made of the bursts that are drawn."""


def run(arguments: usage.Arguments) -> None:
    """Learn, and say how well that went."""
    plot = picture_file(arguments.plot, force=arguments.force)
    paths = [Path(text) for text in arguments.inputs]
    verdicts = None if arguments.quality is None else _verdicts(Path(arguments.quality))
    usage.require_at_least(arguments, most=40)
    require_rate(arguments.min_match_rate)
    studies.require(arguments.model)
    with progress_bar(arguments) as progress:
        tables = _tables(paths, arguments, progress)
        learned = studies.learn(
            tables,
            **{name: getattr(arguments, name) for name in _AS_GIVEN},
            verdicts=verdicts,
            without=usage.names_in(arguments.without),
            threads=thread_count(arguments),
            progress=progress,
        )
    view = show.LearnedView(learned)
    if plot is not None:
        write_figure(plot, view.figures()["predictions"])
        show.note(f"{plot}: {plural(len(learned.measured), 'burst')}")
    print_view(arguments, view)


def _tables(
    paths: Sequence[Path], arguments: usage.Arguments, progress: Progress
) -> dict[str, pa.Table]:
    datasets = [path for path in paths if path.suffix in _TABLES and not path.is_dir()]
    if len(datasets) == len(paths):
        if len(set(paths)) < len(paths):
            raise ParameterError("a dataset is given twice: it would be learnt from itself")
        for path in paths:
            require_plain(path)
        tables = {str(path): show.read_table(path) for path in paths}
        shares = [pair for name in tables for pair in _shares(name, tables[name].schema)]
        require_shared(shares, arguments.min_match_rate)
        warn_of_strangers(shares)
        return tables
    if datasets:
        raise ParameterError(
            f"{datasets[0]} is a dataset, others are traces: give datasets, or the runs of one "
            "program"
        )
    if len(paths) < 2:
        raise ParameterError(
            f"{paths[0]} is one run: give others of the same program with further counters, or "
            "a dataset that burstline merge --dataset has written"
        )
    return {"runs": _merged(paths, arguments, progress)}


def _shares(name: str, schema: pa.Schema) -> list[tuple[str, float]]:
    """What each run of a dataset shares with its base, as merge says it."""
    others = {False: "the base", True: "another run"}
    return [
        (f"bursts of run {run} of {name} are in {others[is_base]}", rate)
        for run, rate, is_base in studies.match_rates(schema)
    ]


def _merged(paths: Sequence[Path], arguments: usage.Arguments, progress: Progress) -> pa.Table:
    """Match runs, and give the base's bursts with the counters of all."""
    warn_of_twins(paths)
    traces = read_runs(paths, arguments, progress, beside=_LIBRARIES)
    matching = burstline.match(traces, threads=thread_count(arguments), progress=progress)
    shares = shares_of(matching, paths)
    require_shared(shares, arguments.min_match_rate)
    warn_of_strangers(shares)
    return burstline.fuse([burstline.burst_table(trace) for trace in traces], matching).table


def _verdicts(path: Path) -> dict[str, str]:
    """Read what ``check-merge`` says of counters."""
    document, verdicts = read_json(path, _MOST_OF_QUALITY), {}
    try:
        verdicts = {name: told["verdict"] for name, told in document["counters"].items()}
        others = (each for each in verdicts.values() if each not in merge.VERDICTS)
        wrong = str(next(others, ""))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        wrong = f"{type(error).__name__}: {error}"
    if wrong:
        raise FormatError(
            path,
            None,
            expected="verdicts on counters",
            found=printable(wrong),
            way_out=f"burstline check-merge A.prv B.prv --format json > {path} writes them.",
        )
    return verdicts
