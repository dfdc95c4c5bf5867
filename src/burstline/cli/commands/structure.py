"""``burstline structure``: the loops of a program, as pseudo-code."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

import burstline
from burstline import formats, selection, show, studies
from burstline import structure as structures
from burstline.cli import usage
from burstline.cli.inputs import DETECTION, NAME_THE_LOOP, detection, run_of
from burstline.cli.products import picture_file, print_view, table_file, write_figure
from burstline.errors import MissingExtraError, NotEnoughDataError, ParameterError, plural
from burstline.progress import Stopwatch
from burstline.run import ANALYSED, DETECTED, Needs

T = TypeVar("T")

DESCRIPTION: Final = """\
Read the loops of a program off TRACE, without its source: which calls repeat together,
which loop is in which, where they are in the source, what they cost. The result says
how true it is: the share of MPI calls that it reproduces in order.
"""
EXAMPLES: Final = """\
examples:
  burstline structure run.prv
  burstline structure run.prv --show-ranks 0            what rank 0 executes
  burstline structure run.prv --bursts 1ms              with computation of 1 ms or more
  burstline structure run.prv --waits                   and how much of each call is waiting
  burstline structure run.prv --method exact            every call, every condition
  burstline structure run.prv --iterations 2            what each iteration of loop 2 cost
  burstline structure run.prv --calls-of 1              which calls an iteration makes
  burstline structure run.prv -o loops.parquet          all loops and ranks, as a table
  burstline structure run.prv --other                   how else its calls can be read
  burstline structure run.prv --counter PAPI_TOT_INS
  burstline structure run.prv --min-share 0             short loops, too
  burstline structure run.store --scheduler local:4     by workers, each some ranks
  burstline structure run.prv --format json | python -m json.tool
  burstline structure run.prv --format csv > nodes.csv  loops and calls, one a row
