"""What definitions expand to is counted before it is made: within the promise, or refused."""

from __future__ import annotations

import json

import pytest

import burstline
import expanding
import in_turn
from burstline.testing import trace_of
from supervised import base_bytes, supervised

LIMIT = 256_000_000
COMMANDS = {
    "info": ("info", "TRACE"),
    "waits": ("waits", "TRACE"),
    "annotate": ("annotate", "TRACE", "-o", "x.prv"),
    "merge": ("merge", "TRACE", "TRACE", "-o", "x.prv"),
    **{
        ending: ("convert", "TRACE", f"x.{ending}")
        for ending in ("prv", "store", "csv", "otf2", "perfetto.json")
    },
}
TRACES = [
    *((bomb, style) for bomb in expanding.TABLES for style in ("store", "parquet")),
    *((bomb, "otf2") for bomb in expanding.ARCHIVES),
]
CALLS = "1 enter MPI_Init | 2 leave | 5 enter MPI_Barrier | 6 leave | 8 enter MPI_Finalize"
LEFT = {("a list of equal texts", "store", "otf2")}
"""What is whole before the damaged table is read, for what is printed at the end."""


AT_ONCE = ("info", "merge")
"""Commands on a folder of tables, all of which each command loads before anything else."""


@pytest.mark.parametrize("case", TRACES, ids=" as ".join)
def test_what_expands_stays_within_the_promise(case, tmp_path):
    bomb, style = case
    (folder := tmp_path / "trace").mkdir()
    if style == "otf2":
        pytest.importorskip("otf2")
        trace = expanding.write_archive(folder, bomb)
    else:
        trace = expanding.write_tables(folder, bomb, style)
    assert expanding.size_on_disk(folder) < 4_000_000
    commands, jobs = AT_ONCE if style == "parquet" else tuple(COMMANDS), []
    for name in commands:
        (place := tmp_path / name).mkdir()
        words = [trace if word == "TRACE" else word for word in COMMANDS[name]]
        words = [place / word if str(word).startswith("x.") else word for word in words]
        jobs.append([*words, "--memory", str(LIMIT), "--quiet"])

    done = supervised(in_turn.__file__, json.dumps(jobs, default=str))

    assert done.code == 0, done.said
    assert done.peak_bytes < LIMIT + base_bytes()
    for name, (code, said) in zip(commands, json.loads(done.printed), strict=True):
        assert code in {0, 3, 5}, (name, said)
        if code:
            assert any((tmp_path / name).iterdir()) == ((bomb, style, name) in LEFT), name


@pytest.mark.parametrize("column", ["application", "process"])
def test_a_large_number_of_a_process_takes_no_memory(column, tmp_path):
    """Numbers of processes may have gaps: nothing is made for those that are not there."""
    path = tmp_path / "run.csv"
    burstline.write(trace_of(f"ranks 2 | 0 | {CALLS} | 9 leave | 1 | {CALLS} | 9 leave"), path)
    names, first, second, *rest = (path / "locations.csv").read_text().splitlines()
    cells = second.split(",")
    cells[names.split(",").index(f'"{column}"')] = str(2**31 - 1)
    (path / "locations.csv").write_text("\n".join([names, first, ",".join(cells), *rest, ""]))
    jobs = [[each, path, "--memory", str(LIMIT), "--quiet"] for each in ("info", "waits")]
    jobs.append(["phases", path, "--app", "0", "--memory", str(LIMIT), "--quiet"])

    done = supervised(in_turn.__file__, json.dumps(jobs, default=str))

    assert done.code == 0, done.said
    assert done.peak_bytes < LIMIT + base_bytes()
    assert {code for code, _ in json.loads(done.printed)} == {0}
