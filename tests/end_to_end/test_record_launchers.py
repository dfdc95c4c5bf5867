"""Launchers of batch systems: stand-ins that take their options and start the MPI at hand."""

from __future__ import annotations

import shlex
import stat

import pytest

PROGRAM = """
#include <mpi.h>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    for (int turn = 1; turn < argc; turn++) MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""
STAND_IN = """#!/bin/sh
while :; do
    case $1 in
    -n) count=$2; shift 2 ;;
    -N | -c | -d | --cpu-bind) shift 2 ;;
    --mpi=* | --exclusive) shift ;;
    --multi-prog) set -- $(sed 's/^[^ ]* //' "$2") ;;
    -*) echo "no option $1" >&2; exit 2 ;;
    *) break ;;
    esac
done
exec {launcher} -n $count "$@"
"""
WAYS = {
    "srun": "srun -n 2 -N 1 --mpi=pmi2 --exclusive --cpu-bind none ./app a b",
    "srun_of_a_file": "srun -n 2 --multi-prog programs",
    "aprun": "aprun -n 2 -N 2 -d 1 ./app a b",
}


@pytest.fixture
def site(site):
    site.build(PROGRAM)
    (site.folder / "programs").write_text("0-1 ./app a b\n")
    for name in ("srun", "aprun"):
        launcher = site.folder / name
        # what batch systems do and this launcher does not: hand the environment on
        handed = "-x LD_PRELOAD -x BURSTLINE_DIR " if site.kind == "openmpi" else ""
        launcher.write_text(STAND_IN.replace("{launcher}", f"{site.launcher} {handed}"))
        launcher.chmod(launcher.stat().st_mode | stat.S_IXUSR)
    site.settings["PATH"] = f"{site.folder}:{site.settings['PATH']}"
    return site


@pytest.mark.parametrize("way", WAYS)
def test_ranks_that_a_batch_system_starts_are_recorded(site, way):
    told = ["--mpi", site.kind] if way == "srun_of_a_file" else []

    trace = site.recorded("app.store", *told, "--", *shlex.split(WAYS[way]))

    assert trace.locations["rank"].to_pylist() == [0, 1]
    assert trace.collectives["operation"].to_pylist() == ["MPI_Barrier"] * 2
    assert trace.defects.num_rows == 0, trace.defects.to_pylist()
