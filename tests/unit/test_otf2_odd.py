"""Odd events of OTF2 archives: rare kinds, extreme numbers, what is begun and never ended."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from otf2.enums import (
    CollectiveOp,
    IoHandleFlag,
    IoOperationFlag,
    IoOperationMode,
    IoParadigmClass,
    IoParadigmFlag,
    MetricMode,
    Paradigm,
    Type,
)

from burstline.formats.intake.defects import Defects
from burstline.formats.otf2.reading.events import _metrics_alike
from otf2_archives import archive, read, rows
from table_cells import cells

NOBODY = 2**32 - 1
LATEST = 2**61


def defects(trace):
    return {
        kind: (severity, count, first)
        for kind, severity, count, first in rows(
            trace.defects, "kind", "severity", "count", "first"
        )
    }


def allreduce(time, made):
    return ("mpi_collective_end", time, CollectiveOp.ALLREDUCE, made.world, NOBODY, 8, 8)


@pytest.mark.parametrize("name", ["mpi_exchange", "MPI_Exchange", "mpi_send_", "MPI_Allreduce"])
def test_a_function_with_a_name_of_mpi_hides_no_marked_call_inside_it(place, name):
    with archive(place) as made:
        made.begin()
        thread = made.thread(0)
        around = made.definitions.region(name, paradigm=Paradigm.USER)
        thread.writer.enter(10, around)
        begin = ("mpi_collective_begin", 13)
        thread.region(
            "MPI_Allreduce", 12, 18, begin, allreduce(17, made), paradigm=Paradigm.MPI
        )
        thread.writer.leave(90, around)
    trace = read(place)

    assert rows(trace.calls, "operation", "enter_ns", "leave_ns") == [("MPI_Allreduce", 12, 18)]
    assert rows(trace.regions, "enter_ns", "leave_ns") == [(10, 90)]
    assert rows(trace.collective_members, "call", "begin_ns") == [(0, 13)]
    assert trace.call_paths["function"].to_pylist() == [name]
    assert defects(trace) == {}


def test_attributes_have_the_width_of_their_type(place):
    types = {
        "u8": (Type.UINT8, 200, 200), "u16": (Type.UINT16, 60_000, 60_000),
        "u32": (Type.UINT32, 2**32 - 1, 2**32 - 1), "i8": (Type.INT8, -3, -3),
        "i16": (Type.INT16, -300, -300), "i32": (Type.INT32, -70_000, -70_000),
        "i64": (Type.INT64, -(2**40), -(2**40)), "real": (Type.FLOAT, 1.5, 0x3FC00000),
    }  # fmt: skip
    with archive(place) as made:
        made.begin()
        wide = made.definitions.attribute("wide", "", Type.UINT64)
        for time, (name, (form, value, _)) in enumerate(types.items(), 1):
            one = made.definitions.attribute(name, "", form)
            region, writer = made.region(f"f {name}"), made.thread(0).writer
            for sign, dirt in enumerate((2**62 + 2**40, 2**64 - 1)):
                moment = 10 * time + 2 * sign
                writer.enter(moment, region, attributes={wide: dirt, one: value})
                writer.leave(moment + 1, region)
    trace = read(place)

    told = rows(trace.other_events, "name", "value")
    assert {one for one in told if one[0] != "wide"} == {
        (name, value) for name, (_, _, value) in types.items()
    }


def test_a_metric_read_again_in_one_moment_is_another_reading(place):
    with archive(place) as made:
        made.begin()
        kind = made.metric("n", MetricMode.ABSOLUTE_POINT, Type.UINT64)
        other = made.metric("other", MetricMode.ABSOLUTE_POINT, Type.UINT64)
        here = made.locations[0][0]
        instance = made.definitions.metric_instance(kind, recorder=here, scope=here)
        writer = made.thread(0).writer
        for metric, value in ((kind, 1), (other, 9), (instance, 2), (kind, 3)):
            writer.metric(10, metric, [value])
    trace = read(place)

    assert cells(trace.readings, "time_ns n other") == "10 1 9 | 10 2 - | 10 3 -"
    assert defects(trace) == {}


@given(st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=8))
def test_metrics_are_alike_if_members_join_them(listed):
    metrics = dict(enumerate(map(tuple, listed)))
    numbers, like = (column.tolist() for column in _metrics_alike(metrics))

    joined = {one: {one} for one in metrics}
    for _ in metrics:
        for one, members in metrics.items():
            for other, others in metrics.items():
                if set(members) & set(others):
                    joined[one] = joined[other] = joined[one] | joined[other]
    assert numbers == list(metrics)
    for one in metrics:
        assert {other for other in metrics if like[other] == like[one]} == joined[one]


def test_files_and_transfers_of_others_than_mpi_are_counted_by_name(place):
    with archive(place) as made:
        made.begin()
        define, thread = made.definitions, made.thread(0)
        node = next(iter(define.system_tree_nodes))
        file = define.io_regular_file("/x", scope=node)
        serial = (IoParadigmClass.SERIAL, IoParadigmFlag.NONE)
        posix = define.io_paradigm("POSIX", "POSIX I/O", *serial)
        handle = define.io_handle(
            "h", file=file, io_paradigm=posix, io_handle_flags=IoHandleFlag.NONE
        )
        window = define.rma_win("w", comm=made.world)
        flags = (IoOperationMode.WRITE, IoOperationFlag.NONE)
        for time in (10, 20):
            begin = ("io_operation_begin", time + 1, handle, *flags, 100, 1)
            end = ("io_operation_complete", time + 2, handle, 100, 1)
            thread.region("write", time, time + 5, begin, end)
        put = ("rma_put", 31, window, 0, 4, 1)
        thread.region("shmem_put", 30, 40, put, ("rma_op_test", 32, window, 1))
    trace = read(place)

    kinds = "IoOperationBegin 2, IoOperationComplete 2, RmaOpTest 1, RmaPut 1"
    assert defects(trace) == {"event_not_used": ("info", 6, kinds)}


def test_names_of_oddities_add_up_over_parts():
    whole = Defects()
    for names in (["b", "a"], ["b"], []):
        part = Defects()
        for name in names:
            part.note_named("kind", "info", name)
        whole.take(part)

    assert whole.table().to_pylist() == [
        {"kind": "kind", "severity": "info", "count": 3, "first": "b 2, a 1"}
    ]


@pytest.mark.parametrize("number", [0, 1, 2**63 - 1, 2**63 + 5, 2**64 - 1])
def test_every_request_is_followed(place, number):
    with archive(place, 2) as made:
        made.begin()
        send = ("mpi_isend", 11, 1, made.world, 3, 8, number)
        made.thread(0).region("MPI_Isend", 10, 12, send)
        done = ("mpi_isend_complete", 29, number)
        made.thread(0).region("MPI_Wait", 20, 30, done)
        made.thread(1).region("MPI_Recv", 10, 20, ("mpi_recv", 19, 0, made.world, 3, 8))
    trace = read(place)

    assert trace.messages["send_done_ns"].to_pylist() == [29]
    told = trace.messages["send_request"].to_pylist()[0]
    assert told % 2**64 == number
    assert defects(trace) == {}


@pytest.mark.parametrize("resolution", [1_000_000_000, 1])
def test_times_out_of_range_are_told(place, resolution):
    with archive(place, resolution=resolution) as made:
        made.begin()
        made.thread(0).region("a", 0, 1).region("b", 2**62, 2**63)
    trace = read(place)

    assert rows(trace.regions, "enter_ns", "leave_ns")[1] == (LATEST, LATEST)
    assert defects(trace)["time_out_of_range"][:2] == ("error", 2)
