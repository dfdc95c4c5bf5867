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
TEXT = re.compile(r"<text[^>]*>(.*?)</text>|<!-- (.*?) -->|<title>(.*?)</title>", re.DOTALL)


def texts(svg):
    """All that a picture says, and how many marks it has."""
    words = ["".join(found).replace("&#160;", " ").strip() for found in TEXT.findall(svg)]
    return [word for word in words if word], svg.count("<use "), svg.count("<path ")


@pytest.mark.parametrize("script", MADE_BY)
def test_pictures_drawn_again_are_those_of_the_pages(script, tmp_path, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    spec = importlib.util.spec_from_file_location(script, DOCS / f"{script}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "IMAGES", tmp_path)

    module.draw_all()

    assert {path.stem for path in tmp_path.iterdir()} == MADE_BY[script]
    for drawn in tmp_path.iterdir():
        kept = DOCS / "images" / drawn.name
        assert texts(drawn.read_text()) == texts(kept.read_text()), "make images"


def test_every_picture_is_made_by_a_script():
    assert {path.stem for path in (DOCS / "images").iterdir()} == set.union(*MADE_BY.values())
