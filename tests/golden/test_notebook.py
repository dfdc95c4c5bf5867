"""Every public result that a notebook shows is shown, whatever trace it is of."""

from __future__ import annotations

import importlib
import inspect
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path

import pytest

import burstline
from repository.face import face

PACKAGE = Path(burstline.__file__).parent
SHIPPED = sorted(
    path
    for folder in (PACKAGE / "data", Path(__file__).parent / "recorded")
    for path in folder.glob("*.prv.gz")
)
EMPTY = {"br", "col", "hr", "img", "meta"}


def views(run):
    """Show each result of one run that has a view."""
    for analysis in (run.summary, run.structure, run.waits, run.phases):
        with suppress(burstline.NotEnoughDataError):  # some have no loop, or no phase
            yield burstline.show.view(analysis())


RESULTS = {
    "Page": lambda run: [burstline.show.report(run)],
    "Trace": lambda run: [run.trace],
    "Structure": lambda run: [run.structure()],
    "View": views,
}
"""How results of each public class that says how it looks in a notebook are made."""


class Page(HTMLParser):
    """A page whose elements close in the order in which they were opened."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):  # noqa: ARG002 -- as HTMLParser has it
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def shown(path):
    run = burstline.open(burstline.select(burstline.read(path), application=0))
    for make in RESULTS.values():
        for result in make(run):
            page = Page()
            page.feed(result._repr_html_())
            page.close()
            assert not page.open


def test_every_public_class_that_says_how_it_looks_is_looked_at_here():
    public = {name: getattr(importlib.import_module(package), name) for package, name in face()}
    classes = {name for name, value in public.items() if inspect.isclass(value)}

    assert {name for name in classes if hasattr(public[name], "_repr_html_")} == set(RESULTS)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_results_of_the_traces_that_are_shipped_are_shown(path):
    shown(path)


def test_results_of_real_traces_are_shown(real_traces):
    patterns = ("*.prv.gz", "fixtures/*.prv", "otf2/*/*.otf2")
    for path in sorted(path for pattern in patterns for path in real_traces.glob(pattern)):
        shown(path)
