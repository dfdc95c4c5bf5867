"""What is known of a message whose other side is not there is kept, and said."""

from __future__ import annotations

import pytest
from hypothesis import given

import burstline
from burstline.formats.otf2 import read as read_otf2
from burstline.formats.text import parse
from burstline.testing import trace_of
from otf2_archives import archive
from random_traces import traces
from text_form import render

LOST = """
ranks 2
0 | 1 enter MPI_Isend | 2 send to 1 tag 7 bytes 64 request 5 | 3 leave
  | 4 enter MPI_Wait | 5 sent request 5 | 6 leave
  | 7 enter MPI_Send | 8 send to 1 tag 9 bytes 32 | 9 leave
1 | 1 enter MPI_Irecv | 2 post request 3 | 3 leave
  | 4 enter MPI_Recv | 5 receive from 0 tag 9 bytes 32 | 6 leave
  | 7 enter MPI_Recv | 8 receive from 0 tag 11 bytes 16 | 9 leave
"""
NAMES = ("location", "kind", "time_ns", "call", "peer", "tag", "bytes", "request")
KNOWN = [
    (0, "send", 2, 0, 1, 7, 64, 5),
    (0, "send_done", 5, 1, None, None, None, 5),
    (1, "post", 2, 0, None, None, None, 3),
    (1, "receive", 8, 2, 0, 11, 16, None),
]


def halves(trace):
    table = trace.half_messages
    return list(zip(*(table[name].to_pylist() for name in NAMES), strict=True))


def test_halves_are_written_and_read_without_a_second_defect(tmp_path):
    trace = trace_of(LOST)

    again = parse(render(trace))
    burstline.write(trace, tmp_path / "run.otf2")

    assert halves(again) == halves(read_otf2(tmp_path / "run.otf2")) == KNOWN
    assert again.defects.equals(trace.defects)


@given(traces())
def test_every_event_is_of_a_message_or_of_a_half(trace):
    ordinals = {
        (row["location"], row["seq"], row["kind"]) for row in trace.half_messages.to_pylist()
    }
    assert len(ordinals) == trace.rows("half_messages")
    for row in trace.messages.to_pylist():
        assert (row["sender_location"], row["send_seq"], "send") not in ordinals
        assert (row["receiver_location"], row["receive_seq"], "receive") not in ordinals


@pytest.mark.parametrize("at_once", [1, None])
def test_halves_of_an_archive_are_known_however_it_is_read(tmp_path, at_once):
    with archive(tmp_path / "run", 2) as made:
        made.begin()
        sender, receiver = made.thread(0), made.thread(1)
        sender.region("MPI_Isend", 1, 3, ("mpi_isend", 2, 1, made.world, 7, 64, 5))
        sender.region("MPI_Wait", 4, 6, ("mpi_isend_complete", 5, 5))
        sender.region("MPI_Send", 7, 9, ("mpi_send", 8, 1, made.world, 9, 32))
        receiver.region("MPI_Irecv", 1, 3, ("mpi_irecv_request", 2, 3))
        receiver.region("MPI_Recv", 4, 6, ("mpi_recv", 5, 0, made.world, 9, 32))
        receiver.region("MPI_Recv", 7, 9, ("mpi_recv", 8, 0, made.world, 11, 16))

    trace = read_otf2(tmp_path / "run", bytes_at_once=at_once)

    assert halves(trace) == KNOWN
