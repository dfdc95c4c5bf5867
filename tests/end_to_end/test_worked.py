"""Programs whose work is arithmetic: the first sentence names function, file, line and rank."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from burstline.formats import sampled
from recording import line_of

RECORD = Path(__file__).parents[1] / "record"
ASSEMBLE = f"worked.c:{line_of('in assemble', (RECORD / 'worked.c').read_text())}"


def require(made, rank, function, place):
    """The first sentence names rank and function, unless the machine was busy with others.

    It blames no other for what it computes even then, and samples are where the work is.
    """
    said, trace = made
    ranks = trace.table("locations")["rank"].to_pylist()
    rows = sampled(trace).to_pylist()
    seen = Counter(ranks[row["location"]] for row in rows if row["function"].endswith(function))
    assert seen.most_common(1)[0][0] == rank, seen
    first, *rest = (said[question] for question in said if question != "judged")
    if "shared processors" in said.get("judged", "") or "waited for a processor" in first:
        blamed = re.match(r"Rank (\d+) causes .* takes longer there", said.get("cause", ""))
        assert blamed is None or int(blamed[1]) == rank, said
    else:
        assert first.startswith(f"Rank {rank} causes most of the largest wait"), said
        assert re.search(rf"\b{function} at {place} takes longer there", first), said
    assert "smooth at" not in " ".join([first, *rest])


@pytest.fixture
def verdict(site):
    """What ``waits`` says, by question, of a program that is recorded without an option."""

    def of(ranks, *words):
        options = ["--force", "--quiet"]
        trace = site.recorded("app.store", *options, "--", *site.ranks(ranks), *words)
        return site.verdict_of("app.store"), trace

    return of


@pytest.fixture
def worked(site):
    return site.compile("mpicc", RECORD / "worked.c", "-O2", "-Wno-unknown-pragmas")


@pytest.mark.parametrize(
    ("site", "mode", "ranks", "rank"),
    [
        ("open_mpi", "imbalance", 2, 1),
        ("mpich", "late_sender", 2, 0),
        ("mpich", "wavefront", 4, 1),
        ("open_mpi", "workers", 4, 0),
    ],
    indirect=["site"],
)
def test_the_function_that_was_planted_is_named_with_its_line_and_rank(
    verdict, worked, mode, ranks, rank
):
    require(verdict(ranks, worked, mode), rank, "assemble", ASSEMBLE)


def test_of_a_sound_program_nobody_is_blamed(verdict, worked):
    said, _ = verdict(2, worked, "sound")

    if "shared processors" not in said.get("judged", ""):  # then somebody was rightly named
        assert not re.search(r"Rank \d+ causes|Look there first", " ".join(said.values())), said


@pytest.mark.usefixtures("gfortran")
def test_a_subroutine_of_fortran_is_named(verdict, site):
    app = site.compile("mpif90", RECORD / "worked.f90", "-O2", name="worked")

    require(verdict(2, app), 1, "compute", r"worked\.f90:\d+")


@pytest.mark.needs("clang")
def test_the_function_of_the_slow_thread_of_a_team_is_named(verdict, site, openmp):
    for name in ("OMPI_CC", "MPICH_CC"):
        site.settings[name] = "clang"
    words = [f"mpicc.{site.kind}", "-g", "-O2", str(RECORD / "worked.c"), "-o", "threads"]
    subprocess.run(
        [*words, *openmp("clang")], check=True, cwd=site.folder, env=os.environ | site.settings
    )

    require(verdict(1, "./threads", "threads"), 0, "assemble", ASSEMBLE)
