"""What an OTF2 archive becomes: small ones, written here, with tables known by hand."""

from __future__ import annotations

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
from table_cells import cells


def defects(trace):
    return dict(rows(trace.defects, "kind", "count"))


def test_calls_lie_in_regions_and_know_their_caller(place):
    with archive(place) as made:
        thread = made.thread(0)
        thread.region("main", 0, None).region("solve", 10, None)
        thread.region("MPI_Barrier", 20, 30)
        thread.writer.leave(40, made.region("solve"))
        thread.writer.leave(50, made.region("main"))
    trace = read(place)

    assert rows(trace.calls, "operation", "enter_ns", "leave_ns", "enter_seq", "call_path") == [
        ("MPI_Barrier", 20, 30, 2, 1)
    ]
    assert rows(trace.call_paths, "parent", "function") == [(None, "main"), (0, "solve")]
    assert cells(trace.regions, "enter_ns leave_ns parent call_path") == "0 50 - 0 | 10 40 0 1"
    assert not trace.defects.num_rows


def test_requests_are_followed_to_their_completion(place):
    with archive(place, 2) as made:
        made.begin()
        for rank in range(2):
            thread = made.thread(rank)
            thread.region("MPI_Irecv", 10, 20, ("mpi_irecv_request", 12, 1))
            thread.region("MPI_Isend", 20, 30, ("mpi_isend", 21, 1 - rank, made.world, 7, 8, 2))
            done = ("mpi_isend_complete", 40, 2)
            thread.region(
                "MPI_Waitall", 30, 50, done, ("mpi_irecv", 45, 1 - rank, made.world, 7, 8, 1)
            )
    trace = read(place)

    names = ("send_ns", "send_done_ns", "post_ns", "receive_ns", "send_leave_ns")
    assert rows(trace.messages, *names) == [(21, 40, 12, 45, 30)] * 2
    calls = ("send_call", "send_done_call", "post_call", "receive_call")
    assert rows(trace.messages, *calls) == [(1, 2, 0, 2)] * 2
    assert rows(trace.messages, "send_request", "receive_request") == [(2, 1)] * 2
    told = ("operation", "peer", "tag", "communicator", "sent_bytes", "received_bytes")
    assert rows(trace.calls, *told)[:3] == [
        ("MPI_Irecv", 1, 7, 0, None, None),
        ("MPI_Isend", 1, 7, 0, 8, None),
        ("MPI_Waitall", None, None, None, None, 8),
    ]


def test_receives_of_one_channel_are_matched_as_they_were_posted(place):
    with archive(place, 2) as made:
        made.begin()
        sender, receiver = made.thread(0), made.thread(1)
        for time, size in ((10, 1), (20, 2)):
            sender.region(
                "MPI_Send", time, time + 5, ("mpi_send", time, 1, made.world, 3, size)
            )
        for time, request in ((10, 5), (20, 6)):
            receiver.region("MPI_Irecv", time, time + 5, ("mpi_irecv_request", time, request))
        for time, request, size in ((30, 6, 2), (40, 5, 1)):
            end = ("mpi_irecv", time, 0, made.world, 3, size, request)
            receiver.region("MPI_Wait", time, time + 5, end)
    trace = read(place)

    assert cells(trace.messages, "sent_bytes received_bytes receive_ns") == "1 1 40 | 2 2 30"


def test_ranks_of_a_communicator_are_those_of_the_world(place):
    with archive(place, 3) as made:
        pair = made.communicator("pair", [2, 1])
        made.thread(0)
        made.thread(1).region("MPI_Recv", 0, 9, ("mpi_recv", 8, 0, pair, 4, 1))
        made.thread(2).region("MPI_Send", 0, 5, ("mpi_send", 1, 1, pair, 4, 1))
    trace = read(place)

    assert rows(trace.messages, "sender_location", "receiver_location") == [(2, 1)]
    assert trace.calls["peer"].to_pylist() == [2, 1]
    assert trace.communicators["members"].to_pylist()[1] == [2, 1]


def test_collectives_have_their_stamps_root_and_sizes(place):
    with archive(place, 2) as made:
        made.begin()
        for rank in range(2):
            begin = ("mpi_collective_begin", 10 + rank)
            end = ("mpi_collective_end", 20, CollectiveOp.BCAST, made.world, 1, 4 * rank, 4)
            made.thread(rank).region("MPI_Bcast", 9, 30, begin, end)
    trace = read(place)

    assert rows(trace.collectives, "operation", "root", "complete") == [("MPI_Bcast", 1, True)]
    members = rows(trace.collective_members, "comm_rank", "begin_ns", "end_ns", "sent_bytes")
    assert members == [(0, 10, 20, 0), (1, 11, 20, 4)]
    assert trace.calls["root"].to_pylist() == [None, 1]


def test_a_non_blocking_collective_is_known_where_it_was_started(place):
    with archive(place, 2) as made:
        for rank in range(2):
            thread = made.thread(rank)
            thread.region("MPI_Ibarrier", 0, 5, ("non_blocking_collective_request", 0, 9))
            arguments = (CollectiveOp.BARRIER, made.world, 2**32 - 1, 0, 0, 9)
            thread.region(
                "MPI_Wait", 10, 20, ("non_blocking_collective_complete", 15, *arguments)
            )
    trace = read(place)

    assert rows(trace.collectives, "operation", "complete") == [("MPI_Ibarrier", True)]
    names = ("call", "done_call", "begin_ns", "end_ns")
    assert rows(trace.collective_members, *names) == [(0, 1, 0, 15)] * 2


