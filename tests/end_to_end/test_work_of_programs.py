"""Recorded MPI programs count the same work in each run, and know the loops of their calls."""

from __future__ import annotations

import json
import subprocess

import pytest

import burstline
import command
import warm
from burstline.extrae import COUNTER_TYPES
from burstline.extrae.event_types import WORK_TYPES
from burstline.structure import detect
from burstline.structure.program.nodes import Condition, Loop
from burstline.studies.loop_labels import labels_of
from recording import environment, line_of, patient

SOLVER = """
void relax(double *field, long cells) {
    for (long i = 1; i + 1 < cells; i++) field[i] += 0.25 * (field[i - 1] + field[i + 1]);
}
"""
STEPS = """
#include <mpi.h>
#include <stdlib.h>
void relax(double *field, long cells);

int main(int argc, char **argv) {
    int rank, size, steps = argc > 1 ? atoi(argv[1]) : 6;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long cells = 100 + 50 * rank;
    double *field = calloc(cells, sizeof *field), sum;
    for (int step = 0; step < steps; step++) {
        for (int sweep = 0; sweep < 3; sweep++) {
            relax(field, cells);
            MPI_Sendrecv_replace(field, 1, MPI_DOUBLE, (rank + 1) % size, 1,
                                 (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                                 MPI_STATUS_IGNORE);
        }
        for (int once = 0; once < size / 4; once++)
            MPI_Allreduce(field, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (step % 2) relax(field, cells / 2);
    }
    MPI_Finalize();
    return 0;
}
"""
STEP, SWEEP, ONCE = (line_of(f"int {name} =", STEPS) for name in ("step", "sweep", "once"))
LOADS = """
#include <dlfcn.h>
#include <mpi.h>
static int barrier(void) { return MPI_Barrier(MPI_COMM_WORLD); }
int main(int argc, char **argv) {
    int (*work[2])(int (*)(void), volatile long *);
    static volatile long cell;
    for (int i = 0; i < 2; i++)
        *(void **)&work[i] = dlsym(dlopen(argv[1 + i], RTLD_NOW | RTLD_LOCAL), "work");
    MPI_Init(&argc, &argv);
    barrier();
    for (int turn = 0; turn < 2; turn++) {
        work[turn](barrier, &cell);
        barrier();
    }
    MPI_Finalize();
    return 0;
}
"""
LIBRARY = """
int work(int (*call)(void), volatile long *cell) {
    for (int i = 0; i < TIMES; i++) *cell += i;
    for (int i = 0; i < 3; i++)
        call();
    return 0;
}
"""


DIVIDES = """
#include <mpi.h>
#include <stdlib.h>
void relax(double *field, long cells);

int main(int argc, char **argv) {
    int size;
    long all = 40000, replicated = atol(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *field = calloc(all, sizeof *field);
    for (int step = 0; step < 20; step++) {
        relax(field, 2 + all / size);
        relax(field, 2 + replicated);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
"""


class Site:
    """A folder with an MPI, and compilers that count."""

    def __init__(self, tools, clang, folder, cache):
        (self.mpicc, self.launcher), self.clang, self.folder = tools, clang, folder
        self.environment = environment(cache) | {"OMPI_CC": clang, "MPICH_CC": clang}

    def run(self, *words):
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=self.environment,
            check=False,
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert done.returncode == 0, done.stderr
        self.said = done.stderr
        return done.stdout

    def burst(self, *words):
        code, printed, self.said = warm.run(words, self.folder, self.environment)
        assert code == 0, self.said
        return printed

    def compile(self, *words, loops=False, count="all"):
        self.burst("cc", "--count", count, *["--loops"] * loops, "--", *words)

    def build(self, *, solver="all", **options):
        for name, text, count in (("solver.c", SOLVER, solver), ("steps.c", STEPS, "all")):
            (self.folder / name).write_text(text)
            self.compile(self.mpicc, "-O2", "-c", name, count=count, **options)
        words = ["steps.o", "solver.o", "-o", "steps", *patient()]
        self.compile(self.mpicc, *words, **options)

    def record(self, output, *program, ranks=4, counters="work"):
        command = [self.launcher, "-n", str(ranks), *program]
        self.burst("record", "--counters", counters, "-o", output, "--", *command)
        return burstline.read(self.folder / output, raw=True)


@pytest.fixture
def on_open_mpi(open_mpi, clang, tmp_path, built_once):
    return Site(open_mpi, clang, tmp_path, built_once)


@pytest.fixture
def on_mpich(mpich, clang, tmp_path, built_once):
    return Site(mpich, clang, tmp_path, built_once)


def work(trace):
    """Give each rank's operations and its readings of every work counter, in order."""
    readings = trace.table("readings")
    names = sorted(name for name in readings.column_names if name.startswith("IR_"))
    columns = [readings[name].to_pylist() for name in ("location", *names)]
    return names, trace.calls["operation"].to_pylist(), list(zip(*columns, strict=True))


