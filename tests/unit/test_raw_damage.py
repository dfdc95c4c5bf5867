"""Raw files that are cut, damaged or contradict each other, and clocks that differ."""

from __future__ import annotations

import shutil

import pytest

import burstline
import raw_files
from burstline import errors
from raw_files import Run, column, defects, record
from table_cells import cells


def clock(time, there, trip, op):
    return record(72, time=time, b=there, c=trip, op=op)


def test_clocks_are_those_of_rank_0_with_their_drift_unless_of_its_node(tmp_path):
    run = Run(3, hosts=["a", "b", "b"], start=1)
    for rank, trips in ((1, (40, 40)), (2, (20, 60))):
        run[rank].add(clock(10**6, 10**6 + 5000, trips[0], 0))
        run[rank].add(clock(2 * 10**6, 2 * 10**6 + 5100, trips[1], 1))
        run[rank].call("MPI_Barrier", 10**6, 2 * 10**6)
    trace = run.end(2 * 10**6).read(tmp_path)
    first, last = 10**6 + 5000 - 1, 2 * 10**6 + 5100 - 1
    assert cells(trace.calls, "enter_ns leave_ns") == " | ".join([f"{first} {last}"] * 2)
    assert trace.metadata["clock_accuracy_ns"] == "20"


def test_processes_of_one_node_share_a_clock_and_others_that_of_the_day(tmp_path):
    run = Run(2, start=1)
    run[1].add(clock(100, 130, 60, 0), clock(200, 190, 60, 1)).call("MPI_Barrier", 150, 160)
    trace = run.end(300).read(tmp_path)
    assert column(trace, "calls", "enter_ns") == [149]
    assert trace.metadata["clock_accuracy_ns"] == "0"


def test_nodes_that_were_never_compared_are_aligned_by_the_time_of_day(tmp_path):
    run = Run(2, hosts=["a", "b"], start=100)
    run[1].start = 900
    run[1].call("MPI_Barrier", 950, 960)

    assert defects(run.end(1000).read(tmp_path))["clock_not_compared"] == 1


def test_a_message_that_arrives_before_it_is_sent_is_a_defect(tmp_path):
    run = Run(2)
    run[0].call("MPI_Send", 50, 60, raw_files.send(1))
    run[1].call("MPI_Recv", 10, 20, raw_files.receive(0))

    trace = run.end(99).read(tmp_path)

    assert defects(trace) == {"message_arrives_before_it_is_sent": 1}
    with pytest.raises(errors.InconsistentTraceError, match="arrives_before"):
        burstline.read(tmp_path, strict=True)


def test_ranks_that_left_nothing_are_counted(tmp_path):
    run = Run(4)
    folder = run.end(5).write(tmp_path)
    (folder / run[2].name).unlink()
    (folder / run[3].name).write_bytes(b"")

    trace = burstline.read(folder)

    assert defects(trace) == {"rank_missing": 2, "file_without_header": 1}
    assert column(trace, "communicators", "members") == [[0, 1, 2, 3]]


def test_spawned_processes_are_an_application_of_their_own(tmp_path):
    run = Run(1)
    run.end(20).write(tmp_path)
    child = raw_files.Thread(500, 0, start=10).add(record(30, a=0, b=1))
    (tmp_path / child.name).write_bytes(child.call("MPI_Barrier", 12, 13).content)

    trace = burstline.read(tmp_path)

    assert column(trace, "locations", "application") == [0, 1]
    assert trace.communicators.num_rows == 2


@pytest.mark.parametrize(
    ("content", "kind", "text"),
    [
        (b"hello, this is text" * 200, errors.FormatError, "offset 0"),
        (raw_files.header(version=9), errors.UnsupportedRecordError, "version 9"),
        (raw_files.header(size=64), errors.UnsupportedRecordError, "64 bytes"),
        (b"", errors.FormatError, "1 file without, the first p-1.t-0.raw'. The program ended"),
        (raw_files.header(), errors.FormatError, "without an event, the first p-1.t-0.raw"),
    ],
)
def test_what_is_no_raw_file_is_refused_by_name(tmp_path, content, kind, text):
    (tmp_path / "p-1.t-0.raw").write_bytes(content)

    with pytest.raises(kind, match=text):
        burstline.read(tmp_path)


def test_one_file_that_is_none_does_not_spoil_the_others(tmp_path):
    folder = Run(1).end(5).write(tmp_path)
    (folder / "notes.raw").write_bytes(b"hello, this is text" * 200)

    assert defects(burstline.read(folder)) == {"not_a_raw_file": 1}


def test_bytes_of_half_a_record_and_holes_are_counted(tmp_path):
    run = Run(1)
    run[0].call("MPI_Barrier", 1, 2).add(bytes(64)).call("MPI_Barrier", 3, 4).end(5)
    path = run.write(tmp_path) / run[0].name
    path.write_bytes(path.read_bytes().rstrip(b"\0") + record(50, time=9)[:20])

    trace = burstline.read(tmp_path)

    assert trace.calls.num_rows == 2
    assert {"empty_record": 2}.items() <= defects(trace).items()


