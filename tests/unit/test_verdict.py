"""The verdict on a run: what is said of it first, of what is known and of what is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

import burstline
from burstline.answers import checks, verdict_on_run
from burstline.run import analyses
from burstline.testing import trace_of
from verdicts import MS, looping

QUESTIONS = ["judged", "time step", "efficiency", "waits", "not recorded"]


def told(trace, **given):
    run = burstline.open(trace)
    said = verdict_on_run(run.summary(), run.structure(), run.waits(), **given)
    assert sorted(each.question for each in said) == sorted(QUESTIONS)
    return {each.question: each.sentence for each in said}


def check_of(trace, name):
    """One of the checks of a run, with all that is asked for."""
    [check] = [each for each in burstline.open(trace).verdict().checks if each.name == name]
    return check


def test_of_ranks_that_share_processors_no_cause_is_told():
    trace = looping(cpu=(1 / 6, 1))

    said = told(trace)

    assert said["judged"] == (
        "Judge this run with care: ranks probably shared processors: by task-clock they were "
        "on one for only 25.0 % of their computing (sleeping or reading files looks the "
        "same). Run it again with a processor for each rank before changing code."
    )
    assert said["waits"].endswith(
        "at solver.c:42: who causes it cannot be told, as whoever waited for a processor came "
        "late and made others wait."
    )
    alone = check_of(trace, "processors not shared")
    assert (alone.passed, alone.bound, alone.by) == (False, 0.95, "task-clock")
    assert alone.figure == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("given", "first"),
    [
        ({}, ["waits", "judged"]),
        ({"path": False}, ["judged", "waits"]),  # what does not hold goes before
        ({"computing": (50, 50)}, ["judged", "time step"]),  # nobody is blamed
        ({"cpu": (1 / 6, 1)}, ["judged", "time step"]),  # nor can be
    ],
)
def test_who_is_to_blame_is_told_first_unless_the_run_may_not_be_judged(given, first):
    run = burstline.open(looping(**{"cpu": 1} | given))

    said = verdict_on_run(run.summary(), run.structure(), run.waits())

    assert [each.question for each in said[:2]] == first


def test_ranks_that_hardly_compute_may_share_their_processors_in_mpi():
    trace = looping(cpu=1, computing=(20, 10))

    assert told(trace)["judged"].endswith(
        "Whether ranks shared processors is not known: ranks hardly compute, so look how many "
        "processors the machine has."
    )
    alone = check_of(trace, "processors not shared")
    assert (alone.figure, alone.passed) == (pytest.approx(1), None)


def test_a_clock_of_processors_that_tells_nothing_is_not_asked_for_again():
    summary = replace(burstline.summarise(looping(cpu=1)), processor=None)  # as of threads
    without = burstline.summarise(looping())

    remedy, other = (checks(one)[2].remedy for one in (summary, without))

    assert remedy.startswith("threads of a rank wait for each other")
    assert other == "record a counter of processor time, such as cpu"


def test_without_callers_a_run_may_be_judged_but_not_located():
    said = told(looping(path=False))

    assert said["judged"].startswith("Judge this run with care: callers are not known. ")
    assert said["waits"].endswith(
        "rank 0 causes 100.0 %, above all computing from one MPI_Barrier to the next (96.0 %)."
    )
    assert said["time step"].startswith("Loop 1 takes 98.0 ms an iteration")
    assert said["not recorded"] == "Callers of MPI were not recorded, so no line is known."


def test_a_short_run_with_losses_is_judged_with_care():
    said = told(looping(steps=1, computing=(80, 10), lost="defect odd loss 3 here"))

    assert said["judged"].startswith(
        "Judge this run with care: 3 losses of records met; it lasts only 100 ms, less than "
        "1.00 s; nothing repeats in it. Record it again, up to MPI_Finalize and with larger "
        "buffers. Run more time steps. "
    )
    assert said["waits"].endswith("As the trace lacks something, this may be wrong.")


def test_clocks_that_disagree_spoil_what_is_said_of_waits():
    run = burstline.open(looping())
    waits = run.waits()
    early = replace(waits, corrected=waits.corrected | {"worst_ns": 2 * MS})

    judged, said, *_ = verdict_on_run(run.summary(), run.structure(), early)

    assert "clocks disagree: events are up to 2.00 ms before their cause" in judged.sentence
    assert said.sentence.endswith("As clocks disagree, this may be wrong.")


def test_the_time_step_has_its_lines_and_its_cost():
    assert told(looping())["time step"] == (
        "Loop 1, solver.c:42 in main, takes 98.0 ms an iteration on average; 25 iterations are "
        "98.0 % of the 2.50 s from MPI_Init to MPI_Finalize."
    )
    none = "No loop was found in the calls of MPI, so no time step."
    assert told(looping(steps=1))["time step"] == none


def test_a_part_of_a_run_has_no_ends_of_one_and_a_loop_that_is_misread_is_doubted():
    run = burstline.open(looping())
    part, misread = run.part(iterations=(1, 2, 3)), replace(run.structure(), fidelity=0.5)

    [step] = [each for each in part.verdict().sentences if each.question == "time step"]
    _, _, doubted, *_ = verdict_on_run(run.summary(), misread, run.waits())

    assert step.sentence.endswith("that were looked at.")
    assert doubted.sentence.endswith(
        " But the loops that were found make only 50.0 % of the calls in their order."
    )


def test_a_program_without_mpi_has_no_efficiency():
    verdict = burstline.open(trace_of("ranks 1 | 0 | 0 enter work | 9 leave")).verdict()

    _, step, efficiency, *_ = (each.sentence for each in verdict.sentences)
    assert step == ("The time step is not known: the trace has no MPI calls to find loops in.")
    assert efficiency.startswith("There is no parallel efficiency: ")
    assert verdict.missing.keys() == {"structure", "waits"}
    assert verdict.left_out == ()


def test_what_nobody_waits_in_is_transfer():
    assert told(looping(computing=(50, 50)))["waits"] == (
        "MPI takes 50.0 % of the time without waiting for anybody, most of it in MPI_Barrier "
        "called by main at solver.c:42: no rank is to blame."
    )
    nothing = "No thread was seen to wait between Init and Finalize."
    assert told(looping(computing=(99, 99)))["waits"] == nothing
    little = "Threads wait for 2.0 % of the time: too little to look for a cause."
    assert told(looping(computing=(99, 95)))["waits"] == little


def test_what_was_not_looked_for_is_told_with_its_reason():
    summary = burstline.summarise(looping())

    bare = [each.sentence for each in verdict_on_run(summary)]
    reason = [each.sentence for each in verdict_on_run(summary, missing={"waits": "no time."})]

    assert bare[1] == "The time step is not known: it was not looked for."
    assert bare[3] == "Who waits for whom is not known: it was not looked for."
    assert reason[3] == "Who waits for whom is not known: no time."


def test_each_number_of_a_sentence_is_a_fact_in_its_order():
    run = burstline.open(looping(cpu=0.3))
    verdict = run.verdict()

    [step] = [each for each in verdict.sentences if each.question == "time step"]

    assert [(each.name, each.value, each.unit) for each in step.facts] == [
        ("mean iteration", 98 * MS, "ns"),
        ("iterations", 25, "count"),
        ("in the loop", 0.98, "share"),
        ("baseline", 2500 * MS, "ns"),
    ]
    assert step.facts[0].place.as_dict() == {
        "rank": None, "function": "main", "file": "solver.c", "line": 42
    }  # fmt: skip


def test_a_run_is_asked_for_its_verdict_once():
    run = burstline.open(looping())

    verdict = run.verdict()

    assert verdict is run.verdict()
    assert [each.sentence for each in verdict.sentences] == [*told(looping()).values()]
    assert verdict.missing == {}
    assert verdict.as_dict().keys() == {"verdict", "checks", "per_rank", "missing"}
    for rank in verdict.per_rank:
        parts = [rank.computing_ns, rank.waiting_ns, rank.transferring_ns]
        parts += [rank.init_finalize_ns, rank.not_recorded_ns]
        assert sum(parts) == rank.whole_ns == 2500 * MS


def test_what_would_take_too_long_or_does_not_fit_is_left_out_with_its_reason(monkeypatch):
    monkeypatch.setattr(analyses, "_EACH_S", 1.0)  # 54 calls
    run = burstline.open(looping())
    verdict = run.verdict(most_s=53)
    assert verdict.left_out == ("structure", "waits")
    assert "finding loops and waits would take about 54 s" in verdict.sentences[1].sentence
    assert verdict.per_rank[0].waiting_ns is None
    assert run.verdict(most_s=55).left_out == run.verdict().left_out == ()

    verdict = burstline.open(looping(), memory=1).verdict()
    assert verdict.left_out == ("structure", "waits")
    assert "that needs about" in verdict.sentences[3].sentence