def readings_of_work(trace):
    """Give place and statements of each reading."""
    rows = trace.table("readings").to_pylist()
    return [(row["location"], row["seq"]) for row in rows], [row["IR_TOT_INS"] for row in rows]


@pytest.fixture(scope="module")
def steps(open_mpi, clang, tmp_path_factory, built_once):
    """A folder with the program of steps, built whole, and what it did in ``one.store``."""
    site = Site(open_mpi, clang, tmp_path_factory.mktemp("steps"), built_once)
    site.build(loops=True)
    site.record("one.store", "./steps")
    return site


def assert_same_in_each_run(site, one):
    names, operations, readings = first = work(one)
    assert len(names) == 16
    sums = [row[1 + names.index("IR_CALLS")] for row in readings]
    parts = [names.index(f"IR_CALLS_{kind}") for kind in ("MATH", "MEM", "OTHER")]
    assert sums == [sum(row[1 + part] for part in parts) for row in readings]
    assert operations.count("MPI_Sendrecv_replace") == 4 * 6 * 3
    assert len(readings) >= 2 * len(operations) - 8
    loads = [row[1 + names.index("IR_LD_INS")] for row in readings]
    assert sum(filter(None, loads)) > 4 * 6 * 3 * 98
    assert work(site.record("two.prv", "./steps")) == first


def test_every_reading_is_the_same_in_each_run_under_open_mpi(steps):
    assert_same_in_each_run(steps, burstline.read(steps.folder / "one.store"))


def test_every_reading_is_the_same_in_each_run_under_mpich(on_mpich):
    on_mpich.build()

    assert_same_in_each_run(on_mpich, on_mpich.record("one.prv", "./steps"))


def test_only_what_all_parts_of_a_program_count_is_recorded(steps, on_open_mpi):
    on_open_mpi.build(solver="memory,flops", loops=True)
    parts = on_open_mpi.record("parts.store", "./steps")
    whole = burstline.read(steps.folder / "one.store")

    kept = ["IR_DP_OPS", "IR_FP_INS", "IR_LD_INS", "IR_SP_OPS", "IR_SR_INS"]
    assert sorted(parts.counter_names) == kept
    for name in kept:
        assert parts.table("readings")[name] == whole.table("readings")[name]


def test_labelled_loops_have_readings_of_what_was_counted_up_to_their_borders(steps):
    trace = burstline.read(steps.folder / "one.store")

    read = dict(zip(*readings_of_work(trace), strict=True))
    roles = trace.region_defs["name"].to_pylist()
    borders = [
        [(row["location"], row[f"{side}_seq"]) for side in ("enter", "leave")]
        for row in trace.table("regions").to_pylist()
        if roles[row["region"]] == f"steps.c:{SWEEP}"
    ]
    assert len(borders) == 4 * 6
    assert all(border in read for pair in borders for border in pair)
    # From one sweep loop to the next lie the same statements, but for the odd steps' half.
    first = [read[enter] for enter, _ in borders[:6]]
    assert first[1:] == [first[1], first[2]] * 2 + first[1:2]


CLOCKS = ["IR_BB", "IR_LOOP_ITER", "IR_TOT_INS"]


def test_what_logical_clocks_need_has_a_short_name(steps, on_open_mpi):
    on_open_mpi.build(solver="clocks", loops=True)
    parts = on_open_mpi.record("parts.store", "./steps")
    clocks = steps.record("clocks.store", "./steps", counters="clocks")
    whole = burstline.read(steps.folder / "one.store")

    assert sorted(parts.counter_names) == sorted(clocks.counter_names) == CLOCKS
    for name in CLOCKS:
        for trace in (parts, clocks):
            assert trace.table("readings")[name] == whole.table("readings")[name]


def test_what_clocks_need_and_some_part_does_not_count_is_said(on_open_mpi):
    on_open_mpi.build(solver="blocks")

    trace = on_open_mpi.record("parts.store", "./steps", counters="clocks")

    assert list(trace.counter_names) == ["IR_BB"]
    assert "no IR_LOOP_ITER: not everything was built to count it" in on_open_mpi.said


def test_a_trace_says_which_compiler_made_what_is_counted(steps, tmp_path):
    command.burstline("convert", steps.folder / "one.store", tmp_path / "app.prv")

    for path in (steps.folder / "one.store", tmp_path / "app.prv"):
        said = burstline.read(path).metadata["compiler"]
        shown = command.burstline("info", path).stdout
        assert "clang version" in said
        assert said in " ".join(shown.split())
    assert not burstline.read(steps.folder / "one.store").defects.num_rows


def test_work_counters_are_named_and_numbered_like_their_kin(steps, tmp_path):
    command.burstline("convert", steps.folder / "one.store", tmp_path / "app.prv")

    types = {}
    for line in (tmp_path / "app.pcf").read_text().splitlines():
        words = line.split()
        if len(words) >= 3 and words[2].startswith("IR_"):
            types[words[2]] = int(words[1])
    assert types["IR_TOT_INS"] - WORK_TYPES.start == 42_000_050 - COUNTER_TYPES.start
    assert len(set(types.values())) == 16
    assert set(types.values()) <= set(WORK_TYPES)
    told = command.document_of("info", tmp_path / "app.prv")
    assert "IR_LD_INS" in json.dumps(told["counters"])


