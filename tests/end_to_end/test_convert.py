"""``burstline convert`` as its users see it: the same trace in another format."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

import burstline
from burstline import cli
from burstline.formats import tables
from burstline.testing import assert_same_trace, trace_of
from command import burstline as command
from command import document_of
from oracles.prv_dump import dump
from oracles.prv_rules import broken
from paraver_text import write_example

NOTHING_LOST = {"messages": 0, "collectives": 0, "calls_clipped": 0}


def convert(*words):
    return command("convert", *words)


def assert_same_rows(found, expected):
    assert found.to_pylist() == expected.to_pylist()


@pytest.mark.parametrize(
    "way", [["run.store"], ["a.prv.gz", "run.store"], ["b.store", "c.prv"]]
)
def test_a_trace_survives_every_way_through_the_formats(tmp_path, way):
    source = write_example(tmp_path)
    steps = [source, *(tmp_path / name for name in way), tmp_path / "back.prv"]

    for before, after in pairwise(steps):
        document = document_of("convert", before, "-o", after)
        assert document["kept"] == {"calls": 4, "bursts": 2, "messages": 1}
        assert document["lost"] == NOTHING_LOST
        assert document["time_offset_ns"] == 0

    assert dump(tmp_path / "back.prv") == dump(source)
    assert broken(tmp_path / "back.prv") == []


@pytest.mark.parametrize("style", tables.STYLES)
def test_tables_for_other_programs_hold_the_trace(tmp_path, style):
    source = write_example(tmp_path)

    document_of("convert", source, tmp_path / f"run.{style}")

    assert_same_trace(tables.read(tmp_path / f"run.{style}"), burstline.read(source))


def test_without_raw_tables_the_way_back_leads_to_the_same_calls(tmp_path):
    source = write_example(tmp_path)

    document_of("convert", source, tmp_path / "run.store", "--no-raw")
    document_of("convert", tmp_path / "run.store", tmp_path / "back.prv")

    assert not burstline.read(tmp_path / "run.store").has_raw
    found, expected = burstline.read(tmp_path / "back.prv"), burstline.read(source)
    for name in ("calls", "messages"):
        columns = [c for c in expected.table(name).column_names if not c.endswith("_seq")]
        assert_same_rows(
            found.table(name).select(columns), expected.table(name).select(columns)
        )
    assert broken(tmp_path / "back.prv") == []


def test_raw_tables_of_a_store_can_be_left_out(tmp_path):
    document_of("convert", write_example(tmp_path), tmp_path / "run.store")

    document_of("convert", tmp_path / "run.store", tmp_path / "run.csv", "--no-raw")

    assert not (tmp_path / "run.csv" / "events.csv").exists()


def test_collectives_that_the_format_has_no_number_for_are_said_to_be_left_out(tmp_path):
    lines = [
        f"{rank} | {now} enter {name} | {now} begin | {now + 5} end sent 8 received 8 | "
        f"{now + 6} leave"
        for rank in (0, 1)
        for now, name in ((10, "MPI_Allreduce"), (20, "MPI_Allreduce_twice"))
    ]
    (tmp_path / "run.txt").write_text("\n".join(["ranks 2", *lines]))

    written = document_of("convert", tmp_path / "run.txt", tmp_path / "run.otf2")

    assert written["left_out"] == {"collectives": 1}
    assert written["tables"]["collectives"] == 1
    assert burstline.read(tmp_path / "run.otf2").collectives.num_rows == 1
    traced = document_of("convert", tmp_path / "run.txt", tmp_path / "run.prv")
    assert "collectives" not in traced["left_out"]


def test_an_output_that_exists_is_replaced_by_force_only(tmp_path):
    source = write_example(tmp_path)
    for name in ("run.store", "run.csv", "out.prv"):
        document_of("convert", source, tmp_path / name)

        refused = convert(source, tmp_path / name)
        assert refused.returncode == 2
        assert "--force" in refused.stderr

        document_of("convert", source, tmp_path / name, "--force")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_the_input_and_its_companions_are_never_written_onto(tmp_path):
    source = write_example(tmp_path)
    before = source.read_bytes()

    for output in (source, tmp_path / "in.prv.gz"):
        refused = convert(source, output, "--force")
        assert refused.returncode == 2
        assert "belongs to the input" in refused.stderr

    assert source.read_bytes() == before


@pytest.mark.parametrize("words", [[], ["a.prv", "-o", "b.prv"], ["a.txt"]])
def test_outputs_that_say_nothing_are_refused(tmp_path, words):
    done = convert(write_example(tmp_path), *words)

    assert done.returncode == 2
    assert ".csv" in done.stderr


def test_people_are_told_on_stderr(tmp_path):
    done = convert(write_example(tmp_path), tmp_path / "run.store")

    assert done.stdout == ""
    assert "4 calls, 2 bursts, 1 message" in done.stderr


def test_it_is_said_what_was_written_of_every_table(tmp_path, capsys):
    counted = "ranks 1 | counter power | 0 | 1 read power=5 | 2 read power=7"
    burstline.write(trace_of(counted), tmp_path / "run.store")
    source, written = str(tmp_path / "run.store"), tmp_path / "out.store"

    cli.main(["convert", source, str(written), "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    cli.main(["convert", source, str(written), "--force"])

    assert document["tables"]["readings"] == 2
    assert document["left_out"] == {}
    assert capsys.readouterr().err.strip() == f"{written}: 2 readings"


def test_it_is_said_what_a_format_has_no_place_for(tmp_path, capsys):
    text = "ranks 1 | 0 | 0 enter MPI_Init | 5 leave | 6 acquire 4 order 1 | 8 release 4"
    burstline.write(trace_of(text), tmp_path / "run.store")
    source = str(tmp_path / "run.store")

    for name, left in (("a.perfetto.json", {"locks": 1}), ("a.otf2", {}), ("a.csv", {})):
        cli.main(["convert", source, str(tmp_path / name), "--format", "json"])
        assert json.loads(capsys.readouterr().out)["left_out"] == left
    cli.main(["convert", source, str(tmp_path / "b.perfetto.json")])
    assert "no place for them: 1 lock" in capsys.readouterr().err


def test_records_are_not_left_out_by_a_format_that_holds_what_they_say(tmp_path):
    document = document_of("convert", write_example(tmp_path), "-o", tmp_path / "run.otf2")

    assert "states" not in document["tables"] | document["left_out"]


def test_csv_is_one_number_a_line(tmp_path):
    done = convert(write_example(tmp_path), tmp_path / "run.store", "--format", "csv")

    assert done.stdout.splitlines()[:2] == ["name,value", "kept.calls,4"]
