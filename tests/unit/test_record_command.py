"""What ``burstline record`` does around a run, with programs that only pretend to use MPI."""

from __future__ import annotations

import errno
import json
import os
import signal
import struct
import subprocess
import sys
import threading

import pytest

import burstline
from burstline.cli import main
from burstline.cli.commands import convert
from burstline.cli.commands.demo import shipped_trace
from burstline.formats import ENDINGS, raw
from burstline.record.building import fitting
from burstline.record.launching import session

ENTER, LEAVE, SEND, RECEIVE, RANK, EVENT, GAP = 1, 2, 12, 15, 30, 50, 70
OVERHEAD, LEFT, SAMPLING = 73, 74, 75
SPAWN = 101
SENT, RECEIVED = 1, 5
RUNS = "for r in $RANKS; do cp $FILES/$r $BURSTLINE_DIR/p-$r.t-0.raw; done"


def raw_file(path, *records):
    """Write a raw file: (kind, op, a, b, c) each."""
    body = b"".join(struct.pack("<QHHIQQ", 0, *record) for record in records)
    header = struct.pack("<8sIII", b"BURSTRAW", 1, 4096, 32)
    path.write_bytes(header.ljust(4096, b"\0") + body + bytes(320))


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    """Run ``burstline record`` in an empty folder: (exit code, stdout, stderr)."""
    files, here = tmp_path / "files", tmp_path / "here"
    files.mkdir()
    here.mkdir()
    for rank in range(2):
        ends = [(OVERHEAD, 0, 60, 100, 7), (LEFT, 1, 0, 0, 0)]
        raw_file(files / f"{rank}", (RANK, 0, rank, 2, 0), (SEND, 0, 0, 0, 8), *ends)
    ends = (
        (OVERHEAD, 2, 0, 12_000, 1),
        (SAMPLING, 250, 0, 40 << 32 | 3, 60_000),
        (LEFT, 1, 0, 0, 0),
    )
    raw_file(files / "beside", (RANK, 0, 1, 2, 0), *ends)
    raw_file(files / "killed", (RANK, 0, 1, 2, 0), (GAP, 0, 0, 0, 12))
    raw_file(files / "aborted", (RANK, 0, 1, 2, 0), (LEFT, 3, 6, 0, 0))
    raw_file(files / "signalled", (RANK, 0, 1, 2, 0), (LEFT, 4, 11, 0, 0))
    to_others = [(kind, 0, (1 << 32) - 3, 0, 8) for kind in (SEND, RECEIVE)]
    raw_file(files / "spawning", (RANK, 0, 1, 2, 0), (ENTER, SPAWN, 0, 0, 0), *to_others)
    raw_file(files / "alone", (RANK, 0, 0, 1, 0), (LEFT, 1, 0, 0, 0))
    raw_file(files / "lonely", (RANK, 0, 0, 1, 0), (LEFT, 1, 0, 0, 0))
    raw_file(files / "rankless", (SEND, 0, 0, 0, 0))
    for rank in range(2):
        sums = [(EVENT, 0, 1000 + SENT, 3, 0), (EVENT, 0, 2000 + SENT, 3_000, 0)]
        sums += [(EVENT, 0, 1000 + RECEIVED, 1, 0), (EVENT, 0, 2000 + RECEIVED, 7_000, 0)]
        raw_file(files / f"counted{rank}", (RANK, 0, rank, 2, 0), *sums, (LEFT, 1, 0, 0, 0))
    monkeypatch.chdir(here)
    monkeypatch.setenv("FILES", str(files))
    monkeypatch.setenv("RANKS", "0 1")
    monkeypatch.setattr(fitting, "shared_object", lambda _: "libc.so.6")
    trace = burstline.read(shipped_trace())
    monkeypatch.setattr(raw, "read", lambda *_, **__: trace)

    def answer(*words):
        code = 0
        try:
            main(["record", *map(str, words)])
        except SystemExit as end:
            code = end.code
        return (code, *capfd.readouterr())

    answer.here = here
    return answer


def app(run, text=RUNS, name="app"):
    path = run.here / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return f"./{name}"


def names(run):
    return sorted(path.name for path in run.here.iterdir())


def test_a_run_leaves_a_trace_called_like_the_program_and_nothing_else(run):
    code, _, said = run("--mpi", "openmpi", "--", app(run))

    assert code == 0, said
    assert names(run) == ["app", "app.pcf", "app.prv", "app.row"]
    assert (
        "app.prv: 2 ranks, 8 records; recording took about 100 ns of each of 14 calls" in said
    )


