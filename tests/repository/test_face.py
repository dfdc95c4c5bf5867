"""The names for everybody are few and declared; pages and examples use no others."""

from __future__ import annotations

import doctest
import inspect
import re
import tomllib
from importlib import import_module

import pytest

from burstline.doors import names_of
from repository.face import (
    blocks_of,
    doors,
    dotted,
    face,
    imports_of,
    is_public,
    names_behind,
    names_in,
)
from repository.source import PACKAGE, ROOT, python_files, where

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page.parts]
BELOW = {"burstline.columns"}  # whose marks of absent values are a part of the schema
ROOMS = [path.parent for path in PACKAGE.glob("*/__init__.py") if path.parent.name != "cli"]
ROOMS += [path.parent for path in (PACKAGE / "formats").glob("*/__init__.py")]
MODULES = {f"burstline.{path.stem}" for path in PACKAGE.glob("*.py")}
SCRIPTS = [*python_files("docs"), *python_files("examples")]


@pytest.mark.parametrize("page", PAGES, ids=where)
def test_a_page_imports_public_names_only(page):
    wrong = [
        name for code in blocks_of(page) for name in imports_of(code) if name not in face()
    ]

    assert not wrong


@pytest.mark.parametrize("page", PAGES, ids=where)
def test_a_page_mentions_public_names_only(page):
    mentioned = names_in(page.read_text(encoding="utf-8"))

    assert not [name for name in mentioned if not is_public(name)]


def test_every_public_name_is_in_the_reference():
    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    words = set(re.findall(r"\w+", page))

    assert {name for _, name in face()} - words <= {"__version__"}


def test_examples_of_public_names_import_public_names_only():
    wrong = [
        f"{package}.{name}: {used}"
        for package, name in sorted(face())
        for used in imports_of(example_of(getattr(import_module(package), name)))
        if used not in face()
    ]

    assert not wrong


def example_of(public):
    """Code in the examples of a docstring, and of those of a class's members."""
    members = vars(public).values() if inspect.isclass(public) else ()
    documented = [inspect.getdoc(one) for one in (public, *members) if callable(one)]
    parse = doctest.DocTestParser().get_examples
    return "".join(example.source for text in documented for example in parse(text or ""))


def test_examples_inside_import_through_doors_or_from_their_own_room():
    wrong = []
    for path in python_files("src/burstline"):
        room = ".".join(dotted(path).split(".")[:2])
        examples = doctest.DocTestParser().get_examples(path.read_text(encoding="utf-8"))
        for package, name in imports_of("".join(example.source for example in examples)):
            behind = names_behind(package)[0] if package in doors() else ()
            is_module = package in MODULES  # that stands in no room
            known = name in behind or (package, name) in face()
            if not (known or is_module or room in package):
                wrong.append(f"{where(path)}: {package}.{name}")

    assert not wrong


@pytest.mark.parametrize("script", SCRIPTS, ids=where)
def test_scripts_of_the_pages_go_through_doors(script):
    wrong = [
        (package, name)
        for package, name in imports_of(script.read_text(encoding="utf-8"))
        if (package, name) not in face()
        and not (package in doors() and name in names_behind(package)[0])
        and package.partition(".")[2].partition(".")[0] != "cli"
    ]

    assert not wrong


@pytest.mark.parametrize("room", ROOMS, ids=where)
def test_a_room_has_a_door_and_nobody_may_pass_it_by(room):
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    protected = {
        module for one in contracts["contracts"] for module in one.get("protected_modules", ())
    }
    door = dotted(room / "__init__.py")
    around = door.rpartition(".")[0]

    assert (room / "__init__.pyi").is_file()
    assert f"{around}.*.*" in protected or any(
        name.startswith(f"{door}.") for name in protected
    )


@pytest.mark.parametrize("door", doors())
def test_a_door_leads_to_everything_it_names(door):
    homes, public = names_behind(door)
    module = import_module(door)

    assert names_of(str(doors()[door]))[0] == homes
    assert set(module.__all__) == set(public)
    assert set(dir(module)) == set(public)
    assert [getattr(module, name) for name in homes]


@pytest.mark.parametrize("door", doors())
def test_a_door_names_for_everybody_what_stands_above(door):
    homes, public = names_behind(door)

    assert set(list(homes)[: len(public)]) == set(public)


@pytest.mark.parametrize("door", doors())
def test_a_door_is_a_door_only(door):
    code = doors()[door].with_suffix(".py").read_text(encoding="utf-8").splitlines()
    said = [line for line in code if line.startswith(("def ", "class ", "@"))]

    assert not said


@pytest.mark.parametrize("door", sorted(set(doors()) - {"burstline", "burstline.plots"}))
def test_a_door_leads_into_its_own_room(door):
    homes, _ = names_behind(door)

    assert {home for home in homes.values() if not home.startswith(f"{door}.")} <= BELOW


def test_no_module_takes_from_the_door_of_its_own_room():
    # A door hides who imports whom, so that a circle through it would not be seen.
    wrong = []
    for path in python_files("src/burstline"):
        for package, name in imports_of(path.read_text(encoding="utf-8")):
            inside = dotted(path).startswith(f"{package}.") and package in doors()
            if inside and package != "burstline" and name in names_behind(package)[0]:
                wrong.append(f"{where(path)}: {package}.{name}")

    assert not wrong


@pytest.mark.parametrize("door", doors())
def test_no_name_of_a_door_is_that_of_a_module_behind_it(door):
    folder = PACKAGE.parent / door.replace(".", "/")
    modules = {path.stem for path in folder.glob("*") if path.suffix in {".py", ""}}
    homes, _ = names_behind(door)

    assert not [name for name, home in homes.items() if name in modules and home != "."]


def test_a_door_knows_no_other_name():
    module = import_module("burstline.merge")

    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = module.nothing
