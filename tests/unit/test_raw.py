"""Raw files as the recorder leaves them, one kind of record at a time."""

from __future__ import annotations

import re
from functools import partial

import cloudpickle
import numpy as np
import pytest

import burstline
import raw_files
from burstline.extrae.counters import counter_types
from burstline.extrae.event_types import ITERATION, LOOP_OF_CALL, MOVED_TYPES, NATIVE_TYPES
from burstline.formats.raw.source import RawSource
from raw_files import Run, column, defects, record
from table_cells import cells, cells_like

LAWS = {
    "a call that was never left ends where the next begins": (
        "0: enter MPI_Recv 10 ; 0: MPI_Barrier 15 16",
        "calls leave_ns: 5 | 6",
    ),
    "the first rank can be a root that no call names": (
        "0,1: MPI_Bcast 5 9 collective(root=rank == 0)",
        "collectives root: 0",
    ),
    "a non-blocking collective ends with the call that completed it": (
        """0: MPI_Ibcast 5 6 collective(request=3), root(0)
        0: MPI_Wait 8 9 collective_done(3)""",
        "collective_members done_call end_ns: 1 4",
        "collectives root: 0",
    ),
    "communicators are one by the name their members share": (
        """0,1,2: + communicator(5 + rank, 7, [2, 1, 0])
        0,1,2: MPI_Bcast 5 9 collective(comm=5 + rank, root=rank == 2, sent=rank)""",
        "communicators members: 0,1,2 | 2,1,0",
        "collectives complete root: yes 2",
        "collective_members comm_rank: 0 | 1 | 2",
        "calls root: - | - | 2",
    ),
    "a receive is completed by another thread than posted it": (
        """0: MPI_Send 5 6 send(1, size=4) ; 1: MPI_Irecv 5 6 post(-2, tag=-1, request=9)
        1.1: MPI_Wait 8 9 receive(0, size=4, request=9)""",
        "messages receiver_location receive_call post_call: 2 0 0",
    ),
    "a receive takes one message whichever thread completes it": (
        """1: MPI_Send 1 2 send(0, size=1) ; 1: MPI_Send 2 3 send(0, size=2)
        0.1: MPI_Irecv 1 2 post(1, request=9) ; 0: MPI_Wait 3 4 receive(1, size=1, request=9)
        0: MPI_Recv 5 6 receive(1, size=2)""",
        "messages sent_bytes received_bytes: 1 1 | 2 2",
    ),
    "a request that is used again is another message": (
        """0: MPI_Startall 1 2 post(0, request=1), send(0, request=2)
        0: MPI_Waitall 3 4 receive(0, request=1), sent(2)
        0: MPI_Startall 11 12 post(0, request=1), send(0, size=1, request=2)
        0: MPI_Waitall 13 14 receive(0, size=1, request=1), sent(2)""",
        "messages sent_bytes received_bytes send_done_call: 0 0 1 | 1 1 3",
    ),
    "what is cancelled or sent to nobody is no message": (
        """0: MPI_Isend 1 2 send(1, size=3, request=1) ; 0: MPI_Wait 3 4 record(16, time=1)
        0: MPI_Send 5 6 send(-1, size=3) ; 0: MPI_Send 7 8 send(1, size=5)
        1: MPI_Recv 1 9 receive(0, size=5) ; end 20""",
        "messages send_call: 3",
        "defects kind: ",
    ),
    "receives completed out of order keep the messages they were posted for": (
        """0: MPI_Send 1 2 send(1, size=1) ; 0: MPI_Send 2 3 send(1, size=2)
        1: MPI_Irecv 1 2 post(-2, tag=-1, request=1)
        1: MPI_Irecv 2 3 post(-2, tag=-1, request=2)
        1: MPI_Wait 9 10 receive(0, size=2, request=2)
        1: MPI_Wait 9 10 receive(0, size=1, request=1)""",
        "messages received_bytes receive_call: 1 3 | 2 2",
    ),
    "a receive that nobody saw complete has taken its message": (
        """0: MPI_Send 1 2 send(1, size=1) ; 0: MPI_Send 2 3 send(1, size=2)
        1: MPI_Irecv 1 2 post(0, request=1) ; 1: MPI_Irecv 3 4 post(0, request=2)
        1: MPI_Wait 5 6 receive(0, size=2, request=2)""",
        "messages sent_bytes: 2",
    ),
    "halves without the other half are counted": (
        """0: MPI_Send 1 2 send(1) ; 0: MPI_Recv 3 4 receive(1, tag=5)
        0: MPI_Irecv 5 6 post(1, tag=6, request=2) ; 0: MPI_Send 7 8 send(7)
        1: + ; end 9""",
        (
            "defects kind: message_of_unknown_rank | receive_never_completed"
            " | unmatched_receive | unmatched_send"
        ),
        "defects count: 1 | 1 | 1 | 1",
    ),
    "a receive whose end names no communicator is of that of its post": (
        "0: MPI_Irecv 1 2 post(0, request=3) ; 0: MPI_Wait 5 6 receive(0, comm=77, request=3)",
        "calls communicator: 0 | -",
    ),
    "polls that failed are in the burst before the call; older recorders told of no waiting": (
        "0: MPI_Barrier 1 2 ; 0: MPI_Test 50 52 record(22, b=7, c=30)",
        "bursts polls polling_ns waiting_ns: 7 30 -",
    ),
    "what the recorder took for waiting is that of the burst": (
        """0: MPI_Barrier 1 2 ; 0: MPI_Test 50 52 record(22, time=44, a=5000, b=7, c=30)
        0: MPI_Test 60 62""",
        "bursts waiting_ns: 44 | -",
    ),
    "one-sided and file calls have their bytes": (
        """0: MPI_Put 1 2 record(20, op=1, a=1, b=1 << 32 | 5, c=64)
        0: MPI_Get 3 4 record(20, op=2, a=1, b=1 << 32 | 5, c=32)
        0: MPI_File_write 5 6 record(19, a=1, b=100) ; 1: +""",
        "calls sent_bytes received_bytes peer communicator: 64 - 1 0 | - 32 1 0 | 100 - - -",
    ),
    "a region that is never left ends with its thread": (
        """0: + record(52, time=1, a=1), record(51, time=2, a=1), record(51, time=5, a=2)
        end 9""",
        "regions leave_ns: 8 | 8",
        "defects kind count: region_left_but_never_entered 1 | region_never_left 2",
    ),
    "pauses and dropped records are gaps": (
        """0: MPI_Barrier 1 5 ; 0: + record(71, time=10, a=1), record(71, time=20, a=0)
        0: + record(70, time=40, b=30, c=6), record(70, time=55, b=50)
        0: MPI_Barrier 60 61 ; 0: + record(71, time=70, a=1) ; end 90""",
        (
            "gaps start_ns end_ns kind: 9 19 tracing_off | 29 39 dropped | 49 54 flush"
            " | 69 89 tracing_off"
        ),
        "bursts gap_ns: 25",
        "defects kind count: records_dropped 6",
    ),
    "a library that is merely called like MPI is a caller": (
        """0: + named(35, 1, "/lib/libmpiplot.so.1"), stack(4, (1, 0x20))
        0: MPI_Barrier 5 6 stack=4""",
        "call_paths function: libmpiplot.so.1+0x20",
    ),
    "unknown records, operations and ids are counted": (
        "0: 60000 1 2 record(999), collective(comm=77), stack=5 ; end 5",
        "calls operation: MPI_call_60000",
        (
            "defects kind: communicator_not_defined | stack_not_defined | unknown_record"
            " | unknown_mpi_call"
        ),
        "defects count: 1 | 1 | 1 | 1",
    ),
    "times that cannot be do not move the others": (
        "0: MPI_Barrier 10 9223372036854775808 ; 0: MPI_Barrier 30 20 ; end 50",
        "calls enter_ns leave_ns: 0 0 | 20 20",
        "defects kind count: time_runs_backwards 1 | time_absurd 1",
    ),
}
"""What threads recorded, and what stands in tables then."""


