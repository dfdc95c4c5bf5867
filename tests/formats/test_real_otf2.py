"""Real OTF2 archives hold what ``otf2-print`` says of them."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

import burstline
from burstline.formats.otf2 import find_anchor
from burstline.formats.otf2.reading.events import read_events
from burstline.formats.otf2.reading.trace import ArchiveSource
from burstline.model import init_finalize, schema
from oracles import otf2_print

SCOREP = ["scorep_toy4", "scorep_lulesh_8r_s10_i30", "scorep_hybrid_2x3"]
EVERY = [*SCOREP, "synth8x200", "eztrace_toy4"]


@pytest.fixture(params=EVERY)
def folder(request, otf2_traces):
    return otf2_traces / request.param


@pytest.fixture(params=[*SCOREP, "synth8x200"])
def sound(request, otf2_traces):
    return otf2_traces / request.param


@pytest.fixture
def otf2_traces(real_traces):
    return real_traces / "otf2"


def nanoseconds(source):
    resolution, offset, _ = source.basis.archive.defined.clock
    return lambda ticks: (ticks - offset) * 1_000_000_000 // resolution


def snake(kind):
    return "".join(f"_{c}" if c.isupper() else c.upper() for c in kind).lstrip("_")


def references(source):
    return source.basis.standing.references.tolist()


def test_every_archive_reads_and_keeps_the_schema(folder):
    trace = burstline.read(folder)

    for name in schema.TABLES:
        schema.check(name, trace.table(name))
    assert trace.calls.num_rows


@pytest.mark.usefixtures("otf2_print_tool")
def test_there_are_as_many_events_of_each_kind_as_otf2_print_says(folder):
    source = ArchiveSource(find_anchor(folder))
    events = read_events(source.basis, range(len(references(source))))

    expected = otf2_print.printed(find_anchor(folder)).kinds
    assert {snake(kind): count for kind, count in events.kinds.items()} == expected


@pytest.mark.usefixtures("otf2_print_tool")
def test_calls_and_regions_are_those_of_a_stack(sound):
    trace, source = burstline.read(sound), ArchiveSource(find_anchor(sound))
    ns = nanoseconds(source)
    names = trace.region_defs["name"].to_pylist()
    rows = [
        (row["location"], row["enter_seq"], row["operation"], row["enter_ns"], row["leave_ns"])
        for row in trace.calls.to_pylist()
    ] + [
        (row["location"], row["enter_seq"], name, row["enter_ns"], row["leave_ns"])
        for row in trace.regions.to_pylist()
        if (name := names[row["region"]]) != "team"
    ]
    found = otf2_print.printed(find_anchor(sound))
    for location, reference in enumerate(references(source)):
        mine = sorted(row[1:] for row in rows if row[0] == location)
        expected = [
            (name, ns(enter), ns(leave))
            for name, enter, leave in otf2_print.spans(found.events[reference])
        ]
        assert [row[1:] for row in mine] == expected


@pytest.mark.usefixtures("otf2_print_tool")
def test_messages_are_those_of_queues(sound):
    trace, source = burstline.read(sound), ArchiveSource(find_anchor(sound))
    ns = nanoseconds(source)
    order = [
        reference
        for reference, thread in zip(
            references(source), source.basis.standing.thread.tolist(), strict=True
        )
        if thread == 0
    ]
    rank = np.array(trace.locations["rank"])
    expected = [
        (sender, receiver, tag, size, ns(sent), ns(received))
        for sender, receiver, tag, size, sent, received in otf2_print.messages(
            otf2_print.printed(find_anchor(sound)), order
        )
    ]
    names = ("tag", "sent_bytes", "send_ns", "receive_ns")
    assert expected == sorted(
        (
            *(rank[row[f"{side}_location"]] for side in ("sender", "receiver")),
            *(row[name] for name in names),
        )
        for row in trace.messages.to_pylist()
    )
    assert not trace.defects.num_rows


@pytest.mark.usefixtures("otf2_print_tool")
def test_collectives_have_the_stamps_of_their_begins_and_ends(sound):
    trace, source = burstline.read(sound), ArchiveSource(find_anchor(sound))
    ns = nanoseconds(source)
    found = otf2_print.printed(find_anchor(sound))
    members = trace.collective_members.to_pylist()
    for location, reference in enumerate(references(source)):
        expected = [
            (ns(begin), ns(end))
            for _, _, begin, end in otf2_print.collectives(found.events[reference])
        ]
        if sound.name in SCOREP:  # its own, in MPI_Init and MPI_Finalize
            expected = expected[1:-1]
        assert expected == sorted(
            (row["begin_ns"], row["end_ns"]) for row in members if row["location"] == location
        )


@pytest.mark.usefixtures("otf2_print_tool")
def test_readings_are_the_differences_of_what_is_printed(otf2_traces):
    folder = otf2_traces / "scorep_hybrid_2x3"
    trace, source = burstline.read(folder), ArchiveSource(find_anchor(folder))
    ns = nanoseconds(source)
    found = otf2_print.printed(find_anchor(folder))
    for location, reference in enumerate(references(source)):
        mine = [row for row in trace.readings.to_pylist() if row["location"] == location]
        expected = otf2_print.readings(found.events[reference])
        assert [row["time_ns"] for row in mine] == [ns(ticks) for ticks, _ in expected]
        for name in ("ru_minflt", "ru_nvcsw"):
            sums = np.cumsum([row[name] for row in mine]).tolist()
            assert sums == [values[name] for _, values in expected]


@pytest.mark.usefixtures("otf2_print_tool")
def test_the_hybrid_program_has_its_teams_locks_and_iterations(otf2_traces):
    folder = otf2_traces / "scorep_hybrid_2x3"
    trace, source = burstline.read(folder), ArchiveSource(find_anchor(folder))
    ns = nanoseconds(source)
    found = otf2_print.printed(find_anchor(folder))

    assert trace.teams["threads"].to_pylist() == [3] * 10
    roles = trace.region_defs["role"].to_pylist()
    names = Counter(roles[row] for row in trace.regions["region"].to_pylist())
    assert (names["team"], names["parallel"], names["loop"]) == (30, 30, 30)
    teams = Counter(
        row["team"] for row in trace.regions.to_pylist() if roles[row["region"]] == "parallel"
    )
    assert teams == dict.fromkeys(range(10), 3)
    for location, reference in enumerate(references(source)):
        mine = [row for row in trace.locks.to_pylist() if row["location"] == location]
        assert [
            (row["lock"], row["order"], row["acquire_ns"], row["release_ns"]) for row in mine
        ] == [
            (lock, order, ns(taken), ns(let))
            for lock, order, taken, let in otf2_print.locks(found.events[reference])
        ]


def test_threads_of_a_team_share_the_paths_below_the_fork(otf2_traces):
    trace = burstline.read(otf2_traces / "scorep_hybrid_2x3")
    roles = trace.region_defs["role"].to_pylist()
    paths = {
        role: {
            row["call_path"]
            for row in trace.regions.to_pylist()
            if roles[row["region"]] == role
        }
        for role in ("parallel", "loop", "critical")
    }
    assert {len(found) for found in paths.values()} == {1}


def test_collectives_of_the_recorder_are_none_of_the_program(otf2_traces):
    for name in SCOREP:
        trace = burstline.read(otf2_traces / name)
        ends = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize"}
        sequence, communicator = trace.arrays("collectives", "sequence", "communicator")

        assert not ends & set(trace.collectives["operation"].to_pylist())
        assert sequence[communicator == 0].tolist() == [*range(np.sum(communicator == 0))]
        found = init_finalize(trace)
        assert found.is_finalize.tolist() == [False, True]
        assert found.complete.all()
        rows = trace.offsets("calls")[found.location] + found.call
        operations = trace.calls["operation"].take(rows).to_pylist()
        half = len(rows) // 2
        assert set(operations[:half]) <= {"MPI_Init", "MPI_Init_thread"}
        assert set(operations[half:]) == {"MPI_Finalize"}


def test_the_synthetic_run_is_the_same_as_otf2_and_as_paraver(otf2_traces):
    folder = otf2_traces / "synth8x200"
    one, other = burstline.read(folder), burstline.read(folder / "synth8x200.prv.gz")

    def calls(trace):
        return [
            (row["location"], row["operation"], row["enter_ns"], row["leave_ns"])
            for row in trace.calls.to_pylist()
            if row["operation"] not in ("MPI_Init", "MPI_Finalize")
        ]

    def messages(trace):
        names = ("sender_location", "receiver_location", "tag", "sent_bytes", "send_ns")
        return sorted(tuple(row[name] for name in names) for row in trace.messages.to_pylist())

    assert calls(one) == calls(other)
    assert messages(one) == messages(other)
    for column in ("operation", "sequence", "complete"):
        assert one.collectives[column].to_pylist() == other.collectives[column].to_pylist()
    for column in ("collective", "location", "comm_rank"):
        left, right = (trace.collective_members[column].to_pylist() for trace in (one, other))
        assert left == right


def test_its_maker_wrote_the_number_of_the_operation_where_the_bytes_sent_belong(otf2_traces):
    folder = otf2_traces / "synth8x200"
    one, other = burstline.read(folder), burstline.read(folder / "synth8x200.prv.gz")
    values = {kind: set() for kind in range(50100001, 50100004)}
    for row in other.events.to_pylist():
        if row["type"] in values:
            values[row["type"]].add(row["value"])
    told = [trace.collective_members for trace in (one, other)]
    allreduce, size = 10, 8

    assert values == {50100001: {allreduce}, 50100002: {size}, 50100003: {size}}
    assert [set(table["sent_bytes"].to_pylist()) for table in told] == [{size}, {allreduce}]
    assert [set(table["received_bytes"].to_pylist()) for table in told] == [{size}, {size}]


def test_time_in_calls_of_the_synthetic_run_is_what_its_maker_wrote_down(otf2_traces):
    folder = otf2_traces / "synth8x200"
    trace = burstline.read(folder)

    inside = Counter()
    for row in trace.calls.to_pylist():
        if row["operation"] not in ("MPI_Init", "MPI_Finalize"):
            inside[row["location"]] += row["leave_ns"] - row["enter_ns"]
    truth = (folder / "synth8x200.truth.txt").read_text(encoding="utf-8")
    told = re.findall(r"rank (\d+) .* mpi_ns (\d+)", truth)
    assert {int(rank): int(ns) for rank, ns in told} == inside


def test_what_eztrace_leaves_out_is_said(otf2_traces):
    trace = burstline.read(otf2_traces / "eztrace_toy4")

    kinds = zip(*(trace.defects[name].to_pylist() for name in ("kind", "count")), strict=True)
    odd = {"receive_never_completed": 40, "defined_twice": 1, "unmatched_send": 40}
    assert odd.items() <= dict(kinds).items()
    assert trace.calls.num_rows == 328


def test_time_steps_are_a_loop_of_a_program_without_call_paths(otf2_traces):
    trace = burstline.read(otf2_traces / "scorep_lulesh_8r_s10_i30")

    found = burstline.structure.detect(trace, method="exact")

    assert 30 in [loop.iterations for loop in found.loops if loop.parent is None]
