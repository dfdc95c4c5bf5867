"""Programs compiled by `burstline cc` count exactly what they execute."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import warm
from burstline.record.building.compiler import KINDS
from record.instructions import NAMES, with_hits, work_of

KERNELS = Path(__file__).parents[1] / "record" / "kernels"
BY_HAND = ["-O1", "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops"]

# multiply: 10 rows of 10; odd: half of 100 is odd; found: the 41st of 100; called: 10 rounds.
BY_HAND_COUNTED = ("LD_INS", "SR_INS", "BR_INS", "FP_INS", "SP_OPS", "DP_OPS", "CALLS")
HAND = {  # as executed, of each of these
    "triad": (200, 100, 1 + 100, 100, 0, 200, 0),
    "dot": (200, 0, 1 + 100, 100, 200, 0, 0),
    "multiply": (10 * 2 + 100 * 3, 10, 1 + 10 * 2 + 100, 100, 0, 200, 0),
    "odd": (100 + 50 + 1, 50 + 1, 1 + 2 * 100, 0, 0, 0, 0),
    "found": (41, 0, 1 + 41 + 41 - 1, 0, 0, 0, 0),
    "called": (20, 20, 1 + 20, 20, 0, 20, 10),
}


def run(words, folder, cache):
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    return subprocess.run(
        list(map(str, words)),
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment,
    )


def compiled(words, folder, cache, command="cc", count="all"):
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    code, _, told = warm.run([command, "--count", count, "--", *words], folder, environment)
    assert (code, told) == (0, "")


def counted(clang, options, folder, cache, count="all", *, linked=()):
    """Compile the kernels, run them, and give what each of them counted."""
    words = [clang, *options, "-c", KERNELS / "kernels.c"]
    compiled(words, folder, cache, count=count)
    subprocess.run([clang, "-c", KERNELS / "harness.c"], check=True, cwd=folder)
    compiled([clang, *linked, "kernels.o", "harness.o", "-o", "program"], folder, cache)
    return said(run([folder / "program"], folder, cache).stderr)


def said(text):
    kernels = (line.split() for line in text.splitlines())
    return {name: dict(zip(NAMES, map(int, rest), strict=True)) for name, *rest in kernels}


def expected(clang, options, folder, cache):
    """Count by executions of the blocks of the representation's text."""
    text = "kernels.ll"
    words = [clang, *options, "-S", "-emit-llvm", KERNELS / "kernels.c", "-o", text]
    subprocess.run(words, check=True, cwd=folder)
    hit, blocks = with_hits((folder / text).read_text())
    (folder / "hit.ll").write_text(hit)
    sources = ["hit.ll", KERNELS / "harness.c", KERNELS / "hits.c"]
    subprocess.run([clang, "-w", *sources, "-o", "hits"], check=True, cwd=folder)
    sums = {name: dict.fromkeys(NAMES, 0) for name, _, _ in blocks}
    for line in run([folder / "hits"], folder, cache).stdout.splitlines():
        if line.startswith("hit "):
            number, times = map(int, line.split()[1:])
            name, _, lines = blocks[number]
            for counter, each in work_of(lines).items():
                sums[name][counter] += times * each
    return sums


def test_counts_are_those_made_by_hand(clang, tmp_path, built_once):
    kernels = counted(clang, BY_HAND, tmp_path, built_once)

    shown = {name: tuple(kernels[name][each] for each in BY_HAND_COUNTED) for name in HAND}
    assert shown == HAND


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os"])
def test_each_run_counts_what_the_emitted_representation_holds(
    clang, level, tmp_path, built_once
):
    kernels = counted(clang, [level], tmp_path, built_once)

    assert said(run([tmp_path / "program"], tmp_path, built_once).stderr) == kernels
    assert kernels == expected(clang, [level], tmp_path, built_once)


