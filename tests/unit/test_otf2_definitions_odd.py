"""What archives define that is rare, or cannot be: it is told, and costs only itself."""

from __future__ import annotations

from copy import copy

import pytest
from otf2.enums import LocationGroupType, LocationType, MetricMode, Paradigm, Type

from burstline.formats.otf2.numbers import NOWHERE
from burstline.formats.otf2.reading.archive import ArchiveDefinitions, Region
from burstline.formats.otf2.reading.regions import ArchiveRegions
from otf2_archives import archive, read, rows
from table_cells import cells


def defects(trace):
    return rows(trace.defects, "kind", "severity", "count")


def stream(made, name, *, node, creator=None):
    """Write a kernel on an accelerator, which is a group of its own."""
    about = {} if creator is None else {"creating_location_group": creator}
    group = made.definitions.location_group(
        name,
        location_group_type=LocationGroupType.ACCELERATOR,
        system_tree_parent=node,
        **about,
    )
    location = made.definitions.location(
        f"stream of {name}", type=LocationType.ACCELERATOR_STREAM, group=group
    )
    writer = made._writer.event_writer_from_location(location)
    kernel = made.region("kernel", paradigm=Paradigm.CUDA)
    writer.enter(6, kernel)
    writer.leave(8, kernel)
    return group


def test_an_accelerator_belongs_to_the_process_that_made_it(place):
    with archive(place, 2, 2) as made:
        node = list(made.definitions.system_tree_nodes)[1]
        for rank in (1, 0):
            process = made.locations[rank][0].group
            stream(made, f"GPU {rank}", node=node, creator=process)
            made.thread(rank).region("MPI_Barrier", 5, 9)
            made.thread(rank, 1)
    trace = read(place)

    assert rows(trace.locations, "process", "rank", "thread", "kind", "name") == [
        (0, 0, 0, "cpu", "MPI Rank 0, thread 0"),
        (0, 0, 1, "cpu", "MPI Rank 0, thread 1"),
        (0, 0, 2, "gpu_stream", "GPU 0, stream of GPU 0"),
        (1, 1, 0, "cpu", "MPI Rank 1, thread 0"),
        (1, 1, 1, "cpu", "MPI Rank 1, thread 1"),
        (1, 1, 2, "gpu_stream", "GPU 1, stream of GPU 1"),
    ]
    assert trace.metadata["ranks"] == "2"
    assert "accelerator_without_process" not in dict(rows(trace.defects, "kind", "count"))


def test_an_accelerator_of_an_accelerator_belongs_to_the_process_behind_both(place):
    with archive(place, 2) as made:
        node = list(made.definitions.system_tree_nodes)[1]
        outer = stream(made, "GPU", node=node, creator=made.locations[1][0].group)
        stream(made, "part", node=node, creator=outer)
        for rank in range(2):
            made.thread(rank).region("MPI_Barrier", 5, 9)

    assert rows(read(place).locations, "rank", "thread") == [(0, 0), (1, 0), (1, 1), (1, 2)]


def test_an_accelerator_of_nobody_is_no_rank_and_is_told(place):
    with archive(place, 2) as made:
        node = made.definitions.system_tree_node(
            "n2", class_name="node", parent=next(iter(made.definitions.system_tree_nodes))
        )
        stream(made, "GPU", node=node)
        for rank in range(2):
            made.thread(rank).region("MPI_Barrier", 5, 9)
    trace = read(place)

    assert cells(trace.locations, "rank kind node") == "0 cpu n1 | 0 gpu_stream n2 | 1 cpu n1"
    assert ("accelerator_without_process", "loss", 1) in defects(trace)
    assert trace.metadata["ranks"] == "2"


@pytest.mark.parametrize(
    ("kind", "values", "told"),
    [
        (Type.DOUBLE, (1.0, float("nan"), float("inf"), -float("inf")), "metric_not_finite"),
        (Type.DOUBLE, (1.0, 1e300, -1e19), "metric_too_large"),
        (Type.UINT64, (1, 2**63, 2**64 - 1), "metric_too_large"),
        (Type.INT64, (1, -(2**63), -(2**63)), "metric_too_large"),
    ],
)
def test_values_of_metrics_that_are_no_numbers_or_too_large_are_counted(
    place, kind, values, told
):
    with archive(place) as made:
        metric = made.metric("n", MetricMode.ABSOLUTE_POINT, kind)
        writer = made.begin().thread(0).writer
        for time, value in enumerate((*values, values[0])):
            writer.metric(10 + time, metric, [value])
    trace = read(place)

    lost = len(values) - 1
    assert trace.readings["n"].to_pylist() == [1, *[None] * lost, 1]
    assert defects(trace) == [(told, "loss", lost)]


