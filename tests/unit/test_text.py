"""The text form says what happens; a trace is built from it, and errors name the line."""

from __future__ import annotations

import pyarrow as pa
import pytest

from burstline import Trace
from burstline.formats.text import parse
from burstline.formats.text.forms import FOLLOWS, NEVER_NULL, REFERENCES
from burstline.model import TABLES
from burstline.testing import assert_same_trace, trace_of
from table_cells import cells_like
from text_form import render


def column(table, *names):
    return [tuple(row[name] for name in names) for row in table.to_pylist()]


MEANINGS = {
    "receives take messages in the order they were posted": (
        """
        ranks 2
        0 | 1 enter MPI_Startall | 1 send to 1 bytes 10 | 2 send to 1 bytes 20 | 3 leave
        1 | 0 enter MPI_Irecv | 0 post request 1 | 0 leave
          | 0 enter MPI_Irecv | 0 post request 2 | 0 leave
          | 5 enter MPI_Waitany | 6 receive from 0 bytes 20 request 2 | 7 leave
          | 8 enter MPI_Waitany | 9 receive from 0 bytes 10 request 1 | 9 leave
        """,
        "messages sent_bytes received_bytes receive_ns: 10 10 9 | 20 20 6",
    ),
    "a completed send is recorded and an open one unknown": (
        """
        ranks 1
        0 | 0 enter MPI_Isend | 0 send to 0 request 4 | 0 leave
          | 1 enter MPI_Isend | 1 send to 0 tag 1 request 5 | 1 leave
          | 2 enter MPI_Wait | 3 sent request 4 | 4 leave
          | 5 enter MPI_Recv | 6 receive from 0 | 6 leave
          | 7 enter MPI_Recv | 8 receive from 0 tag 1 | 8 leave
        """,
        "messages send_done_from send_done_call send_done_ns: recorded 2 3 | unknown - -",
    ),
    "an option of a call goes before what its events say": (
        """
        ranks 2
        0 | 5 enter MPI_Send peer - sent 9 root 1 | 6 send to 1 tag 4 bytes 3 | 9 leave
        """,
        "calls peer tag sent_bytes root: - 4 9 1",
    ),
    "a non blocking collective ends in another call": (
        """
        ranks 1
        0 | 0 enter MPI_Ibarrier | 0 begin request 1 | 1 leave
          | 2 enter MPI_Wait | 3 end request 1 | 4 leave
        """,
        "collective_members call done_call end_ns: 0 1 3",
    ),
    "collectives count where they begin": (
        """
        ranks 1
        0 | 0 enter MPI_Ibarrier | 0 begin request 1 | 1 leave
          | 2 enter MPI_Ibcast | 2 begin request 2 | 3 leave
          | 4 enter MPI_Waitall | 5 end request 2 | 6 end request 1 | 7 leave
        """,
        "collectives sequence operation: 0 MPI_Ibarrier | 1 MPI_Ibcast",
    ),
    "threads of a process take turns in its collectives": (
        """
        ranks 1 threads 2
        0   | 0 enter MPI_Barrier | 0 begin | 1 end | 1 leave
            | 6 enter MPI_Barrier | 6 begin | 7 end | 7 leave
        0.1 | 3 enter MPI_Bcast | 3 begin | 4 end | 4 leave
        """,
        "collectives sequence operation: 0 MPI_Barrier | 1 MPI_Bcast | 2 MPI_Barrier",
        "collectives complete: yes | yes | yes",
        "collective_members collective location: 0 0 | 1 1 | 2 0",
    ),
    "an instance that lacks a member or mixes operations is not complete": (
        """
        ranks 2
        0 | 0 enter MPI_Barrier | 0 begin | 1 end | 1 leave
          | 2 enter MPI_Barrier | 2 begin | 3 end | 3 leave
        1 | 0 enter MPI_Bcast | 0 begin | 1 end | 1 leave
        """,
        "collectives complete: no | no",
        "defects kind count: incomplete_collective 2",
    ),
    "threads find their team by its communicator": (
        """
        ranks 1 threads 2
        region barrier paradigm openmp role barrier
        0 | 0 fork 1 | 0 team begin 5 | 1 team end 5 | 1 join
          | 2 fork 2 | 2 team begin 6 | 3 enter barrier | 4 leave | 4 team end 6 | 4 join
        0.1 | 2 team begin 6 | 3 enter barrier | 3 leave
            | 3 enter barrier | 4 leave | 4 team end 6
        """,
        "teams team fork_ns threads: 0 0 1 | 1 2 2",
        "regions location team barrier_ordinal: 0 0 - | 0 1 - | 0 1 0 | 1 1 - | 1 1 0 | 1 1 1",
    ),
    "a communicator may serve one team after the other": (
        """
        ranks 1 threads 2
        0   | 0 fork 2 | 0 team begin 5 | 1 team end 5 | 1 join
            | 2 fork 2 | 2 team begin 5 | 3 team end 5 | 3 join
        0.1 | 0 team begin 5 | 1 team end 5 | 2 team begin 5 | 3 team end 5
        """,
        "regions location team: 0 0 | 0 1 | 1 0 | 1 1",
    ),
    "a team inside a team has it as parent": (
        """
        ranks 1
        0 | 0 fork 1 | 0 team begin 1 | 1 fork 1 | 1 team begin 2 | 2 team end 2 | 2 join
          | 3 team end 1 | 3 join
        """,
        "teams parent: - | 0",
    ),
    "a team that nobody forked is a defect": (
        "ranks 1 | 0 | 3 team begin 1 | 4 team end 1",
        "regions team: -",
        "defects kind first: team_without_fork location_0_at_3_ns",
    ),
    "acquisitions are ordered by time within a process": (
        """
        ranks 1 threads 2
        0   | 0 acquire 7 | 2 release 7 | 9 acquire 7
        0.1 | 3 acquire 7 | 4 release 7
        """,
        "locks location order release_ns: 0 1 2 | 0 3 - | 1 2 4",
    ),
    "a reading has the ordinal of its event": (
        "ranks 1 | counter a | counter b | 0 | 1 enter f | 5 leave a=3 b=-4 | 6 read a=1",
        "readings seq time_ns a b: 1 5 3 -4 | 2 6 1 -",
    ),
    "bursts lie between consecutive calls": (
        "ranks 1 | 0 | 1 enter MPI_Init | 2 leave | 7 enter MPI_Finalize | 9 leave",
        "bursts start_ns end_ns call_before call_after: 2 7 0 1",
    ),
}
"""A text by what it shows, and what stands in tables then."""


