"""A run computes each analysis once, within its budget, for whoever asks."""

from __future__ import annotations

import threading
from collections import Counter
from importlib.resources import files

import pytest

import burstline
from burstline import signature, structure, waits
from burstline.efficiency import ideal_network
from burstline.errors import MemoryBudgetError, ParameterError
from burstline.run import Needs, analyses
from burstline.synchronisation import columns
from burstline.waits import analysis
from burstline.waits import parts as of_waits

SHIPPED = files("burstline") / "data" / "lulesh_8r.prv.gz"


@pytest.fixture(scope="module")
def trace():
    return burstline.read(SHIPPED)


@pytest.fixture
def entered(monkeypatch):
    """How often what costs most is entered, whoever calls it."""
    count = Counter()

    def counting(name, function):
        def called(*args, **options):
            count[name] += 1
            return function(*args, **options)

        return called

    places = {
        "detect": [(structure, "detect"), (analysis, "detect")],
        "call_tree": [(columns, "rooted_tree")], "sync_of": [(columns, "sync_of")],
        "ideal network": [(ideal_network, "replay")], "states_of": [(waits, "states_of")],
        "phases": [(signature, "phases")], "loop_table": [(structure, "loop_table")],
        "summed": [(analyses, "summed")],
    }  # fmt: skip
    assert not hasattr(of_waits, "detect")
    for name, homes in places.items():
        for module, attribute in homes:
            monkeypatch.setattr(module, attribute, counting(name, getattr(module, attribute)))
    return count


def test_what_several_analyses_need_is_computed_once(trace, entered):
    run = burstline.open(trace)
    for _ in range(2):
        run.summary(full=True)
        found = run.structure()
        run.waits(by="loop")
        run.waits(by="iteration")
        run.iterations(found.loops[0].id)
        run.phases()

    assert entered == {
        "summed": 1, "detect": 1, "call_tree": 1, "sync_of": 1, "ideal network": 1,
        "states_of": 2, "loop_table": 1, "phases": 1,
    }  # fmt: skip


def test_results_are_those_of_the_functions(trace):
    run = burstline.open(trace)

    assert run.summary(full=True) == burstline.summarise(trace, full=True)
    assert run.structure().as_dict() == burstline.detect(trace).as_dict()
    assert run.waits(by="loop").as_dict() == burstline.wait_states(trace, by="loop").as_dict()
    assert run.phases().as_dict() == burstline.phases(trace).as_dict()


def test_two_threads_that_ask_at_once_get_one_result(trace, entered):
    run, results = burstline.open(trace), []
    gate = threading.Barrier(4)

    def ask():
        gate.wait()
        results.append(run.structure())

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert len(results) == 4
    assert len({id(each) for each in results}) == 1
    assert entered["detect"] == 1


def test_what_failed_is_tried_again(trace, monkeypatch):
    run = burstline.open(trace)
    with monkeypatch.context() as patch:
        patch.setattr(structure, "detect", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run.structure()

    assert run.structure().loops


def test_what_does_not_fit_is_refused_before_it_begins(trace, entered):
    run = burstline.open(trace, memory=1000)

    for ask in (run.structure, run.waits, run.phases, lambda: run.summary(full=True)):
        with pytest.raises(MemoryBudgetError) as refused:
            ask()
        assert refused.value.allowed_bytes == 1000
    assert not entered
    assert run.summary().ranks == 8  # goes through the trace part by part


def test_what_is_large_goes_where_memory_is_short_and_nobody_holds_it(trace, entered):
    run = burstline.open(trace)
    run.ask("graph")
    held = run.ask("ideal")
    run.memory = run.room(Needs({"calls": 1.0, "bursts": 1.0}, 1.6))[0]
    run.structure()
    run.memory = 1 << 40

    run.ask("graph")
    assert entered["call_tree"] == 2
    assert run.ask("ideal") is held
    assert entered["ideal network"] == 1


def test_a_part_is_a_run_of_its_own(trace):
    run = burstline.open(trace)
    part = run.part(ranks=[0, 1])

    assert part.summary().ranks == 2
    assert part.summary() is part.summary()
    loop = max(run.structure().loops, key=lambda each: each.share)
    one = run.part(iterations=(loop.id, 2, 2))
    assert one.chosen.loop == loop.id
    assert 0 < one.summary().bursts < run.summary().bursts
    assert run.part() is run
    with pytest.raises(ParameterError, match="parts are chosen of a whole run"):
        part.part(ranks=[0])


def test_there_is_no_other_analysis_or_parameter(trace):
    run = burstline.open(trace)

    with pytest.raises(ParameterError, match="no analysis 'time'; there are"):
        run.ask("time")
    with pytest.raises(ParameterError, match="structure has no parameter eps_of"):
        run.structure(eps_of=3)


def test_parameters_are_those_of_the_functions():
    for name, function in (("structure", burstline.detect), ("phases", burstline.phases)):
        usual = dict(function.__kwdefaults__)
        usual.pop("progress", None)
        assert analyses.ANALYSES[name].parameters == usual
    usual = burstline.wait_states.__kwdefaults__
    assert analyses.ANALYSES["waits"].parameters == usual | {"causes": True}
    usual = burstline.summarise.__kwdefaults__
    assert analyses.ANALYSES["summary"].parameters == usual
