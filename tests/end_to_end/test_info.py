"""``burstline info`` as its users see it: a file in, an answer on stdout, an exit code."""

import csv
import dataclasses
import gzip
import io
import subprocess
import sys

import pytest

import burstline as package
import two_runs
from burstline.show import SummaryView
from burstline.testing import trace_of
from command import burstline, document_of
from raw_files import Run, record
from two_runs import CYC, INS

HEADER = "#Paraver (01/01/2026 at 00:00):1000_ns:1(2):1:2(1:1,1:1),1\nc:1:1:2:1:2\n"
P2P, COLLECTIVE, OTHER = 50000001, 50000002, 50000003
SEND, RECV, BARRIER, INIT, FINALIZE = 1, 2, 8, 31, 32
RANK_0 = [(OTHER, INIT, 0, 100), (P2P, SEND, 200, 210), (OTHER, FINALIZE, 900, 1000)]
RANK_1 = [(OTHER, INIT, 0, 100), (P2P, RECV, 150, 230), (OTHER, FINALIZE, 900, 1000)]
MESSAGE = (200, "3:1:1:1:1:200:210:2:1:2:1:150:230:64:7")


def events(rank, calls):
    task = f"{rank + 1}:1:{rank + 1}:1"
    for kind, value, enter, leave in calls:
        yield enter, f"2:{task}:{enter}:{kind}:{value}"
        yield leave, f"2:{task}:{leave}:{kind}:0"


@pytest.fixture
def tiny(tmp_path):
    records = sorted([*events(0, RANK_0), *events(1, RANK_1), MESSAGE])
    path = tmp_path / "tiny.prv"
    path.write_text(HEADER + "".join(f"{line}\n" for _, line in records), encoding="ascii")
    return path


@pytest.mark.parametrize("command", ["info", "table"])
def test_a_gap_that_the_recorder_chose_cannot_be_changed(command, tmp_path):
    run = Run(1)
    run[0].call("MPI_Barrier", 1, 2)
    run[0].call("MPI_Test", 50, 52, record(22, time=44, a=5000, b=7, c=30))
    run[0].call("MPI_Test", 60, 62)
    run.write(tmp_path)

    asked = burstline(command, tmp_path, "--poll-gap", "1us").stderr
    plain = burstline(command, tmp_path).stderr

    said = "--poll-gap does not change 1 burst: the recorder judged their polls"
    assert said in asked
    assert said not in plain


def test_info_counts_sums_and_rates_a_trace(tiny):
    document = document_of("info", tiny)

    assert document["ranks"] == document["locations"] == 2
    assert (document["applications"], document["nodes"]) == (1, 1)
    assert document["duration_ns"] == 1000
    assert (document["states"], document["events"], document["communications"]) == (0, 12, 1)
    assert document["calls"]["MPI_Recv"] == {
        "count": 1,
        "time_ns": 80,
        "bytes_sent": 0,
        "bytes_received": 64,
    }
    assert document["messages"] == {"total": 1, "matched": 1}
    assert document["bursts"] == 4
    assert document["efficiency"]["parallel"] == (790 + 720) / 2 / 800
    assert document["efficiency"]["load_balance"] == (790 + 720) / 2 / 790
    assert document["efficiency"]["communication"] == 790 / 800


def test_full_splits_the_efficiency_of_communication_and_does_nothing_else(tiny):
    plain, full = document_of("info", tiny), document_of("info", tiny, "--full")

    serialisation = full["efficiency"].pop("serialisation")
    transfer = full["efficiency"].pop("transfer")
    assert (serialisation, transfer) == (1.0, 790 / 800)  # rank 0 computes and never waits
    assert plain == full
    shown = " ".join(burstline("info", tiny, "--full").stdout.split())
    assert "serialisation 100.0 % missing to 100 %: ranks wait for each other" in shown
    assert "transfer 98.8 % missing to 100 %: messages" in shown


def test_the_verdict_is_said_first_and_its_data_are_there(tiny):
    document, quick = document_of("info", tiny), document_of("info", tiny, "--quick")

    made = package.open(tiny).verdict()
    assert {name: document[name] for name in made.as_dict()} == made.as_dict()
    assert quick == {name: document[name] for name in document if name not in made.as_dict()}
    shown = burstline("info", tiny).stdout
    assert shown.startswith("  judged ")
    assert shown.endswith("What is in the trace\n" + burstline("info", tiny, "--quick").stdout)


