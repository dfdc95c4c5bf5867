"""Loops and iterations as events: the smallest cases."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import burstline
from burstline.annotation import (
    INNERMOST,
    annotated,
    iteration_type,
    loop_type,
    marks_of,
)
from burstline.annotation.marks import loop_name
from burstline.cli.commands.annotate import shipped_configurations
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.extrae import WAIT_STATE
from burstline.identity import Frame
from burstline.structure import detect
from loop_programs import Do, loop, run
from oracles.prv_rules import broken

NESTED = (loop(2, loop(2, Do("Send", 10)), Do("Barrier", 11)),)


def rows(marks):
    columns = (marks.time_ns, marks.type, marks.value)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def of_type(marks, kind):
    return [(time, value) for time, which, value in rows(marks) if which == kind]


def recorded(folder, *program, **settings):
    path = folder / "in.prv"
    burstline.write(run(*program, **settings), path)
    return burstline.read(path)


def structure_of(*program, **settings):
    return detect(run(*program, **settings), min_share=0)


def test_a_loop_in_a_loop_has_types_of_its_own():
    marks = marks_of(structure_of(*NESTED, ranks=1))

    loops = [(each.id, each.parent, each.depth) for each in marks.loops]
    assert loops == [(1, None, 1), (2, 1, 2)]
    assert of_type(marks, loop_type(1)) == [(110, 1), (440, 1), (670, 0)]
    inner = [(110, 1), (220, 2), (230, 0), (440, 3), (550, 4), (560, 0)]
    assert of_type(marks, iteration_type(2)) == inner
    assert of_type(marks, INNERMOST) == [(110, 2), (230, 1), (440, 2), (560, 1), (670, 0)]
    of_loops = {loop_type(1): 3, loop_type(2): 6, iteration_type(1): 3, iteration_type(2): 6}
    assert marks.types == {INNERMOST: 5} | of_loops
    assert [marks.iterations(depth) for depth in (1, 2, 3)] == [2, 4, 0]


def test_loops_deeper_than_asked_for_are_left_out_and_marks_placed_in_another_trace():
    marks = marks_of(structure_of(*NESTED, ranks=1), max_depth=1)
    assert set(marks.types) == {INNERMOST, loop_type(1), iteration_type(1)}
    assert of_type(marks, INNERMOST) == [(110, 1), (670, 0)]
    with pytest.raises(ParameterError, match="depth of 0"):
        marks_of(structure_of(*NESTED), max_depth=0)

    marks = marks_of(structure_of(*NESTED, ranks=2), locations=np.array([7, 3]))
    assert sorted(set(marks.location.tolist())) == [3, 7]
    assert (np.diff(marks.location) >= 0).all()


def test_the_name_of_a_loop_is_safe_to_print_and_says_means():
    (found,) = structure_of(loop(3, Do("Barrier", 10))).loops
    hostile = replace(found.calls[0], path=(Frame("f", "a\x1b[31m\n.c" + 99 * "x", 3),))
    one = replace(found, items=(hostile,), iterations=1.0)

    assert re.fullmatch(r"loop 1: a�\[31m�\.cx{50}…:3, 1 iteration", loop_name(one))
    assert loop_name(replace(found, iterations=2.5)).endswith("2.50 iterations")


def test_calls_from_several_functions_are_placed_where_they_part():
    (found,) = structure_of(loop(3, Do("Send", 10), Do("Barrier", 11))).loops
    paths = [
        (Frame("main", "m.c", 5), Frame("f", "f.c", 7), Frame("g", "g.c", 1)),
        (Frame("main", "m.c", 5), Frame("f", "f.c", 9)),
    ]
    calls = [replace(call, path=path) for call, path in zip(found.calls, paths, strict=True)]

    assert "f.c:7-9" in loop_name(replace(found, items=tuple(calls)))
    assert "g.c:1" in loop_name(replace(found, items=(calls[0], replace(calls[1], path=()))))
    assert "g.c:1" in loop_name(replace(found, items=(calls[0], calls[0])))


def test_labels_name_types_and_loops_once(tmp_path):
    trace = recorded(tmp_path, *NESTED)
    marks = marks_of(detect(trace, min_share=0))
    again = annotated(annotated(trace, marks), marks)
    burstline.write(again, tmp_path / "out.prv")

    text = (tmp_path / "out.pcf").read_text()

    assert text.count("Innermost loop") == 1
    assert "77700102    Iteration at nesting depth 2\n" in text
    assert (
        "0      Outside of loops\n1      loop 1: a.c:10-11, 2 iterations\n2      loop" in text
    )
    assert broken(tmp_path / "out.prv") == []


def test_a_structure_without_loops_has_no_marks_and_a_trace_needs_its_records(tmp_path):
    trace = recorded(tmp_path, Do("Send", 10), Do("Barrier", 11))
    marks = marks_of(detect(trace, min_share=0))
    assert marks.depth == 0
    assert rows(marks) == []
    assert annotated(trace, marks).events.equals(trace.events)

    bare = run(*NESTED)
    with pytest.raises(NotEnoughDataError, match="without its records"):
        annotated(bare, marks_of(detect(bare, min_share=0)))


@pytest.mark.parametrize(("name", "data"), list(shipped_configurations()))
def test_a_shipped_configuration_is_of_the_types_that_are_written(name, data):
    text = data.decode("ascii")

    assert name.endswith(".cfg")
    assert text.startswith("#ParaverCFG\nConfigFile.Version: 3.4\n")
    windows = int(re.search(r"^ConfigFile.NumWindows: (\d+)$", text, re.MULTILINE)[1])
    assert text.count("< NEW DISPLAYING WINDOW ") == text.count("window_name ") == windows
    filters = re.findall(r"^window_filter_module evt_type 1 (\d+)$", text, re.MULTILINE)
    assert len(filters) == text.count("window_type single")
    assert {int(kind) for kind in filters} <= {INNERMOST, iteration_type(1), WAIT_STATE}
