"""The panes of waits: each metric whole by call path and by thread, however many there are."""

from __future__ import annotations

import json
import os
import re
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

import burstline
from burstline.show.page import panes as room
from burstline.show.page.panes import panes, panes_of
from burstline.testing import trace_of
from stories import STORIES

SCRIPT = files("burstline.show.page") / "assets" / "panes.js"
TESTS = Path(__file__).parents[1] / "javascript"


def waits_of(ranks=3):
    """Ranks that come to a barrier one after the other, each from its own line."""
    paths = " | ".join(f"path {k + 1} f{k} file a.c line {k} under 0" for k in range(ranks))
    lines = " | ".join(
        f"{k} | 0 enter MPI_Init | 1 leave | {10 + 5 * k} enter MPI_Barrier path {k + 1} "
        f"| {10 + 5 * k} begin | {10 + 5 * ranks} end | {10 + 5 * ranks} leave"
        for k in range(ranks)
    )
    head = f"ranks {ranks} | path 0 main file a.c line 1 | {paths}"
    return burstline.wait_states(trace_of(f"{head} | {lines}"))


def known(story, tmp_path):
    try:
        return burstline.wait_states(burstline.read(story.write(tmp_path, "txt")))
    except burstline.errors.BurstlineError:
        return None


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_values_of_paths_and_threads_are_those_of_the_profile(story, tmp_path):
    waits = known(story, tmp_path)
    if waits is None:
        return

    made = panes_of(waits)

    titles = dict(
        zip(*(waits.profile.metrics[k].to_pylist() for k in ("name", "title")), strict=True)
    )
    told = {node.name for node in made.metrics}
    shown = [name for name in waits.profile.stored if titles[name] in told]
    assert set(made.totals()) <= {waits.profile.total(name) for name in shown}
    for metric, total in enumerate(made.totals()):
        tops = [k for k, node in enumerate(made.paths) if node.parent < 0]
        assert sum(made.of_paths(metric)[tops]) == total
        tops = [k for k, node in enumerate(made.threads) if node.parent < 0]
        assert sum(made.of_threads(metric)[tops]) == total


def test_a_tree_has_parents_before_their_children():
    made = panes_of(waits_of())

    for nodes in (made.metrics, made.paths, made.threads):
        assert all(node.parent < row for row, node in enumerate(nodes))
    depth = {node.name: node.parent for node in made.metrics}
    assert depth["Time"] == -1
    assert made.metrics[made.picked].name == "Wait at Barrier"


def test_of_many_call_paths_the_rest_is_told_with_its_callers_or_as_others(monkeypatch):
    monkeypatch.setattr(room, "_SIZES", ((0, 128),))
    made = panes_of(waits_of())
    assert [node.name for node in made.paths] == ["other call paths"]
    assert made.of_paths(0).tolist() == [made.totals()[0]]

    monkeypatch.setattr(room, "_SIZES", ((6, 128),))
    made = panes_of(waits_of(20))
    assert len(made.paths) <= 6 + 1
    assert made.left_out > 0

    monkeypatch.setattr(room, "_SIZES", ((400, 128), (400, 5)))
    monkeypatch.setattr(room, "_MOST_VALUES", 100)
    fewer = panes_of(waits_of(20))  # many values make fewer rows
    assert [node.name for node in fewer.threads] == ["0-3", "4-7", "8-11", "12-15", "16-19"]

    monkeypatch.undo()
    assert made.totals() == fewer.totals() == panes_of(waits_of(20)).totals()


def test_of_many_ranks_neighbours_share_a_row():
    made = panes_of(waits_of(300))

    assert len(made.threads) == 100
    assert made.threads[0].name == "0-2"
    assert made.totals() == [int(waits_of(300).profile.total(n)) for n in names(made)]


def names(made):
    waits = waits_of()
    by_title = {}
    for row in waits.profile.metrics.to_pylist():
        by_title.setdefault((row["title"], row["description"]), row["name"])
    return [by_title[node.name, node.said] for node in made.metrics]


def test_without_a_script_the_panes_are_tables():
    markup = panes(waits_of())

    assert markup.count("<table") == 3
    assert "Wait at Barrier is 15 ns" in markup
    data = json.loads(re.search(r'id="panes-data">(.*?)</script>', markup)[1])
    assert data["metrics"]["name"][data["picked"]] == "Wait at Barrier"
    assert data["threads"]["name"] == ["rank 0", "rank 1", "rank 2"]


@pytest.mark.needs("node")
def test_the_script_divides_and_folds(node):
    environment = {**os.environ, "PANES": str(SCRIPT)}
    subprocess.run([*node, "--test", str(TESTS / "panes.test.js")], check=True, env=environment)
