"""Effort models of this machine and of a recorded program, and what they stamp."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from burstline.cli.clock_options import effort_model
from burstline.clocks import CALLS, KINDS
from recording import Site, environment

pytest.importorskip("scipy")

PROGRAM = Path(__file__).parents[1] / "record" / "logical.c"


def test_a_machine_is_calibrated(clang, built_once, tmp_path):
    words = ["clocks", "calibrate", "--compiler", clang, "-o", "m.toml", "--format", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "burstline", *words, "--quiet"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment(built_once) | {"TMPDIR": str(tmp_path)},
    )

    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    model = effort_model(tmp_path / "m.toml")
    assert model.as_dict() == document["model"]
    assert model.origin.startswith("calibrated on ")
    assert {*model.weights} <= {*KINDS, *CALLS}
    assert all(math.isfinite(ns) and ns > 0 for ns in model.weights.values())
    assert (model.openmp_call > 0) == (not document["openmp"])
    assert all(kernel["ns"] > 0 for kernel in document["kernels"])
    assert os.listdir(tmp_path) == ["m.toml"]  # noqa: PTH208 -- what was built is gone


@pytest.fixture
def site(open_mpi, built_once, tmp_path):
    settings = environment(built_once) | {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    return Site(open_mpi, tmp_path, settings)


def test_a_model_stamps_two_runs_alike(clang, openmp, site):
    mpi = [*site.mpi_words("compile"), *site.mpi_words("link")]
    words = ["cc", "--", clang, "-O1", PROGRAM, *openmp(clang), "-o", "logical", *mpi]
    site.printed_by(*words)
    # Ranks of one thread, one with three times the work: what counts take shows on any machine.
    kinds = {"planned.store": "imbalance", "one.store": "stencil", "other.store": "stencil"}
    for name, kind in kinds.items():
        words = ["--counters", "work", "--", *site.ranks(2), "./logical", kind]
        site.recorded(name, *words)

    document = site.document_of("clocks", "fit", "planned.store", "-o", "m.toml")
    assert document["model"]["origin"] == "fitted to planned.store"
    assert 0 <= document["explained"] <= 1
    assert document["rows"] > 1

    ends = []
    for name in ("one", "other"):
        options = "--clock", "lt_hwctr", "--effort-model", "m.toml", "-o", f"{name}.ns.store"
        ends.append(site.document_of("retime", f"{name}.store", *options)["end_ticks"])
    one, other = (site.trace(f"{name}.ns.store") for name in ("one", "other"))
    for table in ("calls", "regions", "messages"):
        stamps = [name for name in one.table(table).column_names if name.endswith("_ns")]
        assert one.table(table).select(stamps).equals(other.table(table).select(stamps)), table
    assert ends[0] == ends[1] > one.rows("calls")
