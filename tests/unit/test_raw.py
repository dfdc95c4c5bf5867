"""Raw files as the recorder leaves them, one kind of record at a time."""

from __future__ import annotations

import numpy as np
import pytest

import burstline
import raw_files
from burstline.extrae.counters import counter_types
from burstline.extrae.event_types import ITERATION, LOOP_OF_CALL, MOVED_TYPES, NATIVE_TYPES
from raw_files import Run, column, defects, record
from table_cells import cells


def test_a_folder_of_raw_files_is_recognised(tmp_path):
    run = Run(2)
    run[0].call("MPI_Init", 1, 2)

    trace = burstline.read(run.end(9).write(tmp_path))

    assert trace.metadata["format"] == "raw"
    assert column(trace, "locations", "rank") == [0, 1]


def test_locations_are_in_the_order_of_ranks_and_threads(tmp_path):
    run = Run(2, hosts=["b", "a"])
    run.threads.reverse()
    run.thread(1, 3).call("MPI_Barrier", 5, 6)
    run.threads.reverse()

    trace = run.end(9).read(tmp_path)

    found = [column(trace, "locations", name) for name in ("rank", "thread", "node", "name")]
    assert found == [
        [0, 0, 1],
        [0, 3, 0],
        ["b", "b", "a"],
        ["THREAD 1.1.1", "THREAD 1.1.4", "THREAD 1.2.1"],
    ]


def test_a_call_that_was_never_left_ends_with_its_thread(tmp_path):
    run = Run(1)
    run[0].call("MPI_Barrier", 5, 6).enter("MPI_Recv", 10)
    run[0].add(record(50, time=40, a=1, b=2))

    trace = run.read(tmp_path)

    assert column(trace, "calls", "leave_ns") == [1, 35]
    assert {"call_never_left": 1, "process_without_end": 1}.items() <= defects(trace).items()
    assert column(trace, "calls", "leave_seq")[1] > column(trace, "calls", "enter_seq")[1]


def test_a_call_that_was_never_left_ends_where_the_next_begins(tmp_path):
    run = Run(1)
    run[0].enter("MPI_Recv", 10).call("MPI_Barrier", 15, 16)

    assert column(run.read(tmp_path), "calls", "leave_ns") == [5, 6]


def test_counters_are_differences_of_readings(tmp_path):
    run = Run(1)
    run[0].add(*(raw_files.named(37, k, name) for k, name in enumerate(["x", "y", "z"])))
    run[0].call("MPI_Barrier", 5, 6, before=[100, 10, 1], after=[101, 10, 2])
    run[0].call("MPI_Barrier", 9, 12, before=[150, 30, 2**63 + 5], after=[160, 20, 2**63 + 6])

    trace = run.read(tmp_path)

    assert trace.counter_names == ("x", "y", "z")
    assert cells(trace.readings, "x y") == "0 0 | 1 0 | 49 20 | 10 -"
    assert column(trace, "bursts", "x") == [49]
    assert defects(trace)["counter_runs_backwards"] == 2


def test_the_compilers_of_counted_code_are_named_and_several_of_them_noticed(tmp_path):
    run = Run(2)
    for rank, version in enumerate(["16.0.6", "19.1.7"]):
        run[rank].add(raw_files.named(38, 0, f"clang version {version}", op=3))
        run[rank].call("MPI_Barrier", 5, 6)

    trace = run.end(9).read(tmp_path)

    assert trace.metadata["compiler"] == "clang version 16.0.6; clang version 19.1.7"
    assert defects(trace) == {"several_compilers": 2}


def test_a_library_that_tells_nothing_of_its_threads_is_named_in_every_format(tmp_path):
    run = Run(2)
    for rank in range(2):
        run[rank].add(raw_files.named(38, 0, "libgomp.so.1", op=5))
        run[rank].call("MPI_Barrier", 5, 6)

    trace = run.end(9).read(tmp_path)

    assert defects(trace) == {"openmp_not_recorded": 2}
    burstline.write(trace, tmp_path / "run.prv")
    burstline.write(burstline.read(tmp_path / "run.prv"), tmp_path / "again.prv")
    again = burstline.read(tmp_path / "again.prv")
    assert again.defects["first"].to_pylist()[-1] == "libgomp.so.1"
    assert defects(again)["openmp_not_recorded"] == 1
    [unknown] = burstline.wait_states(again).coverage["not_computable"]
    assert unknown["metric"] == "omp_time"
    assert "libgomp.so.1" in unknown["reason"]


