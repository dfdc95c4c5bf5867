"""What lines of pseudo-code take in all: totals, shares of the run, computing, and waits."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

import burstline
from burstline.show import pseudocode, view
from burstline.structure import Call, sites_before, walk
from command import burstline as run
from verdicts import MS, looping

HEAT = files("burstline") / "data" / "heat.prv.gz"
SHIPPED = [HEAT, HEAT.parent / "lulesh_8r.prv.gz"]


def calls_of(structure):
    return [item for item, _ in walk(structure.items) if isinstance(item, Call)]


@pytest.mark.parametrize("path", SHIPPED, ids=["heat", "lulesh"])
def test_calls_and_the_computing_before_them_add_up_to_the_time_of_their_ranks(path):
    structure = burstline.detect(burstline.read(path), method="exact")

    calls = structure.found_in
    first, last = calls.lane_begin[:-1], calls.lane_begin[1:] - 1
    every = int((calls.leave_ns[last] - calls.enter_ns[first]).sum())
    told = sum(call.total_ns + call.computing_ns for call in calls_of(structure))
    assert told == pytest.approx(every, abs=len(calls_of(structure)))


def test_start_and_end_of_processes_are_no_part_of_the_run():
    first, *_, last = pseudocode(burstline.detect(looping(steps=5)))

    assert (first.text, first.total_ns, first.share) == ("MPI_Init()", 2 * MS, None)
    assert (last.text, last.total_ns, last.share) == ("MPI_Finalize()", 2 * MS, None)


def test_computing_is_told_by_the_call_that_it_follows():
    structure = burstline.detect(looping(steps=5))
    operation = {call.site: call.operation for call in calls_of(structure)}

    before = sites_before(structure).tolist()

    after = {operation[site]: operation.get(first) for site, first in enumerate(before)}
    assert after == {
        "MPI_Init": None, "MPI_Barrier": "MPI_Barrier", "MPI_Finalize": "MPI_Barrier"
    }  # fmt: skip
    texts = [line.text for line in pseudocode(structure, bursts_ns=1) if line.kind == "burst"]
    assert texts == ["computation from MPI_Barrier, solver.c:42"]


def test_computing_is_told_by_its_function_where_the_trace_has_it(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    done = run("structure", HEAT, "--waits", "--bursts", "1ms")

    assert "computation in relax (heat.c:48)" in done.stdout
    assert "computation in relax" not in run("structure", HEAT, "--bursts", "1ms").stdout


def test_waits_are_a_share_of_the_line():
    done = run("structure", HEAT, "--waits", "--format", "json")

    waits = burstline.open(HEAT).waits()
    lines = {(row["operation"], row["line"]): row for row in json.loads(done.stdout)["lines"]}
    late = lines["MPI_Waitall", 45]
    assert late["wait_ns"] == waits.profile.total("mpi_latesender")
    assert late["wait_share"] == late["wait_ns"] / late["total_ns"]
    assert late["computing_in"] == "in heat (heat.c:31)"
    assert lines["MPI_Irecv", 38]["computing_in"] == "in relax (heat.c:48)"
    assert lines["MPI_Isend", 40]["wait_ns"] == 0
    [row] = [each for each in run("structure", HEAT, "--waits").stdout.splitlines()
             if "MPI_Waitall" in each]  # fmt: skip
    assert row.endswith("99.8 %")


def test_lines_are_shown_without_waits_unless_they_are_asked_for():
    structure = burstline.detect(looping(steps=5))

    document = view(structure).document()

    assert "lines" not in document
    heads = [column.name for column in list(view(structure).blocks())[1].columns]
    assert heads == ["FILE", "LINE", "PSEUDOCODE", "E(time)", "total", "share", "E(size)"]
