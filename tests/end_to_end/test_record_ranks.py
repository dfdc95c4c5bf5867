"""Some ranks of a program are recorded, and the rest runs as it does without the recorder."""

from __future__ import annotations

import pytest

RING = """
#include <mpi.h>
#include <pthread.h>

static void *idle(void *nothing) { return nothing; }

int main(int argc, char **argv) {
    int rank, size, left, provided;
    pthread_t thread;
    MPI_Comm half;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    pthread_create(&thread, 0, idle, 0);
    pthread_join(thread, 0);
    for (int turn = 0; turn < 5; turn++) {
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 7, &left, 1, MPI_INT,
                     (rank + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(half);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return left != (rank + size - 1) % size;
}
"""


@pytest.fixture
def site(site):
    site.build(RING)
    return site


@pytest.mark.parametrize(
    ("site", "clocks", "chosen", "messages", "whole"),
    [  # each two of MPI, clocks and ranks meet; all ranks take part in what is measured
        ("open_mpi", "1", "0-1", 5, 0),
        ("open_mpi", "all", "1,3", 0, 6),
        ("mpich", "1", "1,3", 0, 6),
        ("mpich", "all", "0-1", 5, 0),
    ],
    indirect=["site"],
)
def test_what_is_recorded_is_whole_and_the_rest_is_known_to_be_missing(
    site, clocks, chosen, messages, whole
):
    site.settings["BURSTLINE_CLOCKS"] = clocks
    options = [f"--ranks={chosen}", "--keep-raw=raw", "-o", "app.store"]

    code, _, said = site.record(*options, "--", *site.ranks(4), "./app")

    assert code == 0, said
    assert "2 ranks of 4, " in said
    assert "recorded nothing" not in said
    assert len(list((site.folder / "raw").iterdir())) == 2, "files of other ranks are gone"
    trace = site.trace("app.store")
    ranks = [0, 1] if chosen == "0-1" else [1, 3]
    assert trace.locations["rank"].to_pylist() == ranks
    assert set(trace.defects["severity"].to_pylist()) == {"info"}
    assert trace.rows("messages") == messages
    assert trace.collectives["complete"].to_pylist().count(True) == whole
    operations = trace.calls["operation"].to_pylist()
    assert operations.count("MPI_Sendrecv") == 10
    assert operations.count("MPI_Finalize") == 2


def test_every_command_says_which_ranks_were_recorded(site):
    site.recorded("app.prv", "--ranks=2-3", "--", *site.ranks(4), "./app")

    for command in ("info", "waits", "structure", "matrix"):
        code, printed, said = site.burstline(command, "app.prv")

        assert code == 0, said
        text = " ".join((printed + said).split())
        assert "nly ranks 2-3 of 4 were recorded" in text, command
