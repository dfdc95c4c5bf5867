"""Pictures of a page each by itself: drawings that need nothing else."""

from __future__ import annotations

import re
from importlib.resources import files
from xml.etree import ElementTree as ET

import pytest

import burstline
from burstline import show
from burstline.testing import trace_of
from command import burstline as run

LULESH = files("burstline") / "data" / "lulesh_8r.prv.gz"
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = r"""ranks 2 threads 1
path 0 "</svg><script>alert(1)</script>" file "]]>&.c" line 10
0 | 0 enter MPI_Init | 1 leave | 10 enter MPI_Send path 0 | 12 send to 1 tag 7 bytes 8
  | 20 leave | 60 enter MPI_Finalize | 61 leave
1 | 0 enter MPI_Init | 1 leave | 5 enter MPI_Recv path 0 | 15 receive from 0 tag 7 bytes 8
  | 25 leave | 60 enter MPI_Finalize | 61 leave
"""


@pytest.fixture(scope="module")
def page():
    return show.report(burstline.open(LULESH))


def drawn(picture):
    """A picture as a tree, by a parser that knows XML alone."""
    return ET.fromstring(picture.figures()["picture"]("svg"))  # noqa: S314 -- ours


def test_pictures_are_named_after_their_sections_and_say_what_they_show(page):
    titles = {name: picture.document()["title"] for name, picture in page.pictures.items()}

    assert list(titles) == ["timeline", "code", "flame", "computing"]
    assert titles["timeline"] == page.titles["Timeline"]
    assert titles["code"] not in page.titles.values()  # the heading above the picture


def test_a_picture_is_drawn_without_the_styles_of_the_page(page):
    for picture in page.pictures.values():
        tree = drawn(picture)
        style = tree.find(f"{SVG}style").text
        classes = {name for each in tree.iter() for name in each.get("class", "").split()}

        assert "var(" not in style
        assert all(f".{name}" in style for name in classes - {"defs", "p0"} if name != "chart")
        used = set(re.findall(r'url\("#([\w-]+)"\)', style))
        assert used <= {each.get("id") for each in tree.iter()}
        assert tree.get("width") == tree.get("viewBox").split()[2]


def test_a_picture_names_the_kinds_that_it_shows(page):
    texts = [each.text for each in drawn(page.pictures["timeline"]).iter(f"{SVG}text")]

    assert {"rank 0", "rank 7", "Computing", "Late sender"} <= set(texts)
    assert "Idle threads" not in texts


def test_png_is_made_by_a_browser_and_the_refusal_says_so(page):
    with pytest.raises(burstline.ParameterError, match="click PNG"):
        page.pictures["code"].figures()["picture"]("png")


def test_labels_in_pictures_are_texts():
    hostile = show.report(burstline.open(trace_of(HOSTILE)))

    for picture in hostile.pictures.values():
        names = {each.tag.removeprefix(SVG) for each in drawn(picture).iter()}
        assert "script" not in names


def test_a_notebook_shows_titles_and_pictures(page):
    shown = page._repr_html_()

    assert shown.count("<img ") == len(page.pictures)
    assert "lulesh-comm.cc:843" in shown
    assert "<script" not in shown


def test_a_command_writes_pictures_and_replaces_none_unasked(tmp_path, page):
    folder = tmp_path / "pictures"
    words = ["report", LULESH, "-o", tmp_path / "page.html", "--pictures", folder]

    assert run(*words).returncode == 0
    assert {path.stem for path in folder.iterdir()} == set(page.pictures)
    before = (folder / "code.svg").read_bytes()
    assert before == page.pictures["code"].figures()["picture"]("svg")
    again = run(*words, "-o", tmp_path / "other.html")
    assert again.returncode == 2
    assert "code.svg" in again.stderr or "timeline.svg" in again.stderr
    assert run(*words, "--force").returncode == 0


def test_pictures_go_into_a_folder(tmp_path):
    (tmp_path / "file").write_text("mine")

    done = run("report", LULESH, "--format", "json", "--pictures", tmp_path / "file")

    assert done.returncode == 2
    assert (tmp_path / "file").read_text() == "mine"
