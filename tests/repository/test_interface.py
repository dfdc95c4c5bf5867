"""What the package offers is documented, declared once, and free until it is used."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys

import pytest

import burstline
from repository.face import face
from repository.source import functions, python_files, where

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
DATA_FRAMES = ("numpy", "pyarrow", "polars", "rich", "sklearn", "scipy", "pandas")


def sections(docstring):
    """Sections of a numpydoc docstring by title."""
    pieces = SECTION.split(inspect.cleandoc(docstring))
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def documented(section):
    """Names that a section of parameters lists."""
    heads = [line.split(" :")[0] for line in section.splitlines() if re.match(r"[\w*]", line)]
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


def parameters(function):
    """Names of the parameters of a function, in order."""
    takes = function.args
    named = [*takes.posonlyargs, *takes.args, *takes.kwonlyargs, takes.vararg, takes.kwarg]
    return [one.arg for one in named if one is not None and one.arg not in {"self", "cls"}]


def gives_something(function):
    """Whether the annotation says that something comes back."""
    nothing = {"None", "NoReturn", ""}
    return ast.unparse(function.returns or ast.Constant(None)).strip("'\"") not in nothing


def public_functions():
    for path in python_files("src/burstline"):
        for name, function in functions(path):
            hidden = any(part.startswith("_") for part in name.split("."))
            if not hidden:
                yield path, name, function


def test_every_public_function_says_what_it_does():
    silent = [
        f"{where(path, function)} {name}"
        for path, name, function in public_functions()
        if not ast.get_docstring(function) and not inside_a_function(path, name)
    ]

    assert not silent


def inside_a_function(path, name):
    outer = name.rpartition(".")[0]
    return outer in {other for other, _ in functions(path)}


def test_what_a_docstring_says_of_parameters_is_what_the_signature_takes():
    wrong = []
    for path, name, function in public_functions():
        told = sections(ast.get_docstring(function) or "").get("Parameters")
        if told is not None and set(documented(told)) != set(parameters(function)):
            wrong.append(f"{where(path, function)} {name}: {documented(told)}")

    assert not wrong


def test_a_docstring_promises_a_result_exactly_where_there_is_one():
    wrong = []
    for path, name, function in public_functions():
        told = sections(ast.get_docstring(function) or "")
        result = bool({"Returns", "Yields"} & set(told))
        if "Parameters" in told and gives_something(function) != result:
            wrong.append(f"{where(path, function)} {name}")

    assert not wrong


@pytest.mark.parametrize(
    "name", sorted(name for package, name in face() if package == "burstline")
)
def test_a_public_name_is_documented_in_full(name):
    public = getattr(burstline, name)
    told = sections(public.__doc__)
    if inspect.isfunction(public):
        takes = list(inspect.signature(public).parameters)
        assert documented(told["Parameters"]) == takes
        assert "Returns" in told or inspect.signature(public).return_annotation == "None"
    else:
        assert public.__doc__


def loaded_by(program):
    """Top-level modules of a fresh interpreter after a program."""
    code = f"{program}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["info", "--help"]])
def test_help_loads_nothing_that_holds_data(words):
    program = f"""
from burstline.cli import main
try:
    main({words!r})
except SystemExit:
    pass"""

    assert loaded_by(program).isdisjoint(DATA_FRAMES)


def test_importing_the_package_loads_nothing_that_holds_data():
    assert loaded_by("import burstline").isdisjoint(DATA_FRAMES)


def test_info_loads_neither_polars_nor_machine_learning():
    program = """
from burstline.cli import main
from burstline.cli.commands.demo import shipped_trace
main(["info", str(shipped_trace()), "--quiet"])"""

    assert loaded_by(program).isdisjoint({"polars", "sklearn", "scipy", "pandas"})
