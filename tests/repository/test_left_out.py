"""What a run of the tests says about those that it left out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from repository.source import ROOT

TESTS = """
import pytest

@pytest.fixture(params=["here", pytest.param("", marks=pytest.mark.needs("spec_folder"))])
def folder(request): return request.param or request.getfixturevalue("spec_folder")

def test_of_a_folder(folder): ...
def test_of_traces(real_traces): ...
def test_of_traces_too(real_traces): ...
def test_of_tools(open_mpi, gfortran): ...
def test_of_nothing(): ...
"""


def last_lines(folder, *options):
    """Lines that pytest prints about the tests above where nothing is installed."""
    for name in ("conftest.py", "left_out.py"):
        shutil.copy(ROOT / "tests" / name, folder)
    folder.joinpath("pytest.ini").write_text("[pytest]\npythonpath = .\n")
    folder.joinpath("test_some.py").write_text(TESTS)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("BURSTLINE_")
    }
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options],
        cwd=folder,
        env=environment | {"PATH": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_run_says_how_many_tests_were_left_out_and_why(tmp_path, workers):
    assert (
        "4 tests were left out: 2 need BURSTLINE_TRACES, 1 needs BURSTLINE_SPEC, "
        "1 needs gfortran and mpicc.openmpi and mpirun.openmpi"
    ) in last_lines(tmp_path, "-n", workers)


def test_tests_that_nobody_asked_for_are_not_counted(tmp_path):
    shown = last_lines(tmp_path, "-k", "traces_too or nothing")

    assert "1 test was left out: 1 needs BURSTLINE_TRACES" in shown


def test_a_run_that_leaves_out_nothing_says_nothing(tmp_path):
    assert "left out" not in "\n".join(last_lines(tmp_path, "-k", "nothing"))


def test_those_that_need_a_folder_from_outside_can_be_told_from_others(tmp_path):
    shown = "\n".join(last_lines(tmp_path, "-m", "not given"))

    assert "BURSTLINE" not in shown
    assert "2 passed, 4 deselected" in shown
