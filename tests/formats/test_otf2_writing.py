"""A trace written as an OTF2 archive says the same events, to other tools and to us."""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict

import otf2
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from otf2.definitions import Location
from otf2.enums import ParameterType

import burstline
from burstline.cli import main
from burstline.errors import MissingExtraError, NotEnoughDataError, ParameterError
from burstline.formats import store
from burstline.formats.otf2.library import VARIABLE
from burstline.formats.otf2.writing import archive as writing
from burstline.formats.otf2.writing.definitions import WrittenDefinitions
from burstline.model import overlaid
from burstline.testing import assert_same_trace, trace_of
from effort import examples
from otf2_archives import archive
from paraver_text import write_example
from random_traces import traces
from table_cells import cells

ARCHIVES = [
    "scorep_toy4/traces.otf2",
    "scorep_lulesh_8r_s10_i30/traces.otf2",
    "scorep_hybrid_2x3/traces.otf2",
    "synth8x200/traces.otf2",
]
EVENT = re.compile(r"([A-Z][A-Z_]+) +(\d+) +(\d+) *(.*(?:\n +ADDITIONAL.*)?)")
CLOCK = re.compile(r"Ticks per Seconds: (\d+), Global Offset: (\d+)")
STORY = """
ranks 3 threads 2 2 1
communicator 1 members 2 0 kind group
counter PAPI_TOT_INS unit "" mode delta type 42000050
counter heat unit "10^-3 K" mode absolute type 42000051
region "!$omp for" paradigm openmp role loop file a.c begin 3 end 9
region solve paradigm user role function
0 | 0 enter MPI_Init | 10 leave
  | 20 enter solve PAPI_TOT_INS=5 heat=300 | 30 enter MPI_Isend PAPI_TOT_INS=7
  | 32 send to 2 tag 9 bytes 64 comm 1 request 5 | 40 leave
  | 41 enter MPI_Wait | 44 sent request 5 | 45 leave | 50 leave solve heat=280
  | 60 enter MPI_Bcast | 60 begin | 65 end root 0 sent 8 | 66 leave
  | 70 fork 2 | 71 team begin 1 | 72 enter "!$omp for" | 75 acquire 4 order 1 | 76 release 4
  | 80 leave | 81 team end 1 | 82 join | 90 enter MPI_Finalize | 95 leave
0.1 | 71 team begin 1 | 73 enter "!$omp for" | 79 leave | 80 team end 1 | 85..87 gap flush
1 | 0 enter MPI_Init | 10 leave
  | 60 enter MPI_Bcast | 60 begin | 67 end root 0 received 8 | 68 leave
  | 70 enter MPI_Ibarrier | 70 begin request 1 | 71 leave
  | 75 enter MPI_Wait | 79 end request 1 | 80 leave | 90 enter MPI_Finalize | 95 leave
2 | 0 enter MPI_Init | 10 leave | 20 enter MPI_Irecv | 22 post request 3 | 25 leave
  | 30 enter MPI_Wait | 44 receive from 0 tag 9 bytes 64 comm 1 request 3 | 45 leave
  | 60 enter MPI_Bcast | 60 begin | 67 end root 0 received 8 | 68 leave
  | 90 enter MPI_Finalize | 95 leave
"""
PRINTED = {
    0: """ENTER "MPI_Init" | LEAVE "MPI_Init"
METRIC | ENTER "solve" | METRIC | ENTER "MPI_Isend"
MPI_ISEND Receiver: 0, "communicator 1", Tag: 9, Length: 64, Request: 5
LEAVE "MPI_Isend" | ENTER "MPI_Wait" | MPI_ISEND_COMPLETE Request: 5 | LEAVE "MPI_Wait"
METRIC | LEAVE "solve" | ENTER "MPI_Bcast" | MPI_COLLECTIVE_BEGIN
MPI_COLLECTIVE_END Operation: BCAST, "MPI_COMM_WORLD", Root: 0, Sent: 8, Received: 0
LEAVE "MPI_Bcast" | THREAD_FORK "OpenMP", # Requested Threads: 2 | THREAD_TEAM_BEGIN ""
ENTER "!$omp for" | THREAD_ACQUIRE_LOCK "OpenMP", Lock: 4, Acquisition Order: 1
THREAD_RELEASE_LOCK "OpenMP", Lock: 4, Acquisition Order: 1
LEAVE "!$omp for" | THREAD_TEAM_END "" | THREAD_JOIN "OpenMP"
ENTER "MPI_Finalize" | LEAVE "MPI_Finalize\"""",
    2: """ENTER "MPI_Init" | LEAVE "MPI_Init" | ENTER "MPI_Irecv" | MPI_IRECV_REQUEST Request: 3
LEAVE "MPI_Irecv" | ENTER "MPI_Wait"
MPI_IRECV Sender: 1, "communicator 1", Tag: 9, Length: 64, Request: 3
LEAVE "MPI_Wait" | ENTER "MPI_Bcast" | MPI_COLLECTIVE_BEGIN
MPI_COLLECTIVE_END Operation: BCAST, "MPI_COMM_WORLD", Root: 0, Sent: 0, Received: 8
LEAVE "MPI_Bcast" | ENTER "MPI_Finalize" | LEAVE "MPI_Finalize\"""",
}


