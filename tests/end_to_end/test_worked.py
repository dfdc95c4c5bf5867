"""Programs whose work is arithmetic: the verdict names function, file, line and rank."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

RECORD = Path(__file__).parents[1] / "record"


def line(text, name="worked.c"):
    """The line of a source that a text stands in."""
    rows = (RECORD / name).read_text().splitlines()
    (number,) = (row for row, code in enumerate(rows, 1) if text in code)
    return f"{name}:{number}"


def require(said, rank, function):
    """The verdict names rank and function, or says that the machine was busy with others."""
    if "shared processors" in said or "waited for a processor" in said:
        return  # whoever was late then is not for us to say
    assert f"Rank {rank} causes most of it" in said
    assert re.search(rf"{function} takes longer there", said), said
    assert "smooth at" not in said


@pytest.fixture(params=["open_mpi", "mpich"])
def site(request):
    return request.getfixturevalue(f"on_{request.param}")


@pytest.fixture
def verdict(site):
    """What ``waits`` says first of a program that is recorded without an option."""

    def of(ranks, *words):
        made = site.record(
            "--force", "--quiet", "-o", "app.store", "--", *site.ranks(ranks), *words
        )
        assert made[0] == 0, made[2]
        code, printed, said = site.burstline("waits", "app.store", "--quiet")
        assert code == 0, said
        return " ".join(printed.partition("What the time goes to")[0].split())

    return of


@pytest.fixture
def worked(site):
    return site.compile("mpicc", RECORD / "worked.c", "-O2", "-Wno-unknown-pragmas")


@pytest.mark.parametrize(
    ("mode", "ranks", "rank"),
    [("imbalance", 2, 1), ("late_sender", 2, 0), ("wavefront", 4, 1), ("workers", 4, 0)],
)
def test_the_function_that_was_planted_is_named_with_its_line_and_rank(
    verdict, worked, mode, ranks, rank
):
    require(verdict(ranks, worked, mode), rank, f"assemble at {line('in assemble')}")


def test_of_a_sound_program_nobody_is_blamed(verdict, worked):
    said = verdict(2, worked, "sound")

    if "shared processors" not in said:  # then somebody was late, and rightly named
        assert not re.search(r"causes most of it|Look there first", said), said


@pytest.mark.usefixtures("gfortran")
def test_a_subroutine_of_fortran_is_named(verdict, site):
    app = site.compile("mpif90", RECORD / "worked.f90", "-O2", name="worked")

    require(verdict(2, app), 1, r"compute at worked\.f90:\d+")


@pytest.mark.needs("clang")
def test_the_function_of_the_slow_thread_of_a_team_is_named(verdict, site, openmp):
    for name in ("OMPI_CC", "MPICH_CC"):
        site.settings[name] = "clang"
    words = [f"mpicc.{site.kind}", "-g", "-O2", str(RECORD / "worked.c"), "-o", "threads"]
    subprocess.run(
        [*words, *openmp("clang")], check=True, cwd=site.folder, env=os.environ | site.settings
    )

    require(verdict(1, "./threads", "threads"), 0, f"assemble at {line('in assemble')}")
