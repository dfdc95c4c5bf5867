"""What the pages tell people to do can be done."""

from __future__ import annotations

import os
import re

import pytest

from burstline.cli.parser import command_parsers
from repository.source import ROOT, where

LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page.parts]


def code_of(page):
    return CODE.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=where)
def test_links_lead_somewhere(page):
    targets = LINK.findall(CODE.sub("", page.read_text(encoding="utf-8")))

    assert not [target for target in targets if not (page.parent / target).exists()]


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
            options = {word.partition("=")[0] for word in words if word.startswith("--")}
            if name not in known or not options <= set(known[name]._option_string_actions):
                wrong.append(line)

    assert not wrong


def test_every_command_has_its_guide():
    guides = {path.stem for path in (ROOT / "docs" / "guides").glob("*.md")}
    told_elsewhere = {"completion", "demo", "c++"}  # with cc
    told_elsewhere |= {"clocks", "phases", "signature"}  # with retime, and with predict

    assert set(command_parsers()) - told_elsewhere <= guides


@pytest.mark.parametrize("script", sorted((ROOT / ".ci").iterdir()), ids=where)
def test_scripts_can_be_run(script):
    assert os.access(script, os.X_OK)
