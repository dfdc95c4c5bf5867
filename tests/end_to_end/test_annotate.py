"""``burstline annotate`` as its users see it: the same trace, with loops as events."""

from __future__ import annotations

import pytest

import burstline
from burstline.annotation import INNERMOST, RESERVED, annotated, iteration_type, marks_of
from burstline.errors import BurstlineError
from burstline.structure import detect
from burstline.testing import assert_same_trace
from command import burstline as run
from command import document_of
from loop_programs import Do, loop
from loop_programs import run as program
from oracles.prv_dump import dump
from oracles.prv_rules import broken
from real_traces import telling

CONFIGURATIONS = [
    "iteration_duration.cfg",
    "iteration_table.cfg",
    "iterations.cfg",
    "loops.cfg",
    "waits.cfg",
]


def write_nested(folder, times=4):
    inner = loop(3, Do("Send", 10), Do("Barrier", 11))
    path = folder / "in.prv"
    burstline.write(program(loop(times, inner, Do("Barrier", 12))), path)
    return path


def others(found):
    """Leave the loops out of a dump."""
    events = {
        thread: [event for event in events if event[1] not in RESERVED]
        for thread, events in found.events.items()
    }
    return found._replace(events=events)


def values(path, kind, thread=(1, 1, 1)):
    return [value for _, which, value in dump(path).events[thread] if which == kind]


def test_the_copy_has_loops_and_iterations_and_all_that_was_there(tmp_path):
    source, copy = write_nested(tmp_path), tmp_path / "out.prv"

    document = document_of("annotate", source, "-o", copy)

    assert [each["depth"] for each in document["loops"]] == [1, 2]
    assert document["loops"][1] == {
        "id": 2,
        "parent": 1,
        "depth": 2,
        "name": "loop 2: a.c:10-11, 3 iterations",
        "type": 77700002,
        "iteration_type": 77700102,
    }
    assert document["iterations"] == {"1": 8, "2": 24}
    written = {
        str(kind): sum(len(values(copy, kind, (1, rank, 1))) for rank in (1, 2))
        for kind in map(int, document["types"])
    }
    assert written == document["types"]
    assert values(copy, iteration_type(1)) == [1, 2, 3, 4, 0]
    assert others(dump(copy)) == dump(source)
    assert broken(copy) == []


def test_people_are_told_which_loops_there_are(tmp_path):
    done = run("annotate", write_nested(tmp_path), "-o", tmp_path / "out.prv")

    assert done.stdout == ""
    assert done.stderr.splitlines()[0] == "loop 1: a.c:10-12, 4 iterations"
    assert "32 iterations as" in done.stderr


def test_the_types_can_be_had_as_csv(tmp_path):
    source = write_nested(tmp_path)
    done = run("annotate", source, tmp_path / "out.prv", "--max-depth", 1, "--format", "csv")

    kinds = [line.split(",")[0] for line in done.stdout.splitlines()]
    assert kinds == ["type", "77700000", "77700001", "77700101"]


def test_annotating_the_copy_again_changes_nothing(tmp_path):
    document_of("annotate", write_nested(tmp_path), "-o", tmp_path / "one.prv")
    document_of("annotate", tmp_path / "one.prv", "-o", tmp_path / "two.prv")

    for ending in ("prv", "pcf", "row"):
        one, two = (tmp_path / f"{name}.{ending}" for name in ("one", "two"))
        assert one.read_text() == two.read_text()


@pytest.mark.parametrize("through", ["run.store", "small.store", "packed.prv.gz"])
def test_every_kind_of_input_and_output_holds_the_same(tmp_path, through):
    source, middle = write_nested(tmp_path), tmp_path / through
    document_of("annotate", source, "-o", tmp_path / "plain.prv")
    if through == "run.store":
        assert run("convert", source, middle).returncode == 0
        document_of("annotate", middle, "-o", tmp_path / "out.prv", "--memory", "100M")
    else:
        document_of("annotate", source, "-o", middle)
        assert run("convert", middle, tmp_path / "out.prv", "--force").returncode == 0

    assert dump(tmp_path / "out.prv") == dump(tmp_path / "plain.prv")
    assert (tmp_path / "out.pcf").read_text() == (tmp_path / "plain.pcf").read_text()