def shown(anchor, *options):
    done = subprocess.run(
        ["otf2-print", *options, str(anchor)], capture_output=True, text=True, check=True
    )
    return done.stdout


def events(anchor):
    """Kind, ns since the first tick, and the rest, of every event by location, in order.

    References are left out: a writer chooses its own.
    """
    ticks, offset = map(int, CLOCK.search(shown(anchor, "-G")).groups())
    found = defaultdict(list)
    for kind, location, time, rest in EVENT.findall(shown(anchor)):
        ns = (int(time) - offset) * 1_000_000_000 // ticks
        told = re.sub(r" <\d+>", "", rest)
        found[int(location)].append((kind, ns, told))
    return [found[location] for location in sorted(found)]


def without_the_recorders(found):
    """Leave out collectives in MPI_Init and MPI_Finalize: the recorder's own."""
    left, is_inside = [], False
    for event in found:
        if re.search(r'"MPI_(Init|Init_thread|Finalize)"', event[2]):
            is_inside = event[0] == "ENTER"
        if not (is_inside and event[0].startswith("MPI_COLLECTIVE")):
            left.append(event)
    return left


def written(trace, folder):
    burstline.write(trace, folder / "traces.otf2")
    return folder / "traces.otf2"


def words(kind, rest):
    """Say an event as otf2-print does, without what is the same in all of a kind."""
    noise = r"(?:Region|Model|Thread Team): | \(\"[^\"]*\"\)"
    told = "" if kind == "METRIC" else re.sub(noise, "", rest)
    return f"{kind} {told.replace('Communicator: ', '')}".strip()


@pytest.mark.usefixtures("otf2_print_tool")
@pytest.mark.parametrize("archive", ARCHIVES)
def test_an_archive_read_and_written_prints_the_same_events(tmp_path, real_traces, archive):
    source = real_traces / "otf2" / archive

    copy = written(burstline.read(source), tmp_path)

    expected = [without_the_recorders(found) for found in events(source)]
    assert events(copy) == expected
    assert sum(map(len, expected)) > 1_000


@pytest.mark.usefixtures("otf2_print_tool")
def test_messages_without_another_side_are_written_again(tmp_path, real_traces):
    source = real_traces / "otf2/eztrace_toy4/toy_trace/eztrace_log.otf2"

    copies, expected = events(written(burstline.read(source), tmp_path)), events(source)

    assert copies[0] == expected[0]
    # On the other ranks "Working" is left before "EZTrace finalize", which it is around.
    crossing = [-3, -2, -1]
    for copy, original in zip(copies[1:], expected[1:], strict=True):
        assert copy[: crossing[0]] == original[: crossing[0]]
        told, known = ([events[k][0] for k in crossing] for events in (copy, original))
        assert sorted(told) == sorted(known)


@pytest.mark.usefixtures("otf2_print_tool")
def test_what_is_written_is_what_happened(tmp_path):
    found = events(written(trace_of(STORY), tmp_path))

    for reference, printed in PRINTED.items():
        plain = [words(kind, rest) for kind, _, rest in found[reference]]
        assert plain == [part.strip() for part in printed.replace("\n", "|").split("|")]
    assert [event[0] for event in found[1]].count("NON_BLOCKING_COLLECTIVE_REQUEST") == 1
    assert [(kind, ns) for kind, ns, _ in found[3]][-1] == ("BUFFER_FLUSH", 85)