@pytest.mark.parametrize(
    ("words", "end"),
    [
        ([], "60 ns of it to read counters (--counters none leaves them out)\n"),
        (["--counters=cpu"], "60 ns of it to read counters\n"),
    ],
)
def test_the_last_line_says_what_the_reading_of_counters_cost(run, words, end):
    _, _, said = run("--mpi", "openmpi", *words, "--", app(run))

    assert said.endswith(end)


def test_what_threads_took_is_in_the_last_line_and_in_the_estimate(run, monkeypatch):
    monkeypatch.setenv("RANKS", "0 1 beside")

    _, printed, _ = run("--mpi=openmpi", "--format=json", app(run))
    _, _, said = run("--mpi=openmpi", "--force", app(run))

    document = json.loads(printed)
    assert document["recorded_threads"] == 3
    assert document["threads_estimate_ns"] == 12_000
    assert document["sampling_estimate_ns"] == 60_000
    assert document["overhead_estimate_ns"] == 1400 + 12_000 + 60_000
    assert ", 1,500 ns of each of 40 samples, and 4 µs of each of 3 threads" in said


def test_programs_are_told_the_numbers_and_the_output_of_the_program_apart(run):
    program = app(run, f"{RUNS}; echo hello")
    _, for_people, _ = run("--mpi=openmpi", "-o", "people.prv", program)
    code, printed, said = run("--mpi=openmpi", "--format=json", program)

    assert code == 0
    assert for_people == "hello\n"
    assert json.loads(printed) == {
        "trace": "app.prv", "ranks": 2, "records": 8, "dropped": 0,
        "overhead_estimate_ns": 1400, "sampling_estimate_ns": 0, "reading_estimate_ns": 840,
        "threads_estimate_ns": 0, "recorded_calls": 14, "recorded_threads": 2, "defects": [],
    }  # fmt: skip
    assert "hello" in said


@pytest.mark.parametrize(
    ("end", "expected", "message"),
    [("exit 7", 7, "ended with code 7"), ("kill -9 $$", 128 + signal.SIGKILL, "app.prv")],
)
def test_the_exit_code_of_the_program_is_ours_and_its_trace_is_made(
    run, end, expected, message
):
    code, _, said = run("--mpi", "openmpi", app(run, f"{RUNS}; {end}"))

    assert code == expected
    assert message in said
    assert "app.prv" in names(run)


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        (
            "killed",
            "rank 1 ended without notice, by SIGKILL, _exit or exec; what it recorded before",
        ),
        ("spawning", "MPI_Comm_spawn started processes that are not recorded"),
        ("spawning", "2 sends and receives have their other side in another job"),
        ("aborted", "rank 1 called MPI_Abort(6)"),
        ("signalled", "rank 1 was ended by SIGSEGV"),
        ("0", "1 of 2 ranks recorded nothing"),
        (
            "killed",
            "12 records were dropped, as there was no room for them on the disk or in memory",
        ),
    ],
)
def test_what_happened_to_a_rank_is_said(run, monkeypatch, ranks, message):
    monkeypatch.setenv("RANKS", ranks)

    code, _, said = run("--mpi", "openmpi", app(run))

    assert code == 0
    assert message in said


@pytest.mark.parametrize("piece", [1, 2, 3, 100])
def test_what_mpi_refused_is_an_error_and_no_message_of_another_job(run, monkeypatch, piece):
    stranger = (SEND, 0, (1 << 32) - 3, 0, 8)
    calls = [(ENTER, SENT, 0, 0, 0), stranger, (EVENT, 0, 0, 0, 0), (LEAVE, SENT, 6, 0, 0)]
    calls += [(ENTER, SENT, 0, 0, 0), stranger, (LEAVE, SENT, 0, 0, 0)]
    calls += [(ENTER, RECEIVED, 0, 0, 0), (LEAVE, RECEIVED, 15, 0, 0)]
    calls += [(ENTER, SENT, 0, 0, 0), stranger, (LEAVE, SENT, 6, 0, 0)]
    raw_file(run.here.parent / "files" / "0", (RANK, 0, 0, 1, 0), *calls, (LEFT, 1, 0, 0, 0))
    monkeypatch.setenv("RANKS", "0")
    monkeypatch.setattr(session, "_CHUNK", piece)

    code, _, said = run("--mpi", "openmpi", app(run))

    assert code == 0
    assert "3 calls of MPI returned an error (MPI_Send 2, MPI_Recv 1); what they did" in said
    assert "1 send or receive has its other side in another job" in said


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("exit 0", 5, "no rank recorded anything: the program does not call MPI"),
        ("exit 3", 3, "code 3, and no rank recorded anything; no trace"),
        ("exit 3", 3, "or ran without the recorder: LD_PRELOAD is taken out of its environ"),
        ("RANKS=rankless; " + RUNS, 5, "no rank recorded anything"),
        ("RANKS='alone lonely'; " + RUNS, 5, "each as the only rank"),
    ],
)
def test_a_run_without_ranks_is_no_trace(run, text, code, message):
    found, _, said = run("--mpi", "openmpi", app(run, text))

    assert found == code
    assert message in said
    assert "app.prv" not in names(run)


