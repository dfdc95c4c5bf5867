"""The same program in each language, under each MPI, is recorded as the same calls.

What the programs in ``languages`` do is known by construction: see `expected`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from recording import line_of, patient

PROGRAMS = Path(__file__).parent / "languages"
SIZE = 3
INT, DOUBLE = 4, 8
LOCAL = (
    "MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Comm_rank", "MPI_Comm_size",
    "MPI_Comm_test_inter",  # mpi4py asks before collectives
)  # fmt: skip
FORTRAN = {"mpif.h": "-DMPIF_H", "use mpi": "-DUSE_MPI", "use mpi_f08": "-DUSE_MPI_F08"}


def expected(rank):
    """Tell the calls of a rank: operation, peer, tag, bytes sent and received."""
    right, left = (rank + 1) % SIZE, (rank - 1) % SIZE
    calls = []
    for turn in range(1, 5):
        size = turn * DOUBLE
        calls += [
            ("MPI_Irecv", left, 10 + turn, None, None),
            ("MPI_Isend", right, 10 + turn, size, None),
            ("MPI_Waitall", None, None, None, size),
        ]
    if rank == 0:
        calls += [("MPI_Send", to, 5, to * INT, None) for to in range(1, SIZE)]
    else:
        calls += [("MPI_Recv", 0, 5, None, rank * INT)]
    calls += [("MPI_Sendrecv", left, 7, 2 * INT, 2 * INT)]
    calls += [("MPI_Comm_split", None, None, None, None)]
    if rank == SIZE - 1:
        calls += [("MPI_Send", 0, 8, 3 * DOUBLE, None)]
    if rank == 0:
        calls += [("MPI_Recv", SIZE - 1, 8, None, 3 * DOUBLE)]
    return [
        *calls,
        ("MPI_Allreduce", None, None, 3 * DOUBLE, 3 * DOUBLE),
        ("MPI_Comm_free", None, None, None, None),
        ("MPI_Bcast", None, None, 4 * DOUBLE * (rank == 1), 4 * DOUBLE * (rank != 1)),
        ("MPI_Gather", None, None, 2 * INT, 2 * INT * SIZE * (rank == 0)),
        ("MPI_Allreduce", None, None, 2 * DOUBLE, 2 * DOUBLE),
        ("MPI_Barrier", None, None, 0, 0),
    ]


def expected_messages():
    """Tell every message: sender, receiver, tag, bytes on both sides, its calls."""
    sides = []
    for rank in range(SIZE):
        right, left = (rank + 1) % SIZE, (rank - 1) % SIZE
        ring = ("MPI_Isend", "MPI_Waitall", "MPI_Irecv", "MPI_Waitall")
        sides += [(rank, right, 10 + turn, turn * DOUBLE, *ring) for turn in range(1, 5)]
        sides += [(rank, left, 7, 2 * INT, *["MPI_Sendrecv"] * 4)]
    plain = ("MPI_Send", "MPI_Send", "MPI_Recv", "MPI_Recv")
    sides += [(0, to, 5, to * INT, *plain) for to in range(1, SIZE)]
    sides += [(SIZE - 1, 0, 8, 3 * DOUBLE, *plain)]
    return sorted(sides)


def found_calls(trace, rank):
    names = ("operation", "peer", "tag", "sent_bytes", "received_bytes")
    rows = [row for row in trace.calls.to_pylist() if row["location"] == rank]
    return [
        tuple(row[name] for name in names)
        if "MPI_Comm_" not in row["operation"]
        else (row["operation"], None, None, None, None)
        for row in rows
        if row["operation"] not in LOCAL
    ]


def found_messages(trace):
    names = {
        (row["location"], row["call"]): row["operation"] for row in trace.calls.to_pylist()
    }
    found = []
    for row in trace.messages.to_pylist():
        assert row["sent_bytes"] == row["received_bytes"]
        sender, receiver = row["sender_location"], row["receiver_location"]
        ends = [(sender, row["send_call"]), (sender, row["send_done_call"])]
        ends += [(receiver, row["post_call"]), (receiver, row["receive_call"])]
        calls = [names[end] for end in ends]
        found.append((sender, receiver, row["tag"], row["sent_bytes"], *calls))
    return sorted(found)


def command(site, language):
    """Build the program, and give what runs it."""
    if language == "Python":
        found = site.folder / "lib"
        found.mkdir()
        site.settings["LD_LIBRARY_PATH"] = str(found)
        site.settings["MPI4PY_MPIABI"] = site.kind
        if site.kind == "mpich":  # Debian calls the library by its old name
            listed = subprocess.run(
                ["ldconfig", "-p"], capture_output=True, text=True, check=True
            )
            (path,) = {
                line.split()[-1]
                for line in listed.stdout.splitlines()
                if line.strip().startswith("libmpich.so.12 ")
            }
            (found / "libmpi.so.12").symlink_to(path)
        return [sys.executable, str(PROGRAMS / "exchange.py")]
    if language in FORTRAN:
        options = [FORTRAN[language], "-w", "-fallow-argument-mismatch"]
        return [site.compile("mpif90", *options, PROGRAMS / "exchange.F90", *patient())]
    ending, compiler = {"C": ("c", "mpicc"), "C++": ("cpp", "mpicxx")}[language]
    return [site.compile(compiler, PROGRAMS / f"exchange.{ending}", *patient())]


def assert_is_exchange(site, language, *options):
    words = [*options, "--", *site.ranks(SIZE), *command(site, language)]

    trace = site.recorded("run.store", *words)

    assert trace.defects.to_pylist() == []
    for rank in range(SIZE):
        assert found_calls(trace, rank) == expected(rank)
    assert found_messages(trace) == expected_messages()
    assert [row["members"] for row in trace.communicators.to_pylist()] == [[0, 1, 2], [2, 1, 0]]
    assert sorted(
        (row["operation"], row["root"], row["complete"])
        for row in trace.collectives.to_pylist()
        if row["operation"] in {"MPI_Barrier", "MPI_Bcast", "MPI_Gather"}
    ) == [("MPI_Barrier", None, True), ("MPI_Bcast", 1, True), ("MPI_Gather", 0, True)]
    return trace


@pytest.mark.parametrize("language", ["C", "C++", "Python"])
def test_every_language_is_recorded_alike(site, language):
    assert_is_exchange(site, language)


@pytest.mark.usefixtures("gfortran")
@pytest.mark.parametrize("interface", FORTRAN)
@pytest.mark.parametrize(
    ("site", "options"),
    [("open_mpi", []), ("open_mpi", ["--stack-depth", "1"]), ("mpich", [])],
    indirect=["site"],
)
def test_fortran_is_recorded_alike_and_no_frame_is_one_of_its_binding(site, options, interface):
    trace = assert_is_exchange(site, interface, *options)

    paths = {row["call_path"]: row for row in trace.call_paths.to_pylist()}
    (place,) = {
        (place["function"], place["file"], place["line"])
        for row in trace.calls.to_pylist()
        if row["operation"] == "MPI_Comm_split" and (place := paths[row["call_path"]])
    }
    line = line_of("call MPI_Comm_split", (PROGRAMS / "exchange.F90").read_text())
    assert place == ("in_reverse", "exchange.F90", line)
