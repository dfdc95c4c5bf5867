"""Programs whose threads idle for a known reason, and what ``burstline waits`` says of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from recording import line_of

PROGRAMS = Path(__file__).parents[1] / "record"
SOURCE = PROGRAMS / "idle_threads.c"
SENDRECV, PARALLEL, LOOP = (
    f"idle_threads.c:{line_of(text, SOURCE.read_text())}"
    for text in ("MPI_Sendrecv(out", "#pragma omp parallel", "#pragma omp for")
)
CALL = f"MPI_Sendrecv called by main at {SENDRECV}"


@pytest.fixture
def site(site):
    """Folder in which programs run with two threads."""
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


def told(site, ranks, *words):
    """Record a program, and give what is lost, where, and why."""
    code, _, said = site.record("--", *site.ranks(ranks), *words)
    assert code == 0, said
    assert "nothing of its threads" not in said
    verdict = site.verdict_of("app.prv")
    return [verdict[question] for question in ("lost", "where", "cause")]


def test_a_serial_part_is_where_one_thread_works_alone(site, clang, openmp):
    program = built(site, clang, openmp(clang), "c")

    lost, _, cause = told(site, 1, program, "serial")

    assert "Idle threads" in lost
    assert cause.startswith("Rank 0 causes most of the largest wait")
    fork = f"!$omp parallel at {PARALLEL}"
    assert f"one thread works alone computing from {fork}, to MPI_Sendrecv" in cause
    assert f"to MPI_Sendrecv, {SENDRECV}" in cause
    assert "in main or what it calls" in cause


@pytest.mark.parametrize(
    ("site", "language"), [("open_mpi", "c"), ("mpich", "c++")], indirect=["site"]
)
def test_a_rank_that_is_late_keeps_threads_of_others_idle(site, clang, openmp, language):
    program = built(site, clang, openmp(clang), language)

    lost, where, cause = told(site, 2, program, "late")

    assert "Idle threads" in lost
    assert f"while the first thread of its process is in {CALL}" in where
    # Four threads on few processors keep each other waiting, too.
    amount = "most of the largest wait", "more of the largest wait than any"
    assert cause.startswith(tuple(f"Rank 1 causes {each}" for each in amount))
    loop = f"!$omp for at {LOOP} in shared_part"
    assert f"first threads of other ranks wait in MPI for what it does in {loop}" in cause
    assert "alone" not in cause


def test_a_thread_in_mpi_does_not_work_alone(site, clang, openmp):
    program = built(site, clang, openmp(clang), "c")

    lost, where, cause = told(site, 1, program, "mpi")

    assert "Idle threads" in lost
    assert CALL in where
    assert f"its first thread is in MPI, and was not seen to wait, in {CALL}" in cause


@pytest.mark.usefixtures("gfortran")
def test_a_program_of_gfortran_is_told_alike_with_the_other_runtime(site, clang, openmp):
    source = PROGRAMS / "idle_threads.f90"
    site.compile("mpif90", "-O1", "-fopenmp", source)
    (folder,) = [word[2:] for word in openmp(clang) if word.startswith("-L")]
    site.settings["LD_PRELOAD"] = f"{folder}/libomp.so"

    _, where, cause = told(site, 2, "./app")

    # gfortran makes one call of both directives, which has the line of the first
    text = source.read_text()
    call = f"MPI_Allreduce called by late at idle_threads.f90:{line_of('call MPI_All', text)}"
    assert f"while the first thread of its process is in {call}" in where
    directive = line_of("!$omp parallel private", text)
    loop = f"!$omp for at idle_threads.f90:{directive} in working::shared_part"
    assert cause.startswith("Rank 1 causes most of the largest wait")
    assert f"wait in MPI for what it does in {loop}" in cause