@pytest.mark.parametrize("left_out", [("structure", "waits"), ("structure",), ("waits",)])
def test_the_last_line_names_the_command_that_finds_what_is_left_out(left_out):
    run = package.open(trace_of("ranks 1 | 0 | 0 enter MPI_Init | 9 leave"))
    verdict = dataclasses.replace(run.verdict(), left_out=left_out)

    *_, last = SummaryView(run.summary(), verdict=verdict).blocks()

    command = "report" if len(left_out) == 2 else left_out[0]
    assert last.lines[-1].endswith(f": burstline {command} TRACE")


def test_full_is_of_no_whole_trace(tiny):
    run = burstline("info", tiny, "--full", "--span", "trace")

    assert run.returncode == 2
    assert "--full is of the time from MPI_Init to MPI_Finalize" in run.stderr


@pytest.fixture
def two_sizes(tmp_path):
    """Runs on 1 and on 2 ranks that counted their instructions and cycles."""
    paths = [tmp_path / f"{ranks}.prv" for ranks in (1, 2)]
    for ranks, path in enumerate(paths, 1):
        counters = {INS: lambda *_: 600, CYC: lambda *_, n=ranks: 1200 // n}
        two_runs.Run(counters, ranks=ranks).write(path)
    return paths


def test_runs_are_compared_with_the_first(two_sizes):
    document = document_of("info", *two_sizes)

    assert set(document) == {"runs", "scaling", "warnings", "not_computable", "defects"}
    assert document["scaling"] == "strong"
    first, other = document["runs"]
    assert [run["path"] for run in document["runs"]] == list(map(str, two_sizes))
    assert set(first) == {"path", "ranks", "threads", "efficiency", "useful_ns", "counters"}
    assert set(other["efficiency"]) - set(document_of("info", two_sizes[0])["efficiency"]) == {
        "global",
        "computation_scalability",
        "instruction_scalability",
        "ipc_scalability",
        "frequency_scalability",
        "speed_scalability",
    }
    assert (first["ranks"], other["ranks"]) == (1, 2)
    assert first["efficiency"]["global"] == first["efficiency"]["parallel"]
    assert other["efficiency"]["computation_scalability"] == pytest.approx(0.5)
    assert other["efficiency"]["instruction_scalability"] == pytest.approx(0.5)
    assert other["efficiency"]["ipc_scalability"] == pytest.approx(2)
    assert other["efficiency"]["frequency_scalability"] == pytest.approx(0.5)
    assert other["counters"]["counts"] == {"PAPI_TOT_INS": 7200, "PAPI_TOT_CYC": 7200}
    assert other["counters"]["share"] == 1
    [warning] = document["warnings"]
    assert "compare with `scaling=weak`" in warning


def test_runs_are_compared_in_a_table_and_a_row_each_of_csv(two_sizes):
    table = burstline("info", *two_sizes, "--scaling", "weak", "--full").stdout
    shown = " ".join(table.split())
    printed = burstline("info", *two_sizes, "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(printed)))

    assert "Weak scaling: the problem grows with the ranks" in shown
    assert "computation scalability 100.0 % 100.0 %" in shown
    assert "IPC scalability 100.0 % 200.0 %" in shown
    assert "serialisation 100.0 %" in shown
    assert "Instructions and cycles are counted by PAPI_TOT_INS and PAPI_TOT_CYC." in shown
    assert [row["ranks"] for row in rows] == ["1", "2"]
    assert float(rows[1]["instruction_scalability"]) == pytest.approx(0.5)


def test_what_is_missing_says_how_to_record_it(tiny, two_sizes):
    run = burstline("info", two_sizes[0], tiny)

    assert "Not computed: instruction scalability, IPC scalability, frequency" in run.stdout
    assert "(run 1: PAPI_TOT_INS and PAPI_TOT_CYC, run 2: none)" in run.stdout
    assert "burstline record --counters PAPI_TOT_INS,PAPI_TOT_CYC" in run.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{0}", "scout.cubex"], "scout.cubex is a profile: runs are compared by their traces"),
        (["{0}", "{0}", "--span", "trace"], "from MPI_Init to MPI_Finalize: leave --span"),
        (["{0}", "--scaling", "weak"], "name at least two traces"),
        (["{0}", "nothing.prv"], "nothing.prv: no such file"),
    ],
)
def test_what_is_no_comparison_is_refused(tiny, words, said):
    run = burstline("info", *(word.format(tiny) for word in words))

    assert run.returncode in {2, 3}
    assert said in run.stderr


