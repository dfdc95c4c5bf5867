"""``burstline merge`` takes loops from what the runs say, also where they are Paraver files."""

from __future__ import annotations

import json

import pytest

from burstline import cli, write
from burstline.formats.paraver.reading import trace as reading
from burstline.testing import trace_of

STEP = "{0} enter MPI_Send | {1} leave | {2} enter MPI_Barrier | {3} leave"


def run(path, steps):
    told = [STEP.format(*(100 * step + part for part in (10, 20, 50, 60))) for step in steps]
    write(trace_of("ranks 1 | 0 | " + " | ".join(told)), path)
    return path


def merge(capsys, *words):
    cli.main(["merge", *map(str, words), "--format", "json"])
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def runs(tmp_path, capsys):
    """Two runs, and the same with loops as events."""
    plain = [run(tmp_path / f"{name}.prv", range(8)) for name in ("one", "two")]
    annotated = [path.with_stem(f"{path.stem}_loops") for path in plain]
    for source, target in zip(plain, annotated, strict=True):
        cli.main(["annotate", str(source), "-o", str(target)])
    capsys.readouterr()
    return plain, annotated


def test_loops_are_used_only_if_every_run_tells_them(runs, tmp_path, capsys):
    plain, annotated = runs
    outputs = ["--dataset", tmp_path / "all.parquet", "--force"]

    assert merge(capsys, *annotated, *outputs)["loops"]
    assert not merge(capsys, *plain, *outputs)["loops"]
    assert not merge(capsys, annotated[0], plain[1], *outputs)["loops"]


def test_without_the_memory_for_records_runs_are_merged_without_loops(
    runs, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(reading.scan, "bytes_of_tables", lambda *_, raw: 1 << 60 if raw else 0)
    words = map(str, runs[1])
    cli.main(["merge", *words, "--dataset", str(tmp_path / "m.parquet"), "--format", "json"])
    said = capsys.readouterr()

    assert not json.loads(said.out)["loops"]
    assert said.err.count("without its loops") == 1, "loops are wanted of all runs, or of none"