def test_the_tables_come_back_up_to_the_limits_of_the_format(tmp_path):
    trace = trace_of(STORY)

    again = burstline.read(written(trace, tmp_path))

    for name in ("calls", "regions", "messages", "teams", "locks", "gaps", "collectives"):
        assert again.rows(name) == trace.rows(name), name
    same = {
        "calls": ("operation", "enter_ns", "leave_ns", "peer", "tag", "root"),
        "messages": ("send_ns", "receive_ns", "tag", "sent_bytes", "send_request"),
        "regions": ("location", "enter_ns", "leave_ns"),
        "collective_members": ("begin_ns", "end_ns", "sent_bytes", "received_bytes"),
        "locks": ("lock", "order", "acquire_ns", "release_ns"),
        "gaps": ("location", "start_ns", "end_ns", "kind"),
    }
    for name, columns in same.items():
        for column in columns:
            found, expected = (one.table(name)[column].to_pylist() for one in (again, trace))
            assert found == expected, (name, column)
    assert cells(again.readings, "heat PAPI_TOT_INS") == "300 5 | - 7 | 280 -"
    assert again.counters["unit"].to_pylist() == ["", "10^-3 K"]


@examples(0.4)
@given(st.data())
def test_an_archive_of_ours_is_read_and_written_as_itself(tmp_path_factory, data):
    trace = data.draw(traces())
    folder = tmp_path_factory.mktemp("archive")
    burstline.write(trace, folder / "one.otf2")
    one = burstline.read(folder / "one.otf2")

    burstline.write(one, folder / "two.otf2")

    two = burstline.read(folder / "two.otf2")
    assert one.calls.num_rows == trace.calls.num_rows
    assert one.messages.num_rows == trace.messages.num_rows
    varying = {"metadata", "defects", "region_defs", "communicators", "regions"}
    assert_same_trace(two, one, tables=set(burstline.model.schema.TABLES) - varying)
    assert two.regions.drop_columns(["region"]).equals(one.regions.drop_columns(["region"]))


@pytest.mark.parametrize(
    "told",
    [
        "READ | TELL | READ | TELL | READ | 0 enter MPI_Send | 0 leave",
        "TELL | READ | TELL | 0 enter MPI_Send | 0 leave",
    ],
)
def test_an_attribute_stays_with_its_reading(tmp_path, told):
    tell, read = "0 tell attribute name id type int32 value 7", "0 read cyc=1"
    told = told.replace("TELL", tell).replace("READ", read)
    trace = trace_of(f"ranks 1 | counter cyc | 0 | {told}")

    one = burstline.read(written(trace, tmp_path))
    burstline.write(one, tmp_path / "two.otf2")

    two = burstline.read(tmp_path / "two.otf2")
    for again in (one, two):
        for name in ("other_events", "readings"):
            rows, expected = (each.table(name)["seq"].to_pylist() for each in (again, trace))
            assert rows == expected, name
    assert two.other_events.equals(one.other_events)
    assert two.readings.equals(one.readings)


def test_the_last_attribute_of_a_name_is_written_and_times_before_0_are_moved(tmp_path):
    tell = "0 tell attribute name id type int32 value"
    trace = trace_of(f"ranks 1 | 0 | {tell} 7 | {tell} 8 | 0 enter MPI_Init | 5 leave")
    again = burstline.read(written(trace, tmp_path))
    assert again.other_events["value"].to_pylist() == [8]

    trace = trace_of("ranks 1\n0 | -50 enter MPI_Init | -10 leave | 5 enter f | 9 leave")
    burstline.write(trace, tmp_path / "early.otf2")
    again = burstline.read(tmp_path / "early.otf2")
    assert cells(again.calls, "enter_ns leave_ns") == "0 40"
    assert again.regions["leave_ns"].to_pylist() == [59]


def test_parameters_that_a_program_told_are_told_again(tmp_path):
    with archive(tmp_path / "run") as made:
        number = made.definitions.parameter("size", parameter_type=ParameterType.INT64)
        word = made.definitions.parameter("solver", parameter_type=ParameterType.STRING)
        thread = made.thread(0)
        thread.region("main", 0, None)
        thread.writer.parameter_int(5, number, 4096)
        thread.writer.parameter_string(6, word, "multigrid")
        thread.region("MPI_Barrier", 10, 20)
        thread.writer.leave(30, made.region("main"))
    trace = burstline.read(tmp_path / "run")

    again = burstline.read(written(trace, tmp_path))

    told = ("kind", "name", "type", "value", "text")
    rows = trace.other_events.select(told).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        ("parameter", "size", "int64", 4096, None),
        ("parameter", "solver", "string", None, "multigrid"),
    ]
    assert again.other_events.equals(trace.other_events)


