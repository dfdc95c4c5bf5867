"""What counted work costs a program: the same source, compiled with and without."""

from __future__ import annotations

import shutil
import subprocess
import sys
from statistics import median
from typing import TYPE_CHECKING, Final

from benchmarks.child import ROOT
from benchmarks.figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SOURCES: Final = ROOT / "benchmarks" / "recording"
_PROGRAMS: Final = {
    "solver": (("40", "20"), "<= 1.2"),
    "branches": (("30", "100000"), ""),
}
_VERSIONS: Final = (14, 16, 19)
_ALTERNATIONS: Final = 3  # a round


def counting(folder: Path, rounds: int, *, every_compiler: bool) -> Iterator[Figure]:
    """CPU time of programs with all work counters over that without, by compiler."""
    there = [version for version in _VERSIONS if shutil.which(f"clang-{version}")]
    for version in there if every_compiler else there[:1]:
        clang = f"clang-{version}"
        for name, (arguments, goal) in _PROGRAMS.items():
            programs = _compiled(folder, clang, name)
            if programs is None:
                sys.stderr.write(f"{clang} has no plug-in: counted work is left out\n")
                break
            plain, ratio = _compared(programs, arguments, rounds * _ALTERNATIONS)
            shown = f"{name} that counts its work, clang {version}"
            yield Figure("record", shown, ratio, "x", goal, f"plain ({plain:.3g} s)", ratio)


def _compiled(folder: Path, clang: str, name: str) -> tuple[Path, Path] | None:
    plain, counted = folder / name, folder / f"{name}-counted"
    ours = [sys.executable, "-m", "burstline", "cc", "--", clang]
    for words, target in (([clang], plain), (ours, counted)):
        source = str(_SOURCES / f"{name}.c")
        done = subprocess.run(
            [*words, "-O2", source, "-o", str(target)], capture_output=True, check=False
        )
        if done.returncode:
            return None
    return plain, counted


def _compared(
    programs: tuple[Path, Path], arguments: tuple[str, ...], pairs: int
) -> tuple[float, float]:
    """Median time of the plain program, and median ratio of runs one after the other."""
    times, ratios = [], []
    for _ in range(pairs):
        (plain, first), (counted, second) = (_run(path, arguments) for path in programs)
        if first != second:
            raise SystemExit(f"{programs[1]} works out {second}, not {first}")
        times.append(plain)
        ratios.append(counted / plain)
    return median(times), median(ratios)


def _run(program: Path, arguments: tuple[str, ...]) -> tuple[float, str]:
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
    seconds, answer = done.stdout.split()
    return float(seconds), answer
