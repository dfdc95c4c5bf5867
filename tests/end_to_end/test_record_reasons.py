"""Where something is not recorded, or not named, the reason that is told is the true one."""

from __future__ import annotations

import subprocess

LOOKED_UP = """
#include <dlfcn.h>
int main(int count, char **words) {
    void *library = dlopen(words[1], RTLD_NOW | RTLD_GLOBAL);
    if (library == 0) return 3;
    void *from = count > 2 ? RTLD_DEFAULT : library;
    int (*init)(void *, void *) = (int (*)(void *, void *))dlsym(from, "MPI_Init");
    int (*finalize)(void) = (int (*)(void))dlsym(from, "MPI_Finalize");
    init(0, 0);
    return finalize();
}
"""
REMOVING = """
#include <mpi.h>
#include <stdlib.h>
int main(int count, char **words) {
    MPI_Init(NULL, NULL);
    if (system(words[1])) return 9;
    MPI_Finalize();
    return atoi(words[2]);
}
"""
COROUTINES = """
#include <mpi.h>
#include <ucontext.h>
static ucontext_t program, routine;
static char stack[1 << 18];
static void meet(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void run(void) {
    for (;;) {
        meet();
        swapcontext(&routine, &program);
    }
}
int main(void) {
    MPI_Init(NULL, NULL);
    getcontext(&routine);
    routine.uc_stack.ss_sp = stack;
    routine.uc_stack.ss_size = sizeof stack;
    makecontext(&routine, run, 0);
    for (int i = 0; i < 5; ++i) swapcontext(&program, &routine);
    MPI_Finalize();
    return 0;
}
"""


def test_a_program_that_looks_mpi_up_is_told_how_it_can_be_recorded(on_open_mpi):
    (on_open_mpi.folder / "app.c").write_text("#define _GNU_SOURCE\n" + LOOKED_UP)
    words = ["cc", "app.c", "-o", "app", "-ldl"]
    subprocess.run(words, check=True, cwd=on_open_mpi.folder)
    words = ("--", *on_open_mpi.ranks(1), "./app", "libmpi.so.40")

    code, _, said = on_open_mpi.record(*words)

    assert code == 5
    assert "is not linked with MPI and looks its functions up by dlsym" in said

    code, _, said = on_open_mpi.record(*words, "everywhere")

    assert code == 0, said
    assert on_open_mpi.trace().calls["operation"].to_pylist() == ["MPI_Init", "MPI_Finalize"]


def test_a_folder_that_is_removed_during_the_run_is_the_reason(on_open_mpi):
    words = ("--", *on_open_mpi.ranks(1), on_open_mpi.build(REMOVING), "rm -r .app.prv.*.raw")

    code, _, said = on_open_mpi.record(*words, "0")

    assert code == 5
    assert "the folder of the raw files was removed while the program ran" in said
    assert "has MPI linked into itself" not in said

    code, _, said = on_open_mpi.record(*words, "4")

    assert code == 4
    assert "the folder of the raw files was removed while the program ran" in said


def test_calls_of_coroutines_have_their_places_and_no_file_was_changed(on_open_mpi):
    code, _, said = on_open_mpi.record(
        "-o", "app.store", "--", *on_open_mpi.ranks(1), on_open_mpi.build(COROUTINES)
    )

    assert code == 0, said
    assert "changed" not in said
    calls = on_open_mpi.trace("app.store").calls.to_pylist()
    assert [call["operation"] for call in calls].count("MPI_Barrier") == 5
