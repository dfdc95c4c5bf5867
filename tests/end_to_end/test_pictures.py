"""The pictures of README and guides show what is shown today: else ``make images``."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
MADE_BY = {
    "make_images": {"structure", "browse", "cluster-plot"},
    "make_figures": {"loops-by-means", "loops-by-order"},
}
PHOTOGRAPHS = {"report"}
TEXT = re.compile(r"<text[^>]*>(.*?)</text>|<!-- (.*?) -->|<title>(.*?)</title>", re.DOTALL)


def texts(svg):
    """All that a picture says, and how many marks it has."""
    words = ["".join(found).replace("&#160;", " ").strip() for found in TEXT.findall(svg)]
    return [word for word in words if word], svg.count("<use "), svg.count("<path ")


def loaded(script):
    """A script of the docs as a module."""
    spec = importlib.util.spec_from_file_location(script, DOCS / f"{script}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("script", MADE_BY)
def test_pictures_drawn_again_are_those_of_the_pages(script, tmp_path, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    module = loaded(script)
    monkeypatch.setattr(module, "IMAGES", tmp_path)
    monkeypatch.setattr(module, "find_spec", lambda _: None, raising=False)  # no photographs

    module.draw_all()

    assert {path.stem for path in tmp_path.iterdir()} == MADE_BY[script]
    for drawn in tmp_path.iterdir():
        kept = DOCS / "images" / drawn.name
        assert texts(drawn.read_text()) == texts(kept.read_text()), "make images"


def test_every_picture_is_made_by_a_script():
    made = set.union(*MADE_BY.values(), PHOTOGRAPHS)

    assert {path.stem for path in (DOCS / "images").iterdir()} == made


def test_the_photograph_of_a_page_is_of_what_it_says_today(tmp_path, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)

    shown = loaded("make_images").first_titles(tmp_path / "page.html")

    assert shown.startswith("Verdict\n")
    assert shown.encode() in (DOCS / "images" / "report.png").read_bytes(), "make images"