def test_a_run_given_twice_and_a_damaged_one_are_named(tiny, tmp_path):
    lines = tiny.read_text(encoding="ascii").splitlines()
    cut = tmp_path / "cut.prv"
    cut.write_text("\n".join(line for line in lines if ":50000003:32" not in line) + "\n")

    twice = burstline("info", tiny, tiny).stderr
    damaged = burstline("info", tiny, cut)

    assert "is given twice" in twice
    assert "run 2 was cut: 2 of 2 ranks have no MPI_Finalize" in damaged.stdout


def test_a_compressed_trace_gives_the_same_answer(tiny):
    packed = tiny.with_name("packed.prv.gz")
    packed.write_bytes(gzip.compress(tiny.read_bytes()))

    plain, unpacked = document_of("info", tiny), document_of("info", packed)

    for document in (plain, unpacked):
        del document["path"], document["defects"]  # they name the file
    assert plain == unpacked


def test_csv_holds_the_calls_by_operation(tiny):
    run = burstline("info", tiny, "--format", "csv")

    rows = {row["operation"]: row for row in csv.DictReader(io.StringIO(run.stdout))}
    assert rows["MPI_Send"]["count"] == "1"
    assert rows["MPI_Send"]["bytes_sent"] == "64"


def test_a_table_goes_to_stdout_without_colours_when_piped_and_stderr_stays_empty(tiny):
    run = burstline("info", tiny)

    assert run.returncode == 0
    assert run.stderr == ""
    assert "94.4 %" in run.stdout
    assert "\x1b" not in run.stdout


def test_the_region_of_interest_narrows_the_answer(tiny):
    document = document_of("info", tiny, "--from", "140ns", "--to", "300ns", "--ranks", "1")

    assert document["ranks"] == 1
    assert document["duration_ns"] == 160
    assert {name: row["count"] for name, row in document["calls"].items()} == {"MPI_Recv": 1}
    assert document["efficiency"]["parallel"] == 80 / 160


def test_a_window_without_calls_is_not_said_to_be_a_program_without_mpi(tiny):
    run = burstline("info", tiny, "--from", "300ns", "--to", "800ns")

    assert run.returncode == 0
    assert "no MPI call lies in what was chosen" in run.stdout
    assert "no application calls MPI" not in run.stdout
    assert "in the whole trace" in run.stdout
    assert "in the whole trace" not in burstline("info", tiny).stdout


@pytest.mark.parametrize("command", ["info", "structure", "table"])
def test_a_window_behind_the_trace_is_named_with_the_end_of_the_trace(tiny, command):
    run = burstline(command, tiny, "--from", "2s", "--to", "3s")

    assert run.returncode == 5
    assert "--from 2.00 s is outside the trace, which ends at" in run.stderr


def test_what_is_no_trace_is_one_line_with_exit_code_3(tmp_path):
    path = tmp_path / "picture.prv"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))

    run = burstline("info", path)

    assert run.returncode == 3
    assert run.stderr.startswith("error: ")
    assert "picture.prv" in run.stderr
    assert run.stderr.count("\n") == 1


def test_info_loads_no_data_frames_and_no_machine_learning(tiny):
    probe = (
        "import sys\n"
        "from burstline import cli\n"
        f"cli.main(['info', {str(tiny)!r}])\n"
        "assert not {'polars', 'pandas', 'sklearn', 'scipy'} & set(sys.modules)\n"
    )

    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=False)

    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    ("name", "ranks", "calls"),
    [
        ("lulesh_8r_s4_i10_run1", 8, {"MPI_Irecv": 1136, "MPI_Waitall": 248}),
        ("lulesh_27r_s4_i30", 27, {"MPI_Wait": 17776, "MPI_Allreduce": 783}),
        ("npb_ft_S_4r", 4, {"MPI_Alltoall": 32, "MPI_Bcast": 20}),
        ("toy_waits_4", 4, {"MPI_Barrier": 320, "MPI_Ssend": 20}),
    ],
)
def test_counts_of_real_traces_are_those_of_their_lines(real_traces, name, ranks, calls):
    path = real_traces / f"{name}.prv.gz"
    with gzip.open(path, "rt", encoding="ascii") as lines:
        kinds = [line[:2] for line in lines]

    document = document_of("info", path)

    assert document["ranks"] == ranks
    assert document["states"] == kinds.count("1:")
    assert document["events"] == kinds.count("2:")
    assert document["communications"] == kinds.count("3:")
    assert {name: document["calls"][name]["count"] for name in calls} == calls
    assert document["messages"]["matched"] == document["messages"]["total"]
    assert 0 < document["efficiency"]["parallel"] <= 1
