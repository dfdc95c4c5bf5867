"""Programs with a sanitizer are recorded, and those that ranks start are left alone."""

from __future__ import annotations

import subprocess

import pytest

ADDING = """
#include <mpi.h>
#include <stdlib.h>
int main(int count, char **words) {
    MPI_Init(NULL, NULL);
    volatile int *sum = (volatile int *)malloc(sizeof *sum), one = 1;
    for (int i = 0; i < 10; ++i)
        MPI_Allreduce((void *)&one, (void *)sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int wrong = *sum != 2;
    if (count > 1) wrong += sum[atoi(words[1])];
    free((void *)sum);
    MPI_Finalize();
    return wrong;
}
"""
FORTRAN = """
program adding
    use mpi
    integer, allocatable :: total(:)
    integer :: i, error
    call MPI_Init(error)
    allocate(total(1))
    do i = 1, 10
        call MPI_Allreduce(1, total(1), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    end do
    if (total(1) /= 2) stop 1
    deallocate(total)
    call MPI_Finalize(error)
end program
"""
STARTING = """
#include <mpi.h>
#include <stdlib.h>
int main(void) {
    MPI_Init(NULL, NULL);
    const int status = system("./child 7");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return status != 7 << 8;
}
"""
CHILD = "#include <stdlib.h>\nint main(int count, char **words) { return atoi(words[1]); }"
OWN = '\nconst char *__asan_default_options(void) { return "detect_leaks=0"; }\n'
LANGUAGES = {
    "c": ("mpicc", ADDING),
    "cpp": ("mpicxx", ADDING),
    "f90": ("mpif90", FORTRAN),
}
MPIS = ("open_mpi", "mpich")
# Each two of MPI, sanitizer and language meet; all three of each would be twice as many.
RUNS = [
    (MPIS[(number + turn) % 2], kind, language)
    for number, kind in enumerate(("address", "undefined", "leak"))
    for turn, language in enumerate(LANGUAGES)
]


@pytest.fixture
def site(site):
    """Give a folder with each MPI; leaks, of which MPI has its own, are nobody's here."""
    site.settings |= {"LSAN_OPTIONS": "detect_leaks=0", "ASAN_OPTIONS": "detect_leaks=0"}
    return site


def built(site, *options, language="c", text=""):
    """Give a program of two ranks that add ten times, with options of a sanitizer."""
    compiler, source = LANGUAGES[language]
    (site.folder / f"app.{language}").write_text(source + text)
    return site.compile(compiler, f"app.{language}", *options)


def additions(site):
    """Count the calls of the trace that add."""
    return site.trace().calls["operation"].to_pylist().count("MPI_Allreduce")


@pytest.mark.parametrize(("site", "kind", "language"), RUNS, indirect=["site"])
def test_a_program_with_a_sanitizer_is_recorded(site, kind, language):
    program = built(site, f"-fsanitize={kind}", language=language)

    code, _, said = site.record("--", *site.ranks(2), program)

    assert code == 0, said
    assert additions(site) == 20


@pytest.mark.parametrize("kind", ["address", "thread"])
def test_a_program_that_clang_built_with_a_sanitizer_is_recorded(
    site, kind, work_compiler, monkeypatch
):
    for name in ("OMPI_CC", "MPICH_CC"):
        monkeypatch.setenv(name, work_compiler[0])
    # Its sanitizer is in the program, and ends none that another library goes before.
    program = built(site, f"-fsanitize={kind}", text=OWN)

    code, _, said = site.record("--", *site.ranks(2), program)

    assert code == 0, said
    assert additions(site) == 20


def test_what_a_sanitizer_finds_is_said_as_without_recording(site):
    program = built(site, "-fsanitize=address")

    code, _, said = site.record("--", *site.ranks(2), program, "1")

    assert code not in {0, 5}
    assert "heap-buffer-overflow" in said
    assert additions(site) == 20


def test_programs_with_a_sanitizer_that_a_rank_starts_end_as_they_would(on_open_mpi):
    (on_open_mpi.folder / "child.c").write_text(CHILD)
    words = ["cc", "-fsanitize=address", "child.c", "-o", "child"]
    subprocess.run(words, check=True, cwd=on_open_mpi.folder)

    code, _, said = on_open_mpi.record("--", *on_open_mpi.ranks(2), on_open_mpi.build(STARTING))

    assert code == 0, said


def test_options_of_the_program_itself_that_forbid_a_recorder_are_told_before_the_run(site):
    program = built(site, "-fsanitize=address", text=OWN)
    words = ("--", *site.ranks(2), program)

    code, _, said = site.record(*words)

    assert code == 3
    assert "Set ASAN_OPTIONS=verify_asan_link_order=0" in said
    assert not (site.folder / "app.prv").exists()

    site.settings["ASAN_OPTIONS"] += ":verify_asan_link_order=0"
    code, _, said = site.record(*words)

    assert code == 0, said
    assert additions(site) == 20
