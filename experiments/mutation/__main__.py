"""Small breaks drawn at random, run against the tests of their room, as a Markdown table.

``python -m experiments.mutation ROOM… [--count 40] [--seed 1]``: each break changes one place
of one file in a copy of the package: a comparison, an operator, a constant, a condition. It
is run against those of the room's tests that execute its lines, as coverage.py (to be
installed beside) tells. One that they do not notice survived: it wants a test, or a sentence
why it changes nothing.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import coverage

ROOT = Path(__file__).resolve().parents[2]
ROOMS = {
    "structure": ("structure", "structure exact unique_calls loop cluster_plot"),
    "merge": ("merge", "merge fusion matching burst_table"),
    "selection": ("selection", "selection narrowing windows kept_rows outputs"),
    "identity": (
        "identity",
        "identity call_paths structure exact unique_calls merge_loops burst_table",
    ),
    "studies": ("studies", "learning"),
    "intake": ("formats/intake", "raw half_messages otf2 conformance memory text"),
    "raw": ("formats/raw", "raw conformance memory"),
    "otf2": ("formats/otf2", "otf2 conformance other_events"),
    "paraver": ("formats/paraver", "paraver prv splicing annotation conformance"),
    "model": (
        "*.py",
        (
            "efficiency matching summary trace burst exact text conformance pages errors loops "
            "cube init_finalize"
        ),
    ),
}
"""Folder of each room, and words in the names of its test files."""
FOLDERS = ("unit", "properties", "formats", "golden")
_PYTEST = ("-x", "-q", "-p", "no:cacheprovider")
CPU_LIMIT = 150
"""Seconds of processor time after which a break counts as noticed: something is endless."""
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


class Break(NamedTuple):
    """One change of one file: the line as it was, as it is, and the file's text with it."""

    path: Path
    line: int
    last: int  # line of its statement
    old: str
    new: str
    text: str


def places(tree: ast.Module) -> Iterator[ast.AST]:
    """Nodes of functions that can be broken; what only the type checker sees is not."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for inner in (n for statement in node.body for n in ast.walk(statement)):
                if isinstance(
                    inner, (ast.Compare, ast.BinOp, ast.BoolOp, ast.If, ast.IfExp)
                ) or (isinstance(inner, ast.Constant) and type(inner.value) in {int, bool}):
                    yield inner


def changed(node: ast.AST) -> None:
    """Break a node in place."""
    if isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()  # type: ignore[assignment]
    elif isinstance(node, (ast.BinOp, ast.BoolOp)):
        node.op = SWAPS.get(type(node.op), ast.Sub)()  # type: ignore[assignment]
    elif isinstance(node, (ast.If, ast.IfExp)):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Constant):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1


def draw(folder: str, count: int, dice: random.Random) -> list[Break]:
    """Breaks of a room, each file as likely as it has places."""
    source = ROOT / "src/burstline"
    paths = sorted(source.glob(folder) if "*" in folder else (source / folder).rglob("*.py"))
    found = [(path, k) for path in paths for k, _ in enumerate(places(parsed(path)))]
    return [broken(path, k) for path, k in dice.sample(found, min(count, len(found)))]


def parsed(path: Path) -> ast.Module:
    """The syntax of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def broken(path: Path, number: int) -> Break:
    """The break at a place of a file."""
    tree = parsed(path)
    node = list(places(tree))[number]
    old, line = ast.unparse(copy.deepcopy(node)), getattr(node, "lineno", 0)
    last = getattr(node.test if isinstance(node, ast.If) else node, "end_lineno", line)
    changed(node)
    return Break(path, line, last, old, ast.unparse(node), ast.unparse(tree))


def tests_of(words: str) -> list[str]:
    """The test files of a room, quick ones first, slow ends left out."""
    files = [
        path for name in FOLDERS for path in sorted((ROOT / "tests" / name).glob("test_*.py"))
    ]
    return [str(path) for path in files if any(word in path.stem for word in words.split())]


