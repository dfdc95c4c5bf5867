"""Return addresses of compiled programs are named as binutils and their sources name them."""

from __future__ import annotations

import functools
import random
import re
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from burstline.extrae.labels import read_function
from burstline.record.symbols import resolution
from burstline.record.symbols.resolution import CallerPlace, Resolver
from warm import forked

C_SOURCE = """
#include <stdio.h>
static inline int twice(int n) { return 2 * puts("twice") + n; }
__attribute__((noinline)) int outer(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += twice(i);
    return sum + puts("outer");
}
int main(int argc, char **argv) { (void)argv; return outer(argc) + puts("main"); }
"""
COLD_SOURCE = r"""
#include <stdlib.h>
/* What compilers leave of a part that is never reached: no bytes, where the next one begins. */
__asm__(".section .text.unlikely\n.type other.cold,@function\nother.cold:\n"
        ".size other.cold,0\n.text");
int (*volatile hook)(int);
__attribute__((noinline)) int real(int k) {
    int sum = hook(k) + 1;
    if (k == 12345) abort();
    return sum;
}
int same(int k) { return k; }
int main(int count, char **words) { (void)words; hook = same; return real(count) == 0; }
"""
CPP_SOURCE = """
#include <cstdio>
#include <map>
#include <string>
#include <vector>
namespace solver {
template <class T> struct Box {
    T value;
    __attribute__((noinline)) T weigh(int n) const { return value * n + std::puts("x"); }
    T deeper(int n) const { return weigh(n) + 1; }
    T deep(int n) const { return deeper(n) * 2; }
};
static int count(std::vector<int>& all) {
    std::map<std::string, int> names;
    names["a"] = all.size();
    return names["b"] + all.at(3);
}
}
int main(int argc, char**) {
    std::vector<int> all(argc + 5);
    solver::Box<int> box{argc};
    auto both = [&](int n) { return box.deep(n) + solver::count(all); };
    return both(3) + box.deep(4);
}
"""
FORTRAN_SOURCE = """
module grid
  implicit none
contains
  subroutine sweep(x)
    real, intent(inout) :: x
    call report(x)
    x = x + 1
    call report(x)
  end subroutine
end module
subroutine report(x)
  real :: x
  print *, 'x', x
end subroutine
subroutine step(x)
  use grid
  implicit none
  real :: x
  call sweep(x)
  call inner
  call inner
contains
  subroutine inner
    print *, x
    call sweep(x)
  end subroutine
end subroutine
program model
  real :: y
  y = 1
  call step(y)
  call step(y)
end program
"""
OPENMP_SOURCE = """
#include <stdio.h>
int main(void) {
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; i++)
        sum += printf("%d", i);
    return sum > 0 ? 0 : printf("none");
}
"""
SOURCES = {
    "gcc": ("c", C_SOURCE),
    "g++": ("cc", CPP_SOURCE),
    "clang": ("c", C_SOURCE),
    "clang++": ("cc", CPP_SOURCE),
    "gfortran": ("f90", FORTRAN_SOURCE),
}


def find(compiler: str) -> str | None:
    versions = [compiler, *(f"{compiler}-{version}" for version in range(30, 10, -1))]
    return next((path for name in versions if (path := shutil.which(name))), None)


FOUND = {compiler: path for compiler in SOURCES if (path := find(compiler))}
BUILDS = [
    (compiler, flags)
    for compiler in FOUND
    for flags in (
        "-g -O2 -gdwarf-4",
        "-g -O0 -gdwarf-4",
        *(["-g -O2 -gdwarf-5"] if "clang" not in compiler else []),
        "-g -O2 -gdwarf-4 -no-pie",
        "-g -O2 -gdwarf-4 -shared -fPIC",
    )
]


