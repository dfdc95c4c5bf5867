"""What synchronises is small beside the trace, and says of each row what the trace says."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
from hypothesis import given

from burstline.columns import NO_VALUE
from burstline.identity import call_tree
from burstline.synchronisation import sync_of
from burstline.testing import trace_of
from golden.oracle_events import as_text
from hybrid_programs import hybrid_programs
from random_traces import traces

MOST_BYTES = 40


def size_of(columns):
    """The bytes of a table of columns, without those that the trace has."""
    size = 0
    for field in fields(columns):
        value = getattr(columns, field.name)
        value = getattr(value, "rows", value)
        size += value.nbytes if isinstance(value, np.ndarray) else 0
    return size


def assert_small(trace):
    sync = sync_of(trace, call_tree(trace))
    messages, collectives, teams = sync.messages, sync.collectives, sync.teams
    for columns, rows in (
        (messages, len(messages.send)),
        (collectives, len(collectives.call)),
        (teams, len(teams.region) + len(teams.fork_location)),
        (sync.barriers, len(sync.barriers.region)),
        (sync.locks, len(sync.locks.region)),
    ):
        assert size_of(columns) <= MOST_BYTES * rows + 16  # a border more than instances


@given(traces(most_steps=25))
def test_columns_of_what_synchronises_take_at_most_40_bytes_a_row(trace):
    assert_small(trace)


@given(hybrid_programs())
def test_columns_of_threads_and_locks_take_at_most_40_bytes_a_row(program):
    assert_small(trace_of(as_text(program)))


@given(traces(most_steps=25))
def test_columns_of_messages_are_those_of_the_trace_or_of_their_calls(trace):
    calls = trace.calls.to_pylist()
    row_of = {(call["location"], call["call"]): row for row, call in enumerate(calls)}
    told = []
    for each in trace.messages.to_pylist():
        send, done, post, receive = (
            row_of.get((each[f"{side}_location"], each[name]), -1)
            for side, name in (
                ("sender", "send_call"), ("sender", "send_done_call"),
                ("receiver", "post_call"), ("receiver", "receive_call"),
            )
        )  # fmt: skip
        if send < 0 or receive < 0:
            continue
        if done < 0 and calls[send]["operation"] in {"MPI_Send", "MPI_Ssend", "MPI_Bsend"}:
            done = send
        seqs = [
            calls[row][of_call] if each[name] is None and row >= 0 else each[name]
            for name, row, of_call in (
                ("send_seq", send, "enter_seq"), ("receive_seq", receive, "leave_seq"),
            )
        ]  # fmt: skip
        whole = each["sender_location"], each["receiver_location"], send, done, post, receive
        told.append((*whole, each["send_ns"], each["receive_ns"], each["sent_bytes"], *seqs))

    messages = sync_of(trace, call_tree(trace)).messages

    columns = (
        *(messages[name] for name in ("sender_location", "receiver_location")),
        *(messages.send, messages.done, messages.post, messages.receive),
        *(messages[name] for name in ("send_ns", "receive_ns", "sent_bytes")),
        *(messages[name] for name in ("send_seq", "receive_seq")),
    )
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == told


@given(traces(most_steps=25))
def test_columns_of_collectives_are_those_of_the_trace_in_order_of_rank(trace):
    calls = trace.calls.to_pylist()
    row_of = {(call["location"], call["call"]): row for row, call in enumerate(calls)}
    ambiguous = [each["ambiguous"] for each in trace.table("communicators").to_pylist()]
    told = []
    members = trace.collective_members.to_pylist()
    for number, instance in enumerate(trace.collectives.to_pylist()):
        if not instance["complete"] or ambiguous[instance["communicator"]]:
            continue
        of_instance = [each for each in members if each["collective"] == number]
        for each in sorted(of_instance, key=lambda each: each["comm_rank"]):
            call = each["call"] if each["done_call"] is None else each["done_call"]
            end_seq = NO_VALUE if each["end_seq"] is None else each["end_seq"]
            values = (each[name] for name in ("location", "comm_rank", "begin_ns", "end_ns"))
            told.append((row_of[each["location"], call], *values, each["begin_seq"], end_seq))

    collectives = sync_of(trace, call_tree(trace)).collectives

    names = "location", "comm_rank", "begin_ns", "end_ns", "begin_seq", "end_seq"
    columns = collectives.call, *(collectives[name] for name in names)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == told
