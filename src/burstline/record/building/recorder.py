"""The recorder's shared object: the one that was shipped, else built once and kept.

::

    record/lib/libburst-openmpi.so                          shipped in the wheel
    ~/.cache/burstline/recorder/<hash>/libburst-openmpi.so  built with the user's own mpicc

The hash covers the recorder's sources, what others are generated from, the headers of MPI
and the compiler. ``python -m burstline.record.building.recorder FOLDER`` builds the objects of
the wheel.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from burstline.errors import NotEnoughDataError, printable
from burstline.executor import in_order
from burstline.record.building.cache import (
    built,
    cache,
    can_be_preloaded,
    kept,
    make_whole,
    require_preloadable,
)
from burstline.record.commands import ask, first_error
from burstline.record.launching.mpi import ABIS, MPICH, OPEN_MPI, STANDARD, Abi

_HERE: Final = Path(__file__).parents[1]
_SHIPPED: Final = _HERE / "lib"
_NATIVE: Final = _HERE / "native"
_GENERATED_FROM: Final = (
    _HERE / "building" / "wrappers.py",
    _HERE / "calls.toml",
    _HERE / "kinds.toml",
    _HERE.parent / "model" / "operations.py",
)
"""What the generated sources are made from: to make them takes longer than to read this."""
_FLAGS: Final = (
    "-std=c11", "-O2", "-g1", "-fPIC", "-shared", "-pthread", "-fvisibility=hidden",
    "-ftls-model=initial-exec", "-fno-omit-frame-pointer",
)  # fmt: skip
_PATIENCE_S: Final = 300
_HEADERS: Final = {
    OPEN_MPI.name: ("mpi.h", rb"define OMPI_MAJOR_VERSION"),
    MPICH.name: ("mpi.h", rb"define (?:MPICH_VERSION|MPICH_NAME|I_MPI_VERSION)"),
    STANDARD.name: ("mpi_abi.h", rb"define MPI_ABI_VERSION"),
}


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler with the options of an MPI and a header of this."""

    words: tuple[str, ...]
    version: str
    header: bytes


def shared_object(abi: Abi) -> Path:
    """The recorder for an MPI, which is built on first use if none was shipped."""
    shipped = _SHIPPED / _file_name(abi)
    if shipped.is_file():
        if can_be_preloaded(shipped):
            return shipped
        return kept("recorder", shipped.name, shipped.read_bytes())
    compiler = find_compiler(abi)
    target = cache("recorder") / _hash(abi, compiler) / _file_name(abi)
    require_preloadable(target)
    return built(target, "the recorder", partial(compile_to, abi=abi, compiler=compiler))


def find_compiler(abi: Abi) -> Compiler:
    """A compiler that has the headers of an MPI."""
    tried = []
    for name in (os.environ.get("MPICC", ""), *abi.compilers):
        wrapper = shutil.which(name) if name else None
        if wrapper is None:
            continue
        header, sign = _HEADERS[abi.name]
        compiler = _compiler(wrapper, header)
        if compiler is not None and re.search(sign, compiler.header):
            return compiler
        tried.append(name)
    refused = f" ({', '.join(tried)} belongs to another MPI or has no headers)" if tried else ""
    raise NotEnoughDataError(
        f"this installation has no recorder for {abi.title}, and no {abi.compilers[-1]} was "
        f"found to build one{refused}. Load {abi.title}'s compiler, or set MPICC=/path/mpicc"
    )


def compile_to(made: Path, abi: Abi, compiler: Compiler) -> None:
    """Build the recorder for an MPI, with what is generated for it beside it."""
    sources = _sources()
    for name, text in _generated_sources().items():
        sources.append(made.with_name(name))
        sources[-1].write_text(text, encoding="utf-8")
    words = [*compiler.words, *_FLAGS, f"-I{_NATIVE}", "-o", made, *sources, "-ldl"]
    code, output = ask(list(map(str, words)), patience_s=_PATIENCE_S)
    if code != 0 or not made.is_file():
        raise NotEnoughDataError(
            f"the recorder for {abi.title} could not be built with "
            f"{printable(shlex.join(compiler.words))}: "
            f"{'it cannot be run' if code is None else first_error(output)}"
        )
    made.chmod(0o755)


def build_all(folder: Path) -> dict[str, str]:
    """The outcome for each MPI of building all recorders into a folder."""
    folder.mkdir(parents=True, exist_ok=True)

    def built(abi: Abi) -> str:
        try:
            make = partial(compile_to, abi=abi, compiler=find_compiler(abi))
            make_whole(folder / _file_name(abi), make)
        except (NotEnoughDataError, OSError) as error:
            return str(error)
        return "built"

    return dict(zip(ABIS, in_order(built, ABIS.values(), len(ABIS)), strict=True))


def _file_name(abi: Abi) -> str:
    return f"libburst-{abi.name}.so"


def _sources() -> list[Path]:
    return sorted(_NATIVE.glob("*.c"))


def _generated_sources() -> dict[str, str]:
    from burstline.record.building import wrappers  # noqa: PLC0415 -- only to build

    return {
        "operations.c": wrappers.operations_source(),
        "wrappers.c": wrappers.wrappers_source(),
    }


def _compiler(wrapper: str, header: str) -> Compiler | None:
    """The compiler of a wrapper, without options for the linker."""
    for option in ("--showme", "-show"):
        code, output = ask([wrapper, option], patience_s=_PATIENCE_S)
        words = shlex.split(output) if code is not None else []
        if code != 0 or not any(word.startswith("-I") for word in words):
            continue
        options = [word for word in words[1:] if word.startswith(("-I", "-D", "-m"))]
        chosen = shlex.split(os.environ.get("CC") or words[0])
        code, output = ask([*chosen, "--version"], patience_s=_PATIENCE_S)
        version = "" if code is None else output.partition("\n")[0]
        return Compiler((*chosen, *options), version, _text_of(header, options))
    return None


def _text_of(header: str, options: list[str]) -> bytes:
    """The first header of this name in the folders of the options; empty without one."""
    folders = [Path(word[2:]) for word in options if word.startswith("-I")]
    for path in (folder / header for folder in folders):
        with contextlib.suppress(OSError):
            return path.read_bytes()
    return b""


def _hash(abi: Abi, compiler: Compiler) -> str:
    digest = hashlib.sha256(
        "\0".join((abi.name, *compiler.words, compiler.version, *_FLAGS)).encode()
    )
    digest.update(compiler.header)
    for path in [*_sources(), *sorted(_NATIVE.glob("*.h")), *_GENERATED_FROM]:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def main() -> None:
    """Build all recorders that can be built into the folder that is named."""
    for name, outcome in build_all(Path(sys.argv[1])).items():
        sys.stdout.write(f"recorder for {name}: {outcome}\n")


if __name__ == "__main__":
    main()
