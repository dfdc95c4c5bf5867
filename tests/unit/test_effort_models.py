"""Effort models: their file, what of it is refused, and the commands that take it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from burstline import read
from burstline.cli.clock_options import effort_model
from burstline.clocks import Effort, EffortModel
from burstline.errors import FormatError, ParameterError
from command import burstline

STORY = """
ranks 1
region main role function
region foo role function
counter IR_LD_INS
counter IR_TOT_INS
0
0 enter main IR_LD_INS=0 IR_TOT_INS=0
10 enter foo IR_LD_INS=10 IR_TOT_INS=100
600 leave IR_LD_INS=1000 IR_TOT_INS=3000
700 enter MPI_Barrier IR_LD_INS=0 IR_TOT_INS=5
710 leave IR_LD_INS=0 IR_TOT_INS=0
720 leave IR_LD_INS=0 IR_TOT_INS=7
"""
HEAD = "version = 1\n"
CLOCK = "--clock", "lt_hwctr"
WEIGHTS = "[weights]\nIR_LD_INS = 0.5\n"


@pytest.fixture
def trace(tmp_path, monkeypatch):
    """A trace in the folder of the test, which is the one that commands run in."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "run.txt"
    path.write_text(STORY)
    return path


def test_a_model_is_what_its_file_says(tmp_path):
    path = tmp_path / "m.toml"
    weights = {"IR_LD_INS": 1 / 3, 'odd "name"\n': 2e-7, "IR_BB": 0.0}
    model = EffortModel.of(weights, 812.3456789, 'fitted to "a\\b".store \x7f')
    path.write_text(model.text())

    again = effort_model(path)

    assert again.weights == {"IR_LD_INS": 0.333333, 'odd "name"\ufffd': 2e-7}
    assert (again.openmp_call, again.origin) == (812.346, 'fitted to "a\\b".store \ufffd')
    assert again.effort() == Effort("lt_hwctr", again.weights, 812)
    assert model.as_dict()["weights"]["IR_LD_INS"] == 0.333333


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "version = 1"),
        ("version = ", "a TOML file"),
        ("[" * 50_000, "brackets"),
        ("#" * 70_000, "65536 bytes"),
        ("version = 2\n" + WEIGHTS, "version = 1"),
        ("version = true\n" + WEIGHTS, "version = 1"),
        (HEAD + "colour = 3\n" + WEIGHTS, "colour"),
        (HEAD + "origin = 3\n" + WEIGHTS, "origin"),
        (HEAD + "openmp_call = -1\n" + WEIGHTS, "openmp_call"),
        (HEAD, r"\[weights\]"),
        (HEAD + "weights = 3\n", r"\[weights\]"),
        (HEAD + "[weights]\n", "above 0"),
        (HEAD + "[weights]\nIR_BB = 0\n", "above 0"),
        (HEAD + "[weights]\nIR_BB = -0.5\n", r"weights\.IR_BB"),
        (HEAD + "[weights]\nIR_BB = nan\n", r"weights\.IR_BB"),
        (HEAD + "[weights]\nIR_BB = inf\n", r"weights\.IR_BB"),
        (HEAD + "[weights]\nIR_BB = 1e10\n", r"weights\.IR_BB"),
        (HEAD + "[weights]\nIR_BB = true\n", r"weights\.IR_BB"),
        (HEAD + '[weights]\nIR_BB = "1"\n', r"weights\.IR_BB"),
        (HEAD + "[weights.IR_BB]\nx = 1\n", r"weights\.IR_BB"),
    ],
)
def test_a_file_that_is_no_model_is_refused_with_the_place(text, place, tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(text)

    with pytest.raises(FormatError, match=place) as refused:
        effort_model(path)

    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_bytes_that_are_no_text_and_a_pipe_are_refused(tmp_path):
    path, pipe = tmp_path / "m.toml", tmp_path / "pipe.toml"
    path.write_bytes(b"\xff\xfe")
    os.mkfifo(pipe)

    with pytest.raises(FormatError, match="text in UTF-8"):
        effort_model(path)
    with pytest.raises(FormatError, match="a pipe"):
        effort_model(pipe)


def test_weights_are_numbers_that_a_tick_can_hold(trace):
    done = burstline("retime", trace, *CLOCK, "--counter", "IR_LD_INS=1e18", "-o", "t.store")

    assert (done.returncode, "too large" in done.stderr) == (2, True), done.stderr
    with pytest.raises(ParameterError, match="finite"):
        Effort("lt_hwctr", {"IR_BB": float("nan")})


def test_a_trace_on_a_logical_clock_is_not_fitted(trace):
    pytest.importorskip("scipy")
    assert burstline("retime", trace, "-o", "ticks.store").returncode == 0

    words = "ticks.store", "--counter", "IR_LD_INS", "-o", "m.toml"
    done = burstline("clocks", "fit", *words)

    assert (done.returncode, "logical clock" in done.stderr) == (2, True), done.stderr


def test_a_trace_is_stamped_in_ns_of_the_model(trace, tmp_path):
    model = tmp_path / "m.toml"
    model.write_text(HEAD + "[weights]\nIR_LD_INS = 0.5\nIR_TOT_INS = 0.1\n")
    ticks = tmp_path / "t.store"

    options = *CLOCK, "--effort-model", model
    done = burstline("retime", trace, *options, "-o", ticks)

    assert done.returncode == 0, done.stderr
    stamps = read(ticks).regions.to_pylist()
    [foo] = (row for row in stamps if row["parent"] is not None)
    assert foo["leave_ns"] - foo["enter_ns"] == 1000 * 0.5 + 3000 * 0.1
    done = burstline("waits", trace, *options, "--format", "json")
    stamped = json.loads(done.stdout)["coverage"]["stamps"]
    assert (stamped["clock"], stamped["counters"]) == ("lt_hwctr", ["IR_LD_INS", "IR_TOT_INS"])
    done = burstline("compare", trace, "--clocks", "physical,lt_hwctr", *options[2:])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("retime", "TRACE", "-o", "t.store"), 2, "is of lt_hwctr, not of lt_stmt"),
        (
            ("retime", "TRACE", "-o", "t.store", "--clock", "lt_hwctr", "--counter", "A"),
            2,
            "names its",
        ),
        (("waits", "TRACE"), 2, "what a clock counts is of logical ones: name one"),
        (("compare", "TRACE", "--clocks", "physical,lt_bb"), 2, "of lt_hwctr"),
        (("waits", "TRACE", *CLOCK), 5, "record --counters IR_FP_INS"),
    ],
)
def test_a_model_that_does_not_fit_is_refused(words, code, said, trace):
    Path("m.toml").write_text(HEAD + "[weights]\nIR_FP_INS = 1\n")
    words = [str(trace) if word == "TRACE" else word for word in words]

    done = burstline(*words, "--effort-model", "m.toml")

    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    assert not Path("t.store").exists()


