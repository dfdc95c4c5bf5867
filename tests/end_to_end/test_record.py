"""``burstline record`` as its users see it: real programs under real MPIs."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from burstline.summary import summarise
from recording import line_of, patient, wait_until

PROGRAMS = Path(__file__).parents[1] / "record"
RING = """
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void end_as(const char *how, int rank) {
    if (strcmp(how, "abort") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 6);
    if (strcmp(how, "crash") == 0 && rank == 1) *(volatile int *)8 = 1;
    if (strcmp(how, "killed") == 0 && rank == 1) kill(getpid(), SIGKILL);
    if (strcmp(how, "exit") == 0) exit(3);
    if (strcmp(how, "_exit") == 0 && rank == 1) _exit(3);
    if (strcmp(how, "fork") == 0 && fork() == 0) execlp("true", "true", (char *)0);
    if (strcmp(how, "forever") == 0)
        for (int turn = 0; turn < 60000; turn++, usleep(1000)) MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int rank, size, left, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int turn = 0; turn < 5; turn++)
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 7, &left, 1, MPI_INT,
                     (rank + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1) end_as(argv[1], rank);
    MPI_Finalize();
    return left != (rank + size - 1) % size;
}
"""
THREADED = """
#include <mpi.h>
#include <pthread.h>

static void *talk(void *number) {
    int mine = *(int *)number, other;
    for (int turn = 0; turn < 10; turn++)
        MPI_Sendrecv(&mine, 1, MPI_INT, 0, mine, &other, 1, MPI_INT, 0, mine, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
    return 0;
}

int main(void) {
    int provided, numbers[3] = {0, 1, 2};
    pthread_t threads[3];
    MPI_Init_thread(0, 0, MPI_THREAD_MULTIPLE, &provided);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, talk, &numbers[i]);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    MPI_Finalize();
    return provided != MPI_THREAD_MULTIPLE;
}
"""
WITHIN = "int PMPI_Init(void) { return 0; } int _start(void) { return PMPI_Init(); }"
SILENT = "int main(void) { return 0; }\n"


def assert_is_ring(trace, ranks):
    """Five turns of a ring, each message with both its sides."""
    operations = trace.calls["operation"].to_pylist()
    assert operations.count("MPI_Sendrecv") == 5 * ranks
    messages = trace.messages.to_pylist()
    assert len(messages) == 5 * ranks
    assert {row["sent_bytes"] for row in messages} == {4}
    assert all(
        row["receiver_location"] == (row["sender_location"] + 1) % ranks for row in messages
    )


@pytest.mark.parametrize("output", ["ring.prv", "ring.store"])
def test_a_program_under_open_mpi_becomes_a_trace(on_open_mpi, output):
    program = on_open_mpi.build(RING)

    code, printed, said = on_open_mpi.record(
        "--format", "json", "-o", output, "--", *on_open_mpi.ranks(3), program
    )

    assert code == 0, said
    document = json.loads(printed)
    assert document["trace"] == output
    assert document["ranks"] == 3
    assert document["records"] > 3 * 2 * 8
    assert document["dropped"] == 0
    assert document["defects"] == []
    assert_is_ring(on_open_mpi.trace(output), 3)
    assert summarise(on_open_mpi.trace(output)).path.endswith(output)
    assert not [path for path in on_open_mpi.folder.iterdir() if path.suffix == ".raw"]


def test_calls_under_mpich_know_where_in_the_source_they_stand(on_mpich):
    words = ["--", *on_mpich.ranks(2), on_mpich.build(RING)]

    trace = on_mpich.recorded("app.prv", *words)

    assert_is_ring(trace, 2)
    paths = {row["call_path"]: row for row in trace.call_paths.to_pylist()}
    barrier = next(row for row in trace.calls.to_pylist() if row["operation"] == "MPI_Barrier")
    place = paths[barrier["call_path"]]
    line = line_of("    MPI_Barrier(", RING)
    assert (place["function"], place["file"], place["line"]) == ("main", "app.c", line)


def test_a_program_without_a_launcher_is_a_run_of_one_rank(on_open_mpi):
    assert_is_ring(on_open_mpi.recorded("app.prv", "--", on_open_mpi.build(RING)), 1)


def test_several_programs_are_one_run(on_open_mpi):
    first, second = on_open_mpi.build(RING, name="a"), on_open_mpi.build(RING, name="b")
    words = [*on_open_mpi.ranks(1), first, ":", "-n", "2", second]

    assert_is_ring(on_open_mpi.recorded("all.prv", "--", *words), 3)


def test_a_program_behind_a_script_is_recorded(on_open_mpi):
    on_open_mpi.build(RING)
    script = on_open_mpi.folder / "job.sh"
    script.write_text("#!/bin/sh\n./app\nexit 5\n")
    script.chmod(0o755)

    code, _, said = on_open_mpi.record("--", *on_open_mpi.ranks(2), "./job.sh")

    assert code == 5, said
    assert_is_ring(on_open_mpi.trace("job.prv"), 2)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("crash", "rank 1 was ended by SIGSEGV"),
        ("killed", "rank 1 ended without notice, by SIGKILL, _exit or exec"),
        ("abort", "rank 1 called MPI_Abort(6)"),
        ("exit", "ended with code 3"),
        ("_exit", "rank 1 ended without notice, by SIGKILL, _exit or exec"),
    ],
)
def test_a_program_that_fails_leaves_what_it_did_before(on_open_mpi, how, message):
    program = on_open_mpi.build(RING, *patient())
    words = ["--format", "json", "--", *on_open_mpi.ranks(2), program, how]

    code, printed, said = on_open_mpi.record(*words)

    assert code != 0
    assert message in said
    kinds = {defect["kind"] for defect in json.loads(printed)["defects"]}
    assert ("process_without_end" in kinds) == (how in {"killed", "_exit"}), kinds
    assert_is_ring(on_open_mpi.trace(), 2)


def test_programs_that_a_rank_starts_do_not_disturb(on_open_mpi):
    words = ["--", *on_open_mpi.ranks(2), on_open_mpi.build(RING), "fork"]

    assert_is_ring(on_open_mpi.recorded("app.prv", *words), 2)


def test_each_thread_that_calls_mpi_is_recorded(on_open_mpi):
    words = ["--", *on_open_mpi.ranks(1), on_open_mpi.build(THREADED)]

    trace = on_open_mpi.recorded("app.prv", *words)

    calls = [row for row in trace.calls.to_pylist() if row["operation"] == "MPI_Sendrecv"]
    assert len(calls) == 30
    assert len({row["location"] for row in calls}) == 3
    assert trace.messages.num_rows == 30


def test_interrupting_leaves_what_was_recorded(on_open_mpi):
    process = on_open_mpi.start("--", *on_open_mpi.ranks(2), on_open_mpi.build(RING), "forever")
    wait_until(lambda: len(list(on_open_mpi.folder.glob(".*.raw/*.raw"))) == 2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)

    assert process.returncode == 130, said
    assert "interrupted" in said
    assert {"MPI_Init", "MPI_Sendrecv"} <= set(
        on_open_mpi.trace().calls["operation"].to_pylist()
    )


def test_a_program_that_does_not_call_mpi_is_no_trace(on_open_mpi):
    code, _, said = on_open_mpi.record(
        "--", *on_open_mpi.ranks(2), on_open_mpi.build(SILENT, "-Wl,--as-needed")
    )

    assert code == 5
    assert "no rank recorded anything" in said


@pytest.mark.parametrize("words", [["env", "-u", "LD_PRELOAD"], ["sh", "-c", "exit 3"]])
def test_a_program_that_nobody_recorded_may_have_called_mpi(on_open_mpi, words):
    program = on_open_mpi.build(RING)

    code, _, said = on_open_mpi.record(
        "--mpi=openmpi", "--", *on_open_mpi.ranks(2), *words, program, "exit"
    )

    assert code == 3
    assert "no rank recorded anything; no trace. It ended before MPI_Init" in said
    assert "LD_PRELOAD is taken out of its environment" in said


def test_processes_that_the_program_spawned_are_said_to_be_missing(on_open_mpi):
    source = (PROGRAMS / "mpi_spawn.c").read_text()

    code, _, said = on_open_mpi.record("--", *on_open_mpi.ranks(2), on_open_mpi.build(source))

    assert code == 0
    assert "MPI_Comm_spawn started processes that are not recorded" in said
    assert "4 sends and receives have their other side in another job" in said


def test_programs_that_a_file_names_are_recorded_with_those_they_spawn(on_open_mpi):
    program = on_open_mpi.build((PROGRAMS / "mpi_spawn.c").read_text())
    (on_open_mpi.folder / "schema").write_text(f"-n 2 {program}\n")

    code, _, said = on_open_mpi.record(
        "--mpi=openmpi", "-o", "app.store", "--", on_open_mpi.launcher, "--app", "schema"
    )

    assert code == 0, said
    assert "processes that have the numbers of ranks again" in said
    operations = on_open_mpi.trace("app.store").calls["operation"].to_pylist()
    assert operations.count("MPI_Comm_spawn") == 2
    assert operations.count("MPI_Barrier") == 4


def test_a_program_under_the_wrong_launcher_is_refused(on_open_mpi, mpich):
    code, _, said = on_open_mpi.record("--", mpich[1], "-n", "2", on_open_mpi.build(RING))

    assert code == 2
    assert "uses Open MPI, but mpiexec.mpich is the launcher of MPICH" in said


def test_a_program_with_mpi_within_itself_is_refused(on_mpich):
    words = ["gcc", "-xc", "-", "-o", "app", "-nostartfiles", "-static"]
    subprocess.run(words, input=WITHIN, text=True, check=True, cwd=on_mpich.folder)

    code, _, said = on_mpich.record("--", *on_mpich.ranks(2), "./app")

    assert code == 3
    assert "MPI linked into the program itself" in said
