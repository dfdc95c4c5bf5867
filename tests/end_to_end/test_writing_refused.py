"""What a command asks of disk or memory is refused once: it says so, and no part stays."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest
from numpy._core import _multiarray_umath as multiarray

from burstline import _core
from command import burstline
from recording import environment
from runtime_building import ROOT
from two_runs import CYC, INS, L1, L3, OPERATIONS, Run, value

TESTS = ROOT / "tests"
INIT, *LOOP, FINALIZE = OPERATIONS
REPEATED = [INIT, *LOOP * 3, FINALIZE]
FORMATS = {
    name: ["convert", "{a}", f"run.{name}"]
    for name in ("prv", "prv.gz", "store", "csv", "otf2", "perfetto.json")
}
COMMANDS = {
    "cut": ["cut", "{a}", "-o", "run.prv", "--from", "100ns", "--to", "900ns"],
    "annotate": ["annotate", "{a}", "-o", "run.prv", "--cfg-dir", "cfgs"],
    "merge": ["merge", "{a}", "{b}", "-o", "run.prv", "--pairs", "pairs.parquet"],
    "dataset": ["merge", "{store}", "{b}", "-o", "run.prv", "--dataset", "all.arrow"],
    "table": ["table", "{a}", "-o", "run.parquet"],
    "csv table": ["table", "{a}", "-o", "run.csv"],
    "plot": ["plot", "{a}", "-o", "run.svg"],
}
SPILLING = {
    "spilled store": ["convert", "{a}", "run.store"],
    "spilled prv": ["convert", "{store}", "run.prv"],
}
ANEW = ("prv", "otf2", "spilled store")
OUTPUTS = ("run.", "pairs.", "all.", "cfgs")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Traces of two runs that are to be replaced, and of two others, by the same names."""
    made = []
    for name, counters in (("old", (L1, L3)), ("new", (INS, CYC))):
        folder = tmp_path_factory.mktemp(name)
        paths = {run: folder / f"{run}.prv" for run in "ab"} | {"store": folder / "a.store"}
        for run, counter in zip("ab", counters, strict=True):
            counted = {42000059: value(1), counter: value(3)}
            scale = 1 if name == "new" else 2
            Run(counted, scale=scale, operations=REPEATED).write(paths[run])
        assert burstline("convert", paths["a"], paths["store"]).returncode == 0
        made.append(paths)
    return made


def job(folder, words, inputs, *, over, step=1):
    """A command for `refusals.py`, and what stands where it writes."""
    place, kept = folder / "place", folder / "kept"
    place.mkdir(parents=True)

    def filled(sources):
        texts = [word.format_map(sources) for word in words]
        return [str(place / text) if text.startswith(OUTPUTS) else text for text in texts]

    old, new = inputs
    if over:
        done = burstline(*filled(old))
        assert done.returncode == 0, done.stderr
    shutil.copytree(place, kept)
    return {
        "place": str(place),
        "kept": str(kept),
        "words": [*filled(new), *["--force"] * over],
        "sources": [str(new[name]) for name in ("a", "b")],
        "step": step,
    }


def refusals(jobs, what, settings, tmp_path):
    """What `refusals.py` says of jobs; `what` is refused: `disk`, `spills` or `memory`."""
    done = subprocess.run(
        [sys.executable, TESTS / "refusals.py"],
        input=json.dumps([jobs, what]),
        env=environment(tmp_path) | settings,
        capture_output=True,
        text=True,
        check=True,
        timeout=200,
    )
    results = json.loads(done.stdout)
    assert results.keys() == jobs.keys()
    assert not any(result["problems"] for result in results.values()), results
    return results


@pytest.mark.parametrize(
    "writers", [FORMATS, COMMANDS, SPILLING], ids=["formats", "commands", "spills"]
)
def test_whatever_is_refused_no_part_of_an_output_stays(refused, inputs, tmp_path, writers):
    jobs = {}
    for name, words in writers.items():
        for over in (False, True) if name in ANEW else (True,):
            label = name if over else f"{name} anew"
            jobs[label] = job(tmp_path / label, words, inputs, over=over)

    what = "spills" if writers is SPILLING else "disk"
    settings = {"LD_PRELOAD": str(refused), "REFUSE_UNDER": f"{tmp_path}/"}
    results = refusals(jobs, what, settings, tmp_path)

    assert all(result["tried"] > 3 for result in results.values()), results


@pytest.mark.parametrize(
    "which",
    [(_core.__file__, 0, 1), (multiarray.__file__, 1024, 7)],
    ids=["kernels", "numpy"],
)
def test_whatever_memory_is_refused_a_command_says_so(refused, inputs, tmp_path, which):
    """Of NumPy one in seven is tried, for there are thousands; all of them end so.

    Arrow's are left out: they end the process in C++.
    """
    library, least, step = which
    commands = FORMATS | COMMANDS | {"waits": ["waits", "{a}", "-o", "run.cubex"]}
    jobs = {
        name: job(tmp_path / name, words, inputs, over=True, step=step)
        for name, words in commands.items()
    }
    settings = {"LD_PRELOAD": str(refused), "REFUSE_FOR": library, "REFUSE_BYTES": str(least)}
    results = refusals(jobs, "memory", settings, tmp_path)

    assert all(result["tried"] > 20 for result in results.values()), results