def test_each_kind_alone_counts_as_it_does_with_all_others(clang, tmp_path, built_once):
    kernels = counted(clang, ["-O3"], tmp_path, built_once)

    for kind, counters in KINDS.items():
        short = {name.removeprefix("IR_") for name in counters}
        for name, alone in counted(clang, ["-O3"], tmp_path, built_once, kind).items():
            kept = {each: kernels[name][each] if each in short else 0 for each in NAMES}
            assert alone == kept, kind


def test_vector_counts_are_what_wide_vectors_hold(clang, tmp_path, built_once):
    options = ["-O3", "-ffast-math", "-mavx2", "-mfma"]

    kernels = counted(clang, options, tmp_path, built_once)

    assert kernels["dot"]["VEC_SP"] > 0
    assert kernels == expected(clang, options, tmp_path, built_once)


def test_a_program_that_is_optimised_as_a_whole_counts_the_same(clang, tmp_path, built_once):
    plain = counted(clang, ["-O3"], tmp_path, built_once)
    (tmp_path / "program").unlink()

    whole = counted(clang, ["-O3", "-flto"], tmp_path, built_once, linked=["-O3", "-flto"])

    assert plain["triad"]["VEC_INS"] > 0
    assert whole == plain


def test_position_independent_code_counts_the_same(clang, tmp_path, built_once):
    plain = counted(clang, ["-O2", "-fno-pic"], tmp_path, built_once)
    (tmp_path / "program").unlink()
    words = [clang, "-O2", "-fPIC", "-shared", KERNELS / "kernels.c", "-o", "libkernels.so"]
    compiled(words, tmp_path, built_once)
    words = [clang, "harness.o", "./libkernels.so", "-Wl,-rpath,.", "-o", "program"]
    compiled(words, tmp_path, built_once)

    assert said(run([tmp_path / "program"], tmp_path, built_once).stderr) == plain


def test_the_exit_code_of_the_compiler_is_passed_on(clang, tmp_path, built_once):
    words = [sys.executable, "-m", "burstline", "cc", "--", clang, "-c", "missing.c"]

    done = run(words, tmp_path, built_once)

    assert done.returncode == 1
    assert "missing.c" in done.stderr


def test_sources_are_built_warning_free_from_standard_input(clang, tmp_path, built_once):
    words = [sys.executable, "-m", "burstline", "cc", "--", clang, "-x", "c", "-", "-Werror"]

    done = subprocess.run(
        [*words, "-o", "program"],
        input=b"int main(void) { return 0; }",
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "XDG_CACHE_HOME": str(built_once)},
    )

    assert (done.returncode, done.stderr) == (0, b"")


THROWS = """
#include <cstdio>
#include <stdexcept>
extern thread_local unsigned long burst_work[16];
__attribute__((noinline)) double half(double x) {
    if (x < 0) throw std::runtime_error("negative");
    return x / 2;
}
int main() {
    double sum = 0;
    for (int i = 0; i < 10; i++) {
        try { sum += half(i % 2 ? -i : i); } catch (const std::exception &) { sum -= 1; }
    }
    std::printf("%lu %.0f\\n", burst_work[5], sum);
}
"""


def test_exceptions_lose_no_count(clang, tmp_path, built_once):
    (tmp_path / "throws.cpp").write_text(THROWS)
    compiler = clang.replace("clang", "clang++")
    compiled([compiler, "-O1", "throws.cpp", "-o", "program"], tmp_path, built_once, "c++")

    done = run([tmp_path / "program"], tmp_path, built_once)

    assert done.stdout == "15 5\n"


JUMPS = """
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
extern __thread unsigned long burst_work[16];
static __thread jmp_buf back;
__attribute__((noinline)) double half(double x) {
    if (x < 0) longjmp(back, 1);
    __asm__ volatile("nop\\n\\tnop" ::: "memory");
    return x / 2;
}
static void *work(void *rounds) {
    volatile double sum = 0;
    for (volatile long i = 0; i < *(long *)rounds; i++)
        if (setjmp(back) == 0) sum += half(i % 2 ? -i : i);
    printf("%lu %.0f\\n", burst_work[5], sum);
    return 0;
}
int main(void) {
    static long rounds[2] = {10, 20};
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, work, &rounds[i]);
        pthread_join(thread, 0);
    }
    printf("%lu\\n", burst_work[5]);
    return 0;
}
"""


