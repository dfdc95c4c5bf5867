"""The files that guides speak of, made of one small program: traces, profiles, tables."""

from __future__ import annotations

import gzip
import random
import shutil
from importlib.resources import files

import burstline
import labelled
from burstline.testing import trace_of
from command import burstline as command

RANKS, STEPS, SWEEPS = 13, 16, 8
SECOND = 1_000_000_000
COUNTERS = {
    "run1": ("PAPI_TOT_INS", "PAPI_TOT_CYC"),
    "run2": ("PAPI_TOT_INS", "PAPI_L2_DCM"),
    "run3": ("PAPI_TOT_INS", "PAPI_L1_DCM"),
}
SOLVER = "double solved(double x) { return 2 * x; }\n"
MAIN = r"""
#include <mpi.h>
#include <unistd.h>
double solved(double x);
int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int step = 0; step < 60; step++) {
        double out = solved(step), in = 0, sum;
        usleep(2000);
        MPI_Sendrecv(&out, 1, MPI_DOUBLE, (rank + 1) % ranks, 0, &in, 1, MPI_DOUBLE,
                     (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&in, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
"""


def program(counters, seed, ranks=RANKS, steps=STEPS):
    """A run of two minutes as text: sweeps around a ring within steps, which sum up."""
    yield f"application 0 ranks {ranks}"
    yield "application 1 ranks 1"
    for number, name in enumerate(counters):
        yield f'counter {name} unit "" mode delta type {42000050 + 9 * number}'
    yield f"set 1 {' '.join(counters)}"
    lines = {"MPI_Init": 5, "MPI_Sendrecv": 12, "MPI_Allreduce": 15, "MPI_Finalize": 20}
    paths = {operation: path for path, operation in enumerate(lines)}
    for operation, path in paths.items():
        yield f"path {path} main file main.c line {lines[operation]}"
    yield from ("1/0", "0 enter main", "9 leave")
    dice = random.Random(seed)  # noqa: S311 -- noise, the same every time
    for rank in range(ranks):
        yield f"{rank}"
        yield f"0 enter MPI_Init path {paths['MPI_Init']}"
        yield f"{SECOND} leave"
        for step in range(steps):
            for sweep in range(SWEEPS + 1):
                begin = SECOND + step * 8 * SECOND + sweep * 850_000_000
                work = 300_000_000 + 20_000_000 * rank + dice.randrange(10_000_000)
                called, done = begin + work, begin + 600_000_000
                counts = " ".join(
                    f"{name}={work // (3 + k)}" for k, name in enumerate(counters)
                )
                operation = "MPI_Sendrecv" if sweep < SWEEPS else "MPI_Allreduce"
                yield f"{called} enter {operation} path {paths[operation]} {counts}"
                if sweep < SWEEPS:
                    yield f"{called} send to {(rank + 1) % ranks} bytes 800"
                    yield f"{done} receive from {(rank - 1) % ranks} bytes 800"
                else:
                    yield f"{called} begin"
                    yield f"{done} end sent 8 received 8"
                yield f"{done + dice.randrange(1_000_000)} leave"
        end = SECOND * (2 + 8 * steps)
        yield f"{end} enter MPI_Finalize path {paths['MPI_Finalize']}"
        yield f"{end + SECOND} leave"


def run_of(name, seed=0, **size):
    """One of the runs that count different things."""
    return trace_of(" | ".join(program(COUNTERS[name], seed, **size)))


def write_inputs(folder):
    """Write all files that guides name, so that any of their commands finds what it reads."""
    for seed, name in enumerate(COUNTERS):
        trace = run_of(name, seed)
        burstline.write(trace, folder / f"{name}.prv")
        done = command("convert", folder / f"{name}.prv", folder / f"{name}.store")
        assert done.returncode == 0, done.stderr
        burstline.write(burstline.wait_states(trace).profile, folder / f"{name}.cubex")
    for name in ("run", "my", "big", "huge", "other-build", "run4", "run5", "cg", "lulesh"):
        for ending in ("prv", "pcf", "row"):
            shutil.copy(folder / f"run1.{ending}", folder / f"{name}.{ending}")
    for name in ("run", "big", "huge"):
        shutil.copytree(folder / "run1.store", folder / f"{name}.store")
    for name in ("old1", "old2", "new1", "new2", "scout"):
        shutil.copy(folder / "run1.cubex", folder / f"{name}.cubex")
    for ranks in (2, 4):
        burstline.write(run_of("run1", ranks=ranks), folder / f"{ranks}ranks.store")
    (folder / "scorep-run").mkdir()
    for archive in (folder / "scorep-run", folder):
        burstline.write(run_of("run1", ranks=4), archive / "traces.otf2")
    loops = labelled.labelled(run_of("run1"), {12: 2, 15: 1})
    burstline.write(loops, folder / "labelled.store")
    for path in (files("burstline") / "data").glob("heat.*"):
        shutil.copy(path, folder)
    with gzip.open(folder / "heat.prv.gz") as packed:
        (folder / "heat.prv").write_bytes(packed.read())


def few_bursts(folder):
    """Runs and datasets of few bursts, of which a model is learnt soon."""
    runs = [folder / f"{name}.prv" for name in COUNTERS]
    for seed, path in enumerate(runs):
        burstline.write(run_of(path.stem, seed, ranks=4, steps=2), path, overwrite=True)
    dataset = folder / "bursts.parquet"
    done = command("merge", *runs, "--dataset", dataset)
    assert done.returncode == 0, done.stderr
    for name in ("cg", "heat", "sort"):
        shutil.copy(dataset, folder / f"{name}.parquet")
    for name, of in (("a", "run1"), ("b", "run2")):
        for ending in ("prv", "pcf", "row"):
            shutil.copy(folder / f"{of}.{ending}", folder / f"{name}.{ending}")