def test_a_paraver_trace_gives_the_same_calls_and_messages(tmp_path, real_traces):
    trace = burstline.read(real_traces / "toy_waits_4.prv.gz", raw=False)

    again = burstline.read(written(trace, tmp_path))

    for column in ("location", "operation", "enter_ns", "leave_ns"):
        assert again.calls[column].to_pylist() == trace.calls[column].to_pylist(), column
    assert again.messages.num_rows == trace.messages.num_rows
    assert again.collectives.num_rows == trace.collectives.num_rows
    assert sum(again.messages["sent_bytes"].to_pylist()) == sum(
        trace.messages["sent_bytes"].to_pylist()
    )


@pytest.mark.usefixtures("otf2_print_tool")
def test_analysers_find_what_they_classify_by(tmp_path):
    definitions = shown(written(trace_of(STORY), tmp_path), "-G")

    regions = [line for line in definitions.splitlines() if 'Name: "MPI_Bcast"' in line]
    assert len(regions) == 1
    for word in ('File: "MPI"', "Begin: 0, End: 0", "Role: COLL_ONE2ALL"):
        assert word in regions[0]
    assert WrittenDefinitions(trace_of(STORY)).references == [0, 1 << 32, 1, 1 << 32 | 1, 2]
    of_one = trace_of(
        "ranks 1\ncommunicator 1 members 0 kind self\n"
        "0 | 0 enter MPI_Barrier | 0 begin | 5 end comm 1 | 6 leave"
    )
    burstline.write(of_one, tmp_path / "one.otf2")
    assert re.findall("Root: [^,]*", shown(tmp_path / "one.otf2")) == ["Root: NONE"]


def test_a_store_gives_the_same_archive_as_the_trace_in_memory(tmp_path):
    trace = trace_of(STORY)
    store.write(trace, tmp_path / "run.store")
    burstline.write(trace, tmp_path / "one.otf2")

    burstline.write(store.read(tmp_path / "run.store"), tmp_path / "two.otf2")

    for file in (tmp_path / "one").iterdir():
        assert (tmp_path / "two" / file.name).read_bytes() == file.read_bytes()


def test_an_archive_is_replaced_whole_and_a_foreign_folder_never(tmp_path):
    burstline.write(trace_of(STORY), tmp_path / "run.otf2")
    other = trace_of("ranks 1\n0 | 0 enter MPI_Init | 1 leave")
    burstline.write(other, tmp_path / "run.otf2", overwrite=True)

    assert [file.name for file in (tmp_path / "run").glob("*.evt")] == ["0.evt"]
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("years")
    with pytest.raises(ParameterError, match="no folder of an archive"):
        burstline.write(trace_of(STORY), tmp_path / "thesis.otf2", overwrite=True)
    assert (tmp_path / "thesis" / "chapter.tex").read_text() == "years"


def test_an_archive_that_cannot_be_finished_leaves_the_old_one(tmp_path, monkeypatch):
    anchor = written(trace_of(STORY), tmp_path)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}

    def broken(*_):
        raise OSError("no space")

    monkeypatch.setattr(writing.TraceEvents, "of", broken)
    with pytest.raises(OSError, match="no space"):
        burstline.write(trace_of(STORY), anchor, overwrite=True)

    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


@pytest.mark.parametrize("library", ["/nowhere/libotf2.so", "libc.so.6"])
def test_what_is_no_library_of_otf2_is_named(tmp_path, monkeypatch, library):
    monkeypatch.setenv(VARIABLE, library)

    with pytest.raises(MissingExtraError, match=re.escape(library)):
        burstline.write(trace_of(STORY), tmp_path / "run.otf2")

    assert not list(tmp_path.iterdir())


def test_convert_writes_it_and_asks_before_it_replaces_any_part(tmp_path):
    (tmp_path / "run.txt").write_text(STORY)
    arguments = ["convert", str(tmp_path / "run.txt"), str(tmp_path / "run.otf2")]
    (tmp_path / "run.def").write_text("kept")

    with pytest.raises(SystemExit):
        main(arguments)
    assert (tmp_path / "run.def").read_text() == "kept"
    main([*arguments, "--force"])

    assert burstline.read(tmp_path / "run.otf2").calls.num_rows == 15


