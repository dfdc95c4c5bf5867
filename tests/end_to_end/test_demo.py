"""The demo is the first thing that a newcomer runs."""

from __future__ import annotations

import shutil
from importlib.resources import files
from pathlib import Path

import pytest

import burstline
import command
from burstline.cli.commands.demo import shipped_trace

SOURCE = files("burstline") / "data" / "heat.c"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    """The demo writes its page where it stands."""
    monkeypatch.chdir(tmp_path)


def printed():
    done = command.burstline("demo")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_demo_goes_from_a_trace_to_an_answer():
    shown = printed()
    steps = [shown.index(f"$ burstline {name} ") for name in ("report", "info", "structure")]
    verdict = " ".join(shown[steps[1] : steps[2]].split())

    assert steps == sorted(steps)
    assert "rank 2 causes 99.7 %" in verdict
    assert "relax" in verdict
    assert "for 1 to 44:" in shown
    assert shown.index("relax() takes three times as long on") > steps[2]


def test_the_demo_writes_the_page_of_its_run_and_replaces_it():
    printed()
    assert "-o burstline-demo.html\n" in printed()

    page = Path("burstline-demo.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "Rank 2 computes 707 ms" in page


def test_the_demo_finds_a_place_for_its_page_where_one_may_not_write(monkeypatch, tmp_path):
    monkeypatch.setattr("os.access", lambda *_: False)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)

    printed()

    assert [path.name for path in tmp_path.iterdir()] == ["elsewhere"]
    assert [*tmp_path.glob("elsewhere/*/burstline-demo.html")]


def test_what_the_demo_says_of_its_program_stands_in_the_source():
    source = SOURCE.read_text()

    assert "STEPS = 44, STEPS_TO_CHECK = 10, SLOW_RANK = 2" in source
    assert "take(rank == SLOW_RANK ? 15 : 5);" in source


def test_the_demo_fits_on_a_screen_of_80_columns(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = printed().splitlines()

    assert len(lines) <= 70
    assert max(len(line) for line in lines if not line.startswith("$ trace=")) <= 80


def test_the_demo_says_what_to_do_next():
    after = printed().partition("Next, ")[2]

    assert all(f"  burstline {name} " in after for name in ("report", "waits", "browse"))


def test_the_demo_leaves_the_width_of_the_screen_alone(monkeypatch):
    monkeypatch.setenv("COLUMNS", "133")

    assert printed() == printed()
    assert shutil.get_terminal_size().columns == 133


def test_the_trace_of_the_demo_is_small_and_whole():
    assert sum(path.stat().st_size for path in shipped_trace().parent.glob("heat.*")) < 100_000
    assert burstline.read(shipped_trace()).defects.num_rows == 0


def test_the_program_of_the_demo_recorded_again_has_the_same_cause(on_open_mpi):
    on_open_mpi.build(SOURCE.read_text(), "-O1", "-finstrument-functions", "-lm", name="heat")
    words = ("--counters", "none", "--", *on_open_mpi.ranks(4), "./heat")
    on_open_mpi.recorded("heat.prv", *words)
    verdict = " ".join(on_open_mpi.verdict_of("heat.prv").values())

    assert "Rank 2 causes most of the largest wait" in verdict
    assert "relax (heat.c:" in verdict