def test_counters_have_the_event_types_of_extrae():
    names = ["PAPI_TOT_CYC", "IR_LD_INS", "perf:page-faults", "cpu"]

    types = counter_types(names)

    assert types["PAPI_TOT_CYC"] == 42000059
    assert types["perf:page-faults"] in NATIVE_TYPES
    assert len(set(types.values())) == len(names)


def test_frames_are_resolved_with_those_inlined(tmp_path):
    run = Run(1)
    run[0].add(raw_files.named(35, 1, "/opt/app/bin/solver-with-a-rather-long-name"))
    run[0].add(raw_files.stack(4, (1, 0x20), (1, 0x10), (1, 0x08)))
    run[0].call("MPI_Barrier", 5, 6, stack=4)
    asked = []

    def resolve(module, offset):
        asked.append((module, offset))
        if offset == 0x20:
            return [("inner", "f.c", 7), ("outer", "f.c", 70)]
        return [("main", "m.c", 3)] if offset == 0x10 else []

    trace = run.read(tmp_path, resolve=resolve)

    assert cells(trace.call_paths, "function parent line") == (
        "solver-with-a-rather-long-name+0x8 - - | main 0 3 | outer 1 70 | inner 2 7"
    )
    assert column(trace, "calls", "call_path") == [3]
    assert len(asked) == 3


def test_a_resolver_of_many_addresses_is_asked_once_per_module(tmp_path):
    run = Run(2)
    for rank in range(2):
        run[rank].add(raw_files.named(35, 1, "app"), raw_files.named(35, 2, "lib"))
        run[rank].add(raw_files.stack(1, (1, 8)), raw_files.stack(2, (2, 8), (1, 16)))
        run[rank].call("MPI_Barrier", 5, 6, stack=1).call("MPI_Barrier", 7, 8, stack=2)

    asked = []

    class Resolver:
        def resolve(self, module, offsets):
            asked.append((module, list(offsets)))
            return {offset: [(f"f{offset}", None, None)] for offset in offsets}

    trace = run.read(tmp_path, resolve=Resolver())

    assert asked == [("app", [8, 16]), ("lib", [8])]
    assert column(trace, "calls", "call_path") == [0, 2] * 2


def test_communicators_are_one_by_the_name_their_members_share(tmp_path):
    run = Run(9)
    for rank in range(9):
        run[rank].add(raw_files.communicator(5 + rank, 7, list(range(8, -1, -1))))
        run[rank].call(
            "MPI_Bcast", 5, 9, raw_files.collective(comm=5 + rank, root=rank == 2, sent=rank)
        )

    trace = run.read(tmp_path)

    assert column(trace, "communicators", "members")[1] == list(range(8, -1, -1))
    assert trace.communicators.num_rows == 2
    assert cells(trace.collectives, "complete root") == "yes 2"
    assert column(trace, "collective_members", "comm_rank") == list(range(9))
    assert column(trace, "calls", "root")[:4] == [None, None, 2, None]


def test_the_first_rank_can_be_a_root_that_no_call_names(tmp_path):
    run = Run(2)
    for rank in range(2):
        run[rank].call("MPI_Bcast", 5, 9, raw_files.collective(root=rank == 0))

    assert column(run.read(tmp_path), "collectives", "root") == [0]


def test_a_non_blocking_collective_ends_with_the_call_that_completed_it(tmp_path):
    run = Run(1)
    run[0].call("MPI_Ibcast", 5, 6, raw_files.collective(request=3), raw_files.root(0))
    run[0].call("MPI_Wait", 8, 9, raw_files.collective_done(3))

    trace = run.read(tmp_path)

    assert cells(trace.collective_members, "done_call end_ns") == "1 4"
    assert column(trace, "collectives", "root") == [0]


def test_a_receive_is_completed_by_another_thread_than_posted_it(tmp_path):
    run = Run(2)
    run[0].call("MPI_Send", 5, 6, raw_files.send(1, size=4))
    run[1].call("MPI_Irecv", 5, 6, raw_files.post(-2, tag=-1, request=9))
    run.thread(1, 1).call("MPI_Wait", 8, 9, raw_files.receive(0, size=4, request=9))

    trace = run.read(tmp_path)

    assert cells(trace.messages, "receiver_location receive_call post_call") == "2 0 0"


