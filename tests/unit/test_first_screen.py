"""The first screen of a page in words: the headline, five answers, and what they rest on."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

import burstline
from burstline.answers import Known, longest_loop, overview, place_shares, screen, text_of
from burstline.answers.places import short_text
from burstline.errors import BurstlineError
from burstline.testing import trace_of
from verdicts import MS, looping

LATE_IN_MPI = """
ranks 2
path 0 main file a.c line 5
path 1 main file a.c line 7
0 | 0 enter MPI_Init path 0 | 1 leave
  | 2 enter MPI_Send path 1 | 2 send to 1 tag 9 bytes 8 | 80 leave
  | 81 enter MPI_Send path 0 | 81 send to 1 tag 1 bytes 8 | 82 leave
  | 100 enter MPI_Finalize path 0 | 101 leave
1 | 0 enter MPI_Init path 0 | 1 leave
  | 3 enter MPI_Irecv path 0 | 4 leave
  | 5 enter MPI_Recv path 0 | 83 receive from 0 tag 1 bytes 8 | 83 leave
  | 84 enter MPI_Recv path 0 | 85 receive from 0 tag 9 bytes 8 | 85 leave
  | 100 enter MPI_Finalize path 0 | 101 leave
"""
LULESH = files("burstline") / "data" / "lulesh_8r.prv.gz"
NAMES = ["time step", "efficiency", "waits", "cause", "advice"]


def known_of(trace, **given):
    """All that is known of a run, or what is given of it."""
    run = burstline.open(trace)
    found, missing = {}, {}
    for name in ("structure", "waits", "lines"):
        try:
            found[name] = run.ask(name)
        except BurstlineError as error:
            missing[name] = str(error)
    if "structure" in found and (loop := longest_loop(found["structure"])):
        found["steps"] = run.iterations(loop.id)
    made = Known(run.summary(), run.verdict().checks, missing=missing, **found)
    return replace(made, **given)


BLAMED = "Rank 0 causes 100.0 % of the waiting, computing longer than the others. "


def said(known):
    """Its headline, and the sentences and notes of each answer by name."""
    made = overview(known)
    answers = {
        each.name: " ".join(part.sentence for part in (*each.sentences, *each.notes))
        for each in made.answers
    }
    return answers | {"headline": " ".join(each.sentence for each in made.headline)}


@pytest.mark.parametrize(
    ("computing", "headline"),
    [
        ((90, 30), f"{BLAMED}MPI_Barrier at solver.c:42 takes 40.0 % of all rank time."),
        (
            (70, 10),
            f"{BLAMED}Most of this run is one line: MPI_Barrier at solver.c:42 takes 60.0 % of",
        ),
        ((50, 50), "Half of this run is one line: MPI_Barrier at solver.c:42 takes 50.0 % of"),
        ((100, 99), "No line of MPI takes 1 % of all rank time. Computing takes 99.5 %."),
    ],
)
def test_the_headline_is_who_causes_it_the_largest_loss_and_the_share_of_computing(
    computing, headline
):
    assert said(known_of(looping(computing=computing)))["headline"].startswith(headline)


def test_the_headline_of_a_trace_without_callers_names_no_line():
    assert said(known_of(looping(path=False, computing=(80, 80))))["headline"] == (
        "Judge this run with care: callers are unknown. "
        "MPI_Barrier takes 20.0 % of all rank time. Computing takes 80.0 %."
    )


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("not_recorded", "90.0 % of all rank time was not recorded."),
        ("ends", "MPI_Init and MPI_Finalize take 90.0 % of all rank time."),
        ("idle", "Idle threads take 90.0 % of all rank time."),
        ("threads", "Threads that wait for each other take 90.0 % of all rank time."),
        ("openmp", "OpenMP itself takes 90.0 % of all rank time."),
        ("io", "Files take 90.0 % of all rank time."),
    ],
)
def test_the_headline_is_a_kind_of_time_that_no_line_of_mpi_has(kind, text):
    known = known_of(looping())
    kinds = dict.fromkeys(known.lines.kinds, 0) | {kind: 4500 * MS, "computing": 500 * MS}

    lines = replace(known.lines, kinds=kinds)

    assert said(replace(known, lines=lines))["headline"] == (
        f"{BLAMED}{text} Computing takes 10.0 %."
    )


def test_without_a_structure_the_headline_is_of_all_of_mpi():
    known = known_of(looping(computing=(90, 30)), structure=None, missing={"structure": "No."})

    told = said(replace(known, lines=replace(known.lines, places=())))

    assert told["headline"] == (
        f"{BLAMED}MPI takes 40.0 % of all rank time. At which lines is not known: No. "
        "Computing takes 60.0 %."
    )


def test_without_a_timeline_the_headline_says_why():
    missing = known_of(looping(), lines=None, missing={"lines": "It does not fit."})
    nothing = said(known_of(trace_of("ranks 1 | 0 | 0 enter work | 9 leave")))

    assert said(missing)["headline"] == (
        f"{BLAMED}Ranks compute for 50.0 % of the time. "
        "Where the rest goes is not known: It does not fit."
    )
    assert nothing["headline"].startswith(
        "Judge this run with care: it is short. No efficiency can be told: "
    )


def test_the_time_step_has_its_cost_its_spread_and_its_lines():
    assert said(known_of(looping()))["time step"] == (
        "A step takes 98.0 ms; 25 steps are 98.0 % of the 2.50 s from MPI_Init to "
        "MPI_Finalize. All steps last 100 ms. "
        "It is loop 1 of 1, solver.c:42 in main."
    )


def test_a_time_step_that_is_not_known_is_told_with_its_reason():
    nothing = said(known_of(looping(steps=1)))["time step"]
    reason = known_of(looping(), structure=None, missing={"structure": "It was not asked."})

    assert nothing == "No loop was found in the calls of MPI, so there is no time step."
    assert said(reason)["time step"] == "It is not known: It was not asked."


@pytest.mark.parametrize(
    ("slope", "p_value", "told"),
    [
        (2 * MS, 0.01, "each 2.00 ms longer than the one before in the median."),
        (-2 * MS, 0.01, "each 2.00 ms shorter than the one before in the median."),
        (2 * MS, 0.5, "Steps last 90.0 ms to 110 ms, without a trend beyond chance."),
    ],
)
def test_steps_that_drift_are_told(slope, p_value, told, monkeypatch):
    known = known_of(looping())
    summary = known.steps.summary()
    drifts = replace(summary, trend=replace(summary.trend, slope=slope, p_value=p_value))
    monkeypatch.setattr(type(known.steps), "summary", lambda _: drifts)
    by_iteration = {"mean_ns": np.array([90.0, 110.0]) * MS}
    monkeypatch.setattr(type(known.steps), "by_iteration", lambda *_, **__: by_iteration)

    assert told in said(known)["time step"]


@pytest.mark.parametrize(
    ("computing", "told"),
    [
        ((90, 10), "load balance, 55.6 %: rank 0 computes 2.25 s, the mean is 1.25 s."),
        (
            (50, 50),
            "if calls of MPI cost nothing, the run would take 1.25 s instead of 2.50 s.",
        ),
        ((99, 95), "No factor hurts: the lowest is load balance with 98.0 %."),
    ],
)
def test_the_worst_factor_says_what_it_costs(computing, told):
    assert said(known_of(looping(computing=computing)))["efficiency"].endswith(told)


def test_a_second_factor_is_told_if_it_is_low():
    known = known_of(looping())
    waits = replace(
        known.waits, efficiency=known.waits.efficiency | {"transfer": 0.5, "serialisation": 0.7}
    )

    told = said(replace(known, waits=waits))["efficiency"]

    assert "The worst factor is transfer, 50.0 %: if calls of MPI cost nothing, the" in told
    assert told.endswith("Load balance is 55.6 %: rank 0 computes 2.25 s, the mean is 1.25 s.")


def test_without_waits_communication_is_the_factor():
    told = said(known_of(looping(computing=(50, 50)), waits=None))

    assert told["efficiency"].endswith(
        "The worst factor is communication, 50.0 %: rank 0 computes 1.25 s of 2.50 s, no other "
        "more."
    )
    assert told["waits"] == "It is not known: it was not looked for."
    assert "cause" not in told
    assert "cause" not in said(known_of(looping(computing=(99, 95))))


def test_waits_have_their_place_and_their_ranks():
    assert said(known_of(looping()))["waits"] == (
        "Known waits are 2.00 s, 40.0 % of all rank time. 2.00 s are for the last rank of a "
        "barrier, most in MPI_Barrier at solver.c:42. Rank 0 is waited for most, 2.00 s; rank "
        "1 waits longest, 2.00 s."
    )
    nothing = "No thread was seen to wait between MPI_Init and MPI_Finalize."
    assert said(known_of(looping(computing=(50, 50))))["waits"] == nothing


def test_who_comes_late_by_computing_is_named():
    told = said(known_of(looping(path=False)))

    assert told["cause"] == (
        "In 96.0 % of that time, the late rank was computing from one MPI_Barrier to the next. "
        "Rank 0 causes 100.0 % by computing longer than the others."
    )
    assert told["advice"].startswith(
        "Look first at rank 0, which causes 100.0 % of the waiting, computing from"
    )
    assert told["advice"].endswith("compile with -g, and record with call stacks.")


def test_calls_at_one_line_are_one_place_whoever_calls_their_function():
    trace = burstline.read(LULESH)
    waits = burstline.open(trace).waits()
    costs = waits.profile.exclusive("delay").sum(axis=1)

    texts = [text for text, _ in place_shares(waits, costs.tolist(), 10)]

    assert len(texts) == len(set(texts)) > 3
    line, share = place_shares(waits, costs.tolist(), 1)[0]
    of_line = [costs[row] for row in range(len(costs)) if short_text(waits, row) == line]
    assert len(of_line) > 1
    assert share == pytest.approx(sum(of_line) / costs.sum(), rel=1e-3)


def test_who_comes_late_by_mpi_is_not_explained():
    known = known_of(trace_of(LATE_IN_MPI))

    told = said(known)

    assert "the late rank was in MPI_Send at a.c:7. Why it stayed there" in told["cause"]
    assert "Calls of MPI that wait for nobody cause " in told["cause"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"cpu": 0.3}, "Run it again with a processor for each rank before changing code."),
        ({"steps": 0}, "Run more time steps. It lasts only 0 ns, less than 1.00 s"),
        ({"lost": "defect odd loss 3 here"}, "Record it again, up to MPI_Finalize and with "),
        ({"computing": (50, 50)}, "Look whether ranks share processors, then at the network"),
        ({"computing": (99, 99)}, "Look at what ranks compute: all else costs 1.0 % of"),
    ],
)
def test_what_to_do_is_what_spoils_the_trace_then_the_worst_factor(given, told):
    assert said(known_of(looping(**given)))["advice"].startswith(told)


def test_what_spoils_a_trace_goes_before_tuning():
    shared = said(known_of(looping(cpu=0.3, computing=(50, 50))))["advice"]

    assert shared.endswith("Only then: look at the network and at how much is sent how often.")


@pytest.mark.parametrize(
    ("factor", "told"),
    [
        ("serialisation", "Look at who waits for whom: ranks wait in turn."),
        ("communication", "Look at the calls of MPI that take most time."),
        ("openmp_load_balance", "Spread the work of parallel regions evenly over"),
        ("openmp_communication", "Look at what threads do outside of parallel regions."),
        ("load_balance", "Spread the work evenly: rank 0 computes 2.25 s, the mean is 1.25 s."),
    ],
)
def test_each_factor_has_its_advice(factor, told, monkeypatch):
    monkeypatch.setattr(screen, "leaves_of", lambda *_: (0.5, {factor: 0.5}))
    monkeypatch.setattr(screen, "_blamed", lambda *_: ())

    assert said(known_of(looping()))["advice"].startswith(told)


def test_checks_are_told_with_their_figure_bound_and_remedy():
    fit = overview(known_of(looping(cpu=0.3))).trust
    unfit = overview(known_of(looping(steps=0, lost="defect odd loss 3 here"))).trust

    assert [(each.name, each.found.text, each.bound.text) for each in fit] == [
        ("Long enough", "2.50 s", "at least 1.00 s"),
        ("Enough iterations", "25", "at least 20"),
        ("Processors shared, probably", "30.0 %", "at least 95.0 %"),
        ("Callers known", "100.0 %", "at least 95.0 %"),
        ("Recorded at little cost: not known", "", "at most 2.0 %"),
        ("Nothing dropped", "0", "at most 0"),
        ("Clocks in order", "0 ns", "at most 1.00 µs"),
        ("OpenMP seen", "0", "at most 0"),
    ]
    assert [each.remedy for each in fit if each.check.passed] == [""] * 6
    assert fit[2].remedy.startswith("run it again with a processor")
    failed = [each.name for each in unfit if each.check.passed is False]
    assert failed == ["Short", "Little repeats", "Something dropped"]
    assert unfit[2].name == "Processors not shared: not known"
    assert unfit[2].remedy == "record a counter of processor time, such as cpu"


def test_each_number_stands_in_its_sentence_in_order():
    made = overview(known_of(looping(cpu=0.3)))

    sentences = [*made.headline]
    for answer in made.answers:
        sentences += [*answer.sentences, *answer.notes]
    for each in sentences:
        begin = 0
        for fact in each.facts:
            begin = each.sentence.index(text_of(fact), begin) + 1
    assert [each.name for each in made.answers] == NAMES
