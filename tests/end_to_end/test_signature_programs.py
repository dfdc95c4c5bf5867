"""Programs whose signatures are tried make the same calls however they are built."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from experiments.signature.__main__ import predicted
from experiments.signature.results import Prediction, Predictions, goals, predictions
from experiments.signature.runs import METHODS, PROGRAMS, Site

import burstline
import warm
from recording import environment

SEQUENCE = ("location", "operation", "peer", "communicator", "root")
OF_A_RUN = {"MPI_Init", "MPI_Finalize"}
needs_all_compilers = pytest.mark.usefixtures("open_mpi", "mpich", "gfortran")


class Forked(Site):
    """The experiment's folder, for commands that need no new Python."""

    def burstline(self, command, *words):
        code, printed, said = warm.run([command, *words], self.folder, os.environ)
        assert code == 0, said
        return printed


@pytest.fixture
def settings(built_once, monkeypatch):
    """What programs and commands find in their environment."""
    for name, value in environment(built_once).items():
        monkeypatch.setenv(name, value)


@needs_all_compilers
@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_calls_are_the_same_under_each_compiler_option_mpi_and_size(tmp_path, program):
    site, sequences = Forked(tmp_path), []
    for number, configuration in enumerate((program.base, *program.targets)):
        small = replace(configuration, size=program.crowded_size + 2 * number)
        command = site.command(program, small, steps=6)
        trace = burstline.read(site.record(command, f"run{number}.store"))
        sequences.append(trace.calls.select(SEQUENCE).to_pylist())

    base, *others = sequences
    assert {call["location"] for call in base} == {0, 1}
    assert {call["operation"] for call in base} > OF_A_RUN
    assert all(other == base for other in others)


@needs_all_compilers
@pytest.mark.usefixtures("settings")
def test_a_whole_run_is_timed_between_its_ends(tmp_path):
    site, program = Site(tmp_path), PROGRAMS[0]
    small = replace(program.base, size=program.crowded_size)

    assert 0 < site.seconds(site.command(program, small, steps=2)) < 600


def document(predicted_s):
    """What `burstline predict` says."""
    return {
        "predicted_ns": predicted_s * 1e9,
        "interval_ns": [(predicted_s - 1) * 1e9, (predicted_s + 1) * 1e9],
        "set_ns": 1e8,
        "measured_ns": 2e9,
        "wall_ns": 3e9,
        "early_ns": 2e9,
        "coverage": 0.99,
    }


class Diary:
    """A site that writes down what is run, and what signatures are built from."""

    def __init__(self):
        self.runs, self.signed, self.predicted = [], [], []

    def command(self, _program, configuration, _steps):
        return [str(configuration)]

    def record(self, _command, store):
        self.runs.append("base")
        return Path(store)

    def sign(self, traces, method, _name):
        self.signed.append((method, len(traces)))

    def measure(self, _signature, command, name):
        self.runs.append(f"signature of {command[0]}")
        return name

    def seconds(self, command):
        self.runs.append(command[0])
        return 40.0 + len(self.runs)

    def predict(self, _signature, names):
        self.predicted.append(len(names))
        return document(40.0)


def test_base_runs_lie_around_the_turns_of_each_target():
    diary, program = Diary(), PROGRAMS[0]

    made = predictions(diary, program, shorter=1, turns=2, bases=5, say=lambda _: None)

    one, other = map(str, program.targets)
    turns = [[f"signature of {target}"] * len(METHODS) + [target] for target in (one, other)]
    between = ["base", "base"]
    assert diary.runs == ["base", *turns[0] * 2, *between, *turns[1] * 2, *between]
    assert diary.signed == [(method, count) for count in (1, 5) for method in METHODS]
    assert (len(made.together), len(made.alone), made.failures) == (6, 12, [])
    assert sorted(diary.predicted) == [1] * 12 + [2] * 6
    assert made.together[0].actual_s == (45.0, 49.0)


def prediction(program, error=0.0, actual_s=(40.0, 40.4, 39.6), method="loops"):
    """A prediction whose AET is 40 s."""
    said = document(40 * (1 + error))
    return Prediction.of((program, "mpich -O3 8", method), actual_s, said)


def test_goals_hold_where_all_predictions_are_good():
    made = [prediction(name, 0.01) for name in "abcd"] + [prediction("a", 0.02, method="epas")]

    assert all(goal.holds for goal in goals(made))
    assert goals(made)[2].outcome == "1.00%"


def test_a_program_whose_runs_differ_is_reported_apart_and_does_not_count():
    apart = prediction("b", 0.5, actual_s=(38.0, 40.0, 42.0))
    made = [prediction("a", -0.05), apart]
    lines = list(predicted(Predictions(made, [made[0]] * 2, ["b, by epas: too few calls"])))
    few, _, mean, worst, by_epas, held, *_ = goals(made)

    assert (few.holds, few.outcome) == (False, "1 with 1 predictions")
    assert (mean.holds, worst.holds, by_epas.holds, held.holds) == (False, True, None, False)
    rows = [line.split(" | ")[0] for line in lines if "| mpich" in line]
    assert rows == ["| a", "| b"]
    assert sum("does not hold" in line for line in lines) == 3
    assert any("differ by more than 3%" in line for line in lines)
    assert sum(line.startswith("| loops | 2 |") for line in lines) == 1
    assert lines.index("Failed, 1:") + 2 == lines.index("- b, by epas: too few calls")


def test_errors_are_of_the_run_and_as_published_of_the_prediction():
    late = prediction("a", 0.25)

    assert late.error == pytest.approx(0.25)
    assert late.published_error == pytest.approx(0.2)
    assert late.half_width == pytest.approx(1 / 40)
