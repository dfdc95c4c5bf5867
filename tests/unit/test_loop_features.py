"""Features of calls are what their counters say, and those that differ tell loops apart."""

from __future__ import annotations

import argparse
import json
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

import burstline
from burstline import show
from burstline.cli import usage
from burstline.cli.commands import structure
from burstline.cli.commands.structure import draw_factor_map, features_asked, study_view
from burstline.errors import MissingExtraError, NotEnoughDataError, ParameterError
from burstline.show.pictures.factors import factor_plot
from burstline.structure import detect
from burstline.structure.calls import Calls
from burstline.studies.feature_analysis import factor_map, importance
from burstline.studies.loop_features import features
from burstline.studies.loop_labels import labels_of
from labelled import counting, labelled, loop_of_line
from loop_programs import CALL_NS, WORK_NS, Do, loop, run

TOTAL, BRANCHES, LOADS, CYCLES = "PAPI_TOT_INS", "PAPI_BR_INS", "PAPI_LD_INS", "PAPI_TOT_CYC"
pytestmark = pytest.mark.usefixtures("few_trees")
TEXT = "{http://www.w3.org/2000/svg}text"
ALL = (TOTAL, BRANCHES, LOADS, CYCLES)
PROGRAM = (
    loop(20, Do("Send", 3), Do("Barrier", 4), Do("Bcast", 5)),
    loop(20, Do("Recv", 7), Do("Reduce", 8), Do("Gather", 9)),
)


def work(line, rank):
    """Give the first loop many branches, the second many loads."""
    branches, loads = (400, 50) if line < 6 else (100, 300)
    noise = (7 * line + 3 * rank) % 5
    return {TOTAL: 1000, BRANCHES: branches + noise, LOADS: loads + noise, CYCLES: 500}


def program(counters=ALL, does=work, ranks=3):
    trace = labelled(run(*PROGRAM, ranks=ranks), loop_of_line(PROGRAM))
    return counting(trace, counters, lambda *at: {n: does(*at)[n] for n in counters})


def found_in(trace, **options):
    calls = Calls(trace, None)
    return features(trace, calls, labels_of(trace, calls), **options)


def column(found, name):
    return found.values[:, found.names.index(name)]


def command(*words):
    parser = argparse.ArgumentParser()
    usage.add(parser, structure.OPTIONS)
    return parser.parse_args(["run.prv", *map(str, words)])


def printed(capsys, trace, *words):
    arguments = command(*words)
    view = study_view(burstline.open(trace), detect(trace, method="exact"), arguments)
    show.output(view, arguments.format)
    draw_factor_map(view, arguments)
    return capsys.readouterr()


def test_work_counters_stand_in_for_those_of_the_processor():
    names = ("IR_TOT_INS", "IR_LD_INS", "IR_FP_INS")
    found = found_in(program(names, lambda *_: dict(zip(names, (300, 60, 30), strict=True))))

    assert found.names == ("iterations", "iteration time", "IPC", "loads", "floating point")
    assert found.made_of["IPC"] == "IR_TOT_INS / ns"
    assert set(column(found, "IPC")) == {300 / WORK_NS}
    assert set(column(found, "floating point")) == {0.1}


def test_counters_of_the_processor_come_first():
    names = (TOTAL, LOADS, "IR_TOT_INS", "IR_LD_INS", "IR_BR_INS")
    values = dict(zip(names, (100, 50, 200, 20, 60), strict=True))
    found = found_in(program(names, lambda *_: values))

    assert found.made_of["loads"] == f"{LOADS} / {TOTAL}"
    assert found.made_of["branches"] == "IR_BR_INS / IR_TOT_INS"
    assert found.made_of["IPC"] == f"{TOTAL} / ns"
    assert set(column(found, "branches")) == {0.3}


def test_calls_whose_counters_were_not_read_are_left_out_and_counted():
    def sometimes(line, rank):
        return work(line, rank) if rank else dict.fromkeys(ALL)

    found = found_in(program(does=sometimes))

    assert (len(found), found.unread) == (12, 6)
    assert 0 not in found.lane


def test_a_counter_that_was_hardly_read_is_left_out_instead():
    def rarely(line, rank):
        return work(line, rank) | ({} if rank == 0 else {LOADS: None})

    found = found_in(program(does=rarely))

    assert "loads" not in found.names
    assert "loads" in found.unknown
    assert (len(found), found.unread) == (18, 0)


