"""The notebooks of the docs show what their cells show today: else ``make images``."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def script():
    """The script that runs notebooks, as a module."""
    spec = importlib.util.spec_from_file_location("make_notebooks", DOCS / "make_notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_run_again_shows_what_it_shows(script, path, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    kept = json.loads(path.read_text(encoding="utf-8"))

    made = script.executed(kept)

    assert made == kept, "make images"
    assert script.text_of(made) == path.read_text(encoding="utf-8")
    assert any(
        "text/html" in each.get("data", {})
        for cell in made["cells"]
        for each in cell.get("outputs", ())
    )


def test_an_index_leads_to_each_notebook():
    index = (DOCS / "notebooks" / "index.md").read_text(encoding="utf-8")

    assert len(NOTEBOOKS) == 3
    assert all(f"({path.name})" in index for path in NOTEBOOKS)


def test_a_cell_shows_what_it_prints_and_what_its_last_line_is_worth(script):
    names = {}

    first = script.outputs_of("x = 2\nprint(x)\nx + 1", names, 1)
    second = script.outputs_of("x = x", names, 2)

    assert first[0]["text"] == ["2\n"]
    assert first[1]["data"] == {"text/plain": ["3"]}
    assert second == []


def test_a_cell_that_fails_ends_the_run(script):
    with pytest.raises(ZeroDivisionError):
        script.outputs_of("1 / 0", {}, 1)