def run_of_text(text):
    """Give the run of a text, whose parts are what a thread recorded.

    ``rank[.thread]: operation enter leave records`` is a call, ``rank: + records`` is none.
    """
    parts = [part.strip() for part in re.split("[;\n]", text)]
    placed = [part.split(": ", 1) for part in parts if part[0].isdigit()]
    places = [[place.partition(".") for place in where.split(",")] for where, _ in placed]
    run = Run(1 + max(int(rank) for each in places for rank, *_ in each))
    threads = {}
    for each, (_, what) in zip(places, placed, strict=True):
        for rank, _, number in each:
            key = int(rank), int(number or 0)
            if key not in threads:
                threads[key] = run.thread(*key) if key[1] else run[key[0]]
            add_to(threads[key], what, int(rank))
    for part in parts:
        if part.startswith("end "):
            run.end(int(part[4:]))
    return run


def add_to(thread, what, rank):
    """Add what stands behind the place of a thread in a text."""
    names = {**vars(raw_files), "rank": rank}
    if what.startswith("+"):
        thread.add(*eval(f"[{what[1:]}]", names))  # noqa: S307 -- of rows above
    elif what.startswith("enter"):
        thread.enter(what.split()[1], int(what.split()[2]))
    else:
        name, enter, leave, rest = [*what.split(" ", 3), ""][:4]
        call = partial(thread.call, int(name) if name.isdigit() else name, int(enter))
        eval(f"call({leave}, {rest})", {**names, "call": call})  # noqa: S307 -- the same