def test_jumps_and_assembly_lose_no_count_and_threads_have_their_own(
    clang, tmp_path, built_once
):
    (tmp_path / "jumps.c").write_text(JUMPS)
    compiled([clang, "-O1", "-pthread", "jumps.c", "-o", "program"], tmp_path, built_once)

    done = run([tmp_path / "program"], tmp_path, built_once)

    # Half of the rounds return: a division and a sum each. 0 + 2 + 4 + 6 + 8, halved.
    assert done.stdout.splitlines() == ["10 10", "20 45", "0"]


def test_a_program_linked_without_the_counters_is_told_how(clang, tmp_path, built_once):
    compiled([clang, "-c", KERNELS / "kernels.c"], tmp_path, built_once)

    words = ["cc", "kernels.o", KERNELS / "harness.c", "-o", "program"]
    done = run(words, tmp_path, built_once)

    assert done.returncode != 0
    assert "undefined reference to `link_with_burstline_cc'" in done.stderr


# Ten rounds: exp, sin and pow; floor, which is a call where there is no instruction for it; a
# square root, which is one unless libm need not set errno.
CALLEES = """
#include <math.h>
#include <stdlib.h>
#include <string.h>
extern int MPI_Barrier(int), omp_get_level(void), other(void), (*by_pointer)(void);
extern void report(void);
volatile double x = 0.5, y = 1.5;
char *volatile text;
static void allocate(volatile long *bytes) {
    text = malloc(*bytes);
    text = realloc(text, 2 * *bytes);
    memset(text, 1, *bytes);
    memmove(text + 1, text, *bytes);
    char *more = calloc(*bytes, 1);
    memcpy(text, more, *bytes);
    free(text);
    free(text = more);
}
int main(void) {
    volatile long bytes = 8;
    for (int i = 0; i < 10; i++) {
        x = exp(y) * sin(x);
        x = floor(pow(x, y)) + fabs(sqrt(y));
        MPI_Barrier(omp_get_level());
        other();
        by_pointer();
    }
    allocate(&bytes);
    report();
    return 0;
}
"""
CALLED = """
#include <stdio.h>
extern __thread unsigned long burst_work[16];
int MPI_Barrier(int none) { return none; }
int omp_get_level(void) { return 0; }
int other(void) { return 1; }
int (*by_pointer)(void) = other;
void report(void) { printf("%lu %lu %lu\\n", burst_work[13], burst_work[14], burst_work[15]); }
"""


@pytest.mark.parametrize(
    ("options", "mathematics"),
    [
        (["-O0"], 50),
        (["-O2"], 50),
        (["-O2", "-ffast-math"], 40),
        (["-O2", "-fno-math-errno", "-msse4.1"], 30),
    ],
    ids=lambda value: value if isinstance(value, int) else " ".join(value),
)
def test_calls_are_counted_by_what_they_are_for(
    clang, options, mathematics, tmp_path, built_once
):
    (tmp_path / "callees.c").write_text(CALLEES)
    (tmp_path / "called.c").write_text(CALLED)
    subprocess.run([clang, "-c", "called.c"], check=True, cwd=tmp_path)
    words = [clang, *options, "callees.c", "called.o", "-lm", "-o", "program"]
    compiled(words, tmp_path, built_once, count="calls")

    done = run([tmp_path / "program"], tmp_path, built_once)

    assert done.stdout == f"{mathematics} 8 21\n"


