"""Compiler wrappers: programs that count their own work.

::

    clang ──version──► LLVM ──build──► plug-in, work object ──command──► clang -fpass-plugin=…

The plug-in (``pass/``) and the work object (``native/work.c``), which holds the counters, are
built once for each version of LLVM.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from burstline.errors import NotEnoughDataError, ParameterError, printable
from burstline.record.building.cache import built, cache
from burstline.record.commands import ask, first_error

OLDEST: Final = 14
LOOPS: Final = "BURSTLINE_PASS_LOOPS"
"""Set in the environment of the compiler if the plug-in is to label loops."""
COUNT: Final = "BURSTLINE_PASS_COUNT"
"""Set in the environment of the compiler to the kinds of work that the plug-in is to count."""

ALL: Final = "all"
CLOCKS: Final = "clocks"
KINDS: Final[dict[str, tuple[str, ...]]] = {
    "blocks": ("IR_BB",),
    "statements": ("IR_TOT_INS",),
    "memory": ("IR_LD_INS", "IR_SR_INS"),
    "branches": ("IR_BR_INS",),
    "flops": ("IR_FP_INS", "IR_SP_OPS", "IR_DP_OPS"),
    "vectors": ("IR_VEC_INS", "IR_VEC_SP", "IR_VEC_DP"),
    "calls": ("IR_CALLS", "IR_CALLS_MATH", "IR_CALLS_MEM", "IR_CALLS_OTHER"),
    "iterations": ("IR_LOOP_ITER",),
}
"""Kinds of work, and the counters of each; as ``KINDS`` in ``pass/tally.cpp``."""
_OF_CLOCKS: Final = ("blocks", "statements", "iterations")

_HERE: Final = Path(__file__).parents[1]
_PASS: Final = _HERE / "pass"
_NATIVE: Final = _HERE / "native"
_EXPORTED: Final = (
    "burst_work", "burst_label", "burst_compiled", "burst_uncounted", "burst_made_by",
    "burst_loop_enter", "burst_loop_iteration", "burst_loop_leave", "link_with_burstline_cc",
)  # fmt: skip
_PLUGIN_FLAGS: Final = ("-std=c++17", "-O2", "-fPIC", "-shared", "-fno-rtti", "-w")
_OBJECT_FLAGS: Final = (
    "-std=c11", "-O2", "-fPIC", "-ftls-model=initial-exec", "-w", "-DBURST_OF_PROGRAM",
)  # fmt: skip
_PATIENCE_S: Final = 600
_NO_LINK: Final = frozenset([
    "-c", "-S", "-E", "-M", "-MM", "-r", "-fsyntax-only", "--version", "-###", "--help",
    "-dumpmachine", "-dumpversion", "--precompile", "--analyze", "-emit-ast", "-cc1", "-cc1as",
])  # fmt: skip
_TAKES_WORD: Final = frozenset([
    "-o", "-I", "-D", "-U", "-L", "-l", "-F", "-x", "-include", "-imacros", "-isystem",
    "-iquote", "-idirafter", "-isysroot", "-iprefix", "-iwithprefix", "-Xclang", "-Xlinker",
    "-Xpreprocessor", "-Xassembler", "-mllvm", "-target", "-arch", "-MF", "-MT", "-MQ", "-MJ",
    "-T", "-z", "-u", "-e", "--param", "--sysroot", "-framework", "-rpath", "-gcc-toolchain",
])  # fmt: skip
_FORTRAN: Final = ("fortran", "f77", "f90", "f95", "ifort", "ifx", "flang", "ftn")
_HEADERS: Final = (".h", ".hh", ".hpp", ".hxx", ".H")


@dataclass(frozen=True, slots=True)
class Clang:
    """A compiler of LLVM."""

    name: str
    version: int
    version_text: str


def instrumented(words: Sequence[str]) -> list[str]:
    """The command that compiles what `words` do, with counters."""
    clang = identify(words[0])
    arguments = list(words[1:])
    _refuse_thin(arguments)
    added = ["-fpass-plugin=" + os.fspath(plugin(clang))]
    if os.environ.get(LOOPS) and not any(word.startswith("-g") for word in arguments):
        added.append("-gline-tables-only")
    command = [words[0], "--start-no-unused-arguments", *added, "--end-no-unused-arguments"]
    command += arguments
    if links(arguments):
        command += ["-Xlinker", os.fspath(work_object(clang))]
        command += [f"-Wl,--export-dynamic-symbol={name}" for name in _EXPORTED]
    return command


def kinds_of(text: str) -> tuple[str, ...]:
    """The kinds of work in a list with commas, or all, in the order of :data:`KINDS`."""
    names = [word.strip() for word in text.split(",") if word.strip()]
    wrong = [name for name in names if name not in (*KINDS, CLOCKS, ALL)]
    if wrong or not names:
        given = printable(wrong[0]) if wrong else "nothing"
        raise ParameterError(
            f"--count: {given} is no kind of work. There are {', '.join(KINDS)}, "
            f"{CLOCKS}, and {ALL}"
        )
    chosen = {*names, *(_OF_CLOCKS if CLOCKS in names else ())}
    return tuple(name for name in KINDS if name in chosen or ALL in chosen)


def links(arguments: Sequence[str]) -> bool:
    """Whether a compiler with these arguments links."""
    inputs = []
    waiting = iter(arguments)
    for word in waiting:
        if word in _NO_LINK or word.startswith(("-print-", "--print-")):
            return False
        if word in _TAKES_WORD:
            value = next(waiting, "")
            inputs += [value] if word == "-l" else []
        elif word == "-" or word.startswith("-l") or not word.startswith("-"):
            inputs.append(word)
    return bool(inputs) and not all(word.endswith(_HEADERS) for word in inputs)


def identify(compiler: str) -> Clang:
    """The version of LLVM of a compiler."""
    shown = printable(compiler)
    if shutil.which(compiler) is None:
        raise ParameterError(f"{shown}: no such compiler. Give one of LLVM's, such as clang")
    version_text = _output([compiler, "--version"])
    match = re.search(r"\b(?:clang|flang|flang-new) version (\d+)", version_text)
    if match is None or "Apple" in version_text:
        first = printable(version_text.partition("\n")[0])
        raise ParameterError(
            f"{shown} is not clang (it says: {first}). {_way_out(compiler, first)}"
        )
    version = int(match[1])
    if version < OLDEST:
        raise ParameterError(f"{shown} is LLVM {version}. Work counters need {OLDEST} or newer")
    return Clang(compiler, version, version_text)


def _way_out(compiler: str, version: str) -> str:
    """The sentence on what counts the work in place of another compiler than LLVM's."""
    name = Path(compiler).name.partition(".")[0]
    if "Fortran" in version or name.endswith(_FORTRAN):
        return (
            "Work counters of Fortran need a flang of LLVM that takes plug-ins "
            "(-fpass-plugin); gfortran has none. Compile without `burstline cc`, and record "
            "other counters: `counters=cpu`, or PAPI's"
        )
    set_to = "CXX=clang++" if name.endswith(("++", "cxx", "CC")) else "CC=clang"
    return (
        "Work counters need LLVM's clang; "
        f"with Open MPI set OMPI_{set_to}, with MPICH MPICH_{set_to}"
    )


