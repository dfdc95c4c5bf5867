"""What counted work costs a program: the same source, compiled with and without."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.child import ROOT
from benchmarks.figures import Figure
from burstline.record import KINDS

_SOURCES: Final = ROOT / "benchmarks" / "recording"
_PROGRAMS: Final = {
    "solver": (("40", "20"), "<= 1.2"),
    "branches": (("30", "100000"), ""),
}
_VERSIONS: Final = (14, 16, 19)
_ALTERNATIONS: Final = 3  # a round


def counting(folder: Path, rounds: int, *, every_compiler: bool) -> Iterator[Figure]:
    """CPU time of programs that count over those that do not, by compiler and kind of work."""
    there = [version for version in _VERSIONS if shutil.which(f"clang-{version}")]
    kinds = ("all", *KINDS) if every_compiler else ("all",)
    for version in there if every_compiler else there[:1]:
        clang = f"clang-{version}"
        for name, (arguments, goal) in _PROGRAMS.items():
            plain = _compiled(folder, clang, name, None)
            counted = {kind: _compiled(folder, clang, name, kind) for kind in kinds}
            if plain is None or None in counted.values():
                sys.stderr.write(f"{clang} has no plug-in: counted work is left out\n")
                break
            programs = {kind: path for kind, path in counted.items() if path is not None}
            time, ratios = _compared(plain, programs, arguments, rounds * _ALTERNATIONS)
            for kind, ratio in ratios.items():
                work = "its work" if kind == "all" else kind
                shown = f"{name} that counts {work}, clang {version}"
                yield Figure("record", shown, ratio, "x", goal, f"plain ({time:.3g} s)", ratio)


def _compiled(folder: Path, clang: str, name: str, kind: str | None) -> Path | None:
    """Compile a program, so that it counts one kind of work if that is named."""
    target = folder / f"{name}-{kind or 'plain'}"
    ours = [sys.executable, "-m", "burstline", "cc", "--count", str(kind), "--"]
    words = [*(ours if kind else []), clang, "-O2", str(_SOURCES / f"{name}.c")]
    done = subprocess.run([*words, "-o", str(target)], capture_output=True, check=False)
    return None if done.returncode else target


def _compared(
    plain: Path, programs: Mapping[str, Path], arguments: tuple[str, ...], turns: int
) -> tuple[float, dict[str, float]]:
    """Median time of the plain program, and median ratios of runs one after the other."""
    times = []
    ratios: dict[str, list[float]] = {kind: [] for kind in programs}
    for _ in range(turns):
        for kind, counted in programs.items():
            (alone, first), (counting, second) = (_run(p, arguments) for p in (plain, counted))
            if first != second:
                raise SystemExit(f"{counted} works out {second}, not {first}")
            times.append(alone)
            ratios[kind].append(counting / alone)
    return median(times), {kind: median(found) for kind, found in ratios.items()}


def _run(program: Path, arguments: tuple[str, ...]) -> tuple[float, str]:
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
    seconds, answer = done.stdout.split()
    return float(seconds), answer
