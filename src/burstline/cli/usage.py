"""Options declared as help prints them; titles of groups lead to options of their own.

::

    "-o, --output FILE"   a text            "--quiet"              a flag
    "--top N=5"           a whole number    "--method {a,b}=a"     one of several words
    "trace TRACE"         an argument       "runs TRACE +"         one or more of them
                                            "--with FILE ++"       each time one or more
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any, Final

from burstline.errors import ParameterError

Arguments = argparse.Namespace

_KINDS: Final = {"N": int, "ID": int, "R": int, "X": float, "W": float, "S": float}
_NAMES: Final = {"--from": "start", "--to": "end", "--with": "others"}  # words of Python
_AMOUNTS: Final = {"++": {"nargs": "+", "action": "append"}}

WRITTEN: Final = (
    *("place", "output", "dataset", "pairs", "plot", "factor_map", "phase_table"),
    *("cfg_dir", "keep_raw", "pictures"),
)
"""Names of all arguments that say where a command writes."""
FOLDERS: Final = ("cfg_dir", "keep_raw", "pictures")
"""Those of them that are folders which files are added to."""
_READ: Final = ("TRACE", "INPUT", "FILE", "WHERE")

_TRACE: Final = "a .prv, .prv.gz or .otf2 file, a store, or a folder of raw files or tables"
TRACE: Final = {"trace TRACE": _TRACE}
TRACES: Final = f"{_TRACE}; several are compared with the first"
FORMAT: Final = {
    "--format {table,json,csv}=table": "how the result is printed (default: table)"
}
FORCE: Final = {"--force": "replace a FILE that exists"}
OUTPUT: Final = {
    "place OUTPUT ?": "the same as -o OUTPUT; one of them is needed",
    "-o, --output OUTPUT": "X.prv or X.prv.gz (with .pcf and .row), X.store, X.csv or "
    "X.parquet (folders), X.otf2 (with X.def and the folder X), X.perfetto.json or "
    "X.perfetto.json.gz",
    "--force": "replace an output that exists",
}
SAME_PLACES: Final = {
    "--ranks LIST": "only these ranks: 0-7,12",
    "--app N": "only this application, from 0",
}  # the region of interest, as far as it means the same in several runs
REGION: Final = {
    "region of interest: all options of the region of interest combine": {
        "--from TIME": "from there: 1.5s, 300ms",
        "--to TIME": "up to there, exclusive",
        **SAME_PLACES,
        "--loop ID": "only this loop, as structure numbers it",
        "--iterations A:B": "only these of its iterations: 1, 3:7, :10, -5:",
    }
}
RESOURCES: Final = {
    "resources": {
        "--memory SIZE": "most memory to use, as 2G or 512Mi (default: 60 %% of what is free)",
        "--threads N": "threads to use (default: all CPUs allowed)",
        "--quiet": "no progress bar",
        "--progress": "report progress without a terminal, too",
    }
}
WORKERS: Final = {
    "workers": {
        "--scheduler WHERE": "share the store out to workers of Dask: local:4 on this machine, "
        "the address of a scheduler, or slurm.toml"
    }
}
ANALYSIS: Final = TRACE | FORMAT | REGION | RESOURCES
EFFORT: Final = {
    "--counter LIST": "counters of lt_hwctr, with a weight where it is not 1: A,B=2 (default: "
    "the instructions)",
    "--effort-model FILE": "what counts take in ns, for lt_hwctr, as burstline clocks makes it",
    "--call-cost N": "ticks of a call into the OpenMP runtime (default: 100 of lt_bb, 4300 of "
    "lt_stmt, else 0)",
    "--without-mpi": "what counters counted inside of MPI is no effort",
    "--collectives {causal,full}": "a member of a collective waits for those that send it "
    "something, or for all (default: causal)",
}
"""What a logical clock counts; the same for all commands that have one."""
POLL_GAP: Final = {
    "--poll-gap TIME": "failed polls less than that apart are waiting, where the source only "
    "sums them up (default: 5us)"
}
DETECTION: Final = {
    "how loops are found": {
        "--method {auto,seed,exact}=auto": "seed: as published; exact: lossless; auto: seed "
        "where it is true to 0.999",
        "--eps X=0.2": "distance within a loop (0.2)",
        "--scale {log,minmax}=log": "how repetitions and times are compared: as ratios, or "
        "within their range",
        "--rank-merge {late,early}=late": "seed: merge equal calls of ranks after their loops "
        "are found, or before",
        "--min-share X=0.1": "leave out calls that span less of the run than this (0.1)",
    }
}
PSEUDOCODE: Final = {
    "--counter NAME": "a counter of the trace, or IPC",
    "--show-ranks LIST": "what these ranks execute: 0-7,12",
    "--bursts TIME": "computation before calls from this mean on: 1ms",
}
ONE_OF: Final = "one of"  # a title of options that exclude each other


def add(
    group: argparse._ActionsContainer, options: Mapping[str, str | Mapping[str, str]]
) -> None:
    """Add options, given as usage and help; a value behind ``=`` is the default."""
    for usage, text in options.items():
        if not isinstance(text, str):
            if usage == ONE_OF:
                add(group.add_mutually_exclusive_group(), text)
            else:
                title, _, about = usage.partition(": ")
                add(group.add_argument_group(title, about or None), text)
            continue
        words = usage.split()
        names = [word.rstrip(",") for word in words if word.startswith("-")] or words[:1]
        value, has_default, default = " ".join(words[len(names) :][:1]).partition("=")
        settings: dict[str, Any] = {"help": text or None}
        if not value:
            settings["action"] = "store_true"
        elif "{" in value:
            settings["choices"] = value.strip("[{}]").split(",")
            if value.startswith("["):
                settings |= {"nargs": "?", "const": settings["choices"][0]}
        else:
            settings |= {"type": _KINDS.get(value, str), "metavar": value}
        if has_default:
            settings["default"] = settings.get("type", str)(default)
        if len(words) > len(names) + 1:
            settings |= _AMOUNTS.get(words[-1], {"nargs": words[-1]})
        if names[0] in _NAMES:
            settings["dest"] = _NAMES[names[0]]
        group.add_argument(*names, **settings)


def read_by(options: Mapping[str, str | Mapping[str, str]]) -> list[str]:
    """Names of the arguments among options that name what a command reads."""
    parser = argparse.ArgumentParser(add_help=False)
    add(parser, options)
    return [
        action.dest
        for action in parser._actions  # noqa: SLF001 -- argparse has no public way to ask
        if action.metavar in _READ and action.dest not in WRITTEN
    ]


def command_in(arguments: argparse.Namespace) -> list[str]:
    """The words of a command line, without dashes before it."""
    words: list[str] = arguments.words
    return words[1:] if words[:1] == ["--"] else words


def names_in(text: str | None) -> list[str]:
    """The names of a list as ``A, B``."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def require_at_least(arguments: argparse.Namespace, **least: int) -> None:
    """Refuse numbers of options that are less than the least that makes sense."""
    for name, number in least.items():
        given = getattr(arguments, name)
        if given is not None and given < number:
            bound = f"be at least {number}" if number else "not be negative"
            raise ParameterError(f"--{name.replace('_', '-')} must {bound}, got {given}")