"""
_COPIES, _COPIES_OF_TABLES = 1.6, 2.2
"""Of tables: to find loops, and to look at their iterations too."""
_REGION: Final = (("--from", "start"), ("--to", "end"), ("--ranks", "ranks"), ("--app", "app"))
_ROWS: Final = ("calls", "loops")
_METHODS: Final = ("seed", "exact")
_OF_ITERATIONS: Final = {
    "--slowest N=5": "slow iterations to list (5)",
    "-o, --output FILE": "write that table, or else one of all loops and ranks, as .parquet "
    "or .csv",
    **usage.FORCE,
}
_OF_FEATURES: Final = {
    "--features [{calls,loops}]": "show that instead of the pseudo-code; of calls (default) or "
    "of labelled loops",
    "--factor-map FILE": "draw how features go together: X.svg or X.png",
}
OPTIONS: Final = {
    **usage.ANALYSIS,
    **usage.WORKERS,
    **usage.DETECTION,
    "table of iterations: --iterations ID without --loop shows what each iteration of that "
    "loop cost": _OF_ITERATIONS,
    "calls of a loop": {
        "--calls-of ID": "show how often an iteration of that loop makes each MPI call, in all "
        "and by phase between computations of --bursts TIME (default: 5 %% of what it computes)"
    },
    "features of loops: which properties of calls tell loops apart and, where calls are "
    "labelled with\nthe loops of the source, how true the detected ones are": _OF_FEATURES,
    "what the table shows": usage.PSEUDOCODE
    | {
        "--depth N": "fold loops nested deeper than N",
        "--in-calls": "counters in calls, too, where both ends of a call were read",
        "--waits": "the share of each call that ranks wait for others, and the functions "
        "that compute, where the trace tells",
        "--times": "what each stage of the detection took, too",
        "--other": "also the two best other readings, with their lengths",
    },
}


def run(arguments: usage.Arguments) -> None:
    """Detect the structure of the trace and print it, or what the iterations of a loop cost."""
    path = table_file(arguments.output, force=arguments.force, endings=(".parquet", ".csv"))
    number = _loop_of_table(arguments)
    features = features_asked(arguments)
    has_code = arguments.format == "table" and arguments.calls_of is None
    in_bursts = has_code and arguments.bursts is not None
    watch = Stopwatch()
    watch.step("reading", 0, "")
    opened = run_of(arguments, raw=in_bursts or features)
    opened.require(_needs(arguments, features=features, in_bursts=in_bursts))
    opened.progress, trace = watch, opened.trace
    structure = opened.structure(**detection(arguments))
    stages = watch.stages() if arguments.times else {}
    table = None
    if number is not None and (path is not None or not features):
        table = opened.iterations(number, **detection(arguments))
    if features:
        study = study_view(opened, structure, arguments)
        print_view(arguments, study)
        draw_factor_map(study, arguments)
    elif table is not None:
        is_read = arguments.format == "table"
        counter = show.chosen_counter(structure, arguments.counter) if is_read else None
        cut = _cut_command(arguments, table.loop)
        unit = "" if counter is None else structure.unit(counter)
        steps = structures.segments(trace, structure, table)
        view = show.LoopTableView(table, counter, arguments.slowest, cut, unit, steps)
        print_view(arguments, view)
    elif arguments.calls_of is not None:
        print_view(arguments, _counts_view(structure, arguments))
    else:
        print_view(arguments, _structure_view(opened, structure, arguments, stages))
    if path is not None:
        rows = structures.loops_table(trace, structure) if table is None else table.to_arrow()
        show.write_parts([rows], rows.schema, path)
        show.note(f"{path}: {plural(rows.num_rows, 'row')}")


def _needs(arguments: usage.Arguments, *, features: bool, in_bursts: bool) -> Needs | None:
    """What is asked of all calls; the loops themselves may be found part by part."""
    is_table = arguments.output is not None or arguments.iterations is not None
    asked = features, is_table, in_bursts, arguments.in_calls, arguments.other
    if not any(asked) and arguments.calls_of is None:
        return None
    tables = ANALYSED if features else [*DETECTED, *["readings"] * arguments.in_calls]
    copies = _COPIES_OF_TABLES if features or is_table else _COPIES
    return Needs(dict.fromkeys(tables, 1.0), copies)


def _loop_of_table(arguments: usage.Arguments) -> int | None:
    """The loop whose iterations are to be shown; None if they are not, or choose a region."""
    if arguments.loop is not None or arguments.iterations is None:
        return None
    try:
        return int(arguments.iterations)
    except ValueError:
        raise ParameterError(
            f"--iterations {arguments.iterations} of which loop? {NAME_THE_LOOP}"
        ) from None


def _cut_command(arguments: usage.Arguments, number: int) -> str:
    """The command that cuts iterations of a loop out; empty if `cut` finds other loops."""
    usual = burstline.detect.__kwdefaults__ or {}
    if any(getattr(arguments, name, usual[name]) != usual[name] for name in DETECTION):
        return ""
    words = ["burstline", "cut", arguments.trace]
    for option, name in _REGION:
        value = getattr(arguments, name)
        if value is not None:
            words += [option, str(value)]
    return shlex.join([*words, "--loop", str(number), "--iterations"])


def _structure_view(
    opened: burstline.Run,
    structure: structures.Structure,
    arguments: usage.Arguments,
    stages: Mapping[str, int],
) -> show.View:
    trace, lines, computing = opened.trace, None, {}
    if arguments.waits:
        lines = opened.ask("lines", **detection(arguments))
        computing = burstline.answers.computing_places(
            opened.waits(), lines.computing_path.tolist()
        )
    known = structures.in_calls(trace, structure) if arguments.in_calls else None
    others = structures.other_readings(trace, structure) if arguments.other else None
    view = show.StructureView(
        structure,
        stages=stages,
        in_calls=known,
        others=others,
        lines=lines,
        computing=computing,
    )
    if arguments.format != "table":
        return view
    bursts_ns = inside = None
    if arguments.bursts is not None:
        bursts_ns = selection.parse_time(arguments.bursts)
        samples = formats.sampled(trace)
        inside = structures.inside(trace, structure, samples)
    return replace(
        view,
        counter=arguments.counter,
        ranks=_ranks_shown(structure, arguments),
        bursts_ns=bursts_ns,
        depth=arguments.depth,
        inside=inside,
    )


def _ranks_shown(
    structure: structures.Structure, arguments: usage.Arguments
) -> list[int] | None:
    if arguments.show_ranks is None:
        return None
    named = selection.parse_ranks(arguments.show_ranks)
    return [rank for rank in structure.ranks if any(rank in some for some in named)]


def _counts_view(structure: structures.Structure, arguments: usage.Arguments) -> show.View:
    bursts = arguments.bursts
    counts = structures.call_counts(
        structure,
        arguments.calls_of,
        ranks=_ranks_shown(structure, arguments),
        bursts_ns=None if bursts is None else selection.parse_time(bursts),
    )
    return show.CallCountsView(counts)


def features_asked(arguments: usage.Arguments) -> bool:
    """Whether features were asked for; a picture that cannot be is refused."""
    picture_file(arguments.factor_map, force=arguments.force)
    return arguments.features is not None or arguments.factor_map is not None


def study_view(
    opened: burstline.Run, structure: structures.Structure, arguments: usage.Arguments
) -> show.StudyView:
    """What is known of the features of loops; the trace has its records if it has labels."""
    missing: list[str] = []
    trace = opened.trace
    labels = _or_why(lambda: studies.labels_of(trace, structure.found_in), missing)
    features = studies.features(trace, structure.found_in, labels, scale=arguments.scale)
    kind = arguments.features or _ROWS[0]
    shown = _of_loops(features, labels) if kind == "loops" else features
    return show.StudyView(
        kind=kind,
        result=shown,
        ranks=structure.found_in.ranks,
        labels=labels,
        factors=_or_why(lambda: studies.factor_map(shown), missing),
        importance=None
        if labels is None
        else _or_why(lambda: studies.importance(features), missing),
        accuracies=tuple(_accuracies(opened, structure, labels, arguments)),
        missing=tuple(missing),
        title=Path(arguments.trace).name,
    )


def _or_why(compute: Callable[[], T], missing: list[str]) -> T | None:
    """A result, or None and the reason why there is none."""
    try:
        return compute()
    except (MissingExtraError, NotEnoughDataError) as reason:
        missing.append(str(reason))
        return None


def _of_loops(features: studies.Features, labels: studies.Labels | None) -> studies.Features:
    by_loop = features.by_loop()
    if labels is None or not len(by_loop):
        raise NotEnoughDataError(
            "features of loops need calls with labels. --features calls does without"
        )
    return by_loop


def _accuracies(
    opened: burstline.Run,
    structure: structures.Structure,
    labels: studies.Labels | None,
    arguments: usage.Arguments,
) -> Iterator[studies.Accuracy]:
    if labels is None:
        return
    yield studies.accuracy(structure, labels)
    for method in _METHODS:
        if method != structure.method:
            other = opened.structure(**detection(arguments) | {"method": method})
            yield studies.accuracy(other, labels)


def draw_factor_map(view: show.StudyView, arguments: usage.Arguments) -> None:
    """Draw how features go together, if a file was named."""
    path = picture_file(arguments.factor_map, force=arguments.force)
    if path is None:
        return
    if view.factors is None:
        raise NotEnoughDataError(f"{path} is not drawn: {'; '.join(view.missing)}")
    write_figure(path, view.figures()["factors"])
    show.note(f"{path}: {plural(len(view.factors.names), 'variable')}")