def test_a_receive_takes_one_message_whichever_thread_completes_it(tmp_path):
    run = Run(2)
    for size in (1, 2):
        run[1].call("MPI_Send", size, size + 1, raw_files.send(0, size=size))
    run.thread(0, 1).call("MPI_Irecv", 1, 2, raw_files.post(1, request=9))
    run[0].call("MPI_Wait", 3, 4, raw_files.receive(1, size=1, request=9))
    run[0].call("MPI_Recv", 5, 6, raw_files.receive(1, size=2))

    trace = run.read(tmp_path)

    assert cells(trace.messages, "sent_bytes received_bytes") == "1 1 | 2 2"


def test_a_request_that_is_used_again_is_another_message(tmp_path):
    run = Run(1)
    for k in range(3):
        run[0].call(
            "MPI_Startall", 10 * k + 1, 10 * k + 2,
            raw_files.post(0, request=1), raw_files.send(0, size=k, request=2),
        )  # fmt: skip
        run[0].call(
            "MPI_Waitall", 10 * k + 3, 10 * k + 4,
            raw_files.receive(0, size=k, request=1), raw_files.sent(2),
        )  # fmt: skip

    trace = run.read(tmp_path)

    assert cells(trace.messages, "sent_bytes received_bytes") == "0 0 | 1 1 | 2 2"
    assert column(trace, "messages", "send_done_call") == [1, 3, 5]


def test_what_is_cancelled_or_sent_to_nobody_is_no_message(tmp_path):
    run = Run(2)
    run[0].call("MPI_Isend", 1, 2, raw_files.send(1, size=3, request=1))
    run[0].call("MPI_Wait", 3, 4, record(16, time=1))
    run[0].call("MPI_Send", 5, 6, raw_files.send(-1, size=3))
    run[0].call("MPI_Send", 7, 8, raw_files.send(1, size=5))
    run[1].call("MPI_Recv", 1, 9, raw_files.receive(0, size=5))

    trace = run.end(20).read(tmp_path)

    assert column(trace, "messages", "send_call") == [3]
    assert defects(trace) == {}


def test_receives_completed_out_of_order_keep_the_messages_they_were_posted_for(tmp_path):
    run = Run(2)
    for size in (1, 2):
        run[0].call("MPI_Send", size, size + 1, raw_files.send(1, size=size))
        run[1].call("MPI_Irecv", size, size + 1, raw_files.post(-2, tag=-1, request=size))
    for size in (2, 1):
        run[1].call("MPI_Wait", 9, 10, raw_files.receive(0, size=size, request=size))

    trace = run.read(tmp_path)

    assert cells(trace.messages, "received_bytes receive_call") == "1 3 | 2 2"


def test_a_receive_that_nobody_saw_complete_has_taken_its_message(tmp_path):
    run = Run(2)
    for size in (1, 2):
        run[0].call("MPI_Send", size, size + 1, raw_files.send(1, size=size))
    run[1].call("MPI_Irecv", 1, 2, raw_files.post(0, request=1))
    run[1].call("MPI_Irecv", 3, 4, raw_files.post(0, request=2))
    run[1].call("MPI_Wait", 5, 6, raw_files.receive(0, size=2, request=2))

    assert column(run.read(tmp_path), "messages", "sent_bytes") == [2]


def test_halves_without_the_other_half_are_counted(tmp_path):
    run = Run(2)
    run[0].call("MPI_Send", 1, 2, raw_files.send(1))
    run[0].call("MPI_Recv", 3, 4, raw_files.receive(1, tag=5))
    run[0].call("MPI_Irecv", 5, 6, raw_files.post(1, tag=6, request=2))
    run[0].call("MPI_Send", 7, 8, raw_files.send(7))

    trace = run.end(9).read(tmp_path)

    assert defects(trace) == {
        "unmatched_send": 1,
        "unmatched_receive": 1,
        "receive_never_completed": 1,
        "message_of_unknown_rank": 1,
    }


def test_polls_that_failed_are_in_the_burst_before_the_call(tmp_path):
    run = Run(1)
    run[0].call("MPI_Barrier", 1, 2).call("MPI_Test", 50, 52, record(22, b=7, c=30))

    trace = run.read(tmp_path)

    assert cells(trace.bursts, "polls polling_ns") == "7 30"
    assert column(trace, "bursts", "waiting_ns") == [None], "older recorders did not tell"


