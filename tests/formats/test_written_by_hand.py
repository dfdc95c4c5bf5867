"""One small program, written by hand in every format that is read, gives the same tables.

Two ranks send each other a message, blocking and not, reduce once, and are done. Nothing
here goes through a writer of ours; what does is in ``test_conformance.py``.
"""

from __future__ import annotations

import pytest

import burstline
from burstline.model import schema
from burstline.testing import trace_of
from otf2_archives import archive
from raw_files import Run, collective, receive, send, sent

TEXT = """
ranks 2
0 | 0 enter MPI_Init | 10 leave | 20 enter MPI_Isend | 20 send to 1 tag 7 bytes 64 request 1
  | 30 leave | 40 enter MPI_Wait | 50 sent request 1 | 50 leave
  | 55 enter MPI_Recv | 58 receive from 1 tag 8 bytes 4 | 58 leave
  | 60 enter MPI_Allreduce | 60 begin | 70 end sent 8 received 8 | 70 leave
  | 90 enter MPI_Finalize | 100 leave
1 | 0 enter MPI_Init | 10 leave | 15 enter MPI_Recv
  | 45 receive from 0 tag 7 bytes 64 | 45 leave
  | 48 enter MPI_Send | 48 send to 0 tag 8 bytes 4 | 52 leave
  | 60 enter MPI_Allreduce | 60 begin | 72 end sent 8 received 8 | 72 leave
  | 90 enter MPI_Finalize | 100 leave
"""
PRV = """\
#Paraver (01/01/2026 at 00:00):100_ns:1(2):1:2(1:1,1:1),1
c:1:1:2:1:2
2:1:1:1:1:0:50000003:31
2:2:1:2:1:0:50000003:31
2:1:1:1:1:10:50000003:0
2:2:1:2:1:10:50000003:0
2:2:1:2:1:15:50000001:2
2:1:1:1:1:20:50000001:3
3:1:1:1:1:20:30:2:1:2:1:15:45:64:7
2:1:1:1:1:30:50000001:0
2:1:1:1:1:40:50000001:5
2:2:1:2:1:45:50000001:0
2:2:1:2:1:48:50000001:1
3:2:1:2:1:48:52:1:1:1:1:55:58:4:8
2:1:1:1:1:50:50000001:0
2:2:1:2:1:52:50000001:0
2:1:1:1:1:55:50000001:2
2:1:1:1:1:58:50000001:0
2:1:1:1:1:60:50000002:10:50100001:8:50100002:8:50100004:1
2:2:1:2:1:60:50000002:10:50100001:8:50100002:8:50100004:1
2:1:1:1:1:70:50000002:0
2:2:1:2:1:72:50000002:0
2:1:1:1:1:90:50000003:32
2:2:1:2:1:90:50000003:32
2:1:1:1:1:100:50000003:0
2:2:1:2:1:100:50000003:0
"""
SAME = {
    "locations": ("location", "rank", "thread", "kind", "born_ns", "died_ns"),
    "calls": ("location", "call", "operation", "enter_ns", "leave_ns"),
    "messages": (
        "sender_location", "send_call", "send_ns", "send_leave_ns", "receiver_location",
        "post_call", "post_ns", "receive_call", "receive_ns", "tag", "sent_bytes",
        "received_bytes",
    ),
    "collectives": ("operation", "sequence", "complete"),
    "collective_members": (
        "collective", "location", "comm_rank", "call", "done_call", "begin_ns", "end_ns",
        "sent_bytes", "received_bytes",
    ),
    "bursts": ("location", "burst", "start_ns", "end_ns", "call_before", "call_after"),
}  # fmt: skip
"""What no format leaves open; the rest is in the formats' stated limits."""


def by_hand_text(folder):
    (folder / "run.txt").write_text(TEXT)
    return burstline.read(folder / "run.txt")


def by_hand_prv(folder):
    (folder / "run.prv").write_text(PRV)
    return burstline.read(folder / "run.prv")


def by_hand_otf2(folder):
    with archive(folder / "run", 2) as made:
        first, second = made.thread(0), made.thread(1)
        whole = (made.world, 0xFFFFFFFF, 8, 8)
        for thread in (first, second):
            thread.region("MPI_Init", 0, 10)
        first.region("MPI_Isend", 20, 30, ("mpi_isend", 20, 1, made.world, 7, 64, 1))
        first.region("MPI_Wait", 40, 50, ("mpi_isend_complete", 50, 1))
        first.region("MPI_Recv", 55, 58, ("mpi_recv", 58, 1, made.world, 8, 4))
        second.region("MPI_Recv", 15, 45, ("mpi_recv", 45, 0, made.world, 7, 64))
        second.region("MPI_Send", 48, 52, ("mpi_send", 48, 0, made.world, 8, 4))
        for thread, end in ((first, 70), (second, 72)):
            parts = ("mpi_collective_begin", 60), ("mpi_collective_end", end, _reduce(), *whole)
            thread.region("MPI_Allreduce", 60, end, *parts)
            thread.region("MPI_Finalize", 90, 100)
    return burstline.read(folder / "run")


def _reduce():
    from otf2.enums import CollectiveOp

    return CollectiveOp.ALLREDUCE


def by_hand_raw(folder):
    run = Run(2)
    for rank in range(2):
        run[rank].call("MPI_Init", 0, 10)
    run[0].call("MPI_Isend", 20, 30, send(1, tag=7, size=64, request=1))
    run[0].call("MPI_Wait", 40, 50, sent(1))
    run[0].call("MPI_Recv", 55, 58, receive(1, tag=8, size=4))
    run[1].call("MPI_Recv", 15, 45, receive(0, tag=7, size=64))
    run[1].call("MPI_Send", 48, 52, send(0, tag=8, size=4))
    for rank, end in ((0, 70), (1, 72)):
        run[rank].call("MPI_Allreduce", 60, end, collective(sent=8, received=8))
        run[rank].call("MPI_Finalize", 90, 100)
    return run.end(100).read(folder)


READERS = {"text": by_hand_text, "prv": by_hand_prv, "otf2": by_hand_otf2, "raw": by_hand_raw}


def assert_same(found, expected):
    for name in schema.TABLES:
        schema.check(name, found.table(name))
    for name, columns in SAME.items():
        for column in columns:
            values, told = (one.table(name)[column].to_pylist() for one in (found, expected))
            assert values == told, f"{name}.{column}"
    assert "format" in found.metadata


@pytest.mark.parametrize("source", READERS)
def test_the_program_written_by_hand_is_read_alike(tmp_path, source):
    found = READERS[source](tmp_path)

    assert_same(found, trace_of(TEXT))
    assert not [row for row in found.defects.to_pylist() if row["severity"] != "info"]
