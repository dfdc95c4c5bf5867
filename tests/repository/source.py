"""The repository as the tests of its rules see it: files, and their syntax trees."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "burstline"
FOLDERS = (
    "src",
    "core",
    "tests",
    "benchmarks",
    "experiments",
    "docs",
    "changes",
    "examples",
    ".ci",
)
MADE = {"__pycache__", "_build", ".git"}


@functools.cache
def python_files(*folders):
    """Python files below some folders of the repository."""
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in found if not MADE.intersection(path.parts)]


@functools.cache
def text_files():
    """Every file a person has written, as (path, text)."""
    files = [
        path
        for path in ROOT.iterdir()
        if path.is_file() and path.suffix != ".so" and path.name != ".git"
    ]
    for folder in FOLDERS:
        files += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    read = []
    for path in sorted(files):
        if MADE.intersection(path.parts) or path.suffix in {".so", ".gz", ".png", ".pyc"}:
            continue
        try:
            read.append((path, path.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            continue
    return read


@functools.cache
def tree(path):
    """Syntax tree of a Python file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def functions(path):
    """Functions and methods of a file, nested ones too: (qualified name, node)."""

    def inside(node, prefix):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{prefix}{child.name}", child
                yield from inside(child, f"{prefix}{child.name}.")
            elif isinstance(child, ast.ClassDef):
                yield from inside(child, f"{prefix}{child.name}.")
            else:
                yield from inside(child, prefix)

    return list(inside(tree(path), ""))


def where(path, node=None):
    """How a complaint names a place."""
    line = "" if node is None else f":{node.lineno}"
    return f"{path.relative_to(ROOT)}{line}"
