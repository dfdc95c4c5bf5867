"""What was damaged or interrupted is announced by every command that reads it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import burstline
from burstline.formats.paraver.writing import writer
from burstline.testing import trace_of
from command import burstline as call
from raw_files import Run, record, send

TURNS = 12


def run_of_two(*, is_whole=False):
    """A run of two ranks that meet some times, with its end or without."""
    run = Run(2)
    for rank in range(2):
        run[rank].call("MPI_Init", 1, 2)
        for turn in range(1, TURNS):
            run[rank].call("MPI_Barrier", 100 * turn, 100 * turn + 10)
        if is_whole:
            run[rank].call("MPI_Finalize", 5000, 5010)
    return run


def written(run, path):
    """The path of a Paraver trace of a run, whose raw files are beside it."""
    path.with_suffix(".raw").mkdir()
    writer.write(run.read(path.with_suffix(".raw")), path)
    return path


@pytest.fixture
def interrupted(tmp_path):
    """A Paraver trace of a run that was interrupted while rank 0 was in MPI_Send."""
    run = run_of_two()
    run[0].enter("MPI_Send", 2000).add(send(1, size=8))
    return written(run, tmp_path / "a.prv")


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
    assert "call_never_left (1 time)" in lines[0]
    kinds = [defect["kind"] for defect in json.loads(done.stdout)["defects"]]
    assert "call_never_left" in kinds


@pytest.fixture
def killed(tmp_path):
    """A Paraver trace of a run that was killed between two calls."""
    return written(run_of_two(), tmp_path / "a.prv")


NO_END = "rank 0 has no MPI_Finalize: the run was interrupted or the trace was cut"


@pytest.mark.parametrize(
    "command", ["info", "structure --min-share 0", "table", "convert -o {out}.store"]
)
def test_a_run_that_was_killed_between_calls_is_announced(command, killed, tmp_path):
    name, *options = command.format(out=tmp_path / "out").split()

    done = call(name, killed, *options, "--format", "json")

    (line,) = [text for text in done.stderr.splitlines() if "warning: " in text]
    assert f"{killed}: no_mpi_finalize (2 times)" in line
    (defect,) = json.loads(done.stdout)["defects"]
    assert (defect["kind"], defect["count"]) == ("no_mpi_finalize", 2)
    assert burstline.read(killed).defects["first"].to_pylist() == [NO_END]


def test_a_merge_announces_the_run_that_was_killed(killed, tmp_path):
    whole = written(run_of_two(is_whole=True), tmp_path / "whole.prv")

    done = call("merge", whole, killed, "--format", "json")

    assert f"warning: {killed}: no_mpi_finalize (2 times)" in done.stderr
    assert f"{whole}: no_mpi_finalize" not in done.stderr


def parts_of(path):
    """The header, comments and communicators of a trace, and its records."""
    lines = gzip.decompress(path.read_bytes()).decode().splitlines(keepends=True)
    records = [line for line in lines if line[:2] in {"1:", "2:", "3:"}]
    return lines[: lines.index(records[0])], records


RECORDED = Path(__file__).parents[1] / "golden" / "irregular" / "irregular_run1.prv.gz"


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_trace_that_ends_at_a_line_before_mpi_finalize_is_announced(share, tmp_path):
    front, records = parts_of(RECORDED)
    torn = tmp_path / "torn.prv"
    torn.write_text("".join(front + records[: int(share * len(records))]), encoding="utf-8")

    assert "no_mpi_finalize (" in call("info", torn, "--quick").stderr
    assert "no_mpi_finalize" not in call("info", RECORDED, "--quick").stderr


def test_a_body_without_mpi_that_ends_before_its_header_says_is_announced(tmp_path):
    head = "#Paraver (01/01/2026 at 00:00):1000_ns:1(1):1:1(1:1)\n"
    state = "1:1:1:1:1:0:300:1\n"
    torn, whole = tmp_path / "torn.prv", tmp_path / "whole.prv"
    torn.write_text(head + state, encoding="utf-8")
    whole.write_text(head + state + "1:1:1:1:1:300:1000:1\n", encoding="utf-8")

    assert "ends_before_its_header (1 time)" in call("info", torn).stderr
    assert not call("info", whole).stderr


@pytest.mark.parametrize("ending", ["prv", "raw"])
def test_what_burstline_cut_says_so_itself_and_is_not_announced(ending, tmp_path):
    whole, part = written(run_of_two(is_whole=True), tmp_path / "a.prv"), tmp_path / "part.prv"

    call("cut", whole.with_suffix(f".{ending}"), "-o", part, "--to", "600ns")
    done = call("info", part, "--format", "json")

    assert json.loads(done.stdout)["defects"] == []
    assert "MPI_Finalize" not in json.loads(done.stdout)["calls"]
    assert not done.stderr


PAIR = "#Paraver (01/01/2026 at 00:00):1000_ns:0:1:2(1:1,1:1),1\nc:1:1:2:1:2\n"
BEGIN = "".join(f"2:0:1:{k}:1:10:50000003:31\n2:0:1:{k}:1:20:50000003:0\n" for k in (1, 2))
OFF = "2:0:1:2:1:500:40000012:0\n2:0:1:2:1:990:40000001:0\n"
FINALIZE = "2:0:1:1:1:980:50000003:32\n2:0:1:1:1:1000:50000003:0\n"


def test_a_rank_without_mpi_finalize_is_named_unless_its_tracing_was_off_in_the_end(tmp_path):
    path, off = tmp_path / "a.prv", tmp_path / "off.prv"
    path.write_text(PAIR + BEGIN + FINALIZE, encoding="utf-8")
    off.write_text(PAIR + BEGIN + OFF + FINALIZE, encoding="utf-8")

    row, _ = burstline.read(path).defects.to_pylist()

    assert (row["kind"], row["count"]) == ("no_mpi_finalize", 1)
    assert row["first"].startswith("rank 1 has no MPI_Finalize")
    assert "no_mpi_finalize" not in burstline.read(off).defects["kind"].to_pylist()


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
    trace = interrupted.with_suffix(f".{ending}")
    if ending == "store":
        burstline.write(burstline.read(interrupted), trace)

    document = json.loads(call("info", trace, "--format", "json").stdout)
    shown = call("info", trace).stdout

    (open_call,) = document["open_calls"]
    facts = {"rank": 0, "operation": "MPI_Send", "peer": 1, "call_path": None}
    assert facts.items() <= open_call.items()
    assert open_call["enter_ns"] > 0
    row = next(line for line in shown.splitlines() if "MPI_Send " in line and " 1 " in line)
    assert "Calls open at the end" in shown, row
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
