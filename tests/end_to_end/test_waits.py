"""``burstline waits`` from a file to a page, a profile for Cube, or an exit code."""

from __future__ import annotations

import json
import re
from collections import Counter

import numpy as np
import pytest
from pycubexr import CubexParser

import burstline as package
from burstline.formats.store.folder import StoreTables
from burstline.testing import trace_of
from burstline.waits import states_of
from command import burstline
from simulator import simulate
from stories import Story

PROGRAM = """
ranks 2
path 0 main file ring.c line 9
0 | 1 enter MPI_Init | 2 leave
9000010 enter MPI_Send path 0 | 9000010 send to 1 bytes 8 | 9000011 leave
9000020 enter MPI_Finalize | 9000021 leave
1 | 1 enter MPI_Init | 2 leave
6000006 enter MPI_Recv path 0 | 9000012 receive from 0 bytes 8 | 9000012 leave
9000015 enter MPI_Finalize | 9000021 leave
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text(PROGRAM)
    return path


def test_a_profile_opens_in_pycubexr_with_equal_values(tmp_path):
    path = tmp_path / "waits.cubex"
    trace = simulate(129)  # two threads a rank
    (tmp_path / "run.txt").write_text(trace.text)

    assert burstline("waits", tmp_path / "run.txt", "-o", path).returncode == 0

    profile = package.wait_states(package.read(tmp_path / "run.txt")).profile
    units = dict(
        zip(
            profile.metrics["name"].to_pylist(),
            profile.metrics["unit"].to_pylist(),
            strict=True,
        )
    )
    with CubexParser(path) as cube:
        assert len(list(cube.all_cnodes())) == profile.call_paths.num_rows
        assert len(cube.get_locations()) == profile.locations.num_rows
        for name in profile.stored:
            metric = cube.get_metric_by_name(name)
            stored = cube.get_metric_values(metric)
            values = np.array(
                [
                    stored.cnode_values(node, convert_to_exclusive=True)
                    for node in sorted(cube.all_cnodes(), key=lambda node: node.id)
                ]
            )
            scale = 1e-9 if units[name] == "ns" else 1
            assert metric.units == ("sec" if units[name] == "ns" else units[name])
            assert np.allclose(values, profile.exclusive(name) * scale, rtol=1e-12, atol=0), (
                name
            )


def test_json_has_what_waits_and_who_caused_it(program):
    done = burstline("waits", program, "--format", "json")

    waits = json.loads(done.stdout)
    assert waits["metrics"]["mpi_latesender"] == 3000004
    assert waits["delays"] == [{"from": 0, "to": 1, "wait_ns": 3000009}]  # 5 in Finalize


def test_nothing_that_synchronises_ends_with_5(tmp_path):
    path = Story("nothing", "ranks 2").write(tmp_path, "txt")

    done = burstline("waits", path)

    assert done.returncode == 5
    assert "nothing synchronises in this trace" in done.stderr


def test_a_name_that_is_no_profile_ends_with_2(program):
    assert burstline("waits", program, "-o", "waits.csv").returncode == 2


def test_what_does_not_fit_is_refused_with_the_cut_that_does(tmp_path):
    turns = 400
    lines = ["ranks 2"]
    for rank in range(2):
        lines.append(str(rank))
        lines += [
            f"{1000 * turn + 10 * rank} enter MPI_Barrier | {1000 * turn + 10 * rank} begin "
            f"| {1000 * turn + 100} end | {1000 * turn + 100} leave"
            for turn in range(turns)
        ]
    store = Story("long", "\n".join(lines)).write(tmp_path, "store")
    refused = burstline("waits", store, "--memory", "300k")
    assert refused.returncode == 5
    words = re.search(r"burstline (cut .*)", refused.stderr)[1].split()

    cut = burstline(*[str(tmp_path / word) if word == "part.store" else word for word in words])
    done = burstline("waits", tmp_path / "part.store", "--memory", "300k")

    assert (cut.returncode, done.returncode) == (0, 0), done.stderr


def test_a_profile_that_does_not_fit_is_refused_with_its_size(program):
    trace = package.read(program)

    with pytest.raises(package.BurstlineError, match="call paths on 2 threads"):
        states_of(trace, None, room=(0, 100))


def test_threads_of_teams_count_for_what_does_not_fit():
    trace = trace_of(
        "ranks 1 threads 2 | 0 | 0 fork 1 | 1 team begin 1 | 9 team end 1 | 10 join "
        "| 0.1 | 1 team begin 1 | 9 team end 1"
    )

    with pytest.raises(package.BurstlineError, match="on 2 threads, which meet 2 times"):
        states_of(trace, None, room=(0, 100))


def test_each_table_of_a_store_is_loaded_once(program, tmp_path, monkeypatch):
    path = tmp_path / "run.store"
    package.write(package.read(program), path)
    loaded = []
    load = StoreTables.__getitem__
    monkeypatch.setattr(
        StoreTables, "__getitem__", lambda self, name: loaded.append(name) or load(self, name)
    )

    trace = package.read(path)
    loaded.clear()
    states_of(trace, None)

    assert loaded
    assert max(Counter(loaded).values()) == 1