@pytest.mark.parametrize("meaning", MEANINGS)
def test_a_text_means(meaning):
    text, *tables = MEANINGS[meaning]
    trace = trace_of(text)

    for said in tables:
        assert cells_like(trace, said) == said


def test_a_blank_line_a_bar_and_a_comment_separate_what_happens():
    one = parse('ranks 1\r\n0  # the only one\n\n 0 enter "a # b" | 1_0 leave "a # b"')

    assert_same_trace(one, parse('ranks 1 | 0 | 0 enter "a # b" | 10 leave'))


def test_what_is_declared_comes_back():
    text = (
        "ranks 1\n"
        "location 0 node n1 cpu 2\n"
        "communicator 0 kind world members 0 id 7\n"
        "communicator 1 kind self ambiguous yes\n"
        "counter PAPI_TOT_INS mode absolute type 42000050\n"
        "set 2 PAPI_TOT_INS\n"
        "path 0 main file main.c line 3\n"
        "path 1 solve under 0\n"
        "region loop paradigm openmp role loop file a.c begin 1 end 9 type 60 value 3\n"
        "meta format text\n"
        'meta origin "a\\u001b[31m"\n'
        'defect odd info 3 "line 4"\n'
    )

    assert render(parse(text)) == text


EVERYTHING = """
ranks 2
location 0 node n1 cpu 2 name first born 0
communicator 1 members 1 0
counter ins | counter cyc unit cycles mode absolute type 9
set 1 ins | set 2 cyc
path 0 main | path 1 solve file a.c line 3 under 0
region loop paradigm openmp role loop file a.c begin 1 end 9 type 60 value 3
region loop | region second role loop
meta format text | meta origin here
defect odd info 3 "line 4" | defect strange loss 1 there
0 | 0..1 gap flush | 3..4 gap cut
0 | 5 sample path 0 periods 3
  | 0 tell program_begin name a text b | 0 tell communicator_created comm 1
  | 0 tell attribute name n type int8 value 3 | 0 enter loop def 1 path 1 iterations 3 ins=2
  | 0 fork 2 | 0 team begin 5 path 0 origin derived | 1 team end 5 | 1 join
  | 1 fork 1 | 1 join | 1 enter loop | 1 enter second | 1 leave | 1 leave | 1 leave
  | 2 acquire 7 | 2 release 7 | 2 acquire 8 order 4
  | 3 enter MPI_Isend path 1 | 3 send to 1 tag 1 bytes 8 request 4 | 4 leave
  | 5 enter MPI_Wait | 6 sent request 4 cyc=3 | 7 leave
  | 7 enter MPI_Send | 7 send to 1 comm 1 bytes 4 | 8 leave
  | 8 enter MPI_Bcast | 8 begin | 9 end root 0 comm 1 sent 3 | 9 leave
  | 9 enter MPI_Ibarrier | 9 begin request 2 | 9 leave
  | 9 enter MPI_Wait | 10 end request 2 | 10 leave
1 | 0 enter MPI_Irecv | 0 post request 3 | 0 leave
  | 6 enter MPI_Wait | 7 receive from 0 tag 1 bytes 8 request 3 | 7 leave
  | 7 enter MPI_Recv | 8 receive from 0 comm 1 bytes 4 | 8 leave
  | 8 enter MPI_Bcast | 8 begin | 9 end root 0 comm 1 received 3 | 9 leave
  | 9 enter MPI_Barrier | 9 begin | 10 end | 10 leave
  | 11 half send peer 9 tag 3 bytes 1 | 12 half post request 4 comm 1
"""
COLUMNS = [
    (name, column)
    for name, table in TABLES.items()
    for column in table.columns
    if not table.raw
    and REFERENCES.get(column.name) != name
    and column.name not in FOLLOWS.get(name, set())
]
"""What a text says of each row; a row's own number is its place."""