@pytest.mark.parametrize("resolution", [2**63, 2**64 - 1])
def test_a_clock_of_any_speed_is_read(place, resolution):
    with archive(place, resolution=resolution) as made:
        made.begin().thread(0).region("f", 2**40, 2**62)
    trace = read(place)

    assert rows(trace.regions, "enter_ns", "leave_ns") == [
        (2**40 * 10**9 // resolution, 2**62 * 10**9 // resolution)
    ]
    assert trace.metadata["clock"] == f"{resolution} ticks a second"


def contexts(made, *chain):
    """Define a chain of calling contexts; each is a name and the line in it, or no line."""
    place, found = made.definitions, []
    for name, line in chain:
        where = None if line is None else place.source_code_location(f"{name}.c", line)
        parent = found[-1] if found else None
        found.append(
            place.calling_context(made.region(name), source_code_location=where, parent=parent)
        )
    return found


def test_the_path_of_a_calling_context_is_all_of_its_parents_with_their_lines(place):
    with archive(place) as made:
        writer = made.begin().thread(0).writer
        main, _, _, call = contexts(
            made, ("main", 12), ("sub", 7), ("deep", None), ("MPI_Send", 3)
        )
        writer.calling_context_enter(1, main, 1)
        writer.calling_context_enter(10, call, 3)
        writer.calling_context_leave(20, call)
        writer.calling_context_leave(30, main)
    trace = read(place)

    assert cells(trace.call_paths, "parent function file line") == (
        "- main main.c 12 | 0 sub sub.c 7 | 1 deep - -"
    )
    assert rows(trace.calls, "operation", "call_path") == [("MPI_Send", 2)]
    assert rows(trace.regions, "enter_ns", "leave_ns", "call_path") == [(1, 30, 0)]


def test_calls_from_two_lines_of_a_function_have_two_paths(place):
    with archive(place) as made:
        writer = made.begin().thread(0).writer
        first, one = contexts(made, ("main", 12), ("MPI_Send", None))
        _, other = contexts(made, ("main", 20), ("MPI_Send", None))
        writer.calling_context_enter(1, first, 1)
        for time, called in ((10, one), (20, other), (30, one)):
            writer.calling_context_enter(time, called, 1)
            writer.calling_context_leave(time + 5, called)
        writer.calling_context_leave(40, first)
    trace = read(place)

    assert cells(trace.call_paths, "parent function line") == "- main 12 | - main 20"
    assert trace.calls["call_path"].to_pylist() == [0, 1, 0]


def test_a_context_without_parents_hangs_below_what_is_open(place):
    with archive(place) as made:
        writer = made.begin().thread(0).writer
        (inner,) = contexts(made, ("inner", 3))
        writer.enter(1, made.region("main"))
        writer.calling_context_enter(2, inner, 1)
        made.thread(0).region("MPI_Send", 3, 4)
        writer.calling_context_leave(5, inner)
        writer.leave(6, made.region("main"))
    trace = read(place)

    assert rows(trace.call_paths, "parent", "function") == [(None, "main"), (0, "inner")]
    assert trace.calls["call_path"].to_pylist() == [1]


def test_regions_and_contexts_without_a_definition_are_one_unknown_region(place):
    with archive(place) as made:
        writer, lost = made.begin().thread(0).writer, copy(made.region("f"))
        lost._ref = 77
        context = made.definitions.calling_context(lost, None, None)
        writer.enter(1, lost)
        writer.leave(2, lost)
        writer.calling_context_enter(3, context, 1)
        writer.calling_context_leave(4, context)
    trace = read(place)

    assert rows(trace.call_paths, "parent", "function") == [(None, "unknown region")]
    assert rows(trace.regions, "enter_ns", "region", "call_path") == [(1, 0, 0), (3, 0, 0)]


def test_contexts_that_are_each_others_parents_end():
    defined = ArchiveDefinitions(
        texts={0: "f"},
        regions={5: Region(0, 0, 1, 1, NOWHERE, 0, 0)},
        contexts={1: (5, NOWHERE, 2), 2: (6, NOWHERE, 1)},
    )
    regions = ArchiveRegions(defined)
    first, second = regions.contexts[2].tolist()

    assert regions.chain(first) == [(regions.unknown_row, NOWHERE), (0, NOWHERE)]
    assert regions.chain(second) == [(0, NOWHERE), (regions.unknown_row, NOWHERE)]