def test_env_in_the_words_of_a_launcher_that_fails_is_explained(run):
    app(run, "exit 1", name="mpirun.sh")
    (run.here / "mpirun.sh").rename(run.here / "mpirun")

    code, _, said = run("--mpi", "openmpi", "--", "./mpirun", "-n", "99", app(run))

    assert code == 1
    assert "Where ./mpirun names env above, it means the program" in said


def test_the_recorder_is_told_what_was_asked_for(run):
    words = ["--stack-depth=3", "--counters=cpu,work", "--calls=-MPI_Test", "--profile"]
    words += ["--leave-free=1.5Gi", "--block=64Ki", "--sample=250"]

    run("--mpi", "openmpi", *words, app(run, f"env >env.txt; {RUNS}"))

    told = dict(line.split("=", 1) for line in (run.here / "env.txt").read_text().splitlines())
    expected = {
        "STACK_DEPTH": "3", "COUNTERS": "cpu,work", "CALLS": "-MPI_Test", "MODE": "profile",
        "BLOCK": "65536", "SAMPLE": "250", "LEAVE_FREE": "1536",
    }  # fmt: skip
    assert {name: told[f"BURSTLINE_{name}"] for name in expected} == expected
    assert told["LD_PRELOAD"] == "libc.so.6"


def test_the_recorder_is_told_the_ranks_in_order_and_each_once(run):
    run("--mpi", "openmpi", "--ranks=9,2-4,0,4-5", "--", app(run, f"env >env.txt; {RUNS}"))

    assert "BURSTLINE_RANKS=0,2-5,9" in (run.here / "env.txt").read_text().splitlines()


def test_a_program_without_the_ranks_that_were_asked_for_has_no_trace(run, monkeypatch):
    monkeypatch.setenv("RANKS", "")

    code, _, said = run("--mpi", "openmpi", "--ranks=8-9", "--", app(run))

    assert code == 5
    assert "the program has none of the ranks in --ranks" in said


def test_a_profile_says_how_often_and_how_long_each_operation_was_called(run, monkeypatch):
    monkeypatch.setenv("RANKS", "counted0 counted1")
    profile = ("--mpi", "openmpi", "--force", "--profile")

    code, printed, said = run(*profile, app(run))
    _, for_programs, _ = run(*profile, "--format=json", app(run))

    assert code == 0, said
    rows = [line.split() for line in printed.splitlines() if "MPI_" in line]
    assert rows == [
        ["MPI_Recv", "2", "14.0", "µs", "70.0", "%", "7.00", "µs"],
        ["MPI_Send", "6", "6.00", "µs", "30.0", "%", "1.00", "µs"],
    ]
    assert json.loads(for_programs)["calls"] == {
        "MPI_Recv": {"count": 2, "time_ns": 14_000},
        "MPI_Send": {"count": 6, "time_ns": 6_000},
    }


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_name_of_a_set_comes_before_any_ending(run, ending):
    (run.here / "s.toml").write_text('[sets]\na = ["X"]\n')
    (run.here / f"o.a{ending}").touch()

    _, _, said = run(
        "--mpi=openmpi", "--counters-set=s.toml", "--each-set", "-o", f"o{ending}", app(run)
    )

    assert f"o.a{ending} exists" in said


def test_what_the_user_preloads_stays_preloaded(monkeypatch, tmp_path):
    monkeypatch.setenv("LD_PRELOAD", "/lib/other.so")

    environment = session.program_environment({}, tmp_path, tmp_path / "r.so")

    assert environment["LD_PRELOAD"] == f"{tmp_path}/r.so:/lib/other.so"


