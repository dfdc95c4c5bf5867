"""Checks before a run: whether the programs exist, and which MPI they use."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from burstline.errors import (
    NotEnoughDataError,
    ParameterError,
    UnsupportedRecordError,
    printable,
)
from burstline.formats import raw
from burstline.formats.files import read_text
from burstline.record.commands import ask
from burstline.record.launching import mpi
from burstline.record.launching.command_line import Command

_NAMES: Final = ("libomp.so", "libomp.so.5", "libiomp5.so")
_PATIENCE_S: Final = 20

_ORDER: Final = "verify_asan_link_order"
_MOST_PATTERNS: Final = 4096
_LONGEST_FILTER: Final = 1 << 16
"""As in ``native/settings.c``."""
_MOST_SCRIPTS: Final = 100
_LONGEST_FILE: Final = 1 << 20
"""With comments."""


def check_programs(command: Command) -> None:
    """Raise an error if a program of the command does not exist, or refuses the recorder."""
    first = (
        [command.words[0]]
        if command.launcher is None
        else command.words[: command.launcher + 1]
    )
    for word in {first[0], first[-1]}:
        _require(word)
    if not command.moves():
        for program in command.programs():
            _require(program[0])
    _refuse_own_options(command)


def program_loading_mpi(command: Command) -> str | None:
    """A program of the command that names MPI's functions and is not linked with them."""
    for program in command.programs():
        path = mpi.executable(program[0])
        script = _script(program)
        if script is not None and re.search(rb"ctypes[\s\S]*MPI_Init", script.read_bytes()):
            return os.fspath(script)
        if (
            path is not None
            and mpi.names_symbol(path, b"dlsym")
            and mpi.names_symbol(path, b"MPI_Init")
            and mpi.abi_of_program(path) is None
        ):
            return os.fspath(path)
    return None


def checked_calls(text: str) -> str:
    """The list for ``--calls``, in which every word is an operation."""
    numbers = raw.operation_numbers()
    names = {*numbers.values(), *map(str, numbers)}
    for word in text.replace(",", " ").split():
        name = word.removeprefix("-")
        if name not in names:
            near = get_close_matches(name, sorted(names), n=1, cutoff=0.8)
            hint = f"Did you mean {near[0]}?" if near else "Names are like MPI_Send"
            raise ParameterError(f"`calls`: {printable(name)} is no operation of MPI. {hint}")
    return text


def read_filter(path: Path) -> str:
    """The patterns of a file, as the recorder takes them."""
    try:
        lines = read_text(path, _LONGEST_FILE).splitlines()
    except OSError as error:
        raise ParameterError(
            f"`functions`: {printable(str(path))}: {error.strerror}"
        ) from error
    patterns = [text for line in lines if (text := line.partition("#")[0].strip())]
    if wrong := [text for text in patterns if ";" in text or not text.removeprefix("-")]:
        raise ParameterError(
            f"`functions`: {printable(str(path))}: {printable(wrong[0])} is no pattern. A line "
            "is the name of a function, in which * stands for anything, or - and such a name"
        )
    text = ";".join(patterns)
    if len(patterns) >= _MOST_PATTERNS or len(text.encode()) >= _LONGEST_FILTER:
        raise ParameterError(
            f"`functions`: {printable(str(path))}: fewer than {_MOST_PATTERNS:,} patterns of "
            f"{_LONGEST_FILTER:,} bytes in all have room. Name several functions by one with *"
        )
    return text


def choose_abi(command: Command, asked: str | None) -> mpi.Abi:
    """The MPI whose recorder the run needs."""
    if asked is not None:
        return mpi.ABIS[asked]
    launcher = launcher_abi(command)
    of_programs = {abi for program in command.programs() if (abi := _abi_of(program))}
    if len(of_programs) > 1 or (
        launcher is not None and of_programs - {launcher, mpi.STANDARD}
    ):
        _refuse_mixture(command, launcher, of_programs)
    if of_programs:
        return of_programs.pop()
    for program in command.programs():
        _refuse_static(program)
    if launcher is not None:
        return launcher
    for program in command.programs():
        if abi := mpi.abi_of_python(program):
            return abi
    raise ParameterError(
        f"nothing tells which MPI {printable(' '.join(command.words))} uses: no library of MPI "
        "is among those of the program. Say it with `mpi=openmpi`, mpich or abi; a program "
        "without MPI cannot be recorded"
    )


def libraries_of_mpi4py(command: Command) -> list[Path]:
    """The libraries of MPI that programs in Python load, which look what these have."""
    return [
        path
        for program in command.programs()
        if _names_mpi4py(program)
        for path in mpi.mpi_libraries(mpi.libraries_of_python(program))
    ]


def launcher_abi(command: Command) -> mpi.Abi | None:
    """The MPI of the launcher in a command."""
    if command.launcher is None:
        return None
    path = mpi.executable(command.words[command.launcher])
    return (
        None
        if path is None or path.name in {"srun", "aprun", "jsrun", "ibrun"}
        else mpi.abi_of_launcher(path)
    )