def test_what_the_recorder_took_for_waiting_is_that_of_the_burst(tmp_path):
    run = Run(1)
    run[0].call("MPI_Barrier", 1, 2)
    run[0].call("MPI_Test", 50, 52, record(22, time=44, a=5000, b=7, c=30))
    run[0].call("MPI_Test", 60, 62)

    assert column(run.read(tmp_path), "bursts", "waiting_ns") == [44, None]


def test_one_sided_and_file_calls_have_their_bytes(tmp_path):
    run = Run(2)
    run[0].call("MPI_Put", 1, 2, record(20, op=1, a=1, b=1 << 32 | 5, c=64))
    run[0].call("MPI_Get", 3, 4, record(20, op=2, a=1, b=1 << 32 | 5, c=32))
    run[0].call("MPI_File_write", 5, 6, record(19, a=1, b=100))

    trace = run.read(tmp_path)

    assert cells(trace.calls, "sent_bytes received_bytes peer communicator") == (
        "64 - 1 0 | - 32 1 0 | 100 - - -"
    )


def test_loops_and_regions_keep_names_places_and_iterations(tmp_path):
    run = Run(2)
    for rank in range(2):
        run[rank].add(raw_files.named(38, 4 + rank, "solve"))
        run[rank].add(raw_files.named(38, 99, "src/solver.c", op=2, b=17))
        run[rank].add(record(51, time=1, a=4 + rank), record(53, time=2, a=99))
        run[rank].call("MPI_Barrier", 3, 4, record(56, a=99))
        run[rank].add(record(54, time=8, a=99, b=12), record(52, time=9, a=4 + rank))

    trace = run.end(10).read(tmp_path)

    definitions = trace.region_defs.to_pylist()
    assert [row["name"] for row in definitions] == ["solve", "solver.c:17"]
    assert definitions[1]["role"] == "loop"
    assert (definitions[1]["begin_line"], definitions[1]["source_value"]) == (17, 99)
    assert cells(trace.regions, "iterations parent") == "- - | 12 0 | - - | 12 0"
    labels = [row for row in trace.events.to_pylist() if row["type"] == LOOP_OF_CALL]
    assert [(row["time_ns"], row["value"]) for row in labels] == [(2, 99)] * 2


def test_a_region_that_is_never_left_ends_with_its_thread(tmp_path):
    run = Run(1)
    run[0].add(record(52, time=1, a=1), record(51, time=2, a=1), record(51, time=5, a=2))

    trace = run.end(9).read(tmp_path)

    assert column(trace, "regions", "leave_ns") == [8, 8]
    assert defects(trace) == {"region_left_but_never_entered": 1, "region_never_left": 2}


def test_events_of_the_program_are_written_beside_those_of_calls(tmp_path):
    run = Run(1)
    run[0].add(raw_files.named(38, 1234, "Phase", op=1))
    run[0].call("MPI_Barrier", 1, 5, raw_files.collective())
    run[0].add(record(50, time=7, a=1234, b=3), record(50, time=8, a=50000001, b=4))
    run[0].add(record(50, time=8, a=0, b=5))
    run[0].add(record(55, time=8, a=9, b=2))
    trace = run.end(9).read(tmp_path)
    burstline.write(trace, tmp_path / "run.prv")

    again = burstline.read(tmp_path / "run.prv")

    mine = [
        (row["time_ns"], row["type"], row["value"])
        for row in again.events.to_pylist()
        if row["type"] in {1234, *MOVED_TYPES[:2], ITERATION}
    ]
    zero, taken = MOVED_TYPES[:2]
    assert mine == [(6, 1234, 3), (7, taken, 4), (7, zero, 5), (7, ITERATION, 2)]
    assert "Phase" in (tmp_path / "run.pcf").read_text()
    assert again.calls.num_rows == 1
    assert not burstline.read(tmp_path / "run.prv", raw=False).has_raw


