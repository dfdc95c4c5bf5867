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


def assert_is_cut_but_whole_before(trace):
    """See that both ranks began, calls follow each other, and the gap is in the trace."""
    calls = trace.calls.to_pylist()
    assert {row["location"] for row in calls if row["operation"] == "MPI_Init"} == {0, 1}
    found = sum(row["operation"] == "MPI_Sendrecv" for row in calls)
    assert 100 < found < 2 * TURNS
    assert "dropped" in {row["kind"] for row in trace.gaps.to_pylist()}


@pytest.mark.parametrize(
    ("size", "options", "left", "messages"),
    [
        (
            "4m",
            [],
            (4 << 20) // 100,
            [
                "No space left on device; records are dropped",
                "records were dropped, as there was no room for them on the disk or in memory",
            ],
        ),
        ("6m", ["--leave-free=2Mi"], 2 << 20, ["records were dropped", "--leave-free"]),
    ],
    ids=["while ranks write", "as far as is wanted"],
)
def test_a_disk_that_fills_up_costs_records_not_the_run(
    on_open_mpi, small_disk, *, size, options, left, messages
):
    raw = on_open_mpi.folder / "small"
    raw.mkdir()
    program = [*on_open_mpi.ranks(2), on_open_mpi.build(ENDLESS), str(TURNS)]

    words = ["-o", "app.store", "--keep-raw=small/raw", *options, "--", *program]
    before = [*small_disk(raw, size), "sh", "-c", FREE, "sh"]
    code, printed, said = on_open_mpi.record(*words, before=before)

    assert code == 0, said
    assert int(printed.split()[-1]) >= left
    assert all(message in said for message in messages), said
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


def test_raw_files_that_were_kept_become_the_same_trace_and_name_no_places(on_open_mpi):
    program = on_open_mpi.build(ENDLESS)
    words = ["--keep-raw=raw", "--", *on_open_mpi.ranks(2), program, "3"]
    on_open_mpi.recorded("app.prv", *words)

    on_open_mpi.printed_by("convert", "raw", "again.prv")

    for ending in ("prv", "pcf", "row"):
        first, again = (on_open_mpi.folder / f"{name}.{ending}" for name in ("app", "again"))
        assert _undated(first.read_bytes()) == _undated(again.read_bytes())

    code, _, said = on_open_mpi.burstline("info", "raw")

    assert code == 0
    assert "functions and lines are not resolved" in said
    assert "burstline convert raw X.prv" in said


def _undated(content):
    """The content of a file without the minute in which it was written."""
    return re.sub(rb"^#Paraver \([^)]*\)", b"#Paraver ()", content)


def test_a_program_without_debug_information_is_told_the_way_out(on_open_mpi):
    program = on_open_mpi.build(ENDLESS, "-s")

    code, _, said = on_open_mpi.record("--", *on_open_mpi.ranks(2), program)

    assert code == 0
    assert "some calls have no source lines. app: it has no debug information" in said
    assert "compile it with -g" in said
