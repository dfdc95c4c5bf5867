"""What a trace calls things is shown by every command, and obeyed by nothing that shows it."""

from __future__ import annotations

import csv

import pytest

import burstline
from command import burstline as run

OBEYED = set("\u202e\u2066\u200b\x1b\x07")
LABELS = r"""ranks 2 threads 1
counter "@1+1" unit "\u202e" mode delta
path 0 "\u202emain" file "\u202e.c" line 10
path 1 "=cmd|' /C calc'!A0" file "\u001b[2J\u2066.c" line 11 under 0
0 | 0 enter "\u202ereg\u200b" @1+1=0 | 10 enter MPI_Send path 1 @1+1=3
  | 12 send to 1 tag 7 bytes 8 | 20 leave @1+1=4 | 30 enter "MPI_\u202eX" path 1 @1+1=9
  | 50 leave @1+1=10 | 60 leave
1 | 5 enter MPI_Recv path 1 @1+1=0 | 15 receive from 0 tag 7 bytes 8 | 25 leave @1+1=1
  | 30 enter "MPI_\u202eX" path 1 @1+1=2 | 50 leave @1+1=3
"""


@pytest.fixture
def labelled(tmp_path):
    (path := tmp_path / "evil\u202e.txt").write_text(LABELS)
    return path


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