@pytest.mark.parametrize("law", LAWS)
def test_what_was_recorded_is_a_trace(tmp_path, law):
    text, *tables = LAWS[law]
    trace = run_of_text(text).read(tmp_path)

    for said in tables:
        assert cells_like(trace, said) == said


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

    assert cells(trace.locations, "rank thread node name") == (
        "0 0 b THREAD_1.1.1 | 0 3 b THREAD_1.1.4 | 1 0 a THREAD_1.2.1"
    )


def test_a_call_that_was_never_left_ends_with_its_thread(tmp_path):
    run = Run(1)
    run[0].call("MPI_Barrier", 5, 6).enter("MPI_Recv", 10)
    run[0].add(record(50, time=40, a=1, b=2))

    trace = run.read(tmp_path)

    assert column(trace, "calls", "leave_ns") == [1, 35]
    assert {"call_never_left": 1, "process_without_end": 1}.items() <= defects(trace).items()
    assert column(trace, "calls", "leave_seq")[1] > column(trace, "calls", "enter_seq")[1]


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


def a_part_of(folder):
    """Write ranks 1 and 3 of 4, which meet alone and with all, and send to all."""
    run = Run(4)
    for rank, other in ((1, 3), (3, 1)):
        run[rank].add(raw_files.named(38, 0, "1,3", op=8))
        run[rank].add(raw_files.communicator(2, 2, [1, 3]))
        run[rank].call("MPI_Barrier", 5, 6, raw_files.collective())
        run[rank].call("MPI_Barrier", 7, 8, raw_files.collective(comm=2))
        for turn, peer in enumerate((0, other)):
            told = raw_files.send(peer, size=4)
            run[rank].call("MPI_Send", 10 + 4 * turn, 11 + 4 * turn, told)
        run[rank].call("MPI_Recv", 20, 21, raw_files.receive(other, size=4))
    run.end(30).write(folder)
    for rank in (0, 2):
        (folder / run[rank].name).unlink()
    return raw_files.read_raw(folder, operations=raw_files.NUMBERS)


def test_ranks_that_were_not_to_be_recorded_are_no_loss(tmp_path):
    trace = a_part_of(tmp_path)

    assert set(trace.defects["severity"].to_pylist()) == {"info"}
    assert defects(trace) == {
        "ranks_not_recorded": 2,
        "message_of_unrecorded_rank": 2,
        "collective_of_unrecorded_rank": 1,
    }
    assert column(trace, "collectives", "complete") == [False, True]
    assert trace.rows("messages") == 2


def test_which_ranks_were_recorded_is_told_by_every_file_made_of_them(tmp_path):
    trace = a_part_of(tmp_path)

    for name in ("run.store", "run.prv", "again.prv", "run.parquet"):
        burstline.write(trace, tmp_path / name)
        trace = burstline.read(tmp_path / name)
        said = dict(
            zip(*(trace.defects[c].to_pylist() for c in ("kind", "first")), strict=True)
        )
        assert said["ranks_not_recorded"] == "1,3 of 4", name
        members = column(trace, "communicators", "members")
        assert [len(listed) for listed in members] == [4, 2], name
        assert column(trace, "communicators", "kind")[0] == "world", name
        assert column(trace, "collectives", "complete") == [False, True], name
        reasons = burstline.wait_states(trace).coverage["not_computable"]
        assert any("only ranks 1,3 of 4" in row["reason"] for row in reasons), name


