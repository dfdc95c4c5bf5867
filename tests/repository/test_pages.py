"""What the pages tell people to do can be done, and their links lead somewhere.

A link is followed as a code host shows the pages, by files and headings, which is stricter
than ``make docs``; that fails on links that the built pages lack.
"""

from __future__ import annotations

import os
import re
from collections import Counter

import pytest

from burstline.cli.parser import command_parsers
from repository.source import ROOT, where

LINK = re.compile(r"(?<!\\)\]\((?!https?:|mailto:)([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
OPTION = re.compile(r"--|-[a-z]$")
HEADING = re.compile(r"^#{1,6} +(.*?) *$", re.MULTILINE)
TEST = re.compile(r"`([\w/]+\.py)?::(test_\w+)`")
ROLE = re.compile(r"\{[a-z:]+\}`")
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page.parts]
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
OF_BENCHMARKS = {"--check", "--quick", "--size"}  # which are no command of burstline


def code_of(page):
    return CODE.findall(page.read_text(encoding="utf-8"))


def anchors(page):
    """The names that a code host gives to the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    names = Counter()
    for heading in HEADING.findall(text):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        yield name if not names[name] else f"{name}-{names[name]}"
        names[name] += 1


@pytest.mark.parametrize("page", PAGES, ids=where)
def test_links_lead_somewhere(page):
    lost = []
    for link in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(link)

    assert not lost


@pytest.mark.parametrize("page", PAGES, ids=where)
def test_tests_that_a_page_names_are_there(page):
    lost, file = [], ""
    for named, test in TEST.findall(page.read_text(encoding="utf-8")):
        file = named or file  # of several tests of a file, the first names it
        source = ROOT / "tests" / file
        if not source.is_file() or f"def {test}(" not in source.read_text(encoding="utf-8"):
            lost.append(f"{file}::{test}")

    assert not lost


@pytest.mark.parametrize("page", PAGES, ids=where)
def test_links_are_such_that_a_code_host_shows_them(page):
    text = page.read_text(encoding="utf-8")

    assert ROLE.findall(text) == []
    assert "[](" not in text
    assert "```{image}" not in text


@pytest.mark.parametrize("page", PAGES, ids=where)
def test_targets_of_make_exist(page):
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = {
        word
        for code in code_of(page)
        for word in re.findall(r"^\W*make ([a-z-]+)", code, re.MULTILINE)
    }

    assert named <= targets


@pytest.mark.parametrize("page", PAGES, ids=where)
def test_commands_of_burstline_exist_and_take_the_options_shown(page):
    known = command_parsers()
    wrong = []
    for code in code_of(page):
        for line in re.findall(r"(?:^|`|\$ )burstline ([a-z][^`\n|>#;]*)", code, re.MULTILINE):
            name, *words = line.partition(" -- ")[0].split()
            options = {word.partition("=")[0] for word in words if OPTION.match(word)}
            if name not in known or not options <= set(known[name]._option_string_actions):
                wrong.append(line)

    assert not wrong


@pytest.mark.parametrize("page", GUIDES, ids=where)
def test_options_named_alone_are_those_of_a_command(page):
    known = {option for parser in command_parsers().values()
             for option in parser._option_string_actions}  # fmt: skip
    named = set(re.findall(r"`(--[a-z][a-z-]*)", page.read_text(encoding="utf-8")))

    assert named - known <= OF_BENCHMARKS


def test_every_command_has_its_guide():
    guides = {path.stem for path in (ROOT / "docs" / "guides").glob("*.md")}
    told_elsewhere = {"completion", "demo", "c++"}  # with cc
    told_elsewhere |= {"clocks", "phases", "signature"}  # with retime, and with predict

    assert set(command_parsers()) - told_elsewhere <= guides


def test_every_guide_is_a_row_of_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    guides = {path.name for path in (ROOT / "docs" / "guides").glob("*.md")} - {"index.md"}

    assert {name for name in guides if f"(docs/guides/{name}" not in readme} == set()


@pytest.mark.parametrize("script", sorted((ROOT / ".ci").iterdir()), ids=where)
def test_scripts_can_be_run(script):
    assert os.access(script, os.X_OK)
