"""Time by call path: samples divide computing, nothing is lost, and viewers can read it."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given

import burstline
from burstline import show
from burstline.testing import trace_of
from burstline.timeline import KINDS, Kind, flame_of, timeline
from command import burstline as command
from halo import HALO, halo
from random_traces import traces

PATHS = """
    path 4 assemble under 1 file a.c line 4
    path 5 solve under 1 file s.c line 6
    path 6 assemble under 1 file a.c line 5
"""
ASSEMBLE, SOLVE, ASSEMBLE_BELOW = 4, 5, 6


def sampled(*samples, works=(100, 300), paths=PATHS):
    """A run of two ranks; samples, (rank, call path, periods), are in its first work."""
    lines = [
        f"{rank} | {20 + k} sample path {path} periods {periods}"
        for k, (rank, path, periods) in enumerate(samples)
    ]
    return halo(works, text=HALO + paths + "\n".join(lines))


def flame(trace):
    return burstline.open(trace).ask("flame")


def computing(made):
    """How long is computed by each path of functions."""
    times = Counter()
    for stack in made.stacks():
        times[";".join(stack["path"])] += stack["computing_ns"]
    return {path: time for path, time in times.items() if time}


def test_the_computing_of_a_rank_is_divided_like_its_samples_there():
    made = flame(sampled((0, SOLVE, 2), (1, SOLVE, 1), (1, ASSEMBLE, 3)))
    before_first = computing(flame(sampled()))

    found = computing(made)

    # Each rank computes four times up to the same call, of which samples saw the first.
    whole = before_first["main;computing up to MPI_Isend@halo.c:7"]
    assert whole == 4 * (100 + 300)
    assert found["main;solve"] == 4 * 100 + 4 * 300 // 4
    assert found["main;assemble"] == 4 * 300 * 3 // 4
    assert "main;computing up to MPI_Isend@halo.c:7" not in found
    assert made.sampled_ns == whole
    assert sum(found.values()) == sum(before_first.values())


def test_a_place_without_a_sample_keeps_its_name():
    made = flame(sampled((1, ASSEMBLE, 3)))

    assert computing(made)["main;computing up to MPI_Isend@halo.c:7"] == 4 * 100  # of rank 0
    assert made.sampled_ns == 4 * 300


def test_a_function_is_one_frame_with_the_line_that_most_time_is_spent_at():
    made = flame(sampled((1, ASSEMBLE, 1), (1, ASSEMBLE_BELOW, 2)))
    [frame] = [each for each in made.frames if each.function == "assemble"]
    assert (frame.file, frame.line) == ("a.c", 5)

    no_file = PATHS + "path 7 assemble under 1\n"
    made = flame(sampled((1, ASSEMBLE, 1), (1, 7, 1), paths=no_file))
    assert [each.function for each in made.frames].count("assemble") == 1


def test_functions_that_report_themselves_need_no_sample():
    text = (
        "ranks 1 | path 0 main file m.c line 3 | path 1 other under 0 file o.c line 4 "
        "| 0 | 0 enter main | 0 enter MPI_Init | 5 leave | 10 enter work | 15 sample path 1 "
        "| 90 leave | 95 enter MPI_Barrier | 96 leave | 97 leave"
    )

    assert computing(flame(trace_of(text)))["main;work"] == 80


@given(traces())
def test_no_time_is_lost_and_none_is_counted_twice(trace):
    assume(trace.rows("calls"))
    line = timeline(trace, burstline.wait_states(trace))

    made = flame_of(trace, line)

    begin, end = line.baseline_ns
    wanted = np.zeros(len(KINDS), np.int64)
    is_cpu = [kind == "cpu" for kind in line.locations["kind"].to_pylist()]
    for piece in line.pieces.to_pylist():
        if is_cpu[piece["location"]]:
            length = min(piece["end_ns"], end) - max(piece["start_ns"], begin)
            wanted[piece["kind"]] += max(length, 0)
    wanted[[Kind.ENDS, Kind.NOT_RECORDED]] = 0
    assert made.times_ns.sum(axis=0).tolist() == wanted.tolist()
    assert made.with_callees_ns()[0].tolist() == wanted.tolist()


def test_speedscope_has_all_of_the_time_and_names_what_is_waited():
    made = flame(sampled((1, ASSEMBLE, 3)))

    document = json.loads(show.speedscope(made, "run.prv"))

    [profile] = document["profiles"]
    names = [frame["name"] for frame in document["shared"]["frames"]]
    stack, times, at = [], Counter(), 0
    for event in profile["events"]:
        times[";".join(stack)] += event["at"] - at
        at = event["at"]
        name = names[event["frame"]]
        if event["type"] == "O":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert not stack
    assert at == profile["endValue"] == made.times_ns.sum()
    assert times["main;assemble"] == computing(made)["main;assemble"]
    waiting = sum(
        time for path, time in times.items() if path.endswith("MPI_Recv;[late sender]")
    )
    assert waiting == made.times_ns[:, Kind.LATE_SENDER].sum() > 0


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "run.store"
    hostile = PATHS.replace("assemble", '"<script>\\u202eassemble"')
    burstline.write(sampled((1, ASSEMBLE, 3), (1, SOLVE, 9), paths=hostile), path)
    return path


def test_a_tree_a_picture_and_a_profile_are_written(run, tmp_path):
    printed = command("flame", run).stdout
    assert "solve" in printed
    assert "\u202e" not in printed

    for ending, where in (("svg", "a browser"), ("json", "speedscope.app")):
        output = tmp_path / f"out.{ending}"
        done = command("flame", run, "-o", output)
        assert done.returncode == 0, done.stderr
        assert where in done.stderr
        text = output.read_text()
        assert "\u202e" not in text
        assert command("flame", run, "-o", output).returncode == 2  # it exists
    assert (tmp_path / "out.svg").read_text().count('class="frame"') >= 5
    assert "<script" not in (tmp_path / "out.svg").read_text()
    assert json.loads((tmp_path / "out.json").read_text())["exporter"] == "burstline"
    assert command("flame", run, "-o", tmp_path / "out.txt").returncode == 2


def test_a_row_of_csv_is_a_folded_stack(run):
    head, *rows = command("flame", run, "--format", "csv").stdout.splitlines()

    assert head == "path,file,line,computing_ns,waiting_ns,transferring_ns"
    assert f"main;solve,s.c,6,{4 * 300 * 9 // 12},0,0" in rows
