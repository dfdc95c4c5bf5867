"""The kernels keep their shape: headers include each other one way, and say what they know."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter

from repository.source import ROOT

HEADERS = {path.name: path.read_text() for path in sorted((ROOT / "core").glob("*.hpp"))}


def included(text):
    return re.findall(r'^#include "(.+)"$', text, re.MULTILINE)


def test_no_header_includes_itself_on_a_way_round():
    TopologicalSorter({name: included(text) for name, text in HEADERS.items()}).prepare()


def test_a_header_knows_no_binding():
    assert not [name for name, text in HEADERS.items() if "bind.hpp" in included(text)]


def test_a_header_says_what_it_is_and_what_it_knows():
    for name, text in HEADERS.items():
        comment, _, _ = text.partition("#pragma once")
        assert comment.startswith(f"// {name} -- "), name
        assert re.search(r"\bknows no(thing of)?\b", comment), name


def test_a_binding_knows_no_other():
    parts = (ROOT / "core").glob("bind_*.cpp")
    codes = {path.stem: path.read_text(encoding="utf-8") for path in parts}

    assert len(codes) > 5
    for name, code in codes.items():
        assert codes.keys() & re.findall(r"\bbind_\w+(?=\()", code) <= {name}
