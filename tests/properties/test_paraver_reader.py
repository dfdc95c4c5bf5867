"""What holds for every reading of a Paraver trace, whatever is in it."""

from __future__ import annotations

import gzip
import pickle
import tempfile
from itertools import accumulate, cycle, pairwise, takewhile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline.formats import intake, store
from burstline.formats.paraver.files import lines as blocks
from burstline.formats.paraver.reading import trace as reading
from burstline.model import schema
from burstline.progress import SILENCE
from burstline.testing import assert_same_trace
from effort import examples
from oracles import prv_reader as oracle
from prv_programs import LOCATIONS, programs

PCF = """EVENT_TYPE
0 70000001 Caller at level 1
VALUES
2 work
EVENT_TYPE
0 80000001 Caller line at level 1
VALUES
5 main.c:7 [/src/main.c:7, /src/app]
"""
SAME = [name for name in schema.TABLES if name != "metadata"]


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def put(folder, text, name="a.prv"):
    path = folder / name
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(data)
    path.with_name("a.pcf").write_text(PCF, encoding="ascii")
    return path


def rows(trace, name, *columns):
    table = trace.table(name)
    return list(zip(*(table[column].to_pylist() for column in columns), strict=True))


@examples(0.5)
@given(program=programs())
def test_the_reader_agrees_with_its_twin_on_calls(folder, program):
    trace = burstline.read(put(folder, program.text), raw=True)
    expected, _ = oracle.read(program.text, LOCATIONS)

    names = ("location", "call", "operation", "enter_ns", "leave_ns", "enter_seq", "leave_seq")
    assert rows(trace, "calls", *names) == [
        (place, k, call.operation, call.enter, call.leave, call.enter_seq, call.leave_seq)
        for place, location in expected.items()
        for k, call in enumerate(location.calls)
    ]
    assert rows(trace, "events", "location", "time_ns", "type", "value") == [
        (place, *event) for place, location in expected.items() for event in location.events
    ]


@examples(0.5)
@given(program=programs())
def test_the_reader_agrees_with_its_twin_on_attributes(folder, program):
    trace = burstline.read(put(folder, program.text))
    expected, _ = oracle.read(program.text, LOCATIONS)
    calls = [call for location in expected.values() for call in location.calls]
    paths = trace.call_paths.to_pylist()

    for found, call in zip(trace.calls.to_pylist(), calls, strict=True):
        if call.communicator is not None:
            assert (found["sent_bytes"], found["received_bytes"]) == (call.sent, call.received)
            assert trace.communicators["source_id"][found["communicator"]].as_py() == 1
            assert (found["root"] is not None) == call.is_root
        if call.callers:
            node = paths[found["call_path"]]
            assert (node["function"], node["file"], node["line"]) == ("work", "main.c", 7)
        else:
            assert found["call_path"] is None


@examples(0.5)
@given(program=programs())
def test_the_reader_agrees_with_its_twin_on_readings_gaps_and_bursts(folder, program):
    trace = burstline.read(put(folder, program.text))
    expected, _ = oracle.read(program.text, LOCATIONS)
    names = {kind: name for name, kind in rows(trace, "counters", "name", "source_type")}

    readings = [
        (place, seq, time, {names[c]: v for c, v in values.items()})
        for place, location in expected.items()
        for seq, time, values in location.readings
    ]
    assert readings == [
        known(row, "location", "seq", "time_ns") for row in trace.readings.to_pylist()
    ]
    assert rows(trace, "gaps", "location", "start_ns", "end_ns", "kind") == [
        (place, *gap) for place, location in expected.items() for gap in location.gaps
    ]
    parts = ("start", "end", "polls", "polling", "waiting", "gap")
    bursts = [
        (
            place,
            k,
            *(b[part] for part in parts),
            {names[c]: v for c, v in b["counters"].items()},
        )
        for place, location in expected.items()
        for k, b in enumerate(oracle.bursts(location))
    ]
    columns = ("location", "burst", "start_ns", "end_ns")
    columns += ("polls", "polling_ns", "waiting_ns", "gap_ns")
    assert bursts == [known(row, *columns) for row in trace.bursts.to_pylist()]


def known(row, *columns):
    fixed = {column.name for column in schema.TABLES["bursts"].columns}
    fixed |= {column.name for column in schema.TABLES["readings"].columns}
    values = {name: v for name, v in row.items() if name not in fixed and v is not None}
    return (*(row[column] for column in columns), values)


@examples(0.5)
@given(program=programs())
def test_the_reader_agrees_with_its_twin_on_messages_and_none_is_received_twice(
    folder, program
):
    trace = burstline.read(put(folder, program.text), raw=True)
    expected, messages = oracle.read(program.text, LOCATIONS)
    calls = {place: location.calls for place, location in expected.items()}

    names = ("sender_location", "receiver_location", "send_ns", "send_leave_ns", "post_ns")
    names += ("receive_ns", "received_bytes", "tag", "send_call", "post_call", "receive_call")
    found = rows(trace, "messages", *names)
    pairs = zip(messages, oracle.message_calls(calls, messages), strict=True)
    assert found == [(*m, *made) for m, made in sorted(pairs, key=lambda pair: pair[0][0])]
    blocking = [
        (m["receiver_location"], m["receive_call"])
        for m in trace.messages.to_pylist()
        if m["receive_call"] is not None and m["receive_call"] == m["post_call"]
    ]
    assert len(trace.messages) == sum(line.startswith("3:") for line in program.body)
    assert len(blocking) == len(set(blocking))