def test_a_rank_that_was_to_be_recorded_and_left_nothing_is_a_loss(tmp_path):
    a_part_of(tmp_path)
    (tmp_path / Run(4)[3].name).unlink()

    found = raw_files.read_raw(tmp_path, operations=raw_files.NUMBERS).defects.to_pylist()

    lost = {row["kind"]: row["first"] for row in found if row["severity"] == "loss"}
    assert lost == {"rank_missing": "rank 3 of 4"}


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
    frames = {
        0x20: [("inner", "f.c", 7), ("outer", "f.c", 70)],
        0x10: [("main", "m.c", 3)],
    }
    resolver = raw_files.Resolver(lambda _, offset: frames.get(offset, []))

    trace = run.read(tmp_path, resolve=resolver)

    assert cells(trace.call_paths, "function parent line") == (
        "solver-with-a-rather-long-name+0x8 - - | main 0 3 | outer 1 70 | inner 2 7"
    )
    assert column(trace, "calls", "call_path") == [3]
    assert [offsets for _, offsets in resolver.asked] == [[0x08, 0x10, 0x20]]


def test_a_resolver_of_many_addresses_is_asked_once_per_module(tmp_path):
    run = Run(2)
    for rank in range(2):
        run[rank].add(raw_files.named(35, 1, "app"), raw_files.named(35, 2, "lib"))
        run[rank].add(raw_files.stack(1, (1, 8)), raw_files.stack(2, (2, 8), (1, 16)))
        run[rank].call("MPI_Barrier", 5, 6, stack=1).call("MPI_Barrier", 7, 8, stack=2)

    resolver = raw_files.Resolver(lambda _, offset: [(f"f{offset}", None, None)])

    trace = run.read(tmp_path, resolve=resolver)

    assert resolver.asked == [("app", [8, 16]), ("lib", [8])]
    assert column(trace, "calls", "call_path") == [0, 2] * 2


def test_who_resolves_no_names_loads_what_is_told_them(tmp_path):
    run = Run(3)
    for rank in range(3):
        run[rank].add(raw_files.named(35, 1, "app"))
        run[rank].add(raw_files.stack(1, (1, 8 + rank)), raw_files.stack(2, (1, 16)))
        run[rank].call("MPI_Barrier", 5, 6, stack=1).call("MPI_Barrier", 7, 8, stack=2)
    run.write(tmp_path)
    opened = {"raw": True, "operations": raw_files.NUMBERS}
    resolver = raw_files.Resolver(lambda *_: [("f", None, None)])
    here = RawSource(tmp_path, **opened, resolve=resolver)
    there = RawSource(tmp_path, **opened)

    for part in here.parts(1):
        [named] = cloudpickle.loads(cloudpickle.dumps(here.named(part)))
        [expected], [found] = here.load(part), there.load(part, named)
        assert found.tables["calls"].equals(expected.tables["calls"])
        assert expected.tables["calls"]["call_path"].to_pylist() == [0, 0]


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


def test_the_numbers_of_operations_are_those_of_the_recorders_table():
    from burstline.formats.raw.events.calls import operation_numbers

    numbers = operation_numbers()

    assert numbers[1] == "MPI_Send"
    assert len(np.unique(list(numbers))) == len(numbers)


@pytest.mark.parametrize(
    "library",
    [
        "mpi_mpifh.so.40.30.0", "mpich.so.12", "mpi-1a2b3c4d.so.40", "burst-mpich.so",
        "gomp.so.1",
    ],
)  # fmt: skip
def test_frames_of_mpi_below_its_caller_are_left_out(tmp_path, library):
    run = Run(1)
    run[0].add(raw_files.named(35, 1, "/bin/app"), raw_files.named(35, 2, f"/lib/lib{library}"))
    run[0].add(raw_files.stack(4, (2, 0x20), (2, 0x30), (1, 0x10), (2, 0x40), (1, 0x08)))
    run[0].add(raw_files.stack(5, (2, 0x20)))
    run[0].call("MPI_Barrier", 5, 6, stack=4).call("MPI_Barrier", 7, 8, stack=5)

    trace = run.read(tmp_path)

    functions = column(trace, "call_paths", "function")
    assert functions == ["app+0x8", f"lib{library}+0x40", "app+0x10", f"lib{library}+0x20"]
    assert column(trace, "calls", "call_path") == [2, 3]


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
