"""What an OTF2 archive becomes: small ones, written here, with tables known by hand."""

from __future__ import annotations

import re

import pytest
from otf2.enums import (
    CollectiveOp,
    MeasurementMode,
    MetricMode,
    Paradigm,
    ParameterType,
    RegionRole,
    Type,
)

import burstline
from burstline.cli import main
from burstline.formats.derivation.records import with_records
from burstline.formats.otf2.reading import trace as otf2_reading
from burstline.summary import summarise
from burstline.testing import assert_same_trace
from otf2_archives import archive, read, rows, team_of_two
from table_cells import cells, cells_like

LAWS = {
    "calls lie in regions and know their caller": (
        """0: main 0 - ; 0: solve 10 - ; 0: MPI_Barrier 20 30 ; 0: leave solve 40
        0: leave main 50""",
        "calls operation enter_ns leave_ns enter_seq call_path: MPI_Barrier 20 30 2 1",
        "call_paths parent function: - main | 0 solve",
        "regions enter_ns leave_ns parent call_path: 0 50 - 0 | 10 40 0 1",
        "defects kind: ",
    ),
    "a region that is never left ends with its location": (
        """0: main 0 - ; 0: f 5 - ; 0: g 6 7 ; 0: leave main 9 ; 0: leave main 9""",
        "regions enter_ns leave_ns: 0 9 | 5 9 | 6 7",
        "defects kind count: region_left_but_never_entered 1 | region_never_left 1",
    ),
    "a call by name is one where no region is marked as one of MPI": (
        "0: mpi_barrier_ 0 5 ; 0: user MPI_Barrier() 6 7 ; 0: user MPI_Strange 8 9",
        "calls operation: MPI_Barrier | MPI_Barrier | MPI_Strange",
    ),
    "without marks a name in small letters is a call only if MPI has it": (
        "begin ; 0: mpi_exchange 10 15 ; 0: user MPI_Send 20 25 ; 0: mpi_send_ 30 35",
        "calls operation enter_ns: MPI_Send 20 | MPI_Send 30",
    ),
    "requests are followed to their completion": (
        """begin ; 0,1: MPI_Irecv 10 20 mpi_irecv_request(12, 1)
        0,1: MPI_Isend 20 30 mpi_isend(21, 1 - rank, world, 7, 8, 2)
        0,1: MPI_Waitall 30 50 mpi_isend_complete(40, 2),
            mpi_irecv(45, 1 - rank, world, 7, 8, 1)""",
        "messages send_ns send_done_ns send_leave_ns: 21 40 30 | 21 40 30",
        "messages post_ns receive_ns: 12 45 | 12 45",
        "messages send_call send_done_call post_call receive_call: 1 2 0 2 | 1 2 0 2",
        "messages send_request receive_request: 2 1 | 2 1",
        "calls peer tag communicator: 1 7 0 | 1 7 0 | - - - | 0 7 0 | 0 7 0 | - - -",
        "calls sent_bytes received_bytes: - - | 8 - | - 8 | - - | 8 - | - 8",
    ),
    "receives of one channel are matched as they were posted": (
        """begin ; 0: MPI_Send 10 15 mpi_send(10, 1, world, 3, 1)
        0: MPI_Send 20 25 mpi_send(20, 1, world, 3, 2)
        1: MPI_Irecv 10 15 mpi_irecv_request(10, 5)
        1: MPI_Irecv 20 25 mpi_irecv_request(20, 6)
        1: MPI_Wait 30 35 mpi_irecv(30, 0, world, 3, 2, 6)
        1: MPI_Wait 40 45 mpi_irecv(40, 0, world, 3, 1, 5)""",
        "messages sent_bytes received_bytes receive_ns: 1 1 40 | 2 2 30",
    ),
    "ranks of a communicator are those of the world": (
        """0: ! ; 1: MPI_Recv 0 9 mpi_recv(8, 0, other, 4, 1)
        2: MPI_Send 0 5 mpi_send(1, 1, other, 4, 1)""",
        "messages sender_location receiver_location: 2 1",
        "calls peer: 2 | 1",
        "communicators members: 0,1,2 | 2,1",
    ),
    "collectives have their stamps, root and sizes": (
        """begin ; 0,1: MPI_Bcast 9 30 mpi_collective_begin(10 + rank),
            mpi_collective_end(20, BCAST, world, 1, 4 * rank, 4)""",
        "collectives operation root complete: MPI_Bcast 1 yes",
        "collective_members comm_rank begin_ns end_ns sent_bytes: 0 10 20 0 | 1 11 20 4",
        "calls root: - | 1",
    ),
    "a non-blocking collective is known where it was started": (
        """0,1: MPI_Ibarrier 0 5 non_blocking_collective_request(0, 9)
        0,1: MPI_Wait 10 20
            non_blocking_collective_complete(15, BARRIER, world, NOBODY, 0, 0, 9)""",
        "collectives operation complete: MPI_Ibarrier yes",
        "collective_members call done_call begin_ns end_ns: 0 1 0 15 | 0 1 0 15",
    ),
    "each process has its own self": (
        """0,1: MPI_Barrier 0 5 mpi_collective_begin(1),
            mpi_collective_end(2, BARRIER, alone, NOBODY, 0, 0)""",
        "collectives complete: yes | yes",
        "communicators kind members: world 0,1 | self 0 | self 1",
    ),
    "a collective begun and never ended is told and lends its stamp to nobody": (
        """begin ; 0: MPI_Ibarrier 10 20 mpi_collective_begin(11)
        0: MPI_Allreduce 70 80 mpi_collective_end(79, ALLREDUCE, world, NOBODY, 8, 8)
        0: MPI_Allreduce 90 99 mpi_collective_begin(91), mpi_collective_begin(92),
            mpi_collective_end(98, ALLREDUCE, world, NOBODY, 8, 8)""",
        "collective_members begin_ns end_ns: 70 79 | 92 98",
        "defects kind severity count: collective_never_completed loss 2",
    ),
    "time nobody watched is a gap": (
        """0: f 0 5 ; 0: ! buffer_flush(10, 20) ; 0: ! measurement_on_off(30, OFF)
        0: ! measurement_on_off(40, ON) ; 0: ! measurement_on_off(50, OFF) ; 0: f 60 70""",
        "gaps start_ns end_ns kind: 10 20 flush | 30 40 tracing_off | 50 70 tracing_off",
    ),
    "puts and gets tell their calls' partner and bytes": (
        """0: MPI_Put 0 5 rma_put(1, window, 1, 64, 1)
        1: MPI_Get 0 5 rma_get(1, window, 0, 32, 1)""",
        "calls peer sent_bytes received_bytes communicator: 1 64 - 0 | 0 - 32 0",
    ),
    "a cancelled send is no message": (
        """0: MPI_Isend 0 5 mpi_isend(1, 1, world, 7, 8, 2) ; 0: MPI_Cancel 6 7
        0: MPI_Wait 8 9 mpi_request_cancelled(8, 2) ; 1: !""",
        "messages tag: ",
        "defects kind: location_without_events",
    ),
    "a team that nobody begins and joins has the threads that were asked for": (
        "0: main 0 - ; 0: ! thread_fork(5, OPENMP, 4) ; 0: f 6 9 ; 0: leave main 10",
        "teams threads fork_seq join_seq join_ns: 4 1 2 10",
        "defects kind count: team_never_joined 1",
    ),
    "a team in a team knows the outer one": (
        """0: ! thread_fork(0, OPENMP, 4) ; 0: ! thread_team_begin(1, team)
        0: ! thread_fork(10, OPENMP, 4) ; 0: ! thread_team_begin(11, team)
        0: ! thread_team_end(20, team) ; 0: ! thread_join(21, OPENMP)
        0: ! thread_team_end(30, team) ; 0: ! thread_join(31, OPENMP)""",
        "teams parent fork_ns threads: - 0 1 | 0 10 1",
    ),
    "a matched message is received where the probe is answered": (
        """begin ; 0: MPI_Send 10 15 mpi_send(11, 1, world, 5, 100)
        1: MPI_Mprobe 20 25 mpi_probe(24, 0, world, 5, 2**64 - 1)
        1: MPI_Mrecv 30 40 mpi_mrecv(38, 2**64 - 1, 100)""",
        "messages sender_location receiver_location tag: 0 1 5",
        "messages sent_bytes received_bytes: 100 100",
        "messages post_call post_ns receive_call receive_ns receive_request: 1 30 1 38 -",
        "calls peer tag received_bytes: 1 5 - | 0 5 - | 0 5 100",
        "defects kind: ",
    ),
    "a matched message is received by a request of the same number": (
        """begin ; 0: MPI_Send 10 15 mpi_send(11, 1, world, 5, 100)
        1: MPI_Mprobe 20 25 mpi_probe(24, 0, world, 5, 7)
        1: MPI_Imrecv 30 35 mpi_imrecv_request(32, 7, 8)
        1: MPI_Wait 40 50 mpi_imrecv(45, 8, 100)""",
        "messages post_call post_ns receive_call receive_ns receive_request: 1 32 2 45 8",
        "messages received_bytes: 100",
        "calls operation peer: MPI_Send 1 | MPI_Mprobe 0 | MPI_Imrecv 0 | MPI_Wait -",
        "defects kind: ",
    ),
    "probes decide the order in which matched messages are received": (
        """begin ; 0: MPI_Send 10 15 mpi_send(11, 1, world, 5, 1)
        0: MPI_Send 20 25 mpi_send(21, 1, world, 5, 2)
        0: MPI_Send 30 35 mpi_send(31, 1, world, 5, 3)
        1: MPI_Mprobe 40 45 mpi_probe(44, 0, world, 5, 1)
        1: MPI_Mprobe 50 55 mpi_probe(54, 0, world, 5, 2)
        1: MPI_Mrecv 55 58 mpi_mrecv(57, 1, 1)
        1: MPI_Mprobe 60 65 mpi_probe(64, 0, world, 5, 1)
        1: MPI_Mrecv 70 75 mpi_mrecv(74, 1, 3) ; 1: MPI_Mrecv 80 85 mpi_mrecv(84, 2, 2)""",
        "messages sent_bytes received_bytes receive_ns: 1 1 57 | 2 2 84 | 3 3 74",
        "defects kind: ",
    ),
    "another thread receives what a probe found": (
        """begin ; 0: MPI_Send 10 15 mpi_send(11, 1, world, 5, 100)
        1: MPI_Mprobe 20 25 mpi_probe(24, 0, world, 5, 7)
        1.1: MPI_Mrecv 30 40 mpi_mrecv(38, 7, 100)""",
        "messages receiver_location received_bytes: 3 100",
    ),
    "a matched receive whose probe is not there is told": (
        """begin ; 0: MPI_Send 10 15 mpi_send(11, 1, world, 5, 100)
        1: MPI_Mrecv 30 40 mpi_mrecv(38, 7, 100) ; 1: MPI_Barrier 50 60""",
        "calls operation: MPI_Send | MPI_Mrecv | MPI_Barrier",
        "defects kind count: matched_receive_without_probe 1 | unmatched_send 1",
    ),
    "sizes and tags that no run has are told": (
        """begin ; 0: MPI_Send 10 12 mpi_send(11, 1, world, 2**31 + 5, 2**63)
        1: MPI_Recv 10 20 mpi_recv(19, 0, world, 2**31 + 5, 8)
        0: MPI_Bcast 30 40 mpi_collective_end(39, BCAST, world, 0, 2**64 - 1, 2**50)""",
        "messages tag sent_bytes received_bytes: 5 0 8",
        "collective_members sent_bytes: 0",
        "defects kind count: incomplete_collective 1 | size_absurd 3 | tag_absurd 2",
        (
            "defects first: MPI_Bcast,_number_0_on_communicator_0"
            " | MPI_Rank_0,_thread_0:_9223372036854775808_bytes"
            " | MPI_Rank_0,_thread_0:_tag_2147483653"
        ),
    ),
    "the largest tag of MPI is one that runs have": (
        """begin ; 0: MPI_Send 10 12 mpi_send(11, 1, world, 2**31 - 1, 8)
        1: MPI_Recv 10 20 mpi_recv(19, 0, world, 2**31 - 1, 8)""",
        "messages tag: 2147483647",
        "defects kind: ",
    ),
    "a message to no member is told once": (
        "0: MPI_Send 0 9 mpi_send(5, 7, world, 3, 8) ; 1: MPI_Barrier 0 9",
        "defects kind count: message_of_unknown_rank 1",
    ),
    "defects name what the archive names": (
        """begin ; 0: MPI_Wait 10 20 mpi_isend_complete(15, 99)
        0: MPI_Irecv 30 40 mpi_irecv_request(35, 7)
        0: MPI_Send 50 60 mpi_send(55, 9, world, 1, 1)
        0: MPI_Put 70 80 rma_put(75, window, 8, 4, 1)""",
        (
            "defects kind: completion_without_start | message_of_unknown_rank"
            " | receive_never_completed | transfer_of_unknown_rank"
        ),
        (
            "defects first: location_0,_request_99"
            " | MPI_Rank_0,_thread_0:_rank_9_of_communicator_0"
            " | location_0:_any_rank,_any_tag"
            " | MPI_Rank_0,_thread_0:_rank_8_of_communicator_0"
        ),
        "calls peer: - | - | - | -",
    ),
}
"""What threads wrote into an archive, and what stands in tables then."""