def test_pauses_and_dropped_records_are_gaps(tmp_path):
    run = Run(1)
    run[0].call("MPI_Barrier", 1, 5)
    run[0].add(record(71, time=10, a=1), record(71, time=20, a=0))
    run[0].add(record(70, time=40, b=30, c=6), record(70, time=55, b=50))
    run[0].call("MPI_Barrier", 60, 61).add(record(71, time=70, a=1)).end(90)

    trace = run.read(tmp_path)

    assert [(g["start_ns"], g["end_ns"], g["kind"]) for g in trace.gaps.to_pylist()] == [
        (9, 19, "tracing_off"),
        (29, 39, "dropped"),
        (49, 54, "flush"),
        (69, 89, "tracing_off"),
    ]
    assert column(trace, "bursts", "gap_ns") == [25]
    assert defects(trace) == {"records_dropped": 6}


def test_the_numbers_of_operations_are_those_of_the_recorders_table():
    from burstline.formats.raw.events.calls import operation_numbers

    numbers = operation_numbers()

    assert numbers[1] == "MPI_Send"
    assert len(np.unique(list(numbers))) == len(numbers)


@pytest.mark.parametrize(
    "library",
    [
        "libmpi_mpifh.so.40.30.0",
        "libmpich.so.12",
        "libmpi-1a2b3c4d.so.40",
        "libburst-mpich.so",
        "libgomp.so.1",
    ],
)
def test_frames_of_mpi_below_its_caller_are_left_out(tmp_path, library):
    run = Run(1)
    run[0].add(raw_files.named(35, 1, "/bin/app"), raw_files.named(35, 2, f"/lib/{library}"))
    run[0].add(raw_files.stack(4, (2, 0x20), (2, 0x30), (1, 0x10), (2, 0x40), (1, 0x08)))
    run[0].add(raw_files.stack(5, (2, 0x20)))
    run[0].call("MPI_Barrier", 5, 6, stack=4).call("MPI_Barrier", 7, 8, stack=5)

    trace = run.read(tmp_path)

    functions = column(trace, "call_paths", "function")
    assert functions == ["app+0x8", f"{library}+0x40", "app+0x10", f"{library}+0x20"]
    assert column(trace, "calls", "call_path") == [2, 3]


def test_a_library_that_is_merely_called_like_mpi_is_a_caller(tmp_path):
    run = Run(1)
    run[0].add(raw_files.named(35, 1, "/lib/libmpiplot.so.1"))
    run[0].add(raw_files.stack(4, (1, 0x20)))
    run[0].call("MPI_Barrier", 5, 6, stack=4)

    trace = run.read(tmp_path)

    assert column(trace, "call_paths", "function") == ["libmpiplot.so.1+0x20"]


def test_a_message_that_mpi_refused_is_no_message(tmp_path):
    run = Run(2)
    for size, error in enumerate([0, 5, 0, 0]):
        run[0].enter("MPI_Send", 10 * size).add(raw_files.send(1, size=size))
        run[0].leave("MPI_Send", 10 * size + 5, error=error)
        waits = raw_files.post(0, size=size)
        came = b"" if error else raw_files.receive(0, size=size)
        run[1].enter("MPI_Recv", 10 * size).add(waits, came)
        run[1].leave("MPI_Recv", 10 * size + 5, error=14 if size == 2 else error)

    run[0].call("MPI_Send", 50, 55, raw_files.send(1, size=9))
    run[0].call("MPI_Recv", 60, 65, raw_files.post(1), raw_files.receive(1, size=4))
    both = raw_files.send(0, size=4), raw_files.post(0), raw_files.receive(0, size=7)
    run[1].enter("MPI_Sendrecv", 50).add(*both).leave("MPI_Sendrecv", 55, error=14)

    trace = run.end(90).read(tmp_path)

    assert sorted(column(trace, "messages", "sent_bytes")) == [0, 2, 3, 4, 9]
    assert sorted(column(trace, "messages", "received_bytes")) == [0, 2, 3, 4, 7]
    assert trace.half_messages.num_rows == 0
    assert defects(trace)["call_failed"] == 4


@pytest.mark.parametrize("calls", [0, 1])
def test_what_was_received_outside_of_calls_says_nothing_of_the_last_call(tmp_path, calls):
    run = Run(2)
    run[0].add(raw_files.receive(1, size=4))
    for _ in range(calls):
        run[0].enter("MPI_Send", 10).add(raw_files.send(1)).leave("MPI_Send", 15, error=14)

    trace = run.end(90).read(tmp_path)

    assert trace.half_messages.num_rows == 0
    assert defects(trace)["record_without_call"] == 1