def test_counters_that_take_turns_are_compared_where_both_were_read():
    def in_turns(line, rank):
        values = work(line, rank) | {TOTAL: 1000 * line}
        return values | {LOADS if line % 2 else BRANCHES: None}

    found = found_in(program(does=in_turns, ranks=1))

    first = found.loop == 1
    branches, loads = 400 + 21 % 5 + 400 + 35 % 5, 50 + 28 % 5
    assert np.allclose(column(found, "branches")[first], branches / 8000, rtol=0.01)
    assert np.allclose(column(found, "loads")[first], loads / 4000, rtol=0.01)


def test_a_call_belongs_to_the_loop_that_most_of_its_labels_name():
    steps = loop(20, Do("Send", 3), Do("Barrier", 4))
    trace = labelled(run(steps, ranks=1), {3: 1, 4: 1})
    calls = Calls(trace, None)
    labels = labels_of(trace, calls)
    labels.loop[1 : 1 + 2 * 7 : 2] = 2
    labels.loop[2 : 2 + 2 * 13 : 2] = 2

    found = features(trace, calls, labels)
    assert found.loop.tolist() == [1, 2]


def test_a_loop_has_the_means_of_its_calls():
    found = found_in(program(), scale="minmax")
    loops = found.by_loop()

    assert loops.loop.tolist() == [1, 2]
    assert loops.names == found.names
    for row, number in enumerate((1, 2)):
        assert np.allclose(loops.values[row], found.values[found.loop == number].mean(axis=0))


def test_too_little_has_neither_features_nor_a_map_nor_a_picture(tmp_path, capsys):
    trace = run(Do("Send", 3))
    with pytest.raises(NotEnoughDataError, match="more than once"):
        features(trace, Calls(trace, None))
    with pytest.raises(ParameterError, match="no scale"):
        features(trace, Calls(trace, None), scale="square")
    with pytest.raises(NotEnoughDataError, match="too few"):
        factor_map(found_in(program()).by_loop())
    with pytest.raises(NotEnoughDataError, match="18 rows of 0 variables"):
        factor_map(found_in(program((TOTAL,), lambda *_: {TOTAL: 100})))
    with pytest.raises(NotEnoughDataError, match="too few"):
        printed(capsys, run(loop(20, Do("Send", 3))), "--factor-map", tmp_path / "map.svg")


def test_the_factor_map_is_that_of_the_oracle():
    from sklearn.decomposition import PCA

    found = found_in(program())
    factors = factor_map(found)
    kept = [found.names.index(name) for name in factors.names]
    standard = found.values[:, kept]
    standard = (standard - standard.mean(axis=0)) / standard.std(axis=0)
    oracle = PCA().fit(standard)
    scores = oracle.transform(standard)[:, :2]

    assert factors.constant == ("iterations", "iteration time", "IPC")
    assert np.allclose(factors.explained, oracle.explained_variance_ratio_)
    expected = [
        [np.corrcoef(standard[:, j], scores[:, k])[0, 1] for k in (0, 1)]
        for j in range(len(kept))
    ]
    assert np.allclose(np.abs(factors.correlation[:, :2]), np.abs(expected))
    assert np.allclose(factors.between, np.corrcoef(standard.T))
    assert np.allclose(factors.on_map, 1.0)


def test_a_forest_prefers_what_differs_between_loops_and_finds_unseen_calls():
    found = found_in(program())
    told, again = importance(found), importance(found)

    assert np.array_equal(told.impurity, again.impurity)
    assert np.array_equal(told.permutation, again.permutation)
    assert (told.rows, told.loops, told.tested) == (18, 2, 18)
    assert told.accuracy == 1.0
    assert told.by_chance == 0.5
    useful = [told.names.index(name) for name in ("branches", "loads")]
    assert told.impurity[useful].sum() == pytest.approx(1.0)
    assert told.permutation[0] == 0.0


def test_ranks_that_execute_one_call_are_no_evidence_of_each_other():
    found = found_in(program())
    turn = {line: k for k, line in enumerate((3, 7, 4, 8, 5, 9))}
    of_site = [turn[found.sites[n].path[-1].line] for n in found.site.tolist()]
    values = np.array(of_site, float)[:, None]

    told = importance(replace(found, names=("site",), values=values))
    assert told.accuracy <= 0.5


def test_loops_of_one_call_site_each_leave_nothing_to_test():
    steps = (loop(20, Do("Send", 3)), loop(30, Do("Barrier", 5)))
    told = importance(found_in(labelled(run(*steps), loop_of_line(steps))))

    assert (told.tested, told.loops) == (0, 2)
    assert told.impurity.sum() == pytest.approx(1.0)
    assert told.as_dict()["accuracy"] is told.as_dict()["permutation"] is None