class Names(dict):
    """What words in an event mean; another one is an event, by its name and arguments."""

    def __missing__(self, name):
        return lambda *arguments: (name, *arguments)


def names_of(text, made, rank):
    """Give the names that the events of a rank may use; definitions are made where used."""
    names = Names(rank=rank, NOBODY=2**32 - 1, OPENMP=Paradigm.OPENMP, world=made.world)
    names |= {op: getattr(CollectiveOp, op) for op in ("BARRIER", "BCAST", "ALLREDUCE")}
    names |= {"ON": MeasurementMode.ON, "OFF": MeasurementMode.OFF}
    for word, define in {
        "alone": made.alone,
        "team": lambda: made.team(0),
        "window": lambda: made.definitions.rma_win("w", made.world),
        "other": lambda: made.communicator("other", [2, 1]),
    }.items():
        if re.search(rf"\b{word}\b", text):
            names[word] = define()
    return names


def write(text, place):
    """Write the archive of a text, whose parts are what a thread wrote.

    ``rank[.thread]: region enter leave events``; a leave of ``-`` comes later, as ``leave
    region time``; ``!`` is an event alone. A call that is marked ``user`` is none of MPI.
    """
    parts = [f"{part.strip()} " for part in re.split(r";|\n(?=\s*\d)", text)]
    placed = [part.split(": ", 1) for part in parts if part[0].isdigit()]
    ranks, threads = 1, 1
    for where, _ in placed:
        for rank, thread in places_in(where):
            ranks, threads = max(ranks, rank + 1), max(threads, thread + 1)
    with archive(place, ranks, threads) as made:
        if "begin " in parts:
            made.begin()
        names = names_of(text, made, 0)
        for where, what in placed:
            for rank, thread in places_in(where):
                add_to(made.thread(rank, thread), what, Names(names | {"rank": rank}), made)