def executing(
    tests: list[str], scratch: Path
) -> tuple[coverage.CoverageData, dict[str, float]]:
    """Which tests execute each line, and the seconds of each; it ends if any of them fails."""
    data, settings = scratch / "coverage", scratch / "coverage.ini"
    settings.write_text(
        f"[run]\ndata_file = {data}\nsource = {scratch}/src\n", encoding="utf-8"
    )
    words = ["-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest"]
    if run([*words, "-p", "experiments.mutation.contexts", *_PYTEST, *tests], scratch):
        sys.exit("tests fail without any break")
    measured = coverage.CoverageData(str(data))
    measured.read()
    lines = Path(f"{data}.seconds").read_text(encoding="utf-8").splitlines()
    Path(f"{data}.seconds").unlink()
    pairs = [line.split(" ", 1) for line in lines]
    return measured, {test: float(seconds) for seconds, test in pairs}


def tests_on(
    mutant: Break, measured: coverage.CoverageData, seconds: dict[str, float], scratch: Path
) -> list[str]:
    """The tests that execute a break, the quick ones first."""
    lines = measured.contexts_by_lineno(str(_copied(mutant, scratch)))
    found = {
        test for line in range(mutant.line, mutant.last + 1) for test in lines.get(line, [])
    }
    return sorted(found - {""}, key=lambda test: (seconds[test], test))


def survives(mutant: Break, tests: list[str], scratch: Path) -> bool:
    """Whether no test notices a break."""
    copied, names = _copied(mutant, scratch), scratch / "tests.txt"
    kept = copied.read_text(encoding="utf-8")
    copied.write_text(mutant.text, encoding="utf-8")
    names.write_text("\n".join(tests), encoding="utf-8")
    try:
        words = ["-m", "pytest", *_PYTEST, f"@{names}"]
        return not tests or not run(words, scratch, most=CPU_LIMIT)
    finally:
        copied.write_text(kept, encoding="utf-8")


def run(words: list[str], scratch: Path, *, most: int = resource.RLIM_INFINITY) -> int:
    """The status of Python on our tests, with the copy of the package."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{scratch / 'src'}:{os.environ.get('PYTHONPATH', '')}",
        "HYPOTHESIS_PROFILE": "quick",
    }
    return subprocess.run(  # noqa: S603 -- of our own tests
        [sys.executable, *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (most, most)),
    ).returncode


def _copied(mutant: Break, scratch: Path) -> Path:
    return scratch / "src/burstline" / mutant.path.relative_to(ROOT / "src/burstline")


def main() -> None:
    """Print the breaks that survive, and below those of a room its row of the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="*", choices=[*ROOMS, []], metavar="ROOM")
    parser.add_argument("--count", type=int, default=40, help="breaks of each room (40)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        shutil.copytree(ROOT / "src", scratch / "src")
        for room in options.rooms or ROOMS:
            inside, words = ROOMS[room]
            tests = tests_of(words)
            drawn = draw(inside, options.count, random.Random(f"{options.seed} {room}"))  # noqa: S311
            measured, seconds = executing(tests, scratch)
            left = []
            for number, mutant in enumerate(drawn, 1):
                print(f"{room}: {number} of {len(drawn)}", file=sys.stderr, flush=True)
                chosen = tests_on(mutant, measured, seconds, scratch)
                if survives(mutant, chosen, scratch):
                    left.append(mutant)
                    place = f"{mutant.path.relative_to(ROOT)}:{mutant.line}"
                    of = f"{len(chosen)} tests execute it"
                    print(f"    {place}: {mutant.old!r} -> {mutant.new!r}; {of}", flush=True)
            caught = len(drawn) - len(left)
            print(
                f"| {room} | {len(drawn)} | {caught} | {caught / len(drawn):.0%} |", flush=True
            )


if __name__ == "__main__":
    main()
