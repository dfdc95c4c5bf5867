"""``burstline check-merge``: a verdict for each counter, to people and to programs."""

from __future__ import annotations

import csv
import io

import pytest

import burstline
from burstline.testing import trace_of
from command import burstline as run
from command import document_of

QUANTITIES = ("PAPI_TOT_INS", "PAPI_L1_DCM", "duration", "position", "sizes")
FIGURES = {"correlation", "mae", "relative_difference", "below_30", "verdict"}


def write_run(path, *, noise=0, ranks=2, counters=("PAPI_TOT_INS", "PAPI_L1_DCM")):
    """Write a run to a store: instructions repeat, misses do not where there is noise."""
    text = [f"ranks {ranks}", *(f"counter {name}" for name in counters)]
    text.append("path 0 main file a.c line 3")
    for rank in range(ranks):
        zeros = "".join(f" {name}=0" for name in counters)
        text += [str(rank), "0 enter MPI_Init", f"5 leave{zeros}"]
        for k in range(20):
            values = (1000 + 10 * k, 20 + noise * (k % 3))
            counted = "".join(
                f" {name}={value}" for name, value in zip(counters, values, strict=True)
            )
            text.append(f"{100 * k + 50} enter MPI_Barrier path 0{counted}")
            text.append(f"{100 * k + 60 + k} leave{zeros}")
    burstline.write(trace_of(" | ".join(text)), path)
    return path


@pytest.fixture
def runs(tmp_path):
    return [write_run(tmp_path / f"run{k}.store", noise=40 * k) for k in range(2)]


def answer(*words):
    done = run("check-merge", *words, "--quiet")
    assert done.returncode == 0, done.stderr
    return done


def refused(*words):
    done = run("check-merge", *words, "--quiet")
    return done.returncode, done.stderr


def test_programs_get_the_figures_and_the_verdict_of_each_counter(runs):
    document = document_of("check-merge", *runs)

    assert document["match_rate"] == 1
    assert set(document["counters"]) == {"PAPI_TOT_INS", "PAPI_L1_DCM"}
    assert set(document["features"]) == {"duration", "position", "sizes", "partner"}
    for figures in (*document["counters"].values(), *document["features"].values()):
        assert set(figures) >= FIGURES
    instructions, misses = document["counters"].values()
    assert instructions["verdict"] == "trust"
    assert (instructions["relative_difference"], instructions["below_30"]) == (0, 1)
    assert instructions["correlation"] == 1
    assert misses["verdict"] == "do not use"
    assert misses["correlation"] is None  # the base's are constant
    assert misses["below_30"] == pytest.approx(7 / 20)
    assert document["features"]["partner"]["correlation"] is None


@pytest.mark.parametrize("method", ["align", "seed"])
def test_people_see_a_verdict_a_line(runs, method):
    lines = answer(*runs, "--method", method, "--by", "phase").stdout.splitlines()

    assert lines[0].split() == ["matched", "100.0", "%", "of", "the", "bursts", f"({method})"]
    assert [line for line in lines if line.startswith("  PAPI_TOT_INS") and "trust" in line]
    assert [line for line in lines if line.startswith("  PAPI_L1_DCM") and "do not use" in line]
    assert "Where PAPI_L1_DCM differs" in lines
    assert not [line for line in lines if "loop 1" in line and "100.0 %" not in line]


def test_csv_has_a_row_for_each_counter_and_feature(runs):
    rows = list(csv.DictReader(io.StringIO(answer(*runs, "--format", "csv").stdout)))

    assert [(row["kind"], row["name"]) for row in rows][:3] == [
        ("counter", "PAPI_TOT_INS"),
        ("counter", "PAPI_L1_DCM"),
        ("feature", "duration"),
    ]
    assert set(rows[0]) >= FIGURES


@pytest.mark.parametrize(("ending", "begin"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_a_picture_is_written_once(runs, tmp_path, ending, begin):
    picture = tmp_path / f"check.{ending}"

    assert "2 runs" in answer(*runs, "--plot", picture).stderr

    assert picture.read_bytes().startswith(begin)
    code, said = refused(*runs, "--plot", picture)
    assert (code, "--force" in said) == (2, True)
    answer(*runs, "--plot", picture, "--force")


def test_ranks_can_be_chosen(runs):
    document = document_of("check-merge", *runs, "--ranks", "1")

    assert [run["bursts"] for run in document["runs"]] == [20, 20]


def test_runs_without_a_common_counter_have_no_answer(runs, tmp_path):
    other = write_run(tmp_path / "other.store", counters=("PAPI_FP_OPS", "PAPI_BR_INS"))

    code, said = refused(runs[0], other)

    assert code == 5
    assert "run0.store: PAPI_L1_DCM, PAPI_TOT_INS" in said
    assert "burstline record --counters" in said


def test_runs_of_different_numbers_of_ranks_contradict_each_other(runs, tmp_path):
    wider = write_run(tmp_path / "wider.store", ranks=3)

    code, said = refused(runs[0], wider)

    assert code == 4
    assert "run0.store: 2" in said
    assert "wider.store: 3" in said


@pytest.mark.parametrize(
    "more", [["--top", "-1"], ["--plot", "x.pdf"], ["--method", "guess"], ["--by", "rank"]]
)
def test_what_makes_no_sense_is_refused(runs, more):
    code, said = refused(*runs, *more)

    assert code == 2
    assert said.splitlines()[-1].startswith("error: ")


def test_one_run_is_not_enough(runs):
    code, said = refused(runs[0])

    assert (code, "at least two" in said) == (2, True)


def test_as_many_quantities_are_named_as_are_drawn(runs, tmp_path):
    still = write_run(tmp_path / "still.store", counters=("PAPI_TOT_INS", "PAPI_L1_DCM"))
    picture = tmp_path / "check.svg"

    said = answer(runs[0], still, "--plot", picture).stderr

    titles = picture.read_text(encoding="utf-8")
    drawn = sum(f">{name}: trust<" in titles for name in QUANTITIES)
    assert f"{drawn} quantities" in said


def test_a_run_that_is_compared_with_itself_is_warned_of(runs):
    assert "twice" in answer(runs[0], runs[0]).stderr
