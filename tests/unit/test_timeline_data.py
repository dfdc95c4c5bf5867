"""What a page has of a timeline: every piece where it fits, exact shares elsewhere."""

from __future__ import annotations

import json
import subprocess
from importlib.resources import files
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline.columns import to_numpy
from burstline.errors import NotEnoughDataError
from burstline.show.page.timeline import timeline_picture
from burstline.show.page.timeline_data import (
    MIXED,
    lanes_of,
    metrics_of,
    picture_data,
    varints,
)
from burstline.testing import trace_of
from burstline.timeline import KINDS, Timeline, timeline
from golden.oracle_events import as_text
from hybrid_programs import hybrid_programs
from oracles import timeline_data as read_back

PIECES = files("burstline.show.page") / "assets" / "pieces.js"
TESTS = Path(__file__).parents[1] / "javascript"
READER = """
const parts = require(process.argv[1]);
const { inflateSync } = require("node:zlib");
const { data, columns } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const bytes = (letters) => new Uint8Array(inflateSync(Buffer.from(letters, "base64")));
const streams = parts.decodePieces(bytes(data.pieces), data.head);
const waits = parts.decodeWaits(bytes(data.waits), data.head.waits);
const sums = streams.map((stream) => {
  const made = new Float64Array(columns * data.head.kinds);
  parts.addTimes(stream, 0, data.length, columns, made);
  return [...made];
});
const rows = Array.from({ length: waits.rows }, (_, k) =>
  [waits.stream[k], waits.start[k], waits.length[k], waits.cause[k], waits.metric[k]]);
const sent = parts.decodeMessages(bytes(data.messages), data.head.messages);
const messages = Array.from({ length: sent.rows }, (_, k) =>
  [sent.from[k], sent.send[k], sent.to[k], sent.receive[k], sent.size[k]]);
console.log(JSON.stringify({ sums, rows, messages }));
"""


def timeline_of(program):
    try:
        trace = trace_of(as_text(program))
        return timeline(trace, burstline.wait_states(trace))
    except NotEnoughDataError:
        return None


def pieces_within(line, location):
    """Start, end, kind and call path of the pieces of a location in the baseline."""
    first, last = line.baseline_ns
    found = []
    for piece in line.pieces.to_pylist():
        start, end = max(piece["start_ns"], first), min(piece["end_ns"], last)
        if piece["location"] == location and start < end:
            found.append((start, end, piece["kind"], piece["call_path"]))
    return found


def messages_within(line):
    """Sender, send, receiver, receive and bytes of the messages in the baseline."""
    first, last = line.baseline_ns
    rows = [tuple(row.values()) for row in line.messages.to_pylist()]
    return sorted(
        (sender, send - first, receiver, max(receive, send) - first, size)
        for sender, send, receiver, receive, size in rows
        if send >= first and receive <= last
    )


@given(st.lists(st.integers(0, 2**62)))
def test_numbers_come_back(values):
    assert read_back.numbers(varints(np.array(values, np.int64))) == values


@given(hybrid_programs())
def test_every_wait_comes_back_with_its_cause(program):
    line = timeline_of(program)
    if line is None:
        return
    first, last = line.baseline_ns
    metrics = metrics_of(line)
    whole = sorted(
        (
            row["location"], row["start_ns"] - first, row["wait_ns"], row["cause_location"],
            metrics.index(row["metric"]), row["cause_call_path"] or -1,
        )
        for row in line.waits.instances.to_pylist()
        if row["start_ns"] >= first and row["start_ns"] + row["wait_ns"] <= last
    )  # fmt: skip

    rows = read_back.waits_of(picture_data(line, line.baseline_ns, 10**9))

    assert sorted((*row[:5], row[5] or -1) for row in rows) == whole


@given(hybrid_programs(), st.integers(0, 400), st.data())
def test_where_pieces_do_not_fit_times_of_kinds_are_exact(program, budget, data):
    line = timeline_of(program)
    if line is None:
        return
    first, last = line.baseline_ns
    begin = data.draw(st.integers(first, last - 1))
    end = data.draw(st.integers(begin + 1, last))

    made = picture_data(line, (begin, end), budget)

    for location, stream in enumerate(read_back.pieces_of(made)):
        now = first
        for length, kind, path, _ in stream:
            times = np.zeros(len(KINDS), np.int64)
            for start, until, each, _ in pieces_within(line, location):
                times[each] += max(0, min(until, now + length) - max(start, now))
            if kind == MIXED:
                assert path == times.tolist()
                assert now + length <= begin or now >= end  # the window is told exactly
            else:
                assert times[kind] == length == times.sum()
            now += length
        assert now == last


def crowd(ranks):
    """A timeline of many ranks, each of which computes and then waits for the last one."""
    lines = [
        f"{rank} | 0 enter MPI_Init | 1 leave | {10 + rank} enter MPI_Barrier "
        f"| {10 + rank} begin | {20 + ranks} end | {20 + ranks} leave "
        f"| {30 + ranks} enter MPI_Finalize | {31 + ranks} leave"
        for rank in range(ranks)
    ]
    trace = trace_of("\n".join([f"ranks {ranks}", *lines]))
    return timeline(trace, burstline.wait_states(trace))