def _refuse_thin(arguments: Sequence[str]) -> None:
    """Raise ParameterError if loops are vectorised only when the program is linked."""
    chosen = [word for word in arguments if word.startswith(("-flto", "-fno-lto"))]
    if chosen[-1:] == ["-flto=thin"] or "-funified-lto" in arguments:
        raise ParameterError(
            "-flto=thin vectorises loops when the program is linked, after its work was "
            "counted: counts would be of other code. Compile and link with -flto, whose "
            "counts are right, or without"
        )


def plugin(clang: Clang) -> Path:
    """The plug-in for a compiler, which is built on first use."""
    sources = sorted(_PASS.glob("*.cpp"))
    target = _place(clang, [*sources, *_PASS.glob("*.h")]) / "burstline-pass.so"
    if target.is_file():
        return target
    config, compiler = _llvm_config(clang), _cxx_compiler(clang)
    headers = _output([config, "--includedir"]).strip()
    words = [compiler, *_PLUGIN_FLAGS, *_definitions(config), "-isystem", headers]
    # As one unit: reading LLVM's headers, most of the work, is then done once.
    *parts, last = map(os.fspath, sources)
    included = [word for part in parts for word in ("-include", part)]
    return _built(target, [*words, *included, last])


def work_object(clang: Clang) -> Path:
    """The object that holds the counters, which is built on first use."""
    source = _NATIVE / "work.c"
    target = _place(clang, [source, *_NATIVE.glob("*.h")]) / "burstline-work.o"
    if target.is_file():
        return target
    compiler = _beside(clang, "clang") or clang.name
    return _built(target, [compiler, *_OBJECT_FLAGS, "-c", os.fspath(source)])


def _definitions(config: str) -> list[str]:
    words = shlex.split(_output([config, "--cppflags"]))
    return [word for word in words if word.startswith("-D")]


def _llvm_config(clang: Clang) -> str:
    """The ``llvm-config`` of the version of the compiler."""
    for path in _tools(clang, "llvm-config", "llvm-config"):
        if _output([path, "--version"]).startswith(f"{clang.version}."):
            return path
    raise NotEnoughDataError(
        f"work counters need the headers of LLVM {clang.version} "
        f"(llvm-config-{clang.version}), which were not found. On Debian or Ubuntu: "
        f"apt install llvm-{clang.version}-dev"
    )


def _cxx_compiler(clang: Clang) -> str:
    for path in _tools(clang, "clang++", "c++", "g++"):
        return path
    raise NotEnoughDataError("no C++ compiler was found to build the plug-in. Install clang++")


def _tools(clang: Clang, name: str, *others: str) -> Iterator[str]:
    """The paths of a tool of the compiler, then of its version, then of other tools."""
    names = [_beside(clang, name), f"{name}-{clang.version}", *others]
    return filter(None, map(shutil.which, filter(None, names)))


def _beside(clang: Clang, name: str) -> str | None:
    """The tool of this name that belongs to the compiler."""
    output = _output([clang.name, f"-print-prog-name={name}"]).strip()
    return output if output.startswith("/") and os.access(output, os.X_OK) else None


def _place(clang: Clang, sources: list[Path]) -> Path:
    """The folder of what is built of some sources with a compiler."""
    digest = hashlib.sha256(clang.version_text.encode())
    digest.update("\0".join((*_PLUGIN_FLAGS, *_OBJECT_FLAGS)).encode())
    for path in sorted(sources):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return cache("pass") / digest.hexdigest()[:16]


def _built(target: Path, words: list[str]) -> Path:
    """The file that a compiler builds, once."""

    def make(made: Path) -> None:
        output = _output([*words, "-o", os.fspath(made)])
        if not made.is_file():
            raise NotEnoughDataError(
                f"{target.name} could not be built with {printable(words[0])}: "
                f"{first_error(output)}"
            )

    return built(target, "the plug-in", make)


def _output(words: list[str]) -> str:
    """The output of a program, whatever its exit code."""
    # The plug-in must not count what is compiled to build it.
    inherited = {k: text for k, text in os.environ.items() if k not in (LOOPS, COUNT)}
    return ask(words, patience_s=_PATIENCE_S, environment=inherited).text
