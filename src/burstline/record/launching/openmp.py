"""LLVM's runtime of OpenMP, which tells of its threads, for programs that bring GNU's.

::

    LD_LIBRARY_PATH, ldconfig, /usr/lib/llvm-*/lib ──libomp.so, libomp.so.5──► before libgomp
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from burstline.errors import NotEnoughDataError
from burstline.record.commands import ask
from burstline.record.launching import mpi
from burstline.record.launching.command_line import Command

_NAMES: Final = ("libomp.so", "libomp.so.5", "libiomp5.so")
_PATIENCE_S: Final = 20


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


def with_gnu_runtime(command: Command) -> str | None:
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