def test_each_process_has_its_own_self(place):
    with archive(place, 2) as made:
        alone = made.alone()
        for rank in range(2):
            events = (
                ("mpi_collective_begin", 1),
                ("mpi_collective_end", 2, CollectiveOp.BARRIER, alone, 2**32 - 1, 0, 0),
            )
            made.thread(rank).region("MPI_Barrier", 0, 5, *events)
    trace = read(place)

    assert trace.collectives["complete"].to_pylist() == [True, True]
    kinds = rows(trace.communicators, "kind", "members")
    assert kinds[1:] == [("self", [0]), ("self", [1])]


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
        (1, "team", 0, None),
        (1, "parallel", 0, None),
        (1, "implicit barrier", 0, 0),
        (1, "team", 1, None),
        (1, "parallel", 1, None),
        (1, "implicit barrier", 1, 0),
    ]
    assert rows(trace.locks, "location", "lock", "acquire_ns", "release_ns")[2:] == [
        (1, 4, 13, 14),
        (1, 4, 53, 54),
    ]


def test_a_team_in_a_team_knows_the_outer_one(place):
    with archive(place) as made:
        team, thread = made.team(0), made.thread(0)
        for time in (0, 10):
            thread.writer.thread_fork(time, Paradigm.OPENMP, 4)
            thread.writer.thread_team_begin(time + 1, team)
        for time in (20, 30):
            thread.writer.thread_team_end(time, team)
            thread.writer.thread_join(time + 1, Paradigm.OPENMP)
    trace = read(place)

    assert rows(trace.teams, "parent", "fork_ns", "threads") == [(None, 0, 1), (0, 10, 1)]


def test_a_team_that_nobody_begins_and_joins_has_the_threads_that_were_asked_for(place):
    with archive(place) as made:
        thread = made.thread(0).region("main", 0, None)
        thread.writer.thread_fork(5, Paradigm.OPENMP, 4)
        thread.region("f", 6, 9)
        thread.writer.leave(10, made.region("main"))
    trace = read(place)

    assert rows(trace.teams, "threads", "fork_seq", "join_seq", "join_ns") == [(4, 1, 2, 10)]
    assert defects(trace) == {"team_never_joined": 1}


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


def test_time_nobody_watched_is_a_gap(place):
    with archive(place) as made:
        thread = made.thread(0)
        thread.region("f", 0, 5)
        thread.writer.buffer_flush(10, 20)
        thread.writer.measurement_on_off(30, MeasurementMode.OFF)
        thread.writer.measurement_on_off(40, MeasurementMode.ON)
        thread.writer.measurement_on_off(50, MeasurementMode.OFF)
        thread.region("f", 60, 70)
    trace = read(place)

    assert cells(trace.gaps, "start_ns end_ns kind") == (
        "10 20 flush | 30 40 tracing_off | 50 70 tracing_off"
    )


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


def test_a_region_that_is_never_left_ends_with_its_location(place):
    with archive(place) as made:
        thread = made.thread(0).region("main", 0, None)
        thread.region("f", 5, None)
        thread.region("g", 6, 7)
        thread.writer.leave(9, made.region("main"))
        thread.writer.leave(9, made.region("main"))
    trace = read(place)

    assert rows(trace.regions, "enter_ns", "leave_ns") == [(0, 9), (5, 9), (6, 7)]
    assert defects(trace) == {"region_never_left": 1, "region_left_but_never_entered": 1}


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


def test_a_call_by_name_is_one_where_no_region_is_marked_as_one_of_mpi(place):
    with archive(place) as made:
        thread = made.thread(0)
        thread.region("mpi_barrier_", 0, 5, paradigm=Paradigm.USER)
        thread.region("MPI_Barrier()", 6, 7, paradigm=Paradigm.USER)
        thread.region("MPI_Strange", 8, 9, paradigm=Paradigm.USER)
    trace = read(place)

    assert trace.calls["operation"].to_pylist() == ["MPI_Barrier", "MPI_Barrier", "MPI_Strange"]


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


def test_puts_and_gets_tell_their_calls_partner_and_bytes(place):
    with archive(place, 2) as made:
        window = made.definitions.rma_win("win", made.world)
        made.thread(0).region("MPI_Put", 0, 5, ("rma_put", 1, window, 1, 64, 1))
        made.thread(1).region("MPI_Get", 0, 5, ("rma_get", 1, window, 0, 32, 1))
    trace = read(place)

    assert cells(trace.calls, "peer sent_bytes received_bytes communicator") == (
        "1 64 - 0 | 0 - 32 0"
    )


def test_a_cancelled_send_is_no_message(place):
    with archive(place, 2) as made:
        thread = made.thread(0)
        thread.region("MPI_Isend", 0, 5, ("mpi_isend", 1, 1, made.world, 7, 8, 2))
        thread.region("MPI_Cancel", 6, 7)
        thread.region("MPI_Wait", 8, 9, ("mpi_request_cancelled", 8, 2))
        made.thread(1)
    trace = read(place)

    assert not trace.messages.num_rows
    assert "unmatched_send" not in defects(trace)
