"""What an archive says beside calls, regions and messages is kept, and written again."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from otf2.enums import Paradigm, ParameterType, Type

import burstline
from burstline import Trace, _core
from burstline.formats.derivation.records import with_records
from burstline.formats.intake.defects import Defects
from burstline.formats.otf2.reading.archive import (
    Archive,
    ArchiveDefinitions,
    Location,
    LocationGroup,
)
from burstline.formats.otf2.reading.basis import ArchiveBasis
from burstline.formats.otf2.reading.details import EventRecords
from burstline.formats.otf2.reading.threads import other_event_table
from burstline.formats.text import parse
from burstline.model import schema
from burstline.testing import assert_same_trace, trace_of
from otf2_archives import archive
from table_cells import cells
from text_form import render

VALUES = {
    Type.UINT8: 255, Type.INT16: -7, Type.UINT64: 2**64 - 1, Type.INT64: -(2**62),
    Type.FLOAT: 0.5, Type.DOUBLE: -1e300, Type.STRING: "a word",
}  # fmt: skip
EVENT = re.compile(r"^([A-Z][A-Z_]+) +(\d+) +(\d+) *(.*(?:\n +ADDITIONAL.*)?)", re.MULTILINE)


def printed(anchor):
    done = subprocess.run(
        ["otf2-print", str(anchor)], capture_output=True, text=True, check=True
    )
    return [
        (kind, int(location), re.sub(r" <\d+>", "", rest))
        for kind, location, _, rest in EVENT.findall(done.stdout)
    ]


def rewritten(place, tmp_path):
    """Read an archive, write it; give what both print."""
    burstline.write(burstline.read(place), tmp_path / "again.otf2")
    return printed(place / "traces.otf2"), printed(tmp_path / "again.otf2")


@pytest.mark.usefixtures("otf2_print_tool")
def test_a_program_and_its_threads_are_told_again(place, tmp_path):
    with archive(place) as made:
        thread = made.thread(0)
        thread.writer.program_begin(1, "/bin/run", ["-n", "two words"])
        thread.writer.thread_create(2, made.world, 7)
        thread.writer.comm_create(3, made.world)
        thread.region("MPI_Barrier", 4, 5)
        thread.writer.comm_destroy(6, made.world)
        thread.writer.thread_wait(7, made.world, 7)
        thread.writer.program_end(8, -3)

    kinds = burstline.read(place).other_events
    assert cells(kinds, "kind") == (
        "program_begin | thread_created | communicator_created | communicator_destroyed | "
        "thread_awaited | program_end"
    )
    assert kinds["text"].to_pylist()[0] == "-n 'two words'"
    assert kinds["value"].to_pylist() == [None, 7, None, None, 7, -3]
    source, copy = rewritten(place, tmp_path)
    contingent = re.compile("Contingent: [^,]*")
    assert [contingent.sub("", str(event)) for event in copy] == [
        contingent.sub("", str(event)) for event in source
    ]


@pytest.mark.usefixtures("otf2_print_tool")
@pytest.mark.parametrize("kind", VALUES, ids=str)
def test_an_attribute_comes_back_with_its_event(place, tmp_path, kind):
    with archive(place) as made:
        attribute = made.definitions.attribute("note", type=kind)
        thread = made.thread(0)
        metric = made.metric("m")
        thread.writer.metric(5, metric, 3)
        region = made.region("solve")
        thread.writer.enter(5, region, attributes={attribute: VALUES[kind]})
        thread.writer.leave(9, region)

    trace = burstline.read(place)
    (row,) = trace.other_events.to_pylist()
    assert (row["kind"], row["name"]) == ("attribute", "note")
    assert row["seq"] == trace.regions["enter_seq"].to_pylist()[0]
    source, copy = rewritten(place, tmp_path)
    assert "ADDITIONAL" in source[1][2]
    assert copy == source


@pytest.mark.usefixtures("otf2_print_tool")
def test_tasks_are_told_again(place, tmp_path):
    with archive(place, threads=2) as made:
        team = made.team(0)
        for number in range(2):
            thread = made.thread(0, number)
            if number == 0:
                thread.writer.thread_fork(1, Paradigm.OPENMP, 2)
            thread.writer.thread_team_begin(2, team)
            thread.writer.thread_task_create(3, team, number, 1)
            thread.writer.thread_task_switch(4, team, number, 1)
            thread.region("task", 5, 6)
            thread.writer.thread_task_complete(7, team, number, 1)
            thread.writer.thread_task_switch(8, team, number, 0)
            thread.writer.thread_team_end(9, team)
            if number == 0:
                thread.writer.thread_join(10, Paradigm.OPENMP)

    source, copy = rewritten(place, tmp_path)

    def without_names(events):
        names = re.compile('"[^"]*"|OPENMP')
        return [(kind, names.sub("", rest)) for kind, _, rest in events]

    assert without_names(copy) == without_names(source)
    assert [kind for kind, *_ in copy].count("THREAD_TASK_SWITCH") == 4


@pytest.mark.usefixtures("otf2_print_tool")
def test_a_parameter_without_sign_is_told_without(place, tmp_path):
    with archive(place) as made:
        number = made.definitions.parameter("n", parameter_type=ParameterType.UINT64)
        made.thread(0).region("f", 0, 2, ("parameter_unsigned_int", 1, number, 2**64 - 1))

    source, copy = rewritten(place, tmp_path)

    assert copy == source


def test_names_and_texts_are_labels_of_a_paraver_trace():
    trace = with_records(
        trace_of(
            "ranks 1\n0 | 0 enter f\n"
            " | 1 tell parameter name solver type string text cg\n"
            " | 2 tell parameter name solver type string text amg\n"
            " | 3 tell parameter name size type int64 value 9\n"
            " | 4 tell program_end value 1\n"
            " | 5 leave\n"
        )
    )
    types = {row["type"]: row for row in trace.event_types.to_pylist()}
    labels = {
        (row["group"], row["value"]): row["label"] for row in trace.event_values.to_pylist()
    }

    told = [
        (row["time_ns"], types[row["type"]]["label"], row["value"])
        for row in trace.events.to_pylist()
        if row["type"] >= 78_000_000
    ]

    assert told == [(1, "solver", 2), (2, "solver", 1), (3, "size", 9)]
    solver = next(row["group"] for row in types.values() if row["label"] == "solver")
    assert labels[solver, 2] == "cg"


def test_parameters_without_a_name_are_others_than_those_with_an_empty_one():
    trace = with_records(
        trace_of(
            "ranks 1\n0 | 0 enter f\n"
            ' | 1 tell parameter name "" type int64 value 3\n'
            " | 2 tell parameter type int64 value 4\n"
            " | 3 tell attribute name a type string text x | 3 leave\n"
        )
    )
    told = [(row["type"], row["value"]) for row in trace.events.to_pylist()]

    ours = [row for row in told if row[0] >= 78_000_000]
    assert ours == [(78_000_001, 3), (78_000_000, 4), (78_500_000, 1)]


def test_attributes_of_one_event_stay_in_their_order():
    trace = trace_of(
        "ranks 1\n0 | 0 tell attribute name b type int8 value 1\n"
        " | 0 tell attribute name a type int8 value 2 | 0 enter f | 1 leave"
    )

    again = parse(render(trace))

    assert again.other_events["name"].to_pylist() == ["b", "a"]
    assert_same_trace(again, trace)


def test_what_refers_to_nothing_is_left_out_of_an_archive(tmp_path):
    trace = trace_of(
        "ranks 1\n0 | 0 tell communicator_created comm 0\n"
        " | 1 tell attribute name l type location value 0\n"
        " | 1 tell attribute name c type communicator comm 0\n"
        " | 1 tell attribute name n type uint8 value 5"
        " | 1 tell attribute name m type none value 6 | 1 enter f | 2 leave"
    )
    told = trace.other_events
    for name, values in (
        ("communicator", [9, None, 9, None, None]),
        ("value", [None, 9, None, 5, 6]),
    ):
        at = told.schema.get_field_index(name)
        column = pa.array(values, told.schema.field(at).type)
        told = told.set_column(at, told.schema.field(at), column)
    tables = {name: trace.table(name) for name in schema.TABLES if name in trace}

    burstline.write(Trace(tables | {"other_events": told}), tmp_path / "run.otf2")

    assert (
        cells(burstline.read(tmp_path / "run.otf2").other_events, "name value") == "n 5 | m 6"
    )


def test_many_threads_and_programs_come_back_as_they_were(tmp_path):
    trace = trace_of(
        "ranks 1\n0 | 0 tell program_begin name a text \"-n 'x y'\"\n"
        " | 1 tell program_begin name b | 2 tell thread_created value 7\n"
        " | 3 tell program_begin name a text z | 4 tell task_created value 4294967298\n"
        " | 5 tell program_end value -2 | 6 tell program_end"
    )

    burstline.write(trace, tmp_path / "run.otf2")

    assert_same_trace(burstline.read(tmp_path / "run.otf2"), trace, tables=["other_events"])


def test_an_attribute_of_a_type_that_is_not_known_has_none():
    defined = ArchiveDefinitions(
        locations={3: Location(0, 1, 0, 0)}, location_groups={0: LocationGroup(0, 1, 0)}
    )
    basis = ArchiveBasis.of(Archive(Path("run.otf2"), "", defined), Defects())
    columns = {column: np.zeros(2, np.int64) for column in _core.otf2_record_fields().values()}
    columns |= {name: np.arange(2) for name in ("seq", "time_ns")}
    columns |= {"location": np.zeros(2, np.int32), "call": np.full(2, -1)}
    records = EventRecords(columns | {"kind": np.full(2, _core.RecordKind.ATTRIBUTE, np.int32)})
    records["type"][:] = [200, schema.VALUE_TYPES.index("location")]
    records["value"][:] = [7, 3]

    table = other_event_table(records, basis)

    assert cells(table, "type value") == "- 7 | location 0"