@pytest.fixture(autouse=True)
def without_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the children of resolvers, which have what a new Python would import."""
    monkeypatch.setattr(resolution.Child, "_started", forked)


class Build(NamedTuple):
    program: Path
    returns: list[int]

    def places(self, resolver: Resolver | None = None) -> dict[int, tuple[CallerPlace, ...]]:
        return (resolver or Resolver()).resolve(str(self.program), self.returns)


def run(*command: object, text: str = "", folder: Path | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        input=text,
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


KEPT = tempfile.TemporaryDirectory(prefix="programs-")


@functools.cache
def kept(compiler: str, flags: str, source: str | None) -> Build:
    """Give a program as it was built once, in a folder of its own."""
    folder = Path(tempfile.mkdtemp(dir=KEPT.name))
    suffix, usual = SOURCES[compiler]
    path = folder / f"program.{suffix}"
    path.write_text(source or usual)
    program = folder / "program"
    run(FOUND[compiler], *flags.split(), path, "-o", program, folder=folder)
    return Build(program, return_addresses(program))


def build(folder: Path, compiler: str, flags: str, source: str | None = None) -> Build:
    made = kept(compiler, flags, source)
    shutil.copytree(made.program.parent, folder, dirs_exist_ok=True)
    return made._replace(program=folder / "program")


def return_addresses(program: Path) -> list[int]:
    """Find the instruction after each call."""
    found, after_call = [], False
    for line in run("objdump", "-d", "--no-show-raw-insn", program).splitlines():
        instruction = re.match(r" +([0-9a-f]+):\t(.*)", line)
        if instruction and after_call:
            found.append(int(instruction[1], 16))
        call = r"(?:bnd |notrack )*(?:call|blr?)\b"
        after_call = bool(instruction and re.match(call, instruction[2]))
    assert found
    return found


def binutils(program: Path, returns: list[int]) -> dict[int, list[CallerPlace]]:
    """Ask addr2line, and tell its answers as the Paraver reader would."""
    asked = "\n".join(hex(address - 1) for address in returns)
    answer = run("addr2line", "-i", "-f", "-C", "-a", "-e", program, text=asked).splitlines()
    found: dict[int, list[CallerPlace]] = {}
    lines = iter(answer)
    here: list[CallerPlace] = []
    for text in lines:
        if re.fullmatch(r"0x[0-9a-f]{16}", text):
            here = found.setdefault(int(text, 16) + 1, [])
            continue
        file, _, line = next(lines).split(" (discriminator")[0].rpartition(":")
        number = int(line) if line.isdigit() and line != "0" else None
        name = (read_function(text) or "??").removeprefix("__grid_MOD_").removesuffix(".0")
        # of code without lines, addr2line knows a file only by its symbols
        here.append(CallerPlace(name, file.rpartition("/")[2] if number else None, number))
    return found


@pytest.mark.parametrize(("compiler", "flags"), BUILDS)
def test_every_return_address_has_the_places_that_binutils_names(
    tmp_path: Path, compiler: str, flags: str
) -> None:
    built = build(tmp_path, compiler, flags)
    expected = binutils(built.program, built.returns)
    resolver = Resolver()
    for address, places in built.places(resolver).items():
        names = [place.function.removeprefix("grid::") for place in places]
        theirs = expected[address]
        if names[0] != theirs[0].function and len(places) > 1:
            # addr2line names the outermost function where a static one was inlined
            assert theirs[0].function in (theirs[-1].function, "MAIN__", "main")
            names[0] = theirs[0].function
        files = [place.file if place.line else None for place in places]
        lines = [place.line for place in places]
        assert list(map(CallerPlace, names, files, lines)) == theirs, hex(address)
    assert resolver.problems == []


@pytest.mark.parametrize("compiler", FOUND)
def test_all_versions_of_debug_information_name_the_same_places(
    tmp_path: Path, compiler: str
) -> None:
    told = []
    for version in ("-gdwarf-4", "-gdwarf-5", "-gdwarf-5 -gdwarf64"):
        (folder := tmp_path / version.replace(" ", "")).mkdir()
        told.append(build(folder, compiler, f"-g -O2 {version}").places())
    assert told[0] == told[1] == told[2]
    assert any(len(places) > 1 for places in told[0].values())


def test_inlined_functions_stand_innermost_first(tmp_path: Path) -> None:
    built = build(tmp_path, "g++", "-g -O2")
    paths = [[place.function for place in places] for places in built.places().values()]
    deep = ["solver::Box::deeper", "solver::Box::deep", "main"]
    assert deep in paths
    places = built.places()[built.returns[paths.index(deep)]]
    for place in places[:2]:
        assert place.file == "program.cc"
        assert CPP_SOURCE.splitlines()[(place.line or 0) - 1].split()[0] == "T"


def test_a_part_without_bytes_does_not_give_its_name_to_what_lies_there(tmp_path: Path) -> None:
    made = build(tmp_path, "gcc", "-g -O2", COLD_SOURCE)

    assert "real" in functions_of(made)
    assert "other" not in functions_of(made)


def functions_of(made: Build) -> set[str]:
    return {place.function for places in made.places().values() for place in places}


def test_each_thread_s_part_of_a_loop_is_a_function_of_its_own(tmp_path: Path) -> None:
    built = build(tmp_path, "gcc", "-g -O2 -fopenmp", OPENMP_SOURCE)
    assert (CallerPlace("main._omp_fn.0", "program.c", 7),) in built.places().values()


@pytest.mark.parametrize("style", ["zlib", "zlib-gnu"])
def test_compressed_debug_information_names_the_same_places(tmp_path: Path, style: str) -> None:
    built = build(tmp_path, "g++", "-g -O2")
    expected = built.places()
    run("objcopy", f"--compress-debug-sections={style}", built.program)
    assert built.places() == expected


def test_debug_information_is_found_by_the_link_to_it(tmp_path: Path) -> None:
    built = build(tmp_path, "g++", "-g -O2 -Wl,--build-id=none")
    expected = built.places()
    apart = tmp_path / ".debug" / "program.debug"
    apart.parent.mkdir()
    run("objcopy", "--only-keep-debug", built.program, apart)
    run("objcopy", "--strip-all", f"--add-gnu-debuglink={apart}", built.program)
    assert built.places() == expected
    apart.write_bytes(apart.read_bytes() + b"!")
    resolver = Resolver()
    assert built.places(resolver) != expected
    assert [problem.reason[:24] for problem in resolver.problems] == [
        "it has no debug informat"
    ]


def test_debug_information_is_found_by_the_build_id(tmp_path: Path) -> None:
    built = build(tmp_path, "g++", "-g -O2 -Wl,--build-id=0xfeedbeef")
    expected = built.places()
    apart = tmp_path / "debug" / ".build-id" / "fe" / "edbeef.debug"
    apart.parent.mkdir(parents=True)
    run("objcopy", "--only-keep-debug", built.program, apart)
    run("strip", built.program)
    assert built.places(Resolver([tmp_path / "debug"])) == expected
    (tmp_path / "other").mkdir()
    other = build(tmp_path / "other", "g++", "-g -O2 -Wl,--build-id=0xbadbad").program
    shutil.copy(other, apart)
    assert built.places(Resolver([tmp_path / "debug"])) != expected


@pytest.mark.parametrize("kind", ["-pie", "-no-pie -Wl,-Ttext-segment=0x1000"])
@pytest.mark.parametrize("version", ["-gdwarf-4", "-gdwarf-5"])
def test_code_that_the_linker_left_out_does_not_hide_what_lies_there(
    tmp_path: Path, version: str, kind: str
) -> None:
    flags = f"-g -O2 {version} -ffunction-sections -Wl,--gc-sections {kind}"
    unused = 'int unused(int n) { __asm__(".skip 30000"); return n + puts(__func__); }'
    built = build(tmp_path, "gcc", flags, C_SOURCE)
    expected = built.places()
    assert build(tmp_path, "gcc", flags, C_SOURCE + unused).returns == built.returns
    assert built.places() == expected


@pytest.mark.parametrize("version", ["-gdwarf-4", "-gdwarf-5"])
def test_lines_stay_known_where_functions_are_in_a_file_of_their_own(
    tmp_path: Path, version: str
) -> None:
    built = build(tmp_path, "gcc", f"-O2 {version} -gsplit-dwarf")
    resolver = Resolver()
    places = built.places(resolver).values()
    assert (CallerPlace("main", "program.c", 10),) in places
    assert (CallerPlace("outer", "program.c", 3),) in places
    assert [problem.reason for problem in resolver.problems] == [
        "part of its debug information is in .dwo files, which are not read"
    ]


def test_without_debug_information_functions_are_known_and_lines_are_not(
    tmp_path: Path,
) -> None:
    built = build(tmp_path, "g++", "-O2")
    places = set(built.places().values())
    assert (CallerPlace("solver::Box::weigh", None, None),) in places
    assert (CallerPlace("main", None, None),) in places
    assert all(place.line is None for each in places for place in each)


def test_of_a_stripped_program_places_are_offsets(tmp_path: Path) -> None:
    built = build(tmp_path, "gcc", "-O2")
    run("strip", built.program)
    for offset, places in built.places().items():
        assert places == (CallerPlace(f"program+{offset:#x}", None, None),)


def test_a_program_that_was_changed_is_not_believed(tmp_path: Path) -> None:
    built = build(tmp_path, "g++", "-g -O2")
    other = build(tmp_path, "g++", "-g -O0")
    resolver = Resolver()
    told = resolver.resolve(str(other.program), built.returns)
    assert told == {at: (CallerPlace(f"program+{at:#x}", None, None),) for at in built.returns}
    assert "changed since" in resolver.problems[0].reason


@pytest.mark.parametrize("claim", [1 << 33, (1 << 63) - 1])
def test_a_section_that_claims_to_be_huge_costs_lines_and_no_more(
    tmp_path: Path, claim: int
) -> None:
    built = build(tmp_path, "g++", "-g -O2")
    run("objcopy", "--compress-debug-sections=zlib", built.program)
    listed = re.search(r"\.debug_info(?: +\w+){3} +(\w+)", run("objdump", "-h", built.program))
    assert listed
    content = bytearray(built.program.read_bytes())
    struct.pack_into("<Q", content, int(listed[1], 16) + 8, claim)
    built.program.write_bytes(content)
    resolver = Resolver()
    assert (CallerPlace("solver::Box::weigh", None, None),) in built.places(resolver).values()
    assert [problem.reason for problem in resolver.problems] == [
        "its debug information cannot be read in a sensible time and memory"
    ]


def test_no_damage_to_a_file_makes_it_fail(tmp_path: Path) -> None:
    built = build(tmp_path, "g++", "-g -O2")
    whole = built.program.read_bytes()
    dice = random.Random(4)  # noqa: S311 -- repeatable, not secret
    headers = run("objdump", "-h", built.program)
    sections = [
        (int(row[1], 16), int(row[2], 16))
        for row in re.findall(r"(\.debug_\w+) +(\w+) +\w+ +\w+ +(\w+)", headers)
    ]
    for _ in range(40):
        damaged = bytearray(whole)
        size, start = dice.choice([*sections, (len(whole), 0), (64, 0)])
        for _ in range(dice.choice([1, 10, 200])):
            damaged[start + dice.randrange(size)] = dice.choice([0, 1, 0x7F, 0x80, 0xFF])
        built.program.write_bytes(
            damaged[: dice.choice([len(whole), dice.randrange(len(whole))])]
        )
        told = built.places()
        assert set(told) == set(built.returns)
        assert all(places for places in told.values())
