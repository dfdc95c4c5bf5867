"""A program is recorded, its signature made and run, and its time predicted, for every MPI."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

import pytest

from recording import MPIS, Site, environment

PROGRAM = Path(__file__).parents[1] / "record" / "steps.c"
STEPS = 60
OF_RUN = ["predicted_ns", "interval_ns", "set_ns", "measured_ns", "wall_ns", "coverage"]
OF_PROCESS = [
    "rank", "phases", "relevant", "seed_predicted_ns", "predicted_ns", "interval_ns",
    "actual_ns", "error", "coverage",
]  # fmt: skip


@pytest.fixture(scope="module", params=MPIS)
def site(request, built_once, tmp_path_factory):
    """Folder with the program, recorded once, and its signatures."""
    folder = tmp_path_factory.mktemp("signature")
    site = Site(request.getfixturevalue(request.param), folder, environment(built_once))
    site.compile("mpicc", PROGRAM, name="steps")
    site.recorded("base.store", *program(site))
    site.printed_by("signature", "build", "base.store", "-o", "app.sig")
    return site


def program(site, *words):
    return "--", *site.ranks(2), "./steps", *(words or (str(STEPS), "20000"))


@pytest.mark.parametrize("method", ["loops", "epas"])
def test_phases_of_a_recording(site, method):
    found = site.document_of("phases", "base.store", "--method", method)
    assert found["method"] == method
    assert found["work_counter"] == "cpu"
    assert [each["rank"] for each in found["processes"]] == [0, 1]
    assert all(set(OF_PROCESS) <= set(each) for each in found["processes"])
    if method == "loops":
        (loop,) = (phase for phase in found["phases"] if phase["weight"] == STEPS)
        assert loop["name"].startswith("loop steps.c:")
        assert loop["events"] == 4


def test_a_signature_run_predicts_and_keeps_what_was_printed(site):
    words = "signature", "run", "app.sig", "-o", "measured.json", "--force", "--format", "json"
    code, printed, said = site.burstline(*words, *program(site))
    assert code == 0, said
    prediction = json.loads(printed)
    assert set(OF_RUN) <= set(prediction)
    assert "rank 0 begins" in said
    assert "ends with" not in said
    again = site.document_of("predict", "app.sig", "measured.json")
    assert {name: again[name] for name in OF_RUN} == {name: prediction[name] for name in OF_RUN}
    low, high = prediction["interval_ns"]
    assert 0 <= low <= prediction["predicted_ns"] <= high


def test_full_runs_stand_beside_the_prediction(site):
    words = "predict", "validate", "app.sig", "--runs", "2", "--format", "json"
    found = json.loads(site.printed_by(*words, *program(site)))
    assert len(found["turns"]) == 2
    assert set(OF_RUN) | {"actual_ns", "error"} <= set(found)
    for turn in found["turns"]:
        error = (turn["predicted_ns"] - turn["actual_ns"]) / turn["actual_ns"]
        assert turn["error"] == pytest.approx(error)
        assert turn["full_wall_ns"] > turn["actual_ns"] > 0
    wall_ns = fmean(turn["wall_ns"] for turn in found["turns"])
    assert found["wall_ns"] == pytest.approx(wall_ns, abs=1)
    low, high = found["interval_ns"]
    actual = [turn["actual_ns"] for turn in found["turns"]]
    assert low <= found["predicted_ns"] <= high
    assert found["inside"] == sum(low <= time <= high for time in actual)
    error = (found["predicted_ns"] - fmean(actual)) / fmean(actual)
    assert found["error"] == pytest.approx(error, abs=1e-6)


def test_a_program_that_makes_other_calls_is_stopped(site):
    words = "signature", "run", "app.sig", *program(site, str(STEPS), "20000", "2")
    code, _, said = site.burstline(*words)
    assert code == 4
    assert "rank" in said


def test_a_program_that_ends_before_the_cut_is_told(site):
    code, _, said = site.burstline("signature", "run", "app.sig", *program(site, "1", "20000"))
    assert code == 4
    assert "MPI_Finalize" in said


def test_the_published_table_has_five_columns(site):
    words = "signature", "build", "base.store", "-o", "table.sig", "--phase-table", "table.txt"
    site.printed_by(*words, "--force")
    rows = [line.split() for line in (site.folder / "table.txt").read_text().splitlines()]
    (row,) = (row for row in rows if row[4] == str(STEPS))
    begin, end, first, second, _ = map(int, row)
    assert end - begin == 1  # a step sends once
    assert first == second
