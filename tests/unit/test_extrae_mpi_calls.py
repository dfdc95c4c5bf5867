"""Every MPI call that is recorded comes back from a Paraver trace under its name."""

from __future__ import annotations

import re

import numpy as np

import burstline
from burstline.extrae.mpi_calls import MPI_EVENTS, MPI_OPERATIONS
from burstline.formats.paraver.writing import writer
from burstline.model import NEVER_LEFT, operations
from burstline.record.building.wrappers import calls
from raw_files import Run, collective, column, record, send

MISSES = 22


def written(run, folder):
    """Write a run as a Paraver trace and read that."""
    (folder / "raw").mkdir()
    trace = run.end(10_000).read(folder / "raw")
    writer.write(trace, folder / "a.prv")
    return trace, burstline.read(folder / "a.prv")


def test_every_operation_of_the_table_is_written_with_a_label_and_read_as_itself(tmp_path):
    run = Run(1)
    names = [f"MPI_{call.name}" for call in calls()]
    for place, name in enumerate(names):
        run[0].call(name, 10 * place + 1, 10 * place + 2)

    _, back = written(run, tmp_path)

    text = (tmp_path / "a.pcf").read_text(encoding="utf-8")
    labels = set(re.findall(r"^\d+ +(MPI_\w+)$", text, re.MULTILINE))
    assert set(names) - labels == {"MPI_Init_thread"}
    # Extrae gives both ways to begin one value.
    names = ["MPI_Init" if name == "MPI_Init_thread" else name for name in names]
    assert column(back, "calls", "operation") == names
    assert not back.table("defects").num_rows


def test_values_of_our_own_are_a_thousand_and_the_number_in_the_table():
    own = {value: name for value, name in MPI_OPERATIONS.items() if value > 1000}
    numbers = {f"MPI_{call.name}": call.number for call in calls()}

    assert all(value == 1000 + numbers[name] for value, name in own.items())
    assert max(set(MPI_OPERATIONS) - set(own)) == 215
    assert set(numbers) <= set(MPI_EVENTS)
    assert set(numbers) <= set(operations.NAMES)
    assert operations.NAMES.index("MPI_Isendrecv") == 217, "stored codes keep their meaning"


def test_failed_polls_come_back_in_the_burst_before_the_call_that_tells_of_them(tmp_path):
    run = Run(2)
    for rank in (0, 1):
        run[rank].call("MPI_Init", 1, 2)
        run[rank].call("MPI_Test", 100, 110, record(MISSES, time=60, a=9, b=3 + rank, c=40))
        run[rank].call("MPI_Iprobe", 200, 210)
        run[rank].call("MPI_Testany", 300, 310, record(MISSES, b=1, c=7))

    trace, back = written(run, tmp_path)

    assert column(trace, "bursts", "waiting_ns")[:3] == [60, None, None]
    for name in ("polls", "polling_ns", "waiting_ns"):
        assert column(back, "bursts", name) == column(trace, "bursts", name)
    assert sum(column(back, "bursts", "polls")) == 9
    types = np.array(column(back, "events", "type"))
    assert {50000304: 4, 50000305: 4}.items() <= dict(
        zip(*np.unique(types, return_counts=True), strict=True)
    ).items()


def test_a_call_that_nobody_left_has_no_end_and_keeps_its_partner(tmp_path):
    run = Run(2)
    for rank in (0, 1):
        run[rank].call("MPI_Init", 1, 2).call("MPI_Barrier", 5, 9)
    run[0].enter("MPI_Send", 20).add(send(1, size=8))
    (tmp_path / "raw").mkdir()
    trace = run.read(tmp_path / "raw")
    writer.write(trace, tmp_path / "a.prv")
    back = burstline.read(tmp_path / "a.prv")

    for one in (trace, back):
        is_open = np.array(column(one, "calls", "leave_seq")) >= NEVER_LEFT
        assert is_open.tolist() == [False, False, True, False, False]
        assert column(one, "calls", "peer")[2] == 1
    assert column(back, "defects", "kind") == ["call_never_left", "no_mpi_finalize"]


def test_calls_that_all_make_together_are_collectives_of_the_written_trace(tmp_path):
    run = Run(2)
    for rank in (0, 1):
        run[rank].call("MPI_Comm_dup", 10, 20, collective())
        run[rank].call("MPI_Bcast", 30, 40, collective(sent=8))
        run[rank].call("MPI_Win_fence", 50, 60, collective())
        run[rank].call("MPI_File_write_all", 70, 80, collective())

    trace, back = written(run, tmp_path)

    for name in ("operation", "sequence", "complete"):
        assert column(back, "collectives", name) == column(trace, "collectives", name)
    assert column(back, "collectives", "complete") == [True] * 4


def test_a_started_collective_has_the_name_of_what_made_it(tmp_path):
    number = operations.CODES["MPI_Bcast_init"] + 1
    run = Run(2)
    for rank in (0, 1):
        told = record(
            10, op=number << 1 | (rank == 1), time=5, a=1, b=8 * rank, c=8 * (1 - rank)
        )
        run[rank].call("MPI_Start", 10, 20, told)
        run[rank].call("MPI_Wait", 30, 40, record(18, time=5))

    trace = run.end(50).read(tmp_path)

    assert column(trace, "collectives", "operation") == ["MPI_Bcast_init"]
    assert column(trace, "collectives", "root") == [1]
    assert column(trace, "collective_members", "done_call") == [1, 1]


def test_a_matched_receive_gets_the_message_that_its_probe_found(tmp_path):
    """The second message is received first: by a call between probe and receive."""
    run = Run(2)
    for place, size in enumerate((1, 2)):
        run[0].call("MPI_Send", 10 + place, 11 + place, _message(12, 1, size))
    run[1].call("MPI_Mprobe", 20, 21, _message(21, 0, 1, request=9))
    run[1].call("MPI_Recv", 30, 31, _message(14, 0, 9), _message(15, 0, 2))
    run[1].call(
        "MPI_Mrecv", 40, 41, _message(14, 0, 9, request=9), _message(15, 0, 1, request=9)
    )

    trace = run.end(50).read(tmp_path)

    assert column(trace, "messages", "sent_bytes") == [1, 2]
    assert column(trace, "messages", "received_bytes") == [1, 2]
    assert column(trace, "messages", "receive_call") == [2, 1]
    assert column(trace, "calls", "peer")[-1] == 0


def _message(kind, peer, size, request=0):
    return record(kind, time=request, a=peer, b=1 << 32, c=size)
