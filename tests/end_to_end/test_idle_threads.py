"""Programs whose threads idle for a known reason, and what ``burstline waits`` says of them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from recording import Site, environment

PROGRAMS = Path(__file__).parents[1] / "record"
SOURCE = PROGRAMS / "idle_threads.c"


def line(text, source=SOURCE):
    """Give the line of the only occurrence of a text."""
    (found,) = [k for k, each in enumerate(source.read_text().splitlines(), 1) if text in each]
    return found


@pytest.fixture(params=["open_mpi", "mpich"])
def site(request, built_once, tmp_path):
    """Folder in which programs with two threads are built and run, with each MPI."""
    site = Site(request.getfixturevalue(request.param), tmp_path, dict(environment(built_once)))
    site.settings["OMP_NUM_THREADS"] = "2"
    return site


def built(site, clang, options, language):
    """Build the program as one of C or C++ with a compiler of LLVM."""
    compiler = {"c": "mpicc", "c++": "mpicxx"}[language] + f".{site.kind}"
    named = {"c": ("MPICH_CC", "OMPI_CC"), "c++": ("MPICH_CXX", "OMPI_CXX")}[language]
    version = clang.partition("clang")[2]
    own = clang if language == "c" else f"clang++{version}"
    words = [compiler, "-g", "-O1", "-x", language, SOURCE, *options, "-o", "app"]
    subprocess.run(
        [str(word) for word in words],
        check=True,
        cwd=site.folder,
        env=site.settings | dict.fromkeys(named, own),
    )
    return "./app"


def told(site, ranks, *words, output="app.prv"):
    """Record a program, and give what is lost, where, and why."""
    code, _, said = site.record("-o", output, "--", *site.ranks(ranks), *words)
    assert code == 0, said
    assert "nothing of its threads" not in said
    code, printed, said = site.burstline("waits", output, "--format", "json")
    assert code == 0, said
    said = {each["question"]: each["sentence"] for each in json.loads(printed)["verdict"]}
    return [said[question] for question in ("lost", "where", "cause")]


def test_a_serial_part_is_where_one_thread_works_alone(site, clang, openmp):
    program = built(site, clang, openmp(clang), "c")

    lost, _, cause = told(site, 1, program, "serial")

    assert "Idle threads" in lost
    assert cause.startswith("Rank 0 causes most of the largest wait")
    fork = f"!$omp parallel at idle_threads.c:{line('#pragma omp parallel')}"
    assert f"one thread works alone computing from {fork}, to MPI_Sendrecv" in cause
    assert f"to MPI_Sendrecv, idle_threads.c:{line('MPI_Sendrecv(out')}" in cause
    assert "in main or what it calls" in cause


@pytest.mark.parametrize(
    ("site", "language"), [("open_mpi", "c"), ("mpich", "c++")], indirect=["site"]
)
def test_a_rank_that_is_late_keeps_threads_of_others_idle(site, clang, openmp, language):
    program = built(site, clang, openmp(clang), language)

    lost, where, cause = told(site, 2, program, "late")

    assert "Idle threads" in lost
    call = f"MPI_Sendrecv called by main at idle_threads.c:{line('MPI_Sendrecv(out')}"
    assert f"while the first thread of its process is in {call}" in where
    # Four threads on few processors keep each other waiting, too.
    assert cause.startswith(
        (
            "Rank 1 causes most of the largest wait",
            "Rank 1 causes more of the largest wait than any",
        )
    )
    loop = f"!$omp for at idle_threads.c:{line('#pragma omp for')} in shared_part"
    assert f"first threads of other ranks wait in MPI for what it does in {loop}" in cause
    assert "alone" not in cause


def test_a_thread_in_mpi_does_not_work_alone(site, clang, openmp):
    program = built(site, clang, openmp(clang), "c")

    lost, where, cause = told(site, 1, program, "mpi")

    call = f"MPI_Sendrecv called by main at idle_threads.c:{line('MPI_Sendrecv(out')}"
    assert "Idle threads" in lost
    assert call in where
    assert f"its first thread is in MPI, and was not seen to wait, in {call}" in cause


@pytest.mark.usefixtures("gfortran")
def test_a_program_of_gfortran_is_told_alike_with_the_other_runtime(site, clang, openmp):
    source = PROGRAMS / "idle_threads.f90"
    site.compile("mpif90", "-O1", "-fopenmp", source)
    (folder,) = [word[2:] for word in openmp(clang) if word.startswith("-L")]
    site.settings["LD_PRELOAD"] = f"{folder}/libomp.so"

    _, where, cause = told(site, 2, "./app")

    # gfortran makes one call of both directives, which has the line of the first
    call = f"MPI_Allreduce called by late at idle_threads.f90:{line('call MPI_All', source)}"
    assert f"while the first thread of its process is in {call}" in where
    directive = line("!$omp parallel private", source)
    loop = f"!$omp for at idle_threads.f90:{directive} in working::shared_part"
    assert cause.startswith("Rank 1 causes most of the largest wait")
    assert f"wait in MPI for what it does in {loop}" in cause
