"""Samples of call stacks: they name the function that makes others wait, and disturb nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

import burstline
from burstline.columns import numpy_columns
from burstline.formats import sampled
from recording import line_of

SOURCE = Path(__file__).parents[1] / "record" / "sampled.c"
PERIOD_NS = 4_000_000  # of 250 a second


@pytest.fixture
def record(site):
    """Record the program in a mode."""
    app = site.compile("mpicc", SOURCE, "-O2", "-pthread")

    def run(mode, *options, output="app.store", ranks=2, steps=1):
        words = [*options, "-o", output, "--quiet", "--", *site.ranks(ranks), app, mode]
        return site.record(*words, steps)

    return run


@pytest.mark.parametrize(
    ("site", "output"), [("open_mpi", "app.store"), ("mpich", "app.prv")], indirect=["site"]
)
def test_the_function_that_makes_others_wait_is_named(site, record, output):
    def told():
        code, _, said = record("late", "--sample=250", "--force", output=output, steps=4)
        assert code == 0, said
        printed = site.printed_by("waits", output)
        return " ".join(printed.partition("What the time goes to")[0].split())

    # a rank that others keep from its processor is told of as such
    line = line_of("in assemble", SOURCE.read_text())
    named = f"assemble at sampled.c:{line} takes longer there"
    said = next((found for _ in range(4) if named in (found := told())), "")
    assert named in said
    assert "solve" not in said


def test_a_sample_stands_for_the_time_of_a_thread_on_the_processor(site, record):
    assert record("even", "--sample=250", ranks=1, steps=4)[0] == 0
    trace = site.trace("app.store")
    rows = sampled(trace).to_pylist()
    inside = {row["function"] for row in rows}
    (periods,) = numpy_columns(trace.table("samples"), "periods")

    assert {"assemble", "solve"} <= inside
    computed_ns = 4 * (20_000_000 + 60_000_000)
    assert 0.7 < periods.sum() * PERIOD_NS / computed_ns < 1.3
    assert {row["file"] for row in rows if row["function"] == "solve"} == {"sampled.c"}


@pytest.mark.parametrize(
    ("site", "output"), [("open_mpi", "app.prv"), ("mpich", "app.store")], indirect=["site"]
)
def test_where_ranks_ran_and_what_recording_took_is_told_of_each(site, output):
    app = site.compile("mpicc", SOURCE, "-O2", "-pthread")
    # Libraries that look at the machine in MPI_Init go through its processors: not the program.
    words = [*site.ranks(2), "taskset", "-c", "0", app, "even", "1"]
    trace = site.recorded(output, "--sample=250", "--quiet", "--", *words)

    for row in trace.table("placements").to_pylist():
        assert (row["allowed"], row["used"]) == ("0", "0")
    costs = trace.table("recordings").to_pylist()
    assert len(costs) == 2
    for row in costs:
        assert row["asked_hz"] == 250
        assert 0 < row["sampling_ns"] < row["signals"] * 1_000_000
        assert row["signals"] > 0
    assert trace.metadata["launcher"] in {"Open MPI", "Hydra"}


def test_functions_are_sampled_without_asking(site, record):
    assert record("even", ranks=1)[0] == 0

    assert site.trace("app.store").rows("samples") > 0
    assert site.trace("app.store").recordings["asked_hz"].to_pylist() == [250]


@pytest.mark.parametrize(
    ("site", "options"),
    [("open_mpi", ["--sample=0"]), ("mpich", ["--stack-depth=0"])],
    indirect=["site"],
)
def test_nothing_is_sampled_where_that_is_asked_for_or_no_stacks_are(site, record, options):
    assert record("even", *options, ranks=1)[0] == 0

    assert site.trace("app.store").rows("samples") == 0
    assert site.trace("app.store").recordings["asked_hz"].to_pylist() == [None]


def test_the_function_that_calls_a_deep_library_is_on_the_stack_of_a_sample(site, record):
    assert record("deep", "--stack-depth=4", ranks=1, steps=4)[0] == 0
    trace = site.trace("app.store")
    paths = trace.table("call_paths").to_pylist()

    def stack(path):
        return [] if path is None else [paths[path]["function"], *stack(paths[path]["parent"])]

    stacks = [stack(path) for path in set(trace.table("samples")["call_path"].to_pylist())]
    deep = [each for each in stacks if "descend" in each]
    assert deep
    assert all("call_library" in each and "main" in each for each in deep)
    assert max(len(stack(path)) for path in trace.table("calls")["call_path"].to_pylist()) <= 4


def test_samples_are_kept_by_every_format_that_has_a_place_for_them(site, record):
    assert record("even", "--sample=250", output="app.prv", ranks=1)[0] == 0
    before = sampled(site.trace("app.prv"))
    assert before.num_rows

    for name in ("b.store", "b.parquet", "b.csv", "b.prv.gz"):
        burstline.write(site.trace("app.prv"), site.folder / name)
        assert sampled(burstline.read(site.folder / name)).equals(before), name


def test_a_program_that_uses_signals_and_processes_runs_as_without(record):
    for _ in range(3):
        code, printed, said = record("signals", "--sample=1000", "--force", ranks=1)

        assert (code, printed) == (0, "fine\n"), said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--sample=20000"], "--sample goes from 0 to 10000, got 20000"),
        (["--sample=250", "--stack-depth=0"], "--sample needs call stacks"),
    ],
)
def test_what_cannot_be_sampled_is_refused_before_the_run(record, options, said):
    code, printed, errors = record("even", *options)

    assert (code, printed) == (2, "")
    assert said in errors