def test_a_damaged_model_ends_a_command_with_its_file_and_place(trace, tmp_path):
    model = tmp_path / "m.toml"
    model.write_text(HEAD + "[weights]\nIR_LD_INS = nan\n")

    done = burstline("waits", trace, "--clock", "lt_hwctr", "--effort-model", model)

    assert done.returncode == 3
    assert f"{model}: expected weights.IR_LD_INS" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("fit", "TRACE"), 2, "-o FILE.toml"),
        (("fit", "TRACE", "-o", "m.txt"), 2, ".toml"),
        (("fit", "-o", "m.toml"), 2, "name traces"),
        (("calibrate", "TRACE", "-o", "m.toml"), 2, "neither traces"),
        (("calibrate", "--compiler", "no-such", "-o", "m.toml"), 2, "no such compiler"),
        (("fit", "TRACE", "-o", "old.toml"), 2, "--force"),
        (("fit", "TRACE", "-o", "m.toml"), 5, "IR_SR_INS"),
        (("fit", "TRACE", "--counter", "IR_BB", "-o", "m.toml"), 5, "--counters IR_BB"),
        (("fit", "TRACE", "--calls", "old.toml", "-o", "m.toml"), 3, "old.toml"),
    ],
)
def test_what_cannot_be_made_a_model_is_refused(words, code, said, trace):
    pytest.importorskip("scipy")
    Path("old.toml").touch()
    words = [str(trace) if word == "TRACE" else word for word in words]

    done = burstline("clocks", *words)

    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    assert not Path("m.toml").exists()
