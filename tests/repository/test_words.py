"""Texts of the library name parameters, which Python and the command line have both."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import burstline
from burstline.cli.declared import DECLARED
from burstline.cli.parser import COMMANDS
from burstline.show import in_options, options

_SOURCE = Path(burstline.__file__).parent
_OTHERS = (
    "cli/",
    "show/page/",
    "record/building/",
    "record/launching/command_line.py",
    "record/launching/mpi.py",
)
"""The command line, its page, and what hands options to compilers and launchers."""
_OPTION = re.compile(r"(?<![\w-])--[a-z](?!pi=pm)")


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that are no documentation."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documents = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in documents:
            yield node.lineno, node.value


def test_no_text_of_the_library_names_an_option():
    modules = [
        path
        for path in _SOURCE.rglob("*.py")
        if not path.relative_to(_SOURCE).as_posix().startswith(_OTHERS)
        and path.name != "options.py"
    ]
    assert len(modules) > 200
    named = [
        f"{path.relative_to(_SOURCE)}:{line}: {text}"
        for path in modules
        for line, text in _texts(path)
        if _OPTION.search(text)
    ]
    assert named == []


def test_parameters_are_worded_as_options_that_exist():
    declared = " ".join(
        str(import_module(f"burstline.cli.commands.{module}").OPTIONS)
        for module in {*COMMANDS.values()}
        if module not in DECLARED
    )
    assert [each for each in options._OPTIONS.values() if each not in declared] == []


def test_what_is_no_parameter_stays():
    assert in_options("`evil` `memory`s `start_ns=<b>`") == "`evil` --memorys --from <b>ns"