def loops_in(items):
    for item in items:
        if isinstance(item, Loop):
            yield item
        if isinstance(item, (Loop, Condition)):
            yield from loops_in(item.items)


def test_each_call_has_the_loop_around_it_and_found_loops_iterate_as_recorded(steps):
    trace = burstline.read(steps.folder / "one.store", raw=True)
    structure = detect(trace, method="exact")
    calls = structure.found_in

    labels, repeated = (labels_of(trace, calls, repeated=only) for only in (False, True))
    operations = trace.calls["operation"].to_pylist()
    named = {
        (operation, found.name(number))
        for found in (labels, repeated)
        for operation, number in zip(operations, found.loop.tolist(), strict=True)
    }
    assert labels.unlabelled == 0
    assert {name for name in named if "Init" not in name[0] and "Comm" not in name[0]} == {
        ("MPI_Sendrecv_replace", f"steps.c:{SWEEP}"),
        ("MPI_Allreduce", f"steps.c:{ONCE}"),
        ("MPI_Allreduce", f"steps.c:{STEP}"),
        ("MPI_Finalize", "outside of loops"),
    }
    recorded = trace.table("regions")["iterations"].to_pylist()
    assert sorted(set(recorded)) == [1, 3, 6]
    found = [round(one.iterations) for one in loops_in(structure.items)]
    assert sorted(found) == [3, 6]


def test_libraries_that_are_loaded_for_themselves_alone_count(on_open_mpi):
    site = on_open_mpi
    (site.folder / "library.c").write_text(LIBRARY)
    (site.folder / "loads.c").write_text(LOADS)
    for name, times in (("one", 100), ("two", 1000)):
        words = ["-O1", "-fPIC", "-shared", f"-DTIMES={times}", "library.c"]
        site.compile(site.clang, *words, "-o", f"lib{name}.so", loops=True)
    site.run(site.mpicc, "loads.c", "-o", "loads", "-ldl")

    trace = site.record("app.store", "./loads", "./libone.so", "./libtwo.so", ranks=1)

    stores = [count for count in trace.table("readings")["IR_SR_INS"].to_pylist() if count]
    assert stores == [100, 1000]
    calls = detect(trace, method="exact").found_in
    found = labels_of(trace, calls)
    assert [found.name(number) for number in found.loop.tolist()] == [
        *["outside of loops"] * 2,
        *[*["library.c:4"] * 3, "outside of loops"] * 2,
        "outside of loops",
    ]


def test_labels_of_a_program_and_its_libraries_are_one_nest(on_open_mpi):
    site = on_open_mpi
    (site.folder / "library.c").write_text(LIBRARY)
    (site.folder / "loads.c").write_text(LOADS)
    words = ["-O1", "-fPIC", "-shared", "-DTIMES=9", "library.c", "-o", "libone.so"]
    site.compile(site.clang, *words, loops=True)
    site.compile(site.mpicc, "-O1", "loads.c", "-o", "loads", "-ldl", loops=True)

    trace = site.record("app.store", "./loads", "./libone.so", "./libone.so", ranks=1)

    found = labels_of(trace, detect(trace, method="exact").found_in)
    turn = line_of("int turn", LOADS)
    assert [found.name(number) for number in found.loop.tolist()] == [
        *["outside of loops"] * 2,
        *[*["library.c:4"] * 3, f"loads.c:{turn}"] * 2,
        "outside of loops",
    ]


@pytest.mark.parametrize(("replicated", "expected"), [(0, 1), (10_000, (4 + 2) / (4 + 4))])
def test_work_of_two_sizes_scales_as_the_program_divides_it(on_open_mpi, replicated, expected):
    site = on_open_mpi
    for name, text in (("solver.c", SOLVER), ("divides.c", DIVIDES)):
        (site.folder / name).write_text(text)
        site.compile(site.mpicc, "-O2", "-c", name)
    site.compile(site.mpicc, "divides.o", "solver.o", "-o", "divides")
    names = [f"{ranks}.store" for ranks in (2, 4)]
    for ranks, name in zip((2, 4), names, strict=True):
        site.record(name, "./divides", str(replicated), ranks=ranks)

    told = json.loads(site.burst("info", *names, "--format", "json"))

    first, second = told["runs"]
    efficiency = second["efficiency"]
    assert (first["ranks"], second["ranks"]) == (2, 4)
    assert efficiency["instruction_scalability"] == pytest.approx(expected, rel=0.01)
    assert efficiency["global"] == pytest.approx(
        efficiency["parallel"]
        * efficiency["instruction_scalability"]
        * efficiency["speed_scalability"]
    )
    assert list(second["counters"]["counts"]) == ["IR_TOT_INS"]
    assert second["counters"]["share"] > 0.99
    assert [row["metric"] for row in told["not_computable"]] == [
        "ipc_scalability",
        "frequency_scalability",
    ]
