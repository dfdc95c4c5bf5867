"""The code keeps the shape agreed on: names, sizes of data, nothing unfinished."""

from __future__ import annotations

import ast
import re
import tomllib

from repository.source import PACKAGE, ROOT, python_files, text_files, tree, where

MOST_BYTES_OF_DATA = 100_000
FIRST_EVENT_TYPE, LAST_EVENT_TYPE = 30_000_000, 90_000_000
NAMELESS = {"utils", "util", "helpers", "common", "misc", "base", "core", "manager", "handler"}
UNFINISHED = re.compile(
    r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b|NotImplemented" + r"Error"
    r"|pytest\.(?:mark\.)?(?:sk" + r"ip|xf" + r"ail)"
)
POSSESSIVE = re.compile(r"\)(?:[*+?]|\{[\d,]*\})\+|\(\?>")
FOREIGN = re.compile(r"(?<![\w.}])/(?:work|root|home)/|\bpypi\.|pythonhosted")


def test_modules_are_called_by_what_they_hold():
    modules = python_files("src", "benchmarks", "experiments", "tests")

    assert not [where(path) for path in modules if path.stem in NAMELESS]
    assert not [where(path) for path in modules if path.parent.name in NAMELESS]


def test_event_types_are_written_in_one_table_and_named_everywhere_else():
    literals = [
        f"{where(path, node)}: {node.value}"
        for path in python_files("src")
        if path != PACKAGE / "extrae" / "event_types.py"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant)
        and type(node.value) is int
        and FIRST_EVENT_TYPE <= node.value < LAST_EVENT_TYPE
    ]

    assert not literals


def found(pattern, texts):
    """The lines of some files that a pattern is found in."""
    return [
        f"{where(path)}:{number}: {line.strip()[:80]}"
        for path, text in texts
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    ]


def test_nothing_is_left_unfinished_or_depends_on_the_machine_it_was_written_on():
    assert not found(UNFINISHED, text_files())
    others = [each for each in text_files() if each[0].name != "test_shape.py"]
    assert not found(FOREIGN, others)


def test_no_pattern_repeats_a_group_possessively():
    # Python before 3.11.5, which Debian 12 has, does not match them right (cpython #106052).
    sources = ((path, path.read_text(encoding="utf-8")) for path in python_files("src"))
    assert not found(POSSESSIVE, sources)


def test_data_in_the_repository_is_small():
    data = [*PACKAGE.rglob("data/*"), *(ROOT / "tests").rglob("*"), *(ROOT / "core").rglob("*")]
    large = [
        where(path)
        for path in data
        if path.is_file()
        and "__pycache__" not in path.parts
        and path.stat().st_size > MOST_BYTES_OF_DATA
    ]

    assert not large


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    version = project["version"]
    package = (PACKAGE / "__init__.py").read_text()
    citation = (ROOT / "CITATION.cff").read_text()

    assert f'__version__: Final = "{version}"' in package
    assert f"\nversion: {version}\n" in citation


def test_a_changelog_fragment_names_its_issue_and_kind_and_is_a_sentence():
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]
    kinds = "|".join(kind["directory"] for kind in tool["type"])
    name = re.compile(rf"(?:\d+|\+[a-z-]+)\.(?:{kinds})(?:\.\d+)?\.md")
    fragments = [
        path for path in (ROOT / tool["directory"]).iterdir() if path.name != "README.md"
    ]

    assert not [path.name for path in fragments if not name.fullmatch(path.name)]
    assert not [path.name for path in fragments if not path.read_text().rstrip().endswith(".")]


def test_no_command_makes_or_copies_arguments():
    made = [
        f"{where(path)}:{node.lineno}"
        for path in (PACKAGE / "cli").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and (
            ast.unparse(node.func) in {"usage.Arguments", "Arguments", "argparse.Namespace"}
            or ast.unparse(node) == "vars(arguments)"
        )
    ]

    assert not made
