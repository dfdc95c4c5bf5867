"""``burstline phases``, ``signature`` and ``predict`` on a shipped recording."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import burstline as package
from burstline.signature import Measurement, Stamps, events_of, signature_of
from command import burstline

RING = Path(__file__).parents[1] / "recordings" / "ring"


@pytest.fixture
def signature(tmp_path):
    path = tmp_path / "ring.sig"
    done = burstline("signature", "build", RING, "-o", path)
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture
def measured(tmp_path):
    """What a run that took twice as long would have measured."""
    trace = package.read(RING)
    found, events = signature_of([trace]), events_of(trace)
    stamps = tuple(
        Stamps(each.rank, each.counts, 2 * events.boundaries(k)[each.counts],
               2 * int(events.init_ns[k]), 2 * int(events.finalize_ns[k]))
        for k, each in enumerate(found.processes)
    )  # fmt: skip
    path = tmp_path / "measured.json"
    path.write_text(json.dumps(Measurement(stamps, 10**9, {}).as_dict()))
    return path


@pytest.mark.parametrize("method", ["loops", "epas", "pas2p"])
@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_phases_are_shown_in_every_form(method, form):
    done = burstline("phases", RING, "--method", method, "--format", form)
    assert done.returncode == 0, done.stderr
    if form == "json":
        found = json.loads(done.stdout)
        assert found["method"] == method
        assert all(each["error"] is not None for each in found["processes"])
    else:
        assert "weight" in done.stdout or "OCCURS" in done.stdout


def test_phases_say_what_the_analysis_took_as_the_published_table_does():
    size = sum(file.stat().st_size for file in RING.rglob("*") if file.is_file())
    done = burstline("phases", RING)
    found = json.loads(burstline("phases", RING, "--format", "json").stdout)

    analysis = found["analysis"]
    assert analysis["trace_bytes"] == size
    assert analysis["events"] == sum(each["events"] for each in found["processes"])
    assert analysis["processes"] == len(found["processes"])
    assert analysis["tfat_ns"] > 0
    assert analysis["aet_ns"] >= max(each["actual_ns"] for each in found["processes"])
    words = done.stdout.split()
    assert all(head in words for head in ("PROCESSES", "AET", "EVENTS", "TFAT"))


def test_a_prediction_says_the_interval_and_the_error_of_a_full_run(signature, measured):
    done = burstline("predict", signature, measured)
    assert done.returncode == 0, done.stderr
    for words in ("in 95 of 100 cases", "the full run", "not HERE / BASE"):
        assert words in done.stdout
    assert "of no use" in done.stdout or "between" in done.stdout
    document = json.loads(burstline("predict", signature, measured, "--format", "json").stdout)
    low, high = document["interval_ns"]
    assert low <= document["predicted_ns"] <= high
    assert document["actual_ns"] > 0


def test_a_prediction_is_made_of_several_runs(signature, measured):
    def document(*runs):
        return json.loads(burstline("predict", signature, *runs, "--format", "json").stdout)

    one, three = document(measured), document(measured, measured, measured)
    assert one["predicted_ns"] == pytest.approx(three["predicted_ns"], abs=2)
    width = [each["interval_ns"][1] - each["interval_ns"][0] for each in (one, three)]
    assert width[1] < width[0]


def test_a_signature_that_exists_is_kept(signature):
    done = burstline("signature", "build", RING, "-o", signature)
    assert done.returncode == 2
    assert "--force" in done.stderr
    assert burstline("signature", "build", RING, "-o", signature, "--force").returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["signature", "build", RING], "-o APP.sig"),
        (["signature", "build", RING, "-o", "x.sig", "--", "true"], "no -- COMMAND"),
        (["signature", "run", "a.sig", "b.sig", "--", "true"], "one signature"),
        (["signature", "run", "a.sig"], "behind --"),
        (["predict", "a.sig"], "a signature and its measurements"),
        (["predict", "validate", "a.sig"], "a signature and a program"),
        (["phases", RING, "--windows", "0"], "--windows"),
        (["phases", RING, "--within", "3"], "within"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_way_out(words, said):
    done = burstline(*words)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_file_that_is_no_signature_is_named(tmp_path, measured):
    path, pipe = tmp_path / "wrong.sig", tmp_path / "pipe.sig"
    for content in (b"\xff\xfe", b"version = 1", b"[", b""):
        path.write_bytes(content)
        done = burstline("predict", path, measured)
        assert done.returncode == 3
        assert "wrong.sig" in done.stderr
    os.mkfifo(pipe)
    assert burstline("predict", pipe, measured).returncode == 3
