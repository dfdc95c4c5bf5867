"""Scores of profiles by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from burstline.comparison import compare, j_c, j_mc
from burstline.comparison.result import verdict
from burstline.errors import NotEnoughDataError, ParameterError
from burstline.model import CALL_PATHS, Values
from burstline.show import output
from burstline.show.comparison import ComparisonView
from burstline.show.pictures.comparison import comparison_plot, draw_call_paths, draw_kinds
from small_profiles import TREE, profile_of

BEFORE = profile_of({("comp", "main"): 5, ("comp", "main/a"): 3, ("comp", "main/b"): 2})
AFTER = profile_of(
    {("comp", "main"): 40, ("comp", "main/a"): 40, ("comp", "main/c"): 20}, unit="ticks"
)


def waiting(mpi, late, delay):
    """A program that computes for 60 and waits in MPI_Recv, and what delays it."""
    recv = "main/MPI_Recv"
    parts = {("comp", "main"): 60, ("mpi", recv): mpi, ("mpi_latesender", recv): late}
    return profile_of(parts | delay)


WAITS = waiting(10, 30, {("delay", "main"): 30})
LESS = waiting(30, 10, {("delay", "main/MPI_Recv"): 10})


def test_the_example_of_the_definition():
    first = profile_of({("comp", "a"): 50, ("comp", "b"): 30, ("comp", "c"): 20})
    second = profile_of({("comp", "a"): 40, ("comp", "b"): 40, ("comp", "d"): 20})

    assert j_mc(first, second) == pytest.approx(0.7 / 1.3)
    assert j_c(first, second, "comp") == pytest.approx(0.7 / 1.3)


def test_what_is_empty():
    nothing = profile_of({("comp", "main"): 0})

    assert j_mc(nothing, nothing) == j_c(nothing, nothing, "comp") == 1
    assert j_mc(nothing, BEFORE) == j_c(nothing, BEFORE, "comp") == 0
    assert j_c(BEFORE, AFTER, "mpi") == 1
    comparison = compare([BEFORE, AFTER])
    assert "mpi" not in comparison.j_c
    assert "nothing to compare" in verdict(compare([nothing, nothing]))


def test_a_profile_without_kinds_of_time_is_compared_by_time_alone():
    plain = profile_of(
        {("time", "main"): 60, ("time", "main/MPI_Recv"): 40}, tree={"time": None}
    )

    comparison = compare([plain, WAITS], names=["plain.cubex", "waits.cubex"])

    assert comparison.j_mc == 1
    assert comparison.metrics == ("time",)
    assert comparison.timeless == ("plain.cubex",)


def test_a_count_below_the_time_is_no_part_of_it():
    tree = {"time": None, "comp": "time", "visits": "time"}
    counted = profile_of({("comp", "main"): 90, ("visits", "main"): 10}, tree=tree)

    comparison = compare([counted, WAITS])

    assert "visits" not in comparison.metrics
    assert "visits" in comparison.j_c
    for names, timeless in ((tree, ()), ({"time": None, "visits": "time"}, ("a",))):
        visits = profile_of({("visits", "main"): 1}, tree=names)
        assert compare([visits, WAITS], names="ab").timeless == timeless


def test_a_metric_that_is_a_root_elsewhere_is_where_another_profile_has_it():
    flat = profile_of(
        {("time", "main"): 100, ("mpi_latesender", "main"): 10},
        tree={"time": None, "mpi_latesender": None},
    )

    assert compare([flat, WAITS], metrics="all").metrics == ("time", "delay")


def test_trees_that_contradict_each_other_end():
    one = profile_of({("a", "main"): 1}, tree={"time": None, "a": None, "b": "a"})
    other = profile_of({("b", "main"): 1}, tree={"time": None, "b": None, "a": "b"})

    assert j_mc(one, other, metrics="all") == 1
    assert j_c(one, other, "a") == 0


def test_what_is_no_sum_over_call_paths_is_left_out():
    largest = profile_of(
        {("comp", "main"): 5, ("visits", "main"): 2}, combined={"visits": "max"}
    )

    assert "visits" not in compare([largest, largest]).j_c
    assert compare([largest, BEFORE]).j_c["comp"] == pytest.approx(1 / 3)


def test_call_paths_are_the_same_where_their_names_are():
    def placed(**place):
        rows = [row | {"file": "a.c"} | place for row in BEFORE.call_paths.to_pylist()]
        return replace(BEFORE, call_paths=pa.Table.from_pylist(rows, CALL_PATHS))

    moved, frames = placed(begin_line=3, end_line=9), placed(begin_line=3)

    assert j_mc(BEFORE, moved) == 1
    assert j_mc(BEFORE, frames) == 0
    assert frames.path(1) == ("main@a.c:3", "a@a.c:3")
    assert frames.names()[1] == "a@a.c:3"


def test_a_recursion_takes_no_more_room_than_its_call_paths():
    depth = 20_000
    empty = dict.fromkeys(CALL_PATHS.names)
    rows = [
        empty | {"call_path": row, "parent": row - 1 if row else None, "function": "f"}
        for row in range(depth)
    ]
    deep = replace(BEFORE, call_paths=pa.Table.from_pylist(rows, CALL_PATHS))

    comparison = compare([deep, deep])

    assert len(comparison.call_paths) == depth
    assert comparison.path(2) == ("f", "f", "f")
    assert len(comparison.path(depth - 1)) == depth


def test_the_document_keeps_the_contract():
    document = compare([BEFORE, AFTER, WAITS], names=["a", "b", "c"]).as_dict()

    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["j_mc"] == min(pair["j_mc"] for pair in document["pairs"])
    assert {(pair["a"], pair["b"]) for pair in document["pairs"]} == {
        *(("a", "b"), ("a", "c"), ("b", "c")),
    }
    assert all(0 <= score <= 1 for score in document["j_c"].values())
    assert set(document["differences"][0]) == {"metric", "call_path", "share_a", "share_b"}


def test_a_metric_that_one_profile_alone_has_is_no_score(capsys):
    values = {("time", "main"): 60, ("time", "main/MPI_Recv"): 40}
    plain = profile_of(values, tree={"time": None})

    found = compare([WAITS, plain], names=["a", "plain"])
    output(ComparisonView(found), "table")

    assert set(found.pairs[0].j_c) == {"time"}
    assert found.as_dict()["share_time"]["mpi"][1] is None
    said = " ".join(capsys.readouterr().out.split())
    assert " mpi n/a " in said
    assert "by call path, not by metric" in said


def test_the_verdict_is_a_sentence():
    assert verdict(compare([WAITS, WAITS])) == (
        "The profiles are equal in shares of the time by metric and call path: J is 1."
    )
    assert verdict(compare([WAITS, LESS], names=["a", "b"])) == (
        "The profiles agree by 66.7% in shares of the time by metric and call path (J); they "
        "differ most in mpi (mpi) of main > MPI_Recv: 10.0% of the time in a, 30.0% in b."
    )
    assert "66.7%" in verdict(compare([WAITS, LESS, WAITS]))


@pytest.mark.parametrize(
    ("profiles", "options", "error", "reason"),
    [
        ([BEFORE], {}, ParameterError, "at least two"),
        ([], {}, ParameterError, "at least two"),
        ([BEFORE, AFTER], {"metrics": "most"}, ParameterError, "time-tree, fig1, all"),
        ([BEFORE, AFTER], {"names": ["a"]}, ParameterError, "1 names for 2"),
        (
            [BEFORE, profile_of({("a", "main"): 1}, tree={"a": None})],
            {"names": ["a", "b.cubex"]}, NotEnoughDataError, "b.cubex has no metric time",
        ),
        (
            [BEFORE, profile_of({("comp", "main"): 1}, combined={"time": "max"})],
            {}, NotEnoughDataError, "no metric time",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_compared(profiles, options, error, reason):
    with pytest.raises(error, match=reason):
        compare(profiles, **options)


def test_values_that_are_no_numbers_and_metrics_that_nobody_has_are_refused():
    values = Values(np.array([0], np.int32), np.array([[np.inf]]), inclusive=False)
    broken = replace(BEFORE, stored={**BEFORE.stored, "comp": values})

    with pytest.raises(NotEnoughDataError, match="comp are no numbers"):
        j_mc(BEFORE, broken)
    with pytest.raises(ParameterError, match="mpi_probe"):
        j_c(BEFORE, AFTER, "mpi_probe")


def test_bars_of_kinds_of_time_are_stacked_up_to_the_time():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    plane = figure.add_subplot()
    idle = profile_of(
        {("time", "main"): 10, ("comp", "main"): 30, ("omp_idle_threads", "main"): 60}
    )

    draw_kinds(plane, compare([WAITS, idle]))

    labels = [text.get_text() for text in plane.get_legend().get_texts()]
    heights = [bar.get_height() for bar in plane.patches]
    assert labels == ["comp", "mpi", "omp idle threads", "other"]
    assert [heights[which::2] for which in (0, 1)] == [
        pytest.approx([60, 40, 0, 0]), pytest.approx([30, 0, 60, 10]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "title"),
    [
        ("", "Where mpi latesender (mpi_latesender) is, %"),
        ("mpi", "Where mpi (mpi) is, %"),
        (
            "delay_latesender_aggregate",
            "What causes mpi latesender (delay_latesender_aggregate)",
        ),
    ],
)
def test_a_picture_shows_the_metric_that_is_asked_for(metric, title):
    pytest.importorskip("matplotlib")
    tree = TREE | ({metric: None} if metric.startswith("delay_") else {})
    values = {
        ("comp", "main"): 60,
        ("mpi_latesender", "main"): 40,
        (metric or "mpi", "main"): 9,
    }
    picture = comparison_plot(
        compare([profile_of(values, tree=tree), WAITS]), form="svg", metric=metric
    )

    assert title in picture.decode()


def test_bars_of_call_paths_are_stacked_up_to_all_the_largest_first():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    paths = {("comp", f"main/f{number}"): 2**number for number in range(9)}
    less = {key: value + 20 for key, value in paths.items()}
    plane = figure.add_subplot()

    draw_call_paths(plane, compare([profile_of(paths), profile_of(less)]), "comp")

    bars = plane.patches
    assert [text.get_text() for text in plane.get_legend().get_texts()] == [
        *(f"main > f{number}" for number in (8, 7, 6, 5, 4, 3)), "other call paths",
    ]  # fmt: skip
    for which in (0, 1):
        ends = [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in bars[which::2]]
        assert [end for _, end in ends[:-1]] == pytest.approx([start for start, _ in ends[1:]])
        assert (ends[0][0], ends[-1][1]) == pytest.approx((0, 100))


def test_what_openmp_does_is_named_with_the_function_that_it_is_in():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    plane = figure.add_subplot()
    path = "main/solve/dot/!$omp parallel/!$omp for"
    profiles = [profile_of({("comp", path): 2, ("comp", "main/solve"): 1})] * 2

    draw_call_paths(plane, compare(profiles), "comp")

    assert [text.get_text() for text in plane.get_legend().get_texts()] == [
        "dot > !$omp parallel > !$omp for", "main > solve",
    ]  # fmt: skip
