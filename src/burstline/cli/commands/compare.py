"""``burstline compare``: how alike profiles of runs or clocks are, and where they differ."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import burstline
from burstline import show
from burstline.cli import usage
from burstline.cli.clock_options import clocks_asked, collectives_asked
from burstline.cli.inputs import read_selected, warn_of_twins
from burstline.cli.limits import memory_budget
from burstline.cli.products import picture_file, print_view, write_figure
from burstline.errors import ParameterError, plural, printable
from burstline.run import CLOCKED, COPIES_REPLAYED, REPLAYED, Needs, bytes_needed

DESCRIPTION: Final = """\
Say how alike profiles are, and where they differ: repetitions with each other, or the mean of
some with the mean of others (--with), such as another clock. The score J is 1 where metrics
take the same shares of the time in the same call paths, and 0 where they have nothing in
common; 0.9 means that 5 % of the time is elsewhere. The waits of traces are found first.
"""
EXAMPLES: Final = """\
examples:
  burstline compare run1.prv run2.prv run3.prv          are these repetitions alike?
  burstline compare run1.cubex run2.cubex               profiles of waits -o, or of Scalasca
  burstline compare old*.cubex --with new*.cubex        two means, each of repetitions
  burstline compare a.cubex --with b.cubex --with c.cubex         each with the first
  burstline compare run1.prv run2.prv --clocks lt_1     do they agree by this clock?
  burstline compare run*.prv --clocks physical,lt_stmt,lt_bb      do clocks tell the time?
  burstline compare run*.prv --clocks lt_stmt --call-cost 0
  burstline compare run*.prv --clocks physical,lt_hwctr --effort-model fitted.toml
  burstline compare run1.prv run2.prv --plot alike.svg
  burstline compare run1.prv run2.prv --format json | python -m json.tool
  burstline compare run1.prv run2.prv --format csv      all differences, by call path

pictures need an extra: pip install 'burstline[plot]'
"""
_COMPARED: Final = {
    "--with FILE ++": "compare the mean of the INPUTs with the mean of these; may be repeated, "
    "each is compared with the INPUTs",
    "--clocks LIST=physical": "clocks of traces, as waits --clock takes them; of several, the "
    "others are compared with the first (default: physical)",
    "--metrics {time-tree,fig1,all}=time-tree": "what J compares: the time and its parts "
    "(default), the parts that the article on logical clocks shows, or costs of delays, too",
    "--top N=10": "differences to show (10)",
    "--plot FILE": "draw it: X.svg or X.png",
    **usage.FORCE,
}
OPTIONS: Final = {
    "inputs INPUT +": "profiles (.cubex), or traces: .prv, .prv.gz, .otf2, stores, raw files",
    **usage.FORMAT,
    "the comparison": _COMPARED,
    "logical clocks": usage.EFFORT,
    **usage.RESOURCES,
}


def run(arguments: usage.Arguments) -> None:
    """Compare the profiles and print how alike they are."""
    usage.require_at_least(arguments, top=0)
    clocks = _clocks(arguments.clocks)
    groups = [list(arguments.inputs), *(arguments.others or [])]
    files = [file for group in groups for file in group]
    if len(files) < 2 and len(clocks) < 2:
        raise ParameterError(
            f"{files[0]} is one profile: name others to compare it with, --with others, or "
            "--clocks of a trace"
        )
    clocks_asked(arguments, clocks)  # refused before anything is read
    if len(clocks) > 1 and arguments.others:
        raise ParameterError("several --clocks are of the same traces: leave --with out")
    picture = picture_file(arguments.plot, force=arguments.force)
    warn_of_twins([Path(file) for file in files])
    comparison = _compared(arguments, groups, clocks)
    view = show.ComparisonView(comparison, arguments.top)
    if picture is not None:
        write_figure(picture, view.figures()["comparison"])
        show.note(f"{picture}: {plural(len(comparison.pairs), 'pair')}")
    print_view(arguments, view)


def _compared(
    arguments: usage.Arguments, groups: Sequence[Sequence[str]], clocks: Sequence[str]
) -> burstline.comparison.Comparison:
    # All profiles are kept until the last one is read.
    beside = sum(file.endswith(".cubex") for group in groups for file in group)
    memory = memory_budget(arguments) // max(beside, 1)
    profiles = [
        [_profiles(arguments, file, clocks, memory) for file in group] for group in groups
    ]
    if len(clocks) > 1:
        compared, names = [list(each) for each in zip(*profiles[0], strict=True)], clocks
    else:
        compared = [[of_file[0] for of_file in group] for group in profiles]
        names = _labels(groups)
    return burstline.compare(*compared, metrics=arguments.metrics, names=names)


def _profiles(
    arguments: usage.Arguments, file: str, clocks: Sequence[str], memory: int
) -> list[burstline.Profile]:
    """The profile of a file, read within `memory`, or of a trace those of each clock."""
    if file.endswith(".cubex"):
        if clocks != ["physical"]:
            raise ParameterError(f"{file} is a profile: --clocks are those of traces")
        return [burstline.read_profile(file, memory=memory)]
    tables = CLOCKED if clocks != ["physical"] else REPLAYED
    trace = read_selected(arguments, file, region={}, tables=tables, copies=COPIES_REPLAYED)
    efforts = {effort.clock: effort for effort in clocks_asked(arguments, clocks)}
    collectives = collectives_asked(arguments, is_logical=bool(efforts))
    beside = bytes_needed(trace, Needs(tables, COPIES_REPLAYED))
    room = beside, memory_budget(arguments)
    return [
        burstline.waits.states_of(
            trace,
            None,
            clock=efforts.get(name, name),
            collectives=collectives if name in efforts else "causal",
            room=room,
        ).profile
        for name in clocks
    ]


def _clocks(text: str) -> list[str]:
    clocks = list(dict.fromkeys(name.strip() for name in text.split(",")))
    for clock in clocks:
        if clock not in burstline.waits.CLOCKS:
            raise ParameterError(
                f"no clock called {printable(clock)}: {', '.join(burstline.waits.CLOCKS)}"
            )
    return clocks


def _labels(groups: Sequence[Sequence[str]]) -> list[str]:
    """What files, or groups of them, are called: without folders where these tell nothing."""
    files = [file for group in groups for file in group]
    names = [Path(file).name for file in files]
    if len(set(names)) < len(set(files)):
        names = files
    if len(groups) == 1:
        return names
    rest = iter(names)
    members = [[next(rest) for _ in group] for group in groups]
    patterns = [
        f"{os.path.commonprefix(group)}*" if len(group) > 1 else group[0]  # noqa: RUF071 -- of characters
        for group in members
    ]
    if len(set(patterns)) == len(patterns) and "*" not in patterns:
        return patterns
    return [group[0] + f" and {len(group) - 1} more" * (len(group) > 1) for group in members]
