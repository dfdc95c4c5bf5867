"""The first screen of a page: five questions are answered, and each number leads on."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from burstline.answers import Fact, text_of
from command import document_of, page_of
from stories import STORIES

DATA = files("burstline") / "data"
SHIPPED = {"heat": DATA / "heat.prv.gz", "lulesh": DATA / "lulesh_8r.prv.gz"}


class Seen(HTMLParser):
    """What stands in the first section of a page, its links, and all places of the page."""

    def __init__(self, markup):
        super().__init__()
        self.places, self.links, self.text = set(), [], ""
        self._is_inside, self._is_link = False, False
        self.linked = []
        self.feed(markup)
        self.close()

    def handle_starttag(self, name, attributes):
        attributes = dict(attributes)
        self.places.add(attributes.get("id"))
        if name == "section":
            self._is_inside = attributes["id"] == "verdict"
        if name == "a" and self._is_inside:
            self.links.append(attributes)
            self._is_link = True
        if self._is_inside and name in ("p", "tr", "td", "li", "span", "dd", "dt", "h1"):
            self.text += " "

    def handle_endtag(self, name):
        self._is_link = self._is_link and name != "a"

    def handle_data(self, data):
        if self._is_inside:
            self.text += data
            self.linked += [data] * self._is_link

    @property
    def words(self):
        """The text of the first section, with single blanks."""
        return " ".join(self.text.split())


def seen(folder, trace):
    return Seen(page_of(folder, trace).read_text(encoding="utf-8"))


def said_of(name):
    """All sentences of the first screen."""
    data = document_of("report", SHIPPED[name])
    section = data["sections"]["verdict"]
    said = list(section["headline"])
    for answer in section["answers"]:
        said += [*answer["sentences"], *answer["notes"]]
    return said


def answered(page, *, step, cost, efficiency, who, lines):
    """The five questions: each with its answer in the text of the first screen."""
    for answer in (step, cost, *efficiency, *who, *lines):
        assert answer in page.words


def test_five_questions_are_answered_of_the_run_that_demo_shows(tmp_path):
    answered(
        seen(tmp_path, SHIPPED["heat"]),
        step="A step takes 15.7 ms",
        cost="44 steps are 97.4 % of the 709 ms from MPI_Init to MPI_Finalize",
        efficiency=["Parallel efficiency is 53.3 %.", "worst factor is load balance, 53.4 %"],
        who=["rank 1 for rank 2 427 ms", "Rank 2 is waited for most, 986 ms"],
        lines=["most in MPI_Waitall at heat.c:45", "the late rank was in relax (heat.c:48)"],
    )


def test_five_questions_are_answered_of_lulesh(real_traces, tmp_path):
    answered(
        seen(tmp_path, real_traces / "lulesh_8r_s4_i10_run1.prv.gz"),
        step="A step takes 35.4 ms",
        cost="10 steps are 87.3 % of the 405 ms from MPI_Init to MPI_Finalize",
        efficiency=["Parallel efficiency is 1.8 %.", "The worst factor is transfer, 7.2 %"],
        who=["rank 0 for rank 4 64.1 ms", "Rank 4 is waited for most, 184 ms"],
        lines=["MPI_Waitall at lulesh-comm.cc:843", "MPI_Allreduce at lulesh.cc:186"],
    )


@pytest.mark.parametrize("name", SHIPPED)
def test_each_number_of_an_answer_leads_to_its_place_and_names_its_command(name, tmp_path):
    page = seen(tmp_path, SHIPPED[name])

    assert len(page.links) > 15
    for link in page.links:
        assert link["href"].removeprefix("#") in page.places
        assert re.match(r"burstline (structure|info|waits) ", link["title"])
    numbers = [text_of(Fact(**fact)) for each in said_of(name) for fact in each["facts"]]
    assert len(numbers) > 15
    assert set(numbers) <= set(page.linked)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_whatever_the_program_did_links_lead_somewhere(story, tmp_path):
    page = seen(tmp_path, story.write(tmp_path, "txt"))

    assert {link["href"].removeprefix("#") for link in page.links} <= page.places


@pytest.mark.parametrize("name", SHIPPED)
def test_a_sentence_has_thirty_words_at_most(name):
    said = said_of(name)

    assert len(said) > 10
    assert all(len(each["sentence"].split()) <= 30 for each in said)


def test_data_of_the_first_screen_are_those_of_info():
    data, info = (document_of(name, SHIPPED["heat"]) for name in ("report", "info"))

    section = data["sections"]["verdict"]
    assert data["verdict"] == info["verdict"]
    for name in ("verdict", "checks", "per_rank", "missing"):
        assert section[name] == info[name]
    assert sum(section["kinds_ns"].values()) == section["whole_ns"]


@pytest.mark.needs("chromium")
@pytest.mark.parametrize("name", SHIPPED)
def test_the_answers_are_on_the_first_screen_without_javascript(name, tmp_path, browser):
    page = browser.new_page(viewport={"width": 1280, "height": 900}, java_script_enabled=False)

    page.goto(f"file://{page_of(tmp_path, SHIPPED[name])}")

    for picture in ("h1", ".strip svg", ".strip .legend", ".verdict", ".trust"):
        box = page.locator(picture).first.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 900
        assert box["x"] + box["width"] <= 1280
    pictures = page.locator(".verdict .picture")
    assert pictures.count() >= 4
    for at in range(pictures.count()):
        row = pictures.nth(at)
        assert row.evaluate("each => each.scrollWidth <= each.clientWidth")
    page.close()
