"""`burstline merge` of OTF2 archives: a table of both, and a way to a trace of both."""

from __future__ import annotations

import csv
import shlex

import pytest
from otf2.enums import CollectiveOp

from burstline import cli
from otf2_archives import archive

NOWHERE = 0xFFFFFFFF


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Write one program twice: once with instructions counted, once with cycles."""
    monkeypatch.chdir(tmp_path)
    for name, factor in (("INS", 1000), ("CYC", 77)):
        with archive(tmp_path / name, 2) as made:
            metric = made.metric(name)
            for rank in range(2):
                thread, count, time = made.thread(rank), 0, 0
                for step in range(12):
                    count, time = count + factor * (1 + step % 3), time + 100 * (1 + step % 3)
                    thread.writer.metric(time, metric, [count])
                    end = (CollectiveOp.BARRIER, made.world, NOWHERE, 0, 0)
                    begin = ("mpi_collective_begin", time + 1)
                    both = begin, ("mpi_collective_end", time + 9, *end)
                    thread.region("MPI_Barrier", time, time + 10, *both)
                    time += 10
                    thread.writer.metric(time, metric, [count])
    return tmp_path


def test_a_dataset_of_two_archives_has_the_counters_of_both(runs):
    cli.main(["merge", "INS", "CYC", "--dataset", "both.csv"])
    with (runs / "both.csv").open(encoding="utf-8") as file:
        found = [(int(row["INS"]), int(row["CYC"])) for row in csv.DictReader(file)]

    assert found == [(1000 * (1 + k % 3), 77 * (1 + k % 3)) for k in range(1, 12)] * 2


@pytest.mark.parametrize("base", ["INS", "INS/traces.otf2", "INS.store"])
def test_an_archive_as_the_base_gets_a_way_out_that_works(runs, capsys, base):
    if base.endswith(".store"):
        cli.main(["convert", "INS", base])
    with pytest.raises(SystemExit):
        cli.main(["merge", base, "CYC", "-o", "both.prv"])
    said = capsys.readouterr().err
    words = shlex.split(said.partition("Make one that has: burstline ")[2].partition(",")[0])

    assert ".prv that it was made from" not in said
    cli.main(words)
    cli.main(["merge", words[-1], "CYC", "-o", "both.prv"])
    assert (runs / "both.prv").is_file()
