"""What a trace calls things is shown by every command, and obeyed by nothing that shows it."""

from __future__ import annotations

import csv

import pytest

import burstline
from command import burstline as run
from hostile import OBEYED, hostile


@pytest.fixture
def labelled(tmp_path):
    return hostile(tmp_path, r"\u202emain", "=cmd|' /C calc'!A0")


@pytest.mark.parametrize("form", ["table", "csv", "json"])
@pytest.mark.parametrize("words", ["info", "structure", "waits", "waits --by node", "table"])
def test_no_command_prints_what_a_terminal_obeys(labelled, words, form):
    command, *options = words.split()

    done = run(command, labelled, *options, "--format", form)

    assert done.returncode == 0, done.stderr
    assert not OBEYED & set(done.stdout + done.stderr)
    assert done.stdout


def test_an_error_names_a_file_without_obeying_its_name(tmp_path):
    done = run("info", tmp_path / "gone\u202e.prv")

    assert done.returncode == 2
    assert "gone\ufffd.prv" in done.stderr


def test_a_notebook_shows_a_structure_without_obeying_its_labels(labelled):
    page = burstline.detect(burstline.read(labelled))._repr_html_()

    assert "\ufffdX" in page
    assert not OBEYED & set(page)


def test_a_folder_of_csv_holds_no_formula_and_gives_every_label_back(labelled, tmp_path):
    done = run("convert", labelled, tmp_path / "run.csv")
    assert done.returncode == 0, done.stderr

    trace, again = burstline.read(labelled), burstline.read(tmp_path / "run.csv")

    for name in ("call_paths", "region_defs", "counters", "calls", "regions", "metadata"):
        assert again.table(name).to_pylist() == trace.table(name).to_pylist()
    for file in (tmp_path / "run.csv").iterdir():
        with file.open(newline="") as lines:
            found = {value for row in csv.reader(lines) for value in row}
        assert not [value for value in found if value[:1] in {"=", "@"} or OBEYED & set(value)]