def places_in(words):
    return [tuple(map(int, f"{word}.0".split(".")[:2])) for word in words.split(",")]


def add_to(thread, what, names, made):
    """Add what stands behind the place of a thread in a text."""
    word, rest = what.split(" ", 1)
    about = {"paradigm": Paradigm.USER} if word == "user" else {}
    if about:
        word, rest = rest.split(" ", 1)
    if word == "!":
        for event, *arguments in eval(f"[{rest}]", {}, names):  # noqa: S307 -- of rows above
            getattr(thread.writer, event)(*arguments)
    elif word == "leave":
        name, time = rest.split()
        thread.writer.leave(int(time), made.region(name))
    else:
        enter, leave, events = [*rest.split(None, 2), ""][:3]
        events = eval(f"[{events}]", {}, names)  # noqa: S307 -- the same
        thread.region(word, int(enter), None if leave == "-" else int(leave), *events, **about)


@pytest.mark.parametrize("law", LAWS)
def test_what_was_written_is_a_trace(place, law):
    text, *tables = LAWS[law]
    write(text, place)
    trace = read(place)

    for said in tables:
        assert cells_like(trace, said) == said


def defects(trace):
    return dict(rows(trace.defects, "kind", "count"))


def test_threads_belong_to_the_team_that_was_forked(place):
    with archive(place, threads=2) as made:
        team_of_two(made)
    trace = read(place)

    assert (
        cells(trace.teams, "fork_ns join_ns threads fork_location") == "10 21 2 0 | 50 61 2 0"
    )
    names = trace.region_defs["name"].to_pylist()
    found = [
        (row["location"], names[row["region"]], row["team"], row["barrier_ordinal"])
        for row in trace.regions.to_pylist()
        if row["location"] == 1
    ]
    assert found == [
        (1, "team", 0, None), (1, "parallel", 0, None), (1, "implicit barrier", 0, 0),
        (1, "team", 1, None), (1, "parallel", 1, None), (1, "implicit barrier", 1, 0),
    ]  # fmt: skip
    assert rows(trace.locks, "location", "lock", "acquire_ns", "release_ns")[2:] == [
        (1, 4, 13, 14),
        (1, 4, 53, 54),
    ]


