"""What was damaged or interrupted is announced by every command that reads it."""

from __future__ import annotations

import json

import pytest

import burstline
from burstline.formats.paraver.writing import writer
from burstline.testing import trace_of
from command import burstline as call
from raw_files import Run, record, send

TURNS = 12


@pytest.fixture
def interrupted(tmp_path):
    """A Paraver trace of a run that was interrupted while rank 0 was in MPI_Send."""
    run = Run(2)
    for rank in range(2):
        run[rank].call("MPI_Init", 1, 2)
        for turn in range(1, TURNS):
            run[rank].call("MPI_Barrier", 100 * turn, 100 * turn + 10)
    run[0].enter("MPI_Send", 2000).add(send(1, size=8))
    (tmp_path / "raw").mkdir()
    trace = run.read(tmp_path / "raw")
    writer.write(trace, tmp_path / "a.prv")
    return tmp_path / "a.prv"


COMMANDS = {
    "info": "",
    "structure": "--min-share 0",
    "structure --iterations 1": "--min-share 0",
    "table": "",
    "cut": "-o {out}.prv --from 0ns --to 2us",
    "convert": "-o {out}.store",
    "annotate": "-o {out}.prv",
    "merge": "{same}",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_in_one_line_that_a_run_was_interrupted(
    command, interrupted, tmp_path
):
    same = tmp_path / "same.prv"
    for ending in ("prv", "pcf", "row"):
        file = interrupted.with_suffix(f".{ending}")
        same.with_suffix(f".{ending}").write_bytes(file.read_bytes())
    words = COMMANDS[command].format(out=tmp_path / "out", same=same).split()
    name, *options = command.split()

    done = call(name, interrupted, *words, *options, "--format", "json")

    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if f"warning: {interrupted}:" in line]
    assert len(lines) == 1, done.stderr
    assert "call_never_left (1 times)" in lines[0]
    kinds = [defect["kind"] for defect in json.loads(done.stdout)["defects"]]
    assert "call_never_left" in kinds


def test_runs_that_are_compared_are_named(tmp_path):
    steps = "".join(
        f" | {100 * k} enter MPI_Barrier X={k} | {100 * k + 9} leave X=0" for k in range(1, 20)
    )
    lost = "2000 enter MPI_Send | 2000 send to 1 tag 8 bytes 64 | 2009 leave"
    for name, end in (("a", "2000 enter MPI_Barrier X=3 | 2009 leave X=0"), ("b", lost)):
        text = f"ranks 2 | counter X | 0{steps} | {end} | 1{steps}"
        burstline.write(trace_of(text), tmp_path / f"{name}.store")
    runs = tmp_path / "a.store", tmp_path / "b.store"

    done = call("check-merge", *runs, "--format", "json")

    assert done.returncode == 0, done.stderr
    assert f"warning: {runs[1]}: " in done.stderr
    named = {(row["trace"], row["kind"]) for row in json.loads(done.stdout)["defects"]}
    assert (str(runs[1]), "unmatched_send") in named


@pytest.mark.parametrize("command", ["plot", "table --format csv", "structure --format csv"])
def test_those_that_print_no_document_say_it_too(command, interrupted):
    name, *options = command.split()

    done = call(name, interrupted, *options)

    assert done.returncode == 0, done.stderr
    assert done.stderr.count("call_never_left") == 1


def test_a_trace_without_damage_is_not_warned_of(tmp_path):
    (tmp_path / "a.txt").write_text("ranks 1\n0 | 0 enter MPI_Init | 5 leave\n")

    done = call("info", tmp_path / "a.txt", "--format", "json")

    assert json.loads(done.stdout)["defects"] == []
    assert not done.stderr


@pytest.mark.parametrize("ending", ["prv", "store", "raw"])
def test_info_names_the_call_in_which_a_run_was_interrupted(ending, interrupted):
    trace = (
        interrupted.with_suffix(f".{ending}")
        if ending != "raw"
        else interrupted.parent / ending
    )
    if ending == "store":
        burstline.write(burstline.read(interrupted), trace)

    document = json.loads(call("info", trace, "--format", "json").stdout)
    shown = call("info", trace).stdout

    (open_call,) = document["open_calls"]
    facts = {"rank": 0, "operation": "MPI_Send", "peer": 1, "call_path": None}
    assert facts.items() <= open_call.items()
    assert open_call["enter_ns"] > 0
    row = next(line for line in shown.splitlines() if "MPI_Send " in line and " 1 " in line)
    assert "Interrupted in these calls" in shown, row
    assert "nothing is missing" not in shown


def test_a_window_that_cuts_calls_leaves_them_and_the_open_one_what_they_are(interrupted):
    enter = burstline.read(interrupted).calls["enter_ns"].to_pylist()
    until = f"{enter[3] + 1}ns"

    cut = call("info", interrupted, "--to", until, "--format", "json")
    whole = call("info", interrupted, "--from", until, "--format", "json")

    assert json.loads(cut.stdout)["open_calls"] == []
    assert len(json.loads(whole.stdout)["open_calls"]) == 1


def test_a_thread_that_was_stopped_between_calls_was_in_none(tmp_path):
    run = Run(1)
    run[0].call("MPI_Init", 1, 2).call("MPI_Barrier", 5, 9).add(record(70, time=20, b=10))
    (tmp_path / "raw").mkdir()
    run.write(tmp_path / "raw")

    done = call("info", tmp_path / "raw", "--format", "json")

    assert json.loads(done.stdout)["open_calls"] == []
    assert "process_without_end" in done.stderr