def test_of_holes_in_several_blocks_the_first_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("burstline.formats.raw.files.folder._BLOCK", 2)
    thread = raw_files.Thread(1, 0).add(bytes(32)).call("MPI_Init", 1, 2).add(bytes(32)).end(5)
    (tmp_path / thread.name).write_bytes(thread.content.rstrip(b"\0"))

    found = burstline.read(tmp_path).defects

    first = dict(zip(found["kind"].to_pylist(), found["first"].to_pylist(), strict=True))
    assert first["empty_record"] == f"{thread.name}: at offset {raw_files.HEADER_BYTES}"


def test_sizes_that_cannot_be_are_none_and_the_first_is_named(tmp_path):
    run = Run(1)
    run[0].call("MPI_Isend", 1, 2, raw_files.send(0, size=2**60))
    run[0].call("MPI_Barrier", 3, 4, raw_files.collective(sent=5, received=-1))

    trace = run.end(5).read(tmp_path)

    assert cells(trace.calls, "sent_bytes received_bytes") == "0 - | 5 0"
    found = {row["kind"]: (row["count"], row["first"]) for row in trace.defects.to_pylist()}
    assert found["size_absurd"] == (2, f"{run[0].name}: {2**60} bytes")


def test_a_definition_that_claims_more_than_there_is_takes_what_there_is(tmp_path):
    run = Run(1)
    run[0].add(record(37, a=0, c=2**60), raw_files.text(b"cpu"), record(33, a=1, c=2**60))
    run[0].call("MPI_Barrier", 1, 2, before=[5], after=[9])

    trace = run.end(5).read(tmp_path)

    assert trace.counter_names == ("cpu",)
    assert defects(trace) == {"incomplete_definition": 2}

    run = Run(1)  # and nothing of the next
    for number, name in enumerate((b"cpu", b"heat")):
        run[0].add(record(37, a=number, c=2**60), raw_files.text(name))
    run[0].add(record(37, a=2, c=2**60), raw_files.text(b"fan")).call("MPI_Init", 1, 2)
    run[0].add(raw_files.text(b" of a call"))
    assert run.end(5).read(tmp_path).counter_names == ("cpu", "heat", "fan")


@pytest.mark.parametrize(("rank", "size"), [(2, 2), (0, 2**31)])
def test_a_rank_that_its_world_cannot_have_is_none(tmp_path, rank, size):
    thread = raw_files.Thread(1, 0).add(record(30, a=rank, b=size)).call("MPI_Init", 1, 2)
    (tmp_path / thread.name).write_bytes(thread.end(5).content)

    trace = burstline.read(tmp_path)

    assert column(trace, "locations", "rank") == [0]
    assert defects(trace)["incomplete_definition"] == 1
    assert defects(trace)["process_without_rank"] == 1


@pytest.mark.parametrize("first", [0, 7])
def test_a_thread_is_watched_from_its_first_record_if_that_is_before_its_start(tmp_path, first):
    thread = raw_files.Thread(1, 0, start=50).call("MPI_Init", first, 60)
    (tmp_path / thread.name).write_bytes(thread.end(70).content)

    calls = burstline.read(tmp_path).calls

    assert (calls["enter_ns"].to_pylist(), calls["leave_ns"].to_pylist()) == ([0], [60 - first])


def test_a_store_beside_raw_files_is_read_as_a_store(tmp_path):
    trace = Run(1).end(5).read(tmp_path)
    burstline.write(trace, tmp_path / "run.store")
    shutil.copy(next(tmp_path.glob("*.raw")), tmp_path / "run.store")

    assert burstline.read(tmp_path / "run.store").is_stored


def test_how_processes_ended_is_told(tmp_path):
    run = Run(2)
    run[0].end(5, how=3)
    run[1].add(record(74, op=4, time=5, a=11))

    trace = run.read(tmp_path)

    assert defects(trace) == {"process_aborted": 1, "process_killed": 1}
    assert "signal 11" in " ".join(column(trace, "defects", "first"))


def test_of_several_samples_of_a_clock_the_one_with_the_shortest_trip_counts(tmp_path):
    run = Run(2, hosts=["a", "b"], start=1)
    for offset, trip in ((900, 90), (500, 20), (700, 60)):
        run[1].add(clock(1000, 1000 + offset, trip, 0))
    run[1].call("MPI_Barrier", 2000, 3000)

    trace = run.end(3000).read(tmp_path)

    assert column(trace, "calls", "enter_ns") == [2500 - 1]
    assert trace.metadata["clock_accuracy_ns"] == "10"


@pytest.mark.parametrize("records", [1, 3, 4])
def test_polls_of_ages_are_written_as_they_can_be_read(tmp_path, records):
    run = Run(1)
    run[0].call("MPI_Barrier", 1, 2)
    run[0].call("MPI_Test", 50, 52, *[record(22, time=2**62, a=1, b=2**62, c=2**62)] * records)
    trace = run.end(60).read(tmp_path)

    burstline.write(trace, tmp_path / "run.store")

    names = ("polls", "polling_ns", "waiting_ns")
    again = burstline.read(tmp_path / "run.store").bursts
    assert all(max(again[name].to_pylist()) <= 2**61 for name in names)
    assert all(again[name].equals(trace.bursts[name]) for name in names)
