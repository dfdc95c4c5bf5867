"""Raw files read within a memory budget: refused, or by way of a store."""

from __future__ import annotations

import os
from bisect import bisect_left
from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest

import burstline
import raw_files
from burstline import errors
from burstline.cli import main
from burstline.formats import raw as raw_format
from burstline.formats.intake.source import borders_of
from burstline.formats.raw import slices, source
from burstline.progress import SILENCE
from raw_files import Run


def exchange(folder, *, calls=10):
    run = Run(3)
    for rank in range(3):
        for number in range(calls):
            now = 10 + 40 * number
            run[rank].call("MPI_Send", now, now + 5, raw_files.send((rank + 1) % 3, size=8))
            run[rank].call("MPI_Recv", now + 6, now + 20, raw_files.receive((rank - 1) % 3))
    folder.mkdir()
    return run.end(50 * calls).write(folder)


def test_what_does_not_fit_is_refused_with_the_way_to_a_store_and_the_least(tmp_path):
    folder = exchange(tmp_path / "run")

    with pytest.raises(errors.MemoryBudgetError, match="burstline convert"):
        burstline.read(folder, memory=1000)
    with pytest.raises(errors.MemoryBudgetError, match="`memory=256Mi`"):
        convert_raw(folder, tmp_path / "x.store", 10**8)


def exchange_of_threads(folder):
    run = Run(2)
    for rank in range(2):
        for thread in (run[rank], run.thread(rank, 1)):
            thread.call("MPI_Send", 10, 15, raw_files.send(1 - rank, size=8))
            thread.call("MPI_Recv", 16, 30, raw_files.receive(1 - rank))
    folder.mkdir()
    return run.end(50).write(folder)


def convert_raw(folder, target, memory):
    options = {"raw": True, "threads": 2, "progress": SILENCE}
    operations = raw_files.NUMBERS
    raw_format.convert(folder, target, memory=memory, operations=operations, **options)


def test_a_process_larger_than_the_budget_is_converted_in_slices(tmp_path, monkeypatch):
    folder = exchange(tmp_path / "run", calls=30)
    most = []
    cut = slices.cut
    monkeypatch.setattr(
        slices, "cut", lambda file, clock, at_once, **rest: most.append(at_once) or
        cut(file, clock, at_once, **rest)
    )  # fmt: skip
    monkeypatch.setattr(source, "COSTS", replace(source.COSTS, streamed=10**6))

    convert_raw(folder, tmp_path / "x.store", 3 * 10**8)

    assert most == [26, 26, 26]
    stored = burstline.read(tmp_path / "x.store")
    whole = raw_format.read(folder, operations=raw_files.NUMBERS)
    for name in ("calls", "messages", "bursts", "locations", "defects"):
        assert stored.table(name).to_pylist() == whole.table(name).to_pylist()


@pytest.mark.parametrize(
    ("made", "streamed"),
    [(exchange_of_threads, 10**8), (exchange, 5 * 10**7)],
    ids=["several callers", "no place to cut"],
)
def test_what_cannot_be_cut_must_fit_and_nothing_is_left(tmp_path, monkeypatch, made, streamed):
    folder = made(tmp_path / "run")
    monkeypatch.setattr(source, "COSTS", replace(source.COSTS, streamed=streamed))

    with pytest.raises(errors.MemoryBudgetError, match="a process is read at once"):
        convert_raw(folder, tmp_path / "x.store", 3 * 10**8)

    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("ending", ["prv", "parquet", "store"])
def test_what_does_not_fit_is_converted_by_way_of_a_store(
    tmp_path, monkeypatch, capsys, ending
):
    folder = exchange(tmp_path / "run")
    paths = [tmp_path / f"{name}.{ending}" for name in ("whole", "parts")]

    main(["convert", str(folder), str(paths[0]), "--quiet"])
    for name in ("COSTS", "RECORDED_COSTS"):
        monkeypatch.setattr(source, name, replace(source.COSTS, tables=10**10))
    main(["convert", str(folder), str(paths[1]), "--quiet", "--memory", "300M"])

    whole, parts = (burstline.read(path) for path in paths)
    for name in ("calls", "messages", "bursts", "locations", "events"):
        assert (name in whole) == (name in parts)
        assert name not in whole or whole.table(name).equals(parts.table(name))
    assert "60 calls" in capsys.readouterr().err
    assert not list(tmp_path.glob(".*"))


def test_what_fits_depends_on_the_processors_that_this_process_may_use(tmp_path, monkeypatch):
    folder = exchange(tmp_path / "run", calls=100)
    monkeypatch.setattr(source, "RECORDS_AT_ONCE", 1)
    needed = []
    for processors in (1, 2):
        monkeypatch.setattr(os, "sched_getaffinity", {0: range(processors)}.get)
        fits = partial(source.fits, folder, records=False)
        needed.append(bisect_left(range(1 << 30), 1, key=fits))

    assert needed[0] < needed[1]


def test_every_process_is_in_one_group_and_no_group_is_larger_than_wanted():
    sizes = [5, 5, 1, 30, 2, 2]

    for most in range(1, 60):
        borders = borders_of(sizes, most)
        groups = [sizes[a:b] for a, b in pairwise(borders)]
        assert [size for group in groups for size in group] == sizes
        assert all(sum(group) <= most or len(group) == 1 for group in groups)