def test_one_loop_alone_needs_no_telling_apart_and_a_forest_its_extra(monkeypatch):
    steps = (loop(20, Do("Send", 3), Do("Barrier", 4)),)
    with pytest.raises(NotEnoughDataError, match="1 labelled loop"):
        importance(found_in(labelled(run(*steps), loop_of_line(steps))))

    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtraError, match=r"burstline\[ml\]"):
        importance(found_in(program()))


def test_the_command_prints_features_factors_forest_and_accuracy(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    text = printed(capsys, program(), "--features").out

    assert "5 of 18 unique calls, 6 executed once left out" in text
    assert "no counter of the trace gives conditional branches" in text
    assert "100.0 % of 18 calls of unseen sites put right" in text
    assert f"{BRANCHES} / {TOTAL}" in text
    assert "Detected loops against those of the source" in text
    assert "a.c:100" in text
    assert "a.c:200" in text


def test_the_command_compares_both_methods_that_asked_for_first(capsys):
    document = json.loads(printed(capsys, program(), "--features", "--format", "json").out)

    assert [each["method"] for each in document["accuracy"]] == ["exact", "seed"]
    assert document["accuracy"][0]["adjusted_rand"] == 1.0
    assert document["labels"] == "events"
    assert document["factors"]["constant"] == ["iterations", "iteration time", "IPC"]
    assert set(document["importance"]["impurity"]) == set(document["variables"])
    assert document["missing"] == []


@pytest.mark.parametrize("scale", ["log", "minmax"])
def test_the_command_gives_what_was_measured_as_csv(capsys, scale):
    out = printed(capsys, program(), "--features", "--format", "csv", "--scale", scale).out
    head, *rows = out.splitlines()
    assert head.startswith("rank,operation,file,line,loop,loop_name,iterations,iteration_time_")
    assert (len(rows), rows[0][:20]) == (18, "0,MPI_Send,a.c,3,1,a")
    assert all(f",20.0,{3.0 * (WORK_NS + CALL_NS)}," in row for row in rows)


def test_what_cannot_be_said_is_said_to_be_missing(capsys, monkeypatch):
    plain = printed(capsys, run(*PROGRAM), "--features").out
    assert "missing" in plain
    assert "labels of its loops" in plain
    assert "Detected loops" not in plain

    monkeypatch.setitem(sys.modules, "sklearn", None)
    without_extra = printed(capsys, program(), "--features").out
    assert "burstline[ml]" in without_extra
    assert "Detected loops" in without_extra


def test_features_of_loops_need_labels(capsys):
    document = printed(capsys, program(), "--features", "loops", "--format", "json").out
    assert json.loads(document)["unique_calls"]["compared"] == 2

    with pytest.raises(NotEnoughDataError, match="--features calls"):
        printed(capsys, run(*PROGRAM), "--features", "loops")


def test_the_map_is_drawn_where_the_command_says(capsys, tmp_path):
    path = tmp_path / "map.svg"
    words = "--factor-map", path
    assert features_asked(command(*words))

    said = printed(capsys, program(), *words)
    texts = [element.text for element in ET.parse(path).iter(TEXT)]  # noqa: S314 -- our own
    assert {"branches", "loads"} <= set(texts)
    assert "2 variables" in said.err
    with pytest.raises(ParameterError, match="exists"):
        features_asked(command(*words))
    assert features_asked(command(*words, "--force"))


def test_features_are_asked_for_or_not():
    assert not features_asked(command())
    assert command("--features").features == "calls"
    with pytest.raises(ParameterError, match=r"\.svg or \.png"):
        features_asked(command("--factor-map", "map.pdf"))


@pytest.mark.parametrize("form", ["svg", "png"])
def test_the_same_map_is_the_same_picture(form):
    factors = factor_map(found_in(program()))
    pictures = {factor_plot(factors, form=form, title="<a> & $b$\x1b[31m") for _ in range(2)}

    (picture,) = pictures
    if form == "svg":
        ET.fromstring(picture)  # noqa: S314 -- our own
    else:
        assert picture.startswith(b"\x89PNG")


def test_names_in_a_picture_do_not_overlap():
    factors = factor_map(found_in(program()))
    many = type(factors)(
        names=tuple(f"v{k}" for k in range(8)),
        correlation=np.tile([0.9, 0.1], (8, 1)),
        explained=factors.explained,
        between=np.eye(8),
        rows=18,
        constant=(),
    )
    root = ET.fromstring(factor_plot(many, form="svg"))  # noqa: S314 -- our own
    heights = [
        float(element.get("y") or element.get("transform").split()[-1].rstrip(")"))
        for element in root.iter(TEXT)
        if (element.text or "").startswith("v")
    ]

    assert len(heights) == 8
    assert np.diff(sorted(heights)).min() > 8
