"""Laws of the reader of raw files."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import burstline
import raw_files
from burstline import errors
from burstline.formats.raw import read as read_raw
from burstline.formats.raw.events.regions import match_borders
from burstline.formats.raw.files.layout import Kind
from burstline.model import schema
from effort import examples
from oracles.raw_messages import Machine, rows_of

RANKS = 2
_ranks, _tags, _comms = (
    st.integers(0, RANKS - 1),
    st.sampled_from([0, 0, 1]),
    st.sampled_from([1, 1, 1, 2]),
)
_sources = st.sampled_from([raw_files.ANY_SOURCE, *range(RANKS)])
_wanted = st.sampled_from([raw_files.ANY_TAG, 0, 1])
_sizes = st.integers(0, 1000)
_steps = st.one_of(
    st.tuples(st.just("send"), _ranks, _ranks, _tags, _sizes, _comms, st.booleans()),
    st.tuples(st.just("post"), _ranks, _sources, _wanted, _comms, st.booleans()),
    st.tuples(st.just("receive"), _ranks, _sources, _wanted, _comms),
    st.tuples(st.just("exchange"), _ranks, _ranks, _tags, _sizes, _sources, _wanted, _comms),
    st.tuples(st.just("complete"), _ranks, st.lists(st.integers(0, 9), min_size=1, max_size=3)),
)


def _executed(steps):
    machine = Machine(RANKS)
    for name, *values in steps:
        if name == "send":
            machine.send(*values[:-1], immediate=values[-1])
        elif name == "post":
            machine.post(*values[:-1], persistent=values[-1])
        elif name == "exchange":
            source, receive_tag, comm = values[-3:]
            machine.exchange(*values[:-3], source=source, receive_tag=receive_tag, comm=comm)
        else:
            getattr(machine, name)(*values)
        machine.now += 5
    machine.finish()
    machine.run.end(machine.now + 10)
    return machine


def _read(run, **options):
    with tempfile.TemporaryDirectory() as folder:
        return run.read(folder, **options)


@given(st.lists(_steps, max_size=40))
def test_every_message_comes_back_with_the_calls_on_both_sides_and_keeps_the_schema(steps):
    machine = _executed(steps)

    trace = _read(machine.run)

    assert rows_of(trace.messages) == machine.expected()
    assert trace.calls.num_rows == sum(machine.calls)
    for name in schema.TABLES:
        if name in trace:
            schema.check(name, trace.table(name))


@examples(0.5)
@given(st.lists(_steps, min_size=1, max_size=25), st.booleans())
def test_raw_files_written_as_prv_keep_calls_messages_and_bursts(steps, has_events):
    machine = _executed(steps)
    if has_events:
        machine.run[0].add(raw_files.record(50, time=machine.now + 20, a=1234, b=1))
    assume(sum(machine.calls))  # without calls, states stand for bursts in a .prv
    trace = _read(machine.run)

    with tempfile.TemporaryDirectory() as folder:
        burstline.write(trace, Path(folder) / "run.prv")
        again = burstline.read(Path(folder) / "run.prv")

    for table, columns in {
        "calls": ("location", "operation", "enter_ns", "leave_ns", "received_bytes"),
        "bursts": ("location", "burst", "start_ns", "end_ns"),
        "messages": ("sender_location", "send_call", "receive_call", "tag", "sent_bytes"),
    }.items():
        found, expected = (
            sorted(
                zip(*(one.table(table)[c].to_pylist() for c in columns), strict=True), key=repr
            )
            for one in (again, trace)
        )
        if table == "calls":
            # a message that nobody received is no record of a .prv
            assert [row[:4] for row in found] == [row[:4] for row in expected]
        else:
            assert found == expected


_words = st.one_of(
    st.integers(0, 12), st.integers(0, 2**64 - 1), st.sampled_from([2**31, 2**63, 2**61 - 1])
)
_records = st.builds(
    lambda kind, op, time, a, b, c: raw_files.record(kind, op=op, time=time, a=a, b=b, c=c),
    st.one_of(st.sampled_from([int(kind) for kind in Kind]), st.integers(0, 2**16 - 1)),
    st.integers(0, 2**16 - 1) | st.integers(0, 5),
    _words,
    _words,
    _words,
    _words,
)


def _read_or_refuse(folder):
    try:
        trace = read_raw(folder, operations=raw_files.NUMBERS)
    except errors.FormatError:
        return
    for name in schema.TABLES:
        if name in trace:
            schema.check(name, trace.table(name))


@examples(0.5)
@given(
    st.lists(st.lists(_records, max_size=40), min_size=1, max_size=3),
    st.binary(max_size=40),
    st.binary(max_size=6000),
)
def test_any_records_and_any_bytes_are_read_or_refused(threads, tail, content):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "p-1.t-0.raw").write_bytes(content)
        _read_or_refuse(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        for number, records in enumerate(threads):
            begin = raw_files.record(30, a=number, b=3)
            data = raw_files.header(number) + begin + b"".join(records) + tail
            (Path(folder) / f"p-{number}.t-0.raw").write_bytes(data)
        _read_or_refuse(Path(folder))


@examples(0.5)
@given(st.lists(_steps, max_size=20), st.integers(0, 2000), st.binary(min_size=1, max_size=40))
def test_damaged_files_are_read_or_refused(steps, at, damage):
    run = _executed(steps).run
    with tempfile.TemporaryDirectory() as folder:
        path = run.write(folder) / run[0].name
        content = bytearray(path.read_bytes())
        place = (raw_files.HEADER_BYTES if at % 2 else 0) + at % max(len(run[0].data), 1)
        content[place : place + len(damage)] = damage
        path.write_bytes(content)
        _read_or_refuse(Path(folder))


@examples(0.5)
@given(st.lists(_steps, min_size=1, max_size=20), st.integers(0, 4000))
def test_a_file_that_was_cut_keeps_every_call_before_the_cut(steps, bytes_lost):
    run = _executed(steps).run
    whole = _read(run)
    kept = max(len(run[0].data) - bytes_lost, 0) // 32 * 32
    run[0].data = run[0].data[:kept]
    entered = np.frombuffer(run[0].data, "<u2").reshape(-1, 16)[:, 4] == Kind.ENTER
    if kept < 32:
        return

    trace = _read(run)

    count = int(np.count_nonzero(entered))
    before, after = (
        [row for row in t.calls.to_pylist() if row["location"] == 0] for t in (whole, trace)
    )
    assert [row["enter_ns"] for row in after] == [row["enter_ns"] for row in before[:count]]


def _by_a_stack(what, enters):
    partner, stacks = [-1] * len(what), {}
    for at, (one, enter) in enumerate(zip(what, enters, strict=True)):
        if enter:
            stacks.setdefault(one, []).append(at)
        elif stacks.get(one):
            other = stacks[one].pop()
            partner[at], partner[other] = other, at
    return partner


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=40))
def test_borders_are_matched_as_by_a_stack(borders):
    what, enters = [one for one, _ in borders], [enter for _, enter in borders]

    found = match_borders(np.array(what, np.int64), np.array(enters, bool))

    assert found.tolist() == _by_a_stack(what, enters)


@pytest.mark.parametrize("shift", [0, 12345, 10**15])
def test_the_time_origin_does_not_matter(shift):
    run = raw_files.Run(1, start=shift + 1)
    run[0].call("MPI_Barrier", shift + 5, shift + 9, raw_files.collective())

    trace = _read(run.end(shift + 10))

    assert raw_files.column(trace, "calls", "enter_ns") == [4]
