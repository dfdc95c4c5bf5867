"""A row that no trace has is damage of its file, whatever is asked of it.

Of those are rows that name one which is not there, nulls, and numbers too large to count with.
"""

from __future__ import annotations

import os
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import burstline
from burstline.errors import FormatError
from burstline.model import schema
from burstline.testing import trace_of
from command import burstline as call
from vouched import MANIFEST, vouch

TRACE = """
ranks 2 threads 1
communicator 1 members 1 0 kind group
counter ins
path 0 main file main.c line 10
path 1 solve under 0
region "!$omp for" paradigm openmp role loop file a.c begin 3 end 9
row loops loop 0 name solve.c:3 paradigm user origin recorded
row loop_entries location 0 entry 0 loop 0 enter_ns 5 leave_ns 90 iterations 2
row loop_entries location 0 entry 1 loop 0 enter_ns 6 leave_ns 80 under 0 iterations 2
row loop_iterations location 0 time_ns 6 entry 0 iteration 0
row call_loops location 0 call 0 loop 0
row placements location 0 allowed 0-1 used 1
row recordings location 0 signals 7
0 | 60..65 gap flush
0 | 23 sample path 1 periods 2
0 | 0 enter MPI_Init path 0 ins=1 | 5 leave ins=2
  | 10 enter main path 0 | 11 fork 1 | 12 team begin 0 | 13 enter "!$omp for" path 1
  | 14 acquire 7 | 15 release 7 | 16 leave | 17 team end 0 | 18 join
  | 20 enter MPI_Isend path 1 ins=3 | 21 send to 1 tag 7 bytes 8 request 1 | 22 leave ins=4
  | 30 enter MPI_Wait path 1 ins=5 | 31 sent request 1 | 32 leave ins=6
  | 40 enter MPI_Bcast path 1 ins=7 | 41 begin | 45 end sent 4 root 0 | 46 leave ins=8
  | 50 tell communicator_created comm 1 | 55 leave main | 56 half send peer 1 comm 0 tag 3
  | 90 enter MPI_Finalize path 0 ins=9 | 100 leave ins=10
1 | 0 enter MPI_Init path 0 ins=1 | 5 leave ins=2
  | 10 enter MPI_Irecv path 1 ins=3 | 11 post request 1 | 12 leave ins=4
  | 28 enter MPI_Wait path 1 ins=5 | 30 receive from 0 tag 7 bytes 8 request 1 | 32 leave ins=6
  | 33 enter main | 34 enter main | 35 leave | 36 leave | 37 enter main | 38 leave
  | 40 enter MPI_Bcast path 1 ins=7 | 41 begin | 45 end received 4 root 0 | 46 leave ins=8
  | 80 enter MPI_Barrier ins=8 | 82 leave ins=8
  | 90 enter MPI_Finalize path 0 ins=9 | 100 leave ins=10
"""
COMMANDS = {
    "info": "info {damaged}",
    "structure": "structure {damaged}",
    "waits": "waits {damaged}",
    "merge": "merge {sound} {damaged} -o {out}.prv",
    "cut": "cut {damaged} -o {out}.prv --from 8ns",
    "convert": "convert {damaged} {out}.parquet",
}
REFERENCES = {
    name: columns
    for name, table in schema.TABLES.items()
    if not table.raw  # which a text does not hold
    and (columns := [c.name for c in table.columns if c.refers or c.counted])
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A folder with one trace as a store, as tables, and as Paraver's files."""
    folder = tmp_path_factory.mktemp("sound")
    (folder / "run.txt").write_text(TRACE)
    for name in ("run.store", "run.parquet", "run.csv", "run.prv"):
        done = call("convert", folder / "run.txt", folder / name)
        assert done.returncode == 0, done.stderr
    return folder


def damage(sound, folder, place, value, rows=slice(None)):
    """Write a value into rows of a column of a copy of a trace, and give the copy's path."""
    kind, name, column = place
    copy = folder / f"run.{kind}"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(sound / copy.name, copy, copy_function=os.link)
    file = copy / f"{name}.parquet"
    table, about = pq.read_table(file), dict(pq.read_metadata(file).metadata or {})
    values = table[column].to_pylist()
    values[rows] = [value] * len(values[rows])
    field = table.schema.field(column)
    new = table.set_column(
        table.column_names.index(column),
        field.with_nullable(nullable=True),
        pa.array(values, field.type),
    )
    about.pop(b"ARROW:schema", None)
    file.unlink()  # what is written there is not to be in the sound trace, too
    pq.write_table(new.replace_schema_metadata(about), file)
    if kind == "store":
        manifest = (copy / MANIFEST).read_bytes()
        (copy / MANIFEST).unlink()
        (copy / MANIFEST).write_bytes(manifest)
        vouch(copy)
    return copy


def said_of(copy, name):
    """Give what reading a table of a damaged trace says."""
    with pytest.raises(FormatError) as error:
        burstline.read(copy).table(name)
    return str(error.value)


def ends(command, sound, copy, folder):
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    words = COMMANDS[command].split()
    names = {"damaged": copy, "sound": sound / "run.prv", "out": out / "o"}
    return call(*(word.format(**names) for word in words), "--threads", "1", "--quiet")


def is_right(done, name, *, may_answer):
    if done.returncode == 0:
        return may_answer
    return done.returncode == 3 and f"{name}.parquet: expected" in done.stderr


@pytest.mark.parametrize("name", REFERENCES)
def test_no_command_falls_over_a_row_that_is_not_there(name, sound, tmp_path):
    wrong = []
    for kind in ("store", "parquet"):
        copy = damage(sound, tmp_path, (kind, name, REFERENCES[name][0]), 10**6)
        # Of a folder, each command loads every table.
        for command in COMMANDS if kind == "store" else ("info",):
            done = ends(command, sound, copy, tmp_path)
            may_answer = kind == "store" and command != "convert"
            if not is_right(done, name, may_answer=may_answer):
                wrong.append((command, kind, done))
    assert not wrong


@pytest.mark.parametrize("kind", ["store", "parquet"])
@pytest.mark.parametrize("name", REFERENCES)
def test_a_row_that_is_not_there_is_damage_in_any_column(name, kind, sound, tmp_path):
    for column in REFERENCES[name]:
        # A rank may be any number.
        for value in (10**6, -7) if schema.TABLES[name].column(column).refers else (-7,):
            copy = damage(sound, tmp_path, (kind, name, column), value)
            said = said_of(copy, name)
            assert said.startswith(f"{copy / name}.parquet: expected"), (column, value)


@pytest.mark.parametrize(
    "case",
    [
        ("calls", "communicator", 3, 2, "a row of communicators, of which there are 2"),
        ("bursts", "call_before", 1, 5, "a row of calls, of which its location has 5"),
        ("messages", "receive_call", 0, 6, "a row of calls, of which its location has 6"),
        ("collective_members", "location", 1, None, "a value"),
        ("loop_entries", "parent", 1, 1, "an earlier row of loop_entries"),
        ("call_paths", "parent", 0, 1, "an earlier row of call_paths"),
        ("calls", "call", 2, 1, "the number after that of the row before"),
        ("calls", "call", 5, 5, "the number after that of the row before"),
        ("locations", "rank", 1, -1, "a number from 0"),
    ],
)
@pytest.mark.parametrize("kind", ["store", "parquet"])
def test_it_is_told_with_file_place_and_what_is_there(kind, case, sound, tmp_path):
    name, column, row, value, expected = case
    copy = damage(sound, tmp_path, (kind, name, column), value, slice(row, row + 1))

    assert said_of(copy, name).startswith(
        f"{copy / name}.parquet: expected {expected}, in column {column}, found "
        f"'{'null' if value is None else value} in row {row}'"
    )


def test_a_row_that_is_not_there_is_seen_in_csv(sound, tmp_path):
    copy = tmp_path / "run.csv"
    shutil.copytree(sound / "run.csv", copy)
    text = (copy / "call_loops.csv").read_text()
    (copy / "call_loops.csv").write_text(text.replace("0,0,0", "0,0,7"))

    done = call("info", copy)

    assert done.returncode == 3
    assert "call_loops.csv: expected a row of loops, of which there are 1" in done.stderr


NEVER_NULL = [
    (name, column.name)
    for name, table in schema.TABLES.items()
    if not table.raw and name not in {"counter_sets", "defects"}  # which the text does not hold
    for column in table.columns
    if not column.nullable
]
COUNTED = "a number from"
IMPOSSIBLE = [
    # nothing can be counted with these
    ("calls", "enter_ns", 0, 2**63 - 1, COUNTED),
    ("calls", "leave_seq", 0, 2**63 - 1, COUNTED),
    ("calls", "leave_seq", 0, -(2**63), COUNTED),
    ("locations", "born_ns", 0, -(2**63), COUNTED),
    ("locations", "died_ns", 0, 2**63 - 1, COUNTED),
    ("regions", "enter_seq", 0, 2**63 - 1, COUNTED),
    ("teams", "join_seq", 0, -1, COUNTED),
    ("teams", "threads", 0, -1, COUNTED),
    ("bursts", "start_ns", 0, 2**63 - 1, COUNTED),
    ("bursts", "polling_ns", 0, -7, COUNTED),
    ("bursts", "polls", 0, -1, COUNTED),
    ("bursts", "waiting_ns", 0, -1, COUNTED),
    ("bursts", "gap_ns", 0, -1, COUNTED),
    # what is beside these contradicts them
    ("teams", "process", 0, 10**6, "the process of its fork_location, 0"),
    ("regions", "enter_ns", 0, -1, "a time from born_ns of its location on"),
    ("regions", "enter_ns", 1, 9, "a time from that of the region before it on"),
    ("regions", "leave_ns", 0, 10**6, "a time up to died_ns of its location"),
    ("regions", "enter_seq", 0, 4, "a number above that of the region before it"),
    ("regions", "enter_seq", 1, 10**6, "a number from enter_seq on, 1000000"),
    ("regions", "leave_seq", 2, 10**6, "a number below that of the region around it"),
    ("regions", "leave_seq", 3, 10**6, "an event before that of region 2 of location 1"),
    # an interval ends before it begins
    ("bursts", "start_ns", 0, 10**15, "a time from start_ns on"),
    ("calls", "enter_ns", 0, 10**15, "a time from enter_ns on"),
    ("regions", "enter_ns", 0, 10**15, "a time from enter_ns on"),
    ("locks", "acquire_ns", 0, 10**15, "a time from acquire_ns on"),
]


@pytest.mark.parametrize(
    ("kind", "name", "column"),
    [
        *(("store", *place) for place in NEVER_NULL),
        *(("parquet", *place) for place in dict(NEVER_NULL).items()),  # one of each table
    ],
)
def test_a_null_where_none_may_be_is_damage(kind, name, column, sound, tmp_path):
    said = said_of(damage(sound, tmp_path, (kind, name, column), None, slice(0, 1)), name)

    assert f"{name}.parquet: expected " in said
    assert f", in column {column}, found 'null in row 0'" in said


@pytest.mark.parametrize("kind", ["store", "parquet"])
@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_a_number_that_cannot_be_is_damage(kind, case, sound, tmp_path):
    name, column, row, value, expected = case
    copy = damage(sound, tmp_path, (kind, name, column), value, slice(row, row + 1))
    said = said_of(copy, name)

    assert f"{name}.parquet: expected {expected}" in said
    if expected == COUNTED:  # others name what they contradict, too
        assert f"in column {column}, found '{value} in row 0'" in said


@pytest.mark.parametrize(
    ("name", "column", "differs"),
    [
        ("collective_members", "collective", "call"),
        ("collectives", "communicator", "sequence"),
    ],
)
def test_a_collective_or_a_part_of_one_that_stands_twice_is_damage(
    name, column, differs, sound, tmp_path
):
    copy = tmp_path / "run.csv"
    shutil.copytree(sound / "run.csv", copy)
    head, first, *rest = (copy / f"{name}.csv").read_text().splitlines(keepends=True)
    (copy / f"{name}.csv").write_text("".join([head, first, first, *rest]))

    done = ends("convert", sound, copy, tmp_path)

    assert done.returncode == 3
    assert f"expected a row with another {differs} than the row before" in done.stderr
    assert f"in column {column}, found '0 in row 1'" in done.stderr


def test_a_call_that_no_record_tells_of_is_damage(tmp_path):
    """A copy as .prv is made of the records: it would lose the call."""
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "run.prv"
    burstline.write(trace_of("ranks 2 | 0 | 10 enter MPI_Barrier | 12 leave"), path)
    burstline.write(burstline.read(path, raw=True), folder / "run.csv")
    lines = (folder / "run.csv" / "events.csv").read_text().splitlines(keepends=True)
    kept = [line for line in lines if not line.rstrip().endswith("50000002,8")]
    assert len(kept) == len(lines) - 1
    (folder / "run.csv" / "events.csv").write_text("".join(kept))

    done = ends("info", folder, folder / "run.csv", tmp_path)

    assert done.returncode == 3
    said = "events.csv: expected a record of each of the 1 calls of location 0, found '0'"
    assert said in done.stderr


def test_a_counter_without_a_name_hides_no_location_that_is_not_there(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    text = 'ranks 2 | counter "" | 0 | 0 enter MPI_Init ""=1 | 5 leave ""=2'
    burstline.write(trace_of(text), folder / "run.parquet")
    copy = damage(folder, tmp_path, ("parquet", "readings", "location"), 10**6)

    done = ends("info", folder, copy, tmp_path)

    assert done.returncode == 3, done.stderr
    assert "readings.parquet: expected a row of locations, of which there are 2" in done.stderr


@pytest.mark.parametrize("kind", ["store", "parquet"])
def test_a_member_that_is_null_is_damage(kind, sound, tmp_path):
    copy = damage(sound, tmp_path, (kind, "communicators", "members"), [1, None], slice(1, 2))

    done = ends("convert", sound, copy, tmp_path)

    assert done.returncode == 3, done.stderr
    assert "communicators.parquet: expected a value" in done.stderr
    assert "row 1" in done.stderr


@pytest.mark.parametrize("kind", ["store", "parquet"])
@pytest.mark.parametrize("command", ["waits", "convert"])
@pytest.mark.parametrize(
    "case",
    [
        ("join_seq", 10**6, "an event before that of call 1 of location 0, entered at 20"),
        ("join_seq", 11, "an event before that of call 1 of location 0, entered at 20"),
        ("join_seq", 2, "a number from fork_seq on, 3"),
        ("join_ns", 10, "a time from fork_ns on, 11"),
    ],
)
def test_a_join_at_no_event_of_its_location_is_damage(kind, command, case, sound, tmp_path):
    column, value, expected = case
    copy = damage(sound, tmp_path, (kind, "teams", column), value)

    done = ends(command, sound, copy, tmp_path)

    assert done.returncode == 3, done.stderr
    assert f"teams.parquet: expected {expected}, in column {column}" in done.stderr
    assert f"found '{value} in row 0'" in done.stderr


@pytest.mark.parametrize("kind", ["store", "parquet"])
def test_a_fork_and_join_after_later_regions_is_damage(kind, sound, tmp_path):
    late = "0 | 30 enter main | 31 fork 1 | 32 join | 40 enter solve | 41 leave | 42 leave"
    (tmp_path / "run.txt").write_text(f"ranks 1\n{late}\n")
    folder = tmp_path / "late"
    folder.mkdir()
    done = call("convert", tmp_path / "run.txt", folder / f"run.{kind}")
    assert done.returncode == 0, done.stderr
    copy = damage(folder, tmp_path, (kind, "teams", "join_seq"), 4)

    done = ends("convert", sound, copy, tmp_path)

    assert done.returncode == 3, done.stderr
    assert "teams.parquet: expected an event before that of region 1" in done.stderr


@pytest.mark.parametrize("kind", ["store", "parquet"])
@pytest.mark.parametrize("command", ["info", "waits", "structure"])
def test_how_many_threads_a_team_is_said_to_have_changes_no_answer(
    command, kind, sound, tmp_path
):
    """Threads that were not recorded are missing, so nothing contradicts the number."""
    copy = damage(sound, tmp_path, (kind, "teams", "threads"), 10**6)

    told, expected = (
        ends(command, sound, path, tmp_path) for path in (copy, sound / copy.name)
    )

    assert (told.returncode, expected.returncode) == (0, 0), told.stderr
    assert told.stdout == expected.stdout
