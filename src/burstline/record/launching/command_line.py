"""The programs in a command line that starts ranks, and their environment.

::

    mpirun -n 2 --bind-to core ./a x : -n 6 ./b
                               └─ programs ──┘
    mpirun -n 2 --bind-to core env LD_PRELOAD=… ./a x : -n 6 env LD_PRELOAD=… ./b

Launchers differ in how they pass on an environment; all of them can start ``env``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from burstline.errors import ParameterError, printable
from burstline.record.launching import mpi

_MPIRUN: Final = """
    n np c N npernode npersocket ppn perhost host H hosts hostlist hostfile machinefile
    machine f map-by bind-to rank-by membind cpu-set cpu-list cpus-per-proc cpus-per-rank
    rankfile rf order-nodes x envlist genvlist wdir wd path prefix app configfile tune am
    timeout report-pid report-uri personality output-filename output output-directory
    outfile-pattern errfile-pattern stdin s xterm dvm preload-files display runtime-options
    rmk launcher bootstrap launcher-exec bootstrap-exec iface nameserver demux topolib usize
    localhost port gpus-per-proc stream-buffering
"""
_SRUN: Final = """
    n N c p A t J w x o e i m D C d q L G r S T W ntasks nodes cpus-per-task partition
    account time job-name nodelist exclude output error input distribution chdir constraint
    dependency qos licenses gpus relative mpi cpu-bind mem-bind mem mem-per-cpu mem-per-gpu
    gres gres-flags gpu-bind gpus-per-node gpus-per-task gpus-per-socket ntasks-per-node
    ntasks-per-core ntasks-per-socket ntasks-per-gpu reservation export jobid wait
    cores-per-socket sockets-per-node threads-per-core hint cpu-freq task-prolog task-epilog
    network open-mode signal switches time-min tmp comment core-spec het-group
"""
_APRUN: Final = "n N d S cc L j e m t p r sn ss T a B D F mpmd-env batch-args"
_JSRUN: Final = (
    "n a c g r d b l p m E F K L P U X M nrs tasks_per_rs cpu_per_rs gpu_per_rs np bind"
)
_VALUES: Final = {
    **dict.fromkeys(("mpirun", "mpiexec", "orterun", "prterun", "mpiexec.hydra"), _MPIRUN),
    "srun": _SRUN,
    "aprun": _APRUN,
    "jsrun": _JSRUN,
    "ibrun": "n o",
}
_PAIRS: Final = frozenset({"mca", "gmca", "omca", "prtemca", "pmixmca", "env", "genv"})
_FROM_FILE: Final = frozenset({"app", "configfile", "multi-prog"})
_PREFIXES: Final = frozenset({"time", "timeout", "env", "nice", "taskset", "numactl", "stdbuf"})
_MOVES: Final = frozenset({"wdir", "wd", "chdir", "D", "path"})
_SHELLS: Final = re.compile(r"(?:ba|da|z|k)?sh|python[\d.]*")


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, with the places of its launcher and programs."""

    words: tuple[str, ...]
    launcher: int | None
    starts: tuple[int, ...]

    def programs(self) -> list[tuple[str, ...]]:
        """The command line of each program."""
        programs = []
        for start in self.starts:
            rest = self.words[start:]
            split = self.launcher is not None and ":" in rest
            programs.append(rest[: rest.index(":")] if split else rest)
        return programs

    def moves(self) -> bool:
        """Whether options of the launcher change the folder of programs."""
        if self.launcher is None or not self.starts:
            return False
        options = self.words[self.launcher + 1 : self.starts[-1]]
        return any(_name(word) in _MOVES for word in options if word.startswith("-"))


def parse_command(words: Sequence[str]) -> Command:
    """The launcher and the programs of a command line."""
    if not words:
        raise ParameterError("give a command to record: burstline record -- mpirun -n 4 ./app")
    words = tuple(words)
    launcher = _launcher(words)
    if launcher is None:
        return Command(words, None, (0,))
    return Command(words, launcher, tuple(_starts(words, launcher)))


def with_environment(
    command: Command, environment: Mapping[str, str], abi: mpi.Abi | None
) -> list[str]:
    """The command line with more variables in the environment of its programs."""
    settings = [f"{name}={value}" for name, value in environment.items()]
    words = list(command.words)
    for start in reversed(command.starts):
        # env takes a path with = in it for a variable
        by_shell = ["sh", "-c", 'exec "$0" "$@"'] if "=" in words[start] else []
        words[start:start] = ["env", *settings, *by_shell]
    if command.starts:
        return words
    place = (command.launcher or 0) + 1
    if abi is mpi.OPEN_MPI:
        # Of what -x says, programs that a file names hear nothing.
        words[place:place] = ["--mca", "mca_base_env_list", ";".join(settings)]
        return words
    if abi is not None:
        pairs = environment.items()
        words[place:place] = [word for pair in pairs for word in ("-genv", *pair)]
        return words
    return ["env", *settings, *words]  # batch systems hand their whole environment on


def program_name(words: Sequence[str]) -> str:
    """The name of a trace: that of the program, or of the script that a shell runs."""
    name = Path(words[0]).name
    if _SHELLS.fullmatch(name):
        others = [word for word in words[1:] if not word.startswith("-")]
        name = Path(others[0]).name if others else name
    stem = re.sub(r"\.(?:py|sh|x|exe|out|bin)$", "", name)
    return re.sub(r"[^\w.+-]", "_", stem).lstrip(".") or "run"


def _launcher(words: tuple[str, ...]) -> int | None:
    """The place of the word that starts the ranks, also behind ``timeout 60``."""
    for place, word in enumerate(words):
        if _values_of(word) is not None:
            return place
        if place == 0 and Path(word).name not in _PREFIXES:
            return None
    return None


def _values_of(launcher: str) -> frozenset[str] | None:
    """The options of a launcher that take a value; None if it is no launcher."""
    name = Path(launcher).name
    for candidate in (name, re.sub(r"[._-].*$", "", name)):
        if candidate in _VALUES:
            return frozenset(_VALUES[candidate].split())
    return None


def _starts(words: tuple[str, ...], launcher: int) -> Iterator[int]:
    values = _values_of(words[launcher]) or frozenset()
    place, last = launcher + 1, len(words)
    while place <= last:
        end = words.index(":", place) if ":" in words[place:] else last
        start = _start(words[:end], place, values)
        if start is not None:
            yield start
        place = end + 1


def _start(words: tuple[str, ...], place: int, values: frozenset[str]) -> int | None:
    """The place of the program behind a launcher's options; None if a file names it."""
    guessed = None
    while place < len(words):
        word = words[place]
        if word == "--":
            place += 1
            break
        if not word.startswith("-") or word == "-":
            break
        name = _name(word)
        if name in _FROM_FILE:
            return None
        place += 1
        if "=" in word or (len(name) > 1 and name[1:].isdigit()):
            continue
        if name in _PAIRS:
            place += 2
        elif name in values:
            place += 1
        elif place < len(words) - 1 and _is_value(words[place]):
            guessed = words[place]
            place += 1
    if place < len(words):
        return place
    lost = "" if guessed is None else f" (is there a program {printable(guessed)}?)"
    raise ParameterError(f"{printable(words[0])} is given no program{lost}: mpirun -n 4 ./app")


def _is_value(word: str) -> bool:
    """Whether a word after an unknown option is rather its value than the program."""
    return not word.startswith("-") and mpi.executable(word) is None and os.sep not in word


def _name(option: str) -> str:
    return option.lstrip("-").partition("=")[0]