@pytest.mark.parametrize("source", ["run.otf2", ""])
def test_an_archive_is_never_written_onto_itself(tmp_path, capsys, source):
    anchor = tmp_path / "run.otf2"
    burstline.write(trace_of(STORY), anchor)
    before = anchor.stat().st_mtime_ns

    with pytest.raises(SystemExit):
        main(["convert", str(tmp_path / source), "-o", str(anchor), "--force"])

    assert "belongs to the input" in capsys.readouterr().err
    assert anchor.stat().st_mtime_ns == before


def test_text_from_a_trace_is_text_in_the_archive_whatever_it_holds(tmp_path):
    hostile = json.dumps('a\0b\x1b[31m"\\\u20ac')
    trace = trace_of(
        f"ranks 1\nlocation 0 node {hostile}\nregion {hostile} paradigm user role function\n"
        f"0 | 0 enter {hostile} | 9 leave"
    )

    again = burstline.read(written(trace, tmp_path))

    kept = trace.region_defs["name"].to_pylist()[0]
    assert again.region_defs["name"].to_pylist() == [kept.replace("\0", "\ufffd")]
    assert again.locations["node"].to_pylist() == [kept.replace("\0", "\ufffd")]


@pytest.mark.usefixtures("otf2_print_tool")
def test_a_tag_is_written_with_all_its_bits(tmp_path):
    trace = trace_of(
        "ranks 2\n0 | 0 enter MPI_Send | 2 send to 1 tag 7 bytes 8 | 9 leave\n"
        "1 | 0 enter MPI_Recv | 5 receive from 0 tag 7 bytes 8 | 9 leave"
    )
    messages = trace.messages
    where = messages.column_names.index("tag")
    changed = messages.set_column(
        where, messages.schema.field(where), pa.array([-5], pa.int32())
    )

    place = written(overlaid(trace, {"messages": changed}), tmp_path)

    assert shown(place).count(f"Tag: {2**32 - 5},") == 2


def test_a_message_is_told_within_its_calls_wherever_its_moments_lie(tmp_path):
    trace = trace_of(
        "ranks 2\n0 | 10 enter MPI_Send | 12 send to 1 tag 7 bytes 8 | 19 leave\n"
        "  | 50 enter MPI_Barrier | 60 leave\n"
        "1 | 10 enter MPI_Recv | 15 receive from 0 tag 7 bytes 8 | 19 leave"
    )
    messages = trace.messages
    for name, moment in (("send_ns", 30), ("receive_ns", 40), ("post_ns", 1)):
        where = messages.column_names.index(name)
        moments = pa.array([moment], pa.int64())
        messages = messages.set_column(where, messages.schema.field(where), moments)

    again = burstline.read(written(overlaid(trace, {"messages": messages}), tmp_path))

    (message,) = again.messages.to_pylist()
    assert (message["send_ns"], message["receive_ns"]) == (19, 19)
    assert (message["send_call"], message["receive_call"]) == (0, 0)


def test_other_readers_know_the_members_of_communicators(tmp_path):
    place = written(trace_of(STORY), tmp_path)

    with otf2.reader.open(str(place)) as reader:
        groups = [group.members for group in reader.definitions.groups]

    assert all(isinstance(member, Location) for member in groups[0])
    assert len(groups[0]) == 3


@pytest.mark.parametrize("counters", [255, 256])
def test_more_counters_at_once_than_the_format_holds_are_refused(tmp_path, counters):
    named = "".join(f"counter C_{number}\n" for number in range(counters))
    values = " ".join(f"C_{number}={number}" for number in range(counters))
    trace = trace_of(f"ranks 1\n{named}0\n10 enter MPI_Barrier {values}\n20 leave {values}\n")

    if counters == 256:
        with pytest.raises(NotEnoughDataError, match=r"at most 255 counters .* and 256 are"):
            burstline.write(trace, tmp_path / "run.otf2")
        assert not list(tmp_path.iterdir())
    else:
        burstline.write(trace, tmp_path / "run.otf2")
        assert len(burstline.read(tmp_path / "run.otf2").counter_names) == 255


def test_a_paraver_trace_with_several_things_in_a_moment_gives_the_same_calls(tmp_path):
    trace = burstline.read(write_example(tmp_path), raw=False)

    burstline.write(trace, tmp_path / "run.otf2")

    again = burstline.read(tmp_path / "run.otf2")
    for name in ("operation", "enter_ns", "leave_ns"):
        assert again.calls[name].to_pylist() == trace.calls[name].to_pylist()
    assert again.messages["receive_ns"].to_pylist() == trace.messages["receive_ns"].to_pylist()
    assert "region_never_left" not in again.defects["kind"].to_pylist()
