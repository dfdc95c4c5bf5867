"""What can go wrong in a run: what was recorded before is kept, and the message says enough."""

from __future__ import annotations

import re
import subprocess

import pytest

ENDLESS = """
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    int rank, in, turns = argc > 1 ? atoi(argv[1]) : 1;
    const char *how = argc > 2 ? argv[2] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < turns; turn++)
        MPI_Sendrecv(&turn, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1 && strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 6);
    if (rank == 1 && strcmp(how, "crash") == 0) *(volatile int *)8 = 1;
    if (rank == 1 && strcmp(how, "killed") == 0) raise(SIGKILL);
    MPI_Finalize();
    return 0;
}
"""
SILENT = "int main(void) { return 0; }\n"
TURNS = 30000
FREE = '"$@"; code=$?; df -B1 --output=avail small; exit $code'


def assert_is_cut_but_whole_before(trace, ranks=2):
    """See that both ranks began, calls follow each other, and the gap is in the trace."""
    calls = trace.calls.to_pylist()
    assert {row["location"] for row in calls if row["operation"] == "MPI_Init"} == set(
        range(ranks)
    )
    found = sum(row["operation"] == "MPI_Sendrecv" for row in calls)
    assert 100 < found < ranks * TURNS
    assert "dropped" in {row["kind"] for row in trace.gaps.to_pylist()}


def test_a_disk_that_fills_up_while_ranks_write_costs_records_not_the_run(
    on_open_mpi, small_disk
):
    raw = on_open_mpi.folder / "small"
    raw.mkdir()
    program = on_open_mpi.build(ENDLESS)

    words = ["-o", "app.store", "--keep-raw=small/raw", "--", *on_open_mpi.ranks(2)]
    code, printed, said = on_open_mpi.record(
        *words, program, str(TURNS), before=[*small_disk(raw, "4m"), "sh", "-c", FREE, "sh"]
    )

    assert code == 0, said
    assert int(printed.split()[-1]) >= (4 << 20) // 100
    assert "No space left on device; records are dropped" in said
    assert (
        "records were dropped, as there was no room for them on the disk or in memory" in said
    )
    assert_is_cut_but_whole_before(on_open_mpi.trace("app.store"))


def test_a_run_leaves_as_much_of_the_disk_free_as_is_wanted(on_open_mpi, small_disk):
    raw = on_open_mpi.folder / "small"
    raw.mkdir()
    program = on_open_mpi.build(ENDLESS)

    words = ["-o", "app.store", "--keep-raw=small/raw", "--leave-free=2Mi", "--"]
    code, printed, said = on_open_mpi.record(
        *words,
        *on_open_mpi.ranks(2),
        program,
        str(TURNS),
        before=[*small_disk(raw, "6m"), "sh", "-c", FREE, "sh"],
    )

    assert code == 0, said
    assert "records were dropped" in said
    assert "--leave-free" in said
    assert int(printed.split()[-1]) >= 2 << 20
    assert_is_cut_but_whole_before(on_open_mpi.trace("app.store"))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("crash", "rank 1 was ended by SIGSEGV"),
        ("killed", "rank 1 ended without notice, by SIGKILL, _exit or exec"),
        ("abort", "rank 1 called MPI_Abort(6)"),
    ],
)
def test_a_rank_that_ends_under_mpich_leaves_what_it_did_before(on_mpich, how, message):
    code, _, said = on_mpich.record(
        "--", *on_mpich.ranks(2), on_mpich.build(ENDLESS), "50", how
    )

    assert code != 0
    assert message in said
    operations = on_mpich.trace().calls["operation"].to_pylist()
    assert operations.count("MPI_Sendrecv") == 100


def test_a_program_with_a_static_mpich_is_refused(on_mpich):
    program = on_mpich.build(ENDLESS)
    words = ["mpicc.mpich", "-show", "-o", "app", "app.c", "-l:libmpich.a"]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    libraries = ["-lhwloc", "-lucp", "-lucs", "-lm", "-lpthread"]
    words = [word for word in shown if word != "-lmpich"]
    subprocess.run([*words, *libraries], check=True, cwd=on_mpich.folder)

    code, _, said = on_mpich.record("--", *on_mpich.ranks(2), program)

    assert code == 3
    assert "MPI linked into the program itself" in said
    assert "Link it with the shared library" in said


def test_a_static_program_without_mpi_is_no_trace(on_mpich):
    words = ["gcc", "-xc", "-", "-o", "app", "-static"]
    subprocess.run(words, input=SILENT, text=True, check=True, cwd=on_mpich.folder)

    code, _, said = on_mpich.record("--", *on_mpich.ranks(2), "./app")

    assert code == 5
    assert "does not call MPI, has MPI linked into itself" in said


def test_raw_files_that_were_kept_become_the_same_trace(on_open_mpi):
    program = on_open_mpi.build(ENDLESS)
    words = ["--keep-raw=raw", "--", *on_open_mpi.ranks(2), program, "3"]
    assert on_open_mpi.record(*words)[0] == 0

    code, _, said = on_open_mpi.burstline("convert", "raw", "again.prv")

    assert code == 0, said
    for ending in ("prv", "pcf", "row"):
        first, again = (on_open_mpi.folder / f"{name}.{ending}" for name in ("app", "again"))
        assert _undated(first.read_bytes()) == _undated(again.read_bytes())


def _undated(content):
    """The content of a file without the minute in which it was written."""
    return re.sub(rb"^#Paraver \([^)]*\)", b"#Paraver ()", content)


def test_raw_files_say_that_places_are_not_named(on_open_mpi):
    program = on_open_mpi.build(ENDLESS)
    on_open_mpi.record("--keep-raw=raw", "--", *on_open_mpi.ranks(2), program)

    code, _, said = on_open_mpi.burstline("info", "raw")

    assert code == 0
    assert "functions and lines are not resolved" in said
    assert "burstline convert raw X.prv" in said


def test_a_program_without_debug_information_is_told_the_way_out(on_open_mpi):
    program = on_open_mpi.build(ENDLESS, "-s")

    code, _, said = on_open_mpi.record("--", *on_open_mpi.ranks(2), program)

    assert code == 0
    assert "some calls have no source lines. app: it has no debug information" in said
    assert "compile it with -g" in said