@pytest.mark.parametrize(("ranks", "lanes"), [(2, 2), (64, 64), (65, 33), (200, 50)])
def test_many_ranks_share_lanes_with_their_neighbours(ranks, lanes):
    line = crowd(ranks)

    lane = lanes_of(line)

    assert lane.max() + 1 == lanes
    assert (np.diff(lane) >= 0).all()
    exact = picture_data(line, line.baseline_ns, 10**9)
    assert len(exact.head["counts"]) == ranks
    short = picture_data(line, line.baseline_ns, 10)
    assert len(short.head["counts"]) == lanes
    whole = sum(length for stream in read_back.pieces_of(exact) for length, *_ in stream)
    times = [np.array(mix) for stream in read_back.pieces_of(short) for _, _, mix, _ in stream]
    assert lanes == ranks or sum(each.sum() for each in times) == whole


def long_line(pieces, lanes):
    """A timeline of many pieces, made by hand: computing, and a wait now and then."""
    crowded = crowd(lanes)
    each = pieces // lanes
    start = np.tile(np.arange(each, dtype=np.int64) * 1000, lanes)
    kind = np.where(np.arange(len(start)) % 7 == 3, KINDS.index("late_sender"), 0)
    location = np.repeat(np.arange(lanes, dtype=np.int32), each)
    columns = {"location": location, "start_ns": start, "end_ns": start + 1000}
    columns["kind"] = pa.array(kind.astype(np.uint8))
    nothing = pa.nulls(len(start), pa.int32())
    table = pa.table(
        columns | dict.fromkeys(("call_path", "call", "wait", "function"), nothing)
    )
    end = each * 1000
    return Timeline(0, end, (0, end), table, crowded.waits, crowded.locations, crowded.messages)


def test_the_data_stay_within_the_budget_and_tell_the_opened_window():
    line = long_line(400_000, 8)
    opened = 20_000_000, 21_000_000

    data = picture_data(line, opened, 300_000)

    assert not data.is_exact
    assert len(data.pieces) < 300_000
    now, exact = 0, 0
    for length, kind, _, _ in read_back.pieces_of(data)[3]:
        is_inside = now < opened[1] and now + length > opened[0]
        assert kind != MIXED or not is_inside
        exact += kind != MIXED
        now += length
    assert exact > 1000


def test_labels_stay_text():
    trace = trace_of(
        'ranks 2 | path 0 "</script><img src=x>" file "\u202e<b>.c" line 3 | '
        "0 | 10 enter MPI_Send path 0 | 10 send to 1 bytes 8 | 11 leave "
        "| 1 | 6 enter MPI_Recv path 0 | 12 receive from 0 bytes 8 | 12 leave"
    )

    _, body = timeline_picture(timeline(trace, burstline.wait_states(trace)))

    assert body.count("</script>") == body.count("<script") == 4
    assert "<img" not in body
    assert "\u202e" not in body
    assert "\\u003cimg" in body


@pytest.mark.needs("node")
@given(hybrid_programs(), st.integers(1, 30), st.sampled_from([30, 10**9]))
def test_the_script_reads_the_same_times_and_waits(program, columns, budget):
    line = timeline_of(program)
    if line is None:
        return
    first, last = line.baseline_ns
    data = picture_data(line, line.baseline_ns, budget)
    document = {
        "columns": columns,
        "data": {
            "head": data.head, "pieces": data.pieces, "waits": data.waits,
            "messages": data.messages, "length": last - first,
        },
    }  # fmt: skip

    done = subprocess.run(
        ["node", "-e", READER, str(PIECES)],
        input=json.dumps(document), capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout)
    assert [tuple(row) for row in read["rows"]] == [row[:5] for row in read_back.waits_of(data)]
    assert sorted(map(tuple, read["messages"])) == messages_within(line)
    width = (last - first) / columns
    for location in range(line.locations.num_rows):
        twin = np.zeros((columns, len(KINDS)))
        for start, end, kind, _ in pieces_within(line, location):
            for column in range(columns):
                low, high = first + column * width, first + (column + 1) * width
                twin[column, kind] += max(0, min(end, high) - max(start, low))
        made = np.array(read["sums"][location]).reshape(columns, -1)
        if data.is_exact:
            assert np.allclose(made, twin, atol=1e-6 * (last - first))
        assert np.allclose(made.sum(axis=0), twin.sum(axis=0), atol=1e-6 * (last - first))
    assert to_numpy(line.pieces["kind"]).max(initial=0) < len(KINDS)


@pytest.mark.needs("node")
def test_the_scripts_of_the_timeline_keep_their_laws():
    done = subprocess.run(
        ["node", "--test", str(TESTS / "pieces.test.js")],
        env={"PIECES": str(PIECES), "PATH": "/usr/bin:/bin:/usr/local/bin"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