def test_paths_in_a_team_hang_below_the_fork(place):
    with archive(place, threads=2) as made:
        team_of_two(made)
    trace = read(place)

    names = trace.region_defs["name"].to_pylist()
    paths = {
        row["call_path"]
        for row in trace.regions.to_pylist()
        if names[row["region"]] == "parallel"
    }
    assert paths == {1}
    assert rows(trace.call_paths, "parent", "function")[:2] == [(None, "main"), (0, "parallel")]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (MetricMode.ACCUMULATED_START, [10, 5]),
        (MetricMode.RELATIVE_POINT, [10, 15]),
        (MetricMode.ABSOLUTE_POINT, [10, 15]),
    ],
)
def test_metrics_become_differences_as_their_mode_says(place, mode, expected):
    with archive(place) as made:
        made.begin()
        metric, thread = made.metric("PAPI_TOT_INS", mode), made.thread(0)
        for time, value in ((3, 10), (8, 15)):
            thread.writer.metric(time, metric, [value])
            thread.region("f", time, time + 1)
    trace = read(place)

    assert trace.readings["PAPI_TOT_INS"].to_pylist() == expected
    assert rows(trace.readings, "seq", "time_ns") == [(1, 3), (3, 8)]
    assert trace.counters["source_type"].to_pylist() == [42_000_050]