def test_a_store_without_records_is_annotated_with_records_of_its_calls(tmp_path):
    source = write_nested(tmp_path)
    run("convert", source, tmp_path / "run.store", "--no-raw")

    document_of("annotate", tmp_path / "run.store", "-o", tmp_path / "out.prv")

    assert values(tmp_path / "out.prv", iteration_type(1)) == [1, 2, 3, 4, 0]
    assert broken(tmp_path / "out.prv") == []


def test_loops_can_be_looked_for_in_a_part_of_the_trace(tmp_path):
    source, copy = write_nested(tmp_path), tmp_path / "out.prv"

    document_of("annotate", source, "-o", copy, "--ranks", "1", "--to", "1200ns")

    assert values(copy, INNERMOST, (1, 1, 1)) == []
    marked = [event for event in dump(copy).events[1, 2, 1] if event[1] in RESERVED]
    assert marked
    assert max(time for time, *_ in marked) <= 1200
    assert others(dump(copy)) == dump(source)


def test_loops_can_be_looked_for_in_some_iterations(tmp_path):
    source, copy = write_nested(tmp_path), tmp_path / "out.prv"

    document_of("annotate", source, "-o", copy, "--loop", "1", "--iterations", "2:4")

    assert values(copy, iteration_type(1)) == [1, 2, 3, 0]
    assert others(dump(copy)) == dump(source)


def test_configurations_of_paraver_come_along_when_asked_for(tmp_path):
    source, folder = write_nested(tmp_path), tmp_path / "new" / "cfgs"

    document_of("annotate", source, "-o", tmp_path / "out.prv", "--cfg-dir", folder)

    assert sorted(file.name for file in folder.iterdir()) == CONFIGURATIONS
    again = run("annotate", source, tmp_path / "two.prv", "--cfg-dir", folder)
    assert again.returncode == 2
    assert "exists. Choose another folder, or pass --force" in again.stderr
    assert not (tmp_path / "two.prv").exists()
    document_of("annotate", source, "-o", tmp_path / "two.prv", "--cfg-dir", folder, "--force")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["-o", "in.prv"], 2, "belongs to the input"),
        (["-o", "in.prv.gz"], 2, "belongs to the input"),
        ([], 2, "give one output"),
        (["-o", "out.prv", "--max-depth", "0"], 2, "--max-depth"),
        (["-o", "out.prv", "--method", "guess"], 2, "invalid choice"),
        (["-o", "out.prv", "--cfg-dir", "in.prv"], 2, "belongs to the input"),
        (["-o", "out.prv", "--to", "5ns"], 5, "no "),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_nothing(tmp_path, words, code, message):
    source = write_nested(tmp_path)
    before = source.read_bytes()

    placed = [tmp_path / word if ".prv" in word else word for word in words]
    done = run("annotate", source, *placed)

    assert done.returncode == code
    assert message in done.stderr
    assert source.read_bytes() == before
    assert not list(tmp_path.glob("out*"))


def test_a_trace_without_loops_is_refused(tmp_path):
    path = tmp_path / "in.prv"
    burstline.write(program(Do("Send", 10), Do("Barrier", 11)), path)

    done = run("annotate", path, "-o", tmp_path / "out.prv")

    assert done.returncode == 5
    assert "no loop was found" in done.stderr


def test_real_traces_are_the_same_but_for_their_loops(real_traces, tmp_path):
    marked, copy = 0, tmp_path / "out.prv"
    for source in telling(real_traces):
        trace = burstline.read(source)
        try:
            structure = detect(trace, min_share=0)
        except BurstlineError:
            continue
        once = annotated(trace, marks_of(structure))
        burstline.write(once, copy, overwrite=True)
        assert others(dump(copy)) == dump(source)
        assert_same_trace(burstline.read(copy), once, tables=["calls", "messages", "events"])
        assert broken(copy) == []
        marked += bool(structure.loops)
    assert marked > 5
