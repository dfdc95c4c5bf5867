"""The MPI of a program and of a launcher.

::

    ./app ──ldd──► libmpi.so.40 ──its symbols──► Open MPI
    mpirun ──--version──► HYDRA ──► MPICH

The recorder is one shared object per binary interface (ABI): Open MPI's, MPICH's (Intel's,
Cray's and MVAPICH's, too), and the one that MPI 5 standardises.
"""

from __future__ import annotations

import mmap
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from burstline.record.commands import ask

_PATIENCE_S: Final = 20
_ELF: Final = b"\x7fELF"


@dataclass(frozen=True, slots=True)
class Abi:
    """A binary interface of MPI."""

    name: str
    title: str
    library: str
    compilers: tuple[str, ...]


OPEN_MPI: Final = Abi("openmpi", "Open MPI", r"libmpi\.so\.40", ("mpicc.openmpi", "mpicc"))
MPICH: Final = Abi(
    "mpich", "MPICH", r"(?:libmpi|libmpich)\.so\.12", ("mpicc.mpich", "mpicc", "mpiicc", "cc")
)
STANDARD: Final = Abi("abi", "the MPI-5 ABI", r"libmpi_abi\.so\.\d+", ("mpicc_abi",))
_LIBRARY: Final = re.compile(r"(?<!\S)/\S*/lib[^/\s]*mpi[^/\s]*\.so[^/\s]*")
ABIS: Final = {abi.name: abi for abi in (OPEN_MPI, MPICH, STANDARD)}


def abi_of_program(path: Path) -> Abi | None:
    """The MPI that a program, or a library of it, is linked with."""
    return abi_of_libraries(libraries_of(path))


def libraries_of(path: Path) -> str:
    """A text that names the libraries a program is linked with; empty if it is no binary."""
    return _answer(["ldd", os.fspath(path)]) if is_elf(path) else ""


def mpi_libraries(text: str) -> list[Path]:
    """The libraries that a text names and that may be of MPI."""
    return [path for path in map(Path, dict.fromkeys(_LIBRARY.findall(text))) if is_elf(path)]


def abi_of_libraries(text: str) -> Abi | None:
    """The MPI whose library a text names: by its symbols, or by its name if it is not there."""
    for path in dict.fromkeys(_LIBRARY.findall(text)):
        if abi := abi_of_symbols(Path(path)):
            return abi
    for abi in ABIS.values():
        if re.search(rf"(?<![\w.-]){abi.library}(?![\w-])", text):
            return abi
    return None


def abi_of_symbols(library: Path) -> Abi | None:
    """The MPI that a library has, whatever it is called: Cray's, Intel's, a site's own."""
    # linkers may keep a name as the end of another one: it is looked for in all of the library
    if not (names_symbol(library, b"PMPI_Init") or names_symbol(library, b"MPI_Init")):
        return None
    if names_symbol(library, b"ompi_mpi_comm_world"):
        return OPEN_MPI
    return (
        STANDARD if library.name.startswith("libmpi_abi.") else MPICH
    )  # both have its symbols


def abi_of_launcher(path: Path) -> Abi | None:
    """The MPI of a launcher."""
    return abi_of_version(_answer([os.fspath(path), "--version"]))


def abi_of_version(text: str) -> Abi | None:
    """The MPI of a launcher with this answer to ``--version``."""
    if re.search(r"Open ?MPI|OpenRTE|PRRTE", text, re.IGNORECASE):
        return OPEN_MPI
    if re.search(r"HYDRA|MPICH|Intel\(R\) MPI|MVAPICH", text, re.IGNORECASE):
        return MPICH
    return None


def python_in(words: Sequence[str]) -> int | None:
    """The place of an interpreter of Python in a program, behind ``env NAME=VALUE`` or not."""
    for place, word in enumerate(words):
        if re.fullmatch(r"python[\d.]*", Path(word).name):
            return place
        if Path(word).name != "env" and not re.fullmatch(r"\w+=.*", word):
            return None
    return None


def abi_of_python(words: Sequence[str]) -> Abi | None:
    """The MPI that the mpi4py of a Python loads."""
    return abi_of_libraries(libraries_of_python(words))


def libraries_of_python(words: Sequence[str]) -> str:
    """A text that names the libraries that the mpi4py of a Python loads; empty without one."""
    place = python_in(words)
    if place is None:
        return ""
    code = (
        "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; "
        "print(open('/proc/self/maps').read())"
    )
    return _answer([*words[: place + 1], "-c", code])


def is_elf(path: Path) -> bool:
    """Whether a file is a binary program."""
    try:
        with path.open("rb") as file:
            return file.read(len(_ELF)) == _ELF
    except OSError:
        return False


def names_symbol(path: Path, name: bytes) -> bool:
    """Whether a symbol table of a program names a symbol, as far as its bytes tell."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as m:
            return m.find(b"\0" + name + b"\0") >= 0
    except (OSError, ValueError):
        return False


def executable(word: str) -> Path | None:
    """The executable file that a word of a command line names."""
    path = shutil.which(word) or shutil.which(os.path.join(os.curdir, word))  # noqa: PTH118 -- Path drops the dot that keeps it off PATH
    return None if path is None else Path(path)


def _answer(words: list[str]) -> str:
    """The output of a program; empty if it cannot be asked."""
    answer = ask(words, patience_s=_PATIENCE_S)
    return "" if answer.code is None else answer.text
