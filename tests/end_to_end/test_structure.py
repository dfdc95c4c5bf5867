"""``burstline structure`` as its users see it: a file in, loops on stdout, an exit code."""

import csv
import io

import pytest

from command import burstline as command
from command import document_of, printed_by

HEADER = "#Paraver (01/01/2026 at 00:00):9000_ns:1(2):1:2(1:1,1:1),1\nc:1:1:2:1:2\n"
LABELS = """\
EVENT_TYPE
0 70000001 Caller at level 1
VALUES
0 End
1 main

EVENT_TYPE
0 80000001 Caller line at level 1
VALUES
0 End
1 ring.c:7 [/src/ring.c:7, /bin/ring]
2 ring.c:9 [/src/ring.c:9, /bin/ring]
"""
COLLECTIVE, BARRIER, ALLREDUCE, CALLER, LINE = 50000002, 8, 10, 70000001, 80000001


def burstline(*words):
    return command("structure", *words)


@pytest.fixture
def ring(tmp_path):
    """Two ranks that go around 20 times: three Allreduce on line 7, a Barrier on line 9."""
    records = []
    for task in (1, 2):
        now = 0
        for step in range(80):
            operation, line = (BARRIER, 2) if step % 4 == 3 else (ALLREDUCE, 1)
            who = f"2:{task}:1:{task}:1"
            records.append(
                (now, f"{who}:{now}:{COLLECTIVE}:{operation}:{CALLER}:1:{LINE}:{line}")
            )
            records.append((now + 10, f"{who}:{now + 10}:{COLLECTIVE}:0"))
            now += 100
    path = tmp_path / "ring.prv"
    path.write_text(HEADER + "".join(f"{line}\n" for _, line in sorted(records)))
    path.with_suffix(".pcf").write_text(LABELS)
    return path


def test_the_table_shows_loops_with_their_source_lines(ring):
    shown = printed_by("structure", ring).splitlines()

    (inner,) = [line.split() for line in shown if "MPI_Allreduce" in line]
    assert inner[:2] == ["ring.c", "7"]
    assert any("for 1 to 20:" in line for line in shown)
    assert any("for 1 to 3:" in line for line in shown)
    assert any("100.00 % of the calls come out in order" in line for line in shown)


def test_json_is_one_document_with_nested_loops(ring):
    document = document_of("structure", ring, "--method", "seed")

    outer, inner = document["loops"]
    assert (outer["iterations"], outer["total_iterations"], outer["parent"]) == (20, 20, None)
    assert (inner["iterations"], inner["total_iterations"]) == (3, 60)
    assert inner["parent"] == outer["id"]
    assert document["fidelity"] == 1.0
    assert document["classes"] == [[0, 1]]
    assert document["unique_calls"] == 4


def test_csv_has_a_row_per_node(ring):
    rows = list(csv.DictReader(io.StringIO(printed_by("structure", ring, "--format", "csv"))))

    assert [row["kind"] for row in rows] == ["loop", "loop", "call", "call"]
    assert [row["line"] for row in rows[2:]] == ["7", "9"]


def test_a_region_of_interest_and_ranks_can_be_chosen(ring):
    document = document_of("structure", ring, "--to", "4us", "--ranks", "1")

    assert document["classes"] == [[1]]
    assert document["loops"][0]["total_iterations"] == 10
    assert "rank ==" not in printed_by(
        "structure", ring, "--show-ranks", "0", "--bursts", "1ns"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--counter", "PAPI_TOT_INS"], "there are none at all"),
        (["--show-ranks", "7"], "there are 0, 1"),
        (["--eps", "-1"], "eps must be a positive number"),
        (["--bursts", "soon"], "soon"),
        (["--method", "best"], "invalid choice"),
    ],
)
def test_what_cannot_be_is_one_line_and_exit_code_2(ring, words, message):
    run = burstline(ring, *words)

    assert run.returncode == 2
    assert message in run.stderr.splitlines()[-1]
    assert run.stdout == ""


SAMPLED = """\
EVENT_TYPE
0 30000000 Sampled functions (depth 0)
VALUES
0 End
1 stencil

EVENT_TYPE
0 30000100 Sampled lines functions (depth 0)
VALUES
0 End
1 a.c:120 [/src/a.c:120, /bin/ring]
2 a.c:131 [/src/a.c:131, /bin/ring]
"""


def test_samples_show_the_loops_in_the_computation(ring):
    header, rest = ring.read_text().split("\nc:")
    records = rest.splitlines()
    for at in range(0, 7900, 100):
        for task in (1, 2):
            for sample in range(3):  # there and back again, between any two calls
                line = f"30000000:1:30000100:{1 + sample % 2}"
                records.append(f"2:{task}:1:{task}:1:{at + 20 + 10 * sample}:{line}")
    records[1:] = sorted(records[1:], key=lambda record: int(record.split(":")[5]))
    ring.write_text(header + "\nc:" + "\n".join(records) + "\n")
    ring.with_suffix(".pcf").write_text(LABELS + "\n" + SAMPLED)

    assert "loop: stencil (a.c:120..131)" in printed_by("structure", ring, "--bursts", "1ns")
    assert "stencil" not in printed_by("structure", ring)


def test_the_exact_method_and_a_depth_can_be_chosen(ring):
    document = document_of("structure", ring, "--method", "exact")

    assert (document["method"], document["fidelity"]) == ("exact", 1.0)
    (outer,) = document["program"]
    assert [node["kind"] for node in outer["items"]] == ["loop", "call"]
    assert "MPI_Allreduce" not in printed_by("structure", ring, "--depth", "1")
    assert (
        printed_by("structure", ring, "--method", "seed", "--rank-merge", "early").count(
            "for 1 to"
        )
        == 2
    )


def test_other_readings_are_below_the_listing_if_asked_for(ring):
    asked = printed_by("structure", ring, "--other")

    assert asked.startswith(printed_by("structure", ring).rstrip())
    assert "Other readings" in asked
    document = document_of("structure", ring, "--other")
    assert isinstance(document["length"], int)
    assert all(other["fidelity"] >= 0.999 for other in document["other"])
    assert "other" not in document_of("structure", ring)