def test_new_and_delete_are_calls_of_memory(clang, tmp_path, built_once):
    (tmp_path / "called.c").write_text(CALLED)
    (tmp_path / "news.cpp").write_text(
        """
        #include <cmath>
        extern "C" void report();
        long *volatile one, *volatile many;
        volatile float x = 2;
        int main() {
            one = new long, many = new long[3];
            delete one;
            delete[] many;
            x = std::cos(x) + std::pow(x, 2.5f);
            report();
        }
        """
    )
    subprocess.run([clang, "-c", "called.c"], check=True, cwd=tmp_path)
    compiler = clang.replace("clang", "clang++")
    compiled([compiler, "-O2", "news.cpp", "called.o", "-o", "program"], tmp_path, built_once)

    assert run([tmp_path / "program"], tmp_path, built_once).stdout == "2 4 1\n"


# What flang makes of three turns of a loop with exp, a power, MPI_Barrier and a line of output
# around a fill, and of an array that is allocated and freed.
FORTRAN = """
define i32 @main(i32 %arguments) {
entry:
  %one = zext i32 %arguments to i64
  %turns = add i64 %one, 2
  %array = call PTR @malloc(i64 64)
  br label %turn
turn:
  %i = phi i64 [ 0, %entry ], [ %next, %turn ]
  %x = sitofp i64 %i to double
  %e = call double @exp(double %x)
  %p = call double @llvm.pow.f64(double %e, double 2.5)
  call void @mpi_barrier_(PTR %array, PTR %array)
  call void @llvm.memset.ANY.i64(PTR %array, i8 0, i64 %i, i1 false)
  %y = fptosi double %p to i32
  %said = call i1 @_FortranAioOutputInteger32(PTR %array, i32 %y)
  %next = add i64 %i, 1
  %over = icmp eq i64 %next, %turns
  br i1 %over, label %out, label %turn
out:
  call void @free(PTR %array)
  call void @report()
  ret i32 0
}
declare PTR @malloc(i64)
declare void @free(PTR)
declare double @exp(double)
declare double @llvm.pow.f64(double, double)
declare void @mpi_barrier_(PTR, PTR)
declare void @llvm.memset.ANY.i64(PTR, i8, i64, i1)
declare i1 @_FortranAioOutputInteger32(PTR, i32)
declare void @report()
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_calls_of_fortran_are_counted_by_what_they_are_for(clang, level, tmp_path, built_once):
    typed = int(clang.partition("-")[2]) < 15
    text = FORTRAN.replace("PTR", "i8*" if typed else "ptr")
    (tmp_path / "turns.ll").write_text(text.replace("ANY", "p0i8" if typed else "p0"))
    extra = "void mpi_barrier_() {}\nint _FortranAioOutputInteger32() { return 1; }\n"
    (tmp_path / "called.c").write_text(CALLED + extra)
    subprocess.run([clang, "-w", "-std=c11", "-c", "called.c"], check=True, cwd=tmp_path)
    words = [clang, "-w", level, "turns.ll", "called.o", "-lm", "-o", "program"]
    compiled(words, tmp_path, built_once)

    assert run([tmp_path / "program"], tmp_path, built_once).stdout == "6 5 4\n"


# Iterations of each loop; the inner ones have two teams.
ITERATIONS = {
    "static": 100,
    "chunked": 48,
    "cyclic": 17,
    "dynamic": 50,
    "guided": 45,
    "collapsed": 21,
    "unordered": 31,
    "runtime": 13,
    "few": 2,
    "none": 0,
    "outer": 5,
    "inner": 2 * 20,
    "innermost": 2 * 17,
}


@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_iterations_are_those_each_thread_executed(clang, openmp, level, tmp_path, built_once):
    options = [level, *openmp(clang)]
    compiled([clang, *options, KERNELS / "iterations.c", "-o", "program"], tmp_path, built_once)

    for threads in (1, 2, 3):
        done = run([tmp_path / "program", threads], tmp_path, built_once)
        sums = dict.fromkeys(ITERATIONS, 0)
        for line in done.stdout.splitlines():
            loop, counted, executed = line.split()
            assert counted == executed, (loop, threads)
            sums[loop] += int(counted)
        assert sums == ITERATIONS