OTHERS = {"int32": (1, 0), "int64": (1, 0), "bool": (True, False), "list<int32>": ([1], [0])}


def changed(trace, name, column, value):
    """Give a trace with another value in the last row of a table."""
    if (name, column) == ("loop_entries", "location"):  # numbered on each location
        trace = changed(changed(trace, name, "entry", 0), name, "parent", None)
    table = trace.table(name)
    place = table.column_names.index(column)
    values = [*table[column].to_pylist()[:-1], value]
    field = table.schema.field(place)
    array = pa.array(values, pa.string() if pa.types.is_dictionary(field.type) else field.type)
    table = table.set_column(place, field, array.cast(field.type))
    return Trace({n: trace.table(n) for n in TABLES if n in trace} | {name: table})


@pytest.mark.parametrize(("name", "column"), COLUMNS, ids=lambda x: getattr(x, "name", x))
def test_a_text_tells_every_value_of_a_column(name, column):
    trace = trace_of(EVERYTHING)
    if not trace.rows(name):
        trace = trace_of(f"{EVERYTHING}row {name}\n")
    values = trace.table(name)[column.name].to_pylist()
    others = OTHERS.get(column.type, column.values or ("MPI_a", 'a | "b" #'))
    wanted = []
    if all(value == values[0] for value in values):
        wanted.append(next(other for other in others if other != values[0]))
    if column.nullable and None not in values and (name, column.name) not in NEVER_NULL:
        wanted.append(None)

    for other in [trace, *(changed(trace, name, column.name, value) for value in wanted)]:
        assert_same_trace(parse(render(other)), other)