def falling(place, *counts):
    """Write an archive with a counter of each rank that is declared accumulated."""
    with archive(place, ranks=len(counts)) as made:
        made.begin()
        metric = made.metric("power")
        for rank, values in enumerate(counts):
            thread = made.thread(rank)
            for step, value in enumerate(values):
                thread.region("f", 10 * step + 1, 10 * step + 5)
                thread.writer.metric(10 * step + 6, metric, [value])


@pytest.mark.parametrize("bytes_at_once", [1, 1 << 20])
def test_a_counter_that_falls_though_it_is_declared_accumulated_is_a_gauge(
    place, tmp_path, bytes_at_once
):
    falling(place, [10, 15, 17], [30, 12, 40], [5, 6, 7])

    trace = otf2_reading.read(place, bytes_at_once=bytes_at_once)

    assert trace.readings["power"].to_pylist() == [10, 15, 17, 30, 12, 40, 5, 6, 7]
    assert trace.counters["mode"].to_pylist() == ["absolute"]
    assert defects(trace) == {"falling_counter_is_a_gauge": 1}
    main(["convert", str(place), str(tmp_path / "run.store"), "--quiet"])
    assert_same_trace(trace, burstline.read(tmp_path / "run.store"))


def test_a_count_that_falls_once_in_a_while_stays_a_count(place):
    values = [*range(0, 400, 2), 390, *range(400, 500, 2)]
    falling(place, values)

    trace = read(place)

    counted = trace.readings["power"].to_pylist()
    assert (sum(counted), min(counted)) == (values[-1], -8)
    assert trace.counters["mode"].to_pylist() == ["delta"]
    assert defects(trace) == {"counter_runs_backwards": 1}


def test_a_metric_of_fractions_is_rounded_and_said_so(place):
    with archive(place) as made:
        metric = made.metric("power", MetricMode.ABSOLUTE_POINT, Type.DOUBLE)
        thread = made.thread(0)
        thread.writer.metric(0, metric, [1.75])
        thread.region("f", 0, 1)
    trace = read(place)

    assert trace.readings["power"].to_pylist() == [2]
    assert defects(trace) == {"metric_rounded": 1}