def with_local_paths(command: Command) -> Command:
    """The command with ``./`` before programs of this folder, so that ranks have them, too."""
    words = list(command.words)
    for start in command.starts:
        path = mpi.executable(words[start])
        if path is not None and path.parent == Path() and "/" not in words[start]:
            words[start] = f"./{words[start]}"
    return replace(command, words=tuple(words))


def _require(word: str) -> None:
    if mpi.executable(word) is not None:
        return
    path = Path(word)
    shown = printable(word)
    if path.is_dir():
        raise ParameterError(f"{shown} is a folder, no program")
    if path.exists():
        raise ParameterError(
            f"{shown} cannot be executed. If it is a program: chmod +x {shown}"
        )
    where = "" if path.parent != Path() else " on PATH or in this folder"
    raise ParameterError(f"there is no program {shown}{where}")


def _refuse_own_options(command: Command) -> None:
    """Programs whose own options, in place of the recorder's, let AddressSanitizer end them."""
    if _ORDER in os.environ.get("ASAN_OPTIONS", "") or _ORDER in " ".join(command.words):
        return
    words = (word for program in command.programs() for word in program)
    for path in filter(None, map(mpi.executable, words)):
        if (
            mpi.names_symbol(path, b"__asan_default_options")
            and re.search(r"lib(?:asan|clang_rt\.asan\S*)\.so", mpi.libraries_of(path))
            and _ORDER.encode() not in path.read_bytes()
        ):
            raise UnsupportedRecordError(
                path,
                None,
                expected="AddressSanitizer's options to be those of the recorder",
                found="__asan_default_options, the program's own, with which "
                "AddressSanitizer ends it where a library is preloaded",
                way_out=f"Set ASAN_OPTIONS={_ORDER}=0, then record it.",
            )


def _abi_of(program: Sequence[str]) -> mpi.Abi | None:
    """The MPI of a program, which may stand behind others: ``numactl -N 0 ./app``."""
    for word in program:
        path = None if word.startswith("-") else mpi.executable(word)
        if path is not None and (abi := mpi.abi_of_program(path)):
            return abi
    return mpi.abi_of_python(program) if _names_mpi4py(program) else None


def _script(program: Sequence[str]) -> Path | None:
    """The file that a program in Python runs."""
    if mpi.python_in(program) is None:
        return None
    scripts = (Path(word) for word in program if word.endswith(".py"))
    return next((path for path in scripts if path.is_file()), None)


def _names_mpi4py(program: Sequence[str]) -> bool:
    """Whether a program in Python imports mpi4py, as far as the files in its folder tell."""
    script = _script(program)
    if script is None:
        return mpi.python_in(program) is not None and "mpi4py" in " ".join(program)
    beside = sorted(script.parent.glob("*.py"))[:_MOST_SCRIPTS]
    return any(
        b"mpi4py" in path.read_bytes()
        for path in (script, *beside)
        if path.is_file() and os.access(path, os.R_OK)
    )


def _refuse_static(program: Sequence[str]) -> None:
    path = mpi.executable(program[0])
    if path is not None and mpi.is_elf(path) and mpi.names_symbol(path, b"PMPI_Init"):
        raise UnsupportedRecordError(
            path,
            None,
            expected="a program that loads a shared library of MPI",
            found="MPI linked into the program itself",
            way_out="Link it with the shared library (without -static), then record it.",
        )


def _refuse_mixture(
    command: Command, launcher: mpi.Abi | None, of_programs: set[mpi.Abi]
) -> None:
    titles = " and ".join(sorted(abi.title for abi in of_programs))
    if launcher is None:
        raise ParameterError(f"the programs use {titles}; ranks of one run share one MPI")
    name = printable(command.words[command.launcher or 0])
    raise ParameterError(
        f"the program uses {titles}, but {name} is the launcher of {launcher.title}: every "
        f"rank would be alone. Start it with the launcher of {titles}"
    )


def llvm_runtime() -> Path:
    """The library, newest first where there are several."""
    for folder in _folders():
        for name in _NAMES:
            if (folder / name).is_file():
                return folder / name
    raise NotEnoughDataError(
        f"LLVM's runtime of OpenMP was not found: none of {', '.join(_NAMES)} is on "
        "LD_LIBRARY_PATH or among the libraries of the system. On Debian or Ubuntu: "
        "apt install libomp-dev"
    )


def program_with_gnu_runtime(command: Command) -> str | None:
    """A program of a command that is linked with GNU's runtime."""
    for program in command.programs():
        path = mpi.executable(program[0])
        if path is not None and "libgomp.so" in mpi.libraries_of(path):
            return program[0]
    return None


def _folders() -> Iterator[Path]:
    for folder in filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")):
        yield Path(folder)
    cached = ask(["/sbin/ldconfig", "-p"], patience_s=_PATIENCE_S)
    for path in re.findall(r"=> (\S*/lib(?:omp|iomp5)\.so\S*)", cached.text):
        yield Path(path).parent
    yield from sorted(Path("/usr/lib").glob("llvm-*/lib"), key=_version, reverse=True)


def _version(folder: Path) -> int:
    found = re.search(r"llvm-(\d+)", os.fspath(folder))
    return int(found[1]) if found else 0
