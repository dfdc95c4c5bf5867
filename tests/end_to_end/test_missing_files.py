"""A file that is not there is named, whatever it would be and whatever command wants it."""

from __future__ import annotations

import pytest

from burstline.cli.parser import command_parsers
from command import burstline
from stories import STORIES

ENDINGS = (
    *("", ".prv", ".prv.gz", ".store", ".csv", ".parquet", ".arrow", ".otf2", ".cubex", ".txt"),
    *(".toml", ".sig", ".json", ".perfetto.json", ".raw"),
)
TAKES = {
    ("info", "traces"): ("info I", "info here.store I"),
    ("waits", "trace"): ("waits I",),
    ("waits", "effort_model"): ("waits here.store --clock lt_hwctr --effort-model I",),
    ("clocks", "inputs"): ("clocks fit I -o new.toml",),
    ("clocks", "calls"): ("clocks fit here.store --calls I -o new.toml",),
    ("compare", "inputs"): ("compare I here.store", "compare here.store I"),
    ("compare", "others"): ("compare here.store --with I",),
    ("compare", "effort_model"): (
        "compare here.store --clocks lt_1,lt_hwctr --effort-model I",
    ),
    ("structure", "trace"): ("structure I",),
    ("table", "trace"): ("table I",),
    ("table", "scheduler"): ("table here.store -o new.csv --scheduler I",),
    ("info", "scheduler"): ("info here.store --scheduler I",),
    ("matrix", "scheduler"): ("matrix here.store --scheduler I",),
    ("phases", "scheduler"): ("phases here.store --scheduler I",),
    ("convert", "scheduler"): ("convert here.store new.store --scheduler I",),
    ("structure", "scheduler"): ("structure here.store --scheduler I",),
    ("report", "scheduler"): ("report here.store --scheduler I",),
    ("waits", "scheduler"): ("waits here.store -o new.cubex --scheduler I",),
    ("histogram", "scheduler"): ("histogram here.store --scheduler I",),
    ("plot", "trace"): ("plot I",),
    ("flame", "trace"): ("flame I", "flame I -o new.svg"),
    ("cut", "trace"): ("cut I -o new.store --first 1us",),
    ("annotate", "trace"): ("annotate I -o new.prv",),
    ("retime", "trace"): ("retime I -o new.store --clock lt_1",),
    ("retime", "effort_model"): (
        "retime here.store -o new.store --clock lt_hwctr --effort-model I",
    ),
    ("convert", "trace"): ("convert I new.store", "convert I new.prv"),
    ("merge", "traces"): ("merge I here.store", "merge here.store I"),
    ("check-merge", "traces"): ("check-merge I here.store", "check-merge here.store I"),
    ("learn", "inputs"): ("learn I", "learn I here.store", "learn here.store I"),
    ("learn", "quality"): ("learn here.store --quality I",),
    ("phases", "trace"): ("phases I",),
    ("matrix", "trace"): ("matrix I",),
    ("histogram", "trace"): ("histogram I",),
    ("report", "traces"): ("report I",),
    ("report", "signature"): ("report here.store --signature I here.store",),
    ("report", "functions"): ("report --functions I -- mpirun -n 1 true",),
    ("signature", "inputs"): (
        "signature build I -o new.sig", "signature run I -- mpirun -n 1 true",
    ),
    ("predict", "inputs"): ("predict I here.store", "predict validate I -- mpirun -n 1 true"),
    ("record", "counters_set"): ("record --counters-set I -- mpirun -n 1 true",),
    ("record", "functions"): ("record --functions I -- mpirun -n 1 true",),
    ("counters", "papi"): ("counters plan A --papi I",),
}  # fmt: skip
NOT_HERE = {("browse", "trace")}
"""It looks for a terminal first."""


def test_every_input_of_every_command_is_looked_at_here():
    read = {
        (command, name)
        for command, parser in command_parsers().items()
        for name in parser.get_default("read_from")
    }

    assert read == set(TAKES) | NOT_HERE


@pytest.mark.parametrize("case", TAKES, ids=" ".join)
def test_a_missing_file_is_named(monkeypatch, tmp_path, case):
    STORIES[0].write(tmp_path, "store").rename(tmp_path / "here.store")
    monkeypatch.chdir(tmp_path)
    for ending in ENDINGS:
        for words in TAKES[case]:
            named = f"nobody-wrote-this{ending}"
            done = burstline(*[{"I": named}.get(word, word) for word in words.split()])

            code = 5 if case == ("counters", "papi") else 2  # a library is none of our files
            assert done.returncode == code, (words, ending, done)
            assert "nobody-wrote-this" in done.stderr, (words, ending, done)
            assert "bug" not in done.stderr, (words, ending, done)
    assert [path.name for path in tmp_path.iterdir()] == ["here.store"]


def test_a_folder_that_is_called_like_a_profile_is_named(tmp_path):
    (tmp_path / "folder.cubex").mkdir()

    done = burstline("info", tmp_path / "folder.cubex")

    assert done.returncode == 2
    assert done.stderr.endswith("folder.cubex: is a directory\n")


@pytest.mark.parametrize(
    "words", ["info I", "convert I new.store", "record --counters-set I -- mpirun -n 1 true"]
)
def test_a_name_of_thousands_of_letters_does_not_hide_what_is_wrong_with_it(words):
    done = burstline(*words.replace("I", "n" * 5_000).split())

    assert done.returncode == 2
    assert done.stderr.startswith("error: nnn")
    assert done.stderr.endswith("…: file name too long\n")
