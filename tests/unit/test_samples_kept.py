"""Samples stay what they are: cut, merged, in files that others read."""

from __future__ import annotations

import json

import pytest

import burstline
from burstline.cli import main
from burstline.formats import sampled
from burstline.selection import select
from burstline.testing import trace_of
from stories import STORIES

[STORY] = [story for story in STORIES if story.name == "samples"]
FORMS = ("txt", "prv", "prv.gz", "store", "csv", "parquet", "otf2")


def told(trace):
    """Each sample with the whole path of what was executed."""
    frames = trace.call_paths.to_pylist()

    def path(row):
        above = None if row is None else frames[row]
        if above is None:
            return []
        return [*path(above["parent"]), (above["function"], above["file"], above["line"])]

    return [
        (row["location"], row["time_ns"], row["periods"], path(row["call_path"]))
        for row in trace.samples.to_pylist()
    ]


@pytest.mark.parametrize("form", FORMS)
def test_samples_have_their_time_periods_and_path_in_every_format(tmp_path, form):
    assert told(STORY.read(tmp_path, form)) == told(STORY.trace)
    *_, path = told(STORY.trace)[1]
    assert path == [("main", "solver.c", 40), ("solve", "solver.c", 12), ("helper", None, None)]


@pytest.mark.parametrize("way", ["prv", "otf2", "prv otf2 store prv"])
def test_samples_come_back_from_one_format_after_the_other(tmp_path, way):
    trace = STORY.trace
    for number, form in enumerate(way.split()):
        path = tmp_path / f"{number}.{form}"
        burstline.write(trace, path)
        trace = burstline.read(path)

    assert told(trace) == told(STORY.trace)


def test_a_sample_of_nobody_knows_what_stays_one(tmp_path):
    trace = trace_of("ranks 1 | 0 | 0 enter MPI_Init | 5 leave | 9 sample periods 2")

    for form in ("prv", "otf2", "store"):
        burstline.write(trace, tmp_path / f"a.{form}")
        again = burstline.read(tmp_path / f"a.{form}")
        assert sampled(again).to_pylist() == sampled(trace).to_pylist(), form


def test_a_cut_has_the_samples_of_its_time():
    cut = select(STORY.trace, start_ns=11, end_ns=40)

    assert [row[1] for row in told(cut)] == [20, 30, 12]
    assert [row[2] for row in told(select(STORY.trace, ranks=[1]))] == [2]


def test_many_samples_of_one_moment_are_in_order(tmp_path):
    lines = " | ".join(f"9 sample path {k % 2} periods {k}" for k in range(1, 6))
    trace = trace_of(
        "ranks 1\npath 0 a file a.c line 1\npath 1 b file a.c line 2\n"
        f"0 | 0 enter MPI_Init | 5 leave | 7..9 gap flush | {lines} "
        "| 9 enter MPI_Barrier | 12 leave"
    )

    burstline.write(trace, tmp_path / "a.otf2")

    assert told(burstline.read(tmp_path / "a.otf2")) == told(trace)


def test_perfetto_has_a_moment_for_each_sample(tmp_path):
    burstline.write(STORY.trace, tmp_path / "a.perfetto.json")

    events = json.loads((tmp_path / "a.perfetto.json").read_text())["traceEvents"]
    samples = [each for each in events if each["ph"] == "i"]

    assert len(samples) == STORY.trace.rows("samples")
    path = "main (solver.c:40) > solve (solver.c:12) > helper"
    assert samples[1] == {
        "ph": "i", "s": "t", "cat": "sample", "pid": 1, "tid": 1, "ts": 0.02, "name": "helper",
        "args": {"periods": 3, "called from": path},
    }  # fmt: skip


def test_a_merged_trace_has_the_samples_of_its_base(tmp_path):
    for name in ("a", "b"):
        burstline.write(STORY.trace, tmp_path / f"{name}.prv")

    runs = [str(tmp_path / f"{name}.prv") for name in "ab"]
    assert main(["merge", *runs, "-o", f"{tmp_path}/m.prv"]) in (0, None)

    assert told(burstline.read(tmp_path / "m.prv")) == told(STORY.trace)