def test_each_set_of_counters_is_a_run_of_its_own(run):
    (run.here / "s.toml").write_text('[sets]\na = ["X", "Y"]\nb = ["Z"]\n')
    program = app(run, f"echo $BURSTLINE_COUNTERS; {RUNS}")

    code, printed, _ = run(
        "--mpi=openmpi", "--counters-set=s.toml", "--each-set", "-o", "o.prv.gz", program
    )

    assert code == 0
    assert printed == "X,Y\nZ\n"
    assert {"o.a.prv.gz", "o.b.prv.gz"} <= set(names(run))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--each-set"], "needs --counters-set"),
        (["--counters-set=s.toml"], "2 sets of counters"),
        (["--counters-set=s.toml", "--counters=X"], "exclude each other"),
        (["--counters-set=s.toml", "--each-set", "--keep-raw=r"], "room for one run"),
        (["--stack-depth=-1"], "--stack-depth goes from 0"),
        (["--block=x"], "no size"),
        (["--calls=MPI_Send,MPI_Sed"], "MPI_Sed is no operation of MPI. Did you mean MPI_Send"),
        (["--calls=-x"], "x is no operation of MPI. Names are like MPI_Send"),
        (["--memory=x"], "no size"),
        (["-o", "x.txt"], "the ending of an output"),
        (["-o", "nowhere/x.prv"], "there is no folder nowhere"),
        (["-o", "/sys/x.prv"], "/sys cannot be written"),
        (["--leave-free=900P"], "MB are to stay free (--leave-free): nothing could be record"),
        (["-o", "/proc/x.prv"], "/proc cannot be written (it takes no files)"),
        (["-o", "old.prv"], "old.prv exists"),
        (["--keep-raw=full"], "full is not empty"),
    ],
)
def test_wrong_arguments_are_refused_before_the_program_runs(run, words, message):
    (run.here / "s.toml").write_text('[sets]\na = ["X"]\nb = ["Y"]\n')
    (run.here / "old.prv").touch()
    (run.here / "full").mkdir()
    (run.here / "full" / "x").touch()

    code, _, said = run("--mpi", "openmpi", *words, app(run, "touch ran"))

    assert code == 2
    assert message in said
    assert "ran" not in names(run)


@pytest.mark.parametrize(
    ("words", "message"),
    [([], "give a command to record"), (["./nothing"], "there is no program ./nothing")],
)
def test_what_cannot_be_run_is_a_wrong_argument(run, words, message):
    code, _, said = run("--mpi", "openmpi", "--", *words)

    assert code == 2
    assert message in said


def test_raw_files_are_kept_where_the_user_wants_them(run):
    run("--mpi", "openmpi", "--keep-raw", "raw", app(run))

    kept = sorted(path.name for path in (run.here / "raw").iterdir())
    assert kept == ["p-0.t-0.raw", "p-1.t-0.raw"]
    assert "app.prv" in names(run)


@pytest.mark.parametrize(
    ("error", "expected", "message"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), 1, "no space left on device"),
        (KeyboardInterrupt(), 130, "go on with: "),
    ],
)
def test_a_merge_that_ends_early_keeps_the_raw_files_and_says_how_to_go_on(
    run, monkeypatch, error, expected, message
):
    def ended(*_, **__):
        raise error

    monkeypatch.setattr(convert.formats, "write", ended)

    code, _, said = run("--mpi", "openmpi", app(run))

    (folder,) = [path for path in run.here.iterdir() if path.is_dir()]
    assert code == expected
    assert message in said
    assert f"burstline convert {folder} app.prv" in said
    assert len(list(folder.glob("*.raw"))) == 2
    assert "app.prv" not in names(run)


def test_an_output_that_exists_is_replaced_by_force(run):
    (run.here / "app.prv").touch()

    code, _, _ = run("--mpi", "openmpi", "--force", app(run))

    assert code == 0
    assert (run.here / "app.prv").stat().st_size > 0


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_interrupting_ends_the_program_and_keeps_what_it_recorded(tmp_path, told):
    patient = "trap 'touch $1; exit 9' INT; while :; do sleep 0.05; done"
    program = f"""
import os, sys, threading
from burstline.record import run_command
threading.Timer(0.3, os.kill, (os.getpid(), {told:d})).start()
ended = run_command(["sh", "-c", {patient!r}, "sh", sys.argv[1]])
print(ended.code, ended.interrupted)"""

    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "told"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "9 True\n"
    assert (tmp_path / "told").exists()


def test_a_run_can_be_started_by_another_thread_than_the_first():
    ended = []

    thread = threading.Thread(
        target=lambda: ended.append(session.run_command(["sh", "-c", "exit 4"]))
    )
    thread.start()
    thread.join()

    assert ended[0].exit_code() == 4


def test_a_raw_file_that_ends_in_its_header_is_no_thread(tmp_path):
    (tmp_path / "p-1.t-0.raw").write_bytes(bytes(100))

    assert session.survey(tmp_path).threads == 0


def test_the_live_demo_needs_its_extra(monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    with pytest.raises(SystemExit) as end:
        main(["demo", "--live"])

    assert end.value.code == 6
    assert "burstline[demo]" in capsys.readouterr().err