def test_ticks_become_nanoseconds_rounded_down(place):
    with archive(place, resolution=3_000_000_000) as made:
        made.thread(0).region("f", 300, 301).region("f", 302, 303)
    trace = read(place)

    begin = trace.regions["enter_ns"].to_pylist()[0]
    assert [t - begin for t in trace.regions["leave_ns"].to_pylist()] == [0, 1]


def test_a_call_that_is_never_left_is_one_the_run_was_interrupted_in(place):
    with archive(place, ranks=2) as made:
        for rank in range(2):
            made.thread(rank).region("MPI_Init", 0, 1)
        thread = made.thread(0).region("main", 2, None)
        thread.region("MPI_Send", 5, None, ("mpi_send", 5, 1, made.world, 3, 8))
        made.thread(1).region("main", 2, None).region("MPI_Recv", 6, None)
        made.thread(1).writer.leave(9, made.region("main"))
    trace = read(place)

    (call,) = summarise(trace).open_calls
    facts = call.rank, call.operation, call.peer, call.call_path
    assert facts == (0, "MPI_Send", 1, "main")
    assert defects(trace)["call_never_left"] == 1
    # main of rank 0, and the call that the leave of main closed on rank 1
    assert defects(trace)["region_never_left"] == 2

    burstline.write(trace, place.parent / "copy.otf2")
    copy = read(place.parent / "copy.otf2")
    assert "region_left_but_never_entered" not in defects(copy)
    assert rows(copy.calls, "enter_ns", "leave_ns") == rows(trace.calls, "enter_ns", "leave_ns")


def test_tasks_have_regions_of_their_own(place):
    with archive(place, threads=2) as made:
        team, thread = made.team(0), made.thread(0)
        thread.region("outer", 0, None)
        thread.writer.thread_task_switch(10, team, 0, 1)
        thread.region("task", 11, None)
        thread.writer.thread_task_switch(20, team, 0, 0)
        thread.writer.leave(25, made.region("outer"))
        thread.writer.thread_task_switch(30, team, 0, 1)
        thread.writer.leave(35, made.region("task"))
    trace = read(place)

    assert rows(trace.regions, "enter_ns", "leave_ns") == [(0, 25), (11, 35)]
    assert not {"region_never_left", "region_left_but_never_entered"} & set(defects(trace))


def test_what_a_program_told_is_kept_and_is_an_event_of_a_paraver_trace(place):
    with archive(place) as made:
        number = made.definitions.parameter("n", parameter_type=ParameterType.INT64)
        text = made.definitions.parameter("kernel", parameter_type=ParameterType.STRING)
        thread = made.thread(0).region("MPI_Barrier", 0, 1)
        thread.region(
            "f", 2, 5, ("parameter_int", 3, number, -5), ("parameter_string", 4, text, "dgemm")
        )
    told = read(place)
    trace = with_records(told)

    assert cells(told.other_events, "name type value text") == (
        "n int64 -5 - | kernel string - dgemm"
    )
    labels = dict(rows(trace.event_types, "type", "label"))
    told = [
        (row["time_ns"], labels[row["type"]], row["value"])
        for row in trace.events.to_pylist()
        if row["type"] >= 78_000_000
    ]
    assert [row[:2] for row in told] == [(3, "n"), (4, "kernel")]
    assert told[0][2] == -5
    assert (told[1][2], "dgemm") in rows(trace.event_values, "value", "label")
    assert {50000002} <= set(trace.events["type"].to_pylist())


def test_a_thread_works_inside_a_critical_section_once_it_has_it(place):
    critical = {"region_role": RegionRole.CRITICAL, "paradigm": Paradigm.OPENMP}
    inside = {"region_role": RegionRole.CRITICAL_SBLOCK, "paradigm": Paradigm.OPENMP}
    with archive(place) as made:
        thread = made.begin().thread(0)
        thread.region("critical", 0, None, **critical)
        thread.region("critical sblock", 10, 30, **inside)
        thread.writer.leave(31, made.region("critical"))
    trace = read(place)

    assert rows(trace.bursts, "start_ns", "end_ns") == [(10, 30)]