@examples(0.5)
@given(program=programs(), size=st.integers(16, 200), threads=st.integers(1, 4))
def test_neither_block_size_nor_threads_change_the_trace(folder, program, size, threads):
    path = put(folder, program.text)
    expected = burstline.read(path, threads=1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", size)
        found = burstline.read(path, threads=threads)

    assert_same_trace(found, expected, tables=SAME)


@examples(0.5)
@given(program=programs(), cut=st.integers(0, 2000), size=st.integers(16, 400))
def test_gzip_in_one_or_several_members_is_the_same_trace(folder, program, cut, size):
    data = program.text.encode()
    expected = burstline.read(put(folder, data))
    packed = gzip.compress(data[:cut]) + gzip.compress(data[cut:])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", size)
        found = burstline.read(put(folder, packed, "a.prv.gz"))

    assert_same_trace(found, expected, tables=SAME)


@examples(0.5)
@given(program=programs())
def test_neither_line_ends_nor_raw_tables_nor_the_unit_change_anything_else(folder, program):
    path = put(folder, program.text)
    expected, without = (burstline.read(path, raw=raw) for raw in (True, False))
    windows = burstline.read(put(folder, program.text.replace("\n", "\r\n")), raw=True)
    microseconds = burstline.read(put(folder, program.text.replace("_ns:", "_us:", 1)))

    assert_same_trace(windows, expected, tables=[name for name in SAME if name != "source"])
    common = [name for name in SAME if name not in schema.RAW_TABLES]
    assert_same_trace(without, expected, tables=common)
    for column in ("enter_ns", "leave_ns"):
        wanted = [1000 * time for time in expected.calls[column].to_pylist()]
        assert microseconds.calls[column].to_pylist() == wanted


@examples(0.5)
@given(program=programs(), share=st.integers(10, 10**9), at_once=st.integers(1, 50))
def test_a_store_holds_the_same_tables(program, share, at_once):
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        path = put(Path(name), program.text)
        # Tables "larger than memory": several buckets, spills, ranges of instances.
        patch.setattr(reading.scan, "STREAMED", 10**8)
        patch.setattr(reading.scan, "DISK", 0)
        patch.setattr(reading, "_SHARE_OF_JOURNAL", share)
        patch.setattr(intake, "parts_within", lambda *_, **__: at_once)
        target = Path(name) / "a.store"
        reading.convert(path, target, raw=True, memory=256 << 20, threads=2, progress=SILENCE)

        assert_same_trace(store.read(target), reading_of(path))
        assert {entry.name for entry in Path(name).iterdir()} == {"a.prv", "a.pcf", "a.store"}


class InTurn:
    """Workers that work here, one part after the other, on copies of what they are given."""

    count, memory_each = 2, None

    def require_seen(self, path):
        assert path.exists()

    def in_order(self, work, parts, *, progress=SILENCE):
        for part in parts:
            yield pickle.loads(pickle.dumps(work(pickle.loads(pickle.dumps(part)))))  # noqa: S301
            progress.advance(1)


@examples(1)
@given(
    program=programs(),
    lengths=st.lists(st.integers(1, 400), min_size=1, max_size=4),
    size=st.integers(16, 400),
    unknown=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 200)), max_size=6),
    packed_raw=st.tuples(st.booleans(), st.booleans()),
)
def test_ranges_of_workers_make_the_same_store(program, lengths, size, unknown, packed_raw):
    is_packed, raw = packed_raw
    lines = program.text.splitlines()
    first = program.text[: program.text.index("\n" + program.body[0])].count("\n") + 1
    for kind, place in unknown:  # types that most ranges meet in an order of their own
        body = lines[first + place % len(program.body)].split(":")
        if body[0] == "2":
            lines[first + place % len(program.body)] += f":{90_000_000 + kind}:1"
    data = "".join(f"{line}\n" for line in lines).encode()
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        if is_packed:
            path = put(Path(name), gzip.compress(data), "a.prv.gz")
        else:
            path = put(Path(name), data)
        patch.setattr(reading.scan, "STREAMED", 10**8)
        patch.setattr(reading.scan, "DISK", 0)
        patch.setattr(reading, "_SHARE_OF_JOURNAL", 10**6)
        patch.setattr(blocks, "BLOCK_BYTES", size)
        begin, end = data.index(b"\n") + 1, len(data)
        cuts = takewhile(lambda cut: cut < end, accumulate(cycle(lengths), initial=begin))
        borders = [*cuts, end]
        patch.setattr(blocks.LineSource, "ranges", lambda *_: list(pairwise(borders)))
        stores = []
        for workers in (None, InTurn()):
            target = Path(name) / "a.store"
            limits = {"memory": 256 << 20, "threads": 1, "progress": SILENCE}
            reading.convert(path, target, raw=raw, **limits, workers=workers)
            stores.append({file.name: file.read_bytes() for file in target.iterdir()})

        assert stores[1] == stores[0]


def reading_of(path):
    return reading.read(path, raw=True, memory=None, threads=2, progress=SILENCE)


@examples(0.5)
@given(program=programs())
def test_lines_out_of_order_give_the_sorted_trace_and_a_defect(folder, program):
    events = [line for line in program.body if line.startswith("2:")]
    others = [line for line in program.body if not line.startswith("2:")]
    # Lines of one stamp keep their order.
    latest_first = sorted(events, key=lambda line: -int(line.split(":")[5]))
    head = program.text[: program.text.index("\n" + program.body[0]) + 1]
    expected = burstline.read(put(folder, head + "\n".join([*others, *events]) + "\n"))
    found = burstline.read(put(folder, head + "\n".join([*others, *latest_first]) + "\n"))

    assert_same_trace(found, expected, tables=[name for name in SAME if name != "defects"])
    threads = {tuple(line.split(":")[2:5]) for line in events}
    stamps = {tuple(line.split(":")[2:6]) for line in events}
    told = "events_out_of_order" in found.defects["kind"].to_pylist()
    assert told == (len(stamps) > len(threads))
